"""The request that was under way: what the person had asked for when something happened in a session."""

import re

# Characters of a request that are kept.
LONGEST = 300
# Fewer words than this (“yes”, “go on then”) continue the request before.
LEAST_WORDS = 3

_PASTED = re.compile(r"(?:```|~~~)[\s\S]*?(?:```|~~~|\Z)|^\s*>.*$", re.MULTILINE)


def of_prompt(text: str) -> str:
    """Return what a prompt asks for: one line of the person's words without code and quotations, cut at a word; empty
    if it only continues what was asked before."""
    line = " ".join(_PASTED.sub(" ", text).split())
    if len(line.split()) < LEAST_WORDS and (line.isascii() or len(line) < 2 * LEAST_WORDS):
        return ""
    if len(line) <= LONGEST:
        return line
    head = line[: LONGEST - 1]
    return (head[: head.rfind(" ")] if " " in head[LONGEST // 2 :] else head) + "…"
