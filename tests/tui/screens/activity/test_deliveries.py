"""Deliveries in Activity: newest first and live, queries, the very text, receipts, plots, logs of any length."""

import json
import os
import re

import pytest

from memtui.base import clock, fs, paths
from memtui.deliver import log as delivery_log
from memtui.deliver import receipts
from memtui.deliver.earlier import NOTHING_MOVED
from memtui.deliver.filter import Filter
from memtui.deliver.reading import DeliveryRow
from memtui.deliver.record import Delivery
from memtui.deliver.statistics import Day, Statistics, day_of
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.activity import details
from memtui.tui.screens.activity.plots import plots
from memtui.tui.screens.activity.rows import DeliveryEntry, SessionGroup
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.rows import RowList
from memtui.views import deliveries as present
from tui.conftest import NOW, settle

SIZES = [(80, 24), (120, 40), (160, 48), (40, 24)]


@pytest.fixture
def deliveries(world):
    """The application, started on this screen."""
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen="activity")
    app.all_projects = True
    return app


def drawn(screen):
    return [strip.text for strip in screen._compositor.render_strips()]


async def ready(pilot):
    for _ in range(300):
        await settle(pilot)
        if pilot.app.data.statistics.ready and pilot.app.screen.listing.reading is not None:
            break
    await settle(pilot)
    unfold(pilot.app.screen)
    await settle(pilot)
    return pilot.app.screen


def unfold(screen):
    """Unfold all sessions that are listed, and put the cursor on the newest delivery."""
    folded = [row for row in screen.table.rows if isinstance(row, SessionGroup) and not row.unfolded and row.deliveries]
    for row in folded:
        screen.fold(row.session, unfold=True)
    if folded:
        stand_on(screen, listed(screen)[0].id)


def listed(screen):
    """The deliveries in the list, as the log has them."""
    return [row.logged for row in screen.table.rows if isinstance(row, DeliveryEntry)]


def stand_on(screen, name):
    screen.table.move_to(screen.table.index_of(name))


def detail(screen):
    return screen.query_one("#detail", Detail).plain


def records(world):
    return list(delivery_log.newest_first(world.root))


def append(world, name="01ZZZZZZZZZZZZZZZZZZZZZZZ1", seconds=NOW, session="today", text="fresh words", **more):
    record = {
        "v": 1,
        "id": name,
        "time": clock.iso(seconds),
        "event": "UserPromptSubmit",
        "session_id": world.sessions[session],
        "transcript": f"{world.config}/projects/{paths.slug(world.shop)}/{world.sessions[session]}.jsonl",
        "project": paths.project_key(world.shop),
        "project_root": world.shop,
        "mode": "full",
        "chars": len(text),
        "text": text,
        "items": [{"kind": "guidance", "id": "g1", "scope": "project", "reason": "next prompt", "chars": len(text)}],
        "ms": 21.0,
        **more,
    }
    delivery_log.append(world.root, record, seconds)
    return record


def write(path, lines, mode="w"):
    with open(path, mode, encoding="utf-8") as file:
        file.writelines(lines)


async def live(pilot):
    """As the watcher does when the log has grown."""
    pilot.app.read()
    await settle(pilot)
    await settle(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_the_log_newest_first_with_a_receipt_each(deliveries, world, size):
    async with deliveries.run_test(size=size) as pilot:
        screen = await ready(pilot)
        given = [r for r in records(world) if r.get("text")]
        assert [row.id for row in listed(screen)] == [r["id"] for r in given]
        expected = receipts.outcomes(given, world.env, NOW)
        assert {row.id: screen.services.data.receipts.known[row.id] for row in listed(screen)} == expected
        assert set(expected.values()) >= {"arrived", "previewed", "timed out", "failed", "unknown", "waiting"}


@pytest.mark.slow
async def test_the_detail_is_the_very_text_why_and_the_receipt(deliveries, world):
    async with deliveries.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        for record in (r for r in records(world) if r.get("text")):
            stand_on(screen, record["id"])
            await pilot.pause()
            text = detail(screen)
            assert record["text"].strip() in text
            assert present.MEANINGS[screen.services.data.receipts.known[record["id"]]] in text
            for item in record["items"]:
                assert item["reason"] in text or present.reason(item["reason"]) == present.INDEX_LINE
        stand_on(screen, listed(screen)[0].id)
        await pilot.pause()
        assert "“add tests for the new components” · shop" in detail(screen)


async def test_scores_and_what_was_left_out_are_told(deliveries, world):
    append(
        world,
        items=[
            {"kind": "memory", "id": "prefer-pnpm", "scope": "project", "reason": "alike", "score": 0.82},
            {"kind": "pending-update", "scope": "project", "left_out": "no room", "count": 7},
            {"kind": "guidance", "id": "g9", "scope": "global", "left_out": "too long"},
        ],
    )
    async with deliveries.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        screen.services.data.receipts.known["01ZZZZZZZZZZZZZZZZZZZZZZZ1"] = "previewed"
        screen.show_detail()
        await settle(pilot)
        text = detail(screen)
    for words in ("prefer-pnpm", "82%", "Left out  8", "no room", "too long"):
        assert words in text
    assert "waits again" not in text, "what was left out was not lost"


@pytest.mark.slow
async def test_new_deliveries_appear_and_the_cursor_stays(deliveries, world):
    async with deliveries.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        before = len(listed(screen))
        assert screen.numbers()[0] == "15"
        await pilot.press("j", "j")
        here = screen.table.row_id
        append(world)
        await live(pilot)
        assert len(listed(screen)) == before + 1
        assert listed(screen)[0].id == "01ZZZZZZZZZZZZZZZZZZZZZZZ1"
        assert screen.table.row_id == here
        assert "16 deliveries" in screen.query_one("#summary").render().plain


@pytest.mark.slow
async def test_the_watcher_shows_a_delivery_without_a_key(deliveries, world):
    async with deliveries.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        append(world)
        for _ in range(60):
            await pilot.pause(0.05)
            if listed(screen)[0].id.startswith("01ZZ"):
                break
        assert listed(screen)[0].id == "01ZZZZZZZZZZZZZZZZZZZZZZZ1"


@pytest.mark.slow
async def test_a_waiting_receipt_is_settled_by_the_transcript_without_a_key(deliveries, world):
    async with deliveries.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        waiting = next(row for row in listed(screen) if screen.services.data.receipts.known[row.id] == "waiting")
        record = next(r for r in records(world) if r["id"] == waiting.id)
        line = {
            "type": "attachment",
            "timestamp": clock.iso(NOW),
            "attachment": {
                "type": "hook_additional_context",
                "content": [record["text"]],
                "hookEvent": record["event"],
                "toolUseID": record.get("tool_use_id"),
                "hookName": "memtui",
            },
        }
        write(record["transcript"], [json.dumps(line) + "\n"], "a")
        for _ in range(60):
            await pilot.pause(0.05)
            if screen.services.data.receipts.known[waiting.id] == "arrived":
                break
        assert screen.services.data.receipts.known[waiting.id] == "arrived"


@pytest.mark.slow
@pytest.mark.every(step=3)
@pytest.mark.parametrize(
    ("query", "fits"),
    [
        ("kind:index", lambda r, _: any(i["kind"] == "index" for i in r["items"])),
        ("kind:use", lambda r, _: any(i["kind"] == "use" for i in r["items"])),
        ("is:nothing", lambda r, o: o == "nothing"),
        ("is:failed", lambda r, o: o == "failed"),
        ("project:blog", lambda r, _: r["project_root"].endswith("/blog") and r["text"]),
        ("FRIDAY frozen", lambda r, _: "frozen until Friday" in r["text"]),
    ],
)
async def test_filters_show_what_fits_and_escape_shows_all(deliveries, world, query, fits):
    every = records(world)
    outcomes = receipts.outcomes(every, world.env, NOW)
    async with deliveries.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        screen.show_query(query)
        await ready(pilot)
        assert [row.id for row in listed(screen)] == [r["id"] for r in every if fits(r, outcomes[r["id"]])]
        assert screen.table.rows
        await pilot.press("escape")
        await ready(pilot)
        assert len(listed(screen)) == sum(bool(r["text"]) for r in every)


@pytest.mark.slow
async def test_text_is_searched_while_typing_and_nothing_says_so(deliveries):
    async with deliveries.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await pilot.press("slash", *"mirror")
        for _ in range(50):
            await settle(pilot)
            await pilot.pause(0.02)
            reading = screen.listing.reading
            if screen.listing.wanted.text == "mirror" and reading and reading.wanted.text == "mirror":
                break
        assert len(listed(screen)) == 1
        await pilot.press(*"zzz", "enter")
        await ready(pilot)
        assert not listed(screen)
        assert "escape" in screen.table.empty
        await pilot.press("escape")
        await ready(pilot)
        assert len(listed(screen)) > 10


async def test_rows_say_the_first_words_and_why_says_titles(deliveries):
    async with deliveries.run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        lines = drawn(screen)
        assert any("note     The lint job is slow today." in line for line in lines)
        assert any("2 drafts, 3 todos · Ask before" in line for line in lines)
        assert any("index of 6 · prefer-pnpm" in line for line in lines)
        stand_on(screen, listed(screen)[1].id)
        await pilot.pause()
        text = detail(screen)
        for words in (
            "2 drafts",
            "  Ask before writing a database migration  ",
            "3 todos",
            "  Fix the flaky upload test",
        ):
            assert words in text, words
        assert f"delivery {screen.table.row_id[-6:]}" in text
        before, _, text = text.partition("The exact text")
        internals = text.rpartition("\n\n")[2]
        assert "ms · mode full · delivery" in internals
        assert screen.table.row_id not in before + internals, "no whole ids"


async def test_a_terminal_of_80_columns_says_of_which_project_each_delivery_is(deliveries):
    """The list is of all projects: without their names, losses elsewhere look like this project's."""
    async with deliveries.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        screen.table.move_to(0)  # only now is what unfolding put in sight drawn
        stand_on(screen, listed(screen)[0].id)
        await settle(pilot)
        text = [strip.text for strip in deliveries.screen._compositor.render_strips()]
        assert any("draft the post on caching" in line and " blog " in line for line in text)


@pytest.mark.slow
async def test_two_projects_of_one_name_are_told_apart(deliveries, world):
    append(world, project_root="/somewhere/else/shop", project="-somewhere-else-shop", session_id="elsewhere")
    async with deliveries.run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        roots = {row.session: row.root for row in screen.table.rows if isinstance(row, SessionGroup)}
        assert screen.listing.project(roots["elsewhere"]) == "else/shop"
        assert screen.listing.project(roots[world.sessions["today"]]) == "world/shop"
        assert any("else/shop" in line for line in drawn(screen))
        screen.show_query("project:/somewhere/else/shop")
        await ready(pilot)
        assert {row.session for row in listed(screen)} == {"elsewhere"}


@pytest.mark.slow
async def test_words_of_a_search_are_marked_in_the_list_and_in_the_detail(deliveries):
    async with deliveries.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        screen.show_query("friday")
        await ready(pilot)
        cell = screen.table._draw(next(row for row in screen.table.rows if isinstance(row, DeliveryEntry)))[0]
        assert [cell.plain[span.start : span.end] for span in cell.spans if "underline" in str(span.style)] == [
            "Friday"
        ]
        text = screen.detail.text
        assert {text.plain[each.start : each.end] for each in text.spans if "underline" in str(each.style)} == {
            "Friday"
        }


@pytest.mark.slow
@pytest.mark.every(step=4)
@pytest.mark.parametrize("size", SIZES)
async def test_plots_tell_days_outcomes_times_and_memories(deliveries, size):
    async with deliveries.run_test(size=size) as pilot:
        screen = await ready(pilot)
        await pilot.press("P")
        await settle(pilot)
        await settle(pilot)
        text = screen.query_one("#plots", Detail).plain
        for words in (
            "Per day",
            "Receipts",
            "arrived 9 of 12",
            "known for 12 of the newest 15 deliveries",
            "half under",
            "95% under",
        ):
            assert words in text
        await pilot.press("escape")
        assert not screen.has_class("plots")


async def test_plots_are_drawn_anew_for_another_width(deliveries):
    async with deliveries.run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        await pilot.press("P")
        await settle(pilot)
        wide = screen.query_one("#plots", Detail).plain
        await pilot.resize_terminal(60, 24)
        await settle(pilot)
        narrow = screen.query_one("#plots", Detail).plain
        assert max(len(line) for line in narrow.split("\n") if "█" in line) < 60
        assert max(len(line) for line in wide.split("\n") if "█" in line) > 60
        await pilot.resize_terminal(160, 48)
        await settle(pilot)
        assert screen.query_one("#plots", Detail).plain == wide


async def test_what_became_of_the_deliveries_of_a_query_adds_up_to_their_number(deliveries):
    async with deliveries.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        screen.show_query("project:shop")
        await ready(pilot)
        title = screen.summary().plain
        counted, _, parts = title.partition(" deliveries")
        assert "11 of" in counted
        assert sum(map(int, re.findall(r"\d+", parts))) == 11


async def test_where_nothing_was_lost_that_is_said(empty):
    app = MemtuiApp(*empty, now=NOW, screen="activity")
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        await pilot.press("exclamation_mark")
        await ready(pilot)
        assert "Nothing was lost." in app.screen.table.empty
        assert "No matches" not in app.screen.table.empty


def test_while_the_log_is_counted_the_plots_claim_nothing_about_days_that_were_not_reached():
    statistics = Statistics("/nowhere", lambda: NOW, lambda: NOTHING_MOVED)
    assert "counting …" in plots(statistics, {}, 80).plain
    statistics.lines = 10
    statistics.days = {day_of(NOW): Day(9, 3000)}
    drawn = plots(statistics, {}, 80).plain
    assert "none" not in drawn
    assert "  counting …" in drawn
    statistics.ready = True
    drawn = plots(statistics, {}, 80).plain
    assert "none" in drawn
    assert "counting" not in drawn


@pytest.mark.parametrize("width", [60, 76, 100, 156])
def test_the_bars_of_a_day_stand_below_their_headings_and_unknown_receipts_are_no_losses(width):
    statistics = Statistics("/nowhere", lambda: NOW, lambda: NOTHING_MOVED)
    today = day_of(NOW)
    statistics.days = {today: Day(9, 3000), today - 8: Day(1, 100)}
    statistics.lines, statistics.ready = 10, True
    statistics.recent = [
        DeliveryRow.of(Delivery.of({"id": str(n), "chars": 1, "time": clock.iso(NOW)})) for n in range(9)
    ]
    known = {"0": "arrived", "1": "failed", "2": "waiting", **{str(n): "unknown" for n in range(3, 9)}}
    drawn = plots(statistics, known, width).plain.split("\n")
    heads, row = drawn[1], drawn[2]
    for heading in ["deliveries", "characters", "receipts"]:
        at = heads.index(heading)
        assert row[at - 1] == " "
        assert row[at : at + 10].strip()
    receipts_bar = row[heads.index("receipts") :]
    assert set(receipts_bar) == {"█", "▒", "┄", "·"}
    assert receipts_bar.count("·") > receipts_bar.count("▒") + receipts_bar.count("█")
    assert len(row) <= width
    assert sum(line.endswith("  none") for line in drawn) == 2, "seven days, and the five before the eighth"
    assert any("██ arrived" in line and "▒▒ lost" in line and "·· not known" in line for line in drawn)


async def test_enter_opens_over_the_list_on_a_small_screen_and_escape_comes_back(deliveries):
    async with deliveries.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        assert not screen.query_one("#detail").display
        await pilot.press("enter")
        await pilot.pause()
        assert screen.query_one("#detail").display
        await pilot.press("escape")
        await pilot.pause()
        assert not screen.query_one("#detail").display
        assert screen.focused is screen.table


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 20), (80, 24), (100, 30), (160, 48)])
async def test_an_empty_log_says_what_fills_it_and_no_word_is_cut(tmp_path, size):
    env = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": f"{tmp_path}/c", "MEMTUI_HOME": f"{tmp_path}/m"}
    app = MemtuiApp(env, str(tmp_path), now=NOW, screen="activity", read_only=True)
    async with app.run_test(size=size) as pilot:
        screen = await ready(pilot)
        words = " ".join(" ".join(line[1 : screen.middle.region.right - 1].split()) for line in drawn(screen))
        for sentence in screen.table.empty.split("\n"):
            assert sentence in words
        assert "Sessions get nothing yet: no hooks are installed." in words
        assert words.count("hooks are installed") == 1
        await pilot.press("P")
        await settle(pilot)
        assert "Nothing was delivered yet" in screen.query_one("#plots", Detail).plain
        await pilot.press("escape")


@pytest.mark.large
async def test_a_long_log_opens_with_its_newest_and_reads_on_when_followed(world):
    path = delivery_log.log_path(world.root, NOW)
    rows = []
    for number in range(3000):
        row = {"v": 1, "id": f"L{number:025d}", "time": clock.iso(NOW + number / 1000), "event": "PreToolUse"}
        row |= {"session_id": f"s{number % 50}", "text": "x" * 500, "chars": 500, "items": [], "ms": 12}
        rows.append(json.dumps(row) + "\n")
    write(path, rows, "a")
    app = MemtuiApp(dict(world.env), world.shop, now=NOW + 10, screen="activity")
    app.all_projects = True
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        assert listed(screen)[0].id == f"L{2999:025d}"
        assert len(listed(screen)) < 1000
        total = 3000 + sum(bool(r["text"]) for r in records(world)[3000:])
        assert screen.numbers()[1] == f"{total:,}"
        await pilot.press("G")
        await settle(pilot)
        await settle(pilot)
        assert screen.table.cursor == len(screen.table.rows) - 1
        unfold(screen)
        ids = [row.id for row in listed(screen)]
        assert len(ids) == len(set(ids)) == total


async def test_rows_held_are_bounded(world, monkeypatch):
    from memtui.deliver import reading as history

    monkeypatch.setattr(history, "KEPT", 5)
    reading = history.Reading(world.root, Filter(), history.Receipts(dict(world.env), lambda: NOW))
    reading.more(100, lambda _: True)
    assert len(reading.rows) == 5
    assert reading.full


async def test_a_log_that_was_cut_is_read_anew_and_torn_lines_are_counted(deliveries, world):
    async with deliveries.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        path = delivery_log.months(world.root)[0]
        lines = fs.read_bytes(path).decode().splitlines(keepends=True)
        write(path, [*lines[:3], '{"v": 1, "torn\n'])
        for older in delivery_log.months(world.root)[1:]:
            os.unlink(older)
        await live(pilot)
        await ready(pilot)
        assert len(listed(screen)) == len([r for r in records(world) if r["text"]])
        assert "torn line" in screen.frame.status


@pytest.mark.slow
@pytest.mark.usefixtures("every_frame")
async def test_hostile_text_is_drawn_as_text(deliveries, world):
    evil = "\x1b]0;owned\x07[bold red]x[/] \u202eabc \x9b31m" + "y" * 1_000_000
    append(world, text=evil, event="\x1b[31mEvil", items=[{"kind": "[red]k", "id": "\x1b[2J", "reason": "\u202e"}])
    async with deliveries.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        text = detail(screen)
        assert "[bold red]x[/]" in text
        for char in ("\x1b", "\x07", "\u202e", "\x9b"):
            assert char not in text
            for y in range(40):
                assert char not in "".join(s.text for s in screen.query_one("#list", RowList).render_line(min(y, 30)))


async def test_y_copies_the_exact_text(deliveries, world):
    async with deliveries.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        await pilot.press("y")
        assert deliveries.clipboard == next(r["text"] for r in records(world) if r["text"])
        assert screen.copied() == deliveries.clipboard


@pytest.mark.slow
async def test_on_a_small_screen_the_beginning_of_its_detail_stands_below_the_list(deliveries, world):
    async with deliveries.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        drawn = [strip.text.strip() for strip in screen._compositor.render_strips()]
        below = drawn[screen.table.region.bottom :]
        assert any("What it brought, and why" in line for line in below)
        await pilot.resize_terminal(120, 40)
        await settle(pilot)
        assert not screen.query_one("#glance").display


async def test_a_delivery_whose_text_is_kept_no_longer_says_so(deliveries, world):
    append(world, text="", chars=1234, folded=True, items=[])
    async with deliveries.run_test(size=(120, 40)) as pilot:
        assert f"{details.FOLDED}, 1,234 characters" in detail(await ready(pilot))


@pytest.mark.slow
async def test_a_delivery_is_as_old_as_it_is_now_when_the_screen_is_opened_again(deliveries):
    async with deliveries.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        assert "  1m ago" in detail(screen)
        await pilot.press("2")
        await settle(pilot)
        deliveries.data._now = NOW + 600
        deliveries._aged = NOW + 600  # the other screen has drawn its ages just now
        await pilot.press("3")
        await settle(pilot)
        assert "  11m ago" in detail(screen)


async def test_the_summary_of_a_query_says_what_it_finds_and_the_next_start_has_none(deliveries, world):
    async with deliveries.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        assert screen.summary().plain.endswith(" 15 deliveries  ✓ 9  ◐ 1  ✗ 2  … 1  · 2")
        screen.show_query(f"session:{world.sessions['today']} kind:notes")
        await ready(pilot)
        found = [row.id for row in listed(screen)]
        assert 0 < len(found) < 3
        words = screen.summary().plain
        assert words.endswith("1 of 15 deliveries · 1 on the way")
        await pilot.press("q")
    again = MemtuiApp(dict(world.env), world.shop, now=NOW, screen="activity")
    async with again.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        assert len(listed(screen)) > 3
        assert not screen.filter_line.has_class("shown")


@pytest.mark.slow
async def test_j_and_k_go_on_while_one_is_read(deliveries):
    async with deliveries.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        first, second = listed(screen)[:2]
        stand_on(screen, first.id)
        await pilot.press("enter", "J")
        await settle(pilot)
        assert screen.table.row_id == second.id
        assert screen.detail_covers_list
        await pilot.press("K")
        assert screen.table.row_id == first.id


@pytest.mark.slow
async def test_only_notes_that_wait_can_be_marked(deliveries):
    async with deliveries.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        stand_on(screen, listed(screen)[0].id)
        await pilot.press("space")
        assert not screen.table.marks
        await pilot.press("A")
        assert len(screen.table.marks) == len(screen.markable())


@pytest.mark.parametrize("size", [(40, 12), (60, 15), (80, 24), (160, 48)])
async def test_no_line_is_wider_than_the_screen_and_every_row_has_its_receipt(deliveries, size):
    async with deliveries.run_test(size=size) as pilot:
        screen = await ready(pilot)
        assert all(strip.cell_length <= size[0] for strip in screen._compositor.render_strips())
        screen.show_query("is:lost")
        await ready(pilot)
        shown = "\n".join(line[: screen.middle.region.right] for line in drawn(screen))
        assert shown.count("✗") >= len(listed(screen))
