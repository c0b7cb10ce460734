"""What a model read stands in Activity below the session that it read, with what it changed, said and cost; nothing of it
is shown until a model is set."""

import json
import subprocess
from types import SimpleNamespace

import pytest
from rich.text import Text

from memtui.base import fs_hot, ids_hot, paths_hot
from memtui.client import process_hot
from memtui.models import choice
from memtui.models.subconscious import block_files_hot, blocks, control, runs
from memtui.models.subconscious.trace import Step, Trace
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.activity import sessions
from memtui.tui.screens.activity.rows import BreakRow, NoteRow
from memtui.tui.screens.activity.sessions import DeliveryEntry, RunRow, SessionGroup, SwitchRow
from models.subconscious.test_steps import asks, ends, hook
from tui.conftest import NOW, press, running, settle
from tui.hands import lines, to_row

WIDE = (120, 40)
pytestmark = pytest.mark.every(step=1)


def test_a_step_is_one_line_with_its_exit_code():
    text, step = Text(), Step("s1", NOW, "Bash", "x" * 700, ended=NOW, code=1)
    sessions._add_steps(text, SimpleNamespace(step_count=1), [step])
    line = text.plain.splitlines()[2]
    assert (len(line), line[-8:]) == (600 + len("  exit 1"), "  exit 1")
    assert text.spans[-1].style == "yellow"


@pytest.fixture
def app(world):
    fs_hot.append(world.root + "/config.toml", b'llm_backend = "api"\nsubconscious = "full"\n')
    app = MemtuiApp(dict(world.env), world.shop, screen="activity", now=NOW)
    app.all_projects = True
    return app


def known(world, slug=None):
    return blocks.Blocks(world.root, slug or paths_hot.project_key(world.shop), lambda: NOW)


def ran(world, name="r9", session="today", cwd=None, **more):
    cwd = cwd or world.shop
    found = runs.Run(
        name, NOW - 5, world.sessions.get(session, session), paths_hot.project_key(cwd), cwd, "Stop", **more
    )
    runs.append(world.root, found)
    return found


async def to_run(pilot, name):
    await to_row(pilot, lambda row: isinstance(row, RunRow) and row.run.id == name)


@pytest.mark.picture
async def test_a_session_a_model_read_is_marked_and_has_its_runs_in_what_it_got(app, world):
    async with running(app, WIDE) as pilot:
        rows = app.screen.table.rows
        group = next(row for row in rows if isinstance(row, SessionGroup) and row.session == world.sessions["today"])
        assert group.runs
        assert any("▾ m “" in line for line in lines(app))
        below = rows[rows.index(group) + 1 :]
        below = below[: next((at for at, row in enumerate(below) if isinstance(row, SessionGroup)), len(below))]
        assert {type(row) for row in below} == {DeliveryEntry, RunRow, BreakRow}
        times = [row.time for row in below]
        assert times == sorted(times, reverse=True)
        await to_row(pilot, lambda row: row is group or getattr(row, "key", "") == group.key)
        assert "Read by the model" in app.screen.detail.plain


@pytest.mark.slow
async def test_until_a_model_is_set_nothing_of_it_is_shown(world):
    app = MemtuiApp(dict(world.env), world.shop, screen="activity", now=NOW)
    async with running(app, WIDE) as pilot:
        rows = app.screen.table.rows
        assert not any(isinstance(row, RunRow) for row in rows)
        assert not any(row.runs for row in rows if isinstance(row, SessionGroup))
        await to_row(pilot, lambda row: isinstance(row, SessionGroup))
        assert "by the model" not in app.screen.detail.plain


async def test_a_run_says_what_it_did_and_what_that_cost(app, world):
    whisper = runs.Whisper("W" * 26, "Not on Friday.", because="on Friday")
    known(world).edit("guidance", "", "- Of the run.", run="r9", session="s")
    run = ran(
        world, outcome="done", changes=("guidance: added",), whispers=(whisper,), note="They deploy.", cost=0.002,
        tokens=1200, looks=("Grep . deploy",), refused=("a change of core_directives: only its person changes it",),
    )  # fmt: skip
    runs.send(world.root, run, whisper)
    async with app.run_test(size=WIDE) as pilot:
        await to_run(pilot, "r9")
        detail = app.screen.detail.plain
        for words in ("1 block, 1 note", "They deploy.", "1,200 tokens, $0.0020", "Grep . deploy", "only its person"):
            assert words in detail
        assert "○ waiting\nNot on Friday." in detail
        assert "because of: “on Friday”" in detail
        assert "- Of the run." in detail


@pytest.mark.picture
async def test_an_answer_is_named_with_its_question_and_counts_as_seen(app, world):
    reply = runs.Whisper(ids_hot.new_id(NOW), "On Tuesdays.", reply="when do we deploy?")
    runs.send(world.root, ran(world, outcome="done", whispers=(reply,)), reply)
    words = "“when do we deploy?” On Tuesdays."
    async with running(app, WIDE) as pilot:
        await to_row(pilot, lambda row: isinstance(row, SessionGroup))
        assert block_files_hot.seen_answers(world.root) == set()
        assert any(f"answer      {words}" in line for line in lines(app))
        await to_row(pilot, lambda row: isinstance(row, NoteRow) and row.text == reply.text)
        assert app.screen.detail.plain.startswith("to: when do we deploy?\nOn Tuesdays.\n")
        assert block_files_hot.seen_answers(world.root) == {reply.id}
        await to_run(pilot, "r9")
        assert app.screen.table.row.cells(app.screen.listing)[0].plain.endswith(f"answer   {words} · 1 answer · $0.00")
        assert "Answer  ○ waiting\nto: when do we deploy?\nOn Tuesdays.\n" in app.screen.detail.plain
        app.screen.show_query("when do we deploy")
        await settle(pilot)
        assert {type(row) for row in app.screen.table.rows} == {NoteRow, SessionGroup, RunRow}


async def test_a_read_only_look_at_an_answer_writes_nothing(world):
    fs_hot.append(world.root + "/config.toml", b'llm_backend = "api"\nsubconscious = "full"\n')
    reply = runs.Whisper(ids_hot.new_id(NOW), "On Tuesdays.", reply="when do we deploy?")
    run = ran(world, outcome="done", whispers=(reply,))
    app = MemtuiApp(dict(world.env), world.shop, screen="activity", now=NOW, read_only=True)
    async with app.run_test(size=WIDE) as pilot:
        await to_run(pilot, run.id)
        assert app.screen.detail.plain.count("On Tuesdays.") == 1
        assert block_files_hot.seen_answers(world.root) == set()


@pytest.mark.slow
async def test_what_a_run_changed_is_undone_with_one_key_and_redone(app, world):
    for name in ("guidance", "user_preferences"):
        known(world).edit(name, "", "- Of the run.", run="r9", session="s")
    ran(world, outcome="done", changes=("guidance: added", "user_preferences: added"))
    ran(world, "r8", outcome="done")
    async with app.run_test(size=WIDE) as pilot:
        await to_run(pilot, "r8")
        await press(pilot, "x")
        assert app.last_note == "It changed nothing that can be undone."
        await press(pilot, "e")
        assert app.last_note == "Only notes can be sent again, edited or withdrawn."
        await to_run(pilot, "r9")
        await press(pilot, "x")
        assert known(world).text("guidance") == ""
        assert known(world).text("user_preferences") == "Wants tests stable before anything new."
        await press(pilot, "Z")
        assert known(world).text("guidance") == "- Of the run."
        assert known(world).text("user_preferences").endswith("- Of the run.")


async def test_what_a_killed_run_did_is_told_and_x_brings_its_files_back(app, world):
    path = f"{world.shop}/notes.txt"
    fs_hot.write_atomic(path, b"mine\n")
    traced = Trace(world.root, ran(world, limit=1), world.shop)
    asks(traced, "t1", "Bash", command="sh build.sh \x1b[2J")
    fs_hot.write_atomic(path, b"theirs\n")
    hook(traced, "PostToolUseFailure", "t1", "Bash")
    ends(traced, "t1", "Exit code 3\nno such target", failed=True)
    asks(traced, "t2", "Bash", command="sleep 100")
    async with app.run_test(size=WIDE) as pilot:
        await to_run(pilot, "r9")
        assert any("ended without an answer · 2 steps, 1 file" in line for line in lines(app))
        detail = app.screen.detail.plain
        for words in (
            "Bash  sh build.sh \\x1b[2J  exit 3\n",
            "no such target",
            "changed while it ran: notes.txt",
            "sleep 100  no end known",
        ):
            assert words in detail
        assert "- mine" in detail
        await press(pilot, "x")
        await settle(pilot)
        assert fs_hot.read_bytes(path) == b"mine\n"


@pytest.fixture
def process():
    with subprocess.Popen(["sleep", "60"]) as started:
        yield started
        started.kill()


async def test_a_run_whose_process_ends_says_so_where_it_is_on_screen(app, world, process):
    ran(world, limit=1 << 30, process=(str(process.pid), "", str(process_hot.own()[2])))
    async with app.run_test(size=WIDE) as pilot:
        await to_run(pilot, "r9")
        assert any("reading now" in line for line in lines(app))
        process.kill()
        process.wait()
        app.screen.refresh_ages()
        await settle(pilot)
        assert any("ended without an answer" in line for line in lines(app))
        assert "memtui's worker was stopped" in app.screen.detail.plain


async def test_where_a_block_was_changed_since_it_stays_and_that_is_said(app, world):
    known(world).edit("guidance", "", "- Rule.", run="r9", session="s")
    known(world).replace("guidance", "- My rule.", app.data.journal())
    ran(world, outcome="done", changes=("guidance: added",))
    failed = []
    async with app.run_test(size=WIDE) as pilot:
        await to_run(pilot, "r9")
        app.screen.services.fail = failed.append
        await press(pilot, "x")
    assert "it was changed since, by" in failed[0].message
    assert known(world).text("guidance") == "- My rule."


async def test_what_was_asked_of_the_model_waits_below_the_session(app, world):
    mention = {"id": "m1", "who": "person", "words": "when do we deploy?", "time": "2026-11-18T11:06:00Z"}
    control.save(world.root, world.sessions["today"], {"mentions": [mention]})
    async with app.run_test(size=WIDE) as pilot:
        await to_row(pilot, lambda row: isinstance(row, SessionGroup) and row.session == world.sessions["today"])
        assert "waits for a reply to you" in app.screen.detail.plain
        assert "when do we deploy?" in app.screen.detail.plain


@pytest.mark.slow
async def test_a_session_that_was_only_read_is_a_row_in_its_project(app, world):
    ran(world, session="0abc", cwd=world.blog, outcome="done", note="Blog.")
    async with running(app, WIDE) as pilot:
        (group,) = [row for row in app.screen.table.rows if isinstance(row, SessionGroup) and row.session == "0abc"]
        assert (group.root, group.deliveries, len(group.runs)) == (world.blog, [], 1)
        app.screen.show_query("project:blog Blog.")
        await settle(pilot)
        assert [row.run.note for row in app.screen.table.rows if isinstance(row, RunRow)] == ["Blog."]
        app.screen.show_query("is:lost")
        await settle(pilot)
        assert not any(isinstance(row, RunRow) for row in app.screen.table.rows)


async def test_a_model_asked_instead_is_told_once_below_its_session(app, world):
    session = world.sessions["today"]
    served = choice.Served("", ("llama-9",), "", ("gone-1",), NOW - 3, choice.HOLDS, "llama-9", session, world.shop)
    row = json.dumps({"v": 1, **served._asdict()})
    fs_hot.write_cache(world.root + choice.KEPT, row.encode())
    app.all_projects = False
    async with running(app, WIDE) as pilot:
        await to_row(pilot, lambda row: isinstance(row, SwitchRow))
        words = "llama-9 is asked: the service does not have gone-1"
        assert sum(isinstance(row, SwitchRow) for row in app.screen.table.rows) == 1
        assert any(words in line for line in lines(app))
        assert f"{words}." in app.screen.detail.plain
        assert "the setting llm_model" in app.screen.detail.plain
