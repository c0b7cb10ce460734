"""The files of a source: those of a folder, of a ZIP or of a tar archive. Nothing outside of it is read, and nothing is
unpacked to the disk."""

import gzip
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, cast

from memtui.core.base import fs, paths
from memtui.core.base.phrasing import size
from memtui.core.places import locate
from memtui.transfer.incoming import LeftOut, UnreadableSourceError

# An archive holds no more files than this, no longer one, and unpacked no more than this in all.
MAX_FILES = 20_000
MAX_FILE = 16 << 20
MAX_TOTAL = 256 << 20
# What counts for the limits of an archive is what it unpacks to, not what it says of itself.
CHUNK = 1 << 20
BOMB = "Unpack it yourself, look at what is in it, and import the folder."
OUTSIDE = "is a link that leads out of the folder"
ZIP, GZIP = b"PK\x03\x04", b"\x1f\x8b"
# What an empty ZIP file begins with.
EMPTY_ZIP = b"PK\x05\x06"


@dataclass
class SourceFiles:
    """Files by their path in the source, with `/` between directories. `top` is the folder, '' for an archive, whose
    files are in `files`."""

    shown: str
    top: str = ""
    names: list[str] = field(default_factory=list)
    skipped: list[LeftOut] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict, repr=False)

    def read(self, name: str) -> bytes | None:
        """Return a file; None, and one more in `skipped`, for one that can't be read or is too large."""
        if not self.top:
            return self.files[name]
        try:
            data = fs.read_bytes(f"{self.top}/{name}", MAX_FILE + 1)
        except OSError as error:
            self.skipped.append(LeftOut(name, f"can't be read: {error.strerror or error}"))
            return None
        if len(data) > MAX_FILE:
            self.skipped.append(LeftOut(name, f"is larger than {size(MAX_FILE)}"))
            return None
        return data

    def modified(self, name: str) -> float | None:
        """Return when a file of a folder was last changed, in seconds since the epoch; None for one of an archive."""
        try:
            return os.stat(f"{self.top}/{name}").st_mtime if self.top else None
        except OSError:
            return None

    def has(self, name: str) -> bool:
        """Whether there is a file of this path, which does not lead out of the source."""
        if not self.top:
            return name in self.files
        path = f"{self.top}/{name}"
        return not why_not(name) and os.path.isfile(path) and paths.inside(self.top, path)

    def below(self, name: str) -> "SourceFiles":
        """Return the files of an archive that are below a directory of it."""
        files = {
            path.removeprefix(name + "/"): data for path, data in self.files.items() if path.startswith(name + "/")
        }
        return SourceFiles(self.shown, skipped=self.skipped, files=files)


def folder(path: str) -> SourceFiles:
    """Return the Markdown files of a folder, MEMORY.md among them, without hidden ones and links that leave it. Raises
    UnreadableSourceError."""
    top = path.rstrip("/") or "/"
    found = SourceFiles(top, top)
    directories: list[str] = []
    try:
        rows = locate.walk(top, directories, most=MAX_FILES)
    except locate.TooManyError:
        raise UnreadableSourceError(
            f"{path} has more than {MAX_FILES:,} files or folders.", "Import one of the folders in it."
        ) from None
    except OSError as error:
        raise UnreadableSourceError(
            f"{path} can't be read: {error.strerror or error}.", "Look at its owner and mode."
        ) from error
    for name, problem in rows:
        if problem:
            found.skipped.append(LeftOut(name, OUTSIDE if problem == locate.LEAVES else problem))
        else:
            found.names.append(name)
    indexes = (f"{each}/{locate.INDEX_NAME}"[len(top.rstrip("/")) + 1 :] for each in directories)
    found.names = sorted([*found.names, *(each for each in indexes if found.has(each))])
    return found


def is_packed(head: bytes) -> bool:
    """Whether the first bytes of a file are those of an archive."""
    return head.startswith((ZIP, EMPTY_ZIP, GZIP))


def packed(path: str) -> SourceFiles:
    """Return the files of a ZIP or `.tar.gz` archive, all read. A file with a path that leads out of it, a link or a
    device is left out. Raises UnreadableSourceError for one that is damaged, encrypted or too large."""
    found = SourceFiles(path)
    total = 0
    try:
        with open(fs.open_regular(path), "rb") as file:
            head = file.read(4)
            file.seek(0)
            for name, data, problem in _zipped(file) if head in {ZIP, EMPTY_ZIP} else _tarred(file):
                why = problem or ("is there twice: the second one was left out" if name in found.files else "")
                if why:
                    found.skipped.append(LeftOut(name, why))
                    continue
                total += len(data)
                if total > MAX_TOTAL or len(found.files) >= MAX_FILES:
                    raise _too_large(path)
                found.files[name] = data
    except _TooLargeError:
        raise _too_large(path) from None
    except UnreadableSourceError:
        raise
    except Exception as error:  # a library for each way to pack has errors of its own for damaged data
        if isinstance(error, OSError) and error.strerror:  # of the system, and not of a library
            raise UnreadableSourceError(
                f"{path} can't be read: {error.strerror}.", "Look at its owner and mode."
            ) from error
        raise UnreadableSourceError(
            f"{path} is a damaged archive: {error}.", "Make it again where it comes from, or copy it again."
        ) from error
    found.names = sorted(name for name in found.files if name.endswith(locate.SUFFIX) and not _hidden(name))
    return found


class _TooLargeError(Exception):
    """An archive unpacks to more than MAX_TOTAL bytes."""


def _too_large(path: str) -> UnreadableSourceError:
    return UnreadableSourceError(
        f"{path} unpacks to more than {size(MAX_TOTAL)} or {MAX_FILES:,} files: it is no archive of memories.", BOMB
    )


def _hidden(name: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def why_not(name: str) -> str:
    """Return why a path in an archive must not be read, nor written to one; empty if it may."""
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "\\" in name or "\0" in name or (len(name) > 1 and name[1] == ":"):
        return "has a path that leads out of the archive"
    if "" in parts or "." in parts:
        return "has a path with an empty part"
    return ""


def _zipped(file: IO[bytes]) -> Iterator[tuple[str, bytes, str]]:
    """Yield the files of a ZIP as (path, content, why it was left out)."""
    left = MAX_TOTAL
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if len(members) > 2 * MAX_FILES:
            raise _TooLargeError
        for member in members:
            if member.is_dir():
                continue
            name, why = member.filename, why_not(member.filename)
            kind = stat.S_IFMT(member.external_attr >> 16)
            if not why and kind not in {0, stat.S_IFREG}:
                why = "is a link or a device"
            if not why and member.flag_bits & 1:
                raise UnreadableSourceError(f"{name} in it is encrypted.", "Unpack it yourself, and import the folder.")
            data = b""
            if not why:
                with archive.open(member) as opened:
                    data = opened.read(min(MAX_FILE, left) + 1)
                left -= len(data)
                if left < 0:
                    raise _TooLargeError
                if len(data) > MAX_FILE:
                    data, why = b"", f"is larger than {size(MAX_FILE)}"
            yield name, data, why


class _Bounded(io.RawIOBase):
    """A stream that ends with an error after so many bytes, whatever is read of it or skipped."""

    def __init__(self, inner: IO[bytes], most: int) -> None:
        self.inner, self.left = inner, most

    def readable(self) -> bool:
        return True

    def read(self, count: int = -1) -> bytes:
        data = self.inner.read(CHUNK if count < 0 else count)
        self.left -= len(data)
        if self.left < 0:
            raise _TooLargeError
        return data


def _tarred(file: IO[bytes]) -> Iterator[tuple[str, bytes, str]]:
    """Yield the files of a tar archive in gzip as `_zipped` does."""
    members = 0
    with gzip.GzipFile(fileobj=file) as plain:
        stream = cast("IO[bytes]", _Bounded(cast("IO[bytes]", plain), 2 * MAX_TOTAL))
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                members += 1
                if members > 2 * MAX_FILES:
                    raise _TooLargeError
                if member.isdir():
                    continue
                name, data = member.name.removeprefix("./"), b""
                why = why_not(name) or ("" if member.isreg() else "is a link or a device")
                if not why and member.size > MAX_FILE:
                    why = f"is larger than {size(MAX_FILE)}"
                opened = None if why else archive.extractfile(member)
                if opened is not None:
                    data = opened.read()
                yield name, data, why
