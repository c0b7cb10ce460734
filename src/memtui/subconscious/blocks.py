"""The blocks of the subconscious: who changes them, and how one change is undone.

A block's file is replaced first, then the version is noted (block_versions.py). What nobody noted is noted before the
next change: as the person's if the journal has it, as after an undo, else as somebody's (`OTHER`), as after a change in
an editor. Changes by a person are in the journal, where `memtui undo` finds them. Those by the subconscious are not, so
that they are never in the way of a person's own. Both are made under the journal's lock.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from memtui.core.base import clock, fs, ids, paths, three_way, visible
from memtui.core.base.errors import ConflictError, MemtuiError, NotFoundError, UsageError
from memtui.core.base.storage import storage_error
from memtui.core.journal import ledger as journal_ledger
from memtui.core.journal import records
from memtui.core.journal.changes.text_edit import text_edits
from memtui.core.journal.journal import Journal
from memtui.core.redaction.redact import redact, redacted
from memtui.subconscious import places
from memtui.subconscious.block_versions import (
    DEFAULTS,
    OTHER,
    PERSON,
    SUBCONSCIOUS,
    BlockVersion,
    VersionLog,
    before,
)

LOCK_SECONDS = 5.0


class RefusedEditError(UsageError):
    """A change of a block that the subconscious asked for and that is not made."""


class OverlapError(ConflictError):
    """A change of a block can't be undone by itself."""

    def __init__(self, why: str) -> None:
        super().__init__(why, "Restore a version instead: `H` in Subconscious.")


class Blocks:
    """The blocks that a project sees. `project`: its slug. `now`: the clock, in seconds since the epoch."""

    def __init__(self, root: str, project: str, now: Callable[[], float] = clock.now) -> None:
        self.root, self.project, self.now = root, project, now
        self._log = VersionLog(root)
        self._lock = places.home(root) + "/blocks.lock"

    def _sees(self, version: BlockVersion) -> bool:
        return not version.project or paths.is_of(version.project, self.project)

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

    def edit(
        self, name: str, old: str, new: str, *, run: str, session: str, again: bool = False
    ) -> BlockVersion | None:
        """Replace `old` in a block by `new`, for the subconscious: an empty `old` adds `new` at the end, an empty `new`
        removes. None if the block has it so already, but `again` the version that a killed process did not come to
        note. Other sessions may have changed the block since it was read.

        Raises RefusedEditError if `old` is not there exactly once, or the block would get too long; MemtuiError if it
        can't be written.
        """
        if name == places.DIRECTIVES or name not in places.BLOCKS:
            raise RefusedEditError(f"The block {name} is not yours to change.")
        new = redact(visible.clean(new).strip("\n"))[0]
        with self._locked(), Journal(self.root, SUBCONSCIOUS, self.now).locked():
            try:
                present, path = self._whole(name), self._target(name)
            except MemtuiError as error:
                raise RefusedEditError(error.message) from error
            if len(present) > places.MOST:
                raise RefusedEditError(
                    f"{name} has {len(present):,} characters, of which only {places.MOST:,} were read: its person has"
                    " to shorten it first."
                )
            after = _edited(name, present, old.strip("\n"), new)
            unnoted = self._unnoted(name)
            if after == present and not (again and unnoted is not None and unnoted.by == OTHER):
                return None
            if after != present:
                self._note_others(name)
                self._write(path, after)
            return self._note(name, after, SUBCONSCIOUS, run=run, session=session)

    def replace(self, name: str, text: str, journal: Journal, expected: str | None = None) -> bool:
        """Write a block as a person, as one step of undo; False if nothing changed. `expected`: the text that the
        person saw, with which ConflictError is raised if the block is another one by now. Raises MemtuiError."""
        with self._locked():
            journal.recover()
            present = self.editable(name)
            if expected is not None and present != expected.strip():
                raise ConflictError(f"The block {name} changed meanwhile.", "Look at it again, then change it.")
            return self._replace(name, present, text, journal, "edit")

    def undo(self, name: str, version: BlockVersion, journal: Journal) -> bool:
        """Undo what one version of a block changed, and nothing that was changed later, as a person, as one step of
        undo; False if nothing of it is left. Raises NotFoundError for a version that is not known, OverlapError if
        later changes are of the same lines, or if nobody knows any more what it changed; MemtuiError."""
        with self._locked():
            journal.recover()
            present = self.editable(name)
            self._note_others(name)
            versions = self.versions(name)
            at = next((at for at, each in enumerate(versions) if each.id == version.id), None if version.id else 0)
            if at is None or (not version.id and versions[at].text != version.text):
                raise NotFoundError(f"{name} has no such version any more.", "`H` in Subconscious lists them.")
            found = versions[at]
            if found.oldest:
                raise OverlapError(f"That is the oldest version of {name} that is kept: what it changed is not known.")
            since = [*(each.content for each in reversed(versions[: at + 1])), present]
            # Step by step, lines are told apart best; at once, what was changed and changed back is no overlap.
            texts = [_without(before(versions, at), each) for each in (since, [found.content, present])]
            after = next((each for each in texts if each not in {None, present}), None)
            if after is None and present not in texts:
                raise OverlapError(f"The same lines of {name} were changed again since.")
            after = present if after is None else after
            verb = f"undo version {len(versions) - at} of"
            return self._replace(name, present, after, journal, verb, undid=found.id)

    def _replace(self, name: str, present: str, text: str, journal: Journal, verb: str, undid: str = "") -> bool:
        owner, after = self.owner(name), text.replace("\r\n", "\n").strip()
        if len(after) > places.MOST:
            raise UsageError(f"A block has at most {places.MOST:,} characters; this is {len(after):,}.", "Shorten it.")
        path = self._target(name)
        if after == present:
            return False
        if after == DEFAULTS.get(name):
            after = ""  # so that a default of a later memtui counts
        self._note_others(name)
        edits = text_edits(path, fs.read_or_empty(path), after.encode() + b"\n" if after else b"")
        summary = f"{verb} the block {name}" + (" of this project" if owner else "")
        journal.run("block", edits, summary, **({"undid": undid} if undid else {}))
        with contextlib.suppress(MemtuiError):  # the next change notes it, by the journal
            self._note(name, after, PERSON, undid=undid)
        return True

    def versions(self, name: str) -> list[BlockVersion]:
        """Return the versions of a block that are kept, newest first; a text that nobody noted yet is the first. Raises
        NotFoundError, MemtuiError."""
        owner = self.owner(name)
        versions = [each for each in self._log.read() if each.block == name and paths.is_of(each.project, owner)]
        text = redacted(self._present(name))
        if text == (versions[0].text if versions else ""):
            return versions
        return [
            self._author(BlockVersion("", _changed(self.path(name)) or self.now(), name, owner, OTHER, text)),
            *versions,
        ]

    def _author(self, version: BlockVersion) -> BlockVersion:
        """Return a version that nobody noted as the person's, if the last change of its file in the journal left it
        as it is."""
        try:
            path = self._target(version.block)
            data = fs.read_or_empty(path)
            every = journal_ledger.shared(self.root + "/journal.jsonl").follow().all()
        except (OSError, MemtuiError):
            return version
        made = (each for each in reversed(every) if path in each.paths and each.state not in {"intent", "back"})
        last = next(made, None)
        if last is None or records.left(last.record, path) != (ids.digest(data) if data else None):
            return version
        when, undid = clock.parse(last.time), last.record.get("undid", "")
        return replace(version, by=PERSON, time=when or version.time, undid=str(undid))

    def _unnoted(self, name: str) -> BlockVersion | None:
        newest = self.versions(name)[:1]
        return newest[0] if newest and not newest[0].id else None

    def undone(self, limit: int) -> list[tuple[str, list[str], list[str]]]:
        """Return what the subconscious changed in these blocks and their person undid, as far as that is so still,
        newest first: the block, the lines that it had added, and those that it had removed."""
        changes = self._log.changes()
        by_id = {each.id: (each, _lines(old)) for each, old in changes if not each.oldest}
        found = []
        for undid in (each.undid for each, _ in changes if each.undid and self._sees(each)):
            version, old = by_id.get(undid, (None, []))
            if version is None or version.by != SUBCONSCIOUS:
                continue
            new, present = _lines(version.content), _lines(redacted(self.told(version.block)))
            gone = [line for line in new if line not in old and line not in present]
            back = [line for line in old if line not in new and line in present]
            if (gone or back) and (version.block, gone, back) not in found:
                found.append((version.block, gone, back))
        return found[:limit]

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock on all blocks. Raises MemtuiError."""
        with contextlib.ExitStack() as stack:
            try:
                fs.makedirs(places.home(self.root))
                stack.enter_context(fs.Lock(self._lock, LOCK_SECONDS))
            except OSError as error:
                raise storage_error(error, self._lock) from error
            yield

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

    def _note_others(self, name: str) -> None:
        """Note the present text, if somebody else wrote it, or a process that was killed before it noted that."""
        unnoted = self._unnoted(name)
        if unnoted is not None:
            self._log.append(replace(unnoted, id=ids.new_id(self.now())))

    def _note(self, name: str, text: str, by: str, run: str = "", session: str = "", undid: str = "") -> BlockVersion:
        now = self.now()
        found = BlockVersion(ids.new_id(now), now, name, self.owner(name), by, redacted(text), run, session, undid)
        self._log.append(found)
        return found


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _without(old: str, since: Sequence[str]) -> str | None:
    """Return the last of the texts that a block had `since` a change, the first the one that it left, without that
    change; None if others overlap with it. `old`: the text before the change."""
    found: str | None = old
    for base, newer in pairwise(since):
        found = None if found is None else three_way.merged(base, found, newer)
    return None if found is None else found.strip()


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


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
