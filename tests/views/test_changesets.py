"""The words for proposals."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from memtui.tidy.changeset import Savings
from memtui.views.changesets import about, saved
from memtui.views.decisions import FIX, MERGE, RULE, ProposedRow


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Savings(1, 173, 1, 37), "Saves 1 memory, 1 line of MEMORY.md (about 9 tokens of each session), 210 B."),
        (Savings(0, 0, 1, -3), "Saves 1 line of MEMORY.md. The files are 3 B longer."),
        (Savings(-1, -1200, -1, -40), "Adds 1 memory, 1 line of MEMORY.md (about 10 tokens of each session), 1.2 kB."),
        (Savings(0, 0, 0, 0), ""),
    ],
)
def test_what_becomes_more_is_never_told_as_saved(found, words):
    assert saved(found) == words


def test_a_merge_is_called_by_what_stays_first():
    goes, stays = "/x/pnpm-only.md", SimpleNamespace(path="/x/prefer-pnpm.md")
    merge = SimpleNamespace(kind="merge", gone=[goes], written=[stays], files=[SimpleNamespace(path=goes), stays])
    assert about(merge) == "prefer-pnpm + pnpm-only"


@pytest.mark.parametrize(
    ("kind", "weighed", "lost", "is_marked"),
    [
        (FIX, True, False, True),
        (FIX, False, False, False),
        (RULE, False, False, True),
        (RULE, False, True, False),
        (MERGE, False, False, False),
    ],
)
def test_only_what_needs_no_look_is_marked_with_all_of_its_kind(kind, weighed, lost, is_marked):
    weight = SimpleNamespace(safe=weighed, coverage=SimpleNamespace(lost=lost), refused=None)
    row = ProposedRow(key="1", kind=kind, proposal=SimpleNamespace(kind="lint"), weighed=weight)
    assert row.needs_look == ("" if is_marked else "it is no safe fix")
    assert replace(row, weighed=None).needs_look, "nobody knows yet what it drops"
