"""CLAUDE.md and files like it: each section below a heading, and what stands above the first one, as a memory."""

import os
import re
from typing import NamedTuple

from memtui.core.memories import memory
from memtui.transfer.incoming import HEADING, Incoming, LeftOut, SourceContent, described

KIND = "claude-md"
NAMES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "copilot-instructions.md")
IMPORT = re.compile(r"^\s*(?:[-*+]\s+)?@(\S+)\s*$")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


class HeadedSection(NamedTuple):
    """A section: the headings that it stands under, outermost first, and its text without those below it."""

    headings: tuple[str, ...]
    text: str
    line: int


def is_instructions(name: str) -> bool:
    """Whether a file of this name is one of instructions."""
    return os.path.basename(name) in NAMES


def sections(text: str) -> list[HeadedSection]:
    """Return the sections of a Markdown text, in order. Headings in code are none."""
    code = [match.span() for match in memory.CODE.finditer(text) if match["fence"]]
    found: list[HeadedSection] = []
    above: list[tuple[int, str]] = []
    lines: list[str] = []
    begin, at = 1, 0
    for number, line in enumerate(text.split("\n"), 1):
        match = HEADING.match(line)
        if match and not any(start <= at < end for start, end in code):
            found.append(HeadedSection(tuple(title for _, title in above), "\n".join(lines), begin))
            level = len(match["level"])
            above = [each for each in above if each[0] < level] + [(level, match["title"])]
            lines, begin = [], number
        else:
            lines.append(line)
        at += len(line) + 1
    return [*found, HeadedSection(tuple(title for _, title in above), "\n".join(lines), begin)]


def add(found: SourceContent, text: str, where: str, *, scope: str = "", modified: str = "") -> None:
    """Add the sections of a file to what was found. What it imports with `@path` is not followed."""
    for section in sections(COMMENT.sub("", text)):
        kept = []
        for line in section.text.split("\n"):
            match = IMPORT.match(line)
            if match:
                why = "is imported from there: it is not followed, import that file itself"
                found.skipped.append(LeftOut(f"{where}: @{match[1]}", why))
            else:
                kept.append(line)
        body = "\n".join(kept).strip("\n").rstrip()
        if not body.strip():
            continue
        heading = section.headings[-1] if section.headings else ""
        shown = " › ".join(section.headings[1:] if len(section.headings) > 1 else section.headings)
        found.add(
            Incoming(
                f"{where}:{section.line}",
                heading or described("", body),
                described(shown, body),
                body,
                type="feedback",
                scope=scope,
                modified=modified,
                aliases=tuple(filter(None, (heading,))),
            )
        )
