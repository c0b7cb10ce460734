"""Recall in Memories: a prompt, the list ordered by what helps, and why; changed from there, undone by z."""

import asyncio
import os

import pytest
from textual.widgets import Input

from memtui.base import fs
from memtui.deliver import log as delivery_log
from memtui.hooks.install import installation as install
from memtui.recall import places
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Line
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.screens.memories.recall import LATE_SECONDS, READING
from memtui.tui.screens.memories.rows import RULE
from tui.conftest import NOW, running, settle
from tui.test_frame import palette

WIDE, SMALL = (160, 48), (80, 24)
PROMPT = "do we install with pnpm or with npm here?"


def names(app):
    """The rows: memories by name, the rule as a dash."""
    return ["-" if pair is RULE else pair[1].memory.name for pair in app.screen.table.rows]


def outcomes(app):
    return {each.name: each.outcome for each in app.screen.recall.last.candidates}


def candidate(app):
    """What the search says of the memory under the cursor."""
    return app.screen.recall.candidate(app.screen.table.row)


async def ask(pilot, prompt=PROMPT):
    """Type a prompt, and go to the list."""
    await settle(pilot)
    await pilot.press("r")
    await settle(pilot)
    pilot.app.screen.recall.line.value = prompt
    await pilot.press("enter")
    await settle(pilot)


def foot(app):
    return app.screen.frame.foot.render().plain.strip()


def content(path):
    with open(path, "rb") as file:
        return file.read()


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


async def to(pilot, name):
    table = pilot.app.screen.table
    table.move_to(next(at for at, (_, row) in enumerate(table.rows) if row.memory.name == name))
    await settle(pilot)


async def test_it_begins_with_the_newest_prompt_of_the_person_and_escape_comes_back(app):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await to(pilot, "payment-provider")
        listed = names(app)
        await pilot.press("r")
        await settle(pilot)
        assert app.screen.recall.prompt == "no, no snapshots please, they break with every redesign"
        assert app.focused is app.screen.recall.line
        assert "escape back" in foot(app)
        await pilot.press("enter")
        await settle(pilot)
        assert foot(app).startswith("enter read  escape back  r prompt  ")
        await pilot.press("r", "escape")
        await settle(pilot)
        assert names(app) == listed
        assert app.focused is app.screen.table
        assert app.screen.recalled is None


@pytest.mark.usefixtures("every_frame")
async def test_one_cursor_is_drawn_that_of_the_prompt_or_that_of_the_list(app):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("r")
        await settle(pilot)
        table = app.screen.table
        assert "›" not in "".join(table.render_line(y).text for y in range(table.size.height))
        await pilot.press("enter")
        await settle(pilot)
        assert "›" in "".join(table.render_line(y).text for y in range(table.size.height))


async def test_what_would_be_delivered_stands_above_the_rule_and_the_rest_below_with_the_reason(app):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot)
        assert names(app)[:2] == ["prefer-pnpm", "-"]
        assert len(names(app)) > 3
        summary = app.screen.summary().plain
        assert summary.startswith(f"1 of {app.screen.recall.last.memories} memories would be delivered · ")
        assert "tokens" not in summary
        others = len(app.screen.recall.last.candidates) - 1
        assert app.screen.recall.rule().endswith(f" tokens · {others} others found, not delivered")
        assert " ms" in summary
        detail = app.screen.detail.plain
        assert "✓ would be delivered" in detail
        assert "Use pnpm for every install and script." in detail.partition("What the model would get")[2]
        assert "<memtui-memory " in detail
        await to(pilot, "release-steps")
        assert "too unlikely to help" in app.screen.detail.plain
        assert "delivered from 40% on" in app.screen.detail.plain
        app.screen.table.move_to(1)
        await settle(pilot)
        assert app.screen.table.row is RULE
        assert "The words that counted" in app.screen.detail.plain
        assert "Use pnpm for every install" in app.screen.detail.plain


@pytest.mark.usefixtures("every_frame")
async def test_the_rule_drops_what_has_no_room_whole(app):
    async with app.run_test(size=(60, 15)) as pilot:
        await ask(pilot)
        table, recall = app.screen.table, app.screen.recall
        line = table.render_line(table.rows.index(RULE) + table.header).text
        assert line.strip("─ ") == recall.rule().split(" · ")[0]
        await pilot.resize_terminal(160, 48)
        await settle(pilot)
        line = table.render_line(table.rows.index(RULE) + table.header).text
        assert line.strip("─ ") == recall.rule()


async def test_likelihoods_of_the_prompt_before_go_while_another_one_takes_long(app):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot)
        recall, table = app.screen.recall, app.screen.table
        assert "%" in table._draw(table.rows[0])[1].plain
        with recall._one_run:  # another run goes on
            recall.line.value = "something else that takes its time"
            await pilot.pause(LATE_SECONDS * 2)
            assert not any("%" in cell.plain for cell in table._draw(table.rows[0]))
            assert app.screen.summary().plain == table.rule() == READING
        await settle(pilot)
        assert "%" in table._draw(table.rows[1])[1].plain


async def test_a_long_prompt_is_selected_and_seen_from_its_beginning(app):
    async with app.run_test(size=(60, 15)) as pilot:
        await settle(pilot)
        await pilot.press("r")
        await settle(pilot)
        line = app.screen.recall.line
        assert line.render_line(0).text.strip().startswith("no, no snapshots please")
        await pilot.press("enter", "r")
        await settle(pilot)
        assert line.render_line(0).text.strip().startswith("no, no snapshots please")
        await pilot.press("q")
        assert line.value == "q", "a letter takes the place of what is selected"


@pytest.mark.parametrize("size", [WIDE, (120, 36)], ids=str)
async def test_the_keys_of_a_memory_in_recall_stand_above_the_text_that_the_model_gets(app, size):
    async with app.run_test(size=size) as pilot:
        await ask(pilot)
        seen = "\n".join(line.plain for line in app.screen.detail.lines[: app.screen.detail.size.height])
        keys = seen.partition("What the model would get")[0]
        assert all(f"  {key}  " in keys for key in "txP")
        assert "<memtui-memory" in app.screen.detail.plain.partition("What the model would get")[2]


@pytest.mark.slow
async def test_the_list_follows_while_a_prompt_is_typed(app):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("r")
        await settle(pilot)
        await pilot.press(*"test")
        await settle(pilot)
        assert "A prompt of a word or two recalls nothing." in app.screen.why_empty()
        assert app.focused is app.screen.recall.line
        await pilot.press(*" database start how")
        await settle(pilot)
        assert {"test-database", "test-postgres"} <= set(names(app)[:2])
        await pilot.press("enter")
        assert app.focused is app.screen.table


async def test_a_trigger_is_added_and_undone(app):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "how should the avatar of a customer be cropped in the header of our shop")
        assert outcomes(app)["prefer-pnpm"] == "unlikely"
        await to(pilot, "prefer-pnpm")
        await pilot.press("t")
        assert isinstance(app.screen, Line)
        await pilot.press("enter")
        await settle(pilot)
        assert outcomes(app)["prefer-pnpm"] == "inject"
        await to(pilot, "prefer-pnpm")
        assert "its trigger  “how should the avatar" in app.screen.detail.plain
        await pilot.press("t", "enter")
        await settle(pilot)
        assert app.last_note == "prefer-pnpm has this trigger already."
        await pilot.press("z")
        await settle(pilot)
        assert outcomes(app)["prefer-pnpm"] == "unlikely"


async def test_a_trigger_that_is_too_long_stays_in_its_form(app):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot)
        await pilot.press("t", "end")
        app.screen.query_one(Input).value = "when " * 61
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, Line)
        assert "300 characters at most" in str(app.screen.query_one("#wrong").render())


@pytest.mark.slow
async def test_a_memory_is_muted_for_prompts_like_this_only_and_x_takes_it_back(app):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot)
        await pilot.press("x")
        await settle(pilot)
        assert outcomes(app)["prefer-pnpm"] == "muted"
        await to(pilot, "prefer-pnpm")
        assert "muted for prompts like this · " in app.screen.detail.plain
        assert "delivered from 40%" not in app.screen.detail.plain, "it is not left out because it is unlikely"
        await ask(pilot, "how do I add a package: npm i, or pnpm add, or something else")
        assert outcomes(app)["prefer-pnpm"] == "inject"
        await ask(pilot)
        await to(pilot, "prefer-pnpm")
        assert "deliver it again" in app.screen.detail.plain
        await pilot.press("x")
        await settle(pilot)
        assert outcomes(app)["prefer-pnpm"] == "inject"
        await pilot.press("z")
        await settle(pilot)
        assert outcomes(app)["prefer-pnpm"] == "muted"
        await pilot.press("escape", "escape")
        await settle(pilot)
        app.screen.show_query("is:muted")
        assert [row.memory.name for _, row in app.screen.table.rows] == ["prefer-pnpm"]


@pytest.mark.slow
async def test_a_memory_is_pinned_and_counts_more(app, world):
    path = world.shop + "/.claude/memory/prefer-pnpm.md"
    before, written = content(path), os.stat(path).st_mtime
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot)
        likely = candidate(app).probability
        await pilot.press("P")
        await settle(pilot)
        assert abs(os.stat(path).st_mtime - written) < 0.001, "it says what it said, so it is as old as it was"
        found = candidate(app)
        assert (found.name, found.pinned) == ("prefer-pnpm", True)
        assert found.probability > likely
        assert found.delivered, "it is trusted as it was"
        assert app.screen.table._draw(app.screen.table.row)[3].plain.startswith("▲ ")
        await pilot.press("P")
        await settle(pilot)
        assert not candidate(app).pinned
        await pilot.press("z", "z")
        await settle(pilot)
    assert content(path) == before


@pytest.mark.slow
async def test_prompts_that_were_typed_are_offered(app):
    async with running(app, WIDE, "r") as pilot:
        await pilot.press("down")
        await settle(pilot)
        words = [words for _, words in app.screen.rows]
        assert any("please install the dependencies" in each for each in words)
        at = next(at for at, each in enumerate(words) if "make the upload test stable" in each)
        await pilot.press(*["down"] * at, "enter")
        await settle(pilot)
        assert app.screen.recall.prompt == "make the upload test stable"
        assert "flaky-upload-test" in names(app)


@pytest.mark.slow
async def test_a_memory_is_edited_and_trashed_only_outside_of_recall(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot)
        await pilot.press("e")
        await settle(pilot)
        assert isinstance(app.screen, DraftForm)
        await pilot.press("escape")
        await settle(pilot)
        assert names(app)[:2] == ["prefer-pnpm", "-"]
        await pilot.press("escape", "x")
        await settle(pilot)
        assert "prefer-pnpm" not in names(app)


async def test_keys_for_the_order_of_the_list_say_how_to_come_back(app):
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot)
        listed = names(app)
        await pilot.press("s")
        await settle(pilot)
        assert names(app) == listed
        assert any("escape comes back" in each.message for each in app._notifications)
        await pilot.press("p")
        await settle(pilot)
        assert app.last_note.startswith("A prompt brings memories of its project and global ones only")
        await pilot.press("slash", *"project:all zzz")
        await settle(pilot)
        assert not app.screen.of_all_projects
        assert "project:all seeks" not in app.screen.table.empty


async def test_a_prompt_that_brings_nothing_says_so_once_and_begins_with_the_likeliest(app, monkeypatch):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "make the redesign faster")
        screen = app.screen
        assert not screen.recall.last.delivered
        assert screen.recall.last.left_out
        assert screen.summary().plain.startswith("Nothing passes 40% · ")
        assert screen.summary().plain.endswith(" · 11 searched, 2 of agents left out")
        monkeypatch.setattr(type(screen.recall.recalling), "unheard", "")
        assert "40% · in the list t adds a trigger · " in screen.summary().plain
        assert names(app)[0] == "-"
        assert screen.table.row is screen.table.rows[1]
        assert screen.table.rule() == f"{len(screen.recall.last.left_out)} found, none delivered"
        screen.table.move_to(0)
        await settle(pilot)
        assert screen.detail.plain.startswith("The likeliest is ")


async def test_a_broken_memory_that_would_be_delivered_has_its_mark(app):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "what are the meeting notes about the soft launch")
        await to(pilot, "meeting-notes")
        assert candidate(app).delivered
        mark, *_, says, _ = app.screen.table._draw(app.screen.table.row)
        assert mark.plain == "!"
        assert says.plain.startswith("broken · ")


async def test_memories_with_a_problem_have_the_mark_and_the_word_that_they_have_outside_of_recall(app):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot)
        assert app.screen.summary().plain.endswith(" ms")
        assert " · 2 of agents left out · " in app.screen.summary().plain
        table = app.screen.table
        rows = {
            pair[1].memory.name: [cell.plain for cell in table._draw(pair)] for pair in table.rows if pair is not RULE
        }
        assert rows["prefer-pnpm"][0] == "✓"
        assert rows["release-steps"][0] == "·"
        for name, word in (("skip-code-review", "untrusted"), ("meeting-notes", "broken")):
            assert rows[name][0] == "!"
            assert rows[name][4].startswith(f"{word} · ")
        await to(pilot, "skip-code-review")
        assert app.screen.detail.plain.startswith("! not trusted · ")
        keys = [line for line in app.screen.detail.plain.split("\n") if line.startswith("  ")]
        assert keys[0] == "  a  trust it"
        assert app.screen.footer_actions()[0].id == "memories.trust"
        await to(pilot, "prefer-pnpm")
        assert "trust it" not in app.screen.detail.plain
        before = app.screen.summary().plain
        await pilot.press("space")
        assert app.screen.headline(150).plain == f"{before} · 1 marked"
        await to(pilot, "editor")
        assert "untyped in global" in app.screen.detail.plain


async def test_a_prompt_for_which_nothing_is_searched_has_one_reason(app):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "go on")
        assert app.screen.table.empty == "A prompt of a word or two recalls nothing."
        assert app.screen.summary().plain.startswith("Nothing would be delivered · ")
        assert "searched" not in app.screen.summary().plain


async def test_a_long_prompt_is_cut_at_its_end_while_the_list_has_the_focus(app):
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot, f"begin here {'and go on ' * 30}")
        drawn = app.screen.recall.line.render_line(0).text.rstrip()
        assert drawn.startswith("begin here")
        assert drawn.endswith("…")


async def test_the_palette_has_the_names_of_what_keys_do_in_recall_and_outside_of_it(app):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        usual = await palette(pilot, "")
        await pilot.press("escape")
        await ask(pilot)
        in_recall = await palette(pilot, "")
        for rows, names_then in (
            (usual, ["remove this memory", "type"]),
            (in_recall, ["mute or unmute", "add a trigger"]),
        ):
            memories = [row for row in rows if " x " in row or " t " in row]
            assert all(any(f": {name} " in row for row in memories) for name in names_then), memories
        assert not [row for row in in_recall if "remove this memory  " in row]


async def test_another_memory_that_is_gone_to_ends_recall(app, world):
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot)
        app.go_to_memory(world.shop + "/.claude/memory/payment-provider.md")
        await settle(pilot)
        assert app.screen.recalled is None
        assert app.screen.table.row_id.endswith("payment-provider.md")


async def test_files_that_change_are_seen(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot)
        assert outcomes(app)["prefer-pnpm"] == "inject"
        os.unlink(world.shop + "/.claude/memory/prefer-pnpm.md")
        app.read(frozenset({"memories"}))
        await settle(pilot)
        assert "prefer-pnpm" not in outcomes(app)


@pytest.mark.slow
async def test_marks_filter_and_the_rule(app):
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot)
        await pilot.press("space", "space", "space")
        assert len(app.screen.table.chosen()) == 2, "the rule can't be marked"
        await pilot.press("escape", "slash", *"release", "enter")
        await settle(pilot)
        assert names(app) == ["release-steps"], "the rule is hidden while the list is filtered"
        assert app.screen.summary().plain == f"1 of {len(outcomes(app))} memories"
        await pilot.press("escape")
        await settle(pilot)
        await pilot.press("A")
        assert len(app.screen.table.chosen()) == len(outcomes(app))


@pytest.mark.slow
async def test_nothing_is_delivered_logged_or_changed_by_looking(app, world):
    before = list(delivery_log.newest_first(world.root))
    journal = content(world.root + "/journal.jsonl")
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot)
        await pilot.press("enter", "escape")
        await settle(pilot)
    assert list(delivery_log.newest_first(world.root)) == before
    assert content(world.root + "/journal.jsonl") == journal


async def test_where_nothing_is_remembered_it_says_how_to_begin(empty):
    env, project = empty
    app = MemtuiApp(dict(env), project, now=NOW)
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot)
        assert "Nothing is remembered here yet" in app.screen.why_empty()


async def test_read_only_builds_no_index_and_says_so(world):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, read_only=True)
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot)
        assert "--read-only" in app.screen.why_empty()
    assert "recall" not in os.listdir(world.root)


@pytest.mark.slow
async def test_recall_that_is_off_is_said(app, world):
    install.apply(install.plan(install.settings_path(world.env, world.shop, "user"), "install", env=world.env))
    put(world.root + "/config.toml", "recall = false\n")
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot)
        assert "the setting recall is off" in app.screen.summary().plain
        assert outcomes(app)["prefer-pnpm"] == "inject"


@pytest.mark.slow
async def test_an_error_while_indexing_is_shown_where_it_happens(app, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "recall")

    monkeypatch.setattr("memtui.recall.build.bring_up_to_date", full)
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot)
        assert "can't be brought up to date: recall: No space left on device" in app.screen.summary().plain


async def test_recall_asked_for_before_the_screen_is_whole_begins_once_it_is(world):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen="inbox")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        inbox = app.screen
        app.simulate_key("1")
        for _ in range(1000):
            if app.screen is inbox:
                await asyncio.sleep(0)
        app.action_run("memories.recall")
        await settle(pilot)
        assert app.screen.recalled is not None


async def test_an_unlikely_memory_that_is_muted_says_so_at_once(app):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "make the redesign faster")
        name = names(app)[1]
        assert outcomes(app)[name] == "unlikely"
        await pilot.press("x")
        await settle(pilot)
        assert outcomes(app)[name] == "muted"
        await to(pilot, name)
        assert "muted for prompts like this" in app.screen.detail.plain
        assert app.screen.summary().plain.startswith("Nothing passes 40% · ")
        assert "x unmute" in app.screen._compositor.render_strips()[-1].text
        await pilot.press("x")
        await settle(pilot)
        assert outcomes(app)[name] == "unlikely"


async def test_memories_that_claude_code_recalls_itself_are_counted_as_left_out(app, world):
    fs.write_cache(world.root + places.BY_CLIENT, b"\n")
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "make the redesign faster")
        assert "2 of agents and 4 that Claude Code recalls itself left out" in app.screen.summary().plain
