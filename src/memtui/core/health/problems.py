"""Problems by cause: each with a sentence, the memories that it touches, and what a person can do about it."""

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from memtui.core.base.finding import OK, Finding
from memtui.core.health import findings

# What a person can do: have it fixed, trust memories, edit the memory, or what `remedy` says.
Action = Literal["fix", "trust", "edit", "run"]


class Problem(NamedTuple):
    """A cause of trouble: the finding for all that it touches, its `parts`, what can be done, what to type."""

    finding: Finding
    parts: tuple[Finding, ...]
    action: Action
    remedy: str

    @property
    def cause(self) -> str:
        """The code of the findings: `memories.cut`."""
        return self.finding.code

    @property
    def level(self) -> str:
        """PROBLEM for what is to be fixed, NOTE for what is worth knowing."""
        return self.finding.level

    @property
    def sentence(self) -> str:
        """What is wrong: `MEMORY.md of auto is over its limit: 305 memories not loaded.`"""
        return findings.message(self.finding)

    @property
    def memories(self) -> list[str]:
        """The names of the memories and files that it touches."""
        return findings.memories(self.finding)


def by_cause(
    found: Iterable[Finding],
    fixable: Callable[[Finding], bool] = lambda each: bool(findings.fix_of(each)),
    remedy: Callable[[Finding], str] = findings.remedy,
) -> list[Problem]:
    """Return the problems that findings tell of. `fixable`: whether memtui fixes one; `remedy`: what to type."""
    found = (each for each in found if each.level != OK)
    groups = [(findings.merged(parts), tuple(parts)) for parts in findings.by_cause(found, fixable)]
    return [Problem(whole, parts, _action(parts[0], fixable), remedy(whole)) for whole, parts in groups]


def _action(found: Finding, fixable: Callable[[Finding], bool]) -> Action:
    if findings.fix_of(found) == "trust":
        return "trust"
    return "fix" if fixable(found) else "edit" if found.subject.startswith("memory:") else "run"
