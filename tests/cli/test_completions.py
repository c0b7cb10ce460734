"""Completions are what the shells accept, and complete what there is."""

import os
import shutil
import subprocess
import sys

import argcomplete
import pytest

from memtui.cli import parser


def needed(shell):
    if not shutil.which(shell):
        assert not os.environ.get("CI"), f"CI needs {shell}"
        pytest.skip(f"{shell} is not installed")


@pytest.fixture
def offered(memtui, monkeypatch):
    """What is offered for the last of some words: word -> description."""
    from memtui.cli import completion

    monkeypatch.setattr(parser, "build", parser.build.__wrapped__)  # argcomplete changes the parser

    def offers(*words):
        memtui("status", "--paths")  # makes the environment that of the sample world
        root = completion.with_candidates(" ".join(["memtui", *words]))
        finder = argcomplete.CompletionFinder(root, always_complete_options=False, append_space=False)
        matches = finder._get_completions(["memtui", *words[:-1]], words[-1], "", None)
        return {word: finder.get_display_completions()[word] for word in matches}

    return offers


def test_every_command_action_option_and_id_is_offered_with_its_words(offered):
    commands = offered("")
    assert set(commands) == set(parser.COMMANDS)
    assert all(commands.values())
    assert offered("setup", "").keys() == {"hooks", "statusline", "plugin", "merge-driver", "completions"}
    assert offered("setup", "p") == {"plugin": "say how to add memtui as a plugin of Claude Code"}
    assert offered("note", "--ur") == {"--urgent": "also before the next tool use, in the middle of a turn"}
    assert list(offered("--screen", "se")) == ["setup"]
    assert offered("approve", "J5") == {"J5VMX3": "No snapshot tests for components"}
    assert "J5VMX3" not in offered("approve", "J5VMX3", "")
    assert offered("inbox", "J5") == offered("reject", "J5")
    assert offered("approve", "ea") == {"eac849": "Ask Jo about the invoice layout"}
    assert offered("history", "prefer-t") == {"prefer-tabs": "Indent with tabs"}


def test_memories_scopes_types_settings_and_their_values_are_offered(memtui, offered, world):
    assert list(offered("mv", "prefer-pnpm", "--scope", ""))[:3] == ["global", "project", "auto"]
    assert "agent:reviewer" in offered("list", "--scope", "agent")
    assert "instructions:user" in offered("list", "--scope", "")
    os.makedirs(f"{world.root}/teams/crew/memory")
    assert "crew" in offered("trust", "--team", "")
    assert list(offered("sync", "leave", "--team", "")) == ["crew"]
    assert "team:crew" in offered("mv", "prefer-pnpm", "--scope", "team")
    assert list(offered("new", "x", "--type", "")) == ["user", "feedback", "project", "reference", "tool"]
    assert offered("config", "set", "mode", "") == {"full": "default", "notes": "", "off": ""}
    assert offered("config", "set", "extract", "") == {"true": "default", "false": ""}
    assert list(offered("config", "get", "keys.app.qu")) == ["keys.app.quit"]
    assert list(offered("doctor", "--fix", "er")) == ["errors"]
    assert offered("show", "prefer-p")["prefer-pnpm"] == "project"
    assert "prefer-pnpm" not in offered("rm", "prefer-pnpm", "prefer")
    assert len(offered("show", "CL")) == 1  # one CLAUDE, though there are two such files
    memtui("rm", "editor")
    assert "remove global:editor" in offered("undo", "").values()
    assert "prefer-pnpm" in offered("trust", "")


@pytest.fixture
def run(memtui, tmp_path):
    """Run a line of a shell that has the completions of memtui, and memtui on its PATH, in the sample world."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "memtui").write_text(f'#!/bin/sh\nexec {sys.executable} -m memtui "$@"\n')
    (place / "memtui").chmod(0o700)

    def run(shell, code, *options):
        needed(shell)
        script = tmp_path / "script"
        script.write_text(memtui("setup", "completions", shell).out)
        done = subprocess.run(
            [shell, *options, "-c", code.replace("SCRIPT", str(script))], capture_output=True, text=True,
            env={**memtui.env, "PATH": f"{place}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}, cwd=memtui.cwd,
        )  # fmt: skip
        assert done.stderr == ""
        return done.stdout.splitlines()

    return run


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_can_read_them(run, shell):
    assert run(shell, "source SCRIPT" if shell != "zsh" else "compdef() { :; }; source SCRIPT") == []


@pytest.mark.slow
def test_bash(run):
    def complete(line):
        typed = f"COMP_LINE={line!r}; COMP_POINT={len(line)}; COMP_TYPE=9"
        return run("bash", f"source SCRIPT; {typed}; _python_argcomplete memtui; printf '%s\n' \"${{COMPREPLY[@]}}\"")

    assert [each.strip() for each in complete("memtui act")] == ["activity"]
    assert [each.strip() for each in complete("memtui approve J5")] == ["J5VMX3"]
    assert [each.strip() for each in complete("memtui activity --outcome ti")] == ["timed\\ out"]
    assert [each.strip() for each in complete("memtui list --scope agent:re")] == ["reviewer"]
