"""The classifier reaches the figures that the project asks for, on messages of sessions that its weights had not seen, and
more than rules or fixed expressions do."""

import sys
import zlib
from pathlib import Path

import pytest

from memtui.learn import classifier

# Only while it is imported: packages of tests have names of benchmarks.
HERE = str(Path(__file__).resolve().parents[1] / "benchmarks")
sys.path.insert(0, HERE)
try:
    import extraction as benchmark
finally:
    sys.path.remove(HERE)


@pytest.mark.parametrize("bar", list(benchmark.all_bars()), ids=lambda bar: bar.what)
def test_a_bar_is_met(bar):
    assert bar.reached >= bar.asked, bar


def test_the_scores_are_those_of_the_features_that_are_shipped():
    first = benchmark.SCORES.read_text("utf-8").partition("\n")[0]
    assert f"feedback.table {zlib.crc32(classifier.TABLE.read_bytes()):08x}" in first


def test_at_equal_recall_the_classifier_beats_rules_and_expressions():
    rows = benchmark.scored("train")
    truths = [row.truths[0] for row in rows]
    for taken in ([row.ruled > 0 for row in rows], [row.matched for row in rows]):
        right = sum(took and true for took, true in zip(taken, truths, strict=True))
        precision, recall = right / sum(taken), right / sum(truths)
        assert benchmark.reached("", 0.0, rows, 0, recall).reached > precision


def test_fewer_drafts_are_worth_keeping_from_delivered_to_listed_to_folded():
    shares = {place: sum(truths) / len(truths) for place, truths in benchmark.places().items()}
    assert shares["delivered"] > 1.3 * shares["listed, not delivered"] > 1.3 * 1.3 * shares["folded"]
