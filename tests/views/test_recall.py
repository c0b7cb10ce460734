"""What recall says of a likelihood."""

import dataclasses

import pytest

from memtui.recall_preview import RecallCandidate, RecallRun
from memtui.views import recall

CANDIDATE = RecallCandidate("/m/a.md", "project", "a", "", "feedback", "unlikely", 0.0)


@pytest.mark.parametrize(
    ("probability", "threshold", "figure"),
    [(0.3972, 0.4, "39%"), (0.38, 0.4, "38%"), (0.4, 0.4, "40%"), (0.424, 0.425, "41%"), (0.996, 1.0, "99%")],
)
def test_a_likelihood_below_the_limit_never_has_the_figure_of_the_limit(probability, threshold, figure):
    candidate = dataclasses.replace(CANDIDATE, probability=probability)
    run = RecallRun("a prompt", candidates=(candidate,), threshold=threshold, memories=1)
    assert recall.likely(candidate, run) == figure
    assert recall.scored(candidate, run).strip().startswith(figure)
    if probability < threshold:
        assert f"The likeliest is a with {figure}. One is delivered from " in recall.nearest(run)
