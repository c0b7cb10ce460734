"""`memtui hooks status`: where our hooks are installed, whether they can start, and what keeps them from running."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from memtui.core.base import paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding, problem
from memtui.core.health import findings
from memtui.hooks import environment
from memtui.hooks.installer import entries, install, json_edit, merge

OLDEST_PYTHON = (3, 11)
MANAGED = {"darwin": "/Library/Application Support/ClaudeCode"}
MANAGED_ELSEWHERE = "/etc/claude-code"


@dataclass(frozen=True)
class HookEntry:
    """One hook of ours. `source` is user, project, local or plugin; `current`: this memtui would write the same;
    `root`: the directory of memtui's files that its command names, empty if it names none."""

    event: str
    source: str
    path: str
    command: str
    interpreter: str
    launcher: str
    interpreter_exists: bool
    launcher_exists: bool
    current: bool
    root: str = ""


@dataclass(frozen=True)
class SettingsFile:
    """A settings file that the client would read; `error` says why it can't."""

    scope: str
    path: str
    exists: bool
    error: str | None
    disable_all_hooks: bool | None


@dataclass(frozen=True)
class Plugin:
    """The plugin as the client's files describe it (one loaded with `--plugin-dir` is not in them)."""

    active: bool
    name: str = ""
    enabled_in: str = ""
    install_path: str = ""
    python: str = ""
    problems: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class Status:
    """The hooks for a session started in one directory. `disabled_by` is the file that turns all hooks off, if any."""

    entries: list[HookEntry]
    files: list[SettingsFile]
    plugin: Plugin
    disabled_by: str | None
    problems: list[Finding]
    hidden_by: str = ""  # the file whose status line the client shows instead of ours

    @property
    def hooks(self) -> list[HookEntry]:
        """The entries that serve an event: all but the status line."""
        return [entry for entry in self.entries if entry.event != entries.STATUS_LINE]

    @property
    def installed(self) -> bool:
        return bool(self.hooks)

    @property
    def unreadable(self) -> bool:
        """Whether a settings file can't be read, so that no hooks are found that may well be installed."""
        return not self.installed and any(file.error for file in self.files)

    def events(self) -> dict[str, list[HookEntry]]:
        """Return every event that memtui wants, with the entries that serve it."""
        return {event: [entry for entry in self.entries if entry.event == event] for event, _, _ in entries.EVENTS}


def status(env: dict[str, str], cwd: str) -> Status:
    """Find all hooks of ours and their problems; change nothing. Files that can't be read are problems, not errors."""
    places = install.directories(env)
    loaded = [_load(scope, path) for scope, path in _paths(env, cwd)]
    files = [file for file, _ in loaded]
    settings = {file.scope: (file.path, value) for file, value in loaded}
    plugin = _plugin(env, settings)
    found = [entry for file, value in loaded if file.scope != "managed" for entry in _entries(file, value, places)]
    found += _plugin_entries(plugin)
    problems = [problem("hooks.file", path=file.path, why=file.error) for file in files if file.error]
    disabled_by = _disabled_by(settings)
    if disabled_by and found:
        managed_only = settings["managed"][1].get("allowManagedHooksOnly") is True
        key = "allowManagedHooksOnly" if managed_only else "disableAllHooks"
        problems.append(problem("hooks.disabled", path=disabled_by, key=key))
    problems += _entry_problems([entry for entry in found if entry.source != "plugin"], places[0])
    problems += [
        problem("hooks.not_believed", path=path, name=name)
        for path, name in environment.set_by_project(paths.normal(cwd))
    ]
    problems += plugin.problems
    if plugin.active and any(entry.source != "plugin" for entry in found):
        problems.append(problem("hooks.both", plugin=plugin.name))
    return Status(found, files, plugin, disabled_by, problems, _hidden_by(settings))


def _hidden_by(settings: dict[str, tuple[str, dict[str, Any]]]) -> str:
    """Return the file with the status line that the client shows, if a file that it overrides has ours."""
    having = [(path, value) for path, value in settings.values() if value.get(merge.STATUS_LINE)]
    ours = any(merge.has_status_line(value) for _, value in having)
    return having[-1][0] if ours and not merge.has_status_line(having[-1][1]) else ""


def _paths(env: dict[str, str], cwd: str) -> list[tuple[str, str]]:
    """List the settings files as (scope, path), each overriding the ones before it."""
    here = paths.normal(cwd).rstrip("/")
    tree = install.working_tree(cwd).rstrip("/")
    found = [("user", install.settings_path(env, cwd, "user"))]
    for scope, name in (("project", "settings.json"), ("local", "settings.local.json")):
        # The client reads only the directory it is started in; `hooks install` writes at the top of the work tree.
        own = f"{here}/.claude/{name}"
        found.append((scope, own if os.path.exists(own) else f"{tree}/.claude/{name}"))
    return [*found, ("managed", MANAGED.get(sys.platform, MANAGED_ELSEWHERE) + "/managed-settings.json")]


def _load(scope: str, path: str) -> tuple[SettingsFile, dict[str, Any]]:
    error = None
    value: dict[str, Any] = {}
    exists = os.path.lexists(path)
    try:
        if exists:
            with open(path, "rb") as file:
                value = merge.read(install.decode(file.read())[1], path)
    except MemtuiError as failed:
        error = failed.message.removeprefix(path + " ").removesuffix(".")
    except OSError as failed:
        error = f"can't be read: {failed.strerror}"
    disable = value.get("disableAllHooks")
    return SettingsFile(scope, path, exists, error, disable if isinstance(disable, bool) else None), value


def _entries(file: SettingsFile, settings: dict[str, Any], places: tuple[str, str]) -> list[HookEntry]:
    ours = [*merge.our_hooks(settings)]
    if merge.has_status_line(settings):
        ours.append((entries.STATUS_LINE, settings[merge.STATUS_LINE]["command"], False))
    return [
        _entry(event, file, line, command, places, former)
        for event, line, former in ours
        if (command := entries.parse(line)) is not None
    ]


def _entry(
    event: str, file: SettingsFile, line: str, command: entries.HookCommand, places: tuple[str, str], former: bool
) -> HookEntry:
    try:
        current = not former and line == entries.command(
            event, entries.choose_interpreter(), entries.launcher_path(), *places
        )
    except MemtuiError:
        current = False
    return HookEntry(
        event=event,
        source=file.scope,
        path=file.path,
        command=line,
        interpreter=command.interpreter,
        launcher=command.launcher,
        interpreter_exists=shutil.which(command.interpreter) is not None,
        launcher_exists=os.path.isfile(command.launcher),
        current=current,
        root=command.root,
    )


def _entry_problems(found: list[HookEntry], root: str) -> list[Finding]:
    problems = []
    for path in dict.fromkeys(entry.path for entry in found):
        here = [entry for entry in found if entry.path == path]
        finding = partial(problem, path=path, source=here[0].source)
        missing = {entry.interpreter for entry in here if not entry.interpreter_exists}
        missing |= {entry.launcher for entry in here if not entry.launcher_exists}
        problems += [finding("hooks.gone", gone=gone) for gone in sorted(missing)]
        other = {entry.launcher for entry in here if entry.launcher != entries.launcher_path()} - missing
        problems += [finding("hooks.other", launcher=launcher) for launcher in sorted(other)]
        elsewhere = {entry.root for entry in here if entry.root not in {"", root}}
        problems += [finding("hooks.elsewhere", there=there, root=root) for there in sorted(elsewhere)]
        if not (missing or other or elsewhere) and any(not entry.current for entry in here):
            problems.append(finding("hooks.outdated"))
        if all(entry.event == entries.STATUS_LINE for entry in here):
            continue
        absent = [event for event, _, _ in entries.EVENTS if event not in {entry.event for entry in here}]
        if absent:
            problems.append(finding("hooks.event_absent", events=", ".join(absent)))
    for event, _, _ in entries.EVENTS:
        # The client runs the same command text once, however often it is configured.
        commands = {entry.command: entry.path for entry in found if entry.event == event}
        if len(commands) > 1:
            problems.append(
                problem("hooks.several", event=event, count=len(commands), paths=", ".join(sorted(commands.values())))
            )
    return problems


def _disabled_by(settings: dict[str, tuple[str, dict[str, Any]]]) -> str | None:
    """Return the file that turns all hooks off: the last one that sets `disableAllHooks` decides."""
    path, managed = settings["managed"]
    if managed.get("allowManagedHooksOnly") is True:
        return path
    deciding = None
    for file, value in settings.values():
        if isinstance(value.get("disableAllHooks"), bool):
            deciding = file if value["disableAllHooks"] else None
    return deciding


def _plugin(env: dict[str, str], settings: dict[str, tuple[str, dict[str, Any]]]) -> Plugin:
    state: dict[str, tuple[bool, str]] = {}
    for path, value in settings.values():
        listed = value.get("enabledPlugins")
        for name, enabled in listed.items() if isinstance(listed, dict) else ():
            if name.partition("@")[0] == "memtui":
                state[name] = (enabled is not False, path)
    name = next((name for name, (enabled, _) in state.items() if enabled), "")
    if not name:
        return Plugin(active=False, name=next(iter(state), ""))
    where = _install_path(paths.config_dir(env) + "/plugins", name)
    problems = []
    if not where:
        problems.append(problem("hooks.plugin_absent", path=state[name][1], plugin=name))
    elif not os.path.isfile(where + "/hooks/memtui_hook.py"):
        problems.append(problem("hooks.plugin_launcher", launcher=where + "/hooks/memtui_hook.py"))
    python = shutil.which("python3", path=env.get("PATH")) or ""
    problems += _python_problems(python)
    return Plugin(True, name, state[name][1], where, python, problems)


def _install_path(plugins: str, name: str) -> str:
    """Return the directory from which the client runs a plugin, "" if there is none.

    A plugin of a marketplace in a directory runs in place; others are copied.
    """
    market = _json(plugins + "/known_marketplaces.json").get(name.partition("@")[2])
    origin = market.get("source") if isinstance(market, dict) else None
    if isinstance(market, dict) and isinstance(origin, dict) and origin.get("source") == "directory":
        place = str(market.get("installLocation", "")).rstrip("/")
        if os.path.isfile(place + "/.claude-plugin/plugin.json"):
            return place
    listed = _json(plugins + "/installed_plugins.json").get("plugins")
    copies = listed.get(name) if isinstance(listed, dict) else None
    copies = copies if isinstance(copies, list) else [copies]
    return next((str(copy["installPath"]) for copy in copies if isinstance(copy, dict) and "installPath" in copy), "")


def _json(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            value = json_edit.load(file.read())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _python_problems(python: str) -> list[Finding]:
    if not python:
        return [problem("hooks.plugin_no_python")]
    try:
        version = entries.version_of(python)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return [problem("hooks.plugin_python_fails", python=python, why=str(error))]
    newer = any(shutil.which(f"python3.{minor}") for minor in (11, 12, 13))
    if version < OLDEST_PYTHON and not newer:
        return [problem("hooks.plugin_python_old", python=python, version=f"{version[0]}.{version[1]}")]
    return []


def _plugin_entries(plugin: Plugin) -> list[HookEntry]:
    if not plugin.active or not plugin.install_path:
        return []
    launcher = plugin.install_path + "/hooks/memtui_hook.py"
    hooks = _json(plugin.install_path + "/hooks/hooks.json").get("hooks")
    found = []
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        try:
            line = str(groups[0]["hooks"][0]["command"])
        except (LookupError, TypeError):
            continue
        exists = os.path.isfile(launcher)
        found.append(
            HookEntry(
                event, "plugin", launcher, line, plugin.python, launcher, bool(plugin.python), exists, current=exists
            )
        )
    return found


def as_json(report: Status) -> dict[str, Any]:
    """Return the report as plain JSON values, with problems as sentences."""
    made = json.loads(json.dumps(report, default=vars))
    made["problems"] = [findings.message(each) for each in report.problems]
    made["plugin"]["problems"] = [findings.message(each) for each in report.plugin.problems]
    return dict(made)
