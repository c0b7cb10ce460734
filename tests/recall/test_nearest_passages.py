"""The nearest passages are found among many, although most are not looked at."""

import random

import pytest

from memtui.recall.nearest_passages_hot import EXACT, Passages, pack
from memtui.recall.vectors_hot import Vector

DIMENSIONS = 256


def nearest(read, vector, most):
    """(number, cosine) of the passages nearest to a vector, the highest first."""
    passages = Passages(read)
    near = passages.near(vector, most)
    found = zip(near, passages.cosines(vector, near), strict=True)
    return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:most]


def rows_of(vectors):
    from memtui.recall.embed import row_of

    return [row_of(vector) for vector in vectors]


def random_vectors(number, seed=3):
    choose = random.Random(seed)
    return [Vector([round(choose.gauss(0, 100)) for _ in range(DIMENSIONS)]) for _ in range(number)]


def near(row, seed=5):
    """A vector that has about half in common with a row."""
    choose = random.Random(seed)
    return Vector([round(value + choose.gauss(0, 60)) for value in memoryview(row).cast("b")])


def reader(data, before=0):
    padded = b"x" * before + data
    return lambda offset, length: padded[before + offset : before + offset + length]


def best(vector, rows, most):
    found = sorted(((number, vector.cosine(row)) for number, row in enumerate(rows)), key=lambda each: -each[1])
    return found[:most]


@pytest.mark.parametrize("number", [1, 2, 7, EXACT])
def test_of_few_passages_the_nearest_are_found_exactly(number):
    rows = rows_of(random_vectors(number))
    (vector,) = random_vectors(1, seed=5)
    assert nearest(reader(pack(rows)), vector, 5) == best(vector, rows, 5)


@pytest.mark.parametrize("number", [EXACT + 1, 500, pytest.param(2500, marks=pytest.mark.large)])
def test_of_many_passages_the_one_that_stands_out_is_found_first(number):
    rows = rows_of(random_vectors(number))
    read = reader(pack(rows), before=100)
    for at in (0, 17, number // 2, number - 1):
        vector = near(rows[at])
        found = nearest(read, vector, 10)
        assert found[0] == best(vector, rows, 1)[0] == (at, vector.cosine(rows[at]))
        assert found == sorted(found, key=lambda each: -each[1])
        assert all(cosine == vector.cosine(rows[place]) for place, cosine in found)


def test_of_equal_passages_as_many_are_found_as_are_wanted():
    (vector,) = random_vectors(1)
    assert len(nearest(reader(pack(rows_of([vector] * 300))), vector, 5)) == 5
