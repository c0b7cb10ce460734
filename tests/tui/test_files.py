"""The reading of the files in workers: no change is lost, and nothing older replaces what is newer."""

import threading
import time
from collections import Counter
from types import SimpleNamespace

import pytest

from memtui.tui import files
from memtui.tui.files import FileReader, FilesChanged

WAIT = 20


class Clock:
    """The time, which stands still until it is moved."""

    at = 1_000_000.0

    def __call__(self, *_):
        return self.at


@pytest.fixture
def reader(tmp_path):
    """A reader that has read once, of data that a test completes; its workers run where `look` and `read` are called."""
    posted = []
    app = SimpleNamespace(run_worker=lambda work, **_: work(), post_message=posted.append, is_running=True)
    data = SimpleNamespace(
        now=Clock(),
        root=str(tmp_path),
        versions=SimpleNamespace(unsettled=False),
        facts=(False, False, False),
        take_in=lambda: None,
        refresh=lambda *_: None,
        count_findings=lambda: None,
        undecided=lambda _: None,
        is_vast=False,
        count_decisions=lambda _: Counter(),
        note_decisions=lambda _: None,
        count_live=lambda: False,
    )
    data.hooked = lambda: data.facts
    found = FileReader(app, data, writes=True)
    found.posted, found.has_read = posted, True
    found.watch = SimpleNamespace(changed=frozenset)
    return found


def in_thread(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


class Slow:
    """Something that takes until it is let go; each call gives the next of `results` as it was when it began."""

    def __init__(self, results, put):
        self.results, self.put = iter(results), put
        self.began, self.go_on = threading.Event(), threading.Event()

    def __call__(self, *_):
        result, first = next(self.results), not self.began.is_set()
        self.began.set()
        if first:
            assert self.go_on.wait(WAIT)
        self.put(result)


@pytest.mark.slow
def test_files_are_looked_at_once_keys_rest(reader, monkeypatch):
    monkeypatch.setattr(files, "KEY_REST_SECONDS", 0.5)
    reader.watch.changed = lambda: frozenset({"inbox"})
    reader.key_pressed()
    reader.look()
    assert reader.posted == []
    time.sleep(0.6)
    reader.look()
    assert reader.posted[:1] == [FilesChanged(frozenset({"inbox"}))]


def test_a_change_is_told_though_its_versions_can_not_be_taken_in(reader):
    def take_in():
        raise OSError("no space")

    reader.data.take_in = take_in
    reader.watch.changed = lambda: frozenset({"settings"})
    with pytest.raises(OSError, match="no space"):
        reader.look()
    assert reader.posted == [FilesChanged(frozenset({"settings"}))]
    assert not reader.looking


def test_a_reading_that_began_earlier_does_not_replace_a_newer_one(reader):
    def put(hooks):
        reader.data.facts = (hooks, False, False)

    reader.data.refresh = slow = Slow([False, True], put)
    older = in_thread(reader.read)
    assert slow.began.wait(WAIT)
    newer = in_thread(reader.read)
    newer.join(0.2)  # is done by then if it waits for nobody
    slow.go_on.set()
    older.join(WAIT)
    newer.join(WAIT)
    assert reader.data.facts == (True, False, False)


def test_a_count_that_began_earlier_does_not_replace_a_newer_one(reader):
    badge = []
    reader.data.count_findings = slow = Slow([1, 0], badge.append)
    reader.data.now.at += 60
    older = in_thread(reader.look)
    assert slow.began.wait(WAIT)
    reader.data.refresh = lambda *_: setattr(reader.data, "facts", (True, False, False))
    reader.read()  # the hooks are installed
    reader.look()
    slow.go_on.set()
    older.join(WAIT)
    reader.look()
    assert badge == [1, 0]
