"""Compose what is put before the model: blocks in tags of our own, within one budget. No content can close its tag.

Sizes are in UTF-16 code units, as the client counts them."""

from memtui.base import clock_hot, ids_hot
from memtui.base.visible_hot import attribute, clean, one_line

TAGS = {
    "guidance": "memtui-guidance",
    "index": "memtui-index",
    "recall": "memtui-memory",
    "block": "memtui-blocks",
    "pending-update": "memtui-pending-updates",
    "pending-item": "memtui-pending-items",
}
# Blocks of one part that are left out without a word if there is no room.
SINGLE = (TAGS["guidance"], TAGS["recall"])
TAIL_UNITS = 160
MAX_LABEL = 60


def units(text: str) -> int:
    """Return the length in UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(text) + sum([c > "\uffff" for c in text])


def item(kind: str, name: str, scope: str, path: str, digest: str, reason: str) -> "dict[str, object]":
    """Return what the delivery log notes of a part; `digest`: of what was delivered, `reason`: why it was."""
    return {"kind": kind, "id": name, "scope": scope, "path": path, "hash": digest, "reason": reason}


class Part:
    """One entry of a block: its text; `label`, which names it if it is left out; `item`: its record for the log."""

    __slots__ = ("item", "label", "text")

    def __init__(self, text: str, label: str, item: "dict[str, object]") -> None:
        self.text = clean(text)
        self.label = label
        self.item = item


class Block:
    """A tag with its attributes, a sentence that says what it holds and from where, and parts in order of importance.
    `unlisted`: the number of entries left out beside the parts."""

    __slots__ = ("_frame", "attributes", "intro", "parts", "tag", "unlisted")

    def __init__(self, tag: str, fields: "dict[str, str]", intro: str, parts: "list[Part]", unlisted: int = 0) -> None:
        self.tag = tag
        self.attributes = fields
        self.intro = intro
        self.parts = parts
        self.unlisted = unlisted
        self._frame: tuple[str, str] | None = None

    def frame(self, delivery_id: str) -> "tuple[str, str]":
        """Return the text before and after the parts. It stays as it was asked for first."""
        if self._frame is None:
            # A block without a time of its own has that of its delivery.
            fields = dict(self.attributes)
            if "time" not in fields:
                fields["time"] = clock_hot.iso_seconds(ids_hot.id_time(delivery_id) or 0.0)
            fields["delivery"] = delivery_id
            head = f"<{self.tag} " + " ".join([f'{k}="{attribute(v)}"' for k, v in fields.items()]) + ">\n"
            if self.intro:
                head += clean(self.intro) + "\n"
            self._frame = head, f"</{self.tag}>"
        return self._frame

    def size(self, delivery_id: str) -> int:
        """Return the units of the whole block, with what separates it from the next one."""
        head, foot = self.frame(delivery_id)
        return units(head) + units(foot) + 1 + sum([units(part.text) + 1 for part in self.parts])


def repeated(block: Block) -> Block:
    marked = {**block.attributes, "repeat": "yes"}
    intro = (block.intro + " " if block.intro else "") + "It may have been given before."
    parts = [Part(part.text, part.label, {**part.item, "repeat": True}) for part in block.parts]
    return Block(block.tag, marked, intro, parts, block.unlisted)


def difference(before: str, after: str) -> str:
    """List the lines in which two short texts differ, with `-` and `+` in front."""
    old, new = before.split("\n"), after.split("\n")
    lines = ["- " + line for line in old if line and line not in new]
    lines += ["+ " + line for line in new if line and line not in old]
    return "\n".join(lines) or "(its lines have another order)"


def compose(blocks: "list[Block]", budget: int, delivery_id: str) -> "tuple[str, list[dict[str, object]], list[Part]]":
    """Fill the budget with blocks in the order given; return the text, the log's items, and the parts left out, each
    whole. A list says how many were left out, and names them if there is room."""
    texts: list[str] = []
    items: list[dict[str, object]] = []
    left_out: list[Part] = []
    room = budget
    frames = [block.frame(delivery_id) for block in blocks]
    # The units that the blocks still to come need to say how many parts were left out.
    later = sum([_least_units(block, frame) for block, frame in zip(blocks, frames, strict=True)])
    for block, (head, foot) in zip(blocks, frames, strict=True):
        least = _least_units(block, (head, foot))
        later -= least
        free = room - units(head) - units(foot) - 1
        if least and free - later >= TAIL_UNITS:
            free -= later
        shown: list[str] = []
        missing: list[Part] = []
        sizes = [units(part.text) + 1 for part in block.parts]
        reserve = TAIL_UNITS if block.unlisted or sum(sizes) > free else 0
        for part, size in zip(block.parts, sizes, strict=True):
            if size + reserve <= free:
                free -= size
                shown.append(part.text + "\n")
                items.append({**part.item, "chars": size - 1})
            else:
                missing.append(part)
        left_out.extend(missing)
        items.extend(_missing_items(block, missing))
        if not shown and (not least or not missing or free < TAIL_UNITS):
            continue
        if missing or block.unlisted:
            shown.append(_tail(missing, block.unlisted, free))
        text = head + "".join(shown) + foot
        room -= units(text) + 1
        texts.append(text)
    return "\n".join(texts), items, left_out


def least(blocks: "list[Block]") -> int:
    """Return how many units some blocks need, about: what comes after them has the rest."""
    return sum([units(part.text) + 1 for block in blocks for part in block.parts]) + 300 * len(blocks)


def _least_units(block: Block, frame: "tuple[str, str]") -> int:
    """Return the units of a list that only says how much was left out; 0 for what waits, or goes without a word."""
    return 0 if block.tag in SINGLE else units(frame[0]) + units(frame[1]) + 2 + TAIL_UNITS


def _missing_items(block: Block, missing: "list[Part]") -> "list[dict[str, object]]":
    """Return the log's items for parts left out: each by itself, or of a long list only their number."""
    if len(missing) <= 3 and not block.unlisted:
        return [{**part.item, "left_out": "no room"} for part in missing]
    more = {"left_out": "no room", "count": len(missing) + block.unlisted}
    return [{key: block.parts[0].item.get(key) for key in ("kind", "scope")} | more]


def _tail(missing: "list[Part]", unlisted: int, free: int) -> str:
    """Return the line that says how many parts were left out, and names as many of them as there is room for."""
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
