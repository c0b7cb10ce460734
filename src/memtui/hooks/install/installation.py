"""`memtui setup hooks`: plan a change to a settings file, show it, apply it to the bytes that it was made for.

Uninstalling removes exactly what is ours: an unchanged file gets its old bytes back (`merge.strip`)."""

import compileall
import difflib
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import memtui
from memtui.base import clock, fs, paths
from memtui.base.errors import ConflictError, MemtuiError, UsageError
from memtui.hooks.install import entries, installs, settings_merge
from memtui.hooks.install.installs import Record

# The journal is imported only where settings are changed: the TUI, when it starts, only needs their paths.
if TYPE_CHECKING:
    from memtui.store.journal.changes import Change, Patch
    from memtui.store.journal.journal import Journal

Action = Literal["install", "uninstall"]
SCOPES = ("user", "project", "local")
# In the list of changes: (action, whether it is about the status line) -> words.
VERBS = {
    ("install", False): "install the hooks in",
    ("install", True): "install the hooks and the status line in",
    ("uninstall", False): "take the hooks out of",
    ("uninstall", True): "take the status line out of",
}
LOCK_SECONDS = 5.0
DIFF_CONTEXT = 2  # lines
MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
ERRORS = {"utf-8": "surrogateescape", "utf-16-le": "surrogatepass", "utf-16-be": "surrogatepass"}


@dataclass(frozen=True)
class SettingsPlan:
    """A planned change to one settings file, its bytes before and after (None: no file), and its record in
    installs.json. `other_status_line`: the person's own that stays; `instead`: the command that would show it and ours,
    or it alone where ours goes."""

    action: Action
    scope: str
    settings_path: str
    real_path: str
    before: bytes | None
    after: bytes | None
    diff: str
    changed: bool
    root: str
    key: str
    old_record: Record | None
    new_record: Record | None
    status_line: bool = False
    other_status_line: Any = None
    instead: str = ""


def settings_path(env: dict[str, str], cwd: str, scope: str) -> str:
    """Return the settings file of a scope: user, project or local (of the working tree, where the client must be
    started). Raises UsageError."""
    if scope == "user":
        return paths.normal(os.path.abspath(paths.config_dir(env))) + "/settings.json"
    if scope not in SCOPES:
        raise UsageError(f"There is no settings scope {scope!r}.", f"Use one of: {', '.join(SCOPES)}.")
    name = "settings.json" if scope == "project" else "settings.local.json"
    return working_tree(cwd).rstrip("/") + "/.claude/" + name


def working_tree(cwd: str) -> str:
    """Return the nearest directory from `cwd` upwards that has a `.git`; outside any repository `cwd` itself."""
    here = paths.normal(cwd)
    while not os.path.lexists(here.rstrip("/") + "/.git"):
        if here == "/":
            return paths.normal(cwd)
        here = paths.parent(here)
    return here


def directories(env: dict[str, str]) -> tuple[str, str]:
    """Return memtui's directory and Claude Code's, as the installed hooks name them."""
    own, config = paths.root(env), paths.config_dir(env)
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
) -> SettingsPlan:
    """Plan what `action` would do to a settings file. `status_line`: install it beside the hooks, or remove only it;
    ours is kept up to date, and removed with the hooks, another's stays. Raises MemtuiError."""
    path = paths.normal(os.path.abspath(path))
    real_path = os.path.realpath(path)
    root, config = directories(env)
    before = _read(path, real_path)
    key, record = installs.find(installs.load(root), path, real_path)
    new_record: Record | None = None
    after: bytes | None
    other: Any = None
    instead = ""
    if action == "install":
        interpreter = interpreter or entries.choose_interpreter()
        launcher = launcher or entries.launcher_path()
        groups = entries.groups(interpreter, launcher, root, config)
        line = entries.status_line(interpreter, launcher, root, config)
        if status_line:
            other = settings_merge.other_status_line(settings_merge.read(decode(before)[1], path))
            status_line = other is None
            instead = _both(other, interpreter, launcher, root)
        existed, record_after, after = _installed(path, before, record, groups, line, status_line)
        new_record = Record(
            scope=scope,
            real_path=real_path,
            projects=_projects(path, scope),
            interpreter=interpreter,
            launcher=launcher,
            version=memtui.__version__,
            time=record.time if record and after == before else clock.iso_seconds(clock.now()),
            existed=existed,
            groups=groups,
            created=None
            if record_after.created is None
            else [[str(step) for step in steps] for steps in record_after.created],
            replaced=[([str(step) for step in steps], source) for steps, source in record_after.replaced],
            made_dirs=record.made_dirs if record else [],
            python=sys.executable,
        )
        if record and replace(new_record, time=record.time) == record:
            new_record = record
    elif status_line:
        new_record, after = record, _uninstalled(path, before, record, hooks=False)
    else:
        after = _uninstalled(path, before, record, hooks=True)
    if action == "uninstall" and before is not None:
        other, instead = _pasted(settings_merge.read(decode(before)[1], path))
    if after != before:
        _check_writable(real_path)
    return SettingsPlan(
        action=action,
        scope=scope,
        settings_path=path,
        real_path=real_path,
        before=before,
        after=after,
        diff=_diff(path, before, after),
        changed=after != before,
        root=root,
        key=key,
        old_record=record,
        new_record=new_record,
        status_line=status_line,
        other_status_line=other,
        instead=instead,
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


def _projects(path: str, scope: str) -> list[str]:
    directory = os.path.dirname(os.path.dirname(path))
    return [] if scope == "user" else sorted({directory, os.path.realpath(directory)})


def _read(path: str, real_path: str) -> bytes | None:
    try:
        return fs.read_bytes(real_path)
    except FileNotFoundError:
        if os.path.islink(path) and not os.path.isdir(os.path.dirname(real_path)):
            raise MemtuiError(
                f"{path} is a link to {real_path}, which does not exist.", "Correct the link, or remove it."
            ) from None
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
    path: str,
    before: bytes | None,
    record: Record | None,
    groups: settings_merge.Groups,
    line: dict[str, Any],
    status_line: bool,
) -> tuple[bool, settings_merge.Made, bytes]:
    """Return whether a file was there at first, the containers made for ours, and the bytes after."""
    codec, text = decode(before)
    existed, other = before is not None, settings_merge.Made()
    settings = settings_merge.read(text, path)
    if settings_merge.holds_ours(settings) or settings_merge.has_status_line(settings):
        existed = record.existed if record else True
        other = record.made() if record else settings_merge.Made(created=None)
    text = settings_merge.add(text, groups, record.groups if record else {}, other, path)
    if status_line or settings_merge.has_status_line(settings):
        text = settings_merge.add_status_line(text, line, other, path)
    return existed, other, _encode(codec, text)


def _uninstalled(path: str, before: bytes | None, record: Record | None, *, hooks: bool) -> bytes | None:
    """Return the bytes without our status line, and without our `hooks`; None for no file."""
    if before is None:
        return None
    codec, text = decode(before)
    other = record.made() if record else settings_merge.Made(created=None)
    rest = settings_merge.strip_status_line(text, other, path)
    rest = settings_merge.strip(rest, other, path) if hooks else rest
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
        raise MemtuiError(
            f"{directory} can't be written to.",
            "If a dotfiles manager owns the file, add the hooks at its source, or install in another scope.",
        )


def _diff(path: str, before: bytes | None, after: bytes | None) -> str:
    if before == after:
        return ""
    lines = [decode(data)[1].splitlines(keepends=True) for data in (before, after)]
    names = ["/dev/null" if data is None else path for data in (before, after)]
    diff = difflib.unified_diff(lines[0], lines[1], names[0], names[1], n=DIFF_CONTEXT)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in diff)


def apply(change: SettingsPlan, *, by: str = "cli", now: Callable[[], float] = clock.now) -> str | None:
    """Carry out a plan as one step of undo; return a backup's path. Raises ConflictError, MemtuiError."""
    from memtui.store.journal.journal import Journal

    if change.action == "install":
        # Not every installer compiles modules, and hooks can't in a read-only package.
        compileall.compile_dir(os.path.dirname(os.path.abspath(memtui.__file__)), quiet=2)
    try:
        with fs.Lock(change.root + "/run/installs.lock", LOCK_SECONDS):
            return _apply_locked(change, Journal(change.root, by, now))
    except fs.LockTimeoutError as error:
        raise MemtuiError("Another memtui process is changing settings.", "Try again in a moment.") from error
    except OSError as error:
        where = error.filename or change.settings_path
        raise MemtuiError(f"Can't write {where}: {error.strerror}.", "Check owner, mode and free space.") from error


def _apply_locked(change: SettingsPlan, journal: "Journal") -> str | None:
    records = installs.load(change.root)
    if _read(change.settings_path, change.real_path) != change.before or records.get(change.key) != change.old_record:
        raise ConflictError(
            f"{change.settings_path} changed in the meantime. Nothing was written.", "Run the command again."
        )
    saved = None
    if change.changed and change.before is not None:
        saved = installs.backup(change.root, change.settings_path, change.before)
    record = change.new_record
    if record is not None and record != change.old_record:
        made_dirs = {*record.made_dirs, *_missing_dirs(os.path.dirname(change.real_path))}
        record = replace(record, made_dirs=sorted(made_dirs))
    noted = installs.edit(change.root, change.key, record)
    if change.changed:
        verb = VERBS[change.action, change.status_line]
        changes: list[Change] = [noted] if noted.before != noted.after else []
        journal.run(change.action, [*changes, _patch(change)], f"{verb} {change.settings_path}")
    elif noted.before != noted.after:
        noted.make()
    try:
        installs.tidy(change.root, change.settings_path)
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
        mode = fs.FILE_MODE
        if change.scope != "user":
            # A repository's file gets the permissions of any new file: others may read the repository.
            umask = os.umask(0)
            os.umask(umask)
            mode = (stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH | stat.S_IWGRP) & ~umask
    else:
        dirs = change.old_record.made_dirs if change.old_record and change.after is None else []
        mode = stat.S_IMODE(os.stat(change.real_path).st_mode)
    return Patch.between(change.real_path, change.before, change.after, mode, tuple(dirs))
