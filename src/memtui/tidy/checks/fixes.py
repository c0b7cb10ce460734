"""The fixes of findings, each one step of undo: of AT_ONCE without asking, of DECIDED only by name.

What is kept for a project whose directory is gone is found here, and given to the one that it became."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from memtui.base import clock_hot, fs_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding, problem
from memtui.base.shell import shell_word
from memtui.base.storage import read_or_none
from memtui.client import locate_hot, projects
from memtui.inbox import format_hot, reconciliation_hot
from memtui.store import sidecars
from memtui.store.journal.changes import Change, FileChange
from memtui.store.journal.text_edit import TextEdit
from memtui.store.store import Store

AT_ONCE = ("files", "errors", "notes")
DECIDED = ("projects",)
SUBJECT = "project:"
# Files beside an inbox in which each line tells what not to draft again.
LEDGERS = (format_hot.REJECTED, "extracted.jsonl")
# git makes its objects read-only; they stay so.
GIT_OBJECTS = ".git/objects/"
# Why a directory that is gone may have become another one.
SAME_DIRECTORY, SAME_REMOTE = "is that directory", "has the same remote"


class FixOutcome(NamedTuple):
    """The outcome of a fix: what `changed` (paths, claims or ids of notes), and whether that can be undone."""

    fix: str
    changed: list[object]
    undoable: bool = True


def fix(store: Store, what: str) -> FixOutcome:
    """Make the fix with the id `what`. Raises MemtuiError, OSError."""
    return _FIXES[what](store)


def _errors(store: Store) -> FixOutcome:
    """Give the log of errors another name, so that the next error begins a new one. No file is overwritten."""
    log = store.root + "/log"
    source = f"{log}/errors.jsonl"
    data = read_or_none(source)
    if data is None:
        return FixOutcome("errors", [])
    day = clock_hot.iso_seconds(store.journal.now())[:10]
    number = 1
    while os.path.lexists(path := f"{log}/errors-{day}{'' if number == 1 else f'-{number}'}.jsonl"):
        number += 1
    changes = [FileChange(path, None, data), FileChange(source, data, None)]
    store.journal.run("errors", changes, f"set the errors aside, in {os.path.basename(path)}")
    return FixOutcome("errors", [path])


def _files(store: Store) -> FixOutcome:
    changed = []
    for path, mode, _size in modes(store.root):
        if GIT_OBJECTS in path:
            continue
        wanted = mode & 0o700 | (0o700 if os.path.isdir(path) else 0o600)
        if mode != wanted:
            try:
                os.chmod(path, wanted)
            except OSError as error:
                hint = f'Make it yours again: sudo chown "$USER" {shell_word(path)}'
                raise MemtuiError(f"{path} can't be closed: {error.strerror}.", hint) from error
            changed.append(path)
    return FixOutcome("files", [*changed], undoable=False)


def modes(top: str) -> Iterator[tuple[str, int, int]]:
    """List `top` and all files and directories below it: permission bits, bytes (of a file, else 0); no symlinks."""
    try:
        yield top, os.lstat(top).st_mode & 0o777, 0
    except OSError:
        return
    for here, directories, files in os.walk(top):
        for name in [*directories, *files]:
            path = os.path.join(here, name)
            try:
                entry = os.lstat(path)
            except OSError:
                continue
            if (kind := entry.st_mode & fs_hot.S_IFMT) != fs_hot.S_IFLNK:
                yield path, entry.st_mode & 0o777, entry.st_size if kind == fs_hot.S_IFREG else 0


# what is kept for a project whose directory is gone


class GoneProject(NamedTuple):
    """A project whose directory is gone: its `key`, the client's `memories` of it alone, how much is kept."""

    key: str
    root: str
    memories: str
    number: int


def renamed(env: dict[str, str], here: str) -> Iterator[Finding]:
    """Find what is kept for projects whose directory is gone, and which the project at `here` may be now."""
    for each in _gone(env, here):
        if why := _likeness(paths_hot.root(env), each, here):
            yield problem("inbox.renamed", SUBJECT + each.key, count=each.number, root=each.root, why=why, here=here)


def _likeness(root: str, gone_project: GoneProject, here: str) -> str:
    """Return why a project may be what another one has become; empty if nothing speaks for it."""
    noted = projects.project_record(root, gone_project.key)
    if noted.get("inode") == str(os.stat(here).st_ino):
        return SAME_DIRECTORY
    remote, own = noted.get("remote"), projects.remote(here)
    return SAME_REMOTE if remote and remote == own else ""


def _gone(env: dict[str, str], here: str) -> Iterator[GoneProject]:
    """List the projects for which anything is kept, and whose directory is gone."""
    root = paths_hot.root(env)
    memory_dirs = {path: directory.directory for directory in projects.with_memory(env) if (path := directory.path)}
    noted = [projects.project_record(root, key).get("root") for key in projects.directories(root + "/projects")]
    for path in sorted({*memory_dirs, *(directory for directory in noted if directory)}):
        if os.path.lexists(path):
            continue
        key, memories = paths_hot.project_key(path), memory_dirs.get(path, "")
        roots = projects.roots_of(env, paths_hot.slug(path))
        if memories == locate_hot.auto_dir(env, here) or any(map(os.path.isdir, roots)):
            memories = ""
        count = _entries(root, key) + len(_blocks(root, key)) + len(_memories_in(memories))
        if count:
            yield GoneProject(key, path, memories, count)


def _entries(root: str, key: str) -> int:
    """Count the entries of an inbox; none of a file that can't be read, which is a problem of its own."""
    count = 0
    for kind, name in format_hot.FILES.items():
        with suppress(OSError):
            count += len(format_hot.read(f"{paths_hot.inbox_dir(root, key)}/{name}", items=kind == "items"))
    return count


def _blocks(root: str, key: str) -> list[str]:
    """List the files of the blocks of the subconscious that a project has."""
    directory = f"{root}/subconscious/projects/{key}"
    return [f"{directory}/{name}" for name in sorted(paths_hot.names_in(directory)) if name.endswith(".md")]


def _memories_in(directory: str) -> list[str]:
    try:
        return [file for file, wrong in locate_hot.walk(directory) if not wrong] if directory else []
    except OSError:
        return []


def _adopt(store: Store) -> FixOutcome:
    """Give what is kept for projects that the store's project may have been to it."""
    here = paths_hot.project_root(store.cwd)
    projects_by_key = {gone_project.key: gone_project for gone_project in _gone(store.env, here)}
    changed: list[object] = []
    with store.journal.together():
        for name in [finding.subject.removeprefix(SUBJECT) for finding in renamed(store.env, here)]:
            old = projects_by_key[name]
            target = locate_hot.auto_dir(store.env, here)
            pairs = {f"{old.memories}/{file}": f"{target}/{file}" for file in _memories_in(old.memories)}
            # One whose name is taken there stays.
            moved = {path: new for path, new in pairs.items() if not os.path.lexists(new)}
            changes = [*_of_inbox(store.root, name, paths_hot.project_key(here)), *_of_memories(store, old, moved)]
            if changes:
                words = f"give what was kept for {old.root} to {os.path.basename(here)}"
                store.journal.run("adopt", changes, words, became=moved)
            changed += [change.path for change in changes]
    return FixOutcome("projects", changed)


def _of_inbox(root: str, name: str, own: str) -> Iterator[Change]:
    """Yield the changes that move an inbox's entries, its lists, and blocks of the subconscious."""
    source, target = paths_hot.inbox_dir(root, name), paths_hot.inbox_dir(root, own)
    for file in (*format_hot.FILES.values(), *LEDGERS):
        text = format_hot.decode(read_or_none(f"{source}/{file}") or b"")
        if not text.strip():
            continue
        if file in LEDGERS:
            moved = text if text.endswith("\n") else text + "\n"
        else:
            entries = format_hot.parse(text, items=file == format_hot.FILES["items"])
            moved = "".join(map(format_hot.standalone, entries))
        yield TextEdit(f"{target}/{file}", "", moved)
        yield TextEdit(f"{source}/{file}", text, "")
    for path in _blocks(root, name):
        block = f"{root}/subconscious/projects/{own}/{os.path.basename(path)}"
        if not fs_hot.stamp(block):
            yield FileChange(block, None, read_or_none(path))
            yield FileChange(path, read_or_none(path), None)


def _of_memories(store: Store, gone_project: GoneProject, moved: dict[str, str]) -> Iterator[Change]:
    """Yield the changes that move the memories of Claude Code, what is kept beside them, and their MEMORY.md."""
    target = locate_hot.auto_dir(store.env, paths_hot.project_root(store.cwd))
    for old, new in moved.items():
        data, status = read_or_none(old), os.stat(old)
        yield FileChange(new, None, data, status.st_mode & 0o777, (None, status.st_mtime_ns))
        yield FileChange(old, data, None)
    if not gone_project.memories:
        return
    index, own = f"{gone_project.memories}/{locate_hot.INDEX_NAME}", f"{target}/{locate_hot.INDEX_NAME}"
    lines = (read_or_none(index) or b"").splitlines(keepends=True)
    own_lines = (read_or_none(own) or b"").splitlines(keepends=True)
    if lines and len(moved) == len(_memories_in(gone_project.memories)):
        missing = [line for line in lines if line not in own_lines]
        if missing:
            yield TextEdit(own, "", format_hot.decode(b"".join(missing)))
        yield FileChange(index, b"".join(lines), None)
    names = [old.removeprefix(gone_project.memories + "/") for old in moved]
    yield from sidecars.moved_pairs(store.root, moved)
    yield from sidecars.moved_edits(store.root, {(gone_project.memories, name): (target, name) for name in names})


def _notes(store: Store) -> FixOutcome:
    """Put every claim away whose transcript shows what became of it."""
    claims = reconciliation_hot.reconcile(store.env, store.root, now=store.journal.now())
    return FixOutcome("notes", [*claims], undoable=False)


_FIXES = {"files": _files, "errors": _errors, "notes": _notes, "projects": _adopt}
