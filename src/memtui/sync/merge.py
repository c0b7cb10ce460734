"""Merge two versions of a file of memories over the one that both began with: fields by key, bodies by paragraph, then
by line, lines of MEMORY.md by the memory that they are for. Pure: the same bytes give the same bytes on every machine.

Where both sides changed one thing in two ways, one stands and the other is returned beside the merge, never a marker in
the file. What one side deleted and the other changed stands, too."""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from memtui.store.frontmatter import document
from memtui.store.index import index as memory_index

SIMILAR = 0.5  # from this ratio of difflib on, two paragraphs or lines are versions of one another
_FIELD = re.compile(r"^([^\s#][^:\n]*):(?:\s|$)")
_Stands = Callable[[str], bool]
_PARAGRAPH = re.compile(r"\n(?:[ \t]*\n)+")


class Conflict(NamedTuple):
    """What both sides changed in two ways: the text that stands, and the other one; one is empty if it was deleted.
    `beside`: where both were new, the path of the other one, without texts; where both renamed one, the name that it
    has now, as `stands`, too."""

    where: str
    stands: str
    other: str
    beside: str = ""

    def renamed(self, path: str, name: str) -> "Conflict":
        """Return the same of a memory that has another path in the end, also of its line in the index."""
        where, colon, key = self.where.partition(": ")
        directory = path.rpartition("/")[0] + "/"
        if where.rpartition("/")[0] + "/" + key == path:
            key = name.removeprefix(directory)
        where, beside = (name if own == path else own for own in (where, self.beside))
        return self._replace(where=where + colon + key, beside=beside)


class Merge(NamedTuple):
    """A merged file, and what did not fit into it."""

    data: bytes
    conflicts: tuple[Conflict, ...] = ()


class _Item(NamedTuple):
    """A field, paragraph or line. `key`: what its versions share, empty if only likeness tells; `end`: blank lines."""

    text: str
    key: str = ""
    end: str = ""


_Items = Sequence[_Item]
_Span = tuple[int, int]
_Deeper = Callable[[_Item, _Item, _Item], _Item] | None


class _Side:
    """How a side changed the items of the base: `after`: by their number the item in their place, none if it was
    deleted; `added`: new items by the number of the one behind which they stand, -1 for the beginning; `moved`: items
    of the base that now stand among the added ones, by number and place."""

    def __init__(self, base: Sequence[_Item], items: Sequence[_Item]) -> None:
        self.after: dict[int, _Item | None] = dict.fromkeys(range(len(base)))
        pairs = _pairs(base, items)
        self.after.update({number: items[place] for number, place in pairs.items()})
        place_of = {place: number for number, place in pairs.items()}
        self.added: dict[int, list[tuple[_Item, int]]] = {}
        last = -1
        gone = {base[number].text: number for number in self.after if self.after[number] is None}
        for place, item in enumerate(items):
            last = place_of.get(place, last)
            if place not in place_of:
                self.added.setdefault(last, []).append((item, gone.pop(item.text, -1) if item.text.strip() else -1))
        self.moved = {number for rows in self.added.values() for _, number in rows if number >= 0}


def _pairs(base: Sequence[_Item], items: Sequence[_Item]) -> dict[int, int]:
    """Return which item of a side is which of the base: those of one key, the same texts in order, the most alike."""
    keys = {item.key: place for place, item in enumerate(items) if item.key}
    pairs = {number: keys[item.key] for number, item in enumerate(base) if item.key in keys and item.key}
    texts = [item.text for item in base], [item.text for item in items]
    matcher = difflib.SequenceMatcher(None, *texts, autojunk=False)
    begins = 0, 0
    for block in matcher.get_matching_blocks():
        _pair_alike(base, items, (begins[0], block.a), (begins[1], block.b), pairs)
        for step in range(block.size):
            if not base[block.a + step].key:
                pairs[block.a + step] = block.b + step
        begins = block.a + block.size, block.b + block.size
    return pairs


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def _pair_alike(base: _Items, items: _Items, of_base: _Span, of_side: _Span, pairs: dict[int, int]) -> None:
    """Pair the items without keys in two stretches that are alike, in order."""
    begin = of_side[0]
    for number in range(*of_base):
        if base[number].key:
            continue
        places = [place for place in range(begin, of_side[1]) if not items[place].key]
        ratios = {place: _likeness(base[number].text, items[place].text) for place in places}
        best = max(ratios, key=lambda place: ratios[place], default=-1)
        if best >= 0 and ratios[best] >= SIMILAR:
            pairs[number] = best
            begin = best + 1
    old = [number for number in range(*of_base) if number not in pairs and not base[number].key]
    new = [place for place in range(*of_side) if place not in pairs.values() and not items[place].key]
    if len(old) == len(new) == 1 and not (_has(items, base[old[0]]) or _has(base, items[new[0]])):
        pairs[old[0]] = new[0]  # the one in the place of the other is a version of it, too


def _has(items: Sequence[_Item], text: _Item) -> bool:
    return any(item.text == text.text for item in items)


class _Merger:
    """A merge of one file under way: which side's text stands in doubt, and what did not fit so far."""

    def __init__(self, name: str, ours_stand: bool, of_key: _Stands | None = None) -> None:
        self.name, self.ours_stand = name, ours_stand
        self.of_key = of_key or (lambda _: ours_stand)
        self.conflicts: list[Conflict] = []

    def items(self, base: _Items, ours: _Items, theirs: _Items, deeper: _Deeper = None) -> list[_Item]:
        """Merge three lists of items; `deeper` merges one that both sides changed in two ways."""
        first, second = (ours, theirs) if self.ours_stand else (theirs, ours)
        sides = _Side(base, first), _Side(base, second)
        numbers = Counter(item.key for item in [*first, *second])
        merged: list[_Item] = []
        away = sides[0].moved | sides[1].moved
        moved = {number: new for number in away if (new := self._one(base[number], sides, number, deeper))}
        for number in range(-1, len(base)):
            if number >= 0 and number not in away:
                item = self._one(base[number], sides, number, deeper)
                merged += [item] if item is not None else []
            rows = [*sides[0].added.get(number, ()), *sides[1].added.get(number, ())]
            for item, origin in rows:
                if origin >= 0:
                    merged += [moved.pop(origin)._replace(end=item.end)] if origin in moved else []
                elif (item.key and numbers[item.key] == 1) or not any(self._is_same(item, other) for other in merged):
                    merged.append(item)
        return merged

    def _is_same(self, item: _Item, other: _Item) -> bool:
        """Tell whether a new item is there already; of one key with another text, it is beside the merge then."""
        if not item.key or item.key != other.key:
            return bool(item.text.strip()) and item.text == other.text
        if item.text != other.text:
            self.conflicts.append(Conflict(self._where(item), other.text, item.text))
        return True

    def _one(self, base: _Item, sides: tuple[_Side, _Side], number: int, deeper: _Deeper) -> _Item | None:
        """Merge what the sides have in the place of an item of the base; None if it goes."""
        first, second = (base if number in side.moved else side.after[number] for side in sides)
        if second is None or first is None:
            rest = first or second
            if rest is None or rest.text == base.text:
                return None
            self.conflicts.append(Conflict(self._where(base), rest.text, ""))
            return rest
        if second.text in {first.text, base.text}:
            return first
        if first.text == base.text:
            return second
        if deeper is not None:
            return deeper(base, first, second)
        if base.key and self.of_key(base.key) != self.ours_stand:
            first, second = second, first
        self.conflicts.append(Conflict(self._where(base), first.text, second.text))
        return first

    def _where(self, item: _Item) -> str:
        return f"{self.name}: {item.key}" if item.key else self.name

    def lines_of(self, base: _Item, first: _Item, second: _Item) -> _Item:
        """Merge a paragraph by its lines, or as a whole if a side wrote it anew. `first` stands in doubt."""
        if min(_likeness(base.text, item.text) for item in (first, second)) < SIMILAR:
            self.conflicts.append(Conflict(self.name, first.text, second.text))
            return first
        texts = ([_Item(line) for line in item.text.split("\n")] for item in (base, first, second))
        merger = _Merger(self.name, ours_stand=True)
        merged = merger.items(*_three(texts))
        self.conflicts += merger.conflicts
        return first._replace(text="\n".join(item.text for item in merged))


def merge_memory(base: bytes, ours: bytes, theirs: bytes, name: str, *, ours_stand: bool = True) -> Merge:
    """Merge a memory's file, called `name` in conflicts. `ours_stand`: whether the text of `ours` stands in doubt."""
    if theirs in {ours, base}:
        return Merge(ours)
    if base == ours:
        return Merge(theirs)
    documents = [document.parse(data) for data in (base, ours, theirs)]
    merger = _Merger(name, ours_stand)
    fields = merger.items(*_three(_fields(doc.quoted or doc.block) for doc in documents))
    bodies = [doc.rest.replace("\r\n", "\n") for doc in documents]
    body = merger.items(*_three(_paragraphs(text.lstrip("\n")) for text in bodies), deeper=merger.lines_of)
    stands, other = (documents[1], documents[2]) if ours_stand else (documents[2], documents[1])
    shape = stands if stands.fence or not other.fence else other
    text = "".join(item.text for item in fields)
    head = shape.head if shape.fence or not text else document.FENCE + "\n"
    fence = shape.fence if shape.fence or not text else document.FENCE + "\n\n"
    blank = bodies[1 if ours_stand else 2]
    blank = blank[: len(blank) - len(blank.lstrip("\n"))]
    merged = f"{head}{text}{fence}{blank}{_joined(body)}".replace("\r\n", "\n").replace("\n", stands.newline)
    data = merged.encode("utf-8", "surrogateescape")
    if document.parse(data).broken is not None and all(doc.broken is None for doc in documents[1:]):
        return Merge(stands.raw, (Conflict(name, _text(stands.raw), _text(other.raw)),))
    return Merge(data, tuple(merger.conflicts))


def merge_index(
    base: bytes, ours: bytes, theirs: bytes, name: str, ours_stand: bool = True, of_memory: _Stands | None = None
) -> Merge:
    """Merge a MEMORY.md as `merge_memory`: the line of a memory is one thing, wherever it stands. `of_memory`: whether
    the text of `ours` stands for a memory, by its target."""
    if theirs in {ours, base}:
        return Merge(ours)
    if base == ours:
        return Merge(theirs)
    indexes = [memory_index.parse_index(data) for data in (base, ours, theirs)]
    merger = _Merger(name, ours_stand, of_memory)
    merged = merger.items(*_three(map(_lines, indexes)))
    newline = indexes[1 if ours_stand else 2].newline
    text = "".join(item.text.rstrip("\r\n") + newline for item in merged)
    return Merge(text.encode("utf-8", "surrogateescape"), tuple(merger.conflicts))


def _three(lists: Iterable[list[_Item]]) -> tuple[list[_Item], list[_Item], list[_Item]]:
    base, ours, theirs = lists
    return base, ours, theirs


def _fields(block: str) -> list[_Item]:
    """Split the lines of fields by key, those of `metadata` one level deeper."""
    items: list[_Item] = []
    above = ""
    block = block.replace("\r\n", "\n")
    for line in (block if not block or block.endswith("\n") else block + "\n").splitlines(keepends=True):
        match = _FIELD.match(line)
        nested = _FIELD.match(line.strip()) if above == "metadata" and line[:1] in " \t" else None
        if match:
            above = match[1]
            items.append(_Item(line, above))
        elif nested and (len(items) == 0 or _indent(line) <= _indent(items[-1].text) or items[-1].key == "metadata"):
            items.append(_Item(line, f"metadata.{nested[1]}"))
        elif items:
            items[-1] = items[-1]._replace(text=items[-1].text + line)
        else:
            items.append(_Item(line, "#"))
    return items


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _paragraphs(text: str) -> list[_Item]:
    """Split a body at blank lines, which stay behind the paragraph above them."""
    items, begin = [], 0
    for match in _PARAGRAPH.finditer(text):
        items.append(_Item(text[begin : match.start()], end=match[0]))
        begin = match.end()
    rest = text[begin:]
    last = rest.rstrip("\n")
    return [*items, _Item(last, end=rest[len(last) :])] if rest else items


def _joined(items: Sequence[_Item]) -> str:
    parts = [item.text + (item.end if item.end.count("\n") > 1 else "\n\n") for item in items[:-1]]
    return "".join(parts) + "".join(item.text + (item.end if len(items) == 1 else "\n") for item in items[-1:])


def _lines(index: memory_index.Index) -> list[_Item]:
    entries = {entry.line - 1: memory_index.normal(entry.target) for entry in index.lines_of_memories}
    return [_Item(line.rstrip("\r\n"), entries.get(number, "")) for number, line in enumerate(index.lines)]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
