"""Makes `src/memtui/learn/feedback.table`: the weights by which a message is taken for feedback, and for durable.

    python -m venv /tmp/fit && /tmp/fit/bin/pip install numpy scipy
    /tmp/fit/bin/python tests/training/fit_feedback.py [--more LABELLED.jsonl …] [--held LABELLED.jsonl …]

Reads labelled messages, one JSON object a line: `text`, `channel`, `prev_assistant`, `prev_tools`, `source.session`, `label`
(feedback is a correction or a preference-statement) and `durable`; those of `../shared/data` (1,780 for training, 145 kept apart,
labelled by five readers), `more` to fit to, and what is `held` back and only judged. All are from public repositories under MIT,
Apache-2.0 or BSD licences. Of their texts nothing is kept: the table has sums over hashed features, rounded to a byte each.

The shipped weights know 2,451 messages more: whole sessions of nine repositories, three of them with three quarters (two command
lines, and a library of components in Chinese), labelled by a sixth reader who saw no score. 399 messages of eight other
repositories were held back. The reader labelled 200 once more within the hour: kappa .98 for feedback and .94 for
durable, which says little, so soon; readers among themselves differ more.

What is done: two logistic regressions on the features of memtui.learn.classifier, with a penalty on the square of the
weights (PENALTY), in which rare words count for more (how rare, all messages say, without their labels); that of durable starts
from a share (SHARED) of the weights of feedback. Ten folds, in which no session is in two, give each message a score from weights
that have not seen it; Platt's sigmoid is fitted to the same scores, so that a score is a probability. The words of the topics were
written after reading the durable messages of turns-train.jsonl, so their figures flatter somewhat.

Figures, before the 2,451 messages and with them; average precision is AP, precision at a recall P:

| judged on | feedback AP | P .37 | P .55 | P .70 | durable AP |
| 1,780 for training, sessions unseen | .759, .770 | .83, .85 | .75, .76 | .66, .68 | .328, .323 |
| 145 kept apart (34, 20) | .763, .778 | .87, .93 | .79, .86 | .75, .80 | .433, .490 |
| 399 held back (63, 23), shipped weights | .509, .514 | .50, .53 | .50, .56 | .45, .49 | .239, .257 |

Of the messages held back, 65 make a draft (85 before), 35 of these are feedback (40), 6 are delivered (11), 3 of these durable (6).
Of those for training 43 are delivered (73 before), .40 of these durable (.39).
Probabilities are too high where people correct less than the 30 of 100 among what was fitted to: of the messages held back .27 was
expected to be feedback and .16 was, of what got .7 or more .56 was (.81 kept apart); durable .060 and .058. Tried, and no better by more
than .005 in cross-validation over repositories (AP .585 and .158 on average): openers of each sentence, openers and words crossed
with what the agent had just done, words of the first and of the last sentence, no words of the agent, twice the signals, twice the
penalty, a larger share.
"""

import argparse
import hashlib
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "src"), str(HERE.parent), str(HERE.parent / "benchmarks")]

import extraction as benchmark  # noqa: E402
import labelled  # noqa: E402
from labelled import turn_of  # noqa: E402

import fitted_tables  # noqa: E402
from memtui.learn import classifier, signals  # noqa: E402

PENALTY, SHARED = {"feedback": 4.0, "durable": 1.0}, 0.5
FOLDS, SPLITS = 10, 3

Array = np.ndarray


def matrix(rows: list[dict]) -> sparse.csr_matrix:
    """Return the features of the messages, of shape (messages, BUCKETS)."""
    data, columns, starts = [], [], [0]
    for row in rows:
        turn = turn_of(row)
        for value, buckets in classifier.rows(turn, signals.signal_of(turn)):
            columns += buckets
            data += [value] * len(buckets)
        starts.append(len(columns))
    values = sparse.csr_matrix((data, columns, starts), shape=(len(rows), classifier.BUCKETS))
    values.sum_duplicates()
    return values


def labels(rows: list[dict]) -> dict[str, Array]:
    """Return what the messages are, for each of the two questions: arrays of 0 and 1."""
    truths = np.array([labelled.truths_of(row) for row in rows], float)
    return {name: truths[:, at] for at, name in enumerate(fitted_tables.QUESTIONS)}


def folds(rows: list[dict], split: int = 0) -> Array:
    """Return the fold of each message, that of its session, in one of several ways to split the sessions."""
    digests = [hashlib.sha256(f"{split} {row['source']['session']}".encode()).hexdigest() for row in rows]
    return np.array([int(digest, 16) % FOLDS for digest in digests])


def rarity(values: sparse.csr_matrix) -> Array:
    """Return how much more the weight of a rare word, pair or group of characters may grow; 1 for the others."""
    most = classifier.SIZES["word"] + classifier.SIZES["pair"] + classifier.SIZES["characters"]
    seen = np.asarray((values > 0).sum(0)).ravel()
    rare = np.maximum(0.1, np.log(values.shape[0] / (seen + 1)) / 3)
    return np.where(np.arange(classifier.BUCKETS) < most, rare, 1.0)


class Dimensions(NamedTuple):
    """Messages in as many dimensions as there are messages, at the same lengths and angles as by their features, which
    takes a fraction of the time; `rows`, and what turns weights there into those of the features."""

    rows: Array
    features: sparse.csr_matrix
    rare: Array

    def weights_of(self, weights: Array) -> Array:
        return self.rare * (self.features.T @ solve_triangular(self.rows.astype(float), weights, lower=True, trans=1))


def dimensions(values: sparse.csr_matrix) -> Dimensions:
    """Return the messages with their rare features as heavy as `rarity` says."""
    rare = rarity(values)
    features = (values @ sparse.diags(rare)).tocsr()
    products = (features @ features.T).toarray()
    products += np.eye(len(products)) * products.trace() / len(products) * 1e-5
    return Dimensions(np.linalg.cholesky(products).astype(np.float32), features, rare)


def fitted(rows: Array, wanted: Array, question: str, origin: Array | float = 0.0) -> tuple[Array, float]:
    """Return (weights, bias) of a logistic regression; `origin`: the weights from which the penalty is measured."""
    signs = (2 * wanted - 1).astype(np.float32)
    penalty, start = PENALTY[question], np.full(rows.shape[1], origin, np.float32)
    before = rows @ start

    def loss(both: Array) -> tuple[float, Array]:
        weights = both[:-1].astype(np.float32)
        margin = signs * (before + rows @ weights + np.float32(both[-1]))
        slope = -signs / (1 + np.exp(np.clip(margin, -30, 30)))
        total = np.logaddexp(0, -margin).sum() + penalty / 2 * (weights @ weights)
        return float(total), np.append(rows.T @ slope + penalty * weights, slope.sum()).astype(float)

    options = {"maxiter": 100, "ftol": 1e-6, "gtol": 1e-3}  # of numbers with 24 bits
    found = minimize(loss, np.zeros(rows.shape[1] + 1), jac=True, method="L-BFGS-B", options=options).x
    return start + found[:-1].astype(np.float32), float(found[-1])


def both_fitted(rows: Array, wanted: dict[str, Array]) -> dict[str, tuple[Array, float]]:
    """Return (weights, bias) of both questions; those of durable start from a share of those of feedback, because what is
    durable is nearly always feedback, and there are few messages of it."""
    feedback = fitted(rows, wanted["feedback"], "feedback")
    return {"feedback": feedback, "durable": fitted(rows, wanted["durable"], "durable", SHARED * feedback[0])}


def out_of_fold(rows: Array, wanted: dict[str, Array], fold: Array) -> dict[str, Array]:
    """Return a score for each message and question, from weights that have seen no message of its session."""
    scores = {name: np.zeros(len(fold)) for name in wanted}
    for each in np.unique(fold):
        left, taken = fold == each, fold != each
        for name, (weights, bias) in both_fitted(rows[taken], {n: t[taken] for n, t in wanted.items()}).items():
            scores[name][left] = rows[left] @ weights + bias
    return scores


def sigmoid_of(scores: Array, wanted: Array) -> tuple[float, float]:
    """Return (slope, offset) of the sigmoid that makes the scores probabilities."""

    def loss(both: Array) -> float:
        return float(np.logaddexp(0, -(2 * wanted - 1) * (both[0] * scores + both[1])).sum())

    slope, offset = minimize(loss, np.array([1.0, 0.0])).x
    return float(slope), float(offset)


def tell(title: str, scores: Array, wanted: Array) -> None:
    """Print average precision, and precision and recall at some probabilities and at some recalls."""
    average = fitted_tables.average_precision(list(scores), list(wanted))
    print(f"{title}: {int(wanted.sum())} of {len(wanted)}, average precision {average:.3f}")
    chances = 1 / (1 + np.exp(-scores))
    for low in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        taken = chances >= low
        right = (wanted * taken).sum()
        precision, recall = right / max(1, taken.sum()), right / wanted.sum()
        print(f"  from {low}: {taken.sum()} taken, precision {precision:.2f} recall {recall:.2f}")
    for recall in (0.37, 0.55, 0.7):
        print(f"  at recall {recall}: precision {fitted_tables.precision_at(recall, list(scores), list(wanted)):.2f}")


def figures(space: Dimensions, parts: dict[str, list[dict]]) -> str:
    """Return the scores from which the benchmark computes its figures, as text: of each message of `train` by weights
    that have not seen its session, for each split; of `apart` and `held` by weights fitted to `train` and `more`."""
    rows = parts["train"] + parts["more"]
    known, wanted = space.rows[: len(rows)], labels(rows)
    unseen = [out_of_fold(known, wanted, folds(rows, split)) for split in range(SPLITS)]
    columns, single = [], []
    for name, (weights, bias) in both_fitted(known, wanted).items():
        slope, offset = sigmoid_of(np.concatenate([each[name] for each in unseen]), np.tile(wanted[name], SPLITS))
        columns += [slope * each[name] + offset for each in unseen]
        single.append(slope * (space.rows[len(rows) :] @ weights + bias) + offset)
        tell(f"{name}, cross-validated over what the weights are fitted to", columns[-1], wanted[name])
    lines = [f"# feedback.table {zlib.crc32(classifier.TABLE.read_bytes()):08x}, {SPLITS} splits"]
    lines += [_line("train", row, scores) for row, scores in zip(parts["train"], np.array(columns).T, strict=False)]
    others = [(part, row) for part in ("apart", "held") for row in parts[part]]
    lines += [_line(part, row, scores) for (part, row), scores in zip(others, np.array(single).T, strict=True)]
    return "\n".join(lines) + "\n"


def _line(part: str, row: dict, scores: Sequence[float]) -> str:
    """Return the line of one message: its part, labels, what the rules and the expressions say, scores in hundredths."""
    turn = turn_of(row)
    draft = signals.signal_of(turn)
    ruled = round(100 * draft.confidence) if draft and draft.kind != "confirmation" else 0
    said = any(each.search(turn.text) for each in benchmark.EXPRESSIONS)
    numbers = [*map(int, labelled.truths_of(row)), ruled, int(said), *[round(100 * float(each)) for each in scores]]
    return "\t".join([part, *map(str, numbers)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--more", nargs="*", type=Path, default=[])
    parser.add_argument("--held", nargs="*", type=Path, default=[])
    given = parser.parse_args()
    files = {
        "train": [labelled.DATA / labelled.TRAINING],
        "more": given.more,
        "apart": [labelled.DATA / labelled.APART],
    }
    parts = {name: labelled.read(paths) for name, paths in {**files, "held": given.held}.items()}
    rows = [row for part in parts.values() for row in part]
    space = dimensions(matrix(rows))
    write(space, rows[: len(rows) - len(parts["held"])])
    benchmark.SCORES.write_text(figures(space, parts), "utf-8")
    benchmark.bars()


def write(space: Dimensions, rows: list[dict]) -> None:
    """Fit the weights to the first messages, and write them."""
    known, wanted = space.rows[: len(rows)], labels(rows)
    print(f"{len(rows)} messages, {len({r['source']['session'] for r in rows})} sessions")
    questions = []
    scored, fits = out_of_fold(known, wanted, folds(rows)), both_fitted(known, wanted)
    for name, truth in wanted.items():
        slope, offset = sigmoid_of(scored[name], truth)
        weights, bias = space.weights_of(fits[name][0]), fits[name][1]
        scale = float(np.abs(weights).max()) / 127
        questions.append(((bias * slope + offset), scale * slope, np.round(weights / scale).astype(np.int8).tobytes()))
        tell(name + ", cross-validated over all", slope * scored[name] + offset, truth)
    classifier.TABLE.write_bytes(fitted_tables.feedback(questions))
    print(f"{classifier.TABLE.name}: {classifier.TABLE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
