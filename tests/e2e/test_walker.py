"""A part of the random walk: known walks, of which each run takes one in turn, and one that nobody has walked before (see
walker.py)."""

import os

import pytest

import turns

from . import walker

pytestmark = pytest.mark.terminal

EVENTS = 700


@pytest.mark.parametrize(("world", "seed"), turns.share([("demo", 1), ("demo", 8), ("large", 21)], 3))
def test_a_random_walk_ends_well(world, seed):
    assert walker.run(world, seed, EVENTS).count >= EVENTS


def test_a_new_random_walk_ends_well():
    """Its seed is in the header of the tests, and in what it fails with."""
    assert walker.run("demo", int(os.environ["MEMTUI_WALK_SEED"]), EVENTS).count >= EVENTS
