"""One transcript: the drafts in what is new of it, as the worker makes them of a live session.

Nearly all that is said makes no draft, and looking for secrets takes longer than reading: only the turns that make one
are cleaned, and judged again without what was in them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from memtui.client.transcripts import transcript
from memtui.client.transcripts.conversation import Conversation, Turn, normalised, note_position, position
from memtui.client.transcripts.speaker import MAX_TEXT
from memtui.learn import classifier, message, signals
from memtui.learn.classifier import Classifier
from memtui.learn.signals import Signal
from memtui.redact.redact import redact

# Bytes after which a reading can be stopped, and go on another time.
PIECE = 4 << 20
# Characters at the end of the agent's words: what drafts quote and the classifier looks at, and as much again, so that
# the beginning of a secret is not cut off it.
AGENT_SEEN = 1000
# Calls without a result that a later reading knows.
KEPT_CALLS = 20
# Texts whose clean form is remembered.
REMEMBERED = 16
_WORD = re.compile(r"\w")


@dataclass
class SessionPiece:
    """What was read of a transcript up to `offset`: its sure enough drafts, without secrets, and where the next reading
    begins (`cursor`)."""

    offset: int
    drafts: list[Signal] = field(default_factory=list)
    cursor: dict[str, object] = field(default_factory=dict)


def read(path: str, note: dict[str, object], judge: Classifier | None, threshold: float) -> Iterator[SessionPiece]:
    """Read what is new in a transcript since the cursor `note`, in pieces, the last one at its end. Raises OSError."""
    start = position(note, path)
    state = note.get("state") if start else None
    # A text that will be cut is cleaned before: half a secret would not be recognised.
    clean: Callable[[str], str] = lambda text: _clean(text) if len(text) > MAX_TEXT else text
    conversation = Conversation(state if isinstance(state, dict) else None, clean, signals.asks)
    if start:  # what a hook said earlier in the session may be said again by the person
        of_hook: Callable[[bytes], bool] = lambda line: b'"hook_' in line and b'"attachment"' in line
        for record in transcript.Reader(path, 0, of_hook, limit=start):
            conversation.feed(record)
    reader = transcript.Reader(path, start, may_count)
    begun = read_to = start
    for record in reader:
        # The offset is behind all records of a line, of which a killed client leaves several.
        if reader.offset != read_to and read_to - begun >= PIECE:
            yield _piece(path, read_to, conversation, judge, threshold)
            begun = read_to
        conversation.feed(record)
        read_to = reader.offset
    yield _piece(path, reader.offset, conversation, judge, threshold)


def _piece(
    path: str, offset: int, conversation: Conversation, judge: Classifier | None, threshold: float
) -> SessionPiece:
    """Make a piece of what was said since the last one, and forget the turns."""
    new = conversation.turns.copy()
    conversation.turns.clear()
    drafts = signals.once(signal for turn in new for signal in _drafts_of(turn, judge, threshold, conversation))
    return SessionPiece(offset, drafts, {"path": path, **note_position(path, offset), "state": _kept(conversation)})


def _drafts_of(turn: Turn, judge: Classifier | None, threshold: float, conversation: Conversation) -> list[Signal]:
    """List the drafts in a turn that are sure enough. They are made of words in which no secret is, or no more."""
    drafts = [signal for signal in classifier.drafts_of(turn, judge) if _counts(signal, turn, threshold, conversation)]
    if not drafts:
        return []
    clean = replace(turn, text=_clean(turn.text), agent=_tail(turn.agent), request=_clean(turn.request))
    if (clean.text, clean.request) == (turn.text, turn.request) and turn.agent.endswith(clean.agent):
        return drafts
    return [signal for signal in classifier.drafts_of(clean, judge) if _counts(signal, clean, threshold, conversation)]


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


@lru_cache(maxsize=REMEMBERED)
def _clean(text: str) -> str:
    """Return a text without secrets; the same request, and the agent's last words, are asked for several times."""
    return redact(text)[0]


def _tail(agent: str) -> str:
    """Return the end of the agent's words, from the beginning of a word on, without secrets."""
    tail = agent[-AGENT_SEEN:]
    return _clean(tail if tail == agent else tail.partition(" ")[2])


def _kept(conversation: Conversation) -> dict[str, object]:
    """Return what a later reading needs for drafts, without secrets: no list of tasks, and no whole answer."""
    state = conversation.to_state()
    calls = state["calls"]
    newest = list(calls.items())[-KEPT_CALLS:] if isinstance(calls, dict) else []
    names = {key: [tool, {}, time] for key, (tool, _, time) in newest}
    return {
        "request": _clean(str(state["request"])),
        "agent": _tail(str(state["agent"])),
        "doing": _tail(str(state["doing"])),
        "message_id": state["message_id"],
        "interrupted": state["interrupted"],
        "calls": names,
    }


# Where the client writes a record's own fields, before the message.
HEAD = 400
_NOTED = (b'"type":"progress"', b'"type":"file-history-snapshot"')
_THOUGHT = b'"type":"thinking"'
_RESULT = b'"type":"tool_result"'
# In a record with the result of a tool: a refusal; what a person adds beside an approved call; the words by which the
# client tells of answers to questions.
_MATTERS = (b'"is_error":true', b'"type":"text"', b"answered", b"user responded: ")


def may_count(line: bytes) -> bool:
    """Tell whether a line may say anything to a `Conversation` that makes its drafts. A quote in a JSON string has a
    backslash before it, so `"name":` can only be a field. A line of several records, as a killed client leaves it, is
    kept; so is one with blanks between names and values, which no client writes."""
    kind = max(0, line.find(b'"type":"', 0, HEAD))
    if line.startswith(_NOTED, kind) or line.find(b'"isSidechain":true', 0, HEAD) >= 0:
        return _several(line)
    # What the client notes of a result stands behind the message, and says the same again in other words.
    end = line.find(b'"toolUseResult":')
    if end < 0:
        thought = _THOUGHT in line and b'"type":"text"' not in line and b'"type":"tool_use"' not in line
        return not thought or _several(line)
    if line.find(_RESULT, 0, end) < 0:
        return True
    for mark in _MATTERS:
        if line.find(mark, 0, end) >= 0:
            return True
    return _several(line)


def _several(line: bytes) -> bool:
    return line.count(b'"parentUuid":') > 1
