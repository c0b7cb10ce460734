"""Completions are what the shells accept, and complete what there is."""

import os
import shutil
import subprocess
import sys

import pytest

from memtui.cli import completing, parser

pytestmark = pytest.mark.skipif("CI" not in os.environ and not shutil.which("bash"), reason="bash is not installed")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_can_read_them(memtui, tmp_path, shell):
    needed(shell)
    script = tmp_path / "script"
    script.write_text(memtui("setup", "completions", shell).out)
    done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def needed(shell):
    if not shutil.which(shell):
        assert not os.environ.get("CI"), f"CI needs {shell}"
        pytest.skip(f"{shell} is not installed")


@pytest.fixture
def offered(memtui):
    """What is offered for the last of some words: word -> description."""

    def offers(*words):
        memtui("status", "--paths")  # makes the environment that of the sample world
        return dict(completing.offered(["memtui", *words], {**os.environ}))

    return offers


def test_every_command_action_and_option_is_offered_with_what_it_does(offered):
    found = offered("")
    assert list(found) == [*parser.COMMANDS, "help"]
    assert all(found.values())
    assert offered("setup", "").keys() == {"hooks", "statusline", "plugin", "completions"}
    assert offered("setup", "p") == {"plugin": "say how to add memtui as a plugin of Claude Code"}
    for name in parser.COMMANDS:
        assert {"--json", "--help"} <= offered(name, "-").keys()
    assert offered("note", "--ur") == {"--urgent": "also before the next tool use, in the middle of a turn"}
    assert "--urgent" not in offered("note", "--urgent", "--")
    assert "--to" in offered("note", "--to", "people", "--")
    assert offered("help", "act") == offered("act") != {}
    assert offered("guide", "--ur") == offered("note", "--ur")
    assert offered("--screen", "se") == {"setup": ""}


def test_the_deliveries_that_are_listed_are_offered(memtui, offered):
    listed = {each["id"][-6:] for each in memtui.json("activity", "--all-projects", "--limit", "0")["deliveries"]}
    assert {each for each in offered("activity", "") if each == each.upper()} == listed


def test_ids_come_with_their_titles(offered):
    assert offered("approve", "J5") == {"J5VMX3": "No snapshot tests for components"}
    assert "J5VMX3" not in offered("approve", "J5VMX3", "")
    assert offered("inbox", "J5") == offered("reject", "J5")
    assert offered("approve", "ea") == {"eac849": "Ask Jo about the invoice layout"}
    assert offered("activity", "Z2C4A7")["Z2C4A7"].startswith("27m ago: 2 drafts, 3 todos · Ask before writing")
    assert offered("activity", "d2") == {"d2f7b8c9": "1m ago: add tests for the new components"}
    assert offered("history", "prefer-t") == {"prefer-tabs": "Indent with tabs"}


def test_scopes_types_settings_and_their_values_are_offered(offered):
    assert list(offered("mv", "prefer-pnpm", "--scope", ""))[:3] == ["global", "project", "auto"]
    assert "agent:reviewer" in offered("list", "--scope", "agent")
    assert list(offered("new", "x", "--type", "")) == ["user", "feedback", "project", "reference", "tool"]
    assert offered("config", "set", "mode", "") == {"full": "default", "notes": "", "off": ""}
    assert offered("config", "set", "theme", "no") == {"nord": ""}
    assert offered("config", "set", "extract", "") == {"true": "default", "false": ""}
    assert list(offered("config", "get", "keys.app.qu")) == ["keys.app.quit"]
    assert offered("doctor", "--fix", "er") == {"errors": ""}


def test_memories_are_offered_once_and_not_again(offered):
    assert offered("show", "prefer-p")["prefer-pnpm"] == "project"
    assert "prefer-pnpm" not in offered("rm", "prefer-pnpm", "prefer")
    assert "prefer-pnpm" in offered("approve", "J5VMX3", "--into", "pre")
    assert len(offered("show", "CL")) == 1  # one CLAUDE, though there are two such files


@pytest.mark.parametrize(
    "words", [["nope", ""], ["show"], ["--project"], ["note", "x", "--from", ""], ["-x", ""], ["config", "set", ""]]
)
def test_what_nothing_is_known_of_is_left_to_the_shell(memtui, offered, words):
    offered(*words)
    assert memtui("--complete", "zsh", "memtui", *words).err == ""


def test_text_of_others_stays_on_its_line_and_is_no_escape(memtui, offered):
    memtui("note", "tab\there \x1b[31mred")
    found = memtui("--complete", "zsh", "memtui", "note", "--withdraw", "").out
    assert "\x1b" not in found
    assert all(line.count("\t") == 1 for line in found.splitlines())


def test_a_line_is_split_as_a_shell_splits_it():
    assert completing.split("memtui a 'b c' \"d") == (["memtui", "a", "b c", "d"], '"')
    assert completing.split("memtui a\\ b ") == (["memtui", "a b", ""], "")
    assert completing.split("memtui 'it is ") == (["memtui", "it is "], "'")
    assert completing.split("memtui session:ab") == (["memtui", "session:ab"], "")


@pytest.fixture
def path(memtui, tmp_path):
    """A PATH with memtui on it, in the sample world."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "memtui").write_text(f'#!/bin/sh\nexec {sys.executable} -m memtui "$@"\n')
    (place / "memtui").chmod(0o700)
    os.makedirs(memtui.cwd + "/migrations", exist_ok=True)
    return {**memtui.env, "PATH": f"{place}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


@pytest.fixture
def run(memtui, tmp_path, path):
    """Run a line of a shell that has the completions of memtui."""

    def done(shell, code, *options):
        needed(shell)
        script = tmp_path / "script"
        script.write_text(memtui("setup", "completions", shell).out)
        ran = subprocess.run(
            [shell, *options, "-c", code.replace("SCRIPT", str(script))],
            capture_output=True, text=True, env=path, cwd=memtui.cwd,
        )  # fmt: skip
        assert ran.stderr == ""
        return ran.stdout.splitlines()

    return done


@pytest.mark.slow
def test_bash(run):
    def complete(line):
        words = (
            f"COMP_LINE={line!r}; COMP_POINT={len(line)}; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))"
        )
        return run("bash", f"source SCRIPT; {words}; _memtui; printf '%s\n' \"${{COMPREPLY[@]}}\"")

    assert complete("memtui act") == ["activity"]
    assert complete("memtui approve J5") == ["J5VMX3"]
    assert complete("memtui activity --outcome ti") == ["timed\\ out"]
    assert complete("memtui list --scope agent:re") == ["reviewer"]  # bash has what is before the colon already


@pytest.mark.slow
def test_zsh(run):
    stubs = 'compdef() { :; }; _describe() { printf \'%s\n\' "${found[@]}"; }; _files() { echo files "$@"; }'

    def complete(*words):
        line = " ".join(words)
        return run("zsh", f"{stubs}; source SCRIPT; words=({line} ''); CURRENT={len(words)}; _memtui", "-f")

    assert complete("memtui", "act") == ["activity:what sessions got, why, and whether it arrived"]
    assert complete("memtui", "approve", "J5") == ["J5VMX3:No snapshot tests for components"]
    assert complete("memtui", "activity", "--outcome", "ti") == ["timed out"]
    assert complete("memtui", "list", "--scope", "agent:re")[0].startswith("agent\\:reviewer:")
    assert complete("memtui", "--project", "x") == ["files"]


@pytest.mark.slow
def test_fish(run):
    def complete(line):
        return run("fish", f"source SCRIPT; complete -C '{line}'", "--no-config")

    assert complete("memtui setup pl") == ["plugin\tsay how to add memtui as a plugin of Claude Code"]
    assert complete("memtui approve J5") == ["J5VMX3\tNo snapshot tests for components"]
    assert complete("memtui activity --outcome ti") == ["timed out"]
    assert complete("memtui --project migr")[0].partition("\t")[0] == "migrations/"


def test_what_can_be_undone_or_trusted_is_offered(memtui, offered):
    memtui("rm", "editor")
    assert "remove global:editor" in offered("undo", "").values()
    assert "prefer-pnpm" in offered("trust", "")
    assert "instructions:user" in offered("list", "--scope", "")
