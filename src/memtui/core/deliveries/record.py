"""A record of the delivery log, and its receipt, in words: what was brought, and whether it arrived."""

from dataclasses import dataclass

from memtui.core.base import visible
from memtui.core.client import process
from memtui.core.deliveries import blocks as delivery_blocks
from memtui.core.deliveries import receipts

Record = dict[str, object]

# outcome -> glyph, colour
GLYPHS = {
    receipts.ARRIVED: ("✓", "green"),
    receipts.PREVIEWED: ("◐", "yellow"),
    receipts.TIMED_OUT: ("✗", "red"),
    receipts.FAILED: ("✗", "red"),
    receipts.DROPPED: ("✗", "red"),
    receipts.UNKNOWN: ("·", "dim"),
    receipts.WAITING: ("…", "cyan"),
    receipts.NOTHING: ("-", "dim"),
}
MEANINGS = {
    receipts.ARRIVED: "the session's transcript holds it",
    receipts.PREVIEWED: "too large: only a preview arrived",
    receipts.TIMED_OUT: "the client gave up on the hook, nothing arrived",
    receipts.FAILED: "nothing arrived",
    receipts.DROPPED: "taken back or ended before the agent answered",
    receipts.UNKNOWN: "the transcript is gone or does not tell",
    receipts.WAITING: "the turn is not that far yet",
    receipts.NOTHING: "the agent opened or wrote a memory; nothing was injected",
}


def items_of(record: Record) -> "list[Record]":
    """The items of a record."""
    found = record.get("items")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text_of(record: Record, key: str) -> str:
    """A text of a record; empty if it is missing."""
    found = record.get(key)
    return found if isinstance(found, str) else ""


def injected(record: Record) -> bool:
    """Whether anything was put before the model, also where the text is not kept any more."""
    return bool(record.get("text") or record.get("chars"))


def is_folded(record: Record) -> bool:
    """Whether its text was removed since it is old (core/deliveries/folding.py)."""
    return record.get("folded") is True and not record.get("text")


def taker(record: Record) -> str:
    """What kind of session a record is of: `person`, `script` (`claude -p`, the SDK), or as the client calls it; empty
    in a record that does not tell."""
    name = text_of(record, "entrypoint")
    return "person" if name == process.PERSONAL else "script" if name.startswith("sdk") else name


def session_words(record: Record) -> str:
    """`session 1f0c2b3d of a script`."""
    kind = taker(record)
    return f"session {text_of(record, 'session_id')[:8]}" + (f" of a {kind}" if kind else "")


def what(record: Record) -> str:
    """`2 guidance, index of 14`: what a record brought, and how much was left out."""
    counts: dict[str, int] = {}
    left = 0
    for item in items_of(record):
        if item.get("left_out"):
            count = item.get("count")
            left += count if isinstance(count, int) else 1
        else:
            kind = str(item.get("kind", "?"))
            counts[kind] = counts.get(kind, 0) + 1
    words = []
    for kind, count in counts.items():
        if kind == "use":
            first = next(i for i in items_of(record) if i.get("kind") == "use")
            words.append(f"agent {first.get('action', 'used')} {first.get('id', '')}")
        elif kind == "index":
            words.append(f"index of {count}")
        else:
            words.append(
                f"{count} {kind}"
                if kind == "guidance"
                else f"{count} {kind.replace('-', ' ')}{'' if count == 1 else 's'}"
            )
    if left:
        words.append(f"{left} left out")
    return ", ".join(words) or "nothing"


@dataclass(frozen=True)
class Note:
    """Guidance as a delivery brought it. `scope` is project or global."""

    record: Record
    id: str
    text: str
    sender: str
    scope: str
    reason: str


def find(root: str, ref: str) -> "Note | None":
    """The note that was told last under an id, or under a unique beginning or end of one. Raises as `match`."""
    from memtui.core.base import matching
    from memtui.core.deliveries import log as delivery_log

    found: dict[str, Note] = {}
    wanted = ref.lower()
    for record in delivery_log.newest_first(root, needle=wanted.encode("utf-8", "replace"), fold=True):
        for note in notes(record):
            if note.id.lower().startswith(wanted) or note.id.lower().endswith(wanted):
                found.setdefault(note.id, note)
        if any(name.lower() == wanted for name in found) or len(found) > matching.SEVERAL:
            break
    return found[matching.match(ref, list(found), "guidance")] if found else None


def notes(record: Record) -> "list[Note]":
    """The guidance of a record, with its text as the agent got it."""
    from html import unescape

    found = []
    whole = text_of(record, "text")
    for item in items_of(record):
        name = text_of(item, "id")
        if item.get("kind") != "guidance" or item.get("left_out") or not name:
            continue
        tag = delivery_blocks.TAGS["guidance"]
        head, _, rest = whole.partition(f'<{tag} id="{visible.attribute(name)}"')[2].partition(">\n")
        text = rest.partition(f"\n</{tag}>")[0].partition("\n")[2]  # the first line says whence it comes
        sender = unescape(head.partition(' from="')[2].partition('"')[0])
        found.append(Note(record, name, text, sender, text_of(item, "scope"), text_of(item, "reason")))
    return found
