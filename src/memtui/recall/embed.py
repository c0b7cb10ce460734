"""The vectors of memories' passages: the whole table in memory, and each word's sum kept.

A passage is BLOCKS blocks of BLOCK tokens; the next one starts STEP blocks later. Cold: only builders import it."""

from array import array

from memtui.recall import words_hot
from memtui.recall.vectors_hot import DIMENSIONS, ROW_LENGTH, Table, Vector, lanes_of, pieces_of, summed, words_of

BLOCK, BLOCKS, STEP = 40, 3, 2  # about 120 tokens a passage, of which 40 are also in the next
MOST_PASSAGES = 256  # no more passages of one memory: some 20,000 tokens
_MOST_KEPT, _MOST_PARTS = 40_000, 4


class Embedder:
    """Makes the rows of passages. Raises what `Table.everything` raises."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._numbers, self._rows = table.everything()
        # By what stands between two blanks: the sum of each word's rows as lanes, and how many these are.
        self._known: dict[str, list[tuple[int, int]]] = {}

    def passages(self, text: str) -> list[bytes]:
        """Return the row of each passage of a text, at most MOST_PASSAGES; none without known words."""
        blocks = self._blocks(text)
        starts = range(0, max(1, len(blocks) - BLOCKS + STEP), STEP)[:MOST_PASSAGES]
        parts = [blocks[start : start + BLOCKS] for start in starts]
        return [row_of(summed(*map(sum, zip(*part, strict=True)))) for part in parts if part]

    def _blocks(self, text: str) -> list[tuple[int, int]]:
        """Return the sums of about BLOCK tokens each, and how many these are; never over MOST_TOKENS in a passage."""
        blocks = []
        lanes = count = 0
        for folded in words_hot.folded(text):
            block = self._known.get(folded)
            for more, number in self._sums(folded) if block is None else block:
                lanes += more
                count += number
                if count >= BLOCK:
                    blocks.append((lanes, count))
                    lanes = count = 0
        if count:
            blocks.append((lanes, count))
        return blocks

    def _sums(self, folded: str) -> list[tuple[int, int]]:
        """Return (sum of rows, how many) of each word of what stands between two blanks; keep them if they are few."""
        sums = []
        for word in words_of(folded):
            numbers = pieces_of(word, lambda piece: self._numbers.get(piece, -1))
            rows = [self._rows[DIMENSIONS * number : DIMENSIONS * (number + 1)] for number in numbers]
            sums.append((sum(map(lanes_of, rows)), len(numbers)))
        if len(self._known) < _MOST_KEPT and len(sums) <= _MOST_PARTS:
            self._known[folded] = sums
        return sums


def row_of(vector: Vector) -> bytes:
    """Return a vector as signed bytes of the length ROW_LENGTH."""
    scale = ROW_LENGTH / (vector.length or 1.0)
    values = [round(value * scale) for value in vector.values]
    if max(values) > 127 or min(values) < -127:
        values = [max(-127, min(127, value)) for value in values]
    return array("b", values).tobytes()
