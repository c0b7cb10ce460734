"""One transcript: the drafts in what is new of it, as the worker makes them of a live session."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from memtui.base import fastjson_hot
from memtui.client.transcripts import transcript_hot
from memtui.client.transcripts.conversation import Conversation, Turn, normalised, note_position, position
from memtui.learn import classifier, message, signals
from memtui.learn.classifier import Classifier
from memtui.learn.signals import Signal
from memtui.redact.redact import redacted

# Bytes after which a reading can be stopped, and go on another time.
PIECE = 4 << 20
# Characters at the end of the agent's words that a later reading knows: what drafts quote and the classifier looks at.
AGENT_SEEN = 1000
# Calls without a result that a later reading knows.
KEPT_CALLS = 20
_WORD = re.compile(r"\w")


@dataclass
class SessionPiece:
    """What was read of a transcript up to `offset`: its drafts, without secrets, and where the next reading begins."""

    offset: int
    drafts: list[Signal] = field(default_factory=list)
    cursor: dict[str, object] = field(default_factory=dict)


def read(path: str, note: dict[str, object], judge: Classifier | None, threshold: float) -> Iterator[SessionPiece]:
    """Read what is new in a transcript since the cursor `note`, in pieces, the last one at its end. Raises OSError."""
    start = position(note, path)
    conversation = Conversation(fastjson_hot.table(note, "state") if start else None, redacted, signals.asks)
    if start:  # what a hook said earlier in the session may be said again by the person
        of_hook: Callable[[bytes], bool] = lambda line: b'"hook_' in line and b'"attachment"' in line
        for record in transcript_hot.Reader(path, 0, of_hook, limit=start):
            conversation.feed(record)
    reader = transcript_hot.Reader(path, start)
    begun = read_to = start
    for record in reader:
        # The offset is behind all records of a line, of which a killed client leaves several.
        if reader.offset != read_to and read_to - begun >= PIECE:
            yield _piece(path, read_to, conversation, judge, threshold)
            begun = read_to
        conversation.feed(record)
        read_to = reader.offset
    yield _piece(path, reader.offset, conversation, judge, threshold)


def _piece(path: str, offset: int, talk: Conversation, judge: Classifier | None, threshold: float) -> SessionPiece:
    """Make a piece of what was said since the last one, and forget the turns."""
    rows = [(signal, turn) for turn in talk.turns for signal in classifier.drafts_of(turn, judge)]
    talk.turns.clear()
    drafts = signals.once(signal for signal, turn in rows if _counts(signal, turn, threshold, talk))
    return SessionPiece(offset, drafts, {"path": path, **note_position(path, offset), "state": _kept(talk)})


def _counts(draft: Signal, turn: Turn, threshold: float, conversation: Conversation) -> bool:
    """Tell whether a draft is sure enough, and says something that neither a hook nor the agent said before."""
    words = normalised(draft.description)
    return (
        draft.confidence >= threshold
        and not (draft.kind == "confirmation" and message.too_short(words))
        and bool(_WORD.search(words))
        and words not in normalised(turn.agent)
        and not conversation.was_injected(draft.description)
    )


def _kept(conversation: Conversation) -> dict[str, object]:
    """Return what a later reading needs for drafts: no list of tasks, and no whole answer."""
    state = conversation.to_state()
    calls = state["calls"]
    newest = list(calls.items())[-KEPT_CALLS:] if isinstance(calls, dict) else []
    names = {key: [tool, {}, time] for key, (tool, _, time) in newest}
    ends = {key: str(state[key])[-AGENT_SEEN:] for key in ("agent", "doing")}
    return {**{key: state[key] for key in ("request", "message_id", "interrupted")}, **ends, "calls": names}
