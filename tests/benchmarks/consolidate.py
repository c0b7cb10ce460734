"""What finding near-duplicates finds and costs: planted pairs among generated memories, beside token-set ratio of all pairs.

    python tests/benchmarks/consolidate.py [--memories 1000,10000] [--plant 50] [--check]

The memories have 600 characters on average, of 30,000 words used as often as words of a language are (Zipf). Planted are
three kinds, in equal parts: paraphrased (a third of the words replaced, a tenth dropped, the rest shuffled within
sentences), reordered (sentences in another order, a tenth of the words replaced), and split in two (each half counts as a pair
with the whole). Printed: precision and recall of the best pairs, as many as were planted, seconds and peak memory. The
plain way (rapidfuzz's token_set_ratio for every pair) takes minutes from 5,000 on and is only run below. `--check` exits 1
where a bar is missed.
"""

import argparse
import random
import resource
import sys
import time
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from memtui.store.memory import Memory, from_bytes, new_memory_bytes
from memtui.tidy import similarity

BAR_SECONDS, BAR_MB, BAR_RECALL = 5.0, 300, 0.9
PLAIN_MOST = 2000
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu".split()
VOCABULARY, CHARACTERS = 30_000, 600


class Maker:
    """Texts of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.words = ["".join(self.random.choices(SYLLABLES, k=self.random.randint(1, 4))) for _ in range(VOCABULARY)]
        self.odds = [1 / (rank + 3) for rank in range(VOCABULARY)]

    def draw(self, count: int) -> list[str]:
        return self.random.choices(self.words, self.odds, k=count)

    def sentences(self) -> list[list[str]]:
        """One text."""
        found: list[list[str]] = []
        room = self.random.gauss(CHARACTERS, CHARACTERS / 4)
        while room > 0:
            found.append(self.draw(self.random.randint(6, 14)))
            room -= sum(len(word) + 1 for word in found[-1])
        return found

    def replaced(self, sentence: list[str], part: float) -> list[str]:
        return [self.draw(1)[0] if self.random.random() < part else word for word in sentence]

    def paraphrased(self, text: list[list[str]]) -> list[list[str]]:
        changed = []
        for sentence in text:
            kept = [word for word in self.replaced(sentence, 1 / 3) if self.random.random() > 0.1]
            self.random.shuffle(kept)
            changed.append(kept)
        return changed

    def reordered(self, text: list[list[str]]) -> list[list[str]]:
        changed = [self.replaced(sentence, 0.1) for sentence in text]
        self.random.shuffle(changed)
        return changed


def memory(number: int, text: list[list[str]]) -> Memory:
    lines = [" ".join(sentence).capitalize() + "." for sentence in text]
    name = f"{text[0][0]}-{text[-1][-1]}-{number:05}" if text and text[0] and text[-1] else f"empty-{number:05}"
    data = new_memory_bytes(name, lines[0] if lines else "", "project", "\n".join(lines))
    return from_bytes(f"/store/{name}.md", "project", data)


def world(count: int, plant: int, seed: int = 7) -> tuple[list[Memory], set[frozenset[str]]]:
    """So many memories, and the paths of each planted pair."""
    maker = Maker(seed)
    texts = [maker.sentences() for _ in range(count - plant)]
    chosen = maker.random.sample(range(len(texts)), plant)
    memories = [memory(number, text) for number, text in enumerate(texts)]
    truth: set[frozenset[str]] = set()

    def add(of: int, text: list[list[str]]) -> None:
        memories.append(memory(len(memories), text))
        truth.add(frozenset({memories[of].path, memories[-1].path}))

    for turn, of in enumerate(chosen):
        if turn % 3 == 0:
            add(of, maker.paraphrased(texts[of]))
        elif turn % 3 == 1:
            add(of, maker.reordered(texts[of]))
        else:
            half = len(texts[of]) // 2
            add(of, texts[of][:half])
            add(of, texts[of][half:])
    maker.random.shuffle(memories)
    return memories, truth


def plain(memories: list[Memory], most: int) -> list[frozenset[str]]:
    from rapidfuzz import fuzz, utils

    texts = [utils.default_process(f"{each.name} {each.description} {each.body}") for each in memories]
    scored = [(fuzz.token_set_ratio(texts[a], texts[b]), a, b) for a, b in combinations(range(len(texts)), 2)]
    scored.sort(reverse=True)
    return [frozenset({memories[a].path, memories[b].path}) for _, a, b in scored[:most]]


def rated(found: list[frozenset[str]], truth: set[frozenset[str]]) -> str:
    right = sum(pair in truth for pair in found)
    return f"precision {right / max(1, len(found)):.2f}, recall {right / len(truth):.2f}"


def main() -> int:
    """Run the sizes, print a line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", default="1000,10000")
    parser.add_argument("--plant", type=int, default=38, help="texts that get a partner: 50 pairs with the halves")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    missed = []
    for count in map(int, options.memories.split(",")):
        memories, truth = world(count, options.plant)
        began = time.perf_counter()
        found = [frozenset({pair.one.path, pair.other.path}) for pair in similarity.pairs(memories, len(truth))]
        seconds = time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{len(memories):,} memories, {len(truth)} pairs planted: {rated(found, truth)}, {seconds:.2f} s, {peak:.0f} MB"
        )
        recall = sum(pair in truth for pair in found) / len(truth)
        missed += [f"{count}: recall"] * (recall < BAR_RECALL) + [f"{count}: seconds"] * (seconds > BAR_SECONDS)
        missed += [f"{count}: memory"] * (peak > BAR_MB)
        if count <= PLAIN_MOST:
            began = time.perf_counter()
            by_ratio = plain(memories, len(truth))
            print(
                f"    beside token_set_ratio of all pairs: {rated(by_ratio, truth)}, {time.perf_counter() - began:.1f} s"
            )
    if missed and options.check:
        print("missed:", ", ".join(missed))
    return bool(missed and options.check)


if __name__ == "__main__":
    sys.exit(main())
