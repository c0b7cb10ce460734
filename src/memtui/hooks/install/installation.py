"""`memtui setup hooks`: plan a change to a settings file, show it, apply it to the bytes that it was made for.

Uninstalling removes exactly what is ours: an unchanged file gets its old bytes back (`settings_merge.strip`).
`installs.json` lists the files that memtui wrote to, and what it made in each; `backups/` has copies."""

import compileall
import difflib
import json
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import memtui
from memtui.base import clock_hot, fs_hot, ids_hot, paths_hot
from memtui.base.errors import ConflictError, MemtuiError, UsageError
from memtui.client import locate_hot
from memtui.client.agents.program import PROGRAM, Program
from memtui.hooks.install import entries, settings_merge
from memtui.hooks.install.entries import Groups, Table
from memtui.hooks.install.settings_merge import Made

if TYPE_CHECKING:
    from memtui.store.journal.changes import Change, Patch
    from memtui.store.journal.journal import Journal
    from memtui.store.journal.own_files import EntryEdit

BACKUPS_KEPT = 10  # per settings file


@dataclass
class Record:
    """One settings file, and what the installation made in it: our `groups` by event, `created` and `replaced` as in
    `Made`, `made_dirs`; `python`: in which a worker starts commands; `agent`: empty for Claude Code."""

    scope: str
    real_path: str
    projects: list[str]
    interpreter: str
    launcher: str
    version: str
    time: str
    existed: bool
    groups: Groups
    created: list[list[Any]] | None = field(default_factory=list)
    replaced: list[list[Any]] = field(default_factory=list)
    made_dirs: list[str] = field(default_factory=list)
    python: str = ""
    agent: str = ""


def _made(record: Record | None) -> Made:
    """Return a copy of what an installation made; unknown without a record of it."""
    if record is None:
        return Made(created=None)
    return Made(None if record.created is None else [*record.created], [*record.replaced])


def installs_path(root: str) -> str:
    return root + "/installs.json"


def load(root: str) -> dict[str, Record]:
    """Read the records by the path of their settings file. Raises MemtuiError if the list can't be read."""
    try:
        names = {item.name for item in fields(Record)}
        rows = _whole(root).get("files", {}).items()
        return {name: Record(**{key: row[key] for key in row if key in names}) for name, row in rows}
    except (TypeError, AttributeError) as error:
        raise _damaged(root, error) from error


def _whole(root: str) -> dict[str, Any]:
    path = installs_path(root)
    try:
        data = fs_hot.read_or_empty(path)
        value: dict[str, Any] = json.loads(data) if data.strip() else {}
        value.get("files", {}).items()
    except OSError as error:
        raise MemtuiError(f"Can't read {path}: {error.strerror}.", "Check its owner and mode.") from error
    except (ValueError, AttributeError, RecursionError) as error:
        raise _damaged(root, error) from error
    return value


def _damaged(root: str, error: Exception) -> MemtuiError:
    path = installs_path(root)
    hint = f"Move {path} away: `memtui setup hooks --remove` then takes out what it recognises as memtui's."
    return MemtuiError(f"{path} is damaged: {error}.", hint)


def edit(root: str, name: str, after: Record | None) -> "EntryEdit":
    """Make the change of a record (None: removed, the last one with the file). Raises MemtuiError."""
    from memtui.store.journal.own_files import EntryEdit

    before = {key: row for key, row in _whole(root).get("files", {}).items() if key == name}
    new = {} if after is None else {name: json.loads(json.dumps(asdict(after)))}
    return EntryEdit(installs_path(root), before, new, "files")


def find(records: dict[str, Record], settings_path: str, real_path: str) -> tuple[str, Record | None]:
    """Return the key and the record of a settings file, also if it was recorded by another path to the same file."""
    same_file = (name for name, record in records.items() if record.real_path == real_path)
    key = settings_path if settings_path in records else next(same_file, settings_path)
    return key, records.get(key)


def backup(root: str, settings_path: str, data: bytes) -> str:
    """Write a copy of a settings file; return its path relative to the root. Raises OSError."""
    name = f"backups/{ids_hot.new_id()}-{_short(settings_path)}.json"
    fs_hot.write_atomic(f"{root}/{name}", data)
    return name


def _short(settings_path: str) -> str:
    """Return a short name for a settings file, for its backups."""
    return paths_hot.slug(settings_path)[-60:].strip("-") + "-" + ids_hot.content_hash(os.fsencode(settings_path))[:6]


def tidy(root: str, settings_path: str) -> None:
    """Remove the oldest backups of a settings file beyond `BACKUPS_KEPT`. Raises OSError."""
    ending = f"-{_short(settings_path)}.json"
    names = sorted(name for name in os.listdir(root + "/backups") if name.endswith(ending))
    for name in names[:-BACKUPS_KEPT]:
        fs_hot.unlink(f"{root}/backups/{name}")


# The journal is imported only where settings are changed: the TUI, when it starts, only needs their paths.

Action = Literal["install", "uninstall"]
SCOPES = ("user", "project", "local")
# In the list of changes, by action: the words for the hooks, and where it is about the status line.
VERBS: dict[Action, tuple[str, str]] = {
    "install": ("install the hooks in", "install the hooks and the status line in"),
    "uninstall": ("take the hooks out of", "take the status line out of"),
}
LOCK_SECONDS = 5.0
DIFF_CONTEXT = 2  # lines
MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
ERRORS = {"utf-8": "surrogateescape", "utf-16-le": "surrogatepass", "utf-16-be": "surrogatepass"}


@dataclass(frozen=True)
class SettingsPlan:
    """A planned change to one settings file, its bytes before and after (None: no file), and its record in
    installs.json. `other_status_line`: the person's, which stays; `instead`: the command to show it, and ours if on."""

    action: Action
    scope: str
    settings_path: str
    real_path: str
    before: bytes | None
    after: bytes | None
    root: str
    key: str
    old_record: Record | None
    new_record: Record | None
    status_line: bool
    other_status_line: Any
    instead: str

    @property
    def changed(self) -> bool:
        """Whether the file would become another."""
        return self.after != self.before

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty for none."""
        if not self.changed:
            return ""
        both = (self.before, self.after)
        before, after = (decode(data)[1].splitlines(keepends=True) for data in both)
        old, new = ("/dev/null" if data is None else self.settings_path for data in both)
        diff = difflib.unified_diff(before, after, old, new, n=DIFF_CONTEXT)
        return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in diff)


def settings_path(env: dict[str, str], cwd: str, scope: str) -> str:
    """Return the settings file of a scope: user, project or local (of the working tree). Raises UsageError."""
    if scope == "user":
        return paths_hot.normal(os.path.abspath(paths_hot.config_dir(env))) + "/settings.json"
    if scope not in SCOPES:
        raise UsageError(f"There is no settings scope {scope!r}.", f"Use one of: {', '.join(SCOPES)}.")
    name = "settings.json" if scope == "project" else "settings.local.json"
    return working_tree(cwd).rstrip("/") + "/.claude/" + name


def working_tree(cwd: str) -> str:
    """Return the nearest directory from `cwd` upwards that has a `.git`; outside any repository `cwd` itself."""
    return locate_hot.worktree_top(paths_hot.normal(cwd))


def directories(env: dict[str, str]) -> tuple[str, str]:
    """Return memtui's directory and Claude Code's, as the installed hooks name them."""
    own, config = paths_hot.root(env), paths_hot.config_dir(env)
    return os.path.abspath(own), os.path.abspath(config)


def plan(
    path: str,
    action: Action,
    *,
    env: dict[str, str],
    scope: str = "user",
    interpreter: str = "",
    launcher: str = "",
    status_line: bool = False,
    program: Program = PROGRAM,
) -> SettingsPlan:
    """Plan what `action` would do to an agent's settings file. `status_line`: install it beside the hooks, or remove
    only it; ours is kept up to date, and removed with the hooks, another's stays. Raises MemtuiError."""
    path = paths_hot.normal(os.path.abspath(path))
    real_path = os.path.realpath(path)
    root, config = directories(env)
    before = _read(path, real_path)
    key, record = find(load(root), path, real_path)
    is_whole = program.whole_file(str) is not None
    agent = "" if program is PROGRAM else program.title
    settings = {} if is_whole else settings_merge.read(decode(before)[1], path, agent, program.allows_comments)
    new_record: Record | None = None
    after: bytes | None
    other: Any = None
    instead = ""
    if action == "install":
        interpreter = interpreter or entries.choose_interpreter()
        launcher = launcher or entries.launcher_path()
        if status_line:
            other = settings_merge.other_status_line(settings)
            status_line = other is None
            instead = _both(other, interpreter, launcher, root)
        groups: Groups = {}
        if is_whole:
            whole = lambda event: entries.agent_command(program, event, interpreter, launcher, root, config)
            if before is not None and not entries.starts_ours(before):
                raise ConflictError(f"{path} is not memtui's.", "Move it away, and try again.")
            existed, additions, after = False, Made(), (program.whole_file(whole) or "").encode()
        else:
            groups = entries.groups(interpreter, launcher, root, config, program)
            line = entries.status_line(interpreter, launcher, root, config)
            with_line = status_line or settings_merge.has_status_line(settings)
            existed, additions, after = _installed(path, before, settings, record, groups, line if with_line else None)
        directory = os.path.dirname(os.path.dirname(path))
        new_record = Record(
            scope=scope,
            real_path=real_path,
            interpreter=interpreter,
            launcher=launcher,
            version=memtui.__version__,
            projects=[] if scope == "user" else sorted({directory, os.path.realpath(directory)}),
            time=record.time if record and after == before else clock_hot.iso_seconds(clock_hot.now()),
            existed=existed,
            groups=groups,
            created=additions.created,
            replaced=additions.replaced,
            made_dirs=record.made_dirs if record else [],
            python=sys.executable,
            agent="" if program is PROGRAM else program.name,
        )
        if record and replace(new_record, time=record.time) == record:
            new_record = record
    else:
        new_record = record if status_line else None
        if is_whole:
            after = None if entries.starts_ours(before) else before
        else:
            after = _uninstalled(path, before, record, hooks=not status_line)
        other, instead = _pasted(settings)
    if after != before:
        _check_writable(real_path)
    return SettingsPlan(
        *(action, scope, path, real_path, before, after, root, key, record, new_record), *(status_line, other, instead)
    )


def _pasted(settings: dict[str, Any]) -> tuple[Any, str]:
    """Return a person's own status line that starts memtui, and the other command in it; None and "" if none."""
    other_line = settings_merge.other_status_line(settings)
    command = other_line.get("command") if isinstance(other_line, dict) else None
    if not isinstance(command, str) or not entries.shows_ours(command):
        return None, ""
    return other_line, entries.other_of(command)


def _both(other: Any, interpreter: str, launcher: str, root: str) -> str:
    """Return the command that shows the status line `other` and ours; "" if it is no command, or shows ours already."""
    theirs = other.get("command") if isinstance(other, dict) else None
    if not isinstance(theirs, str) or entries.shows_ours(theirs):
        return ""
    try:
        return entries.command_after(theirs, interpreter, launcher, root)
    except MemtuiError:
        return ""  # it has characters that no JSON can have


def _read(path: str, real_path: str) -> bytes | None:
    try:
        return fs_hot.read_bytes(real_path)
    except FileNotFoundError:
        if os.path.islink(path) and not os.path.isdir(os.path.dirname(real_path)):
            hint = "Correct the link, or remove it."
            raise MemtuiError(f"{path} is a link to {real_path}, which does not exist.", hint) from None
        return None
    except OSError as error:
        raise MemtuiError(f"Can't read {path}: {error.strerror}.", "Check its owner, mode and kind.") from error


def decode(data: bytes | None) -> tuple[str, str]:
    """Return (codec, text) of a settings file by its byte order mark; "" without one."""
    for mark, codec in MARKS.items():
        if data and data.startswith(mark) and (len(data) % 2 == 0 or codec == "utf-8"):
            return codec, data[len(mark) :].decode(codec, ERRORS[codec])
    return "", (data or b"").decode("utf-8", "surrogateescape")


def _encode(codec: str, text: str) -> bytes:
    mark = next((mark for mark, name in MARKS.items() if name == codec), b"")
    return mark + text.encode(codec or "utf-8", ERRORS.get(codec, "surrogateescape"))


def _installed(
    path: str, before: bytes | None, settings: Table, record: Record | None, groups: Groups, line: Table | None
) -> tuple[bool, Made, bytes]:
    """Return whether a file was there at first, the containers made for ours, and the bytes after."""
    codec, text = decode(before)
    existed, additions = before is not None, Made()
    if settings_merge.has_status_line(settings) or settings_merge.holds_ours(settings):
        existed, additions = record.existed if record else True, _made(record)
    text = settings_merge.add(text, groups, record.groups if record else {}, additions, path)
    if line is not None:
        text = settings_merge.add_status_line(text, line, additions, path)
    return existed, additions, _encode(codec, text)


def _uninstalled(path: str, before: bytes | None, record: Record | None, *, hooks: bool) -> bytes | None:
    """Return the bytes without our status line, and without our `hooks`; None for no file."""
    if before is None:
        return None
    codec, text = decode(before)
    additions = _made(record)
    rest = settings_merge.strip_status_line(text, additions, path)
    rest = settings_merge.strip(rest, additions, path) if hooks else rest
    if hooks and record and not record.existed and not settings_merge.read(rest, path):
        return None
    return _encode(codec, rest)


def _check_writable(real_path: str) -> None:
    """Check that the file, and a temporary one beside it, can be written. Raises MemtuiError."""
    if os.path.exists(real_path) and not os.access(real_path, os.W_OK):
        raise MemtuiError(f"{real_path} is read-only.", "Make it writable, or install in another scope.")
    directory = os.path.dirname(real_path)
    while not os.path.lexists(directory):
        directory = os.path.dirname(directory)
    if not os.path.isdir(directory):
        raise MemtuiError(f"{directory} is not a directory.", f"{real_path} can't be written.")
    if not os.access(directory, os.W_OK | os.X_OK):
        hint = "If a dotfiles manager owns the file, add the hooks at its source, or install in another scope."
        raise MemtuiError(f"{directory} can't be written to.", hint)


def apply(change: SettingsPlan, *, by: str = "cli", now: Callable[[], float] = clock_hot.now) -> str | None:
    """Carry out a plan as one step of undo; return a backup's path. Raises ConflictError, MemtuiError."""
    from memtui.store.journal.journal import Journal

    if change.action == "install":
        # Not every installer compiles modules, and hooks can't in a read-only package.
        compileall.compile_dir(os.path.dirname(os.path.abspath(memtui.__file__)), quiet=2)
    try:
        with fs_hot.Lock(change.root + "/run/lock", LOCK_SECONDS):
            return _apply_locked(change, Journal(change.root, by, now))
    except fs_hot.LockTimeoutError as error:
        raise MemtuiError("Another memtui process is changing settings.", "Try again in a moment.") from error
    except OSError as error:
        where = error.filename or change.settings_path
        raise MemtuiError(f"Can't write {where}: {error.strerror}.", "Check owner, mode and free space.") from error


def _apply_locked(change: SettingsPlan, journal: "Journal") -> str | None:
    records = load(change.root)
    if _read(change.settings_path, change.real_path) != change.before or records.get(change.key) != change.old_record:
        hint = "Run the command again."
        raise ConflictError(f"{change.settings_path} changed in the meantime. Nothing was written.", hint)
    saved = None
    if change.changed and change.before is not None:
        saved = backup(change.root, change.settings_path, change.before)
    record = change.new_record
    if record is not None and record != change.old_record:
        made_dirs = {*record.made_dirs, *_missing_dirs(os.path.dirname(change.real_path))}
        record = replace(record, made_dirs=sorted(made_dirs))
    noted = edit(change.root, change.key, record)
    if change.changed:
        verb = VERBS[change.action][change.status_line]
        changes: list[Change] = [noted] if noted.before != noted.after else []
        journal.run(change.action, [*changes, _patch(change)], f"{verb} {change.settings_path}")
    elif noted.before != noted.after:
        noted.make()
    try:
        tidy(change.root, change.settings_path)
    except (OSError, MemtuiError):
        pass  # old backups are removed the next time
    return f"{change.root}/{saved}" if saved else None


def _missing_dirs(directory: str) -> list[str]:
    missing: list[str] = []
    while not os.path.lexists(directory):
        missing.insert(0, directory)
        directory = os.path.dirname(directory)
    return missing


def _patch(change: SettingsPlan) -> "Patch":
    """Make the patch for the journal: only the bytes that change, since the rest of a settings file may be secret."""
    from memtui.store.journal.changes import Patch

    if change.before is None:
        dirs = _missing_dirs(os.path.dirname(change.real_path))
        mode = fs_hot.FILE_MODE
        if change.scope != "user":
            # A repository's file gets the permissions of any new file: others may read the repository.
            umask = os.umask(0)
            os.umask(umask)
            mode = (stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH | stat.S_IWGRP) & ~umask
    else:
        dirs = change.old_record.made_dirs if change.old_record and change.after is None else []
        mode = stat.S_IMODE(os.stat(change.real_path).st_mode)
    return Patch.between(change.real_path, change.before, change.after, mode, tuple(dirs))
