"""The files of a folder that is imported. Nothing outside of it is read."""

import os
from dataclasses import dataclass, field

from memtui.core.base import fs, paths
from memtui.core.base.phrasing import size
from memtui.core.places import locate
from memtui.transfer.incoming import LeftOut, UnreadableSourceError

# A folder holds no more files than this, and no longer one.
MAX_FILES = 20_000
MAX_FILE = 16 << 20
OUTSIDE = "is a link that leads out of the folder"


@dataclass
class SourceFiles:
    """Files of the folder `top`, by their path in it, and those that were left out."""

    top: str
    names: list[str] = field(default_factory=list)
    skipped: list[LeftOut] = field(default_factory=list)

    def read(self, name: str) -> bytes | None:
        """Return a file; None, and one more in `skipped`, for one that can't be read or is too large."""
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
        """Return when a file was last changed, in seconds since the epoch; None if it is gone."""
        try:
            return os.stat(f"{self.top}/{name}").st_mtime
        except OSError:
            return None


def folder(path: str) -> SourceFiles:
    """Return the Markdown files of a folder, MEMORY.md among them, without hidden ones and links that leave it. Raises
    UnreadableSourceError."""
    top = path.rstrip("/") or "/"
    files = SourceFiles(top)
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
            files.skipped.append(LeftOut(name, OUTSIDE if problem == locate.LEAVES else problem))
        else:
            files.names.append(name)
    for index in (f"{directory}/{locate.INDEX_NAME}" for directory in directories):
        if os.path.isfile(index) and paths.inside(top, index):
            files.names.append(index[len(top.rstrip("/")) + 1 :])
    files.names.sort()
    return files
