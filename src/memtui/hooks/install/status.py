"""`memtui setup`: where our hooks are installed, whether they can start, and what keeps them from running."""

import json
import os
import shutil
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from memtui.base import fastjson_hot, findings, paths_hot
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding, note, problem
from memtui.client import applied_settings, settings_files_hot
from memtui.client.agents.program import PROGRAM
from memtui.hooks import environment_hot
from memtui.hooks.install import entries, settings_merge
from memtui.hooks.install import installation as install

# Settings that count in an administrator's file alone.
MANAGED_ONLY = ("allowManagedHooksOnly", "strictPluginOnlyCustomization")


@dataclass(frozen=True)
class HookEntry:
    """One hook of ours: `source` is user, project, local or plugin; `current`: as this memtui writes it."""

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
    """A settings file that the client would read; `error` says why it skips it."""

    scope: str
    path: str
    exists: bool
    error: str | None


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
    notes: list[Finding]

    @property
    def hooks(self) -> list[HookEntry]:
        """The entries that serve an event: all but the status line."""
        return [entry for entry in self.entries if entry.event != entries.STATUS_LINE]

    @property
    def installed(self) -> bool:
        return bool(self.hooks)

    @property
    def unreadable(self) -> bool:
        """Whether the client skips a settings file, so that no hooks are found that may well stand there."""
        return not self.installed and any(file.error for file in self.files)

    def events(self) -> dict[str, list[HookEntry]]:
        """Return every event that memtui wants, with the entries that serve it."""
        return {each.name: [entry for entry in self.entries if entry.event == each.name] for each in PROGRAM.events}


Loaded = tuple[SettingsFile, applied_settings.Settings]


def status(env: dict[str, str], cwd: str) -> Status:
    """Find all hooks of ours and their problems; change nothing. Files that can't be read are problems, not errors."""
    places = install.directories(env)
    loaded = []
    for scope, path in settings_files_hot.every(env, paths_hot.normal(cwd)):
        settings_read = applied_settings.read(path, managed=scope == "managed")
        loaded.append((SettingsFile(scope, path, os.path.lexists(path), settings_read.why or None), settings_read))
    files = [file for file, _ in loaded]
    settings = [(file.path, content.value) for file, content in loaded]
    plugin = _plugin(env, settings)
    hooks = [hook for file, text in loaded if file.scope != "managed" for hook in _entries(file, text.value, places)]
    hooks += _plugin_entries(plugin)
    problems = [problem("hooks.file", path=file.path, why=file.error) for file in files if file.error]
    # What the client skips alone is a problem if it is ours.
    skipped = [(file.path, key, entry) for file, content in loaded for key, entry in content.skipped]
    problems += [problem("hooks.entry", path=path, key=key) for path, key, hook in skipped if entries.is_ours(hook)]
    by, key = _disabled_by(loaded, plugin)
    if by and hooks:
        problems.append(problem("hooks.disabled", path=by, key=key))
    if not hooks and (above := _above(env, cwd)):
        problems.append(problem("hooks.above", path=above, directory=install.working_tree(cwd)))
    problems += _entry_problems([entry for entry in hooks if entry.source != "plugin"], places[0])
    ignored = environment_hot.set_by_project(env, paths_hot.normal(cwd))
    problems += [problem("hooks.not_believed", path=path, name=name) for path, name in ignored]
    problems += plugin.problems
    if plugin.active and any(entry.source != "plugin" for entry in hooks):
        problems.append(problem("hooks.both", plugin=plugin.name))
    notes = [note("hooks.entry", path=path, key=key) for path, key, hook in skipped if not entries.is_ours(hook)]
    return Status(hooks, files, plugin, by or None, problems, notes)


def _above(env: dict[str, str], cwd: str) -> str:
    """Return the project's settings above with our hooks that a session started here does not read, or ""."""
    path = install.working_tree(cwd).rstrip("/") + settings_files_hot.SHARED
    read_here = [path_read for _, path_read in settings_files_hot.every(env, paths_hot.normal(cwd))]
    return path if path not in read_here and settings_merge.holds_ours(applied_settings.read(path).value) else ""


def _entries(file: SettingsFile, settings: dict[str, Any], places: tuple[str, str]) -> list[HookEntry]:
    ours = [*settings_merge.our_hooks(settings)]
    if settings_merge.has_status_line(settings):
        ours.append((entries.STATUS_LINE, settings[settings_merge.STATUS_LINE]["command"]))
    hooks = []
    for event, line in ours:
        command = entries.parse(line)
        if command is None:
            continue
        here = (command.root, command.config)
        if [*map(os.path.realpath, here)] != [*map(os.path.realpath, places)]:
            here = places
        try:
            wanted = entries.command(event, entries.choose_interpreter(), entries.launcher_path(), *here)
        except MemtuiError:
            wanted = ""
        programs = (command.interpreter, command.launcher)
        present = (shutil.which(command.interpreter) is not None, os.path.isfile(command.launcher))
        hooks.append(HookEntry(event, file.scope, file.path, line, *programs, *present, line == wanted, command.root))
    return hooks


def _entry_problems(hooks: list[HookEntry], root: str) -> list[Finding]:
    problems = []
    for path in dict.fromkeys(entry.path for entry in hooks):
        here = [entry for entry in hooks if entry.path == path]
        finding = partial(problem, path=path, source=here[0].source)
        missing = {entry.interpreter for entry in here if not entry.interpreter_exists}
        missing |= {entry.launcher for entry in here if not entry.launcher_exists}
        problems += [finding("hooks.gone", gone=gone) for gone in sorted(missing)]
        other = {entry.launcher for entry in here if entry.launcher != entries.launcher_path()} - missing
        problems += [finding("hooks.other", launcher=launcher) for launcher in sorted(other)]
        elsewhere = {hook.root for hook in here if hook.root and os.path.realpath(hook.root) != os.path.realpath(root)}
        problems += [finding("hooks.elsewhere", there=place, root=root) for place in sorted(elsewhere)]
        if not (missing or other or elsewhere) and any(not entry.current for entry in here):
            problems.append(finding("hooks.outdated"))
        if all(entry.event == entries.STATUS_LINE for entry in here):
            continue
        absent = [each.name for each in PROGRAM.events if each.name not in {entry.event for entry in here}]
        if absent:
            problems.append(finding("hooks.event_absent", events=", ".join(absent)))
    for event in PROGRAM.events:
        # The client runs the same command text once, however often it is configured.
        commands = {entry.command: entry.path for entry in hooks if entry.event == event.name}
        if len(commands) > 1:
            paths = ", ".join(sorted(commands.values()))
            problems.append(problem("hooks.several", event=event.name, count=len(commands), paths=paths))
    return problems


def _disabled_by(loaded: list[Loaded], plugin: Plugin) -> tuple[str, str]:
    """Return the file and setting that keep our hooks from running; of each setting the last file decides."""
    deciding = {}
    for file, settings in loaded:
        for key in ("disableAllHooks", *(MANAGED_ONLY if file.scope == "managed" else ())):
            if settings.value.get(key) is not None:
                deciding[key] = file.path, settings.value[key]
    administered = {file.path for file, _ in loaded if file.scope == "managed"}
    for key, (path, value) in deciding.items():
        if key == "disableAllHooks":
            disabled = value is True
        elif key == "allowManagedHooksOnly":
            disabled = value is not False and plugin.enabled_in not in administered
        else:
            disabled = (value is True or (isinstance(value, list) and "hooks" in value)) and not plugin.active
        if disabled:
            return path, key
    return "", ""


def _plugin(env: dict[str, str], settings: list[tuple[str, dict[str, Any]]]) -> Plugin:
    state: dict[str, tuple[bool, str]] = {}
    for path, value in settings:
        for name, enabled in fastjson_hot.table(value, "enabledPlugins").items():
            if name.partition("@")[0] == "memtui":
                state[name] = (enabled is not False, path)
    name = next((name for name, (enabled, _) in state.items() if enabled), "")
    if not name:
        return Plugin(active=False, name=next(iter(state), ""))
    where = _install_path(paths_hot.config_dir(env) + "/plugins", name)
    problems = []
    if not where:
        problems.append(problem("hooks.plugin_absent", path=state[name][1], plugin=name))
    elif not os.path.isfile(where + "/memtui_hook.py"):
        problems.append(problem("hooks.plugin_launcher", launcher=where + "/memtui_hook.py"))
    python = shutil.which("python3", path=env.get("PATH")) or ""
    problems += [] if python else [problem("hooks.plugin_no_python")]
    return Plugin(True, name, state[name][1], where, python, problems)


def _install_path(plugins: str, name: str) -> str:
    """Return the directory a plugin runs from, "" for none: in place in a directory's marketplace, else a copy."""
    market = fastjson_hot.table(_json(plugins + "/known_marketplaces.json"), name.partition("@")[2])
    if fastjson_hot.table(market, "source").get("source") == "directory":
        place = str(market.get("installLocation", "")).rstrip("/") + "/hooks"
        if os.path.isfile(place + "/.claude-plugin/plugin.json"):
            return place
    copies = fastjson_hot.table(_json(plugins + "/installed_plugins.json"), "plugins").get(name)
    copies = copies if isinstance(copies, list) else [copies]
    return next((str(copy["installPath"]) for copy in copies if isinstance(copy, dict) and "installPath" in copy), "")


def _json(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            value = settings_merge.load(file.read(), allows_comments=False)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _plugin_entries(plugin: Plugin) -> list[HookEntry]:
    if not plugin.active or not plugin.install_path:
        return []
    launcher = plugin.install_path + "/memtui_hook.py"
    entries_of_plugin = []
    for event, groups in fastjson_hot.table(_json(plugin.install_path + "/hooks.json"), "hooks").items():
        try:
            line = str(groups[0]["hooks"][0]["command"])  # type: ignore[index]
        except (LookupError, TypeError):
            continue
        programs = (plugin.python, launcher, bool(plugin.python), os.path.isfile(launcher))
        entries_of_plugin.append(HookEntry(event, "plugin", launcher, line, *programs, current=programs[-1]))
    return entries_of_plugin


def as_json(report: Status) -> dict[str, Any]:
    """Return the report as plain JSON values, with problems as sentences."""
    data = json.loads(json.dumps(report, default=vars))
    data["problems"] = [findings.message(finding) for finding in report.problems]
    data["notes"] = [findings.message(finding) for finding in report.notes]
    data["plugin"]["problems"] = [findings.message(finding) for finding in report.plugin.problems]
    return dict(data)
