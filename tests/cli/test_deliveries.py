"""What was delivered is found again: the exact text, why, and whether it arrived."""

import os
import re

import pytest

from memtui.core.base import when


def outcomes(memtui, *words):
    return [row["outcome"] for row in memtui.json("deliveries", *words)["deliveries"]]


def test_every_receipt_occurs_in_the_sample_world(memtui):
    assert outcomes(memtui) == [
        "waiting",
        "arrived",
        "arrived",
        "failed",
        "arrived",
        "timed out",
        "arrived",
        "arrived",
        "arrived",
        "arrived",
        "previewed",
        "arrived",
        "arrived",
        "unknown",
        "unknown",
    ]
    text = memtui("deliveries").out
    assert "✗ failed" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "The lint job is slow today" in text, "a note is shown by its first words"
    assert "index of 6 · prefer" in text


def test_the_text_of_a_delivery_that_did_not_arrive_is_not_called_what_the_model_got(memtui):
    lost = memtui.json("deliveries", "--outcome", "timed out")["deliveries"][0]["id"]
    text = memtui("deliveries", "show", lost).out
    assert "nothing arrived" in text
    assert "exactly as the hook gave it" in text
    assert "Pieces  1" in text, "an item is a piece of unfinished work"


@pytest.mark.slow
def test_filters(memtui, world):
    assert outcomes(memtui, "--outcome", "failed") == ["failed"]
    assert outcomes(memtui, "--outcome", "lost") == ["failed", "timed out"]
    assert len(outcomes(memtui, "--session", world.sessions["blog"][:8])) == 4
    assert len(outcomes(memtui, "--project", world.blog)) == 4
    assert len(outcomes(memtui, "--since", "1d")) == 7
    assert len(outcomes(memtui, "--limit", "3")) == 3
    assert outcomes(memtui, "--text", "REGISTRY mirror") == ["arrived"]
    assert outcomes(memtui, "--kind", "use") == ["nothing"] * 4
    assert len(outcomes(memtui, "--kind", "guidance")) == len(outcomes(memtui, "--kind", "notes")) == 8
    assert outcomes(memtui, "--kind", "drafts") == outcomes(memtui, "--kind", "pending-update") != []
    assert len(outcomes(memtui, "--since", "yesterday")) == len(outcomes(memtui, "--since", "2026-11-20"))
    assert outcomes(memtui, "--since", "never", "--until", "never") == outcomes(memtui)
    yesterday = outcomes(memtui, "--since", "2026-11-20", "--until", "yesterday")
    assert {"failed", "timed out"} <= set(yesterday), "a day counts whole"
    assert outcomes(memtui, "--since", "today") + yesterday == outcomes(memtui, "--since", "yesterday")
    assert outcomes(memtui, "--since", "today") + outcomes(memtui, "--until", "2026-11-20") == outcomes(memtui)
    for end in ("2026-11-20", "2026-11-19"):
        crossed = memtui("deliveries", "--since", "2026-11-21", "--until", end, check=False)
        assert (crossed.code, "is not before --until" in crossed.err) == (2, True)
    refused = memtui("deliveries", "--since", "whenever", check=False)
    assert refused.code == 2
    assert when.BACK in refused.err


def test_the_deliveries_of_one_memory(memtui, world):
    rows = memtui.json("deliveries", "--memory", "prefer-pnpm")["deliveries"]
    assert [row["event"] for row in rows] == ["SessionStart"] * 2 + ["PostToolUse"] + ["SessionStart"] * 2
    path = world.shop + "/.claude/memory/prefer-pnpm.md"
    for ref in (path, "project:prefer-pnpm", ".claude/memory/prefer-pnpm.md"):
        assert memtui.json("deliveries", "--memory", ref)["deliveries"] == rows
    memtui("rm", "prefer-pnpm")
    assert memtui.json("deliveries", "--memory", "prefer-pnpm")["deliveries"] == rows, "of one that is gone, too"
    assert memtui.json("deliveries", "--memory", path)["deliveries"] == rows
    assert memtui.json("deliveries", "--memory", "prefer-pnpm", "--outcome", "arrived")["deliveries"] == [
        row for row in rows if row["outcome"] == "arrived"
    ]
    assert "No matches" in memtui("deliveries", "--memory", "no-such").out


def test_what_the_deliveries_add_up_to(memtui, world):
    data = memtui.json("deliveries", "--stats", "--days", "5")
    rows = [row for row in memtui.json("deliveries", "--limit", "0")["deliveries"] if row["time"] >= "2026-11-17"]
    assert [day["date"] for day in data["days"]] == [f"2026-11-{day}" for day in range(17, 22)]
    assert sum(day["deliveries"] for day in data["days"]) == len(rows) == data["outcomes"]["of_newest"]
    assert sum(day["characters"] for day in data["days"]) == sum(row["chars"] for row in rows)
    assert data["outcomes"]["counts"] == memtui.json("receipts", *[row["id"] for row in rows])["counts"]
    assert data["days"][0]["outcomes"] == {"arrived": 2}
    assert data["days"][0]["receipts"]["arrived"] == data["days"][0]["receipts"]["settled"] == 2
    assert data["outcomes"]["receipts"] == memtui.json("receipts", *[row["id"] for row in rows])["sums"]
    assert data["days"][1]["p50_ms"] is None
    by_event = {event["event"]: event for event in data["events"]}
    assert by_event["UserPromptSubmit"]["hooks"] == 6
    assert by_event["SessionStart"]["p50_ms"] <= by_event["SessionStart"]["p95_ms"]
    counts = {row["name"]: row["deliveries"] for row in data["memories"]}
    assert (counts["concise-answers"], counts["prefer-pnpm"]) == (4, 3)
    never = {row["name"] for row in data["never_delivered"]}
    assert "skip-code-review" in never
    assert "meeting-notes" not in never  # the client's own memory: the client loads it
    assert not never & {name for name, count in counts.items() if count}
    assert not data["whole_log"]
    assert memtui.json("deliveries", "--stats", "--days", "90")["whole_log"]
    here = memtui.json("deliveries", "--stats", "--project", world.blog)
    assert sum(day["deliveries"] for day in here["days"]) == 4


def test_the_sums_are_drawn(memtui, bare):
    out = memtui("deliveries", "--stats").out
    assert max(map(len, out.splitlines())) <= 80
    for words in ("Per day", "P50", "█", "✓ arrived", "Delivered most", "UserPromptSubmit", "skip-code-review"):
        assert words in out, words
    assert "✓ arrived 9 of 12  ◐ 1 previewed  ✗ 2 lost  … 1 waiting  · 2 unknown" in out
    assert "75% of settled" in out
    assert re.search(r"2026-11-1\d +- +none for 4 days", out), "days without deliveries are one line"
    assert "…\n" not in out.replace(" …\n", "")
    assert "Nothing was delivered" in bare("deliveries", "--stats").out
    for words in (["--stats", "--days", "0"], ["--days", "3"], ["--stats", "--kind", "index"]):
        assert memtui("deliveries", *words, check=False).code == 2


def test_one_delivery_is_shown_whole(memtui):
    (row,) = memtui.json("deliveries", "--text", "registry mirror")["deliveries"]
    found = memtui.json("deliveries", "show", row["id"][-6:])
    assert found == {**row, "meaning": found["meaning"], "transcript_found": found["transcript_found"]}
    text = memtui("deliveries", "show", row["id"]).out
    assert row["text"] in text
    assert "next prompt" in text
    assert text.count("Use the registry mirror today, the public one is slow.") == 2, "its title, and the very text"
    assert "✓ arrived" in text


def test_what_was_left_out_is_shown(memtui, world):
    from memtui.core.base import clock
    from memtui.core.deliveries import log as delivery_log

    record = {
        "v": 1,
        "id": "01M7Y500000000000000000000",
        "time": clock.iso(world.now),
        "event": "UserPromptSubmit",
        "session_id": "s",
        "text": "t",
        "items": [{"kind": "pending-update", "id": "one", "left_out": "no room"}],
    }
    delivery_log.append(world.root, record, world.now)
    assert "no room" in memtui("deliveries", "show", record["id"]).out


def test_lines_that_can_not_be_read_are_counted(memtui, world):
    from memtui.core.deliveries import log as delivery_log

    with open(delivery_log.months(world.root)[0], "a") as file:
        file.write('{"v": 1, "torn')
    assert memtui.json("deliveries", "--limit", "0")["skipped_lines"] == 1
    assert "1 line of the log" in memtui("deliveries").out


def test_receipts_count_what_became_of_all(memtui):
    told = memtui.json("receipts")
    assert told["sums"] == {"settled": 12, "arrived": 9, "previewed": 1, "lost": 2, "waiting": 1, "unknown": 2}
    assert "✓ arrived 9 of 12  ◐ 1 previewed  ✗ 2 lost  … 1 waiting  · 2 unknown" in memtui("receipts").out
    counts = told["counts"]
    assert counts == {"arrived": 9, "unknown": 2, "waiting": 1, "failed": 1, "timed out": 1, "previewed": 1}
    (row,) = memtui.json("receipts", memtui.json("deliveries")["deliveries"][0]["id"][-6:])["receipts"]
    assert row["outcome"] == "waiting"


def test_sessions_and_what_each_one_got(memtui, world):
    rows = memtui.json("sessions", "--all-projects")["sessions"]
    assert [row["id"] for row in rows] == [world.sessions[n] for n in ("today", "blog", "tuesday", "monday", "older")]
    assert (rows[0]["deliveries"], rows[0]["uses"], rows[0]["mode"]) == (3, 2, "full")
    assert [row["live"] for row in rows] == [True, False, False, False, False]
    assert rows[0]["title"] == "add tests for the new components"
    assert rows[1]["receipts"] == {"settled": 4, "arrived": 2, "previewed": 0, "lost": 2, "waiting": 0, "unknown": 0}
    found = memtui.json("sessions", "show", "7c1e")
    assert [record["outcome"] for record in found["records"]] == [
        "arrived",
        "arrived",
        "nothing",
        "arrived",
        "previewed",
    ]
    chars = sum(record["chars"] for record in found["records"])
    ms = round(sum(record["ms"] for record in found["records"] if record["chars"]))
    sums = {"deliveries": 4, "characters": chars, "tokens": chars // 4, "ms": ms}
    assert found["sums"] == {**sums, "outcomes": {"arrived": 3, "nothing": 1, "previewed": 1}}
    text = memtui("sessions", "show", "7c1e").out
    assert f"about {chars // 4:,} tokens" in text
    assert f"{ms} ms" in text


def test_a_session_says_that_the_projects_notes_wait_for_any_of_its_sessions(memtui):
    memtui("guide", "for the project")
    shown = " ".join(memtui("sessions", "show", "7c1e").out.split())
    assert "for the project" in shown
    assert "go to whichever of its sessions prompts first." in shown


def test_sessions_of_this_project_are_listed_and_others_are_counted(memtui, world):
    found = memtui.json("sessions")
    assert [row["id"] for row in found["sessions"]] == [
        world.sessions[n] for n in ("today", "tuesday", "monday", "older")
    ]
    assert found["elsewhere"] == 1
    assert "1 session of other projects: memtui sessions --all-projects" in memtui("sessions").out
    assert [row["id"] for row in memtui.json("sessions", "--project", world.blog)["sessions"]] == [
        world.sessions["blog"]
    ]
    (live,) = memtui.json("sessions", "--live")["sessions"]
    assert live["id"] == world.sessions["today"]
    os.unlink(world.root + "/run/client-1")
    assert "No session is live." in memtui("sessions", "--live").out


def test_a_session_s_id_is_enough_to_show_it(memtui, world):
    assert memtui("sessions", "d2f7").out == memtui("sessions", "show", "d2f7").out
    text = memtui("sessions", "a94d").out
    assert "✓ arrived 2 of 4, ✗ 2 lost" in text
    assert "The caching numbers were measured again" in text
    assert f"cd {world.blog} && claude --resume {world.sessions['blog']}" in text
    today = memtui.json("sessions", "d2f7")
    assert "CI is red on main: the lockfile job fails since 3f9a2c1." in [each["text"] for each in today["waiting"]]
    fields = memtui.json("sessions")["sessions"][0]
    assert fields == {name: today[name] for name in fields}
    assert memtui("sessions", "show", check=False).code == 2


@pytest.mark.parametrize("ref", ["zzzz", "ab"])
def test_what_is_not_there_is_not_found(memtui, ref):
    assert memtui("deliveries", "show", ref, check=False).code == 3
    assert memtui("sessions", "show", ref, check=False).code == 3


def test_what_comes_in_stands_below_what_was_there(memtui, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("memtui.cli.commands.deliveries.time.sleep", interrupt)
    done = memtui("deliveries", "--follow", check=False)
    assert done.code == 130
    lines = done.out.splitlines()
    assert len(lines) == 1 + 2 * 15  # the head, and each with what it brought below it
    assert lines[-1] == "    The lint job is slow today."
    assert max(map(len, lines)) <= 80
    assert {text[lines[0].index("EVENT") :].split()[0] for text in lines[1::2]} == {"start", "prompt", "tool"}
    assert "Waiting" in done.err


@pytest.mark.parametrize("columns", ["40", "60", "80", "100", "160"])
def test_what_is_followed_fits_the_terminal(memtui, monkeypatch, columns):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("memtui.cli.commands.deliveries.time.sleep", interrupt)
    memtui.env["COLUMNS"] = columns
    lines = memtui("deliveries", "--follow", check=False).out.splitlines()
    assert max(map(len, lines)) <= int(columns)
    assert ("d2f7b8c9 · shop · tool · The lint…" if columns == "40" else "The lint job is slow today.") in lines[-1]


def test_nothing_found_is_told_from_nothing_there(memtui):
    assert "memtui hooks status" not in memtui("deliveries", "--text", "no such words").out
    assert "“zzzz”" in memtui("deliveries", "show", "zzzz", check=False).err


def test_the_reason_is_readable_in_eighty_columns(memtui):
    assert "unreviewed, newest first" in memtui("deliveries", "show", "Z2C4A7").out


def test_where_nothing_was_delivered_it_says_whether_the_hooks_are_installed(bare):
    assert "No hooks are installed: memtui hooks install" in bare("deliveries").out
    bare("hooks", "install", "--yes")
    told = bare("deliveries").out
    assert "The hooks are installed: the next session or prompt gets what waits." in told
    assert "hooks status" not in told
