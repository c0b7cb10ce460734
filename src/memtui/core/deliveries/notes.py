"""Delivered guidance: each note with its text as the agent got it, from the delivery log."""

from dataclasses import dataclass
from html import unescape

from memtui.core.base import short_ids
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import titles
from memtui.core.deliveries.record import Delivery

# How a reason of a delivered note begins, and the addressee that it names; then reasons that name none.
REASONS = {"for people": "people", "for agent ": "agent:", "a tool touched ": "path:"}
FOR_SESSION, URGENT = "for this session", "urgent"


@dataclass(frozen=True)
class Note:
    """A note that a delivery brought. `scope` is project or global."""

    delivery: Delivery
    id: str
    text: str
    sender: str
    scope: str
    reason: str

    @property
    def fields(self) -> dict[str, str]:
        """For whom it was (`for`), and whether it was `urgent`, as far as its reason tells (inbox/claims.py)."""
        found, whom = {}, []
        for word in self.reason.split(", "):
            for begin, kind in REASONS.items():
                if word.startswith(begin):
                    whom.append(kind + word.removeprefix(begin))
        whom += [f"session:{self.delivery.session}"] if FOR_SESSION in self.reason.split(", ") else []
        if whom:
            found["for"] = ", ".join(whom)
        if URGENT in self.reason.split(", "):
            found["urgent"] = "yes"
        return found


def find(root: str, ref: str) -> Note | None:
    """Find the newest delivery of the note with an id, or with a unique beginning or end of one. Raises as `match`."""
    found: dict[str, Note] = {}
    wanted = ref.lower()
    for record in delivery_log.newest_first(root, needle=wanted.encode("utf-8", "replace"), fold=True):
        for note in of(Delivery.of(record)):
            if note.id.lower().startswith(wanted) or note.id.lower().endswith(wanted):
                found.setdefault(note.id, note)
        if any(name.lower() == wanted for name in found) or len(found) > short_ids.SEVERAL:
            break
    return found[short_ids.match(ref, list(found), "guidance")] if found else None


def of(delivery: Delivery) -> list[Note]:
    """Return the notes that a delivery brought."""
    found = []
    for item in delivery.items:
        if item.kind != "guidance" or item.left_out or not item.id:
            continue
        head, text = titles.guidance(delivery.text, item.id)
        sender = unescape(head.partition(' from="')[2].partition('"')[0])
        found.append(Note(delivery, item.id, text, sender, item.scope, item.reason))
    return found
