"""What was delivered is found again: the exact text, why, and whether it arrived."""

import pytest

from memtui.base import dates
from recalls import deliver


def outcomes(memtui, *words):
    return [row["outcome"] for row in memtui.json("activity", *words)["deliveries"]]


def test_every_receipt_occurs_in_the_sample_world(memtui):
    found = outcomes(memtui, "--all-projects")
    assert len(found) == 15
    assert {*found} == {"waiting", "arrived", "failed", "timed out", "previewed", "unknown"}
    text = memtui("activity", "--all-projects").out
    assert "✗ lost" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "The lint job is slow today" in text, "a note is shown by its first words"
    assert "index of 6 · prefer" in text


@pytest.mark.slow
def test_filters(memtui, world):
    assert outcomes(memtui, "--all-projects", "--outcome", "failed") == ["failed"]
    assert outcomes(memtui, "--all-projects", "--outcome", "lost") == ["failed", "timed out"]
    assert len(outcomes(memtui, world.sessions["blog"][:8])) == 4
    assert len(outcomes(memtui, "--project", world.blog)) == 4
    assert len(outcomes(memtui)) == len(outcomes(memtui, "--all-projects")) - 4, "this project alone"
    assert len(outcomes(memtui, "--all-projects", "--since", "1d")) == 7
    assert len(outcomes(memtui, "--all-projects", "--limit", "3")) == 3
    assert outcomes(memtui, "--text", "REGISTRY mirror") == ["arrived"]
    assert outcomes(memtui, "--all-projects", "--kind", "use") == ["nothing"] * 4
    assert (
        len(outcomes(memtui, "--all-projects", "--kind", "guidance"))
        == len(outcomes(memtui, "--all-projects", "--kind", "notes"))
        == 8
    )
    assert outcomes(memtui, "--kind", "drafts") == outcomes(memtui, "--kind", "pending-update") != []
    assert len(outcomes(memtui, "--since", "yesterday")) == len(outcomes(memtui, "--since", "2026-11-20"))
    assert outcomes(memtui, "--since", "never") == outcomes(memtui)
    refused = memtui("activity", "--since", "whenever", check=False)
    assert refused.code == 2
    assert dates.BACK in refused.err


def test_one_delivery_is_shown_whole(memtui):
    (row,) = memtui.json("activity", "--text", "registry mirror")["deliveries"]
    found = memtui.json("activity", row["id"][-6:])
    assert found == {**row, "meaning": found["meaning"], "transcript_found": found["transcript_found"]}
    text = memtui("activity", row["id"]).out
    assert row["text"] in text
    assert "next prompt" in text
    assert text.count("Use the registry mirror today, the public one is slow.") == 2, "its title, and the very text"
    assert "✓ arrived" in text


def test_what_was_left_out_is_shown(memtui, world):
    left = {"kind": "pending-update", "id": "one", "left_out": "no room"}
    made = deliver(world.root, world.now, left, event="UserPromptSubmit", session_id="s", text="t")
    assert "no room" in memtui("activity", made["id"]).out


def test_without_deliveries_it_says_whether_the_hooks_are_installed(bare):
    assert "No hooks are installed: memtui setup hooks" in bare("activity").out
    bare("setup", "hooks", "--yes")
    told = bare("activity").out
    assert "The hooks are installed: the next session or prompt gets what waits." in told
    assert "memtui setup" not in told
