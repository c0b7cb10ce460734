"""The steps of a session by their places in its transcript, which tell whether a turn has gone on after a delivery."""

from memtui.base import clock
from memtui.client.transcripts import transcript

NEVER = float("inf")
# How many of a session's newest messages and steps are remembered.
KEPT_MESSAGES = 64
KEPT_STEPS = 4096


class Steps:
    """The places of a session's prompts and of the model's messages in its transcript, in bytes; -1 for none."""

    def __init__(self) -> None:
        self.call = -1  # the model's newest message
        self.prompt = -1  # the newest prompt
        self.called = -1  # the prompt that the model's newest message answers
        self.blocked = -1  # the newest prompt that a hook blocked
        self.prompt_id = ""
        self.prompts: list[tuple[int, str]] = []
        self.queue: list[list[float]] = []  # prompts in the client's queue: from, until, the newest prompt before
        self._times: list[tuple[int, object]] = []

    @property
    def answered(self) -> bool:
        """Whether the model has answered the newest prompt, and no prompt came out of the client's queue since."""
        return self.called == self.prompt >= 0 and all(message[1] < self.call for message in self.queue)

    def note(self, place: int, time: "object") -> None:
        """Remember the time of the step at a place, as the transcript writes times."""
        self._times.append((place, time))
        if len(self._times) > 2 * KEPT_STEPS:
            del self._times[:KEPT_STEPS]

    def at(self, seconds: float) -> int:
        """Return the place of the last step before a time, for a claim that does not name its place; -1 for none."""
        return max((place for place, time in self._times if (clock.parse(time) or 0.0) <= seconds), default=-1)

    def note_prompt(self, record: "dict[str, object]", place: int) -> None:
        """Take in a user record, which may be a prompt; a turn has only one."""
        if record.get("isMeta") or not any(b.get("type") == "text" for b in transcript.blocks(record)):
            return
        name = transcript.text_of(record.get("promptId"))
        if name and name == self.prompt_id:
            return  # added to the turn by the client, for example that it was interrupted
        self.prompt, self.prompt_id = place, name
        self.prompts.append((place, name))
        if len(self.prompts) > 2 * KEPT_MESSAGES:
            del self.prompts[:KEPT_MESSAGES]
        self.note(place, record.get("timestamp"))

    def note_queue(self, operation: "object", place: int, time: "object") -> None:
        """Take in a move of the client's queue: `enqueue`, `dequeue` and `remove` (the oldest prompt leaves it) or
        `popAll` (the person takes all of them back)."""
        self.note(place, time)
        if operation == "enqueue":
            self.queue = [*self.queue[-KEPT_MESSAGES:], [place, NEVER, self.prompt]]
            return
        waiting = [message for message in self.queue if message[1] == NEVER]
        for message in waiting if operation == "popAll" else waiting[:1]:
            message[1] = place

    def passed(self, record: "dict[str, object]", tool_call: "int | None") -> bool:
        """Whether the turn has gone on after a delivery, so that the transcript would show it if it had arrived.
        `tool_call`: the place of the message that used the tool it came with."""
        at = size_of(record)
        event = record.get("event")
        if event == "SessionStart":
            return self.call > at
        if tool_call is not None:
            return self.call > tool_call or self.prompt > tool_call
        if event != "UserPromptSubmit":
            is_of_tool = record.get("tool_use_id")
            return self.prompt > at or self.blocked > at or (self.call > at and not is_of_tool)
        # The move of the client's queue, for a prompt that was typed in mid-turn.
        queued = next((move for move in self.queue if move[2] <= at < move[0]), None)
        if queued:
            return max(self.call, self.blocked) > queued[1]
        own = record.get("prompt_id")
        after = [name for place, name in self.prompts if place > at]
        if not own:  # a client that gives prompts no ids runs no hooks for those typed in mid-turn
            return self.call > at or len(after) > 1 or self.blocked > at
        return self.called > at or any(name != own for name in after) or self.blocked > at


def size_of(record: "dict[str, object]") -> int:
    """Return how many bytes the transcript had when the delivery was logged."""
    size = record.get("transcript_size")
    return size if isinstance(size, int) else 0
