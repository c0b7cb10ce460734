"""The journal is read once, and from there on only what is appended; never wrongly where the file is another one."""

import os

import pytest

from memtui.store.journal import undo
from memtui.store.journal.changes import FileChange
from memtui.store.journal.journal import Journal
from memtui.store.journal.ledger import Ledger


@pytest.fixture
def journal(tmp_path):
    return Journal(str(tmp_path / "root"))


def make(journal, name):
    return journal.run("test", [FileChange(f"{journal.root}/{name}.md", None, b"x")], name)


def names(ledger):
    return [each.summary for each in ledger.transactions.values()]


def test_what_is_appended_is_read_and_nothing_else(journal, monkeypatch):
    ledger = Ledger(journal.path)
    assert names(ledger.follow()) == []
    for number in range(50):
        make(journal, str(number))
    assert names(ledger.follow()) == [str(number) for number in range(50)]
    read = []
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: read.append(len(data := real(fd, size, at))) or data)
    make(journal, "new")
    undo.run(journal, "undo").first()
    read.clear()
    assert names(ledger.follow())[-2:] == ["new", "new"]
    assert ledger.redoable == [list(ledger.transactions)[-2]]
    assert sum(read) < os.stat(journal.path).st_size / 4


def test_a_line_that_is_not_finished_yet_is_read_once_it_is(journal):
    make(journal, "a")
    ledger = Ledger(journal.path).follow()
    make(journal, "b")
    with open(journal.path, "rb") as file:
        content = file.read()
    for cut in range(content.index(b"\n", 0) + 1, len(content)):
        with open(journal.path, "r+b") as file:
            file.truncate(cut)
        ledger.follow()
        with open(journal.path, "wb") as file:
            file.write(content)
        assert names(ledger.follow()) == ["a", "b"]
        assert ledger.skipped == 0


def test_a_journal_that_was_cut_or_replaced_is_read_anew(journal, tmp_path):
    make(journal, "a")
    with open(journal.path, "rb") as file:
        short = file.read()
    make(journal, "b")
    ledger = Ledger(journal.path).follow()
    with open(journal.path, "r+b") as file:
        file.truncate(len(short))
    assert names(ledger.follow()) == ["a"]
    other = Journal(str(tmp_path / "other"))
    for name in "xyz":
        make(other, name)
    with open(other.path, "rb") as file:
        content = file.read()
    with open(journal.path, "r+b") as file:  # the same file, grown beyond what was read of it
        file.truncate(0)
        file.write(content)
    assert names(ledger.follow()) == ["x", "y", "z"]
    make(other, "w")
    os.replace(other.path, journal.path)
    assert names(ledger.follow()) == ["x", "y", "z", "w"]
    os.unlink(journal.path)
    assert names(ledger.follow()) == []
