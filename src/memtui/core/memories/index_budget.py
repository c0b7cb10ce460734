"""How much of MEMORY.md the client loads, and what falls below the cut.

"The first 200 lines or 25 KB", as Claude Code 2.1.197 does it: frontmatter and comments that are blocks of their own
are taken out, the rest is trimmed; then the first 200 lines, and of these as many whole lines as fit 25,000 UTF-16
units. Subagents' memory is loaded with frontmatter and comments in it.
"""

from dataclasses import dataclass

from memtui.core.frontmatter import document
from memtui.core.memories import index as memory_index

MAX_LINES = 200
MAX_UNITS = 25_000


@dataclass(frozen=True)
class Budget:
    """`lines` and `units` (UTF-16) count, of `max_lines` and `max_units`; `bytes` is the same text in UTF-8.

    `cut_line` is the first line, counted from 1 in the file, that is not loaded whole; None: everything is loaded.
    """

    lines: int
    units: int
    bytes: int
    cut_line: int | None
    below: tuple[memory_index.Entry, ...]
    max_lines: int = MAX_LINES
    max_units: int = MAX_UNITS

    @property
    def share(self) -> float:
        """How full the index is, 1.0 at the limit: the greater of the two shares."""
        return max(self.lines / self.max_lines, self.units / self.max_units)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "replace")) >> 1


def loaded_lines(data: bytes, *, agent: bool = False) -> list[tuple[int, str]]:
    """The lines that count, each with its number in the file; `agent`: as in a subagent's memory."""
    doc = document.parse(data)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    numbered = list(enumerate(text.split("\n"), 1))
    if not agent:
        numbered = _without_comments(numbered[doc.lines_above :])
    while numbered and not numbered[0][1].strip():
        numbered.pop(0)
    while numbered and not numbered[-1][1].strip():
        numbered.pop()
    if numbered:
        numbered[0] = numbered[0][0], numbered[0][1].lstrip()
        numbered[-1] = numbered[-1][0], numbered[-1][1].rstrip()
    return numbered


def _without_comments(numbered: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Drop comments that open a line; inside a list item or a paragraph's line they are text to the client too."""
    kept: list[tuple[int, str]] = []
    fence = ""
    in_list = False
    at = 0
    while at < len(numbered):
        number, line = numbered[at]
        at += 1
        indent = len(line) - len(line.lstrip(" "))
        opened = memory_index.FENCE.match(line)
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif opened:
            fence = opened[1]
        elif line[indent:].startswith("<!--") and indent <= (1 if in_list else 3):
            end = next((n for n in range(at - 1, len(numbered)) if "-->" in numbered[n][1]), -1)
            if end >= 0:
                number, line = numbered[end][0], numbered[end][1].partition("-->")[2]
                at = end + 1
                if not line.strip():
                    while at < len(numbered) and not numbered[at][1].strip():
                        at += 1
                    continue
        if line.strip():
            in_list = memory_index.ITEM.match(line) is not None or (in_list and indent > 0)
        kept.append((number, line))
    return kept


def budget(data: bytes, *, agent: bool = False) -> Budget:
    """Measure an index. Never raises."""
    numbered = loaded_lines(data, agent=agent)
    index = memory_index.parse_index(data)
    sizes = [_units(line) + 1 for _, line in numbered]
    whole = 0  # lines that are loaded whole
    used = 0
    for size in sizes[:MAX_LINES]:
        if used + size - 1 > MAX_UNITS:
            break
        used += size
        whole += 1
    cut = numbered[whole][0] if whole < len(numbered) else None
    below = tuple(entry for entry in index.entries if cut is not None and entry.line >= cut)
    text_bytes = sum(len(line.encode("utf-8", "replace")) + 1 for _, line in numbered)
    return Budget(len(numbered), max(sum(sizes) - 1, 0), max(text_bytes - 1, 0), cut, below)
