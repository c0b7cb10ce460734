"""What is put before the model: blocks in tags of our own, within one budget, that no content can leave.

Sizes are in UTF-16 code units, as the client counts them.
"""

from memtui.core.base import clock, ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TAGS = {
    "guidance": "memtui-guidance",
    "pending-update": "memtui-pending-updates",
    "pending-item": "memtui-pending-items",
    "index": "memtui-index",
}
# Text may not open or close our tags, nor the one that the client wraps a hook's context in; letters only.
GUARDED = ("memtui", "systemreminder")
# What reads as the beginning of a tag.
OPENERS = "<\u02c2\u1438\u2039\u2329\u276c\u276e\u27e8\u3008\ufe64\uff1c"
# Letters of other scripts, and digits and marks, that look like those of the guarded names.
LOOK_ALIKES = {
    char: latin
    for latin, chars in {
        "m": "\u043c\u1d0d\u03fb\u0271\u20a5",
        "e": "\u0435\u03b5\u0454\u04bd\u212e\u0259\u01dd\u1d073",
        "t": "\u0442\u03c4\u1d1b\u20207",
        "u": "\u03c5\u03bc\u00b5\u057d\u0446\u0438\u1d1c\u028b\u222av",
        "i": "\u0456\u03b9\u0131\u0269\u1d09\u04cf\u2502\u2223\u05c0|!1l",
        "s": "\u0455\u0282\ua731\u01bd5$",
        "y": "\u0443\u03b3\u04af\u028f\u0263\u10e7",
        "r": "\u0433\u1d26\u0280\u0453\u2c85",
        "n": "\u043f\u0578\u057c\u0274\u03b7\u043d",
        "d": "\u0501\u0257\u1d05\u13e7",
    }.items()
    for char in chars
}
# Printable by Unicode's categories, yet nothing is seen of them.
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
# Persian and emoji need these, one or two in a row (a heart in flames has a selector and a joiner).
JOINERS, MOST_JOINERS = "\u200c\u200d\ufe0e\ufe0f", 2
TAIL_UNITS = 160
MAX_LABEL = 60
# So many characters of a text are looked at together.
PIECE = 4096


def units(text: str) -> int:
    """Length in UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(text) + sum([c > "\uffff" for c in text])


def hidden(char: str) -> bool:
    """Whether a character draws nothing, or steers how others are drawn: what a person reads is then not what is there.
    Line ends, tabs and what joins letters are not among them (Unicode's Default_Ignorable_Code_Point, and controls)."""
    if char.isprintable():
        return char in BLANK or "\ufe00" <= char <= "\ufe0d" or "\U000e0100" <= char <= "\U000e01ef"
    return (
        (char < " " and char not in "\n\t")
        or "\x7f" <= char <= "\x9f"
        or char in "\xad\u061c\u180e\u200b\u200e\u200f\ufeff"
        or "\u2028" <= char <= "\u202e"
        or "\u2060" <= char <= "\u206f"
        or "\ud800" <= char <= "\udfff"
        or "\ufff9" <= char <= "\ufffb"
        or "\U000e0000" <= char <= "\U000e0fff"
    )


def revealed(text: str, show: "Callable[[str], str]") -> str:
    """A text with what `show` makes of each hidden character, and of joiners where no letters need so many."""
    made = []
    run = 0
    # Taken apart a piece at a time: a text in single characters takes eighty times its room.
    for at in range(0, len(text), PIECE):
        piece = text[at : at + PIECE]
        if piece.isascii() and piece.replace("\n", "").replace("\t", "").isprintable():
            made.append(piece)
            run = 0
            continue
        chars = []
        for char in piece:
            unseen = hidden(char)
            run = run + (char in JOINERS) if unseen or char in JOINERS else 0
            chars.append(show(char) if unseen or run > MOST_JOINERS else char)
        made.append("".join(chars))
    return "".join(made)


def clean(text: str) -> str:
    """Text that stays text: no control characters (terminal escapes), nothing hidden, no lone surrogates, and no `<`
    that would open or close a guarded tag."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not (text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()):
        text = revealed(text, lambda _: "")
    for opener in OPENERS if not text.isascii() else "<":
        if opener not in text:
            continue
        pieces = text.split(opener)
        parts = [pieces[0]]
        at = len(pieces[0]) + 1
        for piece in pieces[1:]:
            parts.append("&lt;" if _guarded(text, at) else opener)
            parts.append(piece)
            at += len(piece) + 1
        text = "".join(parts)
    return text


def _guarded(text: str, at: int) -> bool:
    """Whether what follows a `<` reads as a guarded tag, whatever stands between its letters and however they look.
    Where nothing follows, another text may."""
    seen = ""
    for place in range(at, len(text)):
        char = text[place]
        if char in OPENERS:
            return False  # it is looked at by itself
        seen += _latin(char)
        name = seen.replace("rn", "m")
        if name.startswith(GUARDED):
            return True
        begun = name.removesuffix("r")  # which may become an m
        if not any(guarded.startswith(begun) for guarded in GUARDED):
            return False
    return not text[at:].strip("/ \t\n")


def _latin(char: str) -> str:
    """The small Latin letters that a character looks like, without accents and styles; empty for what is no letter, and
    a full stop for a letter that looks like none."""
    if char in LOOK_ALIKES:
        return LOOK_ALIKES[char]
    if char.isascii():
        return char.lower() if char.isalnum() else ""
    import unicodedata

    plain = unicodedata.normalize("NFKD", char).casefold()
    folded = "".join([LOOK_ALIKES.get(c, c) for c in plain if c in LOOK_ALIKES or c.isalnum()])
    return folded if folded.isascii() else "."


def attribute(value: str) -> str:
    """A value between double quotes, on one line."""
    line = clean(value).replace("\n", " ").replace("\t", " ")
    return line.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def one_line(text: str) -> str:
    """Text on one line, for a list."""
    return " ".join(text.split())


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
