"""What Setup shows, gathered in a worker: findings, hooks, index budgets, errors, modes, settings."""

import os
from array import array
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding
from memtui.core.deliveries import error_log
from memtui.core.deliveries.record import Record
from memtui.core.health import doctor, findings
from memtui.core.memories import index_state
from memtui.core.memories.index_state import IndexState
from memtui.core.places import locate, trust
from memtui.core.settings import setting
from memtui.core.settings.modes import Mode, modes
from memtui.core.settings.setting import Setting
from memtui.hooks.installer import checkup, status
from memtui.subconscious import overview
from memtui.subconscious.overview import Overview
from memtui.tui.model.data import Data

ERRORS_SHOWN = 30


@dataclass
class Snapshot:
    """Everything that was found at one moment. `others`: the findings on other projects, None if these are not shown;
    `times` and `last_runs`: the milliseconds of hook runs and the time of the last one in seconds, by event; `counted`:
    whether the log was counted for them."""

    findings: list[Finding] = field(default_factory=list)
    others: list[Finding] | None = None
    hooks: status.Status | None = None
    times: dict[str, "array[float]"] = field(default_factory=dict)
    last_runs: dict[str, float] = field(default_factory=dict)
    counted: bool = True
    reports: list[IndexState] = field(default_factory=list)
    errors: list[Record] = field(default_factory=list)
    modes: list[Mode] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    settings_error: str = ""
    trusted: trust.TrustStatus | None = None
    shared: trust.TrustStatus | None = None  # what a team shares
    reading: Overview | None = None  # of sessions by a model, once one is set

    @property
    def shown(self) -> list[Finding]:
        """The findings that are shown: on this project, or on all."""
        return self.findings if self.others is None else doctor.with_others(self.findings, self.others)

    @property
    def problems(self) -> int:
        """How many findings of those shown are to fix."""
        return findings.problems(self.shown)

    @property
    def has_model(self) -> bool:
        """Whether a model may be asked."""
        return any(row.key == setting.BACKEND and row.value != "off" for row in self.settings)

    @property
    def notes(self) -> int:
        """How many findings of those shown are worth knowing."""
        return findings.notes(self.shown)


def take_snapshot(
    data: Data, client: list[Finding], *, everywhere: bool = False, progress: doctor.Progress = lambda *_: True
) -> Snapshot:
    """Look at everything; `everywhere`: in all projects, reported to `progress` as in `doctor.check_others`. What can't
    be read is a finding, or left out, and never an error. `client`: the findings of `checkup.client_check`, which
    starts a process."""
    statistics = data.statistics
    found = Snapshot(times=statistics.events, last_runs=statistics.last_runs, counted=statistics.ready)
    found.findings = checkup.check(data.env, data.cwd, data.now(), client, data.known)
    with suppress(MemtuiError, OSError):
        found.hooks = status.status(data.env, data.cwd)
    with suppress(MemtuiError, OSError):
        found.reports = index_state.states(data.root, data.scopes(every=everywhere))
    found.errors = list(islice(error_log.newest_first(data.root), ERRORS_SHOWN))
    try:
        found.settings = setting.rows(data.root, data.project_root)
        found.modes = list(modes(data.env, data.root, data.project_root))
    except MemtuiError as error:
        found.settings_error = error.message
    directory, exists = locate.project_dir(data.env, data.cwd)
    with suppress(OSError):
        found.trusted = trust.status(data.root, directory) if exists else None
    shared = f"{locate.auto_dir(data.env, data.cwd)}/{locate.TEAM}"
    with suppress(OSError):
        found.shared = trust.status(data.root, shared) if os.path.isdir(shared) else None
    if found.has_model:
        found.reading = overview.look(data.env, data.root, data.project_root, data.now())
    if everywhere:
        found.others = doctor.check_others(data.env, data.cwd, data.now(), data.known, progress)
    return found
