"""What was delivered is found again: the exact text, why, and whether it arrived."""

import pytest


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
        "previewed",
        "arrived",
        "arrived",
        "unknown",
        "unknown",
    ]
    text = memtui("deliveries").out
    assert "✗ failed" in text
    assert max(map(len, text.splitlines())) <= 80


def test_filters(memtui, world):
    assert outcomes(memtui, "--outcome", "failed") == ["failed"]
    assert len(outcomes(memtui, "--session", world.sessions["blog"][:8])) == 4
    assert len(outcomes(memtui, "--project", world.blog)) == 4
    assert len(outcomes(memtui, "--since", "1d")) == 7
    assert len(outcomes(memtui, "--limit", "3")) == 3
    assert outcomes(memtui, "--text", "REGISTRY mirror") == ["arrived"]
    assert outcomes(memtui, "--kind", "use") == ["nothing", "nothing"]
    assert len(outcomes(memtui, "--kind", "guidance")) == 7
    assert memtui("deliveries", "--since", "whenever", check=False).code == 2


def test_one_delivery_is_shown_whole(memtui):
    (row,) = memtui.json("deliveries", "--text", "registry mirror")["deliveries"]
    found = memtui.json("deliveries", "show", row["id"][-6:])
    assert found == {**row, "meaning": found["meaning"], "transcript_found": found["transcript_found"]}
    text = memtui("deliveries", "show", row["id"]).out
    assert row["text"] in text
    assert "next prompt" in text
    assert "✓ arrived" in text


def test_what_was_left_out_is_shown(memtui, world):
    from memtui.core import clock, delivery

    record = {
        "v": 1,
        "id": "01M7Y500000000000000000000",
        "time": clock.iso(world.now),
        "event": "UserPromptSubmit",
        "session_id": "s",
        "text": "t",
        "items": [{"kind": "pending-update", "id": "one", "left_out": "no room"}],
    }
    delivery.append(world.root, record, world.now)
    assert "no room" in memtui("deliveries", "show", record["id"]).out


def test_lines_that_can_not_be_read_are_counted(memtui, world):
    from memtui.core import delivery

    with open(delivery.months(world.root)[0], "a") as file:
        file.write('{"v": 1, "torn')
    assert memtui.json("deliveries", "--limit", "0")["skipped_lines"] == 1
    assert "1 line of the log" in memtui("deliveries").out


def test_receipts_count_what_became_of_all(memtui):
    counts = memtui.json("receipts")["counts"]
    assert counts == {"arrived": 8, "unknown": 2, "waiting": 1, "failed": 1, "timed out": 1, "previewed": 1}
    (row,) = memtui.json("receipts", memtui.json("deliveries")["deliveries"][0]["id"][-6:])["receipts"]
    assert row["outcome"] == "waiting"


def test_sessions_and_what_each_one_got(memtui, world):
    rows = memtui.json("sessions")["sessions"]
    assert [row["id"] for row in rows] == [world.sessions[n] for n in ("today", "blog", "tuesday", "monday", "older")]
    assert (rows[0]["deliveries"], rows[0]["uses"], rows[0]["mode"]) == (3, 1, "full")
    found = memtui.json("sessions", "show", "7c1e")
    assert [record["outcome"] for record in found["records"]] == ["arrived", "arrived", "previewed"]


@pytest.mark.parametrize("ref", ["zzzz", "ab"])
def test_what_is_not_there_is_not_found(memtui, ref):
    assert memtui("deliveries", "show", ref, check=False).code == 3
    assert memtui("sessions", "show", ref, check=False).code == 3


def test_what_comes_in_stands_below_what_was_there(memtui, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("memtui.cli.deliveries.time.sleep", interrupt)
    done = memtui("deliveries", "--follow", check=False)
    assert done.code == 130
    lines = done.out.splitlines()
    assert len(lines) == 14
    assert max(map(len, lines)) <= 80
    events = [max(map(text.find, ("SessionStart", "UserPromptSubmit", "PreToolUse"))) for text in lines]
    assert len(set(events)) == 1
    assert "Waiting" in done.err


def test_nothing_found_is_told_from_nothing_there(memtui, bare):
    assert "memtui hooks status" not in memtui("deliveries", "--text", "no such words").out
    assert "memtui hooks status" in bare("deliveries").out
    assert "“zzzz”" in memtui("deliveries", "show", "zzzz", check=False).err


def test_the_reason_is_readable_in_eighty_columns(memtui):
    assert "unreviewed, newest first" in memtui("deliveries", "show", "Z2C4A7").out
