"""What the inbox reads in workers: entries, what others wrote, and the changes that it proposes."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.base import findings, paths
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding
from memtui.client import locate, projects
from memtui.review import later
from memtui.review.outside_changes import Changed
from memtui.review.waiting_entries import Waiting, homes
from memtui.settings import config
from memtui.store import sidecars, trust
from memtui.tidy import composed_files, waiting_proposals
from memtui.tidy.composed_files import Weighed
from memtui.tui import watch
from memtui.views import decisions
from memtui.views.decisions import Decision, ProblemRow, ProposedRow

if TYPE_CHECKING:
    from memtui.tui.model.data import Data


class InboxReading(NamedTuple):
    """What was read for the Inbox."""

    waiting: list[Waiting]  # the drafts and todos of all inboxes
    names: dict[str, str]  # of the projects, by slug
    problem: str  # which inboxes could not be read, in words
    others: list[Decision]  # what others wrote, and what is not trusted
    hidden: dict[str, float]  # until when what is no entry is hidden
    places: dict[str, str]  # the directories of the scopes, by label
    of_all: bool  # it is of all projects


def read(data: "Data", *, all_projects: bool) -> InboxReading:
    """Read all of it; with `all_projects` what others wrote in other projects, too."""
    unread, changes = list[Finding](), list[Changed]()
    waiting = data.waiting(("updates", "items"), every=True, unread=unread)
    others_by_slug = {other.slug: other.path for other in projects.with_memory(data.env)} if all_projects else {}
    names = projects.names(data.env, {**others_by_slug, **homes(data.env, waiting), data.slug: data.project_root})
    problem = " ".join(map(findings.with_remedy, unread))
    try:
        changes = data.changed(every=all_projects)
    except MemtuiError as error:
        problem = f"{problem} {error.message}".strip()
    others = [
        *decisions.of_changed(data, changes),
        *(decisions.of_untrusted(memory, data.project) for memory in data.untrusted(changes)),
    ]
    places = {scope.label: scope.directory for scope in data.scopes() if scope.exists}
    return InboxReading(waiting, names, problem, others, later.load(data.root), places, all_projects)


def read_entries(data: "Data", last: InboxReading) -> InboxReading | None:
    """Read the drafts and todos again, only those of files that have changed anew. None if none have."""
    unread = list[Finding]()
    waiting = data.waiting(("updates", "items"), every=True, unread=unread)
    problem = " ".join(map(findings.with_remedy, unread)) or last.problem
    if problem == last.problem and list(map(id, waiting)) == list(map(id, last.waiting)):
        return None
    return last._replace(waiting=waiting, problem=problem)


# The least time between two reports while proposals are weighed, and the pause after each: a person may be pressing
# keys.
TOLD_SECONDS, PAUSE_SECONDS = 0.2, 0.003

Stamps = dict[str, watch.Stamp]


class InboxPlan(NamedTuple):
    """The proposed `changes`, the `problems` left for a person, `stamps` of the files."""

    changes: Sequence[ProposedRow]
    problems: Sequence[ProblemRow]
    stamps: Stamps


class PlannedChanges:
    """The rows of what was planned last, and the ids of changes `decided` on since, which an undo brings back."""

    def __init__(self) -> None:
        self._rows: Sequence[ProposedRow] = ()
        self._problems: Sequence[ProblemRow] = ()
        self.decided: set[str] = set()
        self._stamps: Stamps = {}

    @property
    def rows(self) -> list[Decision]:
        return [*(row for row in self._rows if row.proposal.id not in self.decided), *self._problems]

    def take(self, plan: InboxPlan) -> None:
        """Take over a new plan; what was weighed stays so, and so do the changes that an undo may bring back."""
        weights = {row.proposal.id: row.weighed for row in self._rows}
        ids = {row.proposal.id for row in plan.changes}
        proposed_rows = [row for row in self._rows if row.proposal.id in self.decided - ids]
        rows = [decisions.weighed(row, weights.get(row.proposal.id)) for row in plan.changes]
        self.decided -= ids
        self._rows, self._stamps = [*rows, *proposed_rows], plan.stamps
        self._problems = plan.problems

    def weigh(self, weighed: Sequence[Weighed]) -> None:
        """Take over what some of the changes save."""
        weights = {row.proposal.id: row.weighed for row in self._rows}
        weights |= {other.proposal.id: other for other in weighed}
        self._rows = [decisions.weighed(row, weights[row.proposal.id]) for row in self._rows]

    def look(self, data: "Data") -> tuple[set[str], bool]:
        """Return which decided changes are open again, and whether a file of the plan has changed. Slow."""
        decided = [row for row in self._rows if row.proposal.id in self.decided]
        refused = set(waiting_proposals.rejected(data.root)) if decided else set()
        back = {row.proposal.id for row in decided if row.proposal.subject not in refused and row.proposal.is_current}
        try:
            return back, stamps(data) != self._stamps
        except (MemtuiError, OSError):  # planning says what is wrong
            return back, True


def plan(data: "Data", go_on: Callable[[], bool]) -> InboxPlan:
    """Plan what can be done about the memories. Raises MemtuiError, OSError."""
    before = stamps(data)
    return InboxPlan(*decisions.of_plan(data, data.undecided(go_on)), before)


def weigh(data: "Data", plan: InboxPlan) -> Iterator[list[Weighed]]:
    """Weigh the changes of a plan, and yield those that were weighed since the last time."""
    files, since = data.store().files(), time.monotonic()
    weighed: list[Weighed] = []
    for row in plan.changes:
        weighed.append(composed_files.weigh(files, row.proposal))
        if time.monotonic() - since > TOLD_SECONDS:
            yield weighed
            weighed, since = [], time.monotonic()
            time.sleep(PAUSE_SECONDS)
    yield weighed


def stamps(data: "Data") -> Stamps:
    """Return the stamps of the files that a plan depends on, by path. Raises MemtuiError or OSError."""
    root = data.root
    decided = (
        waiting_proposals.rejected_path(root),
        sidecars.pairs_path(root),
        trust.path(root),
        config.file_path(root),
    )
    directories = [waiting_proposals.directory(root)]
    directories += [paths.inbox_dir(root, slug) for slug in (None, paths.project_key(data.project_root))]
    files = [*decided]
    for directory in directories:
        files += [f"{directory}/{name}" for name in (os.listdir(directory) if os.path.isdir(directory) else ())]
    for scope in data.scopes():
        if scope.kind == "instructions":
            files += [f"{scope.directory}/{name}" for name in scope.files]
        elif not scope.problem:
            files += [scope.index_path, *(f"{scope.directory}/{name}" for name, _ in locate.walk(scope.directory))]
    return {path: watch.stamp(path) for path in files}
