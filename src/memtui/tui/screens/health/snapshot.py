"""What the health screen shows, gathered in a worker: findings, hooks, index budgets, errors, modes, settings."""

import os
from array import array
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from memtui.core.base import paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding
from memtui.core.deliveries import error_log
from memtui.core.deliveries.record import Record
from memtui.core.health import findings, index_report
from memtui.core.health.index_report import Report
from memtui.core.places import locate, trust
from memtui.core.settings import setting
from memtui.core.settings.modes import Mode, modes
from memtui.core.settings.setting import Setting
from memtui.hooks.installer import checkup, status
from memtui.tui.model.data import Data

ERRORS_SHOWN = 30


@dataclass
class Snapshot:
    """Everything that was found at one moment. `times`: the milliseconds of hook runs, by event."""

    findings: list[Finding] = field(default_factory=list)
    hooks: status.Status | None = None
    times: dict[str, "array[float]"] = field(default_factory=dict)
    reports: list[Report] = field(default_factory=list)
    errors: list[Record] = field(default_factory=list)
    modes: list[Mode] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    settings_error: str = ""
    trusted: trust.TrustStatus | None = None
    # Names that a person knows, by the slug of an inbox or the end of a note's id.
    names: dict[str, str] = field(default_factory=dict)

    @property
    def problems(self) -> int:
        """How many findings are problems to fix."""
        return findings.problems(self.findings)


def take_snapshot(data: Data, client: list[Finding]) -> Snapshot:
    """Look at everything. What can't be read is a finding, or left out, and never an error. `client`: the findings of
    `checkup.client_check`, which starts a process."""
    found = Snapshot(times=data.statistics.events)
    found.findings = checkup.check(data.env, data.cwd, data.now(), client, data.known)
    with suppress(MemtuiError, OSError):
        found.hooks = status.status(data.env, data.cwd)
    with suppress(MemtuiError, OSError):
        found.reports = index_report.reports(data.root, data.scopes())
    found.errors = list(islice(error_log.newest_first(data.root), ERRORS_SHOWN))
    try:
        found.settings = setting.rows(data.root, data.project_root)
        found.modes = list(modes(data.env, data.root, data.project_root))
    except MemtuiError as error:
        found.settings_error = error.message
    found.names = {paths.slug(each.path): os.path.basename(each.path) for each in found.modes if len(each.path) > 1}
    for item in data.waiting(every=True):
        if item.kind == "guidance":
            found.names[item.id[-6:]] = f"“{' '.join(item.text.split())[:60]}”"
    directory, exists = locate.project_dir(data.env, data.cwd)
    with suppress(OSError):
        found.trusted = trust.status(data.root, directory) if exists else None
    return found
