"""The state of a scope's MEMORY.md, as findings on it and flags of memories: what dangles, is missing, is cut off."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from memtui.base import fs_hot, phrasing_hot
from memtui.base.finding import Finding, note, problem
from memtui.store import scopes
from memtui.store.frontmatter import head_hot
from memtui.store.index import index as memory_index
from memtui.store.index.index import ITEM, Budget, Index, IndexEntry
from memtui.store.index.index_lines import HEADING, entry_lines
from memtui.store.scopes import Scope

# A sentence about the file itself says nothing to keep.
ABOUT_INDEX = re.compile(r"\b(?:index|memor(?:y|ies)|MEMORY\.md)\b", re.IGNORECASE)
MOST_ABOUT_INDEX = 160  # characters of such a sentence
# Why no session gets a text that stands in a MEMORY.md.
UNREAD = "Claude Code does not load this file, and memtui delivers only memories"
UNREAD_CUT = "it is below the cut, so Claude Code does not load it"


class Passage(NamedTuple):
    """A rule, paragraph or section: its heading (empty for none), its text, and its lines from 1."""

    heading: str
    text: str
    lines: tuple[int, ...]

    @property
    def title(self) -> str:
        match = HEADING.match(self.heading)
        return (match[1] or "").strip() if match else ""

    @property
    def whole(self) -> str:
        return f"{self.heading}\n\n{self.text}" if self.heading else self.plain

    @property
    def plain(self) -> str:
        """The text, of a single list item without its bullet."""
        match = ITEM.match(self.text)
        return self.text[match.end() :] if match and "\n" not in self.text else self.text


def index_of(scope: Scope) -> Index | None:
    """Read the scope's MEMORY.md; None if there is none or it can't be read."""
    try:
        return memory_index.parse_index(fs_hot.read_bytes(scope.index_path))
    except OSError:
        return None


def sides(data: bytes) -> dict[str, object]:
    """Return what a finding says of git's conflict markers: where the first are, and what both versions are called."""
    lines = data.decode("utf-8", "replace").split("\n")
    first = head_hot.conflicts(lines)[0]
    return {"line": first.start + 1, "ours": first.names[0], "theirs": first.names[1]}


def states(root: str, every: Iterable[Scope]) -> "list[IndexState]":
    """Return the states of the indexes of some scopes that have an index or need one. `root` as for `IndexState`."""
    able = [scope for scope in every if scope.kind != "instructions" and not scope.problem and scope.exists]
    all_states = [IndexState(root, scope, index_of(scope)) for scope in able]
    return [index_state for index_state in all_states if index_state.index.raw or index_state.missing]


class IndexState:
    """The state of a scope's index; `root` records which memories are trusted: others need no line. `dangling`: links
    to missing files; `missing`: files without a line; `below`: files only below the cut; `recall_only`: kept from being
    loaded; `unread`: text of no memory that no session gets."""

    def __init__(self, root: str, scope: Scope, index: Index | None) -> None:
        self.scope = scope
        self._subject = f"index:{scope.label}"
        self._facts: dict[str, object] = {"scope": scope.shown, "path": scope.index_path}
        self.index = index or memory_index.parse_index(b"")
        self.budget: Budget = memory_index.budget(self.index.raw, agent=scope.kind == "agent")
        files = [name for name, problem in scopes.files(scope) if not problem]
        self.dangling: list[IndexEntry] = memory_index.dangling(self.index, scopes.linked(scope))
        self.missing = memory_index.missing(self.index, scopes.indexed(root, scope))
        # Where Claude Code does not load the file, it cuts nothing: memtui's hooks deliver all of its memories.
        cut = self.cut_line = self.budget.cut_line if scope.index_loaded else None
        above = {target for e in self.index.entries if cut is None or e.line < cut for target in e.targets}
        below = {target for e in self.budget.below for target in e.targets} - above
        self.below = [name for name in files if memory_index.normal(name) in below] if below else []
        unloaded = {target for e in self.index.recall_only for target in e.targets} - above
        self.recall_only = [name for name in files if memory_index.normal(name) in unloaded] if unloaded else []
        texts = passages(self.index, files) if not scope.index_loaded or cut is not None else []
        self.unread = [text for text in texts if not scope.index_loaded or (cut or 0) <= text.lines[-1]]

    def findings(self) -> Iterator[Finding]:
        """Find what is wrong with the index, each kind once with all its files; of conflict markers only these."""
        if self.index.conflict:
            yield problem("memories.index_conflict", self._subject, **sides(self.index.raw), **self._facts)
            return
        if self.cut_line is not None:
            yield self._cut(self.below)
        if own := [entry.target for entry in self.dangling if entry.leads]:
            yield self._about("memories.dangling", own)
        if mentions := [entry.target for entry in self.dangling if not entry.leads]:
            yield self._about("memories.mention", mentions)
        if self._lacks_lines:
            yield self._missing(self.missing)
        if self.unread:
            why = UNREAD_CUT if self.scope.index_loaded else UNREAD
            texts = [passage.whole for passage in self.unread]
            facts = {"line": self.unread[0].lines[0], "words": phrasing_hot.cut(" ".join(texts[0].split()), 60)}
            yield self._about("memories.text", [], why=why, texts=texts, **facts)

    def data(self) -> dict[str, object]:
        size = self.budget
        below = [{"line": e.line, "title": e.title, "target": e.target} for e in size.below]
        dangling = [{"line": e.line, "title": e.title, "target": e.target, "own": e.leads} for e in self.dangling]
        row: dict[str, object] = {"scope": self.scope.label, "path": self.scope.index_path, "lines": size.lines}
        row |= {"max_lines": size.max_lines, "characters": size.units, "max_characters": size.max_units}
        row |= {"share": round(size.share, 3), "cut_line": size.cut_line, "below": below}
        return row | {"recall_only": self.recall_only, "dangling": dangling, "missing": self.missing}

    def flags(self) -> dict[str, tuple[Finding]]:
        """Return by file the finding that is about it, which all files of a kind share; together the `findings`."""
        if self.index.conflict:
            return {}
        findings = dict.fromkeys(self.below, (self._cut(self.below),))
        return findings | dict.fromkeys(self.missing if self._lacks_lines else (), (self._missing(self.missing),))

    @property
    def _lacks_lines(self) -> bool:
        # Without a MEMORY.md, memtui's hooks tell sessions of the memories that they deliver.
        return bool(self.missing) and (bool(self.index.raw) or not self.scope.delivered)

    def _missing(self, files: list[str]) -> Finding:
        return self._about("memories.no_line" if self.index.raw else "memories.no_index", files)

    def _cut(self, files: list[str]) -> Finding:
        return self._about("memories.cut", files, line=self.budget.cut_line)

    def _about(self, code: str, files: list[str], **more: object) -> Finding:
        is_of_files = bool(files) and code in {"memories.cut", "memories.dangling", "memories.no_line"}
        make = problem if is_of_files or code == "memories.text" else note
        return make(code, self._subject, **self._facts, files=files, **more)


# The text of a MEMORY.md that belongs to no memory: rules and facts that a person wrote into the index itself


def passages(index: Index, files: Collection[str] = ()) -> list[Passage]:
    """List the passages: each section from level 2 on, else each item and paragraph, but for memories' lines."""
    own = {n for entry in index.entries for n in entry_lines(index, entry)} | {each.line - 1 for each in index.mentions}
    blocks: dict[int, list[int]] = {}  # numbers of lines, by that of their section's heading, or a negative one
    heading, gap = -1, True
    key: int | None = None
    for n, line in enumerate(index.lines):
        if n in own or (n in index.hidden and n not in index.code):
            key = None
        elif HEADING.match(line.rstrip()) and n not in index.code:
            heading, key = n, None
        elif line.strip() or n in index.code:
            in_section = heading >= 0 and index.lines[heading].lstrip().startswith("##")
            begins = ITEM.match(line) or (gap and n - 1 not in index.code)
            if in_section:
                key = heading
            elif key is None or (begins and not line.startswith(("  ", "\t"))):
                key = -1 - n
            blocks.setdefault(key, []).append(n)
        gap = not line.strip()
    result = []
    for key, numbers in blocks.items():
        gaps = {n for n, before in zip(numbers[1:], numbers, strict=False) if n > before + 1}
        text = "".join("\n" * (n in gaps) + index.lines[n] for n in numbers).strip("\r\n").replace("\r\n", "\n")
        if not _is_about_index(index, text, files):
            above = index.lines[key].strip() if key >= 0 else ""
            result.append(Passage(above, text, tuple(n + 1 for n in numbers)))
    return result


def _is_about_index(index: Index, text: str, files: Collection[str]) -> bool:
    """Tell whether a text is about memories of the index, or about the index itself, or says nothing."""
    leads = text.endswith(":") and "\n" not in text  # what it introduces are lines of memories
    if leads or any(file in text for file in files) or not any(map(str.isalnum, text)):
        return True
    short = len(text) <= MOST_ABOUT_INDEX and not ITEM.match(text)
    return bool(index.entries) and short and ABOUT_INDEX.search(text) is not None
