"""Who spoke: whether a record of a transcript holds a person's own words.

The client's records name it in fields that differ between versions (docs/hooks.md). A record that names nobody, as
those of older clients, is a person's; a value that is not known here is not.
"""

from memtui.core.client import transcript

# Records that are no part of the conversation with the person: a subagent's, and what the client says of itself.
ASIDE = ("isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
# Marks of a text that nobody typed here: by the client itself, handed over by another agent, from a chat of others.
_NOT_TYPED = ("isMeta", "textNotTyped", "handedOff", "queueTranscriptOnly", "verifiedSlackHumanTurn", "wakeupSource")
# The values that stand for a person, by field (read in 2.1.332). `sdk` is the prompt of `claude -p`; a
# `suggestion_accepted` was worded by the model.
_PERSONAL = {
    "turnOrigin": ("human", "sdk", "unknown"),
    "promptSource": ("typed", "queued", "sdk"),
    "rowSource": ("local",),
    "commandMode": ("prompt",),
}
# The fields in which a tool takes words that will stand in a transcript as if somebody had said them: CronCreate,
# ScheduleWakeup, Agent, SendMessage.
_WORDS_OF_CALLS = ("prompt", "message")


def is_human_origin(record: dict[str, object]) -> bool:
    """Tell whether the `origin` of a record, if it has one, is a person, and no notification, peer or channel."""
    origin = record.get("origin")
    return origin is None or (isinstance(origin, dict) and origin.get("kind") == "human")


def is_person(record: dict[str, object]) -> bool:
    """Tell whether a person wrote the text of a `user` record, or of a `queued_command` attachment."""
    for part in (record, transcript.attachment(record)):
        if not is_human_origin(part) or any(part.get(mark) for mark in (*ASIDE, *_NOT_TYPED)):
            return False
        if any(part.get(key) not in (None, *values) for key, values in _PERSONAL.items()):
            return False
    return True


def prompt_text(record: dict[str, object]) -> str:
    """Return the text of a person's prompt; empty for every other record."""
    if record.get("type") != "user" or "toolUseResult" in record or not is_person(record):
        return ""
    texts = [
        transcript.text_of(block.get("text")) for block in transcript.blocks(record) if block.get("type") == "text"
    ]
    return "\n".join(texts)


def queued_text(command: dict[str, object]) -> str:
    """Return the text of a `queued_command` attachment."""
    prompt = command.get("prompt")
    parts = prompt if isinstance(prompt, list) else [{"text": prompt}]
    return "\n".join([transcript.text_of(part.get("text")) for part in parts if isinstance(part, dict)])


def words_of_others(record: dict[str, object]) -> list[str]:
    """List the texts in a record that may be queued later as prompts, although no person wrote them."""
    if record.get("type") == "system":
        fired = record.get("subtype") == "scheduled_task_fire"
        return [transcript.text_of(record.get("prompt"))] if fired else []
    calls = [block.get("input") for block in transcript.blocks(record) if block.get("type") == "tool_use"]
    return [transcript.text_of(given.get(key)) for given in calls if isinstance(given, dict) for key in _WORDS_OF_CALLS]
