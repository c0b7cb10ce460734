"""What came of delivered memories, for the hook that recalls next: a person's corrections of what a session was given
are logged, and `recall/uses` is brought up to date by what the log got since (deliver/uses_hot.py). A memory that
changed is counted anew: what came of its old text says nothing about the new one."""

import dataclasses
import marshal
import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from memtui.base import clock_hot, fs_hot, ids_hot, paths_hot, word_lists
from memtui.base.storage import modified_ns
from memtui.deliver import log_hot, uses_hot
from memtui.deliver.record import CORRECTED, MEMORY_KINDS, RECALL, USE, Delivery, Record
from memtui.deliver.statistics import RecallCounter, RecallCounts

if TYPE_CHECKING:
    from memtui.learn.signals import Signal

# Where the counting left off: `marshal` of what _Counted has.
STATE = "recall/uses.state"
STATE_VERSION = 2
EVENT = "Stop"  # the event under which corrections are logged
SPAN_DAYS, OPEN_DAYS = 90, 2  # how far the first count looks back; for how long what was delivered counts as opened
# The kinds of signals that count, with how much of the person's words must be in the memory: who says a rule again,
# without objecting, after the agent did something, says much the same.
SHARED_PARTS = {"correction": 0.4, "preference": 0.6}
SHARED_WORDS = 2  # so many words must be in the memory, if there are as many, and one in its name or description
STEM, MEMORY_BYTES = 5, 16384  # characters of a word that are compared, without its ending; bytes of a memory

# What stands in a line of the log that tells what came of a memory.
TELLING = re.compile(f'"({RECALL}|{CORRECTED}|{USE})"'.encode())

SURE = 0.65  # the least confidence of a correction: nobody reviews what it says of a memory, as one does a draft

_WORD = re.compile(r"[^\W_]{3,}")
_SUBJECT = re.compile(r"^\s*(?:name|description):(.+)$", re.MULTILINE)
_COMMON = word_lists.sets(__file__.removesuffix("py") + "txt")["common"]


def note_corrections(root: str, session: str, cwd: str, signals: Iterable["Signal"]) -> int:
    """Log which memories of a session a person's sure corrections concern; return how many. Raises OSError."""
    sure = [signal for signal in signals if signal.kind in SHARED_PARTS and signal.confidence >= SURE]
    corrections = [signal for signal in sure if signal.kind == "correction" or signal.agent]
    if not corrections or not session:
        return 0
    delivered, noted = _given(root, session)
    memories = {path: _words_of(path) for path in delivered}
    items: list[Record] = []
    for signal in corrections:
        seconds = clock_hot.parse(signal.time) or clock_hot.now()
        # What the rule of the draft is, and all that the person said: not the body, which tells what the agent did.
        stem_sets = [_stems(signal.description), _stems(signal.person)]
        for path, (since, item) in delivered.items():
            key = (path, signal.evidence or signal.description)
            part = SHARED_PARTS[signal.kind]
            words, subject = memories[path]
            shares = [(len(stems & words), stems) for stems in stem_sets if not subject.isdisjoint(stems & words)]
            # Enough of what was said, and `part` of all, is in the memory.
            concerns = any(count >= max(1, min(SHARED_WORDS, len(stems)), part * len(stems)) for count, stems in shares)
            if since <= seconds and key not in noted and concerns:
                noted.add(key)
                row: Record = {name: item[name] for name in ("id", "scope", "path") if name in item}
                items.append({"kind": CORRECTED, **row, "reason": signal.description, "evidence": signal.evidence})
    if items:
        project, now = paths_hot.project_root(cwd), clock_hot.now()
        record: Record = {"v": log_hot.VERSION, "id": ids_hot.new_id(), "time": clock_hot.iso(now), "event": EVENT}
        record |= {"session_id": session, "cwd": cwd, "project": paths_hot.project_key(project)}
        record |= {"project_root": project, "chars": 0, "text": "", "items": items}
        log_hot.append(root, record, now)
    return len(items)


def _given(root: str, session: str) -> tuple[dict[str, tuple[float, Record]], set[tuple[str, object]]]:
    """Return what a session was given (path → time and item, the first) and (path, evidence) of its corrections."""
    records_by_key: dict[str, tuple[float, Record]] = {}
    noted: set[tuple[str, object]] = set()
    back = log_hot.back_to(clock_hot.now() - OPEN_DAYS * clock_hot.DAY)
    for record in log_hot.newest_first(root, needle=session.encode("utf-8", "replace"), since=back):
        for item in log_hot.brought(record) if record.get("session_id") == session else ():
            path = item.get("path")
            if not isinstance(path, str):
                continue
            if item.get("kind") in MEMORY_KINDS:
                records_by_key[path] = (clock_hot.parse(record.get("time")) or 0.0, item)
            elif item.get("kind") == CORRECTED:
                noted.add((path, item.get("evidence") or item.get("reason")))
    return records_by_key, noted


def _words_of(path: str) -> tuple[set[str], set[str]]:
    try:
        text = fs_hot.read_bytes(path, MEMORY_BYTES).decode("utf-8", "replace")
    except OSError:
        return set(), set()
    lines = _SUBJECT.findall(text)
    name = os.path.basename(path).removesuffix(".md").replace("_", " ")
    return _stems(text), _stems(" ".join([name, *lines]) if lines else text)


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in _WORD.findall(text.casefold()) if word not in _COMMON}


class _Counted(RecallCounter):
    """What was counted of the log up to its `ends`; `stamps`: of files."""

    def __init__(self, ends: dict[str, int]) -> None:
        super().__init__(self._is_of_this_text)
        self.ends = ends
        self.stamps: dict[str, int] = {}

    def _is_of_this_text(self, path: str, seconds: float) -> bool:
        """Tell whether a memory had its present text already; a memory that is gone has none."""
        if path not in self.stamps:
            self.stamps[path] = modified_ns(path)
        return seconds >= (self.stamps[path] / 1e9 or float("inf"))

    def add_line(self, line: bytes, *, newest: bool = False) -> float:
        """Count a line of the log; return its time, 0.0 if it tells nothing."""
        record = log_hot.parse(line) if TELLING.search(line) else None
        delivery = Delivery(record) if record is not None else None
        if delivery is None or not delivery.tells_recall:
            return 0.0
        self.count(delivery, newest=newest)
        return delivery.time

    def save(self, root: str) -> None:
        """Write what hooks read, and then the state file. Raises OSError."""
        memories = {path: counts for path, counts in self.memories.items() if counts}
        packed = uses_hot.pack({path: (c.recalled, c.opened, c.corrected, c.last) for path, c in memories.items()})
        fs_hot.write_atomic(f"{root}/{uses_hot.FILE}", packed, durable=False)
        oldest = clock_hot.now() - OPEN_DAYS * clock_hot.DAY
        unread = {key: seconds for key, seconds in self.unread.items() if seconds > oldest}
        stamps = {path: stamp for path, stamp in self.stamps.items() if path in memories}
        rows = {path: dataclasses.astuple(counts) for path, counts in memories.items()}
        state = marshal.dumps((STATE_VERSION, self.ends, stamps, unread, rows))
        fs_hot.write_atomic(f"{root}/{STATE}", state, durable=False)


def _load(root: str) -> _Counted | None:
    """Read the state file; None if there is none that can be continued."""
    try:
        version, ends, *parts = marshal.loads(fs_hot.read(f"{root}/{STATE}", "cache"))  # noqa: S302  # ours
        counted = _Counted(ends)
        counted.stamps, counted.unread, rows = parts
        counted.memories = {path: RecallCounts(*row) for path, row in rows.items()}
    except (OSError, ValueError, TypeError, EOFError, AttributeError):
        return None
    return counted if version == STATE_VERSION else None


def update(root: str) -> None:
    """Bring `recall/uses` up to date with the log. For one process at a time. Raises OSError."""
    if not log_hot.months(root):
        return
    counted = _load(root)
    news = None if counted is None else log_hot.appended(root, counted.ends)
    if news is not None and not any(TELLING.search(line) for _, line in news[0]):
        return
    if counted is None or news is None:
        counted = _Counted(log_hot.ends(root))
        oldest, size = clock_hot.now() - SPAN_DAYS * clock_hot.DAY, 0
        for _, line in log_hot.lines(root, counted.ends):
            size += len(line)
            seconds = counted.add_line(line)
            if size > log_hot.WINDOW_BYTES or 0.0 < seconds < oldest:
                break
    else:
        for path in [path for path, stamp in counted.stamps.items() if modified_ns(path) != stamp]:
            del counted.stamps[path]
            counted.memories.pop(path, None)
        lines, counted.ends = news
        for _, line in lines:
            counted.add_line(line, newest=True)
    counted.save(root)
