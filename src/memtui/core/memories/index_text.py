"""The text of a MEMORY.md that belongs to no memory: rules and facts that a person wrote into the index itself."""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from memtui.core.frontmatter import prose
from memtui.core.memories.index import FENCE, ITEM, Index
from memtui.core.memories.index_lines import HEADING, entry_lines

# A sentence about the file itself says nothing to keep.
ABOUT_INDEX = re.compile(r"\b(?:index|memor(?:y|ies)|MEMORY\.md)\b", re.IGNORECASE)
MOST_ABOUT_INDEX = 160  # characters of such a sentence
NESTED = 2  # blanks from which a list item belongs to the one above it


class Passage(NamedTuple):
    """A rule, a paragraph or a section of text: its heading as written, empty if it has none or stands right below the
    title of the file; its text; the numbers of its lines, from 1."""

    heading: str
    text: str
    lines: tuple[int, ...]

    @property
    def title(self) -> str:
        """The heading without its marks."""
        match = HEADING.match(self.heading)
        return (match[1] or "").strip() if match else ""

    @property
    def whole(self) -> str:
        """The heading and the text."""
        return f"{self.heading}\n\n{self.text}" if self.heading else self.plain

    @property
    def plain(self) -> str:
        """The text, of a single list item without its bullet."""
        match = ITEM.match(self.text)
        return self.text[match.end() :] if match and "\n" not in self.text else self.text

    def described(self, most: int) -> str:
        """Return the heading and the first sentence, of `most` characters at most; else the heading."""
        words = prose.first_sentence(self.text, most)
        whole = f"{self.title}: {words}" if self.title and words else self.title or words
        return whole if len(whole) <= most or not self.title else self.title


class _Block(NamedTuple):
    """Lines that belong together, by their numbers from 0, below a heading (its number, -1 for none)."""

    heading: int
    lines: list[int]


def passages(index: Index, files: Collection[str] = ()) -> list[Passage]:
    """List the passages of an index, in their order: a section below a heading of the second level or deeper is one,
    else each list item and paragraph. Lines of and about memories are none; `files`: names of memories, which a line
    can name without a link."""
    sections: dict[int, list[_Block]] = {}
    for block in _joined(index, [each for each in _blocks(index) if not _is_about_index(index, each, files)]):
        # Without a section of its own, each stands for itself.
        inside = block.heading >= 0 and index.lines[block.heading].lstrip().startswith("##")
        key = block.heading if inside else -1 - block.lines[0]
        sections.setdefault(key, []).append(block)
    found = []
    for heading, blocks in sections.items():
        texts = ["".join(index.lines[n] for n in block.lines).strip("\r\n") for block in blocks]
        close = all(ITEM.match(text) for text in texts)
        text = ("\n" if close else "\n\n").join(texts).replace("\r\n", "\n")
        numbers = tuple(n + 1 for block in blocks for n in block.lines)
        found.append(Passage(index.lines[heading].strip() if heading >= 0 else "", text, numbers))
    return found


def _blocks(index: Index) -> Iterator[_Block]:
    """Yield the list items, paragraphs, tables and blocks of code that are no memory's line."""
    own = {n for entry in index.entries for n in entry_lines(index, entry)}
    heading, fence, after_blank = -1, "", True
    block: _Block | None = None
    for n, line in enumerate(index.lines):
        text = line.strip()
        opened = FENCE.match(line) if n in index.code and not fence else None
        if n in own or (n in index.hidden and n not in index.code) or (HEADING.match(line.rstrip()) and not fence):
            if block is not None:
                yield block
            block = None
            heading = n if n not in own and n not in index.hidden else heading
        elif not text and not fence:
            after_blank = True
            continue
        else:
            indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip(" "))
            belongs = bool(fence) or indent >= NESTED or (not after_blank and not ITEM.match(line) and not opened)
            if block is None or not belongs:
                if block is not None:
                    yield block
                block = _Block(heading, [])
            block.lines.append(n)
            if opened:
                fence = opened[1]
            elif fence and text.startswith(fence) and not text.strip(fence[0]):
                fence = ""
        after_blank = False
    if block is not None:
        yield block


def _joined(index: Index, blocks: list[_Block]) -> list[_Block]:
    """Put list items behind the line with a colon that introduces them. One that introduces nothing is left out."""
    found: list[_Block] = []
    leading = False
    for block in blocks:
        items = leading and found and found[-1].heading == block.heading and block.lines[0] not in index.code
        if items and ITEM.match(index.lines[block.lines[0]]) and block.lines[0] <= found[-1].lines[-1] + 2:
            found[-1].lines.extend(block.lines)
            continue
        if leading and found and len(found[-1].lines) == 1:
            found.pop()
        found.append(_Block(block.heading, list(block.lines)))
        leading = not ITEM.match(index.lines[block.lines[0]]) and index.lines[block.lines[-1]].rstrip().endswith(":")
    if leading and found and len(found[-1].lines) == 1:
        found.pop()
    return found


def _is_about_index(index: Index, block: _Block, files: Collection[str]) -> bool:
    """Tell whether a block is about memories of the index, or about the index itself, or says nothing."""
    numbers = {n + 1 for n in block.lines}
    text = "".join(index.lines[n] for n in block.lines).strip()
    if any(mention.line in numbers for mention in index.mentions) or not any(map(str.isalnum, text)):
        return True
    if any(file in text for file in files):
        return True
    short = len(text) <= MOST_ABOUT_INDEX and not ITEM.match(text)
    return bool(index.entries) and short and ABOUT_INDEX.search(text) is not None
