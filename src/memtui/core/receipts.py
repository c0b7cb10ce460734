"""Receipts: what became of a delivery, by the evidence of the session's transcript.

The client writes there what its hooks gave the model: `hook_additional_context` holds the very text, our delivery id in
it, or a `<persisted-output>` preview of a text that was too large. A hook that came too late leaves `hook_cancelled`,
one that died `hook_non_blocking_error`; these carry no id of ours and are matched by event, command and time.

Observed with client 2.1.197: contexts that a hook printed before it exited with 1 do arrive; what a hook gave inside a
subagent reaches the subagent's model, but no transcript records it. With 2.1.330: text typed in mid-turn fires
UserPromptSubmit at once, and its context waits with it in the client's queue, whose every move the transcript notes.
"""

import posix

from memtui.core import clock, paths, session, transcript

ARRIVED, PREVIEWED, TIMED_OUT, FAILED = "arrived", "previewed", "timed out", "failed"
NEVER = float("inf")
UNKNOWN, WAITING, NOTHING = "unknown", "waiting", "nothing"
# The client's clock and ours are one, but it notes the end of a hook a little after the hook logged its delivery.
SLACK_SECONDS = 1.5
# So long after the last sign of life nothing more will be written about a delivery.
QUIET_SECONDS = 3600.0
# A record this long is a file's content, not a turn's beginning or our text.
LONG_LINE = 1 << 20
KEPT_MESSAGES = 64
# A prompt that is queued stands in the queue when the last of its hooks has ended: the client waits for them this long.
QUEUED_SECONDS = 60.0
RECENT_BYTES = 1 << 19
RECENT_MARGIN_SECONDS = 300.0
PREVIEW_MARK = "<persisted-output>"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def _relevant(line: bytes) -> bool:
    if b"hook_" in line and b"memtui" in line:
        return True
    return len(line) < LONG_LINE and (
        b"assistant" in line or b"user" in line or b"attachment" in line or b"queue-operation" in line
    )


def _delivery_ids(text: str) -> "list[str]":
    """The ids that our own tags name: `<memtui-… delivery="ID"`. Content can't open such a tag (core/render.py)."""
    found = []
    for part in text.split("<memtui-")[1:]:
        value = part[: part.find(">")].partition(' delivery="')[2]
        if '"' in value:
            found.append(value[: value.find('"')])
    return found


class TranscriptView:
    """What a transcript tells about deliveries. `refresh` reads what is new; memory grows with hooks, not with bytes.

    `start`: the byte to begin at, for a caller that knows where the delivery's turn began. `subagent`: the records of a
    subagent's own transcript, all marked as side chain, count as its turns.
    """

    def __init__(self, path: str, start: int = 0, subagent: bool = False) -> None:
        self.path = path
        self.exists = False
        self.changed = 0.0  # the file's time of last change, in seconds since the epoch
        self.records_attachments = False
        self.outcomes: dict[str, str] = {}  # delivery id -> arrived or previewed
        self.troubles: list[tuple[str, str, float, float, str]] = []  # event, tool use, from, to, outcome
        self.last_call = 0.0  # when the model's newest message began
        self.last_prompt = 0.0
        self.queue: list[list[float]] = []  # since when each prompt stood in the client's queue, and until when
        self._subagent = subagent
        self._offset = start
        self._messages: dict[str, None] = {}

    def refresh(self) -> "TranscriptView":
        """Read what was appended since. A missing or unreadable file leaves `exists` False."""
        try:
            found = posix.stat(self.path)
            self.changed = found.st_mtime
            if found.st_size < self._offset:
                self._offset = 0  # replaced by another file: what the old one told stays true
            reader = transcript.Reader(self.path, self._offset, keep=_relevant)
            for record in reader:
                self._note(record)
            self._offset = reader.offset
            self.exists = True
        except OSError:
            self.exists = False
        return self

    def _note(self, record: "dict[str, object]") -> None:
        kind = record.get("type")
        if kind == "attachment":
            self.records_attachments = True
            self._note_attachment(transcript.attachment(record), clock.parse(record.get("timestamp")) or 0.0)
        elif kind == "queue-operation":
            self._note_queue(record.get("operation"), clock.parse(record.get("timestamp")) or 0.0)
        elif kind in {"assistant", "user"} and bool(record.get("isSidechain")) == self._subagent:
            seconds = clock.parse(record.get("timestamp")) or 0.0
            if kind == "user":
                blocks = transcript.blocks(record)
                if not record.get("isMeta") and any(b.get("type") == "text" for b in blocks):
                    self.last_prompt = max(self.last_prompt, seconds)
                return
            message = record.get("message")
            name = transcript.text_of(message.get("id")) if isinstance(message, dict) else ""
            # One message is split over several records, written while its first tools already run.
            if not name or name not in self._messages:
                self.last_call = max(self.last_call, seconds)
                self._messages[name] = None
                if len(self._messages) > KEPT_MESSAGES:
                    del self._messages[next(iter(self._messages))]

    def _note_queue(self, operation: "object", seconds: float) -> None:
        """`enqueue`, `dequeue` and `remove` (the oldest is taken up), `popAll` (the person takes all of them back)."""
        if operation == "enqueue":
            self.queue = [*self.queue[-KEPT_MESSAGES:], [seconds, NEVER]]
            return
        waiting = [each for each in self.queue if each[1] == NEVER]
        for each in waiting if operation == "popAll" else waiting[:1]:
            each[1] = seconds

    def _note_attachment(self, found: "dict[str, object]", seconds: float) -> None:
        kind = transcript.text_of(found.get("type"))
        if kind == "hook_additional_context":
            for text in transcript.attachment_texts(found):
                outcome = PREVIEWED if text.lstrip().startswith(PREVIEW_MARK) else ARRIVED
                for name in _delivery_ids(text):
                    if self.outcomes.get(name) != ARRIVED:
                        self.outcomes[name] = outcome
        elif kind.startswith("hook_") and kind not in {"hook_success", "hook_system_message"}:
            if "memtui" not in transcript.text_of(found.get("command")):
                return
            lasted = found.get("durationMs")
            start = seconds - (lasted / 1000 if isinstance(lasted, (int, float)) else 0.0)
            outcome = TIMED_OUT if kind == "hook_cancelled" and found.get("timedOut") else FAILED
            event, tool = transcript.text_of(found.get("hookEvent")), transcript.text_of(found.get("toolUseID"))
            self.troubles.append((event, tool, start, seconds, outcome))

    def trouble(self, record: "dict[str, object]") -> "str | None":
        """The outcome of a cancelled or failed run of our hook that fits this delivery in event, tool use and time."""
        seconds = clock.parse(record.get("time")) or 0.0
        tool = record.get("tool_use_id")
        for event, tool_id, start, end, result in self.troubles:
            if event != record.get("event") or (tool and tool_id != tool):
                continue
            if start - SLACK_SECONDS <= seconds <= end + SLACK_SECONDS:
                return result
        return None

    def passed(self, record: "dict[str, object]") -> bool:
        """Whether the turn has gone on beyond this delivery, so that its trace would be there."""
        seconds = clock.parse(record.get("time")) or 0.0
        if record.get("event") == "UserPromptSubmit":
            left = self._left_queue(seconds)
            if left > seconds:
                return self.last_call > left
        if self.last_call > seconds:
            return True
        return record.get("event") != "SessionStart" and self.last_prompt > seconds

    def _left_queue(self, seconds: float) -> float:
        """When the prompt of a delivery was taken out of the client's queue, NEVER if it waits there; 0 if it was in
        none. What was queued soon after may be another prompt: then this only says later what became of it."""
        return next((until for since, until in self.queue if 0 <= since - seconds <= QUEUED_SECONDS), 0.0)


def outcome(record: "dict[str, object]", view: TranscriptView, now: "float | None" = None) -> str:
    """What became of one record of the delivery log, by a refreshed view of its transcript.

    arrived; previewed (too large, only a preview arrived); timed out; failed (the hook died, or the turn went on
    without the text); waiting (the turn is not that far); unknown (no transcript, or one that does not record hooks);
    nothing (the record holds no injected text).
    """
    if not record.get("text") and not record.get("chars"):
        return NOTHING
    name = record.get("id")
    found = view.outcomes.get(name) if isinstance(name, str) else None
    if found or record.get("recovered"):
        return found or ARRIVED
    now = clock.now() if now is None else now
    logged = clock.parse(record.get("time")) or 0.0
    if not view.exists:
        # A session that has only begun has no transcript yet.
        young = record.get("event") == "SessionStart" and now - logged < QUIET_SECONDS
        return WAITING if young else UNKNOWN
    found = view.trouble(record)
    if found:
        return found
    quiet = now - max(logged, view.changed) > QUIET_SECONDS
    if not (quiet or view.passed(record)):
        return WAITING
    return UNKNOWN if record.get("agent_id") or not view.records_attachments else FAILED


def recent_start(path: str, seconds: float) -> int:
    """A byte from which a transcript holds everything written since `seconds` (of the epoch), or 0: what spares a hook
    the reading of 100 MB. Records are appended in the order of time but for moments, hence a margin."""
    try:
        size = posix.stat(path).st_size
        tail = RECENT_BYTES
        while tail < size:
            begin = size - tail
            for record in transcript.Reader(path, begin):
                told = clock.parse(record.get("timestamp"))
                if told is not None:
                    if told < seconds - RECENT_MARGIN_SECONDS:
                        return begin
                    break
            tail *= 4
    except OSError:
        pass
    return 0


def transcript_path(record: "dict[str, object]", config_dir: str) -> "str | None":
    """Where the transcript of a delivery is: as the client said, else wherever its session's file lies now.

    With `agent_id`: the subagent's own transcript, if there is one.
    """
    named = transcript.text_of(record.get("transcript"))
    path: str | None = named if named.startswith("/") and _is_file(named) else None
    wanted = transcript.text_of(record.get("session_id"))
    if path is None and wanted and session.safe(wanted) == wanted:
        path = find_transcript(config_dir, wanted)
    agent = transcript.text_of(record.get("agent_id"))
    if path and agent and session.safe(agent) == agent:
        own = f"{path.removesuffix('.jsonl')}/subagents/agent-{agent}.jsonl"
        beside = f"{paths.parent(path)}/agent-{agent}.jsonl"  # where older clients kept it
        return own if _is_file(own) else beside if _is_file(beside) else path
    return path


def find_transcript(config_dir: str, session_id: str) -> "str | None":
    """The newest `<config>/projects/*/<session id>.jsonl`: a session that changed its directory has moved."""
    base = config_dir + "/projects"
    best: tuple[float, str] | None = None
    try:
        names = posix.listdir(base)
    except OSError:
        return None
    for name in names:
        path = f"{base}/{name}/{session_id}.jsonl"
        try:
            changed = posix.stat(path).st_mtime
        except OSError:
            continue
        if best is None or changed > best[0]:
            best = (changed, path)
    return best[1] if best else None


def _is_file(path: str) -> bool:
    try:
        return posix.stat(path).st_mode & 0o170000 == 0o100000
    except OSError:
        return False


def outcomes(
    records: "Iterable[dict[str, object]]",
    env: "dict[str, str]",
    now: "float | None" = None,
    views: "dict[str, TranscriptView] | None" = None,
) -> "dict[str, str]":
    """Delivery id -> outcome, for records of the delivery log. Each transcript is read once; who asks again and again
    keeps the `views` (path -> view), so that only what is new is read."""
    config = paths.config_dir(env)
    views = {} if views is None else views
    read: set[str] = set()
    located: dict[tuple[object, object, object], str | None] = {}
    found: dict[str, str] = {}
    for record in records:
        name = record.get("id")
        if not isinstance(name, str):
            continue
        key = (record.get("transcript"), record.get("session_id"), record.get("agent_id"))
        if key not in located:
            located[key] = transcript_path(record, config)
        path = located[key] or ""
        if path not in views:
            inside = path[path.rfind("/") + 1 :].startswith("agent-")
            views[path] = TranscriptView(path, subagent=inside)
        if path and path not in read:
            views[path].refresh()
            read.add(path)
        found[name] = outcome(record, views[path], now)
    return found
