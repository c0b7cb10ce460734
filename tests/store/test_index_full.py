"""A new line in a MEMORY.md of which Claude Code does not load everything."""

import pytest

from memtui.store.index.index import budget, loaded, parse_index
from memtui.store.index.index_lines import place_line


def index(count, hook="M"):
    return "".join(f"- [m{n}](m{n}.md) — {hook}\n" for n in range(count)).encode()


def where(data, file):
    """The line of a file, and the first one that is not loaded."""
    (entry,) = [each for each in parse_index(data).entries if each.is_for(file)]
    return entry.line, budget(data).cut_line


@pytest.mark.parametrize("count", [200, 201, 232])
def test_in_a_full_index_the_line_of_a_memory_that_was_just_made_is_loaded(count):
    placed = place_line(index(count), "new.md", "new", "New", first=True)
    line, cut = where(placed, "new.md")
    assert (line, cut) == (200, 201)
    assert b"m198" in placed.split(b"\n")[198]
    assert loaded(index(count)) - loaded(placed) == {"- [m199](m199.md) — M"}


def test_a_repair_keeps_nothing_else_from_being_loaded():
    placed = place_line(index(200), "new.md", "new", "New")
    assert where(placed, "new.md") == (201, 201)
    assert loaded(index(200)) <= loaded(placed)
