"""What is old goes, and nothing else: changes, contents, deliveries, trust."""

import json
import os
import shutil
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

import turns
from hooks.killing import arm, die
from memtui.base import clock_hot, fs_hot, ids_hot
from memtui.base.errors import NotFoundError
from memtui.deliver import log_hot
from memtui.inbox import drafts as inbox_drafts
from memtui.store import trust_grants, trust_hot
from memtui.store.history import Intake
from memtui.store.journal import undo
from memtui.store.journal.journal import Journal
from memtui.store.journal.ledger import Ledger
from memtui.store.store import Store
from memtui.store.versions.versions import Versions, Writer
from memtui.tidy.checks import retention
from recalls import deliver

DAY = 86_400.0
NOW = clock_hot.parse("2026-11-21T09:00:00Z")


class World:
    """A store with a clock that is set by hand."""

    def __init__(self, top):
        self.env = {"HOME": str(top)}
        self.root = f"{top}/.claude/memtui"
        self.repo = top / "repo"
        (self.repo / ".git").mkdir(parents=True)
        self.time = NOW

    @property
    def store(self):
        return Store(self.env, str(self.repo), now=lambda: self.time)

    def undo(self, key=None):
        return undo.run(self.store.journal, "undo", key).first()

    def redo(self):
        return undo.run(self.store.journal, "redo").first()

    def days_ago(self, days):
        self.time = NOW - days * DAY
        return self.store

    def memories(self):
        directory = self.repo / ".claude" / "memory"
        directory.mkdir(parents=True)
        return directory

    def create(self, name, days=0.0):
        store = self.days_ago(days)
        return store.create(store.scope("global"), name, f"about {name}", "user", f"The text of {name}.")

    def set(self, **settings):
        os.makedirs(self.root, exist_ok=True)
        with open(f"{self.root}/config.toml", "w") as file:
            file.writelines(f"{key} = {value}\n" for key, value in settings.items())

    def collect(self, **more):
        self.time = NOW
        return retention.collect(self.root, NOW, **more)

    def history(self):
        self.time = NOW
        return [each.summary for each in reversed(self.store.journal.ledger().all())]

    def images(self):
        return set(os.listdir(self.root + "/trash"))


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def taken_in(world, days, texts):
    directory = world.repo / "memory"
    directory.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        versions = Versions(world.root, lambda: NOW - days * DAY + number)
        (directory / "a.md").write_text(text)
        os.utime(directory / "a.md", (NOW, NOW + number))
        Intake(versions, lambda version: Writer("person")).take_in(str(directory))
    return versions.of(str(directory), "a.md")


def test_old_versions_go_and_the_newest_stays(world):
    taken_in(world, 200, ["one", "two", "three"])
    removed = world.collect()
    assert (removed.versions, removed.images, removed.busy) == (2, 2, [])
    assert world.collect().versions == 0


def test_no_more_megabytes_of_versions_are_kept_than_wanted(world):
    taken_in(world, 1, [str(number) * 500_000 for number in range(5)])
    assert world.collect().versions == 0
    world.set(keep_mb=1, keep_days=0)
    assert world.collect().versions == 3
    world.set(keep_mb=0, keep_days=0)
    assert world.collect().versions == 0


def test_a_text_that_a_version_and_a_change_name_goes_with_the_last(world):
    directory = os.path.dirname(world.create("one", days=200).path)
    versions = Versions(world.root, lambda: NOW - DAY)
    Intake(versions, lambda version: Writer("person")).take_in(directory)
    assert world.collect().changes == 1
    (version,) = versions.of(directory, "one.md")
    assert version.digest in world.images()
    os.unlink(f"{world.root}/versions.jsonl")
    world.create("two")
    assert world.collect().images == 1
    assert version.digest not in world.images()


def test_old_changes_go_with_their_contents_and_younger_ones_can_be_undone(world):
    world.create("old", days=200)
    world.create("young", days=10)
    (old,) = [each.id for each in world.store.journal.ledger().all() if each.summary == "create global:old"]
    before = world.images()
    found = world.collect()
    assert (found.changes, found.images, found.busy) == (1, 1, [])
    assert (world.history(), len(before) - len(world.images())) == (["create global:young"], 1)
    with pytest.raises(NotFoundError):
        world.undo(old)
    world.undo()
    assert {each.stem for each in map(world.store.find, ["old"])} == {"old"}


def test_what_was_made_as_one_step_stays_or_goes_together(world, monkeypatch):
    monkeypatch.setattr(retention, "MOST_CHANGES", 3)
    store = world.days_ago(5)
    with store.journal.together():
        for number in range(5):
            store.create(store.scope("global"), f"m{number}", "about", "user", "text")
    world.create("last", days=1)
    assert world.collect().changes == 0, "else an undo would take back a part of it"
    for number in range(3):
        world.create(f"later{number}")
    assert (world.collect().changes, len(world.history())) == (5 + 1, 3)


def test_memories_deleted_long_ago_can_not_be_restored(world):
    world.days_ago(250)
    world.create("one", days=250)
    store = world.days_ago(200)
    store.delete(store.find("one"))
    store = world.days_ago(3)
    world.create("two", days=3)
    store.delete(store.find("two"))
    world.collect()
    assert [each.memory.stem for each in world.store.trash()] == ["two"]
    world.store.restore(world.store.trash()[0].id)


def test_a_clock_put_back_or_a_journal_gone_removes_nothing(world):
    world.create("first", days=10)
    world.create("wrong", days=900)
    world.create("last", days=1)
    assert (world.collect().changes, len(world.history())) == (0, 3)
    world.create("one", days=1)
    os.remove(f"{world.root}/journal.jsonl")
    assert world.collect().images == 0
    assert world.images()


def test_contents_that_only_trust_names_stay(world):
    memory = world.memories()
    (memory / "a.md").write_text("one\n")
    trust_grants.grant(world.root, str(memory), now=lambda: NOW - 300 * DAY)
    assert world.collect().changes == 1
    (memory / "a.md").write_text("two\n")
    assert trust_grants.earlier(world.root, trust_hot.load(world.root, str(memory)), "a.md") == b"one\n"


def test_a_tui_that_has_read_the_journal_goes_on_after_it(world):
    world.create("old", days=200)
    world.create("young", days=10)
    journal = Journal(world.root, by="tui")
    assert len(journal.ledger().transactions) == 2
    world.collect()
    assert [each.summary for each in journal.ledger().all()] == ["create global:young"]
    undo.run(journal, "undo").first()
    assert Ledger(journal.path).follow().redoable == journal.ledger().redoable


def test_changes_made_meanwhile_are_not_lost(world, monkeypatch):
    monkeypatch.setattr(retention, "MOST_CHANGES", 5)
    for number in range(10):
        world.create(f"m{number}", days=1)
    made = []

    def busy():
        store = Store(world.env, str(world.repo))
        for number in range(20):
            store.create(store.scope("global"), f"n{number}", "about", "user", "text")
            made.append(number)

    thread = threading.Thread(target=busy)
    thread.start()
    while thread.is_alive():
        retention.collect(world.root, NOW)
    thread.join()
    ledger = Ledger(f"{world.root}/journal.jsonl").follow()
    assert ledger.skipped == 0
    assert [each.summary for each in ledger.all()][-1] == "create global:n19"
    assert len(made) == 20
    for _ in range(5):
        world.undo()
    for digest in world.images():
        assert ids_hot.digest(fs_hot.read_bytes(f"{world.root}/trash/{digest}")) == digest


@given(st.lists(st.sampled_from(["new", "new", "undo", "redo", "group"]), max_size=25), st.integers(1, 8))
def test_what_stays_can_be_undone_as_it_could_before(tmp_path_factory, steps, most):
    root = str(tmp_path_factory.mktemp("root"))
    path = root + "/journal.jsonl"
    done: list[str] = []
    undone: list[str] = []
    rows = []

    def note(op, **more):
        key = ids_hot.new_id(NOW + len(rows))
        head = {"v": 1, "id": key, "time": clock_hot.iso(NOW + len(rows))}
        rows.append({**head, "state": "intent", "by": "cli", "op": op, "summary": op, "changes": [], **more})
        rows.append({**head, "state": "done"})
        return key

    for number, step in enumerate(steps):
        if step == "undo" and done:
            undone.append(done.pop())
            note("undo", of=undone[-1])
        elif step == "redo" and undone:
            done.append(undone.pop())
            note("redo", of=done[-1])
        elif step in {"new", "group"}:
            more = {"group": f"g{number // 4}"} if step == "group" else {}
            done.append(note("edit", **more))
            undone.clear()
    fs_hot.append(path, b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    before = Ledger(path).follow()
    assert (before.undoable, before.redoable) == (done, undone)
    gone = {each.id for each in retention.compact(Journal(root), NOW, 0, most)}
    after = Ledger(path).follow()
    assert after.undoable == [key for key in done if key not in gone]
    assert after.redoable == [key for key in undone if key not in gone]
    assert after.skipped == 0
    kept, made = (sum(each.is_change for each in ledger.all()) for ledger in (after, before))
    assert kept >= min(most, made)


# --- the log of deliveries


def log(root, when, count=3):
    seconds = clock_hot.parse(when)
    made = []
    for number in range(count):
        text = f"<memtui-guidance>Text {number} of {when}: ünï</memtui-guidance>"
        more = {"event": "UserPromptSubmit", "session_id": "s", "text": text, "chars": 50, "extra": [1]}
        made.append(deliver(root, seconds + number, {"kind": "guidance", "id": f"N{number}"}, **more))
    return made


def test_answers_of_checks_that_were_not_written_for_long_go(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    for name in ("git-shop.history", "git-shop.lost", "lint-0a", "lint-new", "tui.json"):
        (run / name).write_bytes(b"{}")
        os.utime(run / name, (0, 0) if name != "lint-new" else None)
    retention.collect(str(tmp_path), (run / "lint-new").stat().st_mtime)
    assert {"lint-new", "tui.json"} == {each.name for each in run.iterdir()} - {"gc.lock"}


def test_months_of_deliveries_that_ended_long_ago_go(tmp_path):
    root = str(tmp_path)
    _, partly, new = log(root, "2026-04-30"), log(root, "2026-05-02"), log(root, "2026-11-02")
    path = log_hot.log_path(root, clock_hot.parse("2026-04-30"))
    fs_hot.append(path, b'torn "text"\n')
    assert retention.collect(root, NOW).months == [path]
    assert list(log_hot.newest_first(root)) == [*new[::-1], *partly[::-1]]
    assert not os.path.exists(path)
    assert not retention.collect(root, NOW).months


def names(world, memory):
    return sorted(trust_hot.load(world.root, str(memory)).hashes.values())


def test_of_each_memory_the_newest_trusted_texts_stay(world):
    trusted = world.memories()
    for number in range(25):
        (trusted / "a.md").write_text(f"a {number}\n")
        (trusted / "b.md").write_text("b\n")
        trust_grants.grant(world.root, str(trusted))
    world.set(keep_days=0)
    assert not world.collect().trusted
    world.set(keep_days=180)
    assert (len(names(world, trusted)), retention.collect(world.root, NOW).trusted) == (26, 5)
    known = trust_hot.load(world.root, str(trusted))
    assert [known.allows(f"a {number}\n".encode()) for number in (4, 5, 24)] == [False, True, True]
    assert known.allows(b"b\n")
    shutil.rmtree(trusted)
    assert len(names(world, trusted)) == 21, "trust in a repository that is gone stays"


@pytest.mark.kill
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_killed_before_any_change_it_loses_nothing_that_is_not_due(world, tmp_path):
    """Before each fourth change, in turn."""
    for days in (300, 250, 200, 20, 10):
        world.create(f"m{days}", days=days)
    store = world.days_ago(5)
    store.delete(store.find("m20"))
    made = [each["id"] for month in ("2026-02-10", "2026-03-10", "2026-11-02") for each in log(world.root, month, 5)]
    memory = world.memories()
    (memory / "a.md").write_text("a\n")
    trust_grants.grant(world.root, str(memory), now=lambda: NOW)
    stale = f"{world.root}/trash/x.1-abcdef01.tmp"
    fs_hot.append(stale, b"x")
    os.utime(stale, (1, 1))
    world.time = NOW
    kept = ["trust a", "remove global:m20", "create global:m10", "create global:m20"]
    top, copy = f"{tmp_path}/.claude", f"{tmp_path}/copy"
    shutil.copytree(top, copy, symlinks=True)
    for point in turns.share(range(1, 200)):
        shutil.rmtree(top)
        shutil.copytree(copy, top, symlinks=True)
        pid = os.fork()
        if not pid:
            arm(point, die)
            retention.collect(world.root, NOW)
            os._exit(0)
        done = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        summaries = world.history()
        assert summaries[:4] == kept, point
        assert len(summaries) in {4, 7}, point
        logged = {each["id"] for each in log_hot.newest_first(world.root)}
        assert set(made[-5:]) <= logged <= set(made), point  # a month that is due goes as a whole
        assert names(world, memory) == ["a.md"], point
        # Life goes on: what is left of it is done by the next one, and all that is kept can be taken back.
        assert world.collect().busy == [], point
        assert world.history() == kept, point
        assert os.listdir(world.root + "/log") == ["deliveries-2026-11.jsonl"]
        world.undo()
        world.undo()
        assert world.store.find("m20").body.strip() == "The text of m20."
        assert sorted(each["id"] for each in log_hot.newest_first(world.root)) == sorted(made[-5:]), point
        if done:
            break
    assert done
    assert point > 10


def test_two_at_once_do_it_once_and_lines_of_another_version_stay(world):
    world.create("old", days=200)
    with fs_hot.Lock(f"{world.root}/run/gc.lock", 0):
        assert world.collect().busy == ["another one is at work"]
    assert world.history() == ["create global:old"]
    fs_hot.append(f"{world.root}/journal.jsonl", b'{"v": 1, "id": "torn"')
    fs_hot.append(f"{world.root}/journal.jsonl", b'{"v": 2, "id": "of tomorrow"}\n')
    world.create("young")
    world.collect()
    lines = fs_hot.read_bytes(f"{world.root}/journal.jsonl").splitlines()
    assert (lines[0], len(lines)) == (b'{"v": 2, "id": "of tomorrow"}', 3)
    assert world.history() == ["create global:young"]


def test_one_step_that_fails_keeps_no_other_from_its_work(world):
    world.create("old", days=200)
    fs_hot.append(f"{world.root}/trust.json", b"no trust file")
    log(world.root, "2026-03-10")
    found = world.collect()
    assert found.changes == 1
    assert found.months
    assert len(found.busy) == 1
    assert found.busy[0].startswith("trust: ")


def test_drafts_rejected_long_ago_go_and_what_must_never_come_back_stays(tmp_path):
    world = World(tmp_path)
    rejected = f"{world.root}/global/rejected.jsonl"
    rows = [
        inbox_drafts.rejected_line("a", "Use npm", NOW - 200 * DAY, never=False),
        inbox_drafts.rejected_line("b", "Use yarn", NOW - 200 * DAY, never=True),
        inbox_drafts.rejected_line("c", "Use bun", NOW - 100 * DAY, never=False),
    ]
    fs_hot.append(rejected, "".join(rows).encode())
    found = world.collect()
    assert (found.rejected, found.busy) == (1, [])
    assert inbox_drafts.rejected(f"{world.root}/global") == ["Use yarn", "Use bun"]
