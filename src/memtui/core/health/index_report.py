"""The report on each MEMORY.md: its budget, links to missing files, memories without a line, and its fixed content."""

from collections.abc import Iterable

from memtui.core.memories import index as memory_index
from memtui.core.memories import index_lines, scopes
from memtui.core.memories.index import Index
from memtui.core.memories.index_state import IndexState, index_of
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope


class Report:
    """The report on the index of one scope. `root` is memtui's own directory, which records what is trusted: memories
    that are not trusted get no line."""

    def __init__(self, root: str, scope: Scope, index: Index | None) -> None:
        self.scope = scope
        self.state = IndexState(root, scope, index)
        self.index = self.state.index
        self.budget = self.state.budget
        self.dangling, self.missing = self.state.dangling, self.state.missing
        # The lines that go tell where those belong that come.
        self.fixed = self.without_dangling(self.with_missing(self.index.raw))

    def without_dangling(self, data: bytes) -> bytes:
        """Return a content of the index without the lines of files that are not there. A section that lost its last
        line goes."""
        gone = [entry.target for entry in self.dangling if entry.leads]
        for target in gone:
            data = index_lines.remove_line(data, target)
        return index_lines.remove_empty_sections(data) if gone else data

    def with_missing(self, data: bytes, known: Iterable[Memory] | None = None) -> bytes:
        """Return a content of the index with lines for the memories that have none. One that would push others below
        the cut goes to the end of the file. `known` are the scope's memories as they are to be
        described, None for as they are."""
        gone = {entry.target for entry in self.dangling}
        every = scopes.memories(self.scope) if known is None else known
        about = {each.path: each for each in every} if self.missing else {}
        for name in self.missing:
            found = about.get(f"{self.scope.directory}/{name}")
            if found is None:  # removed since it was listed
                continue
            data = index_lines.place_line(
                data,
                name,
                found.name,
                found.description,
                kind=found.type,
                gone=gone,
                agent=self.scope.kind == "agent",
                shown=self.without_dangling,
            )
        return data

    @property
    def left_below(self) -> int:
        """How many of the lines that are added are below the cut, where the client does not load them."""
        below = memory_index.budget(self.fixed, agent=self.scope.kind == "agent").below
        return sum(any(entry.is_for(name) for name in self.missing) for entry in below)

    @property
    def untrusted(self) -> list[str]:
        """The files that get no line because they are not trusted."""
        files = [name for name, problem in scopes.files(self.scope) if not problem]
        return [name for name in memory_index.missing(self.index, files) if name not in set(self.missing)]

    @property
    def fixable(self) -> bool:
        """Tell whether memtui can fix the index, and may."""
        return self.fixed != self.index.raw and self.scope.writable

    def data(self) -> "dict[str, object]":
        """Return the report for --json."""
        found = self.budget
        return {
            "scope": self.scope.label,
            "path": self.scope.index_path,
            "lines": found.lines,
            "max_lines": found.max_lines,
            "characters": found.units,
            "max_characters": found.max_units,
            "bytes": found.bytes,
            "share": round(found.share, 3),
            "cut_line": found.cut_line,
            "below": [{"line": e.line, "title": e.title, "target": e.target} for e in found.below],
            "dangling": [{"line": e.line, "title": e.title, "target": e.target, "own": e.leads} for e in self.dangling],
            "missing": self.missing,
            "untrusted": self.untrusted,
            "fixable": self.fixable,
        }


def reports(root: str, every: "list[Scope]") -> "list[Report]":
    """Report on the indexes of some scopes; scopes without an index are left out if they need none."""
    found = []
    for scope in every:
        if scope.kind == "instructions" or scope.problem or not scope.exists:
            continue
        report = Report(root, scope, index_of(scope))
        if report.index.raw or report.missing:
            found.append(report)
    return found
