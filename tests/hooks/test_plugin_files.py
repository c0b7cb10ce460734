"""The plugin's files agree with the package, and both launchers fail open whatever they find."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memtui
from memtui.hooks.install import entries
from tables import rows

REPO = Path(__file__).resolve().parents[2]
PACKAGE = Path(memtui.__file__).parent
LAUNCHERS = {"settings": PACKAGE / "hooks" / "launch.py", "plugin": REPO / "hooks" / "memtui_hook.py"}


def load(name):
    return json.loads((REPO / name).read_text())


def test_the_plugins_files_agree_with_the_package_and_its_settings():
    assert load("hooks/.claude-plugin/plugin.json")["name"] == "memtui"
    assert load("hooks/.claude-plugin/plugin.json")["version"] == memtui.__version__
    [plugin] = load(".claude-plugin/marketplace.json")["plugins"]
    assert (plugin["name"], plugin["source"]) == ("memtui", "./hooks")
    files = [path for path in (REPO / "hooks").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 20_000
    assert "Brings the hooks" in plugin["description"]
    assert "uv tool install" in (REPO / "hooks/README.md").read_text()
    hooks = load("hooks/hooks.json")["hooks"]
    expected = entries.groups("python3", "L")
    for group in expected.values():
        event = group["hooks"][0]["command"].split()[-1]
        group["hooks"][0]["command"] = (
            f'[ ! -r "${{CLAUDE_PLUGIN_ROOT}}/memtui_hook.py" ] '
            f'|| exec python3 -I -S "${{CLAUDE_PLUGIN_ROOT}}/memtui_hook.py" {event} plugin'
        )
    assert hooks == {event: [group] for event, group in expected.items()}


def world(tmp_path, kind, runner):
    """A copy of a launcher in a directory with an odd name, with a package whose first module is `runner` (None: none)."""
    base = tmp_path / "it's a $HOME ü"
    source = base / ("src" if kind == "plugin" else "lib")
    plugin = base / "hooks/memtui_hook.py"
    launcher = plugin if kind == "plugin" else source / "memtui" / "hooks" / "launch.py"
    (source / "memtui" / "hooks").mkdir(parents=True)
    launcher.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(LAUNCHERS[kind], launcher)
    for package in (source / "memtui", source / "memtui" / "hooks"):
        (package / "__init__.py").write_text("")
    if runner is not None:
        (source / "memtui" / "hooks" / "bundle.py").write_text(runner)
    return base, launcher


def start(launcher, *argv):
    return subprocess.run(
        [sys.executable, "-I", "-S", str(launcher), *argv], input=b"{}", capture_output=True, cwd="/", timeout=30
    )


ECHO = "import posix\ndef main(argv):\n    posix.write(1, repr(argv).encode())\n"


def test_the_plugins_command_line_works_from_a_directory_with_any_name(tmp_path):
    base, _ = world(tmp_path, "plugin", ECHO)
    command = load("hooks/hooks.json")["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    env = {"PATH": os.path.dirname(entries.choose_interpreter()), "CLAUDE_PLUGIN_ROOT": str(base / "hooks")}
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, env=env, input=b"{}")
    assert (done.stdout, done.returncode) == (b"['PreToolUse', 'plugin']", 0)


class Copied:
    """The plugin as the client copies it, and a package `memtui` in a directory `lib` of the home."""

    def __init__(self, tmp_path, lib):
        self.plugins = tmp_path / "it's [my] home/.claude/plugins"
        copy = self.plugins / "cache/market/memtui/0.1.0"
        shutil.copytree(REPO / "hooks", copy)
        self.launcher = copy / "memtui_hook.py"
        package = self.plugins.parents[1] / lib / "memtui"
        (package / "hooks").mkdir(parents=True)
        for each in (package, package / "hooks"):
            (each / "__init__.py").write_text("")
        (package / "hooks/bundle.py").write_text(ECHO)

    def start(self, event, path="/nowhere", cwd="/"):
        command = [sys.executable, "-I", "-S", str(self.launcher), event, "plugin"]
        return subprocess.run(command, capture_output=True, env={"PATH": str(path)}, input=b"{}", cwd=cwd, timeout=30)


def test_the_copied_plugin_runs_the_checkout_that_the_client_keeps(tmp_path):
    copied = Copied(tmp_path, ".claude/plugins/marketplaces/market/src")
    assert copied.start("Stop").stdout == b"['Stop', 'plugin']"


def test_without_a_checkout_it_runs_what_is_on_the_path(tmp_path):
    copied = Copied(tmp_path, "tools/memtui/lib/python3.12/site-packages")
    home = copied.plugins.parents[1]
    (home / "tools/memtui/bin").mkdir()
    (home / "tools/memtui/bin/memtui").write_text("#!/bin/sh\n")
    (home / "tools/memtui/bin/memtui").chmod(0o755)
    (home / "bin").mkdir()
    (home / "bin/memtui").symlink_to(home / "tools/memtui/bin/memtui")
    assert copied.start("Stop", home / "bin").stdout == b"['Stop', 'plugin']"
    assert copied.start("Stop", "bin", cwd=home).stdout == b"", "a directory of the project that runs is not asked"


def test_where_memtui_is_nowhere_a_session_is_told_once_and_prompts_go_on(tmp_path):
    copied = Copied(tmp_path, "elsewhere")
    assert "brings only the hooks" in json.loads(copied.start("SessionStart").stdout)["systemMessage"]
    done = copied.start("UserPromptSubmit")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.every(step=3)
@pytest.mark.parametrize("kind", LAUNCHERS)
@pytest.mark.parametrize("runner", rows(__file__, "a broken installation never harms the prompt"))
def test_a_broken_installation_never_harms_the_prompt(tmp_path, kind, runner):
    _, launcher = world(tmp_path, kind, runner)
    done = start(launcher, "UserPromptSubmit", "plugin")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("argv", [(), ("Nonsense",), ("Stop", "plugin", "more")])
@pytest.mark.parametrize("launcher", LAUNCHERS.values(), ids=LAUNCHERS)
def test_the_real_launchers_bear_odd_arguments_and_an_empty_payload(launcher, argv):
    done = start(launcher, *argv)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def pretend_old(launcher, path, *argv):
    """Run the plugin's launcher in an interpreter that says it is Python 3.9."""
    code = (
        f"import sys; sys.version_info = (3, 9, 0); sys.argv = [{str(launcher)!r}, *{argv!r}]; "
        f"exec(compile(open({str(launcher)!r}).read(), 'launcher', 'exec'), {{'__file__': {str(launcher)!r}}})"
    )
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, env={"PATH": str(path)}
    )


def test_an_old_python3_looks_for_a_newer_one_or_says_so_once_a_session(tmp_path):
    _, launcher = world(tmp_path, "plugin", ECHO)
    newer = tmp_path / "bin" / "python3.12"
    newer.parent.mkdir()
    newer.symlink_to(entries.choose_interpreter())
    assert pretend_old(launcher, newer.parent, "Stop", "plugin").stdout == "['Stop', 'plugin']"
    said = pretend_old(LAUNCHERS["plugin"], tmp_path, "SessionStart", "plugin")
    assert "needs Python 3.11" in json.loads(said.stdout)["systemMessage"]
    silent = pretend_old(LAUNCHERS["plugin"], tmp_path, "UserPromptSubmit", "plugin")
    assert (silent.returncode, silent.stdout) == (0, "")
