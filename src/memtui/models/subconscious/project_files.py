"""Read, Grep and Glob, run here and not by a client, below the directory of the session's work tree. What a transcript
talks the model into can read no other file, and change none."""

import fnmatch
import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from memtui.base import fs_hot, paths_hot, visible_hot, word_lists
from memtui.base.phrasing_hot import many
from memtui.redact.redact import redacted

READ, GREP, GLOB = "Read", "Grep", "Glob"
NAMES = (READ, GREP, GLOB)
# Characters of an answer; lines and files in it; bytes of a file that are read; seconds and files of a search.
ANSWER, LINES, FILES, FILE_BYTES = 6000, 60, 100, 1 << 20
SECONDS, SEARCHED = 5.0, 20_000
LINE = 200
# Directories that are not searched, and files that are not read: they hold no text of the project, or secrets.
SKIPPED = {".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", ".tox", "target"}
_WORDS = word_lists.sets(os.path.dirname(__file__) + "/secrets.txt")
SECRETS, SECRET_DIRS, SECRET_PATHS = _WORDS["files"], _WORDS["directories"], _WORDS["paths"]


class Looked(NamedTuple):
    """What a tool found, as text, or why it was `refused`."""

    text: str
    refused: bool = False


class Tools:
    """Tools below the directory `top`."""

    def __init__(self, top: str) -> None:
        self.top = paths_hot.resolve(top) or top

    def run(self, tool: str, path: str, text: str) -> Looked:
        """Return what a tool finds: Read the lines of the file `path` (from the line `text`, if that is a number), Grep
        the lines below `path` that have `text`, Glob the files below `path` whose names match `text`."""
        try:
            place = self._inside(path or ".")
            if tool != READ:
                return Looked({GREP: self._grep, GLOB: self._glob}[tool](place, text))
            content = _text_of(place)
            if content is None:
                return Looked("Not read: it is no text.", refused=True)
            first = max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 9 else 1
            return Looked(_shown("\n".join(content.splitlines()[first - 1 :])) or "It has no such line.")
        except _NotReadError as error:
            return Looked(str(error), refused=True)
        except OSError as error:
            return Looked(f"Not read: {error.strerror or error}.", refused=True)

    def _inside(self, path: str) -> str:
        """Return the real path of something below `top`. Raises _NotReadError."""
        if "\0" in path:
            raise _NotReadError("Refused: that is no path.")
        real = paths_hot.resolve(paths_hot.normal(paths_hot.join(self.top, path)))
        if real is None or (real != self.top and not real.startswith(self.top.rstrip("/") + "/")):
            raise _NotReadError("Refused: only files below the project's directory can be read.")
        if self.holds_secrets(real):
            raise _NotReadError("Refused: files that hold secrets are not read.")
        return real

    def _grep(self, path: str, text: str) -> str:
        needle, lines = text.strip().lower(), []
        if not needle:
            raise _NotReadError("Refused: give the words to look for.")
        for file in self._files(path):
            content = _text_of(file)
            if content is None or needle not in content.lower():
                continue
            for number, line in enumerate(content.splitlines(), 1):
                if needle in line.lower():
                    lines.append(f"{self._name(file)}:{number}: {line.strip()[:LINE]}")
                    if len(lines) >= LINES:
                        return _shown("\n".join(lines) + "\n(there may be more)")
        return _shown("\n".join(lines)) or "No line has that."

    def _glob(self, path: str, text: str) -> str:
        every, glob, fits = map(self._name, self._files(path)), text or "*", fnmatch.fnmatchcase
        names = [name for name in every if fits(name, glob) or fits(os.path.basename(name), glob)]
        more = len(names) - FILES
        return "\n".join(names[:FILES]) + (f"\n({many(more, 'more file')})" if more > 0 else "") or "No file fits."

    def _files(self, path: str) -> Iterator[str]:
        """Yield the files below a directory, or the file itself, without following links, until the time is over."""
        if os.path.isfile(path):
            yield path
            return
        until, count = time.monotonic() + SECONDS, 0
        for directory, names, files in os.walk(path):
            names[:] = sorted(name for name in names if name not in SKIPPED and name.lower() not in SECRET_DIRS)
            for name in sorted(files):
                file = f"{directory.rstrip('/')}/{name}"
                count += 1
                if count > SEARCHED or time.monotonic() > until:
                    return
                if not os.path.islink(file) and not self.holds_secrets(file):
                    yield file

    def _name(self, path: str) -> str:
        return path.removeprefix(self.top.rstrip("/") + "/")

    def holds_secrets(self, path: str) -> bool:
        *above, name = self._name(path).lower().split("/")
        within = "/".join(["", *above, name, ""])
        if SECRET_DIRS & {*above, name} or any(f"/{pattern}/" in within for pattern in SECRET_PATHS):
            return True
        return any(fnmatch.fnmatchcase(name, glob) for glob in SECRETS) and not name.endswith((".example", ".sample"))


class _NotReadError(Exception):
    """A tool is not run; the message says why."""


def _text_of(path: str) -> str | None:
    """Return the text of a file, the beginning of a large one; None if it is no text. Raises OSError."""
    data = fs_hot.read_bytes(path, FILE_BYTES)
    return None if b"\0" in data[:8192] else data.decode("utf-8", "replace")


def _shown(text: str) -> str:
    text = redacted(visible_hot.clean(text[: 4 * ANSWER]))  # before it is cut: half a secret would not be recognised
    return text if len(text) <= ANSWER else text[:ANSWER].rstrip() + "\n(cut)"
