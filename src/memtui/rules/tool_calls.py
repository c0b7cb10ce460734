"""What the agent itself did in a session, from the records of its transcript: calls that were carried out, and replies.

No refused, failed or interrupted call counts, nothing of a subagent, and not what a person typed after `!`: that is no
call. A call is known once its result is; a turn ends with the person's next message. In the order of the file."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from memtui.base import clock_hot
from memtui.client.transcripts import speaker, transcript_hot
from memtui.client.transcripts.transcript_hot import text_of
from memtui.rules import match_hot
from memtui.rules.match_hot import Call

# The tools of which a rule can say anything.
TOOLS = (*match_hot.SHELLS, "Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch")
MAX_LINE = 4 << 20  # bytes: a longer line holds a pasted file or pictures, and is not parsed
MAX_WAITING = 64  # calls without a result that are remembered in a turn


class Deed(NamedTuple):
    """A call or a reply of the agent; without a `call` the end of a turn. `id`: tells calls apart, copies of the
    transcript have the same; `uuid`: of the record; `time`: seconds since the epoch."""

    time: float
    session: str
    uuid: str
    id: str
    call: Call | None


def is_wanted(line: bytes) -> bool:
    """Tell whether a line may hold a record of a person or the agent."""
    return len(line) <= MAX_LINE and (b'"assistant"' in line or b'"user"' in line)


class DeedReader:
    """Reads deeds from records that are fed in order. `waiting`: calls without a result yet, by id."""

    def __init__(self, waiting: dict[str, list[Any]] | None = None) -> None:
        self.waiting = waiting if waiting is not None else {}

    def feed(self, record: dict[str, object]) -> Iterator[Deed]:
        """Yield what a record completes. Records of unknown kinds and shapes are ignored."""
        if any(record.get(mark) for mark in speaker.ASIDE):
            return
        if record.get("type") == "assistant":
            yield from self._assistant(record)
        elif record.get("type") == "user":
            blocks = transcript_hot.blocks(record)
            results = [block for block in blocks if block.get("type") == "tool_result"]
            for block in results:
                yield from self._result(record, block)
            if not results and blocks and not record.get("isMeta"):
                self.waiting.clear()
                yield Deed(*_origin(record), "", None)

    def _assistant(self, record: dict[str, object]) -> Iterator[Deed]:
        message = record.get("message")
        if not isinstance(message, dict) or message.get("model") == "<synthetic>" or record.get("isApiErrorMessage"):
            return
        replies = []
        for block in transcript_hot.blocks(record):
            tool_input = block.get("input")
            if block.get("type") == "text":
                replies.append(text_of(block.get("text")))
            elif block.get("type") == "tool_use" and isinstance(tool_input, dict):
                name = text_of(block.get("name"))
                if name in TOOLS:
                    self.waiting[text_of(block.get("id"))] = [*_origin(record), name, tool_input]
        if len(self.waiting) > MAX_WAITING:
            del self.waiting[next(iter(self.waiting))]
        if any(text.strip() for text in replies):
            origin = _origin(record)
            yield Deed(*origin, origin[2], Call(replies=replies))

    def _result(self, record: dict[str, object], block: dict[str, object]) -> Iterator[Deed]:
        id_ = text_of(block.get("tool_use_id"))
        waiting = self.waiting.pop(id_, None)
        result = record.get("toolUseResult")
        interrupted = isinstance(result, dict) and result.get("interrupted") is True
        if waiting is not None and not interrupted and block.get("is_error") is not True:
            time, session, uuid, name, tool_input = waiting
            yield Deed(time, session, uuid, id_, match_hot.call_of(name, tool_input, result))


def _origin(record: dict[str, object]) -> tuple[float, str, str]:
    """Return time, session and uuid of a record; a copy in a fork is of the session that it was copied from."""
    copied = record.get("forkedFrom")
    session = copied.get("sessionId") if isinstance(copied, dict) else record.get("sessionId")
    return clock_hot.parse(record.get("timestamp")) or 0.0, text_of(session), text_of(record.get("uuid"))
