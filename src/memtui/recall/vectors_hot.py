"""The vector of a prompt: the sum of the vectors of its tokens, read from the table that memtui ships.

`vectors.table` was distilled from a sentence model (tests/training/distil.py tells its provenance): a header, the
offsets of the vocabulary's shards, the vocabulary, and a row of DIMENSIONS bytes a token, each 128 more than its value.
A shard is lines of a piece, a tab and its row, searched as it is; all pieces with the same first three characters are
in one. Numbers are little-endian. Rows are weighted, and have one scale. A passage's row is signed bytes, of the length
ROW_LENGTH. Hot path."""

import posix
import sys

from memtui.base import fs_hot
from memtui.recall import words_hot

MAGIC = b"memtui vectors 1"
HEADER = 32
DIMENSIONS = 256
# Rows are rounded to whole numbers at this length: an error below 1%, with room for four deviations in a byte.
ROW_LENGTH = 500.0
MOST_TOKENS = 255  # a lane of 16 bits holds the sum of so many rows
LONGEST_WORD = 40  # longer words are hashes, keys and data
_PATH = __file__[: __file__.rfind("/")] + "/vectors.table"
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Vector:
    """The vector of a text: its `values`, and their `length`."""

    __slots__ = ("length", "values")

    def __init__(self, values: "list[int]") -> None:
        self.values = values
        self.length: float = sum([value * value for value in values]) ** 0.5

    def cosine(self, row: bytes) -> float:
        """Return the cosine to a passage, whose row has as many bytes as there are values."""
        pairs = zip(self.values, memoryview(row).cast("b"), strict=True)
        total = sum([ours * theirs for ours, theirs in pairs])
        return float(total / (self.length * ROW_LENGTH))


def lanes_of(row: bytes) -> int:
    """Return a row of the table as one number with 16 bits a dimension, so that rows are added at once."""
    lanes = bytearray(2 * DIMENSIONS)
    lanes[::2] = row
    return int.from_bytes(lanes, "little")


def summed(lanes: int, count: int) -> Vector:
    """Return the vector of `count` tokens, at most MOST_TOKENS, from the sum of their lanes."""
    bias = 128 * count
    return Vector([lane - bias for lane in memoryview(lanes.to_bytes(2 * DIMENSIONS, "little")).cast("H")])


def words_of(text: str) -> "list[bytes]":
    """List the words of a text whose pieces have rows: lower-case, split at joiners and where their case changes."""
    hits = []
    for word in words_hot.folded(text):
        if len(word) > LONGEST_WORD and word.isascii():
            continue
        if word.isalnum() and (word.islower() or word[1:].islower() or word.isdigit()):
            plain = [word.lower()]
        else:
            plain = words_hot.parts(word)
        for part in plain:
            if part.isascii() or max(part) < "\u0e00":
                hits.append(part.encode())
            else:  # the vocabulary has such characters one by one
                hits += [char.encode() for char in part]
    return hits


def pieces_of(word: bytes, row: "Callable[[bytes], int]") -> "list[int]":
    """List the rows of a word's pieces, the longest that fits first, as WordPiece does; none if a rest has none."""
    pieces = []
    at = 0
    before = b""
    while at < len(word):
        for end in range(len(word), at, -1):
            number = row(before + word[at:end])
            if number >= 0:
                break
        else:
            return []
        pieces.append(number)
        at = end
        before = b"##"
    return pieces


class Table:
    """The table of token vectors, read as needed. Raises OSError, also for one not whole, or of another version."""

    __slots__ = ("_fd", "_offsets", "_read", "_rows", "_vocabulary", "shards", "size")

    def __init__(self, path: str = _PATH) -> None:
        self._fd = fs_hot.open_regular(path)
        head = posix.pread(self._fd, HEADER, 0)
        dimensions, tokens, shards, vocabulary = memoryview(head[16:]).cast("I") if len(head) == HEADER else (0,) * 4
        self._vocabulary = HEADER + 4 * (shards + 1)
        self._rows = self._vocabulary + vocabulary
        self.size = tokens
        self.shards = shards
        whole = posix.fstat(self._fd).st_size == self._rows + tokens * dimensions
        if not head.startswith(MAGIC) or dimensions != DIMENSIONS or not whole or sys.byteorder != "little":
            self.close()
            raise OSError(22, "not a whole table of vectors", path)
        self._offsets = memoryview(posix.pread(self._fd, 4 * (shards + 1), HEADER)).cast("I")
        self._read: dict[int, bytes] = {}

    def close(self) -> None:
        if self._fd >= 0:
            posix.close(self._fd)
            self._fd = -1

    def of_text(self, text: str) -> "Vector | None":
        """Return the vector of a text, of its beginning and its end if it is long; None if no word has one."""
        numbers: list[int] = []
        for word in words_of(text):
            numbers += pieces_of(word, self._row)
        if not numbers:
            return None
        if len(numbers) > MOST_TOKENS:
            numbers = numbers[: MOST_TOKENS // 2] + numbers[-(MOST_TOKENS // 2) :]
        lanes = 0
        for number in numbers:
            lanes += lanes_of(posix.pread(self._fd, DIMENSIONS, self._rows + DIMENSIONS * number))
        return summed(lanes, len(numbers))

    def _row(self, piece: bytes) -> int:
        """Return the row of a piece; -1 if there is none."""
        at = shard_of(piece, self.shards)
        shard = self._read.get(at)
        if shard is None:
            start, end = self._offsets[at], self._offsets[at + 1]
            shard = self._read[at] = posix.pread(self._fd, end - start, self._vocabulary + start)
        offset = shard.find(b"\n" + piece + b"\t")
        if offset < 0:
            return -1
        offset += len(piece) + 2
        return int(shard[offset : shard.index(b"\n", offset)])

    def everything(self) -> "tuple[dict[bytes, int], bytes]":
        """Read all pieces with their rows' numbers, and all rows. Raises ValueError for a damaged vocabulary."""
        vocabulary = posix.pread(self._fd, self._rows - self._vocabulary, self._vocabulary)
        pieces = {}
        for line in vocabulary.split(b"\n"):
            piece, tab, number = line.partition(b"\t")
            if tab:
                pieces[piece] = int(number)
        return pieces, posix.pread(self._fd, self.size * DIMENSIONS, self._rows)


def shard_of(piece: bytes, shards: int) -> int:
    """Return the shard that has a piece: by its first three bytes, behind the mark of a piece within a word."""
    start = piece[:5] if piece[:2] == b"##" else piece[:3]
    return int.from_bytes(start, "little") * 0x9E3779B1 % 0xFFFFFFFB % shards
