"""What Setup shows, gathered in a worker: findings, hooks, errors, settings."""

from array import array
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding
from memtui.core.deliveries import error_log
from memtui.core.deliveries.record import Record
from memtui.core.health import findings
from memtui.core.settings import setting
from memtui.core.settings.setting import Setting
from memtui.hooks.installer import checkup, status
from memtui.subconscious import overview
from memtui.subconscious.overview import Overview
from memtui.tui.model.data import Data

ERRORS_SHOWN = 30


@dataclass
class Snapshot:
    """Everything that was seen at one moment. `times` and `last_runs`: the milliseconds of hook runs and the time of
    the last one in seconds, by event; `counted`: whether the log was counted for them; `reading`: of sessions by a
    model, once one is set."""

    findings: list[Finding] = field(default_factory=list)
    hooks: status.Status | None = None
    times: dict[str, "array[float]"] = field(default_factory=dict)
    last_runs: dict[str, float] = field(default_factory=dict)
    counted: bool = True
    errors: list[Record] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    settings_error: str = ""
    reading: Overview | None = None

    @property
    def problems(self) -> int:
        """How many problems are to fix."""
        return findings.problems(self.findings)

    @property
    def has_model(self) -> bool:
        """Whether a model may be asked."""
        return any(row.key == setting.BACKEND and row.value != "off" for row in self.settings)

    def setting(self, key: str) -> Setting | None:
        """Return a setting, None while the settings can't be read."""
        return next((each for each in self.settings if each.key == key), None)


def take_snapshot(data: Data, client: list[Finding]) -> Snapshot:
    """Look at everything. What can't be read is a finding, or left out, and never an error. `client`: the findings of
    `checkup.client_check`, which starts a process."""
    statistics = data.statistics
    snapshot = Snapshot(times=statistics.events, last_runs=statistics.last_runs, counted=statistics.ready)
    snapshot.findings = findings.of_setup(checkup.check(data.env, data.cwd, data.now(), client, data.known))
    with suppress(MemtuiError, OSError):
        snapshot.hooks = status.status(data.env, data.cwd)
    snapshot.errors = list(islice(error_log.newest_first(data.root), ERRORS_SHOWN))
    try:
        snapshot.settings = setting.rows(data.root, data.project_root)
    except MemtuiError as error:
        snapshot.settings_error = error.message
    if snapshot.has_model:
        snapshot.reading = overview.look(data.env, data.root, data.project_root, data.now())
    return snapshot
