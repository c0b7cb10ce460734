"""The sample world is always the same, and lets nobody's files come to harm."""

import re
import shlex
from pathlib import Path

import pytest

from memtui.demo import world as demo_world
from memtui.rules import counts
from memtui.views import rules

from .test_tui import opened


def everything(directory):
    return {
        str(path.relative_to(directory)): (
            re.sub(rb'"inode": \d+', b"", path.read_bytes().replace(str(directory).encode(), b"@")),
            path.stat().st_mode,
        )
        for path in Path(directory).rglob("*")
        if path.is_file() and not {"run", "rules"} & {*path.parts}
    }


def test_the_same_directory_and_time_give_the_same_bytes(tmp_path):
    place = str(tmp_path / "world")
    root = demo_world.build(place, 1_790_000_000.0).root
    held_in = lambda: [rules.data(held) for of_memory in counts.held_by_path(root).values() for held in of_memory]
    first, held = everything(place), held_in()
    demo_world.build(place, 1_790_000_000.0)
    assert everything(place) == first
    assert held_in() == held != []
    assert len(first) > 40
    assert any(
        b'"hookName": "PreToolUse:Bash", "hookEvent": "PreToolUse", "toolUseID": "toolu_' in text
        for text, _ in first.values()
    )


def test_it_says_what_to_type_to_use_the_sample_world_in_a_shell(bare, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.mkdtemp", lambda prefix: str(tmp_path))
    for path in (tmp_path / "home", tmp_path / "repo"):
        bare.cwd = "/"
        import shutil

        shutil.rmtree(path)
    bare.env["HOME"] = str(tmp_path / "nowhere")
    out = bare("demo").out
    for words in ("export HOME=", "memtui recall", "memtui inbox", "memtui approve J5VMX3", f"rm -r {tmp_path}"):
        assert words in out
    assert len(out.splitlines()) < 24
    assert f"cd {tmp_path}/shop" in out


@pytest.mark.slow
def test_what_the_tour_proposes_works(memtui):
    from memtui.views.words import TABLES

    for command, why in TABLES["try"].items():
        assert memtui(*shlex.split(command)[1:], check=False).code in {0, 5}
        assert len(f"  {command:<32}# {why}") <= 80


def test_its_hooks_are_installed_in_its_own_settings_only(bare, tmp_path):
    told = bare("demo", "--open", str(tmp_path / "open"), check=False)
    assert (told.code, "needs a terminal" in told.err) == (2, True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").write_text("precious")
    assert bare("demo", str(tmp_path / "mine"), check=False).code == 2
    assert (tmp_path / "mine/file").read_text() == "precious"
    data = bare.json("demo", str(tmp_path / "world"))
    assert list(Path(bare.env["HOME"]).iterdir()) == []
    bare.env = {"PATH": bare.env["PATH"], "MEMTUI_NOW": bare.env["MEMTUI_NOW"], **data["env"]}
    bare.cwd = data["projects"][0]
    assert bare.json("setup", check=False)["installed"]
    assert (Path(data["env"]["HOME"]) / ".claude/settings.json").is_file()
    assert " the sample world " in bare("undo", "--list").out


@pytest.mark.terminal
def test_in_a_terminal_open_shows_the_control_room_then_where_the_world_is(world, tmp_path):
    place = str(tmp_path / "other world")
    drawn, code = opened(world, "demo", "--open", place)
    assert code == 0, drawn
    assert "prefer-pnpm" in drawn
    assert f"memtui demo --open '{place}'" in drawn
    drawn, code = opened(world, "demo", "--open", place)
    assert code == 0, drawn


@pytest.mark.terminal
def test_in_a_terminal_a_shell_opens_in_it_and_the_way_back_is_said(world, tmp_path):
    place, shell = str(tmp_path / "world"), tmp_path / "shell"
    shell.write_text('#!/bin/sh\necho "in $PWD, home $HOME"\nexit 3\n')
    shell.chmod(0o700)
    world.env["SHELL"] = str(shell)
    drawn, code = opened(world, "demo", place)
    assert code == 0, drawn
    assert f"in {place}/shop, home {place}/home" in drawn
    assert f"memtui demo {place}" in drawn


def test_a_sample_world_that_is_there_is_used_as_it_is(bare, tmp_path):
    place = str(tmp_path / "world")
    bare("demo", place)
    marker = Path(place, "shop/mine.txt")
    marker.write_text("x")
    bare("demo", place)
    assert marker.exists()
