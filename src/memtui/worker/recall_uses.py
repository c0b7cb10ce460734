"""What came of delivered memories, for the hook that recalls next: a person's corrections of what a session was given
are logged, and `recall/uses` is brought up to date by what the log got since (deliver/uses.py). A memory that
changed is counted anew: what came of its old text says nothing about the new one.

Also what its use teaches: the prompt after which the agent opened a memory becomes a trigger of it, unless that very
prompt had brought the memory. The log says what was opened, the transcript what was asked."""

import dataclasses
import marshal
import os
import re
from binascii import crc32
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from memtui.base import clock, fastjson, fs, ids, paths
from memtui.client import locate
from memtui.client.transcripts import prompts, transcript
from memtui.deliver import log as delivery_log
from memtui.deliver import uses
from memtui.deliver.record import CORRECTED, MEMORY_KINDS, RECALL, USE, Delivery, EarlierPlaces, Record
from memtui.deliver.statistics import RecallCounter, RecallCounts
from memtui.recall import own_words, places, words
from memtui.redact.redact import redacted
from memtui.settings import config
from memtui.store import index_requests, triggers
from memtui.store.versions import moves

if TYPE_CHECKING:
    from memtui.learn.signals import Signal

# Where the counting left off: `marshal` of what _Counted has.
STATE = "recall/uses.state"
STATE_VERSION = 1
# The event under which corrections are logged.
EVENT = "Stop"
# The first count looks back so far; what was delivered may be opened, or corrected, for so long.
SPAN_DAYS, OPEN_DAYS = 90, 2
# The kinds of signals that count, with how much of the person's words must be in the memory: who says a rule again,
# without objecting, after the agent did something, says much the same.
SHARED_PARTS = {"correction": 0.4, "preference": 0.6}
# So many of these words must be in the memory, if there are so many, and one of them in its name or description.
SHARED_WORDS = 2
# Characters of a word that are compared, so that endings make no difference; of a memory that are read.
STEM, MEMORY_BYTES = 5, 16384

# What stands in a line of the log that tells what came of a memory.
TELLING = re.compile(f'"({RECALL}|{CORRECTED}|{USE})"'.encode())

# The least confidence of a correction that counts: nobody reviews what it says of a memory, as a draft is reviewed.
SURE = 0.65

_WORD = re.compile(r"[^\W_]{3,}")
_SUBJECT = re.compile(r"^\s*(?:name|description):(.+)$", re.MULTILINE)
# Words that say nothing about what a sentence is about.
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "the and for not but you your our with without that this these those are was were will would can could should"
        " must have has had does did from into onto they them then than when where which what who why how all any each"
        " every one always never only just also please instead use used using again still don dont now here there",
    )
)


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
        seconds = clock.parse(signal.time) or clock.now()
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
        project, now = paths.project_root(cwd), clock.now()
        record: Record = {
            "v": delivery_log.VERSION,
            "id": ids.new_id(),
            "time": clock.iso(now),
            "event": EVENT,
            "session_id": session,
            "cwd": cwd,
            "project": paths.project_key(project),
            "project_root": project,
            "chars": 0,
            "text": "",
            "items": items,
        }
        delivery_log.append(root, record, now)
    return len(items)


def _given(root: str, session: str) -> tuple[dict[str, tuple[float, Record]], set[tuple[str, object]]]:
    """Return what a session was given (path → time and item, the first) and (path, evidence) of its corrections."""
    records_by_key: dict[str, tuple[float, Record]] = {}
    noted: set[tuple[str, object]] = set()
    back = delivery_log.back_to(clock.now() - OPEN_DAYS * clock.DAY)
    for record in delivery_log.newest_first(root, needle=session.encode("utf-8", "replace"), since=back):
        for item in delivery_log.brought(record) if record.get("session_id") == session else ():
            path = item.get("path")
            if not isinstance(path, str):
                continue
            if item.get("kind") in MEMORY_KINDS:
                records_by_key[path] = (clock.parse(record.get("time")) or 0.0, item)
            elif item.get("kind") == CORRECTED:
                noted.add((path, item.get("evidence") or item.get("reason")))
    return records_by_key, noted


def _words_of(path: str) -> tuple[set[str], set[str]]:
    try:
        text = fs.read_bytes(path, MEMORY_BYTES).decode("utf-8", "replace")
    except OSError:
        return set(), set()
    lines = _SUBJECT.findall(text)
    name = os.path.basename(path).removesuffix(".md").replace("_", " ")
    return _stems(text), _stems(" ".join([name, *lines]) if lines else text)


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in _WORD.findall(text.casefold()) if word not in _COMMON}


class _Counted(RecallCounter):
    """What was counted of the log up to its `ends`; `stamps`: of files; `places`: a checksum of earlier places."""

    def __init__(self, places: int, ends: dict[str, int]) -> None:
        super().__init__(self._is_of_this_text)
        self.places, self.ends = places, ends
        self.stamps: dict[str, int] = {}

    def _is_of_this_text(self, path: str, seconds: float) -> bool:
        """Tell whether a memory had its present text already; a memory that is gone has none."""
        if path not in self.stamps:
            self.stamps[path] = _stamp(path)
        return seconds >= (self.stamps[path] / 1e9 or float("inf"))

    def add_line(self, line: bytes, earlier: EarlierPlaces, *, newest: bool = False) -> float:
        """Count a line of the log; return its time, 0.0 if it tells nothing."""
        record = delivery_log.parse(line) if TELLING.search(line) else None
        delivery = Delivery(record) if record is not None else None
        if delivery is None or not delivery.tells_recall:
            return 0.0
        self.count(delivery, earlier, newest=newest)
        return delivery.time

    def save(self, root: str) -> None:
        """Write what hooks read, and then the state file. Raises OSError."""
        memories = {path: counts for path, counts in self.memories.items() if counts}
        packed = uses.pack({path: (c.recalled, c.opened, c.corrected, c.last) for path, c in memories.items()})
        fs.write_atomic(f"{root}/{uses.FILE}", packed, durable=False)
        oldest = clock.now() - OPEN_DAYS * clock.DAY
        unread = {key: seconds for key, seconds in self.unread.items() if seconds > oldest}
        stamps = {path: stamp for path, stamp in self.stamps.items() if path in memories}
        rows = {path: dataclasses.astuple(counts) for path, counts in memories.items()}
        state = marshal.dumps((STATE_VERSION, self.ends, self.places, stamps, unread, rows))
        fs.write_atomic(f"{root}/{STATE}", state, durable=False)


def _load(root: str) -> _Counted | None:
    """Read the state file; None if there is none that can be continued."""
    try:
        version, ends, places, *parts = marshal.loads(fs.read(f"{root}/{STATE}", "cache"))  # noqa: S302  # ours
        counted = _Counted(places, ends)
        counted.stamps, counted.unread, rows = parts
        counted.memories = {path: RecallCounts(*row) for path, row in rows.items()}
    except (OSError, ValueError, TypeError, EOFError, AttributeError):
        return None
    return counted if version == STATE_VERSION else None


def update(root: str) -> None:
    """Bring `recall/uses` up to date with the log. For one process at a time. Raises OSError."""
    if not delivery_log.months(root):
        return
    counted = _load(root)
    news = None if counted is None else delivery_log.appended(root, counted.ends)
    if news is not None and not any(TELLING.search(line) for _, line in news[0]):
        return
    earlier = moves.load(root)
    places = crc32(repr(sorted(earlier.spans.items())).encode("utf-8", "replace"))
    if counted is None or news is None or counted.places != places:
        counted = _Counted(places, delivery_log.ends(root))
        oldest, size = clock.now() - SPAN_DAYS * clock.DAY, 0
        for _, line in delivery_log.lines(root, counted.ends):
            size += len(line)
            seconds = counted.add_line(line, earlier)
            if size > delivery_log.WINDOW_BYTES or 0.0 < seconds < oldest:
                break
    else:
        for path in [path for path, stamp in counted.stamps.items() if _stamp(path) != stamp]:
            del counted.stamps[path]
            counted.memories.pop(path, None)
        lines, counted.ends = news
        for _, line in lines:
            counted.add_line(line, earlier, newest=True)
    counted.save(root)


def _stamp(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


# How far the log was read: {"v": 1, "ends": {file: bytes}}. Without it learning begins with what was logged in the last
# FIRST_DAYS.
LEARNED = "run/learned.json"
LEARNED_VERSION = 1
FIRST_DAYS = 30
# Uses of one run: a first one may find very many.
MOST_USES = 2000
# A delivery of the same prompt is at most so much older than the use.
PROMPT_SECONDS = 12 * 3600.0
_READ = b'"action": "read"'


class Opening(NamedTuple):
    """That the agent opened a memory: session, prompt (the client's id), time, path then, transcript, directory."""

    session: str
    prompt: str
    time: float
    path: str
    transcript: str
    cwd: str


def learn(env: dict[str, str], root: str) -> None:
    """Learn from what was logged since the last time. For one process at a time. Raises OSError."""
    openings, ends = _uses(root)
    by_session: dict[tuple[str, str], list[Opening]] = {}
    for use in openings[-MOST_USES:]:
        by_session.setdefault((use.session, use.transcript), []).append(use)
    lessons: dict[str, dict[str, list[tuple[str, float]]]] = {}
    if by_session:
        settings, earlier = config.load(root), moves.load(root)
        for uses in by_session.values():
            if config.value(settings, paths.project_root(uses[0].cwd), "extract") is True:
                for directory, file, line, time in _lessons(env, root, earlier, uses):
                    lessons.setdefault(directory, {}).setdefault(file, []).append((line, time))
    changed = [
        f"{directory}/{file}"
        for directory, of_files in lessons.items()
        for file in triggers.note_use(root, directory, of_files)
    ]
    fs.write_atomic(f"{root}/{LEARNED}", fastjson.dumps({"v": LEARNED_VERSION, "ends": ends}).encode(), durable=False)
    index_requests.request(root, changed)


def _uses(root: str) -> tuple[list[Opening], dict[str, int]]:
    try:
        state = fastjson.loads_dict(fs.read(f"{root}/{LEARNED}", "cache"))
    except OSError:
        state = {}
    ends = state.get("ends")
    got = delivery_log.appended(root, ends) if state.get("v") == LEARNED_VERSION and isinstance(ends, dict) else None
    if got is not None:
        return [use for _, line in got[0] for use in _of_line(line)], got[1]
    now, oldest = delivery_log.ends(root), clock.now() - FIRST_DAYS * clock.DAY
    openings: list[Opening] = []
    for _, line in delivery_log.lines(root, now):
        uses = list(_of_line(line))
        if (uses and uses[0].time < oldest) or len(openings) >= MOST_USES:
            break
        openings += uses
    return openings[::-1], now


def _of_line(line: bytes) -> Iterator[Opening]:
    record = delivery_log.parse(line) if _READ in line else None
    if record is None or record.get("agent_id"):
        return
    session, prompt, path_of, cwd = (
        transcript.text_of(record.get(key)) for key in ("session_id", "prompt_id", "transcript", "cwd")
    )
    time = clock.parse(record.get("time")) or 0.0
    for item in delivery_log.brought(record):
        path = item.get("path")
        if item.get("kind") == "use" and item.get("action") == "read" and isinstance(path, str):
            yield Opening(session, prompt, time, path, path_of, cwd)


def _lessons(
    env: dict[str, str], root: str, earlier: EarlierPlaces, uses: list[Opening]
) -> Iterator[tuple[str, str, str, float]]:
    """Yield the triggers that the uses of one session teach: directory of memories, file in it, line, time."""
    session, path = uses[0].session, uses[0].transcript
    if not path.startswith("/") or not os.path.exists(path):
        path = transcript.find(paths.config_dir(env), session) or ""
    questions = list(prompts.of_transcript(path)) if path else []
    delivered = _recalled(root, session, min(other.time for other in uses)) if questions else set()
    for use in uses:
        by_id = use.prompt and any(question.id for question in questions)
        before = (
            each for each in reversed(questions) if (each.id == use.prompt if by_id else 0.0 < each.time <= use.time)
        )
        prompt, place = next(before, None), _place(env, root, earlier, use)
        if prompt is None or place is None or (use.path, prompt.id or use.prompt) in delivered:
            continue
        counted, _ = own_words.counted(prompt.text)
        line = triggers.one_line(redacted(counted)) if counted and words.tells(counted) else ""
        if line:
            yield (*place, line, use.time)


def _place(env: dict[str, str], root: str, earlier: EarlierPlaces, use: Opening) -> tuple[str, str] | None:
    """Return the directory and file where an opened memory is now; None if it is gone, or is none."""
    path = earlier.now(use.path, use.time)
    if not path or not os.path.isfile(path) or not locate.is_memory_name(os.path.basename(path)):
        return None
    own = (each for _, each in places.of_session(env, use.cwd) if path.startswith(each + "/"))
    directory = next(own, None) or index_requests.indexed(root, path)
    if not directory or locate.is_set_aside(path[len(directory) + 1 :]):
        return None
    return directory, path[len(directory) + 1 :]


def _recalled(root: str, session: str, oldest: float) -> set[tuple[str, str]]:
    """Return (path, id of the prompt) of the memories that were recalled for prompts of a session."""
    needle = session.encode("utf-8", "replace")
    since = delivery_log.back_to(oldest - PROMPT_SECONDS)
    return {
        (str(item.get("path")), str(record.get("prompt_id")))
        for record in delivery_log.newest_first(root, needle=needle, since=since)
        if record.get("session_id") == session
        for item in delivery_log.brought(record)
        if item.get("kind") == "recall"
    }
