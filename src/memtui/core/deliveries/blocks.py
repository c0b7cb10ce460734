"""What is put before the model: blocks in tags of our own, within one budget, that no content can leave.

Sizes are in UTF-16 code units, as the client counts them.
"""

from memtui.core.base import clock, ids
from memtui.core.base.visible import attribute, clean, one_line

TAGS = {
    "guidance": "memtui-guidance",
    "pending-update": "memtui-pending-updates",
    "pending-item": "memtui-pending-items",
    "index": "memtui-index",
}
TAIL_UNITS = 160
MAX_LABEL = 60


def units(text: str) -> int:
    """Length in UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(text) + sum([c > "\uffff" for c in text])


class Part:
    """One entry of a block: its text as it will stand there, its `label` if it has to be named as left out, and its
    record for the delivery log (kind, id, scope, path, hash, reason)."""

    __slots__ = ("item", "label", "text")

    def __init__(self, text: str, label: str, item: "dict[str, object]") -> None:
        self.text = clean(text)
        self.label = label
        self.item = item


class Block:
    """A tag with its attributes, a sentence that says what this is and whence, and parts in order of importance.

    `unlisted`: how many more there are that are not even among the parts."""

    __slots__ = ("attributes", "intro", "parts", "tag", "unlisted")

    def __init__(
        self, tag: str, attributes: "dict[str, str]", intro: str, parts: "list[Part]", unlisted: int = 0
    ) -> None:
        self.tag = tag
        self.attributes = attributes
        self.intro = intro
        self.parts = parts
        self.unlisted = unlisted


def repeated(block: Block) -> Block:
    """The block, marked as one that may have been given before."""
    marked = {**block.attributes, "repeat": "yes"}
    intro = (block.intro + " " if block.intro else "") + "It may have been given before."
    return Block(block.tag, marked, intro, block.parts, block.unlisted)


def compose(blocks: "list[Block]", budget: int, delivery_id: str) -> "tuple[str, list[dict[str, object]], list[Part]]":
    """Fill the budget with blocks in the order given. Returns the text, the log's items, and the parts left out.

    No part is cut: one that does not fit is left out whole and named at the end of its block as far as there is room.
    Guidance comes whole or not at all; of every list at least the number of what was left out is told.
    """
    texts: list[str] = []
    items: list[dict[str, object]] = []
    left_out: list[Part] = []
    room = budget
    frames = [_frame(block, delivery_id) for block in blocks]
    # What the lists still to come need to say at least how much of each was left out.
    later = sum([_least(block, frame) for block, frame in zip(blocks, frames, strict=True)])
    for block, (head, foot) in zip(blocks, frames, strict=True):
        least = _least(block, (head, foot))
        later -= least
        free = room - units(head) - units(foot) - 1
        if least and free - later >= TAIL_UNITS:
            free -= later
        taken: list[str] = []
        missing: list[Part] = []
        sizes = [units(part.text) + 1 for part in block.parts]
        reserve = TAIL_UNITS if block.unlisted or sum(sizes) > free else 0
        for part, size in zip(block.parts, sizes, strict=True):
            if size + reserve <= free:
                free -= size
                taken.append(part.text + "\n")
                items.append({**part.item, "chars": size - 1})
            else:
                missing.append(part)
        left_out.extend(missing)
        items.extend(_missing_items(block, missing))
        if not taken and (not least or not missing or free < TAIL_UNITS):
            continue
        if missing or block.unlisted:
            taken.append(_tail(missing, block.unlisted, free))
        text = head + "".join(taken) + foot
        room -= units(text) + 1
        texts.append(text)
    return "\n".join(texts), items, left_out


def _frame(block: Block, delivery_id: str) -> "tuple[str, str]":
    """What stands before and after a block's parts."""
    # What has no time of its own is as of its delivery.
    fields = dict(block.attributes)
    fields.setdefault("time", clock.iso_seconds(ids.id_time(delivery_id) or 0.0))
    fields["delivery"] = delivery_id
    head = f"<{block.tag} " + " ".join([f'{k}="{attribute(v)}"' for k, v in fields.items()]) + ">\n"
    if block.intro:
        head += clean(block.intro) + "\n"
    return head, f"</{block.tag}>"


def _least(block: Block, frame: "tuple[str, str]") -> int:
    """Units of a list of which nothing finds room but the number of what it holds; 0 for guidance, which waits."""
    return 0 if block.tag == TAGS["guidance"] else units(frame[0]) + units(frame[1]) + 2 + TAIL_UNITS


def _missing_items(block: Block, missing: "list[Part]") -> "list[dict[str, object]]":
    """Guidance is logged one by one; of a long list it is enough to know how many were left out."""
    if len(missing) <= 3 and not block.unlisted:
        return [{**part.item, "left_out": "no room"} for part in missing]
    more = {"left_out": "no room", "count": len(missing) + block.unlisted}
    return [{key: block.parts[0].item.get(key) for key in ("kind", "scope")} | more]


def _tail(missing: "list[Part]", unlisted: int, free: int) -> str:
    text = f"({len(missing) + unlisted} more left out for lack of room"
    names = ""
    for part in missing:
        label = clean(one_line(part.label))
        label = label if len(label) <= MAX_LABEL else label[: MAX_LABEL - 1] + "…"
        if units(text) + units(names) + units(label) + 6 > min(free, 4 * TAIL_UNITS):
            names += ", …" if names else ""
            break
        names += (", " if names else ": ") + label
    return text + names + ")\n"
