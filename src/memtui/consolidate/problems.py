"""The problems of memories by cause, as `memtui check` and the TUI list them, with the change that fixes each.

found = problems.of(subject)                   # worst first: what is to be fixed, then what is worth knowing
found[0].sentence                              # MEMORY.md of auto is over its limit: 305 memories not loaded.
fixes = problems.fixes(subject, found[0])      # before and after of each file, if its action is `fix`
problems.fix(store, subject, found[0])         # makes them, as one step of undo
"""

from collections.abc import Callable, Sequence

from memtui.consolidate import lint, lint_fixes
from memtui.consolidate.lint import LintInput
from memtui.consolidate.lint_fixes import FileFix
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding
from memtui.core.health import findings
from memtui.core.health import problems as causes
from memtui.core.health.memory_kinds import FIX
from memtui.core.health.problems import Problem
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store


def of(subject: LintInput, go_on: Callable[[], bool] = lambda: True) -> list[Problem]:
    """Check a subject, and return its problems by cause, worst first. `go_on` as for `lint.check`."""
    return by_cause(lint.check(subject, go_on))


def by_cause(found: Sequence[Finding], remedy: Callable[[Finding], str] | None = None) -> list[Problem]:
    """Return the problems that findings of `lint.check` tell of, in their order. `remedy` says what to type."""
    return causes.by_cause(found, lint_fixes.fixable, remedy or told)


def told(found: Finding) -> str:
    """Return what to type about a finding on the person's own memories; empty if there is nothing to do."""
    if lint_fixes.fixable(found):
        return FIX
    remedy = findings.remedy(found)
    return remedy.partition(", or ")[2] if remedy.startswith(FIX) else remedy


def fixes(subject: LintInput, problem: Problem) -> list[tuple[Scope, list[FileFix]]]:
    """Return the change of each file, by scope, that fixes a problem; empty if only a person can."""
    return [(scope, files) for scope, files in lint_fixes.plan_all(subject, problem.parts) if files]


def fix(store: Store, subject: LintInput, problem: Problem) -> list[FileFix]:
    """Fix a problem of the person's own memories, as one step of undo; return the files that changed. Raises
    MemtuiError."""
    planned = fixes(subject, problem)
    if not planned:
        raise MemtuiError("There is nothing to fix here any more.", problem.remedy)
    with store.journal.together():
        for scope, files in planned:
            lint_fixes.make_journaled(store, scope, files)
    return [each for _, files in planned for each in files]
