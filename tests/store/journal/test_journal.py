"""Every change is one transaction: all of it or nothing after a crash, and taken back or made again at any later time."""

import json
import os
import posix
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memtui.base import fs_hot
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.inbox import file_hot, format_hot
from memtui.store.journal import journal as journals
from memtui.store.journal import undo
from memtui.store.journal.changes import FileChange
from memtui.store.journal.journal import Journal
from memtui.store.journal.ledger import Ledger
from memtui.store.journal.text_edit import TextEdit, text_edits
from memtui.views.changes import undone_as_one


class Killed(BaseException):
    """Stands for SIGKILL: nothing that comes after it may reach the disk."""


class Killer:
    """Lets `allowed` changing system calls pass and fails each one after that."""

    CALLS = ("write", "rename", "link", "unlink", "truncate", "ftruncate", "mkdir", "rmdir", "fchmod", "open")

    def __init__(self, monkeypatch, allowed):
        self.left, self.hit = allowed, False
        for name in self.CALLS:
            real = getattr(posix, name)
            monkeypatch.setattr(posix, name, self.wrap(name, real))
            monkeypatch.setattr(os, name, self.wrap(name, real))

    def wrap(self, name, real):
        def call(*args, **kwargs):
            if name == "open" and not args[1] & os.O_CREAT:
                return real(*args, **kwargs)
            if self.left <= 0:
                self.hit = True
                raise Killed
            self.left -= 1
            return real(*args, **kwargs)

        return call


@pytest.fixture(params=[journals.MANY, 1], ids=["each for itself", "all at once"])
def many(request, monkeypatch):
    """From how many changes on the disk gets them together."""
    monkeypatch.setattr(journals, "MANY", request.param)


@pytest.fixture
def journal(tmp_path):
    return Journal(str(tmp_path / "root"))


def make_files(place):
    directory = place / "files"
    directory.mkdir(parents=True)
    (directory / "old.md").write_bytes(b"old\n")
    (directory / "gone.md").write_bytes(b"gone\n")
    (directory / "MEMORY.md").write_bytes(b"# Index\n- [gone](gone.md) - x\n- [old](old.md) - y\n")
    return directory


@pytest.fixture
def files(tmp_path):
    return make_files(tmp_path)


def snapshot(directory):
    return {p.name: p.read_bytes() for p in directory.iterdir() if p.suffix == ".md"}


def plan(files):
    """One of each: a file made, changed, removed, and an edit in a shared one."""
    return [
        FileChange(f"{files}/new.md", None, b"new\n"),
        FileChange(f"{files}/old.md", b"old\n", b"changed\n"),
        FileChange(f"{files}/gone.md", b"gone\n", None),
        TextEdit(f"{files}/MEMORY.md", "- [gone](gone.md) - x\n", "- [new](new.md) - x\n"),
    ]


AFTER = {
    "new.md": b"new\n",
    "old.md": b"changed\n",
    "MEMORY.md": b"# Index\n- [new](new.md) - x\n- [old](old.md) - y\n",
}


def test_undo_and_redo_across_restarts_keep_what_others_wrote_since(journal, files):
    before = snapshot(files)
    journal.run("test", plan(files), "all kinds")
    assert snapshot(files) == AFTER
    for _ in range(2):
        assert undo.run(Journal(journal.root), "undo").first().summary == "all kinds"
        assert snapshot(files) == before
        assert undo.run(Journal(journal.root), "redo").first().summary == "all kinds"
        assert snapshot(files) == AFTER
    with pytest.raises(NotFoundError):
        undo.run(Journal(journal.root), "redo").first()
    index = files / "MEMORY.md"
    index.write_bytes(b"- [first](first.md)\n" + index.read_bytes() + b"- [last](last.md)\n")
    undo.run(journal, "undo").first()
    assert index.read_bytes() == (
        b"- [first](first.md)\n# Index\n- [gone](gone.md) - x\n- [old](old.md) - y\n- [last](last.md)\n"
    )
    undo.run(journal, "redo").first()
    assert b"- [new](new.md) - x\n" in index.read_bytes()
    (files / "old.md").write_bytes(b"the agent wrote this\n")
    before = snapshot(files)
    with pytest.raises(ConflictError, match=r"old\.md"):
        undo.run(journal, "undo").first()
    assert snapshot(files) == before
    (files / "old.md").write_bytes(b"changed\n")
    index = files / "MEMORY.md"
    index.write_bytes(index.read_bytes().replace(b"- x", b"- another hook"))
    with pytest.raises(ConflictError, match=r"MEMORY\.md"):
        undo.run(journal, "undo").first()
    assert (files / "new.md").exists()


def test_of_many_new_files_the_journal_stores_what_changes_later(journal, files, monkeypatch):
    monkeypatch.setattr(journals, "MANY", 1)
    new = files / "came.md"
    journal.run("sync", [FileChange(str(new), None, b"came\n")], "take in")
    assert not os.path.exists(journal.contents.directory)
    new.write_bytes(b"changed\n")
    assert [new.read_bytes() for _ in undo.run(journal, "undo").failed] == [b"changed\n"]
    new.write_bytes(b"came\n")
    undo.run(journal, "undo").first()
    assert not new.exists()
    undo.run(journal, "redo").first()
    assert new.read_bytes() == b"came\n"


def test_a_new_operation_ends_what_could_be_redone(journal, files):
    journal.run("test", plan(files), "first")
    undo.run(journal, "undo").first()
    journal.run("test", [FileChange(f"{files}/x.md", None, b"x")], "second")
    with pytest.raises(NotFoundError):
        undo.run(journal, "redo").first()
    states = [(t.summary, t.state) for t in journal.ledger().transactions.values() if t.op == "test"]
    assert states == [("first", "undone"), ("second", "done")]


def test_undo_takes_the_last_that_still_stands_or_the_one_named(journal, files):
    ids = [journal.run("test", [FileChange(f"{files}/{n}.md", None, b"x")], n) for n in "abc"]
    assert undo.run(journal, "undo").first().summary == "c"
    assert undo.run(journal, "undo", ids[0]).first().summary == "a"
    with pytest.raises(NotFoundError, match="already"):
        undo.run(journal, "undo", ids[0]).first()
    assert undo.run(journal, "undo").first().summary == "b"
    with pytest.raises(NotFoundError):
        undo.run(journal, "undo").first()
    assert [undo.run(journal, "redo").first().summary for _ in range(3)] == ["b", "a", "c"]


def test_a_file_that_is_not_as_expected_stops_everything_before_it_starts(journal, files):
    (files / "gone.md").write_bytes(b"written meanwhile\n")
    before = snapshot(files)
    with pytest.raises(ConflictError, match=r"gone\.md"):
        journal.run("test", plan(files), "s")
    assert snapshot(files) == before
    with pytest.raises(ConflictError, match="exists"):
        journal.run("test", [FileChange(f"{files}/old.md", None, b"x")], "a name that is taken")
    assert journal.ledger().transactions == {}


def test_what_memtui_makes_is_private_and_a_file_comes_back_with_its_mode(journal, files):
    os.chmod(files / "gone.md", 0o640)
    journal.run("test", [*plan(files), TextEdit(f"{files}/index.md", "", "- [a](a.md)\n")], "s")
    assert os.stat(journal.root).st_mode & 0o777 == 0o700
    for place, _, names in os.walk(journal.root):
        assert all(os.stat(f"{place}/{name}").st_mode & 0o777 == 0o600 for name in names)
    assert os.stat(files / "new.md").st_mode & 0o777 == 0o600
    undo.run(journal, "undo").first()
    assert os.stat(files / "gone.md").st_mode & 0o777 == 0o640
    assert not (files / "index.md").exists(), "what the operation made goes with it"


def test_torn_and_unknown_lines_are_passed_over_and_counted(journal, files):
    journal.run("test", plan(files), "s")
    with open(journal.path, "ab") as file:
        file.write(
            b'{"v": 7, "id": "x"}\n[]\n\0\xff\n{"v": 1, "id": "x", "state": "intent", "changes": 3}\n{"v": 1, "id": "tor'
        )
    again = Journal(journal.root)
    again.recover()
    assert undo.run(again, "undo").first().summary == "s"
    assert (again.ledger().skipped, again.ledger().next_step("redo")[0].summary) == (5, "s")


@pytest.mark.parametrize("op", ["run", "undo", "redo"])
@pytest.mark.usefixtures("many")
def test_killed_at_any_system_call_it_is_all_or_nothing(tmp_path, op):
    outcomes = set()
    for allowed in range(200):
        place = tmp_path / str(allowed)
        files = make_files(place)
        before = snapshot(files)
        journal = Journal(str(place / "root"))
        if op != "run":
            journal.run("test", plan(files), "s")
        if op == "redo":
            undo.run(journal, "undo").first()
        start = snapshot(files)
        with pytest.MonkeyPatch.context() as patch:
            killer = Killer(patch, allowed)
            try:
                journal.run("test", plan(files), "s") if op == "run" else undo.run(journal, op).first()
            except Killed:
                pass
        again = Journal(journal.root)
        again.recover()
        assert again.unfinished() is None
        found = snapshot(files)
        assert found in (before, AFTER)
        outcomes.add(found == start)
        if found == AFTER:
            undo.run(again, "undo").first()
            assert snapshot(files) == before
        elif op != "run":
            undo.run(again, "redo").first()
            assert snapshot(files) == AFTER
        if not killer.hit:
            break
    else:
        pytest.fail("the operation never came to its end")
    assert outcomes == {True, False}


@pytest.mark.usefixtures("many")
def test_a_full_disk_at_any_write_changes_nothing_and_says_where(tmp_path):
    failed = 0
    for allowed in range(200):
        place = tmp_path / str(allowed)
        files = make_files(place)
        before = snapshot(files)
        journal = Journal(str(place / "root"))
        writes = [allowed]
        real = posix.write

        def write(fd, data, writes=writes):
            if writes[0] <= 0:
                raise OSError(28, "No space left on device")
            writes[0] -= 1
            return real(fd, data)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(posix, "write", write)
            try:
                journal.run("test", plan(files), "s")
            except MemtuiError as error:
                failed += 1
                told = error
            else:
                break
        assert str(place) in told.message
        assert "space" in told.hint
        assert not any(name.endswith(".tmp") for name in os.listdir(files))
        # While the disk is full a removed file can't come back: then the next start brings it, or finishes.
        assert snapshot(files) == before or journal.unfinished() is not None
        Journal(journal.root).recover()
        assert snapshot(files) in (before, AFTER)
    assert failed >= 5


@pytest.mark.usefixtures("many")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_killed_process_leaves_no_temporary_files_for_good(tmp_path, journal, files):
    before = snapshot(files)
    pid = os.fork()
    if not pid:
        try:
            with pytest.MonkeyPatch.context() as patch:
                real = os.link
                patch.setattr(os, "link", lambda *a: os._exit(0) if "new.md" in a[0] else real(*a))
                journal.run("test", plan(files), "s")
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    assert any(name.endswith(".tmp") for name in os.listdir(files))
    Journal(journal.root).recover()
    assert snapshot(files) == before
    assert not any(name.endswith(".tmp") for name in os.listdir(files))


@pytest.mark.usefixtures("many")
def test_recovery_never_overwrites_what_somebody_wrote_meanwhile(journal, files):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TextEdit, "make", lambda edit: (_ for _ in ()).throw(Killed))
        patch.setattr(Journal, "_take_back", lambda *a: None)
        with pytest.raises(Killed):
            journal.run("test", plan(files), "s")
    (files / "gone.md").write_bytes(b"written anew\n")
    Journal(journal.root).recover()
    assert (snapshot(files)["gone.md"], snapshot(files)["old.md"]) == (b"written anew\n", b"old\n")
    assert "new.md" not in snapshot(files)


def test_what_was_made_is_taken_back_and_words_of_the_last_moment_stay(journal, files, monkeypatch):
    before = snapshot(files)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TextEdit, "make", lambda edit: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            journal.run("test", plan(files), "s")
    assert snapshot(files) == before
    assert journal.unfinished() is None
    real = fs_hot.write_atomic

    def late(path, data, durable=True):
        if data == b"changed\n" and path.endswith("old.md"):
            with open(path, "ab") as file:
                file.write(b"late\n")
        real(path, data, durable)

    monkeypatch.setattr(fs_hot, "write_atomic", late)
    with pytest.raises(ConflictError, match=r"old\.md"):
        journal.run("test", plan(files), "s")
    assert snapshot(files) == before | {"old.md": b"old\nlate\n"}


def test_damaged_content_is_noticed_and_purged_content_is_gone(journal, files):
    journal.run("test", [FileChange(f"{files}/old.md", b"old\n", b"changed\n")], "s")
    with open(journal.path) as file:
        row = json.loads(file.readline())["changes"][0]
    path = journal.contents.path(row["before"])
    with open(path, "w") as file:
        file.write("rot")
    with pytest.raises(MemtuiError, match="damaged"):
        undo.run(journal, "undo").first()
    journal.purge("purge", [row["before"]])
    assert not os.path.exists(path)
    with pytest.raises(NotFoundError, match="deleted for good"):
        undo.run(journal, "undo").first()
    assert (files / "old.md").read_bytes() == b"changed\n"


def test_inbox_entries_are_edited_under_its_lock_and_an_emptied_inbox_goes(journal, tmp_path):
    directory = str(tmp_path / "inbox")
    file_hot.add_entry(directory, "updates", {}, "Use pnpm")
    path = directory + "/pending-updates.md"
    with open(path) as file:
        raw = file.read()
    journal.run("reject", [TextEdit(path, raw, "")], "s")
    assert not os.path.exists(path)
    file_hot.add_entry(directory, "updates", {}, "Another")
    undo.run(journal, "undo").first()
    assert [entry.text for entry in format_hot.read(path)] == ["Another", "Use pnpm"]


def there_and_back(before, after):
    """The text that the line edits make, and what their inverses make of that."""
    edits = text_edits("x", before.encode(), after.encode())
    text = before
    for edit in edits:
        text = edit.apply(text)
    back = text
    for edit in reversed(edits):
        back = edit.inverse().apply(back)
    return text, back


lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "- x\r\n", "é\x0b\n", "\u2028\n"]), max_size=8)
ends = st.sampled_from(["", "a", "end"])


@given(lines, ends, lines, ends)
@example([], "", [], "a")
@example(["a\n"], "a", ["a\n", "a\n"], "")
def test_line_edits_turn_one_text_into_the_other_and_back(old, old_end, new, new_end):
    before, after = ("".join([*old, old_end]), "".join([*new, new_end]))
    assert there_and_back(before, after) == (after, before)


unique = st.lists(st.integers(0, 99).map(lambda n: f"- [{n}]({n}.md)\n"), unique=True, max_size=8)


@given(unique, unique)
def test_edits_of_distinct_lines_are_exact_both_ways(old, new):
    before, after = "".join(old), "".join(new)
    assert [sorted(text) for text in there_and_back(before, after)] == [sorted(after), sorted(before)]


SHORT = st.text(alphabet="ab\n", max_size=5)


@given(st.text(alphabet="ab\n\r", max_size=30), SHORT, SHORT)
def test_an_edit_never_loses_another_line(text, removed, added):
    edit = TextEdit("x", removed, added)
    try:
        result = edit.apply(text)
    except ConflictError:
        assert removed
        return
    count = lambda text: Counter(line for line in text.replace("\r", "").split("\n") if line)
    assert count(result) == count(text) - count(removed) + count(added)


def test_changes_made_together_are_undone_and_redone_together(tmp_path):
    journal = Journal(str(tmp_path / "root"))
    one, two = tmp_path / "one.md", tmp_path / "two.md"
    journal.run("create", [FileChange(str(one), None, b"before")], "create one")
    with journal.together():
        journal.run("edit", [FileChange(str(one), b"before", b"1")], "edit one")
        journal.run("create", [FileChange(str(two), None, b"2")], "create two")
    undo.run(journal, "undo").first()
    assert one.read_bytes() == b"before"
    assert not two.exists()
    assert undone_as_one(undo.run(journal, "redo")).summary == "edit one and 1 more"
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    undo.run(journal, "undo").first()
    undo.run(journal, "undo").first()
    assert not one.exists()


def many_made(place):
    """A journal in which three files were made together."""
    journal = Journal(str(place / "root"))
    with journal.together():
        for name in "abc":
            journal.run("create", [FileChange(str(place / f"{name}.md"), None, b"x")], f"create {name}")
    return journal


@pytest.mark.parametrize("op", ["undo", "redo"])
def test_killed_while_many_are_turned_it_goes_on_or_turns_round(tmp_path, op):
    seen = set()
    for allowed in range(200):
        place = tmp_path / str(allowed)
        place.mkdir()
        journal = many_made(place)
        if op == "redo":
            undo.run(journal, "undo").first()
        with pytest.MonkeyPatch.context() as patch:
            killer = Killer(patch, allowed)
            try:
                undo.run(journal, op).first()
            except Killed:
                pass
        again = Journal(journal.root)
        again.recover()
        left = len(list(place.glob("*.md")))
        seen.add(left)
        other = "redo" if op == "undo" else "undo"
        end, start = (0, 3) if op == "undo" else (3, 0)
        if left != end:
            undo.run(again, op).first()
            assert len(list(place.glob("*.md"))) == end
        undo.run(again, other).first()
        assert len(list(place.glob("*.md"))) == start
        if not killer.hit:
            break
    else:
        pytest.fail("it never came to its end")
    assert seen == {0, 1, 2, 3}


def test_a_stop_leaves_one_step_to_each_side(tmp_path):
    journal = many_made(tmp_path)
    undone = undo.run(journal, "undo", go_on=lambda tried, _: tried < 2)
    assert (len(undone.done), undone.total) == (2, 3)
    assert [path.name for path in tmp_path.glob("*.md")] == ["a.md"]
    assert undone_as_one(undo.run(journal, "redo")).summary == "create 2 memories"
    assert undone_as_one(undo.run(journal, "undo")).summary == "create 3 memories"
    assert list(tmp_path.glob("*.md")) == []


def test_somebody_elses_change_is_not_undone_in_place_of_what_was_named(tmp_path):
    journal = many_made(tmp_path)
    top = journal.ledger().undoable[-1]
    Journal(journal.root).run("create", [FileChange(str(tmp_path / "d.md"), None, b"x")], "create d")
    with pytest.raises(ConflictError, match="meanwhile"):
        undo.run(journal, "undo", top=top)
    assert len(list(tmp_path.glob("*.md"))) == 4


# --- the journal is read once, and from there on only what is appended; never wrongly where the file is another one


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
        assert (names(ledger.follow()), ledger.skipped) == (["a", "b"], 0)


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
