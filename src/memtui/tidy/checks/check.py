"""A check of memories: a family of findings, and what finds them in a memory or in a scope. lint.CHECKS lists all."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from memtui.base.finding import Finding
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.status import Usage
from memtui.tidy.checks.answers import Answers
from memtui.tidy.checks.project_files import ProjectFiles
from memtui.tidy.checks.repository import Repository


class Checked(NamedTuple):
    """A scope's sound memories with project, repository and deliveries; `every`: broken ones too; `answers`: known."""

    scope: Scope
    memories: Sequence[Memory]
    project: ProjectFiles | None = None
    repository: Repository | None = None
    usage: Usage | None = None
    every: Sequence[Memory] = ()
    now: float = 0.0
    root: str = ""
    answers: Answers = Answers()

    @property
    def facts(self) -> str:
        """What findings on the memories alone depend on: the scope, and its files with their times."""
        return facts([self.scope], self.every)


class Check(NamedTuple):
    """A family of findings by its `codes`, whose words, remedy and fix stand in base/findings.txt: `of_memory` finds
    them in one sound memory, `of_scope` in all of a scope, kept while what they depend on, `facts`, is the same."""

    codes: tuple[str, ...]
    of_memory: Callable[[Memory, float], Iterable[Finding]] | None = None
    of_scope: Callable[[Checked], Iterable[Finding]] | None = None
    facts: Callable[[Checked], str] | None = None

    def findings(self, checked: Checked) -> Iterator[Finding]:
        """Find what is wrong with a scope."""
        if (find_all := self.of_scope) is not None:
            if self.facts is None:
                yield from find_all(checked)
            else:
                yield from findings_of(checked.answers, self.codes[0], self.facts(checked), lambda: find_all(checked))
        if (find := self.of_memory) is not None:
            for memory in checked.memories:
                yield from (about(finding, checked.scope, memory) for finding in find(memory, checked.now))


def facts(scopes: Iterable[Scope], memories: Iterable[Memory]) -> str:
    places = [(scope.kind, scope.shown, scope.label, scope.directory, scope.root_path) for scope in scopes]
    whole = hashlib.blake2b(repr(places).encode("utf-8", "surrogatepass"))  # of 100,000 memories the facts take 20 MB
    for memory in memories:
        file = (memory.path, memory.scope_label, memory.mtime, memory.broken, digest(memory))
        whole.update(repr(file).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def digest(memory: Memory) -> str:
    """Return what tells a memory's bytes from any others."""
    return hashlib.blake2b(memory.raw, digest_size=20).hexdigest()


def findings_of(answers: Answers, question: str, on: str, find: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """Return findings that depend on nothing but the facts `on`, worked out if they are not known."""
    rows = answers.of(question, on, lambda: [(*row[:3], {**row.data}) for row in find()])
    return [Finding(*row) for row in rows]


def about(finding: Finding, scope: Scope, memory: Memory) -> Finding:
    facts = {**finding.data, "scope": scope.shown, "memory": memory.stem, "path": memory.path}
    return finding._replace(subject=f"memory:{memory.path}", data=facts)


def about_words(finding: Finding, scope: Scope, memory: Memory, start: int, words: str) -> Finding:
    """Return a finding as one about words of a memory's body, with their place there and their line in the file."""
    whole = memory.raw.decode("utf-8", "replace").replace("\r\n", "\n")
    line = whole.count("\n") - memory.body.count("\n") + memory.body.count("\n", 0, start) + 1
    facts = {"line": line, "start": start, "end": start + len(words), "words": words, **finding.data}
    return about(finding._replace(data=facts), scope, memory)
