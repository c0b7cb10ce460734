"""The blocks of the subconscious and their versions, both of which the journal keeps: changes by a person, whose undo
finds them, or by the model (`MODEL`), which an undo without a name steps over. Those of a run are one group. A block
that was changed since is left as it is."""

import os
from collections.abc import Callable, Iterator

from memtui.base import clock_hot, fs_hot, ids_hot, paths_hot, visible_hot
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError, UsageError
from memtui.base.storage import read_or_none
from memtui.models.prompts import PROMPTS
from memtui.models.subconscious import block_files_hot
from memtui.redact.redact import redact, redacted
from memtui.store.journal import ledger as journal_ledger
from memtui.store.journal.changes import FileChange
from memtui.store.journal.journal import ContentStore, Journal
from memtui.store.journal.ledger import MODEL, RUN, MemoryWrite, Transaction
from memtui.store.scopes import Scope
from memtui.store.versions.versions import GONE, OTHER, PERSON, Version, Writer

# The texts of blocks whose file has none.
DEFAULTS = {block_files_hot.DIRECTIVES: PROMPTS["directives"]}


class RefusedEditError(MemtuiError):
    """A change of a block that the subconscious asked for and that is not made."""


def _changes(root: str) -> Iterator[tuple[Transaction, MemoryWrite]]:
    """Yield the changes of Markdown files that were made, oldest first, each with what it wrote."""
    for change in journal_ledger.shared(root + "/journal.jsonl").follow().all():
        if change.state not in {"intent", "back"}:
            yield from ((change, file) for file in change.writes if file.whole)


def changes_of(root: str, run: str) -> list[tuple[str, str, str]]:
    """Return what a run changed, in order: a block's name or a file's path, and its text before and after."""
    changes: list[tuple[str, str, str]] = []
    contents = ContentStore(root)
    for change in journal_ledger.shared(root + "/journal.jsonl").follow().all():
        if change.group != run or change.op not in {"block", RUN} or change.state in {"intent", "back"}:
            continue
        for row in change.record["changes"]:
            try:
                before, after = (_text(contents, row.get(key) or "").rstrip() for key in ("before", "after"))
            except MemtuiError:
                continue
            name = row["path"] if change.op == RUN else os.path.basename(row["path"]).removesuffix(".md")
            changes.append((name, before, after))
    return changes


def scopes_of(root: str, project: str) -> list[Scope]:
    """Return the blocks that a project sees as a scope of memories, of those that have a file; none if none has."""
    home = block_files_hot.home(root)
    paths_of = [block_files_hot.path(root, project, name).removeprefix(home + "/") for name in block_files_hot.BLOCKS]
    files = tuple(sorted(file for file in paths_of if os.path.isfile(f"{home}/{file}")))
    return [Scope("model", "model", home, writable=False, files=files)] if files else []


class Blocks:
    """The blocks that a project sees. `project`: its slug. `now`: the clock, in seconds since the epoch."""

    def __init__(self, root: str, project: str, now: Callable[[], float] = clock_hot.now) -> None:
        self.root, self.project, self.now = root, project, now

    def owner(self, name: str) -> str:
        """Return the slug of the project that a block belongs to; empty if to everything. Raises NotFoundError."""
        if name not in block_files_hot.BLOCKS:
            raise NotFoundError(f"There is no block “{name}”.", "Blocks: " + ", ".join(block_files_hot.BLOCKS) + ".")
        return self.project if block_files_hot.BLOCKS[name][0] else ""

    def path(self, name: str) -> str:
        """Return the file of a block. Raises NotFoundError."""
        self.owner(name)
        return block_files_hot.path(self.root, self.project, name)

    def text(self, name: str) -> str:
        """Return a block as a person sees it, or its default; what sessions get if unreadable. Raises NotFoundError."""
        try:
            return self.editable(name)
        except MemtuiError:
            return self.told(name)

    def editable(self, name: str) -> str:
        """Return the whole text of a block to change, or its default. Raises MemtuiError if it can't be read."""
        path = self.path(name)
        try:
            return block_files_hot.whole(self.root, self.project, name) or DEFAULTS.get(name, "")
        except OSError as error:
            why = f"The block {name} can't be changed here: its file {error.strerror or error}."
            raise MemtuiError(why, f"Change it in an editor: {path}") from error

    def told(self, name: str) -> str:
        """Return the text of a block as the model gets it, cut where it is too long. Raises NotFoundError."""
        self.owner(name)
        return block_files_hot.text(self.root, self.project, name) or DEFAULTS.get(name, "")

    def edit(self, name: str, old: str, new: str, *, run: str, session: str) -> bool:
        """Replace `old` in a block by `new`, for the subconscious: an empty `old` adds `new` at the end, an empty `new`
        removes. False if the block has it so already. Raises RefusedEditError if `old` is not there exactly once, or
        the block would get too long; MemtuiError if it can't be written."""
        if name == block_files_hot.DIRECTIVES or name not in block_files_hot.BLOCKS:
            raise RefusedEditError(f"The block {name} is not yours to change.")
        new = redact(visible_hot.clean(new).strip("\n"))[0]
        journal = Journal(self.root, MODEL, self.now, journal_ledger.shared(self.root + "/journal.jsonl"))
        with journal.locked():
            try:
                present, path = self.editable(name), self._target(name)
            except MemtuiError as error:
                raise RefusedEditError(error.message) from error
            if len(present) > block_files_hot.MOST:
                raise RefusedEditError(
                    f"{name} has {len(present):,} characters, of which only {block_files_hot.MOST:,} were read: its"
                    " person has to shorten it first."
                )
            if redacted(present) != present:
                raise RefusedEditError(f"{name} has what looks like a secret: its person has to remove it first.")
            after = _edited(name, present, old.strip("\n"), new)
            if after == present:
                return False
            change, summary = _change(path, after), self._summary("edit", name)
            journal.run_locked("block", [change], summary, group=run, session=session)
            return True

    def replace(self, name: str, text: str, journal: Journal, expected: str | None = None) -> bool:
        """Write a block as a person; return whether it changed. Raises ConflictError if it is not `expected`."""
        journal.recover()
        present, path = self.editable(name), self._target(name)
        if expected is not None and present != expected.strip():
            raise ConflictError(f"The block {name} changed meanwhile.", "Look at it again, then change it.")
        after = text.replace("\r\n", "\n").strip()
        if len(after) > block_files_hot.MOST:
            words = f"A block has at most {block_files_hot.MOST:,} characters; this is {len(after):,}."
            raise UsageError(words, "Shorten it.")
        if after == present:
            return False
        # Empty where it is the default, so that the one of a later memtui counts.
        change = _change(path, "" if after == DEFAULTS.get(name) else after)
        journal.run("block", [change], self._summary("edit", name))
        return True

    def _summary(self, verb: str, name: str) -> str:
        return f"{verb} the block {name}" + (" of this project" if self.owner(name) else "")

    def versions(self, name: str) -> list[Version]:
        """Return the versions of a block, newest first, also those of others. Raises NotFoundError, MemtuiError."""
        path = self._target(name)
        line: list[Version] = []
        last = GONE
        for change, file in _changes(self.root):
            if file.path != path:
                continue
            if file.before != last:
                line.append(_version(path, change.time, file.before, Writer(OTHER)))
            last = file.after
            writer = Writer(MODEL if change.by == MODEL else PERSON, str(change.record.get("session") or ""))
            line.append(_version(path, change.time, last, writer, change))
        data = read_or_none(path)
        present = ids_hot.digest(data) if data else GONE
        if present != last:
            time = os.stat(path).st_mtime if data is not None else self.now()
            line.append(_version(path, clock_hot.iso(time), present, Writer(OTHER)))
        return line[::-1]

    def content(self, name: str, version: Version) -> str:
        """Return the text that sessions and the model had by a version. Raises NotFoundError, MemtuiError."""
        if version.digest == GONE:
            return DEFAULTS.get(name, "")
        data = read_or_none(self._target(name))
        if data is None or ids_hot.digest(data) != version.digest:
            data = ContentStore(self.root).read(version.digest)
        return block_files_hot.clean(data.decode("utf-8", "replace")) or DEFAULTS.get(name, "")

    def undone(self, limit: int) -> list[tuple[str, list[str], list[str]]]:
        """Return what the model changed and a person undid, newest first: the block, lines added, and removed."""
        edits: list[tuple[str, list[str], list[str]]] = []
        contents = ContentStore(self.root)
        names = {self.path(name): name for name in block_files_hot.BLOCKS}
        for change, file in _changes(self.root):
            name = names.get(file.path)
            if name is None or change.by != MODEL or change.state != "undone":
                continue
            try:
                old, new = (_text(contents, digest).splitlines() for digest in (file.before, file.after))
            except MemtuiError:
                continue
            present = redacted(self.told(name)).splitlines()
            removed = [line for line in new if line.strip() and line not in old and line not in present]
            back = [line for line in old if line.strip() and line not in new and line in present]
            if (removed or back) and (name, removed, back) not in edits:
                edits.append((name, removed, back))
        return edits[-limit:][::-1]

    def _target(self, name: str) -> str:
        """Return the file that a block is in. Raises MemtuiError for a link out of memtui's directory."""
        path = self.path(name)
        if not os.path.islink(path):
            return path
        real, home = paths_hot.resolve(path), paths_hot.resolve(self.root) or self.root
        if real is None or not real.startswith(home.rstrip("/") + "/"):
            leads = f"a link to {real}" if real else "a link that leads nowhere"
            raise MemtuiError(f"The block {name} is {leads}, which memtui does not change.", "Change that file itself.")
        return real


def _version(path: str, time: str, digest: str, writer: Writer, change: Transaction | None = None) -> Version:
    directory, file = os.path.split(path)
    op = "" if change is None or change.is_change else change.op
    change_id = "" if change is None else change.id
    return Version(directory, file, time, digest, 0, 0, writer, seen=True, change=change_id, op=op)


def _change(path: str, text: str) -> FileChange:
    return FileChange(path, read_or_none(path), text.encode() + b"\n" if text else None, fs_hot.FILE_MODE)


def _text(contents: ContentStore, digest: str) -> str:
    return redacted(contents.read(digest).decode("utf-8", "replace")) if digest else ""


def _edited(name: str, before: str, old: str, new: str) -> str:
    if not old:
        if not new or f"\n{new}\n" in f"\n{before}\n":
            return before
        after = f"{before}\n{new}" if before else new
    elif new and new in before and (old in new or old not in before):
        return before  # it was made already, perhaps by a process that was killed then
    elif (times := before.count(old)) == 1:
        after = before.replace(old, new)
    else:
        raise RefusedEditError(f"The old text stands {times} times in {name}; it must stand there once.")
    if len(after) > block_files_hot.MOST:
        raise RefusedEditError(f"{name} would have {len(after):,} characters; {block_files_hot.MOST:,} are allowed.")
    return after.strip()
