"""The passages nearest to a vector: all are compared roughly at once, then the best of them exactly.

`pack` lays passages out: two numbers of 32 bits, of passages and of dimensions; a plane for each dimension, which has a
bit for each passage, whether its value is above the mean; the rows. Numbers have the machine's byte order.

A plane is one number in Python, so that an operation on it is one on all passages: the planes of the vector's largest
dimensions are summed by adders made of such operations, with weights from 1 to 7. 10,000 passages take a third of a
millisecond, and none is left out. Hot path."""

from memtui.recall.vectors_hot import ROW_LENGTH, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Read = Callable[[int, int], bytes]  # offset, length

HEAD = 8
EXACT = 56  # the passages that count as near, at least: the rough order is only roughly the right one
# A value's weight is it in halves of the mean size, without what is behind the point, less LEAST, up to MOST_WEIGHT.
HALVES, LEAST, MOST_WEIGHT = 2.2, 2, 7
TOGETHER = 1 << 19  # planes of so many bytes together are read at once
PART = 1 << 13  # passages that are laid out at a time, a multiple of 8
MOST_PLANES = 24  # planes that wait to be added: the fewer, the less memory it takes
MARKED = b"\0" + b"\1" * 255  # 1 for each byte that is not 0
BIASED = bytes(value ^ 0x80 for value in range(256))  # a signed byte as one without a sign, 128 more


def pack(rows: "list[bytes]") -> bytes:
    """Lay out passages, each a row of as many signed bytes; they are numbered by their place in this list."""
    every = b"".join(rows)
    return b"".join(packed(lambda at, length: every[at : at + length], len(rows), len(rows[0]) if rows else 0))


def packed(read_rows: "Read", number: int, dimensions: int) -> "Iterator[bytes]":
    """Yield in parts what `pack` returns, for rows that are read, and read again, some at a time."""
    if not number:
        return
    head = memoryview(bytearray(HEAD)).cast("I")
    head[0], head[1] = number, dimensions
    yield head.tobytes()
    size = dimensions * number
    parts = [(start, min(dimensions * PART, size - start)) for start in range(0, size, dimensions * PART)]
    sums = [0] * dimensions
    for start, length in parts:
        biased = read_rows(start, length).translate(BIASED)
        sums = [total + sum(biased[at::dimensions]) for at, total in enumerate(sums)]
    tables = [b"0" * (total // number + 1) + b"1" * (255 - total // number) for total in sums]
    planes = [bytearray() for _ in tables]
    for start, length in parts:
        biased = read_rows(start, length).translate(BIASED)
        for at, table in enumerate(tables):
            digits = biased[at::dimensions][::-1].translate(table)
            planes[at] += int(digits, 2).to_bytes(_width(len(digits)), "little")
    yield b"".join(planes)
    for start, length in parts:
        yield read_rows(start, length)


def _width(number: int) -> int:
    """Return how many bytes a plane has."""
    return (number + 7) // 8


class Passages:
    """Packed passages, read by `read_rows`, whose offsets start where the layout starts."""

    __slots__ = ("_read", "_rows", "_width", "dimensions", "number")

    def __init__(self, read_rows: "Read") -> None:
        self._read = read_rows
        self.number, self.dimensions = memoryview(read_rows(0, HEAD)).cast("I")
        self._width = _width(self.number)
        self._rows = HEAD + self.dimensions * self._width

    def row(self, number: int) -> bytes:
        return self._read(self._rows + self.dimensions * number, self.dimensions)

    def near(self, vector: Vector, most: int) -> "Sequence[int]":
        """Return the numbers of about the nearest passages, in no order: `most` of them, and EXACT at least."""
        count = max(most, EXACT)
        return range(self.number) if self.number <= count else _highest(self._sums(vector), self.number, count)

    def cosines(self, vector: Vector, numbers: "Sequence[int]") -> "list[float]":
        """Return the cosine of each of these passages, all values of one dimension at a time."""
        count = len(numbers)
        if not count:
            return []
        dimensions, start = self.dimensions, self._rows
        rows = b"".join([self._read(start + dimensions * number, dimensions) for number in numbers]).translate(BIASED)
        lanes = bytearray(4 * count)
        above = below = 0
        number = int.from_bytes
        for at, value in enumerate(vector.values):
            lanes[::4] = rows[at::dimensions]
            if value > 0:
                above += value * number(lanes, "little")
            elif value < 0:
                below -= value * number(lanes, "little")
        size, bias, length = 4 * count, 128 * sum(vector.values), vector.length * ROW_LENGTH
        ups, downs = [memoryview(side.to_bytes(size, "little")).cast("I") for side in (above, below)]
        return [(up - down - bias) / length for up, down in zip(ups, downs, strict=True)]

    def _sums(self, vector: Vector) -> "list[int]":
        """Return what each passage has in common with a vector, as the bits of a sum, the lowest plane first."""
        width = self._width
        together = self._read(HEAD, self.dimensions * width) if self.dimensions * width <= TOGETHER else b""
        every = (1 << self.number) - 1
        scale = HALVES * self.dimensions / (sum(map(abs, vector.values)) or 1)
        levels: list[list[int]] = [[], [], []]
        least = (LEAST + 1) / scale
        for at, value in enumerate(vector.values):
            if -least < value < least:
                continue
            weight = int(value * scale)
            start = at * width
            data = together[start : start + width] if together else self._read(HEAD + start, width)
            plane = int.from_bytes(data, "little")
            if weight < 0:
                plane ^= every
                weight = -weight
            weight = min(weight - LEAST, MOST_WEIGHT)
            if weight & 1:
                levels[0].append(plane)
            if weight & 2:
                levels[1].append(plane)
            if weight & 4:
                levels[2].append(plane)
            if sum(map(len, levels)) > MOST_PLANES:
                _add(levels)
        _add(levels)
        return _sum(levels)


def best(
    passages: Passages, vector: Vector, most: int, owner: "Callable[[int], int]", wanted: "dict[int, int]"
) -> "dict[int, float]":
    """Return the best cosine of each memory with a passage among the nearest, or those `wanted` (passage -> memory)."""
    owners = {passage: owner(passage) for passage in passages.near(vector, most)}
    owners.update(wanted)
    chosen = list(owners)
    cosines: dict[int, float] = {}
    for passage, cosine in zip(chosen, passages.cosines(vector, chosen), strict=True):
        doc = owners[passage]
        if cosine > cosines.get(doc, -1.0):
            cosines[doc] = cosine
    return cosines


def _add(levels: "list[list[int]]") -> None:
    """Add up planes until each level, which counts twice as much as the one before, has two at most."""
    for at, planes in enumerate(levels):  # grows meanwhile
        while len(planes) > 2:
            first, second, third = planes.pop(), planes.pop(), planes.pop()
            both = first ^ second
            planes.append(both ^ third)
            if at + 1 == len(levels):
                levels.append([])
            levels[at + 1].append(first & second | both & third)


def _sum(levels: "list[list[int]]") -> "list[int]":
    """Return the bits of the sum of levels with two planes at most, the lowest first."""
    sums = []
    carry = 0
    for planes in levels:
        first, second, *_ = (*planes, 0, 0)
        both = first ^ second
        sums.append(both ^ carry)
        carry = first & second | both & carry
    return [*sums, carry]


def _highest(sums: "list[int]", number: int, most: int) -> "list[int]":
    """Return which of `number` sums are the `most` highest; of equal ones the first."""
    sure, open_ = 0, (1 << number) - 1
    for plane in reversed(sums):
        higher = open_ & plane
        if (sure | higher).bit_count() > most:
            open_ = higher
        else:
            sure |= higher
            open_ ^= higher
    docs = _places(sure, most)
    return docs + _places(open_, most - len(docs))


def _places(bits: int, most: int) -> "list[int]":
    """Return the places of the lowest bits that are set, at most so many."""
    data = bits.to_bytes(_width(bits.bit_length()), "little")
    marked = data.translate(MARKED)
    places: list[int] = []
    at = marked.find(1)
    while at >= 0 and len(places) < most:
        places += [8 * at + bit for bit in range(8) if data[at] >> bit & 1]
        at = marked.find(1, at + 1)
    return places[:most]
