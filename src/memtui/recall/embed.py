"""The vectors of memories' passages: the whole table in memory, and each word's sum kept.

A passage is BLOCKS blocks of BLOCK tokens; the next one starts STEP blocks later. Cold: only who builds an index
imports this.
"""

from memtui.recall.vectors import DIMENSIONS, ROW_LENGTH, Table, Vector, lanes_of, summed, words_of

# About 120 tokens a passage, of which 40 are also in the next.
BLOCK, BLOCKS, STEP = 40, 3, 2
# No more passages of one memory: some 20,000 tokens.
MOST_PASSAGES = 256
_MOST_KEPT = 200_000


class Embedder:
    """Makes the rows of passages. Raises what `Table.everything` raises."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._numbers, self._rows = table.everything()
        # The sum of a word's rows as lanes, and how many these are.
        self._known: dict[bytes, tuple[int, int]] = {}

    def passages(self, text: str) -> list[bytes]:
        """Return the row of each passage of a text, at most MOST_PASSAGES; none without known words."""
        blocks = self._blocks(text)
        found = []
        for start in range(0, max(1, len(blocks) - BLOCKS + STEP), STEP):
            part = blocks[start : start + BLOCKS]
            lanes = sum(each for each, _ in part)
            count = sum(each for _, each in part)
            if count:
                found.append(row_of(summed(lanes, count)))
            if len(found) == MOST_PASSAGES:
                break
        return found

    def _blocks(self, text: str) -> list[tuple[int, int]]:
        """Return the sums of about BLOCK tokens each, and how many these are; never over MOST_TOKENS in a passage."""
        blocks = []
        lanes = count = 0
        for word in words_of(text):
            found = self._known.get(word)
            more, number = self._sum(word) if found is None else found
            lanes += more
            count += number
            if count >= BLOCK:
                blocks.append((lanes, count))
                lanes = count = 0
        if count:
            blocks.append((lanes, count))
        return blocks

    def _sum(self, word: bytes) -> tuple[int, int]:
        """Return the sum of a word's rows, and how many these are, and keep both."""
        numbers = self._pieces(word)
        lanes = sum(lanes_of(self._rows[DIMENSIONS * each : DIMENSIONS * (each + 1)]) for each in numbers)
        if len(self._known) < _MOST_KEPT:
            self._known[word] = lanes, len(numbers)
        return lanes, len(numbers)

    def _pieces(self, word: bytes) -> list[int]:
        """List the rows of a word's pieces, as `Table.pieces` does."""
        number = self._numbers.get(word)
        if number is not None:
            return [number]
        found = []
        at = 0
        before = b""
        while at < len(word):
            for end in range(len(word), at, -1):
                number = self._numbers.get(before + word[at:end])
                if number is not None:
                    break
            else:
                return []
            found.append(number)
            at = end
            before = b"##"
        return found


def row_of(vector: Vector) -> bytes:
    """Return a vector as signed bytes of the length ROW_LENGTH."""
    scale = ROW_LENGTH / (vector.length or 1.0)
    return bytes([max(-127, min(127, round(value * scale))) & 0xFF for value in vector.values])
