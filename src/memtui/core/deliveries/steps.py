"""The steps of a session, by their places in its transcript: whether the turn has gone on beyond a delivery."""

from memtui.core.base import clock
from memtui.core.client import transcript

NEVER = float("inf")
KEPT_MESSAGES = 64
# So many steps of a session are remembered.
KEPT_STEPS = 4096
# A prompt that is queued stands in the queue when the last of its hooks has ended: the client waits for them this long.
QUEUED_SECONDS = 60.0


class Steps:
    """Where the prompts of a session and the model's messages stand in its transcript, as bytes from its beginning."""

    def __init__(self) -> None:
        self.call = -1  # the model's newest message
        self.prompt = -1  # the newest prompt, and
        self.called = -1  # the one that the newest message answers
        self.blocked = -1  # a prompt that some hook did not let through
        self.prompt_id = ""
        self.prompts: list[tuple[int, str]] = []
        self.queue: list[list[float]] = []  # prompts in the client's queue: from, until, the newest prompt before
        self._times: list[tuple[int, object]] = []

    def note(self, place: int, time: "object") -> None:
        """Remember when the step at a place was made, as the transcript writes times."""
        self._times.append((place, time))
        if len(self._times) > 2 * KEPT_STEPS:
            del self._times[:KEPT_STEPS]

    def at(self, seconds: float) -> int:
        """The place of the last step before a time, for a delivery that does not name its place; -1 for none."""
        return max((place for place, time in self._times if (clock.parse(time) or 0.0) <= seconds), default=-1)

    def note_prompt(self, record: "dict[str, object]", place: int) -> None:
        """Take in a record of the person's; a turn has only one prompt."""
        if record.get("isMeta") or not any(b.get("type") == "text" for b in transcript.blocks(record)):
            return
        name = transcript.text_of(record.get("promptId"))
        if name and name == self.prompt_id:
            return  # what the client adds to a turn, as that it was interrupted
        self.prompt, self.prompt_id = place, name
        self.prompts.append((place, name))
        if len(self.prompts) > 2 * KEPT_MESSAGES:
            del self.prompts[:KEPT_MESSAGES]
        self.note(place, record.get("timestamp"))

    def note_queue(self, operation: "object", place: int, time: "object") -> None:
        """`enqueue`, `dequeue` and `remove` (the oldest is taken up), `popAll` (the person takes all of them back)."""
        self.note(place, time)
        if operation == "enqueue":
            self.queue = [*self.queue[-KEPT_MESSAGES:], [place, NEVER, self.prompt, clock.parse(time) or 0.0]]
            return
        waiting = [each for each in self.queue if each[1] == NEVER]
        for each in waiting if operation == "popAll" else waiting[:1]:
            each[1] = place

    def passed(self, record: "dict[str, object]", tool_call: "int | None") -> bool:
        """Whether the turn has gone on beyond a delivery, so that its trace would be there. `tool_call`: where the
        message stands that used the tool it came with."""
        seconds = clock.parse(record.get("time")) or 0.0
        size = size_of(record)
        at = self.at(seconds) if size is None else size
        event = record.get("event")
        if event == "SessionStart":
            return self.call > at
        if tool_call is not None:
            return self.call > tool_call or self.prompt > tool_call
        tool = record.get("tool_use_id")
        if event != "UserPromptSubmit" or size is None:
            queued = self._queued(at, seconds) if event == "UserPromptSubmit" else None
            if queued:
                return max(self.call, self.blocked) > queued[1]
            return self.prompt > at or self.blocked > at or (self.call > at and (not tool or size is None))
        queued = self._queued(at)
        if queued:
            return max(self.call, self.blocked) > queued[1]
        own = record.get("prompt_id")
        after = [name for place, name in self.prompts if place > at]
        if not own:  # a client that names no prompts runs no hooks for those typed in mid-turn
            return self.call > at or len(after) > 1 or self.blocked > at
        return self.called > at or any(name != own for name in after) or self.blocked > at

    def _queued(self, at: int, seconds: "float | None" = None) -> "list[float] | None":
        """The place in the client's queue of a prompt that was typed in mid-turn; None if it was in none. By the time
        of its delivery, what was queued soon after may be another prompt: then this says later what became of it."""
        for each in self.queue:
            soon = each[2] <= at if seconds is None else 0 <= each[3] - seconds <= QUEUED_SECONDS
            if each[0] > at and soon:
                return each
        return None


def size_of(record: "dict[str, object]") -> "int | None":
    """How long the transcript was when the delivery was logged; None if the record does not tell."""
    found = record.get("transcript_size")
    return found if isinstance(found, int) and not isinstance(found, bool) else None
