"""Deliveries in Activity: newest first and live, queries, the very text, receipts, plots, logs of any length."""

import json

import pytest

from memtui.base import clock_hot, paths_hot
from memtui.deliver import log_hot, receipts_hot
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.activity import sessions
from memtui.tui.screens.activity.sessions import DeliveryEntry, SessionGroup
from memtui.views import deliveries as present
from tui.conftest import NOW, press, settle

SIZES = [(80, 24), (120, 40), (160, 48), (40, 24)]
pytestmark = pytest.mark.every(step=1)


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


def records(world):
    return list(log_hot.newest_first(world.root))


def append(world, name="01ZZZZZZZZZZZZZZZZZZZZZZZ1", seconds=NOW, session="today", text="fresh words", **more):
    record = {
        "v": 1,
        "id": name,
        "time": clock_hot.iso(seconds),
        "event": "UserPromptSubmit",
        "session_id": world.sessions[session],
        "transcript": f"{world.config}/projects/{paths_hot.slug(world.shop)}/{world.sessions[session]}.jsonl",
        "project": paths_hot.project_key(world.shop),
        "project_root": world.shop,
        "mode": "full",
        "chars": len(text),
        "text": text,
        "items": [{"kind": "guidance", "id": "g1", "scope": "project", "reason": "next prompt", "chars": len(text)}],
        "ms": 21.0,
        **more,
    }
    log_hot.append(world.root, record, seconds)
    return record


def write(path, lines, mode="w"):
    with open(path, mode, encoding="utf-8") as file:
        file.writelines(lines)


async def live(pilot):
    """As the watcher does when the log has grown."""
    pilot.app.read()
    await settle(pilot)
    await settle(pilot)


@pytest.mark.slow
async def test_the_log_newest_first_with_a_receipt_each(app, world):
    async with app.run_test(size=SIZES[0]) as pilot:
        given = [r for r in records(world) if r.get("text")]
        expected = receipts_hot.outcomes(given, world.env, NOW)
        assert set(expected.values()) >= {"arrived", "previewed", "timed out", "failed", "unknown", "waiting"}
        for size in SIZES:
            await pilot.resize_terminal(*size)
            screen = await ready(pilot)
            assert [row.id for row in listed(screen)] == [r["id"] for r in given]
            assert {row.id: screen.services.data.receipts.known[row.id] for row in listed(screen)} == expected


async def test_the_detail_is_the_very_text_why_and_the_receipt(app, world):
    append(world, text="", chars=1234, folded=True, items=[])
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        assert f"{sessions.FOLDED}, 1,234 characters" in screen.detail.plain
        for record in (r for r in records(world) if r.get("text")):
            stand_on(screen, record["id"])
            await pilot.pause()
            text = screen.detail.plain
            assert record["text"].strip() in text
            assert present.MEANINGS[screen.services.data.receipts.known[record["id"]]] in text
            for item in record["items"]:
                assert item["reason"] in text or present.reason(item["reason"]) == present.INDEX_LINE
            await pilot.press("y")
            assert app.clipboard == record["text"]
        stand_on(screen, next(r["id"] for r in records(world) if r.get("text")))
        await pilot.pause()
        assert "“add tests for the new components” · shop" in screen.detail.plain


@pytest.mark.slow
async def test_new_deliveries_appear_and_the_cursor_stays(app, world):
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        before = len(listed(screen))
        assert screen.numbers()[0] == "15"
        await pilot.press("j", "j")
        here = screen.table.row_id
        append(world)
        await live(pilot)
        assert (len(listed(screen)), listed(screen)[0].id) == (before + 1, "01ZZZZZZZZZZZZZZZZZZZZZZZ1")
        assert screen.table.row_id == here
        assert "16 deliveries" in screen.query_one("#summary").render().plain


async def test_a_waiting_receipt_is_settled_by_the_transcript_without_a_key(app, world):
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        waiting = next(row for row in listed(screen) if screen.services.data.receipts.known[row.id] == "waiting")
        record = next(r for r in records(world) if r["id"] == waiting.id)
        line = {
            "type": "attachment",
            "timestamp": clock_hot.iso(NOW),
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


@pytest.mark.large
async def test_a_long_log_opens_with_its_newest_and_reads_on_when_followed(world):
    path = log_hot.log_path(world.root, NOW)
    rows = []
    for number in range(3000):
        row = {"v": 1, "id": f"L{number:025d}", "time": clock_hot.iso(NOW + number / 1000), "event": "PreToolUse"}
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
        assert screen.numbers()[1].endswith("+")
        for _ in range(8):  # each time more of the log is read
            unfold(screen)
            await press(pilot, "G")
        assert screen.table.cursor == len(screen.table.rows) - 1
        ids = [row.id for row in listed(screen)]
        assert len(ids) == len(set(ids)) == total
