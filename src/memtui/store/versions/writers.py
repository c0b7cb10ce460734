"""Who wrote a version of a memory, if memtui did not, by the writes that hooks logged; and where memories come from."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from memtui.base import clock_hot, fs_hot, paths_hot
from memtui.client import locate_hot
from memtui.client.transcripts import prompts, transcript_hot
from memtui.deliver import log_hot
from memtui.store.journal import ledger as journal_ledger
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.versions.versions import AGENT, GONE, OTHER, Version, Writer

# Seconds between the write of a file and the hook that logs it.
LATE = 60.0


class Writers:
    """The writers of one memtui root: `of` names the one of a version."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._logged: dict[str, list[tuple[float, Writer]]] = {}
        self._since = float("inf")

    def of(self, version: Version) -> Writer:
        if version.digest == GONE:
            return Writer(OTHER)
        at = version.stamp / 1e9
        self._read_back_to(at)
        writes = self._logged.get(os.path.realpath(version.path), [])
        near = [(abs(time - at), writer) for time, writer in writes if abs(time - at) <= LATE]
        return min(near, key=lambda candidate: candidate[0])[1] if near else Writer(OTHER)

    def _read_back_to(self, at: float) -> None:
        """Read the logged writes since `at` (seconds since the epoch), if that was not done yet."""
        if at >= self._since:
            return
        self._logged, self._since = {}, at
        recent = log_hot.WINDOW_BYTES
        for record in log_hot.newest_first(self.root, needle=b'"wrote"', since=at - LATE, most=recent):
            time = clock_hot.parse(str(record.get("time"))) or 0.0
            writer = Writer(AGENT, str(record.get("session_id") or ""), str(record.get("prompt_id") or ""))
            for item in log_hot.brought(record):
                if item.get("action") == "wrote" and isinstance(item.get("path"), str):
                    self._logged.setdefault(os.path.realpath(str(item["path"])), []).append((time, writer))


class Occasion(NamedTuple):
    """On what occasion an agent wrote: the session's title, and the person's prompt; empty where that is not known."""

    title: str = ""
    prompt: str = ""


class Occasions:
    """The occasions of writers, by the transcripts. Each transcript is read once for each prompt."""

    def __init__(self, env: dict[str, str]) -> None:
        self._finder = transcript_hot.Finder(paths_hot.config_dir(env))
        self._found: dict[Writer, Occasion] = {}

    def of(self, writer: Writer) -> Occasion:
        if writer not in self._found:
            path = self._finder.find(writer.session) if writer.session else None
            self._found[writer] = Occasion(prompts.about(path).title, prompts.with_id(path or "", writer.prompt))
        return self._found[writer]


class Source(NamedTuple):
    """Where a memory is from: session, approve, copy, move, made (at `when`), own, repository, model, team (`by`), …"""

    kind: str
    when: float | None = None
    session: str = ""
    by: str = ""


def colleagues(scope: Scope) -> dict[str, str]:
    """Map each file of a team's scope to who wrote it last, and where, as `sync/sync.py` notes it; {} for others."""
    if scope.kind != "remote":
        return {}
    rows = fs_hot.read_table(os.path.dirname(scope.directory) + "/writers.json")
    return {
        path.removeprefix(f"{locate_hot.TEAM}/"): " on ".join(str(part) for part in row[:2] if part)
        for path, row in rows.items()
        if isinstance(row, list)
    }


def creations(root: str) -> dict[str, tuple[str, float | None]]:
    """Map the path of each file that memtui made, by the journal, to (operation, seconds since the epoch)."""
    try:
        ledger = journal_ledger.shared(f"{root}/journal.jsonl").follow()
    except OSError:
        return {}
    created: dict[str, tuple[str, float | None]] = {}
    for step in ledger.all():
        if step.state != "done" or not step.is_change or step.op == "restore":
            continue
        origins = step.origins
        for path in [file.path for file in step.writes if not file.before]:
            old = origins.get(path)
            if old in created:
                created[path] = created[old]
            elif old is None or step.op == "move":
                created[path] = step.op, clock_hot.parse(step.time)
    return created


def source(scope: Scope, memory: Memory, origins: Mapping[str, tuple[str, float | None]]) -> Source:
    """Return where a memory comes from. `origins`: as returned by `creations`."""
    if scope.kind == "model":
        return Source("model")
    if by := colleagues(scope).get(memory.path.removeprefix(scope.directory + "/")):
        return Source("team", by=by)
    if memory.origin_session:
        return Source("session", session=memory.origin_session)
    creation = origins.get(os.path.realpath(memory.path))
    if creation is not None:
        return Source(creation[0] if creation[0] in {"approve", "copy", "move"} else "made", creation[1])
    if scope.kind == "instructions":
        return Source("own" if scope.root_path is None else "repository")
    return Source("repository" if scope.kind == "project" or scope.label.endswith("@project") else "unknown")
