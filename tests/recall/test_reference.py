"""The index finds what a plain search of all memories finds."""

import random
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtui.recall import query, segment

from .reference import Reference

WORDS = [f"word{number}" for number in range(400)]


def agree(store, reference, texts):
    """On how many texts the first five are the same, in any order of those that score alike."""
    same = 0
    for text in texts:
        found = [(hit.lexical, hit.path) for hit in store.search(text, most=5)]
        expected = reference.search(text, 8)
        scores = {path: score for score, path in expected}
        first = [score for score, _ in expected[:5]]
        same += [score for score, _ in found] == pytest.approx(first, rel=2e-3) and all(
            scores.get(path, score) == pytest.approx(score, rel=2e-3) for score, path in found
        )
    return same


@pytest.mark.slow
def test_the_first_five_are_the_same_among_many_memories(store):
    chance = random.Random(7)
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    for number in range(600):
        body = " ".join(chance.choices(WORDS, weights, k=chance.randint(5, 60)))
        store.remember(f"memory-{number}", " ".join(chance.choices(WORDS, weights, k=5)), body)
    store.index()
    reference = Reference([store.directory])
    texts = [" ".join(chance.choices(WORDS, [w**0.5 for w in weights], k=chance.randint(1, 30))) for _ in range(60)]
    assert agree(store, reference, texts) == len(texts)


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
    part = query.IndexPart("", "", Stub(number), {})
    exact = dict.fromkeys(range(number), 0.0)
    for term, (docs, impacts) in postings.items():
        part.postings[term] = packed(docs, impacts, number)
        for doc, impact in zip(docs, impacts, strict=True):
            exact[doc] += idf[term] * query.SCALE * impact
    best = sorted((score for score in exact.values() if score), reverse=True)[: query.CANDIDATES]
    found = sorted((score for score, _ in query._best(part, idf, query.CANDIDATES)), reverse=True)[: query.CANDIDATES]
    assert [score for score in found if score] == pytest.approx(best)


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
