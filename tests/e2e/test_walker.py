"""A part of the random walk (walker.py): a known one, and one that nobody has walked before."""

import os

import pytest

from . import walker

pytestmark = pytest.mark.terminal

EVENTS = 700


def test_a_random_walk_ends_well():
    assert walker.run(8, EVENTS).count >= EVENTS


def test_a_new_random_walk_ends_well():
    """Its seed is in the header of the tests, and in what it fails with."""
    assert walker.run(int(os.environ["MEMTUI_WALK_SEED"]), EVENTS).count >= EVENTS
