"""A check of memories: a family of findings, and what finds them in a memory or in a scope. lint.CHECKS lists all."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from memtui.base.finding import Finding
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.status import Usage
from memtui.tidy.checks.project_files import ProjectFiles
from memtui.tidy.checks.repository import Repository


class Checked(NamedTuple):
    """A scope's sound memories with their project, repository and deliveries; `every`: those that are broken, too."""

    scope: Scope
    memories: Sequence[Memory]
    project: ProjectFiles | None = None
    repository: Repository | None = None
    usage: Usage | None = None
    every: Sequence[Memory] = ()
    now: float = 0.0
    root: str = ""


class Check(NamedTuple):
    """A family of findings by its `codes`, whose words, remedy and fix stand in base/memory_kinds.py: `of_memory` finds
    them in a sound memory alone at a time, `of_scope` in all of a scope."""

    codes: tuple[str, ...]
    of_memory: Callable[[Memory, float], Iterable[Finding]] | None = None
    of_scope: Callable[[Checked], Iterable[Finding]] | None = None

    def findings(self, checked: Checked) -> Iterator[Finding]:
        """Find what is wrong with a scope."""
        if self.of_scope is not None:
            yield from self.of_scope(checked)
        if (find := self.of_memory) is not None:
            for memory in checked.memories:
                yield from (about(finding, checked.scope, memory) for finding in find(memory, checked.now))


def about(finding: Finding, scope: Scope, memory: Memory) -> Finding:
    """Return a finding as one about a memory, with the facts that all of these have."""
    facts = {**finding.data, "scope": scope.shown, "memory": memory.stem, "path": memory.path}
    return finding._replace(subject=f"memory:{memory.path}", data=facts)


def about_words(finding: Finding, scope: Scope, memory: Memory, start: int, words: str) -> Finding:
    """Return a finding as one about words of a memory's body, with their place there and their line in the file."""
    whole = memory.raw.decode("utf-8", "replace").replace("\r\n", "\n")
    line = whole.count("\n") - memory.body.count("\n") + memory.body.count("\n", 0, start) + 1
    facts = {"line": line, "start": start, "end": start + len(words), "words": words, **finding.data}
    return about(finding._replace(data=facts), scope, memory)
