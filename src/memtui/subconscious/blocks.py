"""The blocks of the subconscious with their versions: every text that a block had, when, and who wrote it.

A block's file is replaced first, then the version is noted in `versions.jsonl`, without secrets, also those that a
person put into the file. What others wrote into the file, or a killed process did not come to note, is noted before the
next change, as somebody's (`OTHER`).
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memtui.core.base import backwards, clock, fastjson, fs, ids, paths, visible
from memtui.core.base.errors import ConflictError, MemtuiError, NotFoundError, UsageError
from memtui.core.base.storage import read_or_none, storage_error
from memtui.core.journal.changes.file_change import FileChange
from memtui.core.journal.journal import Journal
from memtui.core.redaction.redact import redact, redacted
from memtui.subconscious import places

VERSION = 1
LOCK_SECONDS = 5.0
SUBCONSCIOUS, PERSON, OTHER = "subconscious", "person", "other"
# Versions of one block that are kept, and the bytes of the file from which older ones are dropped.
KEPT, TRIM_BYTES = 200, 4 << 20
DEFAULTS = {
    places.DIRECTIVES: """\
You are the subconscious of a coding agent: after each turn you read its session, and never act yourself.
Keep the blocks short, true and current: rewrite what has changed, remove what is done or was wrong.
Note what will matter in later sessions: what the person wants and why, decisions, pitfalls, unfinished work.
Whisper only when the agent is about to go wrong, or lacks something that you know. Most turns need no whisper."""
}


@dataclass(frozen=True)
class BlockVersion:
    """One text that a block had. `project`: the slug of its project, empty for a block for everything; `by`:
    SUBCONSCIOUS (in a `run` after a turn of `session`), PERSON or OTHER; `time`: seconds since the epoch."""

    id: str
    time: float
    block: str
    project: str
    by: str
    text: str
    run: str = ""
    session: str = ""

    def row(self) -> dict[str, Any]:
        """Return its line."""
        found = {"v": VERSION, "id": self.id, "time": clock.iso(self.time), "block": self.block, "by": self.by}
        more = {"project": self.project, "run": self.run, "session": self.session}
        return found | {key: value for key, value in more.items() if value} | {"text": self.text}


class RefusedEditError(UsageError):
    """A change of a block that the subconscious asked for and that is not made."""


class Blocks:
    """The blocks that a project sees. `project`: its slug. `now`: the clock, in seconds since the epoch."""

    def __init__(self, root: str, project: str, now: Callable[[], float] = clock.now) -> None:
        self.root, self.project, self.now = root, project, now
        self._log = places.home(root) + "/versions.jsonl"
        self._lock = places.home(root) + "/blocks.lock"

    def owner(self, name: str) -> str:
        """Return the slug of the project that a block belongs to; empty if it is for everything. Raises
        NotFoundError for a name that is none."""
        if name not in places.BLOCKS:
            raise NotFoundError(f"There is no block “{name}”.", "Blocks: " + ", ".join(places.BLOCKS) + ".")
        return self.project if places.BLOCKS[name][0] else ""

    def path(self, name: str) -> str:
        """Return the file of a block. Raises NotFoundError."""
        self.owner(name)
        return places.path(self.root, self.project, name)

    def text(self, name: str) -> str:
        """Return the text of a block as a person sees it, without a file its default; empty if it has none. Of a file
        that can't be read whole, what sessions get. Raises NotFoundError."""
        return self._present(name) or DEFAULTS.get(name, "")

    def editable(self, name: str) -> str:
        """Return the whole text of a block that is to be changed, or its default. Raises NotFoundError, and MemtuiError
        for a file that can't be read whole."""
        return self._whole(name) or DEFAULTS.get(name, "")

    def told(self, name: str) -> str:
        """Return the text of a block as the model gets it, cut where it is too long. Raises NotFoundError."""
        self.owner(name)
        return places.text(self.root, self.project, name) or DEFAULTS.get(name, "")

    def _present(self, name: str) -> str:
        self.owner(name)
        try:
            return places.whole(self.root, self.project, name)
        except OSError:
            return places.text(self.root, self.project, name)

    def _whole(self, name: str) -> str:
        path = self.path(name)
        try:
            return places.whole(self.root, self.project, name)
        except OSError as error:
            why = f"The block {name} can't be changed here: its file {error.strerror or error}."
            raise MemtuiError(why, f"Change it in an editor: {path}") from error

    def edit(self, name: str, old: str, new: str, *, run: str, session: str) -> BlockVersion | None:
        """Replace `old` in a block by `new`, for the subconscious: an empty `old` adds `new` at the end, an empty `new`
        removes. None if the block has it so already. Other sessions may have changed the block since it was read.

        Raises RefusedEditError if `old` is not there exactly once, or the block would get too long; MemtuiError if it
        can't be written.
        """
        if name == places.DIRECTIVES or name not in places.BLOCKS:
            raise RefusedEditError(f"The block {name} is not yours to change.")
        new = redact(visible.clean(new).strip("\n"))[0]
        with self._locked():
            try:
                before, path = self._whole(name), self._target(name)
            except MemtuiError as error:
                raise RefusedEditError(error.message) from error
            if len(before) > places.MOST:
                raise RefusedEditError(
                    f"{name} has {len(before):,} characters, of which only {places.MOST:,} were read: its person has to"
                    " shorten it first."
                )
            after = _edited(name, before, old.strip("\n"), new)
            if after == before:
                return None
            self._note_others(name, before)
            self._write(path, after)
            return self._note(name, after, SUBCONSCIOUS, run, session)

    def replace(self, name: str, text: str, journal: Journal, expected: str | None = None) -> bool:
        """Write a block as a person, as one step of undo; False if nothing changed. `expected`: the text that the
        person saw, with which ConflictError is raised if the block is another one by now. Raises MemtuiError."""
        owner, after = self.owner(name), text.replace("\r\n", "\n").strip()
        if len(after) > places.MOST:
            raise UsageError(f"A block has at most {places.MOST:,} characters; this is {len(after):,}.", "Shorten it.")
        with self._locked():
            before, path = self.editable(name), self._target(name)
            if expected is not None and before != expected.strip():
                raise ConflictError(f"The block {name} changed meanwhile.", "Look at it again, then change it.")
            if after == before:
                return False
            self._note_others(name, self._whole(name))
            data = read_or_none(path)
            change = FileChange(path, data, after.encode() + b"\n" if after else b"\n", fs.FILE_MODE)
            fs.makedirs(os.path.dirname(path))
            journal.run("block", [change], f"edit the block {name}" + (" of this project" if owner else ""))
            self._note(name, after, PERSON)
            return True

    def versions(self, name: str, limit: int = KEPT) -> list[BlockVersion]:
        """Return the versions of a block, newest first; a text that nobody noted yet is the first. Raises
        NotFoundError, MemtuiError."""
        owner = self.owner(name)
        found = [each for each in self._read() if each.block == name and each.project == owner][:limit]
        text = redacted(self._present(name))
        if text != (found[0].text if found else ""):
            when = _changed(self.path(name)) or self.now()
            found.insert(0, BlockVersion("", when, name, owner, OTHER, text))
        return found[:limit]

    def changes(self, limit: int = 50) -> list[tuple[BlockVersion, str]]:
        """Return the newest changes of all blocks of all projects, newest first, each with the text before."""
        rows = self._read()
        found: list[tuple[BlockVersion, str]] = []
        for at, each in enumerate(rows[: 4 * limit]):
            if len(found) >= limit:
                break
            earlier = (row.text for row in rows[at + 1 :] if (row.block, row.project) == (each.block, each.project))
            found.append((each, next(earlier, "")))
        return found

    def _locked(self) -> fs.Lock:
        fs.makedirs(places.home(self.root))
        return fs.Lock(self._lock, LOCK_SECONDS)

    def _target(self, name: str) -> str:
        """Return the file that a block is in, following links within memtui's directory. Raises MemtuiError for a link
        that leads out of it."""
        path = self.path(name)
        if not os.path.islink(path):
            return path
        real, home = paths.resolve(path), paths.resolve(self.root) or self.root
        if real is None or not real.startswith(home.rstrip("/") + "/"):
            leads = f"a link to {real}" if real else "a link that leads nowhere"
            raise MemtuiError(f"The block {name} is {leads}, which memtui does not change.", "Change that file itself.")
        return real

    def _write(self, path: str, text: str) -> None:
        try:
            fs.makedirs(os.path.dirname(path))
            fs.write_atomic(path, text.encode() + b"\n")
        except OSError as error:
            raise storage_error(error, path) from error

    def _note_others(self, name: str, text: str) -> None:
        """Note a text that somebody else wrote, or a killed process."""
        known = self.versions(name, 1)
        if known and not known[0].id:
            self._note(name, text, OTHER)

    def _note(self, name: str, text: str, by: str, run: str = "", session: str = "") -> BlockVersion:
        now = self.now()
        found = BlockVersion(ids.new_id(now), now, name, self.owner(name), by, redacted(text), run, session)
        try:
            fs.append(self._log, fastjson.dumps(found.row()).encode() + b"\n", durable=True)
            if os.stat(self._log).st_size > TRIM_BYTES:
                self._trim()
        except OSError as error:
            raise storage_error(error, self._log) from error
        return found

    def _trim(self) -> None:
        """Drop the oldest versions of each block beyond KEPT."""
        kept: list[BlockVersion] = []
        counts: dict[tuple[str, str], int] = {}
        for each in self._read():
            key = (each.project, each.block)
            counts[key] = counts.get(key, 0) + 1
            if counts[key] <= KEPT:
                kept.append(each)
        if len(kept) == sum(counts.values()):
            kept = kept[: len(kept) // 2]  # of hundreds of projects
        lines = [fastjson.dumps(each.row()).encode() + b"\n" for each in reversed(kept)]
        fs.write_atomic(self._log, b"".join(lines))

    def _read(self) -> list[BlockVersion]:
        """Return all versions, newest first; lines that can't be read are skipped."""
        try:
            return [
                found
                for _, line in backwards.lines(self._log)
                if (found := _version(fastjson.loads_dict(line))) is not None
            ]
        except OSError:
            return []


def _edited(name: str, before: str, old: str, new: str) -> str:
    if not old:
        if not new or f"\n{new}\n" in f"\n{before}\n":
            return before
        after = f"{before}\n{new}" if before else new
    elif new and new in before and (old in new or old not in before):
        return before  # it was made already, perhaps by a process that was killed then
    elif before.count(old) == 1:
        after = before.replace(old, new)
    else:
        times = before.count(old)
        raise RefusedEditError(f"The old text stands {times} times in {name}; it must stand there once.")
    if len(after) > places.MOST:
        raise RefusedEditError(f"{name} would have {len(after):,} characters; {places.MOST:,} are allowed.")
    return after.strip()


def _version(row: dict[str, object]) -> BlockVersion | None:
    texts = [row.get(key, "") for key in ("id", "block", "project", "by", "text", "run", "session")]
    when = clock.parse(row.get("time"))
    if row.get("v") != VERSION or when is None or not all(isinstance(each, str) for each in texts):
        return None
    name, block, project, by, text, run, session = map(str, texts)
    return BlockVersion(name, when, block, project, by, text, run, session) if block in places.BLOCKS else None


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
