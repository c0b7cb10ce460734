"""Fits the weights in `src/memtui/recall/judge_hot.py` by which recall turns what it found into a probability.

    python tests/training/fit_recall.py                              fitted on the set in tests/data/recall
    python tests/training/fit_recall.py SET… --memories DIR --write  and on others, of the same form

A logistic regression over the features of `judge_hot.features`, of the hits that a prompt has (`judge_hot.FOUND`), with the
ridge RIDGE, by Newton's method; what the judge adds for a memory's type, pin and length is given, not fitted. Each set counts
with and without its triggers, and everyday prompts together weigh as much as all others. Before that it is
cross-validated: the stores are dealt to FOLDS, and the prompts of each are judged by weights fitted without them. Printed
for several thresholds: the share of the memories given that help, of the answerable prompts that got one that helps, of
the others that got nothing, and how many memories a prompt got; then how far the probabilities are right.
"""

import argparse
import math
import os
import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "src"), os.path.join(HERE, "..", "benchmarks")]

import recall_sets  # noqa: E402

import recall as benchmark  # noqa: E402
from memtui.recall import judge_hot, own_words_hot, query_hot, vectors_hot  # noqa: E402
from memtui.recall.index_build import bring_up_to_date  # noqa: E402

RIDGE, ROUNDS, LONGEST_STEP = 1.0, 40, 1.5
FOLDS = 8
THRESHOLDS = (0.2, 0.3, 0.35, 0.4, 0.5)
# A step of Newton's method that changes no weight by more ends it.
SMALL_STEP = 1e-4
TARGET = os.path.join(HERE, "..", "..", "src", "memtui", "recall", "judge_hot.py")
HEAD = "What the features of a memory count, as tests/training/fit_recall.py --write puts it here."
FEATURES = ("lexical", "share", "cosine", "overlap", "first", "margin", "everyday")

# The features of a hit, what is added to its log-odds whatever they are, whether it helps, and what it weighs.
Row = tuple[tuple[float, ...], float, bool, float]


@dataclass
class Judged:
    """A prompt of a store, with the features of each hit and whether that helps; `answerable`: some memory would;
    `is_everyday`: it says nothing of a project."""

    title: str
    store: str
    rows: list[Row]
    answerable: bool
    is_everyday: bool


def judged(chosen: recall_sets.RecallSet, with_triggers: bool) -> list[Judged]:
    """Index the memories of a set, and work out the features of what each prompt finds."""
    title = chosen.name + (", with triggers" if with_triggers else "")
    found = []
    with tempfile.TemporaryDirectory(prefix="memtui-fit-") as folder:
        root = folder + "/data"
        os.makedirs(root + "/recall", mode=0o700)
        places = chosen.write(folder + "/stores", with_triggers)
        table = vectors_hot.Table()
        for directory in places.values():
            bring_up_to_date(root, directory, table=table)
        usual = sum(each.kind == recall_sets.EVERYDAY for each in chosen.queries)
        weight = (len(chosen.queries) - usual) / usual if usual else 1.0
        for each in chosen.queries:
            words, why = own_words_hot.counted(each.text)
            if why:
                continue
            is_everyday = each.kind == recall_sets.EVERYDAY
            part = weight if is_everyday else 1.0
            hits = query_hot.search(root, [(benchmark.SCOPE, places[each.store])], words, judge_hot.FOUND)
            rows = [(judge_hot.features(hit), added(hit), hit.file in each.gold, part) for hit in hits]
            found.append(Judged(title, each.store, rows, bool(each.gold), is_everyday))
    return found


def added(hit: query_hot.Hit) -> float:
    """Return what the judge adds for a memory itself, without what is known of its use and age."""
    own = judge_hot.OF_TYPE.get(hit.type, 0.0) + (judge_hot.PINNED if hit.pinned else 0.0)
    return own + judge_hot.of_room(hit)


def fit(rows: Sequence[Row]) -> list[float]:
    """Return the intercept and the weights that make the rows likeliest."""
    size = len(rows[0][0]) + 1
    weights = [0.0] * size
    for _ in range(ROUNDS):
        slope = [0.0] + [RIDGE * weight for weight in weights[1:]]
        curve = [[RIDGE if row == column and row else 0.0 for column in range(size)] for row in range(size)]
        for features, given, helps, part in rows:
            values = (1.0, *features)
            probability = judge_hot.probability(given + sum(a * b for a, b in zip(weights, values, strict=True)))
            spread = part * probability * (1.0 - probability)
            for at, value in enumerate(values):
                slope[at] += part * (probability - helps) * value
                line, factor = curve[at], value * spread
                for other, another in enumerate(values):
                    line[other] += factor * another
        step = solved(curve, slope)
        scale = min(1.0, LONGEST_STEP / max(1e-9, *map(abs, step)))
        weights = [weight - scale * each for weight, each in zip(weights, step, strict=True)]
        if max(map(abs, step)) < SMALL_STEP:
            break
    return weights


def solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Return the solution of linear equations, by elimination."""
    size = len(right)
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for row in range(size):
            if row != at:
                factor = rows[row][at] / rows[at][at]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[at], strict=True)]
    return [rows[at][size] / rows[at][at] for at in range(size)]


def probabilities(one: Judged, weights: Sequence[float]) -> list[tuple[float, bool]]:
    """Return how likely each hit of a prompt helps, and whether it does, the likeliest first."""
    found = []
    for features, given, helps, _ in one.rows:
        log_odds = weights[0] + given + sum(a * b for a, b in zip(weights[1:], features, strict=True))
        found.append((judge_hot.probability(log_odds), helps))
    return sorted(found, key=lambda each: -each[0])


def report(prompts: Sequence[Judged], weights_of: Callable[[Judged], Sequence[float]]) -> None:
    """Print what would be injected at several thresholds, and how far the probabilities are right."""
    found = [(each, probabilities(each, weights_of(each))) for each in prompts]
    for threshold in THRESHOLDS:
        counts = benchmark.Injection(len(found), 0, 0, 0, 0, 0, 0)
        for each, hits in found:
            given = [helps for probability, helps in hits if probability >= threshold][: judge_hot.MOST]
            counts.sent += len(given)
            counts.right += sum(given)
            counts.answerable += each.answerable
            counts.answered += each.answerable and any(given)
            counts.others += not each.answerable
            counts.silent += not each.answerable and not given
        print(f"    from {threshold:.2f} on  {counts}")
    every = [hit for _, hits in found for hit in hits]
    error = sum((probability - helps) ** 2 for probability, helps in every) / len(every)
    print(f"    mean squared error of the probabilities {error:.4f}")
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        part = [(probability, helps) for probability, helps in every if low <= probability < low + 0.2 + (low == 0.8)]
        if part:
            mean = sum(probability for probability, _ in part) / len(part)
            helped = sum(helps for _, helps in part) / len(part)
            print(f"    told {mean:.2f}: {helped:.2f} of {len(part)} helped")


def text(module: str, weights: Sequence[float], provenance: str) -> str:
    """Return the judge's module with other weights."""
    values = ", ".join(f"{weight:.2f}" for weight in weights[1:])
    lines = textwrap.fill(f"{HEAD} Fitted: {provenance}.", 120, initial_indent="# ", subsequent_indent="# ")
    fitted = f"{lines}\nINTERCEPT = {weights[0]:.2f}\nWEIGHTS = ({values})\n"
    return re.sub(rf"# {HEAD}.*?\nWEIGHTS = [^\n]*\n", lambda _: fitted, module, flags=re.DOTALL)


def main() -> int:
    usage, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=usage, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help="further sets, beside the one in tests/data/recall")
    parser.add_argument("--memories", default="", metavar="DIR", help="the folder that has a folder for each store")
    parser.add_argument("--triggers", default="", metavar="FILE", help="JSON Lines of trigger lines for those")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    given = parser.parse_args()
    chosen = [recall_sets.read(benchmark.OWN)]
    chosen += [recall_sets.read(path, given.memories, given.triggers) for path in given.sets]
    prompts = [
        each
        for one in chosen
        for triggers in ((False, True) if one.triggers else (False,))
        for each in judged(one, triggers)
    ]
    rows = [row for each in prompts for row in each.rows]
    folds = {store: at % FOLDS for at, store in enumerate(sorted({each.store for each in prompts}))}
    fitted_without = [
        fit([row for each in prompts if folds[each.store] != fold for row in each.rows]) for fold in range(FOLDS)
    ]
    for title in dict.fromkeys(each.title for each in prompts):
        for is_everyday in (False, True):
            print(f"{title}{', everyday prompts' * is_everyday}, cross-validated")
            part = [each for each in prompts if each.title == title and each.is_everyday == is_everyday]
            report(part, lambda each: fitted_without[folds[each.store]])
    weights = fit(rows)
    print(dict(zip(("intercept", *FEATURES), (round(weight, 2) for weight in weights), strict=True)))
    assert all(math.isfinite(weight) for weight in weights)
    if given.write:
        stores = len(folds)
        digests = ", ".join(one.digest() for one in chosen)
        provenance = (
            f"logistic regression, ridge {RIDGE:g}, over {len(rows):,} hits of {len(prompts):,} prompts in {stores} stores"
            f" (sets {digests}), everyday prompts as half of each"
        )
        with open(TARGET, "r+", encoding="utf-8") as file:
            made = text(file.read(), weights, provenance)
            file.seek(0)
            file.truncate()
            file.write(made)
        print("written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
