"""What the classifier has learned from its person: a small correction of both scores, for everything and for each
project, fitted to their decisions on drafts.

Only features of WORDS groups are corrected: what a person said, how they began, and what the rules saw; each is a
number, so that no words are kept. `feedback/weights.json` has `all` and `projects` (by slug), each with the weights of
both questions by feature; feature BIAS is there for every message. The correction is made anew from all decisions, from
nothing, with a penalty on the square of the weights, so that few decisions move little.

It is never worse than the shipped weights by more than MARGIN: `validation.table` has messages of sessions that the
weights which judged them had not seen, with their shipped scores. A correction that orders these worse is halved until
it does not (tests/training/fit_feedback.py makes the file)."""

import math
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from memtui.core.base import fastjson, fs, paths
from memtui.core.review import taught
from memtui.extract import features

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

Features = Mapping[int, float]
Weights = dict[int, float]


class Decided(NamedTuple):
    """A decision on a draft as the fit takes it: its features, the shipped scores (log odds) by question, the targets
    (1 yes, 0 no) and how much each counts; `project`: a slug."""

    found: Features
    scores: tuple[float, float]
    targets: tuple[float, float]
    counts: tuple[float, float]
    project: str


class Validated(NamedTuple):
    """A message of the validation figures: features, shipped scores, and whether it is feedback, and durable."""

    found: Features
    scores: tuple[float, float]
    truths: tuple[bool, bool]


@dataclass
class Correction:
    """What was learned: the weights of both questions, for everything and by project; `figures`: average precision of
    each question on the validation figures, shipped and corrected; `halved`: how often a correction was halved."""

    everything: tuple[Weights, Weights] = field(default_factory=lambda: ({}, {}))
    projects: dict[str, tuple[Weights, Weights]] = field(default_factory=dict)
    figures: dict[str, tuple[float, float]] = field(default_factory=dict)
    halved: int = 0

    def of(self, found: Features, project: str) -> tuple[float, float]:
        """Return what is added to the log odds of both questions."""
        own = self.projects.get(project) or self.projects.get(paths.slug_of(project))
        sums = [_score(weights, found) for weights in self.everything]
        if own is not None:
            sums = [total + _score(weights, found) for total, weights in zip(sums, own, strict=True)]
        return sums[0], sums[1]


def kept(rows: features.Rows) -> dict[int, float]:
    """Return the features of a message that are corrected, of all that it has. Those of a row are of one group."""
    return features.by_bucket([row for row in rows if _KEPT[row[1][0]]])


# For each feature, whether it is corrected.
_KEPT = b"".join(bytes([group in WORDS]) * size for group, size in features.SIZES.items())


def _score(weights: Mapping[int, float], found: Features) -> float:
    if not weights:
        return 0.0
    return weights.get(BIAS, 0.0) * BIAS_VALUE + sum(value * weights.get(key, 0.0) for key, value in found.items())


def fit(decisions: Sequence[Decided], validation: Sequence[Validated]) -> Correction:
    """Fit a correction to decisions, those for everything first, then what is special in each project."""
    made, projects, halved = Correction(), {each.project for each in decisions}, 0
    shipped = [average_precision([row.scores[at] for row in validation], _truths(validation, at)) for at in (0, 1)]
    pairs = [_bounded(_fitted(decisions, at, {}), {}, validation, at, shipped[at]) for at in (0, 1)]
    made.everything = (pairs[0][0], pairs[1][0])
    halved += sum(times for _, times in pairs)
    newest = sorted(projects, key=lambda slug: -max(n for n, each in enumerate(decisions) if each.project == slug))
    for slug in newest[:MOST_PROJECTS]:
        own = [each for each in decisions if paths.is_of(each.project, slug)]
        pairs = [
            _bounded(_fitted(own, at, made.everything[at]), made.everything[at], validation, at, shipped[at])
            for at in (0, 1)
        ]
        made.projects[slug] = (pairs[0][0], pairs[1][0])
        halved += sum(times for _, times in pairs)
    for at, name in enumerate(QUESTIONS):
        made.figures[name] = (shipped[at], _precision(made.everything[at], {}, validation, at))
    made.halved = halved
    return made


def _fitted(decisions: Sequence[Decided], at: int, below: Mapping[int, float]) -> Weights:
    """Return the weights of one question, beside those `below` them: logistic regression by gradient descent."""
    weights: Weights = {}
    fixed = [each.scores[at] + _score(below, each.found) for each in decisions]
    total = sum(each.counts[at] for each in decisions)
    for _ in range(PASSES if total else 0):
        slopes: Weights = {}
        for each, base in zip(decisions, fixed, strict=True):
            wrong = (each.targets[at] - probability(base + _score(weights, each.found))) * each.counts[at]
            for key, value in (*each.found.items(), (BIAS, BIAS_VALUE)):
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
    scores = [row.scores[at] + _score(below, row.found) + _score(weights, row.found) for row in validation]
    return average_precision(scores, _truths(validation, at))


def _truths(validation: Sequence[Validated], at: int) -> list[bool]:
    return [row.truths[at] for row in validation]


# files


def load(root: str) -> Correction:
    """Read the correction; one that changes nothing if there is none, or it can't be read."""
    try:
        found = fastjson.loads_dict(fs.read_bytes(taught.weights_path(root), 8 << 20))
    except OSError:
        return Correction()
    if found.get("v") != VERSION or found.get("buckets") != features.BUCKETS:
        return Correction()
    projects = found.get("projects")
    rows = projects.items() if isinstance(projects, dict) else ()
    halved = found.get("halved")
    return Correction(
        _pair(found.get("all")),
        {str(slug): _pair(row) for slug, row in rows},
        taught.figures_of(found),
        halved if isinstance(halved, int) else 0,
    )


def _pair(given: object) -> tuple[Weights, Weights]:
    rows = given if isinstance(given, dict) else {}
    first, second = (_weights(rows.get(name)) for name in QUESTIONS)
    return first, second


def _weights(given: object) -> Weights:
    found: Weights = {}
    for key, value in given.items() if isinstance(given, dict) else ():
        if str(key).lstrip("-").isdigit() and isinstance(value, (int, float)) and math.isfinite(value):
            found[int(key)] = float(value)
    return found


def data(made: Correction) -> dict[str, object]:
    """Return a correction as its file has it."""

    def pair(weights: tuple[Weights, Weights]) -> dict[str, object]:
        return {
            name: {str(key): value for key, value in each.items()}
            for name, each in zip(QUESTIONS, weights, strict=True)
        }

    return {
        "v": VERSION,
        "buckets": features.BUCKETS,
        "all": pair(made.everything),
        "projects": {slug: pair(own) for slug, own in made.projects.items()},
        "figures": {name: list(row) for name, row in made.figures.items()},
        "halved": made.halved,
    }


def packed(rows: Iterable[Validated]) -> bytes:
    """Return the bytes of `validation.table`."""
    found = list(rows)
    parts = [_HEAD.pack(len(found))]
    for row in found:
        truths = row.truths[0] + 2 * row.truths[1]
        parts.append(_ROW.pack(truths, *row.scores, len(row.found)))
        parts += [_VALUE.pack(key, min(65535, round(value * SCALE))) for key, value in row.found.items()]
    return MAGIC + zlib.compress(b"".join(parts), 9)


def unpacked(content: bytes) -> list[Validated]:
    """Read the bytes of `validation.table`. Raises ValueError if they are none of this version."""
    if not content.startswith(MAGIC):
        raise ValueError("validation.table has another format")
    try:
        plain = zlib.decompress(content[len(MAGIC) :])
        (count,), at, found = _HEAD.unpack_from(plain), _HEAD.size, []
        for _ in range(count):
            truths, first, second, size = _ROW.unpack_from(plain, at)
            at += _ROW.size
            values = {}
            for _ in range(size):
                key, value = _VALUE.unpack_from(plain, at)
                at += _VALUE.size
                values[key] = value / SCALE
            found.append(Validated(values, (first, second), (bool(truths & 1), bool(truths & 2))))
    except (struct.error, zlib.error) as error:
        raise ValueError("validation.table is damaged") from error
    return found


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


def precision_at(recall: float, scores: Sequence[float], truths: Sequence[bool]) -> float:
    """Return the precision of the best scores, as many as it takes to find this share of what is meant; 0 if nothing
    is."""
    wanted, hits = sum(map(bool, truths)) * recall, 0
    for number, at in enumerate(sorted(range(len(scores)), key=lambda at: -scores[at]), 1):
        hits += bool(truths[at])
        if hits and hits >= wanted:
            return hits / number
    return 0.0


def probability(score: float) -> float:
    """Return the probability that a score in log odds means."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))
