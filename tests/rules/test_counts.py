"""What the worker counts is kept: how each rule of a memory was held, whatever becomes of transcripts and of the file."""

import os
import pathlib
import random
import sqlite3
import threading
import time
from contextlib import closing

import pytest
from tool_talk import Talk

from memtui.base import clock_hot, findings, fs_hot
from memtui.learn.backfill import past_sessions
from memtui.rules import counts, counts_file, counts_update
from memtui.rules.counts_update import update
from memtui.tidy.checks import doctor
from memtui.worker import main as worker

NPM = "never: {command: 'npm *'}\n    instead: {command: 'pnpm *'}"
CHANGELOG = "always: {path: CHANGELOG.md, with: {path: 'src/**'}}"


class World:
    """A home with a project, its sessions, and memories that were written an hour ago."""

    def __init__(self, home):
        self.home, self.repo, self.root = home, home / "repo", str(home / "root")
        (self.repo / ".git").mkdir(parents=True)
        self.env = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "config"), "MEMTUI_HOME": self.root}
        self.since = time.time() - 3600

    def memory(self, name, *rules, body="", place="config/memory"):
        path = self.home / place / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        entries = "".join(f"  - {rule}\n" for rule in rules)
        path.write_text(f"---\nname: {name}\n" + (f"rules:\n{entries}" if rules else "") + f"---\n{body}\n")
        os.utime(path, (self.since, self.since))
        return str(path)

    def talk(self, session="s1", ago=60.0, repo=None):
        return Talk(session, str(repo or self.repo), time.time() - ago)

    def save(self, talk, name=""):
        path = self.home / "config/projects/p" / f"{name or talk.session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(talk.data())
        return str(path)

    def count(self, *transcripts, **more):
        return update(self.env, transcripts, str(self.repo), **more)

    def held(self, path):
        """Of each rule: opportunities and kept since it was written, and before."""
        rows = counts.held(self.root, path)
        return [(row.opportunities, row.kept, row.opportunities_before, row.kept_before) for row in rows]


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_a_rule_is_counted_since_its_memory_was_written_and_before(world):
    pnpm = world.memory("pnpm", NPM)
    old, talk = world.talk("s0", ago=7200), world.talk()
    old.runs("npm ci")
    world.save(old)
    talk.runs("pnpm i")
    talk.runs("npm test")
    world.count(world.save(talk))
    (row,) = counts.held(world.root, pnpm)
    assert (row.opportunities, row.kept, row.opportunities_before, row.kept_before) == (2, 1, 1, 0)
    assert [(moment.session, moment.line) for moment in row.breaks] == [("s1", "npm test")]
    assert row.since == pytest.approx(world.since, abs=1)
    ((session,),) = counts.by_session(world.root, pnpm).values()
    assert session[2:4] == (2, 1)
    assert session.broken_at == row.breaks[0].time > session.time
    assert [(path, moment.is_kept) for path, moment in counts.moments_of(world.root, "s1")] == [
        (pnpm, True),
        (pnpm, False),
    ]
    assert counts.moments_of(world.root, "s0") == []
    assert os.stat(f"{world.root}/{counts_file.FILE}").st_mode & 0o077 == 0


def test_what_is_new_of_a_transcript_is_counted_and_a_turn_may_go_on(world):
    both = world.memory("both", NPM, CHANGELOG)
    talk = world.talk()
    talk.runs("npm ci")
    talk.writes("src/a.py")
    world.count(world.save(talk))
    assert world.held(both) == [(1, 0, 0, 0), (1, 0, 0, 0)]
    talk.writes("CHANGELOG.md")
    talk.runs("pnpm i")
    world.count(world.save(talk))
    assert world.held(both) == [(2, 1, 0, 0), (1, 1, 0, 0)]


def test_a_call_in_a_copy_of_a_session_counts_once(world):
    pnpm = world.memory("pnpm", NPM)
    talk = world.talk()
    talk.runs("npm ci")
    for record in talk.records:
        record["forkedFrom"] = {"sessionId": "s0"}
    world.count(world.save(talk, "copy"), world.save(talk, "other"))
    assert world.held(pnpm) == [(1, 0, 0, 0)]


def test_a_turn_ends_as_in_its_own_session_not_as_in_a_copy(world):
    changelog = world.memory("changelog", CHANGELOG)
    talk, copy = world.talk("s0"), world.talk("copy")
    talk.writes("src/a.py")
    copy.records = [{**record, "forkedFrom": {"sessionId": "s0"}} for record in talk.records]
    copy.says("Something else.")
    talk.writes("CHANGELOG.md")
    for first, second in ((talk, copy), (copy, talk)):
        world.count(world.save(first))
        world.count(world.save(second))
        assert world.held(changelog) == [(1, 1, 0, 0)]
        os.unlink(f"{world.root}/{counts_file.FILE}")
        os.unlink(world.save(talk))
        os.unlink(world.save(copy))


def test_a_lost_transcript_still_counts_and_a_rewritten_one_anew(world):
    pnpm = world.memory("pnpm", NPM)
    lost, other = world.talk("s1"), world.talk("s2")
    lost.runs("npm ci")
    other.runs("npm ci")
    world.count(paths := world.save(lost), world.save(other))
    os.unlink(paths)
    other.records.clear()
    other.runs("pnpm i")
    world.count(paths, world.save(other))
    assert world.held(pnpm) == [(2, 1, 0, 0)]


def test_a_new_rule_is_counted_from_transcripts_that_are_there(world):
    pnpm = world.memory("pnpm", NPM)
    talk, elsewhere, old = world.talk(), world.talk("s2", repo=world.home), world.talk("s3")
    for each in talk, elsewhere, old:
        each.runs("npm ci")
        each.runs("yarn")
    world.save(elsewhere)
    days = 86400.0 * (counts_update.DAYS + 1)
    os.utime(world.save(old), (time.time() - days,) * 2)
    world.count(world.save(talk))
    assert world.held(pnpm) == [(2, 0, 0, 0)]
    yarn = world.memory("yarn", "never: {command: yarn *}", place="repo/.claude/memory")
    world.count()
    assert world.held(yarn) == [(1, 0, 0, 0)]
    assert world.held(pnpm) == [(2, 0, 0, 0)]


def test_a_rule_that_is_gone_is_not_shown_and_forgotten_after_a_time(world):
    pnpm = world.memory("pnpm", NPM)
    talk = world.talk()
    talk.runs("npm ci")
    world.count(world.save(talk))
    os.unlink(pnpm)
    world.count()
    assert counts.held_by_path(world.root) == {}
    world.memory("pnpm", NPM)
    world.count()
    assert world.held(pnpm) == [(1, 0, 0, 0)]
    os.unlink(pnpm)
    world.count()
    counts_update.forget(world.root, time.time() + 1)
    world.memory("pnpm", NPM)
    world.count()
    assert world.held(pnpm) == [(1, 0, 0, 0)]  # counted anew


def test_counting_that_was_stopped_goes_on_and_says_how_far_it_is(world, monkeypatch):
    monkeypatch.setattr(counts_update, "PIECE", 1)
    pnpm = world.memory("pnpm", NPM)
    for number in range(3):
        talk = world.talk(f"s{number}")
        talk.runs("npm ci")
        talk.runs("pnpm i")
        world.save(talk)
    steps = []
    while world.count(go_on=lambda at: steps.append((at.files, at.all_files)) or len(steps) % 4).is_stopped:
        assert len(steps) < 40
    assert world.held(pnpm) == [(6, 3, 0, 0)]
    assert steps[-1] == (3, 3)
    assert len(steps) > 4


@pytest.mark.parametrize("seed", range(4))
def test_counting_anew_gives_the_same_as_counting_turn_by_turn(world, seed):
    chance = random.Random(seed)
    world.memory("all", NPM, CHANGELOG, "always: {command: pytest, before: {command: git commit}}")
    talks = [world.talk(f"s{number}", ago=chance.choice((60, 3601, 9999))) for number in range(3)]
    for _ in range(12):
        talk = chance.choice(talks)
        for _ in range(chance.randrange(4)):
            step = chance.choice(("npm ci", "pnpm i", "pytest", "git commit", "> src/a.py", "> CHANGELOG.md", "?"))
            if step == "?":
                talk.says("Go on.")
            elif step.startswith("> "):
                talk.writes(step[2:])
            else:
                talk.runs(step, error=chance.random() < 0.2)
        if chance.random() < 0.2:  # it is resumed as a copy, which goes on
            copy = world.talk(f"a-{talk.session}-{talk.count}")
            copy.records = [{**row, "forkedFrom": {"sessionId": talk.session}} for row in talk.records]
            copy.says("And now?")
            copy.runs("npm ci")
            world.count(world.save(copy))
        path = world.save(talk)
        if chance.random() < 0.3:  # the client still writes the last line
            data = pathlib.Path(path).read_bytes()
            pathlib.Path(path).write_bytes(data[: -chance.randrange(1, 40)])
        world.count(path)
    for path in map(world.save, talks):
        os.utime(path, (world.since, world.since))  # copies are newer, and read before these
        world.count(path)
    before = counts.held_by_path(world.root)
    os.rename(f"{world.root}/rules", f"{world.root}/old")
    world.count()
    assert sums_of(counts.held_by_path(world.root)) == sums_of(before)


def sums_of(held):
    """All numbers of each rule, and its breaks."""
    return {
        (path, row.rule.key()): (row.opportunities, row.kept, row.opportunities_before, row.kept_before, row.breaks)
        for path, rows in held.items()
        for row in rows
    }


@pytest.mark.parametrize("data", [b"", b"no database" * 500, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_damaged_file_is_moved_aside_and_counted_anew(world, data):
    pnpm = world.memory("pnpm", NPM)
    talk = world.talk()
    talk.runs("npm ci")
    path = f"{world.root}/{counts_file.FILE}"
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as out:
        out.write(data)
    assert counts.held(world.root, pnpm) == []
    world.count(world.save(talk))
    assert world.held(pnpm) == [(1, 0, 0, 0)]
    assert os.path.exists(f"{world.root}/{counts_file.DAMAGED}") == bool(data)


def test_damage_that_shows_while_counting_costs_one_count(world):
    pnpm = world.memory("pnpm", NPM)
    talk = world.talk()
    talk.runs("npm ci")
    world.count(path := world.save(talk))
    data = pathlib.Path(world.root, counts_file.FILE).read_bytes()
    pathlib.Path(world.root, counts_file.FILE).write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    with pytest.raises(sqlite3.DatabaseError):
        world.count(path)
    world.count(path)
    assert world.held(pnpm) == [(1, 0, 0, 0)]


def test_a_file_of_another_version_is_counted_anew(world):
    pnpm = world.memory("pnpm", NPM)
    world.count()
    with closing(sqlite3.connect(f"{world.root}/{counts_file.FILE}")) as database:
        database.execute("PRAGMA user_version = 99")
    assert counts.held(world.root, pnpm) == []
    world.count()
    assert world.held(pnpm) == [(0, 0, 0, 0)]


def test_one_process_counts_and_readers_do_not_wait_for_it(world):
    pnpm = world.memory("pnpm", NPM)
    world.count()
    with counts_file.written(world.root) as database:
        database.execute("BEGIN IMMEDIATE")
        assert world.held(pnpm) == [(0, 0, 0, 0)]
    with fs_hot.Lock(f"{world.root}/{counts_update.LOCK}", 0.0), pytest.raises(fs_hot.LockTimeoutError):
        world.count()


def test_a_memory_is_as_old_as_its_fields_say_or_its_file(world):
    path = world.memory("pnpm", NPM)
    text = pathlib.Path(path).read_text().replace("name: pnpm", "name: pnpm\nmetadata:\n  created: 2020-01-01")
    pathlib.Path(path).write_text(text)
    world.count()
    assert counts.held(world.root, path)[0].since == clock_hot.parse("2020-01-01")


def test_the_interval_holds_the_true_share_as_often_as_it_says():
    chance, covered, tries = random.Random(3), 0, 1500
    for _ in range(tries):
        share = chance.choice((0.05, 0.3, 0.7, 0.95))
        sessions = []
        for _ in range(chance.choice((3, 10, 40))):
            one = chance.betavariate(share * 9, (1 - share) * 9)  # a correlation of .1 within a session
            count = 1 + int(chance.expovariate(0.4))
            sessions.append((count, sum(chance.random() < one for _ in range(count))))
        low, high = counts.interval(sessions)
        covered += low <= share <= high
    assert 0.85 <= covered / tries <= 0.95


def test_the_interval_of_nothing_is_everything():
    assert counts.interval([]) == (0.0, 1.0)


def test_the_worker_counts_a_turn_and_forgets_rules_that_are_gone(world, monkeypatch):
    pnpm = world.memory("pnpm", NPM)
    talk = world.talk()
    talk.runs("npm ci")
    talk.replies("Done.")
    payload = {"session_id": "s1", "transcript_path": world.save(talk), "cwd": str(world.repo)}
    worker.run(world.env, payload, "Stop", ("rules",))
    assert world.held(pnpm) == [(1, 0, 0, 0)]
    os.unlink(pnpm)
    world.count()
    monkeypatch.setattr(clock_hot, "now", lambda: time.time() + 400 * clock_hot.DAY)
    assert worker.tidy(world.root) >= 0
    with closing(sqlite3.connect(f"{world.root}/{counts_file.FILE}")) as database:
        assert database.execute("SELECT (SELECT count(*) FROM moments) + (SELECT count(*) FROM rules)").fetchone() == (
            0,
        )


def test_a_turn_that_ends_while_another_is_counted_is_counted_too(world):
    pnpm = world.memory("pnpm", NPM)
    talk = world.talk()
    talk.runs("npm ci")
    talk.replies("Done.")
    payload = {"session_id": "s1", "transcript_path": world.save(talk), "cwd": str(world.repo)}
    os.makedirs(f"{world.root}/run")
    with fs_hot.Lock(f"{world.root}/{counts_update.LOCK}", 0.0) as lock:
        threading.Timer(0.1, lock.__exit__).start()
        worker.run(world.env, payload, "Stop", ("rules",))
    assert world.held(pnpm) == [(1, 0, 0, 0)]


def test_a_stored_rule_that_is_none_any_more_harms_no_other(world):
    both = world.memory("both", NPM, CHANGELOG)
    talk = world.talk()
    talk.runs("npm ci")
    world.count(path := world.save(talk))
    with closing(sqlite3.connect(f"{world.root}/{counts_file.FILE}", isolation_level=None)) as database:
        database.execute("UPDATE statements SET entry = '{}' WHERE entry LIKE '%npm%'")
    talk.writes("src/a.py")
    world.save(talk)
    world.count(path)
    assert world.held(both) == [(1, 0, 0, 0)]


def test_where_rules_are_off_nothing_is_counted(world):
    pnpm = world.memory("pnpm", NPM)
    os.makedirs(world.root)
    (world.home / "root/config.toml").write_text(f'[projects."{world.repo}"]\nrules = "off"\n')
    talk = world.talk()
    talk.runs("npm ci")
    world.count(world.save(talk))
    assert world.held(pnpm) == [(0, 0, 0, 0)]


def test_a_look_at_past_sessions_counts_rules_and_says_how_far_it_is(world):
    pnpm = world.memory("pnpm", NPM)
    yarn = world.memory("yarn", "never: {command: yarn *}", place="repo/.claude/memory")
    talk = world.talk()
    talk.runs("npm ci")
    talk.runs("yarn")
    world.save(talk)
    world.count()  # of a worker, elsewhere: it does not know the project's rules yet
    steps = []
    reading = past_sessions.read(world.env, go_on=lambda at: steps.append((at.bytes, at.all_bytes)) or len(steps) < 2)
    assert reading.stopped
    assert not past_sessions.read(world.env).stopped
    assert world.held(pnpm) == world.held(yarn) == [(1, 0, 0, 0)]
    assert steps[-1][0] == steps[-1][1] > 0


def test_doctor_says_that_damaged_counts_were_moved(world):
    os.makedirs(f"{world.root}/rules")
    (world.home / "root" / counts_file.DAMAGED).write_bytes(b"x")
    codes = {finding.code: finding for finding in doctor.check(world.env, str(world.repo), time.time())}
    assert "60 days" in findings.message(codes["kept.counts"])
