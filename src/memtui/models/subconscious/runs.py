"""The log of runs, `subconscious/runs.jsonl`: when the subconscious read what, what it cost, and what came of it; and
its whispers. A run is logged when it begins and again when it has ended; one that only began is under way, or its
process was killed. A whisper is a note for one session, delivered once, with a receipt (inbox/claims_hot.py)."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot, paths_hot, reverse_lines_hot
from memtui.client import process_hot
from memtui.inbox import file_hot, format_hot
from memtui.inbox.note_block_hot import WHISPER
from memtui.models.subconscious import block_files_hot

VERSION = 1
LOCK_SECONDS = 5.0
# Outcomes. Others are those of a call that failed (models/call.py): budget, busy, …
BEGUN, DONE, FAILED, STOPPED = "begun", "done", "failed", "stopped"
WORKER_STOPPED = "memtui's worker was stopped; what it was to read is read after the next turn"
# Bytes of the file from which its older half is dropped.
TRIM_BYTES = 2 << 20
SENDER = "subconscious"
MOST, EXPIRES = 1200, clock_hot.DAY  # characters of a whisper; seconds after which it is not delivered any more
QUESTION = 300  # characters of a question that stand beside its answer


class Whisper(NamedTuple):
    """A message to a run's session. `reply`: the words that it answers; `because`: the words that it is about."""

    id: str
    text: str
    urgent: bool = False
    reply: str = ""
    because: str = ""


@dataclass(frozen=True)
class Run:
    """One run. `event`: after which hook; `outcome`: BEGUN, DONE, FAILED, STOPPED, or why the model gave no answer;
    `why`: in words; `heard`: messages read; `limit`: the seconds that it may take; `process`: as process_hot tells it;
    `looks`: what its tools looked at; `step_count`: how often it used a tool (trace.py); `files` that it changed, and
    those `unversioned`; `changes`: of blocks, each begun by the block's name; `refused`: what it did not get."""

    id: str
    time: float
    session: str
    project: str
    cwd: str
    event: str
    backend: str = ""
    model: str = ""
    mode: str = ""
    tools: str = ""
    outcome: str = BEGUN
    why: str = ""
    seconds: float = 0.0
    calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    heard: int = 0
    limit: int = 0
    process: tuple[str, ...] = ()
    note: str = ""
    looks: tuple[str, ...] = ()
    step_count: int = 0
    files: tuple[str, ...] = ()
    unversioned: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    whispers: tuple[Whisper, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(change.partition(":")[0] for change in self.changes))

    @property
    def answers(self) -> tuple[Whisper, ...]:
        """What it replied to who addressed it."""
        return tuple(whisper for whisper in self.whispers if whisper.reply)

    def data(self) -> dict[str, Any]:
        keys = ("process", "looks", "files", "unversioned", "changes", "blocks", "refused")
        lists = {key: list(getattr(self, key)) for key in keys}
        whispers = [whisper._asdict() for whisper in self.whispers]
        return {**vars(self), **lists, "whispers": whispers, "time": clock_hot.iso(self.time)}

    def remarks(self) -> list[tuple[str, str]]:
        """Return what came of it, as (kind, text): what later runs of the session are told again."""
        pairs = [("changed", text) for text in self.changes]
        pairs += [("noted", self.note)] if self.note else []
        pairs += [("refused", text) for text in self.refused]
        for text in self.whispers:
            pairs += [("asked", text.reply), ("replied", text.text)] if text.reply else [("whispered", text.text)]
        return pairs

    def settled(self, now: float) -> "Run":
        """Return the run; one that only began and whose process is gone, or takes too long, as STOPPED."""
        pid, *start = self.process or ("0",)
        is_gone = pid.isdecimal() and process_hot.gone([int(pid), *start])
        if self.outcome != BEGUN or not (is_gone or now - self.time > self.limit):
            return self
        return replace(self, outcome=STOPPED, why=WORKER_STOPPED)


def read(row: dict[str, object]) -> Run | None:
    """Read a row of the log; None if it is none."""
    values: dict[str, Any] = {}
    for field in fields(Run):
        value = row.get(field.name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if field.name == "cost":
            values["cost"] = value if is_number else None
        elif field.name == "whispers":
            values["whispers"] = tuple(filter(None, map(_whisper, value))) if isinstance(value, list) else ()
        elif (field.type is str and isinstance(value, str)) or (field.type in {int, float} and is_number):
            values[field.name] = value
        elif isinstance(value, list):
            values[field.name] = tuple(map(str, value))
    values["time"] = clock_hot.parse(row.get("time"))
    try:
        return Run(**values) if row.get("v") == VERSION and values["time"] is not None else None
    except TypeError:
        return None  # a text that must be there is missing


def _whisper(row: object) -> Whisper | None:
    if not isinstance(row, dict):
        return None
    texts = [row.get(key) for key in ("id", "text", "reply", "because")]
    if not all(isinstance(text, str) for text in texts):
        return None
    return Whisper(row["id"], row["text"], row.get("urgent") is True, row["reply"], row["because"])


def path(root: str) -> str:
    return block_files_hot.home(root) + "/runs.jsonl"


def append(root: str, run: Run) -> None:
    """Log a run, or its end. Nothing may be appended to the file while its older half goes. Raises OSError."""
    with fs_hot.Lock(block_files_hot.home(root) + "/lines.lock", LOCK_SECONDS):
        fs_hot.append(path(root), fastjson_hot.dumps({"v": VERSION, **run.data()}).encode() + b"\n")
        if os.stat(path(root)).st_size > TRIM_BYTES:
            rows = fs_hot.read_bytes(path(root)).splitlines(keepends=True)
            fs_hot.write_atomic(path(root), b"".join(rows[len(rows) // 2 :]), durable=False)


def newest_first(root: str, limit: int = 100, session: str = "") -> list[Run]:
    """Return the runs, newest first, each as it ended; those of a `session` (by the beginning of its id)."""
    runs: dict[str, Run] = {}
    try:
        for _, line in reverse_lines_hot.lines(path(root), needle=session.encode()):
            run = read(fastjson_hot.loads_dict(line))
            if run is not None and run.session.startswith(session):
                if run.id not in runs:
                    runs[run.id] = run.settled(clock_hot.now())
                if len(runs) >= limit:
                    break
    except OSError:
        pass
    return sorted(runs.values(), key=lambda run: -run.time)


def send(root: str, run: Run, whisper: Whisper) -> None:
    """Put a whisper of a run into the inbox of its project. Raises OSError."""
    fields = {"id": whisper.id, "time": clock_hot.iso_seconds(run.time), "from": SENDER, "kind": WHISPER}
    fields |= {"for": "session:" + run.session, "expires": clock_hot.iso_seconds(run.time + EXPIRES)}
    fields |= {"urgent": "yes"} if whisper.urgent else {}
    fields |= {"reply": whisper.reply[:QUESTION]} if whisper.reply else {}
    file_hot.add_entry(paths_hot.inbox_dir(root, run.project), "guidance", fields, whisper.text)


def see(root: str, names: Iterable[str], now: float) -> None:
    """Note the ids of answers that a person saw, so that the status line counts them no more. Raises OSError."""
    before = block_files_hot.seen_answers(root)
    if not before.issuperset(names):
        fresh = {name for name in {*before, *names} if now - (ids_hot.id_time(name) or 0.0) < EXPIRES}
        fs_hot.write_atomic(block_files_hot.seen_path(root), "\n".join(sorted(fresh)).encode(), durable=False)


def waits(root: str, run: Run, whisper: Whisper) -> bool:
    """Tell whether a whisper is still in the inbox, or taken by a hook whose delivery is not settled."""
    directory = paths_hot.inbox_dir(root, run.project)
    claimed = f"{directory}/{format_hot.CLAIMED}"
    files = [f"{claimed}/{name}" for name in paths_hot.names_in(claimed) if name.endswith(".md")]
    for file in (f"{directory}/{format_hot.FILES['guidance']}", *files):
        try:
            if any(entry.id == whisper.id for entry in format_hot.read(file)):
                return True
        except OSError:
            continue
    return False
