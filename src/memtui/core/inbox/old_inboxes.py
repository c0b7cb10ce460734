"""Inboxes of older versions, `projects/<slug>`: the client's slug named them, which several projects can have.

What is in one is moved to the project that it came from, as the entries and sessions say, or to the only one with this
slug that is known. What a program goes on writing there by hand follows it. What could be of several projects stays
until a person says whose it is (core/health/doctor.py). A process that is killed in between leaves an entry in both
places, and the next one takes it out of the old one.
"""

import posix

from memtui.core.base import clock, fastjson, fs, paths, session_state
from memtui.core.deliveries import error_log
from memtui.core.inbox import claimed
from memtui.core.inbox import file as inbox_file
from memtui.core.inbox import format as inbox_format

# Files in which each line tells what not to draft again; what could be of several projects counts for each of them.
LEDGERS = (inbox_format.REJECTED, "extracted.jsonl")
LEDGER_BYTES = 8 << 20
# How long each lock is waited for, and how far back a delivery is looked for that came between two attempts.
LOCK_SECONDS, BETWEEN_SECONDS = 1.0, 3600.0

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def files(root: str, slug: str) -> "list[str]":
    """List the files of an old inbox, and the blocks of the subconscious beside it."""
    directory = paths.inbox_dir(root, slug)
    names = [name for name in sorted(paths.names_in(directory)) if name.endswith(paths.OLD_FILES)]
    return [f"{directory}/{name}" for name in names] + blocks(root, slug)


def blocks(root: str, slug: str) -> "list[str]":
    """List the files of the blocks of the subconscious that a project has, by its key, or had by its slug alone."""
    directory = f"{root}/subconscious/projects/{slug}"
    return [f"{directory}/{name}" for name in sorted(paths.names_in(directory)) if name.endswith(".md")]


def slugs(root: str) -> "list[str]":
    """List the slugs under which anything is kept of before projects had keys."""
    places = (f"{root}/projects", f"{root}/subconscious/projects")
    named = sorted({name for place in places for name in paths.names_in(place) if "." not in name})
    return [slug for slug in named if files(root, slug) and not paths.inbox_strangers(root, slug)]


def move_all(env: "dict[str, str]", root: str) -> None:
    """Move what can be told of all old inboxes. Never raises: what fails is logged, and tried again."""
    for slug in slugs(root):
        move(env, root, slug)


def move(env: "dict[str, str]", root: str, slug: str, here: str = "") -> None:
    """Move what can be told of one old inbox, and the blocks of the subconscious beside it; `here`: the root of a
    project that exists. What has stayed there and is the same since is not looked at again. Never raises."""
    try:
        left = f"{root}/run/left-{slug}"
        look = _look(root, slug)
        if fs.read_or_empty(left, 1 << 16) == look + here.encode("utf-8", "replace"):
            return
        _OldInbox(env, root, slug, here).run()
        after = _look(root, slug)
        if after:
            fs.write_cache(left, after + here.encode("utf-8", "replace"))
    except fs.LockTimeoutError:
        return  # whoever works on one of these inboxes is soon done, and the next hook moves the rest
    except (OSError, ValueError) as error:
        error_log.add(root, "projects", error)


def _look(root: str, slug: str) -> bytes:
    """Return what changes when anything in an old inbox, or the number of projects, does; empty for an empty one."""
    stamped = [(path, fs.stamp(path)) for path in files(root, slug)]
    stamps = [f"{path} {stamp}" for path, stamp in stamped if stamp]
    return "\n".join([*stamps, *_keys(root, slug), ""]).encode("utf-8", "replace") if stamps else b""


def _keys(root: str, slug: str) -> "list[str]":
    """List the projects with this slug that memtui keeps anything for, by their keys."""
    try:
        return sorted([name for name in posix.listdir(root + "/projects") if name.startswith(slug + ".")])
    except OSError:
        return []


class _OldInbox:
    """An old inbox that is to be emptied. `roots`: the projects with its slug that are known."""

    def __init__(self, env: "dict[str, str]", root: str, slug: str, here: str) -> None:
        from memtui.core.client import projects

        self.root, self.slug = root, slug
        self.directory = paths.inbox_dir(root, slug)
        self.roots = dict.fromkeys([*([here] if here else []), *projects.roots_of(env, slug)])
        keys = [paths.project_key(each) for each in self.roots]
        # The only project that an entry can be of: none, if there is an inbox of one whose root is not known.
        self.only = next(iter(self.roots), "") if {*keys, *_keys(root, slug)} == set(keys[:1]) else ""

    def run(self) -> None:
        """Move each file as far as that is possible. Raises the first OSError, after the others were moved."""
        errors: list[OSError] = []
        with fs.Lock(f"{self.directory}/{inbox_format.LOCK_NAME}", LOCK_SECONDS):
            steps: list[tuple[Callable[[str], None], str]] = [(self._move_entries, kind) for kind in inbox_format.FILES]
            steps += [*[(self._move_ledger, name) for name in LEDGERS], (self._move_blocks, self.only)]
            for step, what in steps:
                try:
                    step(what)
                except OSError as error:
                    errors.append(error)
        if errors:
            raise errors[0]

    def owner(self, entry: inbox_format.Entry) -> str:
        """Return the root of the project that an entry came from; empty if nobody can tell."""
        places = [entry.fields.get("project", "")]
        sessions = [entry.fields.get("session", ""), entry.fields.get("from", "").partition("session:")[2]]
        sessions += [each.strip().partition("session:")[2] for each in entry.fields.get("for", "").split(",")]
        for session in sessions:
            state = session_state.load(self.root, session) if session else {}
            places.append(str(state.get("project_root") or ""))
        for path in places:
            for root in (paths.project_root(path), path.rstrip("/") or "/") if path.startswith("/") else ():
                if paths.slug(root) == self.slug:
                    return root
        return self.only

    def _move_entries(self, kind: str) -> None:
        inbox_file.recover(self.directory)
        path = f"{self.directory}/{inbox_format.FILES[kind]}"
        if fs.stamp(path):
            inbox_file.rewrite_locked(path, lambda source: self._without_moved(kind, source))

    def _without_moved(self, kind: str, source: str) -> str:
        """Put the entries of a file whose project is known there, and return what is left of the file."""
        entries = inbox_format.parse(source, items=kind == "items")
        owners = [self.owner(entry) for entry in entries]
        for root in dict.fromkeys(owners):
            if root:
                self._put(root, kind, [e for e, owner in zip(entries, owners, strict=True) if owner == root])
        if all(owners):
            return ""
        for entry, root in reversed(list(zip(entries, owners, strict=True))):
            if root:
                before = source[: entry.start]
                end = inbox_format.NO_ENTRY if inbox_format.is_unfinished(before) else ""
                source = before + end + source[entry.start + len(entry.raw) :]
        return source

    def _put(self, root: str, kind: str, entries: "list[inbox_format.Entry]") -> None:
        """Add entries to the inbox of a project, without those that an earlier attempt put there."""
        directory = note_root(self.root, root)
        path = f"{directory}/{inbox_format.FILES[kind]}"
        with fs.Lock(f"{directory}/{inbox_format.LOCK_NAME}", LOCK_SECONDS):
            inbox_file.recover(directory)
            if kind == "guidance":
                entries = claimed.unknown(entries, claimed.elsewhere(directory, clock.now() - BETWEEN_SECONDS))
            else:
                ids_there = {entry.id for entry in inbox_format.read(path, items=kind == "items")}
                entries = [entry for entry in entries if entry.id not in ids_there]
            text = "".join([inbox_format.standalone(entry) for entry in entries])
            if text:
                inbox_file.add_locked(path, text)

    def _move_ledger(self, name: str) -> None:
        path = f"{self.directory}/{name}"
        if not self.roots or not fs.stamp(path):
            return
        with fs.Lock(path + ".lock", LOCK_SECONDS):
            lines = fs.read_or_empty(path, LEDGER_BYTES).splitlines(keepends=True)
            for root in self.roots:
                target = f"{note_root(self.root, root)}/{name}"
                lines_there = set(fs.read_or_empty(target, LEDGER_BYTES).splitlines(keepends=True))
                missing = b"".join([each for each in lines if each.endswith(b"\n") and each not in lines_there])
                if missing:
                    fs.append(target, missing, durable=True)
            fs.unlink(path)

    def _move_blocks(self, root: str) -> None:
        """Move the blocks of the subconscious that the project has none of its own for yet."""
        target = f"{self.root}/subconscious/projects/{paths.project_key(root)}"
        for path in blocks(self.root, self.slug) if root else ():
            fs.makedirs(target)
            name = path[path.rfind("/") + 1 :]
            if not fs.stamp(f"{target}/{name}"):
                posix.rename(path, f"{target}/{name}")


def note_root(root: str, project_root: str) -> str:
    """Note in the inbox of a project, which is made if there is none, whose it is: for a person, and so that the
    project is known again under another name. Return the directory. Raises OSError."""
    from memtui.core.client import repository

    key = paths.project_key(project_root)
    directory = paths.inbox_dir(root, key)
    row = {"root": project_root, "remote": repository.remote(project_root), "inode": _inode(project_root)}
    before = repository.project_record(root, key)
    if before != row and (row["inode"] or not before):
        fs.write_atomic(
            f"{directory}/{paths.PROJECT_FILE}", fastjson.dumps({"v": 1, **row}).encode() + b"\n", durable=False
        )
    return directory


def _inode(directory: str) -> str:
    """Return the number of a directory, which it keeps when it is renamed; empty if it is gone."""
    try:
        return str(posix.stat(directory).st_ino)
    except OSError:
        return ""


def left(root: str, slugs: "Iterable[str]") -> "list[tuple[str, int]]":
    """List the old inboxes in which anything has stayed, as (slug, entries and blocks)."""
    counts = []
    for slug in slugs:
        directory, count = paths.inbox_dir(root, slug), len(blocks(root, slug))
        for kind, name in inbox_format.FILES.items():
            try:
                count += len(inbox_format.read(f"{directory}/{name}", items=kind == "items"))
            except OSError:
                continue  # the inbox itself is a problem then
        if count:
            counts.append((slug, count))
    return counts
