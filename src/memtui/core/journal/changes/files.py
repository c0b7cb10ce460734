"""What one operation does to one file, how it is done safely, and its inverse.

`FileChange` replaces whole contents and holds only for exactly the content it was made for. `TextEdit` replaces a piece
of text wherever it stands by then: for files that others write to at the same time (MEMORY.md, the inbox). `TrustEdit`
changes what is trusted in a directory, whatever else is trusted by then.
"""

import contextlib
import dataclasses
import difflib
import errno
import os
from collections.abc import Mapping

from memtui.core.base import fs
from memtui.core.base.errors import ConflictError, MemtuiError
from memtui.core.inbox import file as inbox_file
from memtui.core.inbox import format as inbox_format
from memtui.core.journal.changes.step import Step
from memtui.core.places import trust

ANCHOR_LINES = 12
TRIES = 20


@dataclasses.dataclass(frozen=True)
class FileChange:
    """A file's content `before` and `after`; None is no file. `mode`: permission bits of a file that appears. `times`:
    when the file was written with each content (nanoseconds), None for now: what is taken back is as old as it was."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    times: tuple[int | None, int | None] = (None, None)

    def inverse(self) -> "FileChange":
        return FileChange(self.path, self.after, self.before, self.mode, (self.times[1], self.times[0]))


@dataclasses.dataclass(frozen=True)
class TextEdit:
    """Replace `removed` (whole lines) by `added`. Nothing removed: insert after the text `anchor`, at the beginning if
    it is empty, at the end if it is None or not there any more.

    Where the text or the anchor stands several times, the place nearest to the character offset `at` counts, without
    one the last. Bytes that are not UTF-8 stand as surrogates (`inbox.decode`). `mode`: as for `FileChange`.
    """

    path: str
    removed: str
    added: str
    anchor: str | None = None
    at: int | None = None
    mode: int | None = None

    def inverse(self) -> "TextEdit":
        return TextEdit(self.path, self.added, self.removed, self.anchor, self.at, self.mode)

    def _nearest(self, places: list[int]) -> int:
        return places[-1] if self.at is None else min(places, key=lambda place: abs(place - (self.at or 0)))

    def count(self, text: str) -> int:
        """How often the text that tells whether the edit was made stands in `text`."""
        return len(_places(text, self.added if len(self.added) >= len(self.removed) else self.removed))

    def made(self, text: str, count: int) -> bool:
        """Whether the edit was made, given the present text and the `count` from before."""
        grows = len(self.added) >= len(self.removed)
        return self.count(text) > count if grows else self.count(text) < count

    def apply(self, text: str) -> str:
        """The new text. Raises ConflictError if what is to be replaced is not there."""
        if not self.removed:
            return self._insert(text)
        places = _places(text, self.removed)
        if not places:
            raise ConflictError(
                f"{self.path} changed meanwhile: a text to be replaced is not in it any more",
                "Nothing was written. Look at the file and try again.",
            )
        at = self._nearest(places)
        rest = text[at + len(self.removed) :]
        added = self.added
        # A line that was the file's last, without an end, may have others after it by now, and the other way round.
        if rest and added and self.removed.endswith("\n") and not added.endswith("\n"):
            added += "\n"
        elif rest.startswith(("\n", "\r\n")) and not self.removed.endswith("\n") and added.endswith("\n"):
            added = added.removesuffix("\n").removesuffix("\r")
        return text[:at] + added + rest

    def _insert(self, text: str) -> str:
        at = len(text)
        if self.anchor is not None:
            ends = [place + len(self.anchor) for place in _places(text, self.anchor)] if self.anchor else [0]
            at = self._nearest(ends) if ends else at
        if at and text[at - 1] != "\n":
            return text[:at] + "\n" + self.added + text[at:]
        return text[:at] + self.added + text[at:]


@dataclasses.dataclass(frozen=True)
class TrustEdit:
    """Trust in the directory of that `trust.key`: `removed` and `added` map digests to names, `always` is before and
    after. `texts` are the contents behind `added`, kept so that a later change can be compared with them."""

    path: str
    directory: str
    removed: Mapping[str, str]
    added: Mapping[str, str]
    always: tuple[bool, bool] = (False, False)
    texts: tuple[bytes, ...] = ()

    @property
    def idle(self) -> bool:
        """Whether it changes nothing."""
        return not self.removed and not self.added and self.always[0] == self.always[1]

    def inverse(self) -> "TrustEdit":
        return TrustEdit(self.path, self.directory, self.added, self.removed, (self.always[1], self.always[0]))

    def made(self) -> bool:
        """Whether it is as after the change; False where nobody can tell."""
        try:
            known = trust.recorded(os.path.dirname(self.path), self.directory)
        except (OSError, ValueError, RecursionError):
            return False
        hashes = known.hashes
        gone = not any(hashes.get(digest) == name for digest, name in self.removed.items())
        return gone and all(hashes.get(d) == n for d, n in self.added.items()) and known.always == self.always[1]


Change = FileChange | TextEdit | TrustEdit | Step


def _places(text: str, piece: str) -> list[int]:
    """Where `piece` stands in `text` as whole lines; the places of a piece that repeats itself may overlap."""
    found: list[int] = []
    at = text.find(piece) if piece else -1
    while at >= 0:
        end = at + len(piece)
        starts = at == 0 or text[at - 1] == "\n"
        if starts and (end == len(text) or piece.endswith("\n") or text[end] == "\n" or text.startswith("\r\n", end)):
            found.append(at)
        at = text.find(piece, at + 1)
    return found


def _lines(text: str) -> list[str]:
    """Lines with their ends; unlike `splitlines` only a line feed ends one."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def text_edits(path: str, before: bytes, after: bytes) -> list[TextEdit]:
    """The edits, line by line and in order, that turn one content into the other."""
    old, new = _lines(inbox_format.decode(before)), _lines(inbox_format.decode(after))
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    edits = []
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            removed, added = old[head + start : head + end], new[head + new_start : head + new_end]
            # By the time of this edit those before it are made: the lines above are the new ones.
            above = new[: head + new_start]
            anchor = _anchor([*above, *old[head + start :]], len(above))
            edits.append(TextEdit(path, "".join(removed), "".join(added), anchor, sum(map(len, above))))
    return edits


def _anchor(lines: list[str], at: int) -> str:
    """The lines before a place, as many as it takes to name it."""
    whole = "".join(lines)
    for size in range(1, ANCHOR_LINES + 1):
        text = "".join(lines[max(0, at - size) : at])
        if at <= size or whole.count(text) == 1:
            return text
    return "".join(lines[max(0, at - ANCHOR_LINES) : at])


def storage_error(error: OSError, path: str) -> MemtuiError:
    """Say which path failed, why, and what to do."""
    reason = error.strerror or str(error)
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        hint = "Free some space and try again; nothing was lost."
    elif error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        hint = f"Make {os.path.dirname(path)} writable for you and try again; nothing was lost."
    elif isinstance(error, fs.LockTimeoutError):
        return MemtuiError("Another memtui is writing at the moment.", f"Try again; the lock is {path}.")
    else:
        hint = "Mend that and try again; nothing was lost."
    return MemtuiError(f"{path} can't be written: {reason}", hint)


def read(path: str) -> bytes | None:
    """A file's content, None if there is none. Raises OSError."""
    try:
        return fs.read_bytes(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def conflict(path: str, taken: bool = False) -> ConflictError:
    """Somebody else wrote the file meanwhile, or the name is taken."""
    if taken:
        return ConflictError(f"{path} exists already", "Choose another name, or change that memory instead.")
    return ConflictError(f"{path} changed since it was read", "Nothing was written. Look at it again, then repeat.")


def replace(change: FileChange) -> None:
    """Make a FileChange. Raises ConflictError if the content is not `before` (nothing written), OSError."""
    if change.before is None:
        if change.after is not None:
            _create(change.path, change.after, change.mode, change.times[1])
        return
    try:
        fd = os.open(change.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise conflict(change.path) from None
    with open(fd, "rb") as file:
        if file.read() != change.before:
            raise conflict(change.path)
        if change.after is None:
            os.unlink(change.path)
            fs.sync_dir(os.path.dirname(change.path))
        else:
            fs.write_atomic(change.path, change.after)
            _set_time(change.path, change.times[1])
        # Somebody may have written into the old file between the look and the rename: it is still open.
        file.seek(0)
        late = file.read()
    if late != change.before:
        fs.write_atomic(change.path, late)
        raise conflict(change.path)


def _set_time(path: str, time: int | None) -> None:
    if time is not None:
        with contextlib.suppress(OSError):
            os.utime(path, ns=(time, time))


def _create(path: str, data: bytes, mode: int | None, time: int | None) -> None:
    """Make a new file whole; never over an existing one."""
    if os.path.lexists(path):
        raise conflict(path, taken=True)
    # A directory is as open as the first file in it: in a repository that is what the umask says.
    fs.makedirs(os.path.dirname(path), fs.DIR_MODE | ((mode or 0) & 0o066) | ((mode or 0) & 0o044) >> 2)
    temporary = fs.temporary(path)
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, fs.FILE_MODE)
    try:
        try:
            fs.write_all(fd, data)
            if mode is not None:
                os.fchmod(fd, mode)
            os.fsync(fd)
        finally:
            os.close(fd)
        _set_time(temporary, time)
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise conflict(path, taken=True) from None
        except OSError:  # a file system without hard links
            os.rename(temporary, path)
    finally:
        fs.unlink(temporary)
    fs.sync_dir(os.path.dirname(path))


def rewrite(edit: TextEdit) -> None:
    """Make a TextEdit in the file as it is now; a file that becomes empty goes. Raises ConflictError, OSError."""
    if os.path.basename(edit.path) in inbox_format.FILES.values():
        inbox_file.rewrite(edit.path, edit.apply)
        return
    for _ in range(TRIES):
        before = read(edit.path)
        after = inbox_format.encode(edit.apply(inbox_format.decode(before or b"")))
        try:
            if after != (before or b""):
                replace(FileChange(edit.path, before, after or None, edit.mode))
            return
        except ConflictError:  # written to between our read and our write: edit what is there now
            continue
    raise conflict(edit.path)


def retrust(edit: TrustEdit) -> None:
    """Make a TrustEdit. Raises ConflictError where trust.json is damaged, for a person to mend, OSError."""
    always = None if edit.always[0] == edit.always[1] else edit.always[1]
    try:
        trust.update(os.path.dirname(edit.path), edit.directory, edit.removed, dict(edit.added), always)
    except MemtuiError as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from None
        raise ConflictError(error.message, error.hint) from error
