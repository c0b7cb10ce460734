"""Completions are what the shells accept, and complete what there is."""

import os
import shutil
import subprocess

import pytest

from memtui.cli import parser


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_can_read_them(memtui, tmp_path, shell):
    if not shutil.which(shell):
        assert not os.environ.get("CI"), f"CI needs {shell}"
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(memtui("completions", shell).out)
    done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_option_is_in_them(memtui, shell):
    script = memtui("completions", shell).out
    for name in parser.COMMANDS:
        assert name in script
    for option in ("urgent", "expires", "all-projects", "dry-run", "stats", "memory", "days", "fix", "edit", "keys"):
        assert option in script


def complete(memtui, tmp_path, *words):
    """What bash offers for the last of these words."""
    script = tmp_path / "script"
    script.write_text(memtui("completions", "bash").out)
    line = " ".join(f"'{word}'" for word in words)
    names = "memtui() { printf 'prefer-pnpm\\nrelease-steps\\n'; }"
    code = f"source {script}; {names}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _shtab_memtui; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.skipif("CI" not in os.environ and not shutil.which("fish"), reason="fish is not installed")
def test_fish_completes_them_too(memtui, tmp_path):
    script = tmp_path / "script"
    script.write_text(memtui("completions", "fish").out)
    code = f"source {script}; function memtui; printf 'prefer-pnpm\\nrelease-steps\\n'; end; "

    def offered(line):
        env = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        run = ["fish", "--no-config", "-c", f"{code} complete -C '{line}'"]
        done = subprocess.run(run, capture_output=True, text=True, check=True, env=env)
        return [each.partition("\t")[0] for each in done.stdout.splitlines()]

    assert offered("memtui hooks un") == ["uninstall"]
    assert offered("memtui show pre") == ["prefer-pnpm"]
    assert offered("memtui mv prefer-pnpm rel") == ["release-steps"]
    assert offered("memtui deliveries --memory rel") == ["release-steps"]


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_completes_commands_actions_options_choices_and_names(memtui, tmp_path):
    assert complete(memtui, tmp_path, "memtui", "del") == ["deliveries"]
    assert complete(memtui, tmp_path, "memtui", "hooks", "un") == ["uninstall"]
    assert complete(memtui, tmp_path, "memtui", "hooks", "install", "--dry") == ["--dry-run"]
    assert complete(memtui, tmp_path, "memtui", "guide", "--ur") == ["--urgent"]
    assert complete(memtui, tmp_path, "memtui", "inbox", "--kind", "g") == ["guidance"]
    assert complete(memtui, tmp_path, "memtui", "show", "pre") == ["prefer-pnpm"]
    assert complete(memtui, tmp_path, "memtui", "completions", "z") == ["zsh"]
    assert complete(memtui, tmp_path, "memtui", "--screen", "he") == ["health"]
    assert complete(memtui, tmp_path, "memtui", "config", "get", "keys.app.qu") == ["keys.app.quit"]
    assert complete(memtui, tmp_path, "memtui", "doctor", "--fix", "er") == ["errors"]
    assert complete(memtui, tmp_path, "memtui", "deliveries", "--st") == ["--stats"]
    assert complete(memtui, tmp_path, "memtui", "mv", "prefer-pnpm", "rel") == ["release-steps"]
    assert complete(memtui, tmp_path, "memtui", "deliveries", "--memory", "rel") == ["release-steps"]
