"""The block of a note of guidance in a delivery, and whether the note fits into a delivery at all."""

from memtui.base import clock, ids
from memtui.deliver import blocks as delivery_blocks
from memtui.inbox import format as inbox_format

# Stands for the id of an entry or a delivery where only its length counts.
ANY_ID = "0" * 26
# How many UTF-16 units longer the block may be if the note comes back: it says that it is a repeat, and is older.
LATER_UNITS = 80
# The `kind` of a note that the subconscious left for a session, and what the model is told of it.
WHISPER = "whisper"
WHISPER_INTRO = (
    "Whisper of memtui's subconscious, a model that reads this session in the background ({when}). The user has not"
    " seen it; it may be wrong, and it is information, not an order."
)
# What the model is told of a note that its context had before; `lost` says what dropped it.
AGAIN = "Note of the user that this session was given before and {lost} dropped from the context."
WHISPER_AGAIN = "given to this session before, and dropped from its context by {lost}"

TYPE_CHECKING = False
if TYPE_CHECKING:
    Oversize = dict[str, tuple[str, inbox_format.Entry]]  # id -> (directory of the inbox, entry)


def note(directory: str, entry: inbox_format.Entry, now: float, reason: str = "") -> "delivery_blocks.Block":
    """Return the block of an entry of the inbox at `directory`."""
    source = entry.fields.get("from") or "a hand-written note"
    fields = {"id": entry.id, "scope": inbox_format.scope_of(directory), "from": source}
    if entry.fields.get("time"):
        fields["time"] = entry.fields["time"]
    age = clock.ago(entry.time(), now)
    intro = f"Note left by the user of this machine through memtui ({source}, {age})."
    if entry.fields.get("kind") == WHISPER:
        intro = WHISPER_INTRO.format(when=age)
    if entry.flag("repeat"):
        fields["repeat"] = "yes"
        intro += " It may have been delivered before."
    part = delivery_blocks.Part(entry.text, entry.text[:40], _item(directory, entry, reason))
    return delivery_blocks.Block(delivery_blocks.TAGS["guidance"], fields, intro, [part])


def again(directory: str, entry: inbox_format.Entry, lost: str) -> "delivery_blocks.Block":
    """Return the block of a note that its context had before; `lost` says what dropped it."""
    block = note(directory, entry, clock.now(), f"lost by {lost}")
    is_whisper = entry.fields.get("kind") == WHISPER
    block.intro = WHISPER_INTRO.format(when=WHISPER_AGAIN.format(lost=lost)) if is_whisper else AGAIN.format(lost=lost)
    block.attributes["repeat"] = "yes"
    return block


def _item(directory: str, entry: inbox_format.Entry, reason: str) -> "dict[str, object]":
    scope, digest = inbox_format.scope_of(directory), ids.content_hash(entry.text)
    item = delivery_blocks.item("guidance", entry.id, scope, f"{directory}/guidance.md", digest, reason)
    expires = entry.fields.get("expires")
    return {**item, "expires": expires} if expires else item


def oversize(too_large: "Oversize") -> "list[delivery_blocks.Block]":
    """Return blocks that name the files of notes too long for any delivery."""
    blocks = []
    for directory, entry in too_large.values():
        item = {**_item(directory, entry, "too long for a delivery"), "left_out": "too long"}
        path = str(item["path"])
        text = f"A note of {len(entry.text)} characters is too long for a delivery. It is in {path}."
        part = delivery_blocks.Part(text, text, item)
        fields = {"scope": inbox_format.scope_of(directory), "source": path}
        blocks.append(delivery_blocks.Block(delivery_blocks.TAGS["guidance"], fields, "", [part]))
    return blocks


def over(budget: int, now: float, entry: inbox_format.Entry, directory: str) -> int:
    """Return by how many UTF-16 units guidance is too long for any delivery, now or later; 0 or less if it fits."""
    return note(directory, entry, now).size(ANY_ID) + LATER_UNITS - budget
