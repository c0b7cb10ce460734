"""`memtui consolidate`: what is proposed is shown, and made or rejected by its id; nothing is written before."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from memtui.tidy import waiting_proposals
from tidy.stores import World
from tidy.test_plan import AGAIN, INDEX, PNPM, REVIEW, planned

from .conftest import NOW


@pytest.fixture
def world(tmp_path):
    files = {"prefer-pnpm.md": PNPM, "pnpm-only.md": AGAIN, "review.md": REVIEW, "MEMORY.md": INDEX}
    return World(f"{tmp_path}/w", files)


@pytest.fixture
def shell(monkeypatch, capsysbinary, world):
    from .conftest import Shell

    return Shell(monkeypatch, capsysbinary, world.env, world.repo)


def ids(shell):
    return {each["kind"]: each["id"] for each in shell.json("consolidate")["changes"]}


def test_the_plan_writes_nothing_and_what_is_accepted_is_undone_at_once(shell, world):
    before = world.files()
    done = shell("consolidate")
    assert "merge prefer-pnpm into pnpm-only" in done.out
    assert re.search(r"are similar: \d\d%\.", " ".join(done.out.split()))
    assert "+The lock file of npm breaks the frozen install of CI." in done.out
    assert "prefer-pnpm.md  is deleted" in done.out
    assert "MEMORY.md  is updated" in done.out
    assert "2 changes proposed. Saves 1 memory" in done.out
    assert "\nSaves 1 memory" in done.out
    assert "\nSaves 1 line of MEMORY.md" in done.out
    assert "memtui approve ID" in done.err
    merge = next(each for each in shell.json("consolidate")["changes"] if each["kind"] == "merge")
    assert (merge["dropped"], merge["reworded"]) == ([], [])
    assert merge["score"] >= 0.5
    gone = {os.path.basename(each["path"]): each["gone"] for each in merge["files"]}
    assert gone == {"pnpm-only.md": False, "prefer-pnpm.md": True, "MEMORY.md": False}
    done = shell("consolidate", "--all", check=False)
    assert (done.code, "--yes" in done.err) == (1, True)
    assert world.files() == before
    done = shell("approve", ids(shell)["merge"][:6], "--yes")
    assert "Approved 1 change: 1 merged. Saves 1 memory" in done.out
    assert not os.path.exists(world.path("prefer-pnpm.md"))
    assert "gone.md" in world.text("MEMORY.md")  # the other change was not accepted
    shell("undo")
    assert world.files() == before
    done = shell.json("consolidate", "--all", "--yes")
    assert ({each["kind"] for each in done["made"]}, done["undo"]) == ({"merge", "relink"}, "memtui undo")
    assert "nothing to consolidate" in shell("consolidate").out


def test_a_person_is_asked_after_a_look(shell, world, monkeypatch):
    from memtui.cli.context import Context

    monkeypatch.setattr(Context, "can_ask", True)
    before = world.files()
    done = shell("consolidate", "--all", stdin="n\n", check=False)
    assert "Approve 2 changes to 3 files? [y/N]" in done.err
    assert "merge prefer-pnpm" in done.out
    assert world.files() == before
    shell("consolidate", "--all", stdin="y\n")
    assert world.files() != before


def change(world):
    with open(world.path("prefer-pnpm.md"), "a") as file:
        file.write("\n")


def test_a_rejected_merge_returns_when_its_memories_change_or_after_undo(shell, world):
    """As with `x` in the TUI."""
    done = shell("reject", ids(shell)["merge"])
    assert "kept apart" not in done.out
    assert "Not proposed while the memories stay as they are" in done.err
    assert "To undo it: memtui undo" in done.err
    assert "merge" not in ids(shell)
    assert "undone: reject merge prefer-pnpm into pnpm-only" in shell("undo").out
    assert "merge" in ids(shell)
    shell("reject", ids(shell)["merge"])
    change(world)
    assert "merge" in ids(shell)


def test_a_merge_that_is_rejected_for_good_never_comes_back_until_undo(shell, world):
    """As with `x` and another `x` in the TUI."""
    assert "rejected for good" in shell("reject", "--never", ids(shell)["merge"]).out
    change(world)
    assert "merge" not in ids(shell)
    assert "undone: reject merge prefer-pnpm into pnpm-only for good" in shell("undo").out
    assert "merge" in ids(shell)


@pytest.fixture
def saved(shell, world):
    """The proposals as a model leaves them, in a file that somebody may have edited since."""
    found = [replace(proposal, by="a model") for proposal in planned(world).proposals]
    return Path(waiting_proposals.save(world.root, found, NOW))


def edited(path, change):
    found = json.loads(path.read_text())
    for each in found["changes"]:
        if each["kind"] == "merge":
            each["id"] = "abcdef123456"
            each["evidence"].insert(0, {"code": "dream", "score": None, "texts": [], "data": {}})
            change(each)
    path.write_text(json.dumps(found))


def test_what_a_model_proposed_is_listed_made_and_rejected_by_its_id(shell, world, saved):
    edited(saved, lambda each: None)
    assert "abcdef123456" in {each["id"] for each in shell.json("consolidate")["changes"]}
    shell("reject", "abcdef")
    assert "abcdef123456" not in {each["id"] for each in shell.json("consolidate")["changes"]}
    shell("undo")
    assert shell.json("approve", "abcdef", "--yes")["made"][0]["kind"] == "merge"
    assert not os.path.exists(world.path("prefer-pnpm.md"))


def test_a_secret_that_a_proposal_brings_in_is_asked_about(shell, world, saved, monkeypatch):
    key = "\nThe key is ghp_" + "a1B2" * 9 + "\n"
    edited(saved, lambda each: each["outputs"][0].update(text=each["outputs"][0]["text"] + key))
    before = world.files()
    from memtui.cli.context import Context

    monkeypatch.setattr(Context, "can_ask", True)
    assert "GitHub" in shell("approve", "abcdef", stdin="y\nn\n", check=False).err
    assert world.files() == before
