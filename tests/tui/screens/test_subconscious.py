"""The Subconscious screen: what waits, blocks with their versions, whispers with receipts, runs; stop, start, switch on."""

import pytest
from textual.widgets import TextArea

from memtui.core.base import fs, paths
from memtui.core.inbox import format as inbox_format
from memtui.subconscious import blocks, control, conversations, runs, whispers
from memtui.subconscious import running as subconscious_running
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.screens.subconscious import commands, rows
from tui.conftest import NOW, settle

WIDE, SMALL = (120, 40), (80, 24)


@pytest.fixture
def app(world):
    return MemtuiApp(dict(world.env), world.shop, screen="subconscious", now=NOW)


def known(world):
    return blocks.Blocks(world.root, paths.project_key(world.shop), lambda: NOW)


async def to(pilot, kind, words=""):
    await settle(pilot)
    table = pilot.app.screen.table
    fits = lambda row: row.kind == kind and words in rows.words(row)
    table.move_to(next(at for at, row in enumerate(table.rows) if fits(row)))
    await settle(pilot)


async def test_everything_is_listed_and_told(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert [row.kind for row in app.screen.table.rows] == ["question"] + ["block"] * 8 + ["whisper"] + ["run"] * 3
        assert "off: no model reads sessions" in app.screen.summary_line.shown.plain
        await to(pilot, "question")
        assert "It is switched off." in app.screen.detail.plain
        await to(pilot, "block", "project_context")
        detail = app.screen.detail.plain
        assert "+ Tests of components" in detail
        assert f"session {world.sessions['today'][:8]}" in detail
        await to(pilot, "whisper")
        assert "✓ arrived" in app.screen.detail.plain
        assert "because of: “somebody else" in app.screen.detail.plain
        await to(pilot, "run", "2 blocks, 1 whisper")
        detail = app.screen.detail.plain
        assert "Grep . migration" in detail
        assert "whispered" in detail
        assert "Wants tests stable" in detail


async def test_a_block_is_changed_in_the_form_and_undone(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "block", "user_preferences")
        await pilot.press("e")
        await settle(pilot)
        assert isinstance(app.screen, DraftForm)
        app.screen.query_one(TextArea).text = "Short answers."
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert known(world).text("user_preferences") == "Short answers."
        assert known(world).versions("user_preferences")[0].by == "person"
        await pilot.press("z")
        await settle(pilot)
        assert known(world).text("user_preferences") == "Wants tests stable before anything new."


async def test_a_text_that_is_too_long_stays_in_the_form(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "block", "guidance")
        await pilot.press("e")
        await settle(pilot)
        app.screen.query_one(TextArea).text = "x" * 2001
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert isinstance(app.screen, DraftForm)
        assert known(world).text("guidance") == ""


async def test_what_the_subconscious_wrote_meanwhile_is_not_written_over_unasked(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "block", "pending_items")
        await pilot.press("e")
        await settle(pilot)
        known(world).edit("pending_items", "", "And the docs.", run="r", session="s")
        app.screen.query_one(TextArea).text = "Mine."
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert known(world).text("pending_items").endswith("And the docs.")


async def test_an_earlier_version_is_restored(app, world, monkeypatch):
    said = []
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "block", "project_context")
        monkeypatch.setattr(app.screen.services, "say", said.append)
        await pilot.press("H")
        await settle(pilot)
        assert any("+ Tests of components" in line for line in drawn(app)), "what the newest changed"
        await pilot.press("enter")
        await settle(pilot)
        assert said == ["That is the present text."]
        await pilot.press("H")
        await settle(pilot)
        await pilot.press("down")
        await settle(pilot)
        assert not any("Tests of components" in line for line in drawn(app))
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert "Tests of components" not in known(world).text("project_context")


async def test_one_change_is_undone_under_later_ones_and_z_takes_the_undo_back(app, world):
    for number in range(2):
        known(world).edit("guidance", "", f"- Rule {number}.", run=f"r{number}", session="s")
    known(world).replace("guidance", "- Mine.\n- Rule 0.\n- Rule 1.", app.data.journal())
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "block", "guidance")
        await pilot.press("x")
        await settle(pilot)
        assert "undoes one" in app.screen.question
        assert app.screen.table.row[0] == 1, "the cursor is on the last change by the subconscious"
        await pilot.press("down", "enter")
        await settle(pilot)
        assert known(world).text("guidance") == "- Mine.\n- Rule 1."
        assert "you, undoing 1" in app.screen.detail.plain
        await pilot.press("z")
        await settle(pilot)
        assert known(world).text("guidance") == "- Mine.\n- Rule 0.\n- Rule 1."


async def test_a_change_that_overlaps_says_what_to_do(app, world, monkeypatch):
    known(world).edit("guidance", "", "- Rule.", run="r0", session="s")
    known(world).replace("guidance", "- My rule.", app.data.journal())
    failed = []
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "block", "guidance")
        monkeypatch.setattr(app.screen.services, "fail", failed.append)
        await pilot.press("x", "enter")
        await settle(pilot)
    assert "The same lines of guidance" in failed[0].message
    assert "`H` in Subconscious" in failed[0].hint
    assert known(world).text("guidance") == "- My rule."


async def test_what_a_run_changed_is_undone_with_one_key(app, world):
    run = runs.Run(
        "r9", NOW, "s", paths.project_key(world.shop), world.shop, runs.BY_HAND, outcome="done", note="Of this."
    )
    runs.append(world.root, run)
    for name in ("guidance", "user_preferences"):
        known(world).edit(name, "", "- Of the run.", run="r9", session="s")
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "run", "Of this.")
        await pilot.press("x")
        await settle(pilot)
        assert known(world).text("guidance") == ""
        assert known(world).text("user_preferences") == "Wants tests stable before anything new."
        await pilot.press("z")
        await settle(pilot)
        assert known(world).text("guidance") == "- Of the run."
        assert known(world).text("user_preferences").endswith("- Of the run.")


async def test_a_run_before_hundreds_of_changes_is_undone_whole(app, world):
    run = runs.Run(
        "r9", NOW, "s", paths.project_key(world.shop), world.shop, runs.BY_HAND, outcome="done", note="Of this."
    )
    runs.append(world.root, run)
    for number in range(2):
        known(world).edit("guidance", "", f"- Of the run {number}.", run="r9", session="s")
    for number in range(200):
        old = f"- Later {number - 1}." if number else ""
        known(world).edit("guidance", old, f"- Later {number}.", run="r10", session="s")
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "run", "Of this.")
        assert app.screen.detail.plain.count("Of the run 1.") == 1
        await pilot.press("x")
        await settle(pilot)
        assert known(world).text("guidance") == "- Later 199."


async def test_where_nothing_can_be_undone_the_key_says_why(app, world, monkeypatch):
    said = []
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        monkeypatch.setattr(app.screen.services, "warn", said.append)
        for kind, words in (("question", ""), ("whisper", ""), ("block", "guidance")):
            await to(pilot, kind, words)
            await pilot.press("x")
            await settle(pilot)
        assert "H versions" not in drawn(app)[-1]
        await pilot.press("H")
        await settle(pilot)
    none = "guidance has no versions yet: nobody has changed it."
    assert said == ["That is no block, no run and no whisper.", "It does not wait any more.", none, none]


async def test_a_long_conversation_is_shown_whole(app, world):
    session = world.sessions["today"]
    many = [conversations.Remark(NOW - n, "r", "noted", f"Remark number {n}.") for n in range(200)]
    conversations.add(world.root, session, many)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        table = app.screen.table
        table.move_to(next(at for at, row in enumerate(table.rows) if row.run and row.session == session))
        await settle(pilot)
        assert all(f"Remark number {n}." in app.screen.detail.plain for n in range(200))


async def test_a_whisper_that_waits_is_withdrawn(app, world):
    slug = paths.project_key(world.shop)
    whispers.send(world.root, whispers.Whisper("W" * 26, NOW, world.sessions["today"], slug, "r", "Not on Friday."))
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "whisper", "Not on Friday")
        assert "… waits" in app.screen.detail.plain
        await pilot.press("x")
        await settle(pilot)
        path = f"{paths.inbox_dir(world.root, slug)}/guidance.md"
        assert "W" * 26 not in {entry.id for entry in inbox_format.read(path)}
        await pilot.press("z")
        await settle(pilot)
        assert "W" * 26 in {entry.id for entry in inbox_format.read(path)}


async def test_stop_and_start(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("s")
        await settle(pilot)
        assert control.stopped(world.root)
        await pilot.press("s")
        await settle(pilot)
        assert not control.stopped(world.root)


async def test_it_says_what_is_missing(app, world):
    fs.append(world.root + "/config.toml", b'subconscious = "whisper"\n')
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "llm_backend is off" in app.screen.summary_line.shown.plain


async def test_without_a_key_the_next_step_is_told_at_any_width(app, world, monkeypatch):
    fs.append(world.root + "/config.toml", b'subconscious = "whisper"\nllm_backend = "api"\n')
    app.data.env.pop("ANTHROPIC_API_KEY", None)
    app.data.env.pop("ANTHROPIC_AUTH_TOKEN", None)
    step = "Set ANTHROPIC_API_KEY, or: memtui config set llm_backend claude"
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        assert f"it can't run · {step}" in "\n".join(drawn(app))
        await pilot.resize_terminal(160, 40)
        await settle(pilot)
        assert "there is no ANTHROPIC_API_KEY" in "\n".join(drawn(app))
        said = []
        monkeypatch.setattr(app.screen.services, "warn", said.append)
        await pilot.press("R")
        await settle(pilot)
        assert said == [f"There is no ANTHROPIC_API_KEY. {step}"]


async def test_it_is_told_to_read_the_newest_session_now(app, world, monkeypatch):
    started = []
    monkeypatch.setattr(commands.starting, "start", lambda *words, given: started.append((words[3], given)))
    fs.append(world.root + "/config.toml", b'subconscious = "whisper"\nllm_backend = "api"\n')
    app.data.env["ANTHROPIC_API_KEY"] = "k"
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "block", "guidance")
        await pilot.press("R")
        await settle(pilot)
    ((module, given),) = started
    assert module == subconscious_running.__name__
    assert world.sessions["today"].encode() in given


async def test_where_nothing_is_new_it_says_so(app, world, monkeypatch):
    started = []
    monkeypatch.setattr(commands.starting, "start", lambda *words, given: started.append(words))
    monkeypatch.setattr(commands.Along, "has_news", lambda self: False)
    fs.append(world.root + "/config.toml", b'subconscious = "whisper"\nllm_backend = "api"\n')
    app.data.env["ANTHROPIC_API_KEY"] = "k"
    said = []
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "block", "guidance")
        monkeypatch.setattr(app.screen.services, "say", said.append)
        await pilot.press("R")
        await settle(pilot)
    assert started == []
    assert said == [f"Nothing new was said in session {world.sessions['today'][:8]}."]


async def test_a_run_of_another_project_shows_what_it_changed_there(app, world):
    blog, session = paths.project_key(world.blog), world.sessions["blog"]
    blocks.Blocks(world.root, blog, lambda: NOW).edit("guidance", "", "Ask for alt texts.", run="r9", session=session)
    run = runs.Run(
        "r9", NOW, session, blog, world.blog, runs.BY_HAND, outcome="done", blocks=("guidance",), note="Blog."
    )
    runs.append(world.root, run)
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "run", "Blog.")
        assert any("blog: 1 block: Blog." in line for line in drawn(app))
        detail = app.screen.detail.plain
        assert "Ask for alt texts." in detail
        assert f", by hand, session {session[:8]} of blog" in detail
        assert "x  undo what it changed" in detail


async def test_the_summary_says_which_tools_are_in_force(app, world):
    fs.append(world.root + "/config.toml", b'subconscious = "full"\nllm_backend = "api"\nsubconscious_tools = "full"\n')
    app.data.env["ANTHROPIC_API_KEY"] = "k"
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "tools read-only (all tools need llm_backend claude)" in app.screen.summary_line.shown.plain


async def test_what_a_run_brings_shows_by_itself(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        known(world).edit("guidance", "", "Ask Kim first.", run="r9", session=world.sessions["today"])
        app.read(frozenset({"subconscious"}))
        await settle(pilot)
        await to(pilot, "block", "Ask Kim first.")
        assert "Ask Kim first." in app.screen.detail.plain


async def test_hostile_text_is_drawn_harmlessly(app, world):
    known(world).edit("guidance", "", "[red]loud[/red] \x1b[2J", run="r", session="s")
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "block", "loud")
        assert "\x1b" not in app.screen.detail.plain
        assert "[red]loud[/red]" in app.screen.detail.plain


async def test_read_only_changes_nothing(world):
    app = MemtuiApp(dict(world.env), world.shop, screen="subconscious", now=NOW, read_only=True)
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "block", "guidance")
        for key in ("e", "s"):
            await pilot.press(key)
            await settle(pilot)
        assert not control.stopped(world.root)
        assert "switches it on" not in app.screen.summary_line.shown.plain


def drawn(app):
    return [strip.text for strip in app.screen._compositor.render_strips()]
