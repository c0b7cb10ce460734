"""What is left out of a search early would not have been among the best."""

import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtui.recall import query, segment


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_what_is_left_out_early_would_not_have_been_among_the_best(data):
    number = data.draw(st.integers(60, 300))
    postings = {}
    for term in range(data.draw(st.integers(1, 6))):
        impacts = data.draw(st.lists(st.integers(segment.LEAST, segment.FULL), min_size=1, max_size=number))
        docs = sorted(data.draw(st.randoms()).sample(range(number), len(impacts)))
        postings[f"term{term}"] = (docs, impacts)
    idf = {term: data.draw(st.floats(0.05, 9)) for term in postings}
    part = query.IndexPart("", "", Stub(number))
    exact = dict.fromkeys(range(number), 0.0)
    for term, (docs, impacts) in postings.items():
        part.postings[term] = packed(docs, impacts, number)
        for doc, impact in zip(docs, impacts, strict=True):
            exact[doc] += idf[term] * query.SCALE * impact
    best = sorted((score for score in exact.values() if score), reverse=True)[: query.CANDIDATES]
    found = sorted((score for score, _ in query._best(part, idf, query.CANDIDATES)), reverse=True)[: query.CANDIDATES]
    assert [score for score in found if score] == pytest.approx(best)


def test_no_more_are_scored_exactly_than_may_be_among_the_best():
    assert [query._most_steps(bytes([0, 3, 3, 9]), most) for most in (1, 2, 3, 4)] == [9, 3, 3, 0]


class Stub:
    def __init__(self, number):
        self.number = number
        self.dead = frozenset()


def packed(docs, impacts, number):
    """A posting as a segment has it."""
    if len(docs) * segment.DENSE > number:
        planes = bytearray(2 * number)
        for doc, impact in zip(docs, impacts, strict=True):
            planes[doc], planes[number + doc] = impact >> 8, impact & 0xFF
        return segment.Posting(bytes(planes), False, len(docs), max(impacts))
    body = b"".join(each.to_bytes(2, sys.byteorder) for each in [*docs, *impacts])
    return segment.Posting(body, False, 0, segment.FULL)
