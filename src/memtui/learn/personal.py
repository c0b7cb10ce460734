"""What the classifier has learned from its person: a small correction of both scores, for everything and for each
project, fitted to their decisions on drafts.

Only features of WORDS groups are corrected, each a number, so that no words are kept. `feedback/drafts.jsonl` has those
of each draft by its id, so that a decision teaches something after the draft is gone; `feedback/weights.json` has `all`
and `projects` (by slug), each with the weights of both questions by feature; every message has the feature BIAS. The
correction is made anew from all decisions, with a penalty on the square of the weights, so that few decisions move
little.

It is never worse than the shipped weights by more than MARGIN: `validation.table` has messages with their shipped
scores, of sessions that the weights had not seen. A correction that orders these worse is halved until it does not
(tests/training/fit_feedback.py makes the file)."""

import math
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from memtui.base import fastjson, fs, paths
from memtui.deliver import error_log
from memtui.learn import features
from memtui.learn.signals import Basis, Signal
from memtui.redact.redact import redacted
from memtui.review import taught

MAGIC = b"memtui validate1"
VALIDATION = Path(__file__).with_name("validation.table")
VERSION = 1
QUESTIONS = ("feedback", "durable")
# The most that average precision on the validation figures may fall.
MARGIN = 0.02
# The groups whose features are corrected, the feature that every message has, and the length of their values: the
# others of a message don't count.
WORDS = ("word", "opening", "signal")
BIAS = -1
BIAS_VALUE = 1.0
# The penalty on the square of weights; those of a project beside those for everything, which are fitted first; steps.
PENALTY, PASSES, RATE = 20.0, 30, 0.3
MOST_BIAS, MOST_WEIGHTS, MOST_PROJECTS = 1.0, 4000, 50
HALVINGS = 6
_HEAD = struct.Struct("<I")
_ROW = struct.Struct("<BffH")
_VALUE = struct.Struct("<IH")
SCALE = 1000.0
# Bytes of the file of drafts from which its older half is dropped: some 2,000 drafts.
TRIM_BYTES = 2 << 20
# How much a draft counts that was approved after it was rewritten as a whole, of one that was approved as it was.
REWRITTEN = 0.25
# What each decision says about feedback and durable, and how much that counts: who rejects a draft may only find it not
# worth keeping, so that says nothing about feedback.
TARGETS: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    taught.APPROVED: ((1.0, 1.0), (0.5, 1.0)),
    taught.REJECTED: ((0.0, 0.0), (0.0, 1.0)),
    taught.NEVER: ((0.0, 0.0), (0.5, 2.0)),
}

Features = Mapping[int, float]
Weights = dict[int, float]


class Decided(NamedTuple):
    """A decision on a draft: features, shipped scores (log odds), targets (1 yes, 0 no), how much each counts, slug."""

    values: Features
    scores: tuple[float, float]
    targets: tuple[float, float]
    counts: tuple[float, float]
    project: str


class Validated(NamedTuple):
    """A message of the validation figures: features, shipped scores, and whether it is feedback, and durable."""

    values: Features
    scores: tuple[float, float]
    truths: tuple[bool, bool]


@dataclass
class Correction:
    """What was learned: the weights of both questions, for everything and by project; `figures`: average precision of
    each question on the validation figures, shipped and corrected; `halved`: how often it was halved."""

    everything: tuple[Weights, Weights] = field(default_factory=lambda: ({}, {}))
    projects: dict[str, tuple[Weights, Weights]] = field(default_factory=dict)
    figures: dict[str, tuple[float, float]] = field(default_factory=dict)
    halved: int = 0

    def of(self, values: Features, project: str) -> tuple[float, float]:
        """Return what is added to the log odds of both questions."""
        own = self.projects.get(project) or self.projects.get(paths.slug_of(project))
        sums = [_score(weights, values) for weights in self.everything]
        if own is not None:
            sums = [total + _score(weights, values) for total, weights in zip(sums, own, strict=True)]
        return sums[0], sums[1]


def corrected_features(rows: features.Rows) -> dict[int, float]:
    """Return the features of a message that are corrected, of all that it has. Those of a row are of one group."""
    return features.by_bucket([row for row in rows if _CORRECTED[row[1][0]]])


# For each feature, whether it is corrected.
_CORRECTED = b"".join(bytes([group in WORDS]) * size for group, size in features.SIZES.items())


def _score(weights: Mapping[int, float], values: Features) -> float:
    if not weights:
        return 0.0
    return weights.get(BIAS, 0.0) * BIAS_VALUE + sum(value * weights.get(key, 0.0) for key, value in values.items())


def fit(decisions: Sequence[Decided], validation: Sequence[Validated]) -> Correction:
    """Fit a correction to decisions, those for everything first, then what is special in each project."""
    correction, projects, halved = Correction(), {other.project for other in decisions}, 0
    shipped = [
        average_precision([row.scores[at] for row in validation], [row.truths[at] for row in validation])
        for at in (0, 1)
    ]
    pairs = [_bounded(_fitted(decisions, at, {}), {}, validation, at, shipped[at]) for at in (0, 1)]
    correction.everything = (pairs[0][0], pairs[1][0])
    halved += sum(times for _, times in pairs)
    newest = sorted(projects, key=lambda slug: -max(n for n, other in enumerate(decisions) if other.project == slug))
    for slug in newest[:MOST_PROJECTS]:
        own = [other for other in decisions if paths.is_of(other.project, slug)]
        pairs = [
            _bounded(
                _fitted(own, at, correction.everything[at]), correction.everything[at], validation, at, shipped[at]
            )
            for at in (0, 1)
        ]
        correction.projects[slug] = (pairs[0][0], pairs[1][0])
        halved += sum(times for _, times in pairs)
    for at, name in enumerate(QUESTIONS):
        correction.figures[name] = (shipped[at], _precision(correction.everything[at], {}, validation, at))
    correction.halved = halved
    return correction


def _fitted(decisions: Sequence[Decided], at: int, below: Mapping[int, float]) -> Weights:
    """Return the weights of one question, beside those `below` them: logistic regression by gradient descent."""
    weights: Weights = {}
    fixed = [decision.scores[at] + _score(below, decision.values) for decision in decisions]
    total = sum(decision.counts[at] for decision in decisions)
    for _ in range(PASSES if total else 0):
        slopes: Weights = {}
        for each, base in zip(decisions, fixed, strict=True):
            wrong = (each.targets[at] - probability(base + _score(weights, each.values))) * each.counts[at]
            for key, value in (*each.values.items(), (BIAS, BIAS_VALUE)):
                slopes[key] = slopes.get(key, 0.0) + wrong * value
        for key, slope in slopes.items():
            weights[key] = weights.get(key, 0.0) + RATE * (slope - PENALTY * weights.get(key, 0.0)) / (PENALTY + total)
    weights[BIAS] = max(-MOST_BIAS, min(MOST_BIAS, weights.get(BIAS, 0.0)))
    largest = sorted(weights, key=lambda key: -abs(weights[key]))[:MOST_WEIGHTS]
    return {key: round(weights[key], 5) for key in largest if round(weights[key], 5)}


def _bounded(
    weights: Weights, below: Mapping[int, float], validation: Sequence[Validated], at: int, shipped: float
) -> tuple[Weights, int]:
    """Halve weights until the validation figures are within MARGIN of the shipped ones; return them, and how often."""
    for times in range(HALVINGS):
        if not validation or _precision(weights, below, validation, at) >= shipped - MARGIN:
            return weights, times
        weights = {key: value / 2 for key, value in weights.items()}
    return {}, HALVINGS


def _precision(
    weights: Mapping[int, float], below: Mapping[int, float], validation: Sequence[Validated], at: int
) -> float:
    scores = [row.scores[at] + _score(below, row.values) + _score(weights, row.values) for row in validation]
    return average_precision(scores, [row.truths[at] for row in validation])


# files


def load(root: str) -> Correction:
    """Read the correction; one that changes nothing if there is none, or it can't be read."""
    try:
        stored = fastjson.loads_dict(fs.read_bytes(taught.weights_path(root), 8 << 20))
    except OSError:
        return Correction()
    if stored.get("v") != VERSION or stored.get("buckets") != features.BUCKETS:
        return Correction()
    projects = stored.get("projects")
    rows = projects.items() if isinstance(projects, dict) else ()
    halved = stored.get("halved")
    return Correction(
        _pair(stored.get("all")),
        {str(slug): _pair(row) for slug, row in rows},
        taught.figures_of(stored),
        halved if isinstance(halved, int) else 0,
    )


def _pair(row: object) -> tuple[Weights, Weights]:
    pair: tuple[Weights, Weights] = {}, {}
    for weights, name in zip(pair, QUESTIONS, strict=True):
        rows = row.get(name) if isinstance(row, dict) else None
        for key, value in rows.items() if isinstance(rows, dict) else ():
            if str(key).lstrip("-").isdigit() and isinstance(value, (int, float)) and math.isfinite(value):
                weights[int(key)] = float(value)
    return pair


def data(correction: Correction) -> dict[str, object]:
    """Return a correction as its file has it."""

    def pair(weights: tuple[Weights, Weights]) -> dict[str, object]:
        return {
            name: {str(key): value for key, value in weights_of_question.items()}
            for name, weights_of_question in zip(QUESTIONS, weights, strict=True)
        }

    return {
        "v": VERSION,
        "buckets": features.BUCKETS,
        "all": pair(correction.everything),
        "projects": {slug: pair(own) for slug, own in correction.projects.items()},
        "figures": {name: list(row) for name, row in correction.figures.items()},
        "halved": correction.halved,
    }


def unpacked(content: bytes) -> list[Validated]:
    """Read the bytes of `validation.table`. Raises ValueError if they are none of this version."""
    if not content.startswith(MAGIC):
        raise ValueError("validation.table has another format")
    try:
        plain = zlib.decompress(content[len(MAGIC) :])
        (count,), at, messages = _HEAD.unpack_from(plain), _HEAD.size, []
        for _ in range(count):
            truths, first, second, size = _ROW.unpack_from(plain, at)
            at += _ROW.size
            values = {}
            for _ in range(size):
                key, value = _VALUE.unpack_from(plain, at)
                at += _VALUE.size
                values[key] = value / SCALE
            messages.append(Validated(values, (first, second), (bool(truths & 1), bool(truths & 2))))
    except (struct.error, zlib.error) as error:
        raise ValueError("validation.table is damaged") from error
    return messages


def validation() -> list[Validated]:
    """Read the validation figures that memtui ships. Raises OSError, ValueError."""
    return unpacked(VALIDATION.read_bytes())


def average_precision(scores: Sequence[float], truths: Sequence[bool]) -> float:
    """Return the mean precision at each message that is meant, best scores first; 0 if none is."""
    hits, total = 0, 0.0
    for number, at in enumerate(sorted(range(len(scores)), key=lambda at: -scores[at]), 1):
        if truths[at]:
            hits += 1
            total += hits / number
    return total / hits if hits else 0.0


def probability(score: float) -> float:
    """Return the probability that a score in log odds means."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


# Drafts and decisions on them


def target(label: str) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return what a decision says, and how much that counts: the less, the more was edited. None for an unknown one."""
    kind, share = taught.parts(label)
    if kind != taught.EDITED:
        return TARGETS.get(kind)
    targets, (feedback, durable) = TARGETS[taught.APPROVED]
    weight = REWRITTEN + (1 - REWRITTEN) * share
    return targets, (weight * feedback, weight * durable)


def row_of(basis: Basis | None) -> dict[str, object] | None:
    """Return what the classifier saw of a draft as a JSON object; None if it did not judge it."""
    if basis is None:
        return None
    values = {str(key): round(value, 3) for key, value in basis[1].items()}
    return {"scores": [round(score, 4) for score in basis[0]], "features": values}


def of_row(row: object) -> Basis | None:
    """Read what `row_of` returned; None if it is none."""
    fields = row if isinstance(row, dict) else {}
    scores, values = fields.get("scores"), fields.get("features")
    if not isinstance(scores, list) or not isinstance(values, dict) or len(scores) != 2:
        return None
    if not all(isinstance(number, (int, float)) for number in (*scores, *values.values())):
        return None
    if not all(str(key).isdigit() for key in values):
        return None
    return (float(scores[0]), float(scores[1])), {int(key): float(value) for key, value in values.items()}


def note(root: str, draft_id: str, project: str, draft: Signal) -> None:
    """Keep what the classifier saw of a draft in the inbox. Never raises: what can't be written is logged."""
    row = row_of(draft.judged)
    line = fastjson.dumps({"v": VERSION, "id": draft_id, "project": project, **row}) if row is not None else ""
    if not line or redacted(line) != line:
        return  # numbers can look like a secret only by chance; then nothing is learned from this draft
    file = taught.drafts_path(root)
    try:
        fs.append(file, line.encode() + b"\n")
        if os.stat(file).st_size > TRIM_BYTES:
            lines = fs.read_bytes(file).splitlines(keepends=True)
            fs.write_atomic(file, b"".join(lines[len(lines) // 2 :]), durable=False)
    except OSError as error:
        error_log.add(root, "decisions", error)


def decided(root: str, labels: Mapping[str, str]) -> list[Decided]:
    """Return the decisions, `labels` by draft id, on drafts whose features are kept, oldest first."""
    decisions: dict[str, Decided] = {}
    try:
        lines = fs.read_bytes(taught.drafts_path(root)).splitlines()
    except OSError:
        return []
    for row in map(fastjson.loads_dict, lines):
        name = str(row.get("id"))
        aim = target(labels.get(name, ""))
        basis = of_row(row) if aim and row.get("v") == VERSION else None
        if aim is not None and basis is not None:
            decisions[name] = Decided(basis[1], basis[0], *aim, str(row.get("project") or ""))
    return list(decisions.values())
