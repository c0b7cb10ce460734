"""Makes `src/memtui/extract/feedback.table`: the weights by which a message is taken for feedback, and for durable.

    python -m venv /tmp/fit && /tmp/fit/bin/pip install numpy scipy
    /tmp/fit/bin/python tests/training/fit_feedback.py [--only-figures] [FILE.jsonl ...]

Reads labelled messages, one JSON object a line: `text`, `channel`, `prev_assistant`, `prev_tools`, `source.session`, `label`
(feedback is a correction or a preference-statement) and `durable`. Without files it reads `turns-train.jsonl` and
`turns.jsonl` of `../shared/data`: 1,925 messages from public repositories under MIT, Apache-2.0 or BSD licences, labelled by
five readers. Of their texts nothing is kept: the table has sums over hashed features, rounded to a byte each.

What is done: two logistic regressions on the features of memtui.extract.features, with a penalty on the square of the
weights (PENALTY), in which rare words count for more. Five folds, in which no session is in two, give each message a score from weights that have not seen
it; average precision is of these. Platt's sigmoid is fitted to the same scores, so that a score is a probability.

Figures of cross-validation over all 1,925: average precision .745 for feedback and .335 for durable. Fitted to
turns-train.jsonl alone: .741 and .307 within it, .749 and .451 on turns.jsonl.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))

from memtui.core.client.conversation import Turn  # noqa: E402
from memtui.extract import classifier, features, personal, signals  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
FILES = ("turns-train.jsonl", "turns.jsonl")
FEEDBACK = {"correction", "preference-statement"}
PENALTY = {"feedback": 4.0, "durable": 1.0}
FOLDS = 5

Array = np.ndarray


def read(paths: list[Path]) -> list[dict]:
    """Read the labelled messages of the files."""
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines() if line.strip()]


def turn_of(row: dict) -> Turn:
    """Make the turn that a labelled message was."""
    return Turn(
        row["text"],
        row["channel"],
        agent=row["prev_assistant"] or "",
        session=row["source"]["session"],
        tools=tuple(row["prev_tools"]),
    )


def matrix(rows: list[dict]) -> sparse.csr_matrix:
    """Return the features of the messages, of shape (messages, BUCKETS)."""
    data, columns, starts = [], [], [0]
    for row in rows:
        turn = turn_of(row)
        found = features.of(turn, signals.signal_of(turn))
        columns += list(found)
        data += list(found.values())
        starts.append(len(columns))
    return sparse.csr_matrix((data, columns, starts), shape=(len(rows), features.BUCKETS))


def labels(rows: list[dict]) -> dict[str, Array]:
    """Return what the messages are, for each of the two questions: arrays of 0 and 1."""
    return {
        "feedback": np.array([row["label"] in FEEDBACK for row in rows], float),
        "durable": np.array([bool(row["durable"]) for row in rows], float),
    }


def folds(rows: list[dict]) -> Array:
    """Return the fold of each message: that of its session."""
    return np.array([int(hashlib.sha256(r["source"]["session"].encode()).hexdigest(), 16) % FOLDS for r in rows])


def rarity(values: sparse.csr_matrix) -> Array:
    """Return how much more the weight of a rare word, pair or group of characters may grow; 1 for the others."""
    most = features.SIZES["word"] + features.SIZES["pair"] + features.SIZES["characters"]
    seen = np.asarray((values > 0).sum(0)).ravel()
    rare = np.maximum(0.1, np.log(values.shape[0] / (seen + 1)) / 3)
    return np.where(np.arange(features.BUCKETS) < most, rare, 1.0)


def fitted(values: sparse.csr_matrix, wanted: Array, penalty: float) -> tuple[Array, float]:
    """Return (weights, bias) of a logistic regression."""
    signs = 2 * wanted - 1
    rare = rarity(values)
    values = (values @ sparse.diags(rare)).tocsr()
    columns = np.unique(values.indices)
    full = np.zeros(features.BUCKETS)
    values = values[:, columns]

    def loss(both: Array) -> tuple[float, Array]:
        margin = signs * (values @ both[:-1] + both[-1])
        slope = -signs / (1 + np.exp(np.clip(margin, -30, 30)))
        total = np.logaddexp(0, -margin).sum() + penalty / 2 * (both[:-1] ** 2).sum()
        return total, np.append(values.T @ slope + penalty * both[:-1], slope.sum())

    found = minimize(loss, np.zeros(values.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    full[columns] = found[:-1]
    return full * rare, float(found[-1])


def out_of_fold(values: sparse.csr_matrix, wanted: Array, fold: Array, penalty: float) -> Array:
    """Return a score for each message, from weights that have seen no message of its session."""
    scores = np.zeros(len(wanted))
    for each in range(FOLDS):
        weights, bias = fitted(values[fold != each], wanted[fold != each], penalty)
        scores[fold == each] = values[fold == each] @ weights + bias
    return scores


def sigmoid_of(scores: Array, wanted: Array) -> tuple[float, float]:
    """Return (slope, offset) of the sigmoid that makes the scores probabilities."""

    def loss(both: Array) -> float:
        return float(np.logaddexp(0, -(2 * wanted - 1) * (both[0] * scores + both[1])).sum())

    slope, offset = minimize(loss, np.array([1.0, 0.0])).x
    return float(slope), float(offset)


def average_precision(scores: Array, wanted: Array) -> float:
    """Return the mean precision at each message that is wanted, best scores first."""
    order = np.argsort(-scores, kind="stable")
    hits = wanted[order]
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1) * hits).sum() / max(1, hits.sum()))


def tell(title: str, scores: Array, wanted: Array) -> None:
    """Print average precision, and precision and recall at some probabilities and at some recalls."""
    print(f"{title}: {int(wanted.sum())} of {len(wanted)}, average precision {average_precision(scores, wanted):.3f}")
    chances = 1 / (1 + np.exp(-scores))
    for low in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        taken = chances >= low
        right = (wanted * taken).sum()
        precision, recall = right / max(1, taken.sum()), right / wanted.sum()
        print(f"  from {low}: {taken.sum()} taken, precision {precision:.2f} recall {recall:.2f}")
    hits = np.cumsum(wanted[np.argsort(-scores, kind="stable")])
    for recall in (0.37, 0.55, 0.7):
        needed = int(np.argmax(hits >= recall * hits[-1])) + 1
        print(f"  at recall {recall}: precision {hits[needed - 1] / needed:.2f}")


def validated(rows: list[dict], unseen: list[Array], wanted: dict[str, Array]) -> list[personal.Validated]:
    """Return the messages of a third of the sessions as validation figures: with the score that weights gave it which had
    not seen its session, and the features that a person's decisions correct."""
    found = []
    for at, row in enumerate(rows):
        if int(hashlib.sha256(row["source"]["session"].encode()).hexdigest(), 16) % 3:
            continue
        turn = turn_of(row)
        own = personal.kept(features.of(turn, signals.signal_of(turn)))
        scores = (float(unseen[0][at]), float(unseen[1][at]))
        found.append(personal.Validated(own, scores, (bool(wanted["feedback"][at]), bool(wanted["durable"][at]))))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--only-figures", action="store_true", help="write nothing")
    parser.add_argument("--validation", action="store_true", help="write validation.table, too")
    parser.add_argument("--penalties", action="store_true", help="try other penalties")
    parser.add_argument("--judge", type=Path, help="another file, on which the weights are judged too")
    given = parser.parse_args()
    rows = read(given.files or [DATA / name for name in FILES])
    values, wanted, fold = matrix(rows), labels(rows), folds(rows)
    print(f"{len(rows)} messages, {len({r['source']['session'] for r in rows})} sessions, {values.nnz} values")
    judged = read([given.judge]) if given.judge else []
    others, truths = (matrix(judged), labels(judged)) if judged else (None, {})
    questions, unseen = [], []
    for name, truth in wanted.items():
        if given.penalties:
            for penalty in (1.0, 2.0, 4.0, 8.0):
                scores = out_of_fold(values, truth, fold, penalty)
                print(f"  {name} penalty {penalty}: average precision {average_precision(scores, truth):.3f}")
        scores = out_of_fold(values, truth, fold, PENALTY[name])
        slope, offset = sigmoid_of(scores, truth)
        weights, bias = fitted(values, truth, PENALTY[name])
        scale = float(np.abs(weights).max()) / 127
        questions.append(((bias * slope + offset), scale * slope, np.round(weights / scale).astype(np.int8).tobytes()))
        unseen.append(slope * scores + offset)
        tell(name + ", cross-validated", unseen[-1], truth)
        if judged:
            tell(f"{name}, {given.judge.name}", slope * (others @ weights + bias) + offset, truths[name])
    if not given.only_figures:
        classifier.TABLE.write_bytes(classifier.packed(questions))
        print(f"{classifier.TABLE.name}: {classifier.TABLE.stat().st_size} bytes")
    if not given.only_figures or given.validation:
        personal.VALIDATION.write_bytes(personal.packed(validated(rows, unseen, wanted)))
        print(f"{personal.VALIDATION.name}: {personal.VALIDATION.stat().st_size} bytes")


if __name__ == "__main__":
    main()
