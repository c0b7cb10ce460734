"""Writing inbox files: by memtui, by people and by scripts at once, and nothing of it is lost."""

import os
import subprocess

import pytest

from memtui.base import fs
from memtui.inbox import file as inbox_file
from memtui.inbox import format as inbox_format


@pytest.fixture
def box(tmp_path):
    return str(tmp_path / "global")


def test_an_entry_is_appended_with_id_and_time(box):
    fs.append(box + "/guidance.md", b"by hand")
    name = inbox_file.add_entry(box, "guidance", {"from": "ci"}, "CI is red", now=1795219200.5)
    first, second = inbox_format.read(box + "/guidance.md")
    assert first.text == "by hand"
    assert (second.id, second.fields["time"], second.fields["from"]) == (name, "2026-11-21T00:00:00Z", "ci")
    assert inbox_file.add_entry(box, "items", {"id": "own"}, "x") == "own"
    assert os.path.exists(box + "/pending-items.md")


def test_a_held_lock_does_not_keep_words_out(box):
    with fs.Lock(box + "/.lock", 0):
        inbox_file.add_entry(box, "guidance", {}, "said", timeout=0.01)
    assert [e.text for e in inbox_format.read(box + "/guidance.md")] == ["said"]


def test_a_rewrite_says_whether_it_changed_anything_and_waits_for_no_fifo(box):
    path = box + "/guidance.md"
    fs.append(path, b"\xffone\n")
    before = os.stat(path).st_ino
    assert inbox_file.rewrite(path, lambda text: text) is False
    assert os.stat(path).st_ino == before
    assert inbox_file.rewrite(path, lambda text: text + "two\n") is True
    assert fs.read_bytes(path) == b"\xffone\ntwo\n"
    assert inbox_file.rewrite(path, lambda text: "") is True
    assert not os.path.exists(path)
    assert inbox_file.rewrite(path, lambda text: text) is False
    fs.makedirs(box)
    os.mkfifo(box + "/guidance.md")
    with pytest.raises(OSError):
        inbox_file.rewrite(box + "/guidance.md", str.upper)
    with fs.Lock(box + "/.lock", 0), pytest.raises(fs.LockTimeoutError):
        inbox_file.rewrite(box + "/pending-items.md", str.upper, timeout=0.02)


def appended_by_a_shell(path, text):
    subprocess.run(["/bin/sh", "-c", f"echo '{text}' >> '{path}'"], check=True)


def test_what_is_appended_or_made_while_a_rewrite_thinks_is_kept(box):
    path = box + "/guidance.md"
    fs.append(path, b"one\n")
    calls = []

    def change(text):
        if not calls:
            appended_by_a_shell(path, "two")
        calls.append(text)
        return text.upper()

    inbox_file.rewrite(path, change)
    assert calls == ["one\n", "one\ntwo\n"]
    assert fs.read_bytes(path) == b"ONE\nTWO\n"
    path = box + "/pending-items.md"
    fs.makedirs(box)

    def change(text):
        if not text:
            appended_by_a_shell(path, "by hand")
        return text + "- ours\n"

    inbox_file.rewrite(path, change)
    assert sorted(fs.read_bytes(path).split(b"\n")) == [b"", b"- ours", b"by hand"]


@pytest.mark.parametrize("emptied", [False, True])
def test_what_is_appended_just_before_the_replacement_is_carried_over(box, monkeypatch, emptied):
    path = box + "/guidance.md"
    fs.append(path, b"one\n")
    real_write, real_unlink = fs.write_atomic, fs.unlink
    done = []

    def slowly(write):
        def wrapped(target, *words):
            if target == path and not done:
                done.append(appended_by_a_shell(path, "late"))
            write(target, *words)

        return wrapped

    monkeypatch.setattr(fs, "write_atomic", slowly(real_write))
    monkeypatch.setattr(fs, "unlink", slowly(real_unlink))
    inbox_file.rewrite(path, lambda text: "" if emptied else text.upper())
    assert [e.text for e in inbox_format.read(path)] == ([] if emptied else ["ONE"]) + ["late"]
