"""Makes `src/memtui/learn/feedback.table`: the weights by which a message is taken for feedback, and for durable.

    python -m venv /tmp/fit && /tmp/fit/bin/pip install numpy scipy
    /tmp/fit/bin/python tests/training/fit_feedback.py [TRAIN.jsonl APART.jsonl]

Reads labelled messages, one JSON object a line: `text`, `channel`, `prev_assistant`, `prev_tools`, `source.session`, `label`
(feedback is a correction or a preference-statement) and `durable`. Without files it reads `turns-train.jsonl` and
`turns.jsonl` of `../shared/data`: 1,925 messages from public repositories under MIT, Apache-2.0 or BSD licences, labelled by
five readers. Of their texts nothing is kept: the table has sums over hashed features, rounded to a byte each.

What is done: two logistic regressions on the features of memtui.learn.classifier, with a penalty on the square of the
weights (PENALTY), in which rare words count for more; that of durable starts from a share (SHARED) of the weights of
feedback. Ten folds, in which no session is in two, give each message a score from weights that have not seen it; Platt's
sigmoid is fitted to the same scores, so that a score is a probability. Features and penalties were chosen by
cross-validation within turns-train.jsonl, over other splits than those of the figures; the words of the topics were written
after reading its durable messages, so its figures flatter somewhat.

The shipped weights are fitted to both files; cross-validated over both, average precision is .765 for feedback and .358 for
durable. For the benchmark (tests/benchmarks/feedback_scores.tsv) the same is done with turns-train.jsonl alone: .759 and .328
on average over five splits (durable .303 to .342), and .433 for durable on turns.jsonl, which those weights have not seen.
"""

import argparse
import hashlib
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "src"), str(HERE.parent), str(HERE.parent / "benchmarks")]

import extraction as benchmark  # noqa: E402
import labelled  # noqa: E402
from labelled import turn_of  # noqa: E402

import fitted_tables  # noqa: E402
from memtui.learn import classifier, signals  # noqa: E402

PENALTY, SHARED = {"feedback": 4.0, "durable": 1.0}, 0.5
FOLDS, SPLITS = 10, 5

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


def fitted(
    values: sparse.csr_matrix, wanted: Array, question: str, towards: Array | None = None
) -> tuple[Array, float]:
    """Return (weights, bias) of a logistic regression; `towards`: the weights from which the penalty is measured, 0
    unless given."""
    penalty = PENALTY[question]
    signs = 2 * wanted - 1
    rare = rarity(values)
    values = (values @ sparse.diags(rare)).tocsr()
    columns = np.unique(values.indices)
    values = values[:, columns]
    turned = values.T.tocsr()
    origin = np.zeros(len(columns)) if towards is None else (towards / rare)[columns]

    def loss(both: Array) -> tuple[float, Array]:
        margin = signs * (values @ (origin + both[:-1]) + both[-1])
        slope = -signs / (1 + np.exp(np.clip(margin, -30, 30)))
        total = np.logaddexp(0, -margin).sum() + penalty / 2 * (both[:-1] ** 2).sum()
        return total, np.append(turned @ slope + penalty * both[:-1], slope.sum())

    found = minimize(loss, np.zeros(values.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    full = np.zeros(classifier.BUCKETS)
    full[columns] = origin + found[:-1]
    return full * rare, float(found[-1])


def both_fitted(values: sparse.csr_matrix, wanted: dict[str, Array]) -> dict[str, tuple[Array, float]]:
    """Return (weights, bias) of both questions; those of durable start from a share of those of feedback, because what is
    durable is nearly always feedback, and there are few messages of it."""
    feedback = fitted(values, wanted["feedback"], "feedback")
    return {
        "feedback": feedback,
        "durable": fitted(values, wanted["durable"], "durable", SHARED * feedback[0]),
    }


def out_of_fold(values: sparse.csr_matrix, wanted: dict[str, Array], fold: Array) -> dict[str, Array]:
    """Return a score for each message and question, from weights that have seen no message of its session."""
    scores = {name: np.zeros(len(fold)) for name in wanted}
    for each in np.unique(fold):
        left, taken = fold == each, fold != each
        for name, (weights, bias) in both_fitted(values[taken], {n: t[taken] for n, t in wanted.items()}).items():
            scores[name][left] = values[left] @ weights + bias
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


def figures(train: list[dict], apart: list[dict]) -> str:
    """Return the scores from which the benchmark computes its figures, as text: of each message of `train` by weights
    that have not seen its session, for each split; of those kept `apart` by weights fitted to `train` alone."""
    values, wanted, others = matrix(train), labels(train), matrix(apart)
    unseen = [out_of_fold(values, wanted, folds(train, split)) for split in range(SPLITS)]
    weights = both_fitted(values, wanted)
    columns, single = [], []
    for name, truth in wanted.items():
        slope, offset = sigmoid_of(np.concatenate([each[name] for each in unseen]), np.tile(truth, SPLITS))
        columns += [slope * each[name] + offset for each in unseen]
        single.append(slope * (others @ weights[name][0] + weights[name][1]) + offset)
    lines = [f"# feedback.table {zlib.crc32(classifier.TABLE.read_bytes()):08x}, {SPLITS} splits"]
    for row, scores in zip(train, np.array(columns).T, strict=True):
        lines.append(_line("train", row, scores))
    for row, scores in zip(apart, np.array(single).T, strict=True):
        lines.append(_line("apart", row, scores))
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
    parser.add_argument("train", nargs="?", type=Path, default=labelled.DATA / labelled.TRAINING)
    parser.add_argument("apart", nargs="?", type=Path, default=labelled.DATA / labelled.APART)
    given = parser.parse_args()
    train, apart = labelled.read([given.train]), labelled.read([given.apart])
    write(train + apart)
    benchmark.SCORES.write_text(figures(train, apart), "utf-8")
    benchmark.bars()


def write(rows: list[dict]) -> None:
    """Fit the weights to all messages, and write them."""
    values, wanted = matrix(rows), labels(rows)
    print(f"{len(rows)} messages, {len({r['source']['session'] for r in rows})} sessions, {values.nnz} values")
    questions = []
    scored, fits = out_of_fold(values, wanted, folds(rows)), both_fitted(values, wanted)
    for name, truth in wanted.items():
        slope, offset = sigmoid_of(scored[name], truth)
        weights, bias = fits[name]
        scale = float(np.abs(weights).max()) / 127
        questions.append(((bias * slope + offset), scale * slope, np.round(weights / scale).astype(np.int8).tobytes()))
        tell(name + ", cross-validated over both files", slope * scored[name] + offset, truth)
    classifier.TABLE.write_bytes(fitted_tables.feedback(questions))
    print(f"{classifier.TABLE.name}: {classifier.TABLE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
