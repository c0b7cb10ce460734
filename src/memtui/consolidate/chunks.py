"""The pieces of a Markdown text: paragraphs, list items, tables, headings, blocks of code, each with its own bytes."""

import re
from typing import Literal, NamedTuple

ChunkKind = Literal["paragraph", "item", "table", "heading", "code", "rule"]
FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})")
ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$")
ROW = re.compile(r"\s*\|.*\|\s*$")
RULE = re.compile(r"[\s|:=_*-]+$")
QUOTE = re.compile(r"\s*>+ ?")
# A line that begins a labelled part of a memory: `**Why:** …`.
LABEL = re.compile(r"\s*\*\*([^*\n]{1,40}?):?\*\*:?\s")


class Chunk(NamedTuple):
    """A piece of a text: `text` as it stands there, without its last line end, and what is `before` it, blank lines and
    line ends."""

    kind: ChunkKind
    text: str
    before: str = ""

    @property
    def plain(self) -> str:
        """The text without the marks of its kind: `> `, `- `, `# `. Of code it is the text."""
        if self.kind == "code":
            return self.text
        lines = [QUOTE.sub("", line, count=1) if QUOTE.match(line) else line for line in self.text.split("\n")]
        if self.kind == "heading":
            found = HEADING.match(lines[0])
            return found[1] if found else lines[0].strip()
        if self.kind == "item":
            lines[0] = ITEM.sub("", lines[0], count=1)
        return "\n".join(lines).strip()

    @property
    def label(self) -> str:
        """The label that a paragraph begins with, in lower case: `why`, `how to apply`; empty if it has none."""
        found = LABEL.match(self.text) if self.kind == "paragraph" else None
        return found[1].casefold() if found else ""


def chunks(text: str) -> list[Chunk]:
    """Return the pieces of a text. Joined by `join` they are the text; what ends it is a rule without text."""
    found: list[Chunk] = []
    before = fence = ""
    kind: ChunkKind | None = None
    lines: list[str] = []

    def end() -> None:
        nonlocal before, kind, lines
        if kind is not None:
            piece = "".join(lines)
            found.append(Chunk(kind, piece.removesuffix("\n"), before))
            before, kind, lines = "\n" * piece.endswith("\n"), None, []

    for line in text.split("\n"):
        with_end = line + "\n"
        if fence:
            lines.append(with_end)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
                end()
            continue
        plain = QUOTE.sub("", line, count=1) if QUOTE.match(line) else line
        if not plain.strip():
            end()
            before += with_end
            continue
        opened = FENCE.match(line)
        begins = _begins(plain, "code" if opened else None, kind)
        if begins is not None:
            end()
            kind = begins
        lines.append(with_end)
        fence = opened["mark"] if opened else ""
        if kind in {"heading", "rule"}:
            end()
    end()
    # The last line has no end of its own.
    return [*found, Chunk("rule", "", before.removesuffix("\n"))] if before != "\n" or not found else found


def _begins(line: str, code: ChunkKind | None, kind: ChunkKind | None) -> ChunkKind | None:
    """Return the kind of the piece that a line begins; None if it continues the one before it, of that kind."""
    if code is not None:
        return code
    if HEADING.match(line):
        return "heading"
    if ROW.match(line):
        return None if kind == "table" else "table"
    if RULE.match(line):
        return "rule"
    if ITEM.match(line):
        return "item"
    if kind is None or kind == "table" or (kind == "paragraph" and LABEL.match(line)):
        return "paragraph"
    return None


def join(found: list[Chunk]) -> str:
    """Return the text of pieces."""
    return "".join(each.before + each.text for each in found)
