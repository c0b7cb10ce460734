"""CLAUDE.md and files like it: each section below a heading, and what stands above the first one, as a memory."""

import os
import re
from typing import NamedTuple

from memtui.core.frontmatter import code
from memtui.transfer.incoming import HEADING, Incoming, LeftOut, SourceContent, described

KIND = "claude-md"
NAMES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "copilot-instructions.md")
# What the client follows: a path after a blank, outside of code, without the mark that ends a sentence.
IMPORT = re.compile(r"(?<!\S)@((?:[^\s\\\0]|\\ )+)")
AFTER = ".,;:!?)]}'\"*_"
# Names such as `@alice` and `@scope/package` are files only if there are some, which a text does not tell.
FILE = re.compile(
    r"(?:\.{1,2}|~)?/|[\w.-]+(?:/.*)?\.(?:mdx?|mdc|markdown|txt|rst|adoc|json|ya?ml|toml)$|[\w.-]+/.*\.\w+$"
)
ALONE = re.compile(r"\s*(?:[-*+]\s+)?@(?:[^\s\\]|\\ )+\s*")
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
    found: list[HeadedSection] = []
    above: list[tuple[int, str]] = []
    lines: list[str] = []
    begin = 1
    plain = code.masked(text, filter(lambda span: span.block, code.spans(text))).split("\n")
    for number, line in enumerate(text.split("\n"), 1):
        match = HEADING.match(line)
        if match and HEADING.match(plain[number - 1]):
            found.append(HeadedSection(tuple(title for _, title in above), "\n".join(lines), begin))
            level = len(match["level"])
            above = [each for each in above if each[0] < level] + [(level, match["title"])]
            lines, begin = [], number
        else:
            lines.append(line)
    return [*found, HeadedSection(tuple(title for _, title in above), "\n".join(lines), begin)]


def imports(text: str) -> list[str]:
    """List the files that a text of instructions imports with `@path`, each once."""
    paths = (match[1].partition("#")[0].rstrip(AFTER) for match in IMPORT.finditer(code.masked(text)))
    return list(dict.fromkeys(each for each in paths if FILE.match(each)))


def _without_comments(text: str) -> str:
    """Return a text without its comments, as the client loads it; those in code stay."""
    plain = code.masked(text)
    pieces = []
    at = 0
    for match in COMMENT.finditer(plain):
        pieces.append(text[at : match.start()])
        at = match.end()
    return "".join([*pieces, text[at:]])


def add(found: SourceContent, text: str, where: str, *, scope: str = "", modified: str = "") -> None:
    """Add the sections of a file to what was found. What it imports with `@path` is named, and not followed; a line
    with nothing else is left out."""
    text = _without_comments(text)
    imported = imports(text)
    why = "is imported from there: it is not followed, import that file itself"
    found.skipped += [LeftOut(f"{where}: @{path}", why) for path in imported]
    for section in sections(text):
        plain = code.masked(section.text).split("\n")
        kept = [
            line
            for line, outside in zip(section.text.split("\n"), plain, strict=True)
            if not (ALONE.fullmatch(outside) and imports(outside.strip()))
        ]
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
