"""What the workers of the inbox do for changes: plan, weigh each proposal, look whether files changed, and post
messages."""

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

from memtui.consolidate import composing, proposed
from memtui.consolidate.changeset import FileInput, Proposal, sha256
from memtui.consolidate.composing import Weighed
from memtui.consolidate.files import MemoryFiles
from memtui.core.base import paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.storage import file_error, read_or_none
from memtui.core.health.problems import Problem
from memtui.core.memories import apart
from memtui.core.places import locate, trust
from memtui.core.settings import config
from memtui.present import memories as present
from memtui.tui import watch
from memtui.tui.screens.inbox.change_rows import ProposedRow
from memtui.tui.screens.inbox.change_text import ChangeFacts

if TYPE_CHECKING:
    from memtui.core.memories.store import Store
    from memtui.tui.model.data import Data

# The least time between two messages while proposals are weighed, and the pause after each: a person may be pressing
# keys.
TOLD_SECONDS, PAUSE_SECONDS = 0.2, 0.003

Stamps = dict[str, watch.Stamp]


@dataclass
class PlanMade(Message):
    """The plan was made. `left`: the problems that are left for a person."""

    rows: list[ProposedRow]
    left: Sequence[Problem]


@dataclass
class PlanFailed(Message):
    """Planning failed with an error."""

    error: MemtuiError


@dataclass
class RowsWeighed(Message):
    """Some proposals were weighed; `last` when all are."""

    found: list[Weighed]
    last: bool


@dataclass
class ChangesFound(Message):
    """What changed since the plan was begun: the ids of the proposals that read such files, those of the proposals that
    are `back` after they were decided on, and whether the plan is `outdated`, as a file that it depends on has
    changed."""

    stale: frozenset[str]
    back: frozenset[str]
    outdated: bool


class PlanReader:
    """The work of the workers. `post` takes their messages."""

    def __init__(self, data: "Data", post: Callable[[Message], object]) -> None:
        self.data, self.post = data, post
        self._planned_from: Stamps = {}

    def plan(self) -> None:
        """Plan, then weigh each proposal. A worker that is cancelled posts nothing more."""
        worker = get_current_worker()
        try:
            self._planned_from = stamps(self.data)
            store = self.data.store()
            found = self.data.undecided(lambda: not worker.is_cancelled)
        except MemtuiError as error:
            if not worker.is_cancelled:
                self.post(PlanFailed(error))
            return
        except OSError as error:
            if not worker.is_cancelled:
                self.post(PlanFailed(file_error(error)))
            return
        if worker.is_cancelled:
            return
        files = MemoryFiles(store)
        every = [each.proposal for each in found.proposals]
        keys = _keys(every)
        rows = [
            ProposedRow(
                keys[each.proposal.id],
                facts=ChangeFacts(each.proposal, self._where(files, each.proposal), each.by, each.file),
            )
            for each in found.proposals
        ]
        self.post(PlanMade(rows, found.left))
        self._weigh(store, every)

    def _where(self, files: MemoryFiles, found: Proposal) -> str:
        try:
            scope = files.scope_of(found.outputs[0].path).scope
        except MemtuiError:
            return ""
        return present.scope_name(scope, self.data.facts.project)

    def _weigh(self, store: "Store", proposals: Sequence[Proposal]) -> None:
        worker, files = get_current_worker(), MemoryFiles(store)
        done: list[Weighed] = []
        told = time.monotonic()
        for each in proposals:
            if worker.is_cancelled:
                return
            done.append(composing.weigh(files, each))
            if time.monotonic() - told > TOLD_SECONDS:
                self.post(RowsWeighed(done, last=False))
                done, told = [], time.monotonic()
                time.sleep(PAUSE_SECONDS)
        self.post(RowsWeighed(done, last=True))

    def look_for_changes(self, proposals: Sequence[Proposal], decided: Sequence[Proposal]) -> None:
        """Look whether the files that the plan and its proposals read are as they were; a proposal that was `decided`
        on is back if they are, after an undo."""
        digests: dict[str, str] = {}
        refused = set(proposed.rejected(self.data.root))

        def is_open(proposal: Proposal) -> bool:
            return proposal.id not in refused and not any(_differs(file, digests) for file in proposal.inputs)

        stale = frozenset(each.id for each in proposals if not is_open(each))
        back = frozenset(each.id for each in decided if is_open(each))
        try:
            outdated = stamps(self.data) != self._planned_from
        except (MemtuiError, OSError):  # planning says what is wrong
            outdated = True
        if not get_current_worker().is_cancelled:
            self.post(ChangesFound(stale, back, outdated))


def stamps(data: "Data") -> Stamps:
    """Return the stamps of the files that a plan depends on, by path: memories, drafts, what was decided, settings.
    Raises MemtuiError or OSError."""
    root = data.root
    decided = (proposed.rejected_path(root), apart.path(root), trust.path(root), config.file_path(root))
    directories = [proposed.directory(root)]
    directories += [paths.inbox_dir(root, slug) for slug in (None, paths.project_key(data.project_root))]
    found = [*decided]
    for directory in directories:
        found += [f"{directory}/{name}" for name in (os.listdir(directory) if os.path.isdir(directory) else ())]
    for scope in data.scopes():
        if scope.kind == "instructions":
            found += [f"{scope.directory}/{name}" for name in scope.files]
        elif not scope.problem:
            found += [scope.index_path, *(f"{scope.directory}/{name}" for name, _ in locate.walk(scope.directory))]
    return {path: watch.stamp(path) for path in found}


def _keys(proposals: Sequence[Proposal]) -> dict[str, str]:
    """Return the key of each row by the id of its proposal: kind, files, and which of several with these it is."""
    counts: Counter[str] = Counter()
    found = {}
    for each in proposals:
        key = " ".join([each.kind, *(output.path for output in each.outputs)])
        counts[key] += 1
        found[each.id] = f"{key} {counts[key]}"
    return found


def _differs(found: FileInput, digests: dict[str, str]) -> bool:
    if found.path not in digests:
        try:
            data = read_or_none(found.path)
        except OSError:
            data = None
        digests[found.path] = "" if data is None else sha256(data)
    return digests[found.path] != found.sha256
