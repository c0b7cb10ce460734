"""Everything about memories that waits for a person: the ChangeSets that are saved, such as those of a dream, and what
is planned from the memories as they are."""

from collections.abc import Callable
from typing import NamedTuple

from memtui.consolidate import changeset_json, lint_fixes, plan, problems, proposed, rejected
from memtui.consolidate.changeset import Proposal, sha256
from memtui.consolidate.files import MemoryFiles
from memtui.consolidate.lint import LintInput
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import PROBLEM
from memtui.core.health.problems import Problem
from memtui.core.memories.store import Store


class Undecided(NamedTuple):
    """A proposal that nobody decided yet, what made it, and the file of its ChangeSet, empty for one planned now."""

    proposal: Proposal
    by: str
    file: str

    @property
    def key(self) -> str:
        """What tells it from all others."""
        return self.proposal.id


class UndecidedSet(NamedTuple):
    """The proposals that wait, those of saved ChangeSets first, each worst first; and the problems that are left for a
    person, by cause, for which nothing is proposed."""

    proposals: tuple[Undecided, ...]
    left: tuple[Problem, ...]


def undecided(store: Store, subject: LintInput, go_on: Callable[[], bool] = lambda: True) -> UndecidedSet:
    """Plan, and read the ChangeSets that wait. `go_on` as for `plan.plan`. Raises MemtuiError."""
    planned = plan.plan(store, subject, go_on)
    found = [*_saved(store), *(Undecided(each, planned.changes.by, "") for each in planned.changes.proposals)]
    known = set(rejected.load(store.root))
    unique: dict[str, Undecided] = {}
    for each in found:
        if each.proposal.id not in known:
            unique.setdefault(each.proposal.id, each)
    return UndecidedSet(tuple(unique.values()), tuple(_left(subject, planned)))


def _left(subject: LintInput, planned: plan.Planned) -> list[Problem]:
    fixed = {id(each) for each in lint_fixes.fixed_by(planned.findings, lint_fixes.plan_all(subject, planned.findings))}
    reasons = {
        (each.code, each.data.get("path")) for proposal in planned.changes.proposals for each in proposal.evidence
    }
    left = [
        each
        for each in planned.findings
        if each.level == PROBLEM and id(each) not in fixed and (each.code, each.data.get("path")) not in reasons
    ]
    return problems.by_cause(left)


def _saved(store: Store) -> list[Undecided]:
    """List what saved ChangeSets propose about files that are as they were then. One that can't be read is left out."""
    files = MemoryFiles(store)
    found = []
    for waiting in proposed.waiting(store.root):
        try:
            changes = changeset_json.read(waiting.path, files)
            rows = [files.filled(each) for each in changes.proposals]
            found += [Undecided(each, changes.by, waiting.path) for each in rows if _is_current(files, each)]
        except MemtuiError:
            continue
    return found


def _is_current(files: MemoryFiles, found: Proposal) -> bool:
    for each in found.inputs:
        data = files.data(each.path)
        if ("" if data is None else sha256(data)) != each.sha256:
            return False
    return True
