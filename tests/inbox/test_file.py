"""Writing inbox files: by memtui, by people and by scripts at once, and nothing of it is lost."""

import os
import subprocess

import pytest

from memtui.base import fs_hot
from memtui.inbox import file_hot, format_hot


@pytest.fixture
def box(tmp_path):
    return str(tmp_path / "global")


def test_an_entry_is_appended_with_id_and_time(box):
    fs_hot.append(box + "/guidance.md", b"by hand")
    name = file_hot.add_entry(box, "guidance", {"from": "ci"}, "CI is red", now=1795219200.5)
    first, second = format_hot.read(box + "/guidance.md")
    assert first.text == "by hand"
    assert (second.id, second.fields["time"], second.fields["from"]) == (name, "2026-11-21T00:00:00Z", "ci")
    assert file_hot.add_entry(box, "items", {"id": "own"}, "x") == "own"
    assert os.path.exists(box + "/pending-items.md")


def test_a_held_lock_does_not_keep_words_out(box):
    with fs_hot.Lock(box + "/.lock", 0):
        file_hot.add_entry(box, "guidance", {}, "said", timeout=0.01)
    assert [e.text for e in format_hot.read(box + "/guidance.md")] == ["said"]


def test_a_rewrite_says_whether_it_changed_anything_and_waits_for_no_fifo(box):
    path = box + "/guidance.md"
    fs_hot.append(path, b"\xffone\n")
    before = os.stat(path).st_ino
    assert file_hot.rewrite(path, lambda text: text) is False
    assert os.stat(path).st_ino == before
    assert file_hot.rewrite(path, lambda text: text + "two\n") is True
    assert fs_hot.read_bytes(path) == b"\xffone\ntwo\n"
    assert file_hot.rewrite(path, lambda text: "") is True
    assert not os.path.exists(path)
    assert file_hot.rewrite(path, lambda text: text) is False
    fs_hot.makedirs(box)
    os.mkfifo(box + "/guidance.md")
    with pytest.raises(OSError):
        file_hot.rewrite(box + "/guidance.md", str.upper)
    with fs_hot.Lock(box + "/.lock", 0), pytest.raises(fs_hot.LockTimeoutError):
        file_hot.rewrite(box + "/pending-items.md", str.upper, timeout=0.02)


def appended_by_a_shell(path, text):
    subprocess.run(["/bin/sh", "-c", f"echo '{text}' >> '{path}'"], check=True)


def test_what_is_appended_or_made_while_a_rewrite_thinks_is_kept(box):
    path = box + "/guidance.md"
    fs_hot.append(path, b"one\n")
    calls = []

    def change(text):
        if not calls:
            appended_by_a_shell(path, "two")
        calls.append(text)
        return text.upper()

    file_hot.rewrite(path, change)
    assert (calls, fs_hot.read_bytes(path)) == (["one\n", "one\ntwo\n"], b"ONE\nTWO\n")
    path = box + "/pending-items.md"
    fs_hot.makedirs(box)

    def change(text):
        if not text:
            appended_by_a_shell(path, "by hand")
        return text + "- ours\n"

    file_hot.rewrite(path, change)
    assert sorted(fs_hot.read_bytes(path).split(b"\n")) == [b"", b"- ours", b"by hand"]


@pytest.mark.parametrize("emptied", [False, True])
def test_what_is_appended_just_before_the_replacement_is_carried_over(box, monkeypatch, emptied):
    path = box + "/guidance.md"
    fs_hot.append(path, b"one\n")
    real_write, real_unlink = fs_hot.write_atomic, fs_hot.unlink
    done = []

    def slowly(write):
        def wrapped(target, *words):
            if target == path and not done:
                done.append(appended_by_a_shell(path, "late"))
            write(target, *words)

        return wrapped

    monkeypatch.setattr(fs_hot, "write_atomic", slowly(real_write))
    monkeypatch.setattr(fs_hot, "unlink", slowly(real_unlink))
    file_hot.rewrite(path, lambda text: "" if emptied else text.upper())
    assert [e.text for e in format_hot.read(path)] == ([] if emptied else ["ONE"]) + ["late"]


def test_only_text_by_hand_is_parted_where_a_delivered_beginning_ends():
    is_wanted = lambda head: head.text == "Wait."
    (by_hand,) = format_hot.parse("Wait.\nNow go.\n")
    head, rest = file_hot.parted(by_hand, is_wanted)
    assert (head.text, [entry.text for entry in rest]) == ("Wait.", ["Now go."])
    (whole,) = format_hot.parse('<!-- memtui id="a" -->\nWait.\nNow go.\n<!-- /memtui -->\n')
    assert file_hot.parted(whole, lambda _: True) is None
