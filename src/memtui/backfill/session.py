"""One transcript: the drafts in what is new of it, as the worker makes them of a live session."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from memtui.backfill import lines
from memtui.core.client import cursor, transcript
from memtui.core.client.conversation import AGENT_TAIL, QUEUE_WINDOW, Conversation
from memtui.core.redaction.redact import redact
from memtui.extract import judged, signals, write
from memtui.extract.classifier import Classifier
from memtui.extract.signals import Signal

# Turns kept in memory at once, and records between two questions whether to go on.
HELD_TURNS, ASK_EVERY = 10 * QUEUE_WINDOW, 500
# Calls without a result that a later reading knows.
KEPT_CALLS = 20
_WORD = re.compile(r"\w")


@dataclass
class SessionReading:
    """What was read of a transcript: its drafts, without secrets and with at least the confidence asked for, and where
    the next reading begins (`cursor`)."""

    drafts: list[Signal] = field(default_factory=list)
    cursor: dict[str, object] = field(default_factory=dict)


def read(
    path: str,
    kept: dict[str, object],
    judge: Classifier | None,
    threshold: float,
    go_on: Callable[[int], bool] = lambda _: True,
) -> SessionReading | None:
    """Read what is new in a transcript since the cursor `kept`. `go_on` is told the offset and asked now and then;
    False ends the reading, and None is returned. Raises OSError."""
    start = cursor.start(kept, path)
    state = kept.get("state") if start else None
    conversation = Conversation(state if isinstance(state, dict) else None, _clean, signals.asks)
    if start:  # what a hook said earlier in the session may be said again by the person
        for record in transcript.Reader(path, 0, lines.of_hook, limit=start):
            conversation.feed(record)
    reader = transcript.Reader(path, start, lines.may_count)
    found = SessionReading()
    for number, record in enumerate(_without_old_words(reader)):
        conversation.feed(record)
        if number % ASK_EVERY == 0 and not go_on(reader.offset):
            return None
        if len(conversation.turns) > HELD_TURNS:
            done = conversation.turns[:-QUEUE_WINDOW]
            del conversation.turns[:-QUEUE_WINDOW]
            found.drafts += judged.drafts(done, judge)
    found.drafts += judged.drafts(conversation.turns, judge)
    found.drafts = [
        write.redacted(each)
        for each in found.drafts
        if each.confidence >= threshold
        and _WORD.search(each.description)
        and not conversation.was_injected(each.description)
    ]
    found.cursor = {
        "path": path,
        "offset": reader.offset,
        "mark": cursor.mark(path, reader.offset),
        "state": _kept(conversation),
    }
    return found


def _clean(text: str) -> str:
    return redact(text)[0]


def _kept(conversation: Conversation) -> dict[str, object]:
    """Return what a later reading needs for drafts: no list of tasks, and no whole answer."""
    state = conversation.to_state()
    calls = state["calls"]
    newest = list(calls.items())[-KEPT_CALLS:] if isinstance(calls, dict) else []
    names = {key: [tool, {}, time] for key, (tool, _, time) in newest}
    return {"request": state["request"], "agent": state["agent"], "message_id": state["message_id"], "calls": names}


def _without_old_words(reader: transcript.Reader) -> Iterator[dict[str, object]]:
    """Yield the records, but of the agent's words between two of the person's only the last: only the end of them is
    kept, and looking for secrets in all of them takes longer than everything else."""
    held: list[dict[str, object]] = []
    length = 0
    for record in reader:
        if record.get("type") != "assistant":
            yield from held
            held, length = [], 0
            yield record
            continue
        size = _words(record)
        held.append(record)
        length += size
        if size and length > 4 * AGENT_TAIL:
            enough = 0
            for at in range(len(held) - 1, -1, -1):
                if enough > 2 * AGENT_TAIL:
                    held[at] = _wordless(held[at])
                else:
                    enough += _words(held[at])
            length = enough
        if len(held) > 2 * HELD_TURNS:
            yield held.pop(0)
    yield from held


def _words(record: dict[str, object]) -> int:
    return sum(len(transcript.text_of(b.get("text"))) for b in transcript.blocks(record) if b.get("type") == "text")


def _wordless(record: dict[str, object]) -> dict[str, object]:
    message = record.get("message")
    if not isinstance(message, dict):
        return record
    blocks = [block for block in transcript.blocks(record) if block.get("type") == "tool_use"]
    return {**record, "message": {**message, "content": blocks}}
