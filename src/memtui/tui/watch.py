"""The watch over the files behind the screens: it finds out which have changed, by `stat`. No notification service is
as portable. Thousands of files are checked in turns, so that a TUI at rest costs little."""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from memtui.core.base import paths
from memtui.core.deliveries import log as delivery_log
from memtui.core.places import locate
from memtui.core.settings import config
from memtui.hooks.installer import install
from memtui.subconscious import places

if TYPE_CHECKING:
    from memtui.core.memories.scopes import Scope
    from memtui.tui.model.data import Data

Stamp = tuple[int, int, int]  # mtime in nanoseconds, size, inode
# Parts of the files: each is read again as a whole.
SETTINGS, INBOX, LOG, MEMORIES, VERSIONS = "settings", "inbox", "log", "memories", "versions"
SUBCONSCIOUS = "subconscious"
PARTS = frozenset({SETTINGS, INBOX, LOG, MEMORIES, VERSIONS, SUBCONSCIOUS})
# Not one of our files has changed, but a transcript now proves a delivery that a screen shows as not proven.
RECEIPTS = "receipts"
# A look checks all directories and so many files; the next one goes on where it ended.
FILES_A_LOOK = 1500
# The directories of other projects are listed again every so many looks.
LOOKS = 8
# File systems stamp by a clock that may be late by a tick of the kernel's.
CLOCK_NS = 20_000_000
NEVER = (-1, -1, -1)


@dataclass
class Tree:
    """A scope as it was last listed: its directories with their stamps, and its files."""

    directories: dict[str, Stamp] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


class Watch:
    """The watch. Only one thread at a time may call `changed`."""

    def __init__(self, data: "Data") -> None:
        self.data = data
        self._parts: dict[str, tuple[Stamp, ...]] = {}
        self._trees: dict[str, Tree] = {}
        self._stamps: dict[str, Stamp] = {}
        self._others: list[Scope] = []
        self._looks = 0
        self._at = 0

    def changed(self, near: Iterable[str] = ()) -> frozenset[str]:
        """Return the parts that changed since the last call, at the first call all. `near` are files to check every
        time: those on the screen."""
        found = set()
        versions = [self.data.root + "/versions.jsonl"]
        parts = (
            *((SETTINGS, self._settings()), (INBOX, self._inbox()), (LOG, self._log())),
            *((VERSIONS, versions), (SUBCONSCIOUS, self._subconscious())),
        )
        for part, files in parts:
            stamps = tuple(stamp(path) for path in files)
            if self._parts.get(part) != stamps:
                self._parts[part] = stamps
                found.add(part)
        if self._memories(near):
            found.add(MEMORIES)
        if self.data.settled():
            found.add(RECEIPTS)
        self._looks += 1
        return frozenset(found)

    def _settings(self) -> list[str]:
        data = self.data
        own = [config.file_path(data.root), data.root + "/trust.json", data.root + "/journal.jsonl"]
        return [*own, *(install.settings_path(data.env, data.cwd, scope) for scope in install.SCOPES)]

    def _subconscious(self) -> list[str]:
        home = places.home(self.data.root)
        return [home, *(f"{home}/{name}" for name in ("runs.jsonl", "sessions", "stopped"))]

    def _inbox(self) -> list[str]:
        found = []
        for slug in (None, *paths.inbox_slugs(self.data.root)):
            directory = paths.inbox_dir(self.data.root, slug)
            found += [directory, *(f"{directory}/{name}" for name in _names(directory))]
        return found

    def _log(self) -> list[str]:
        return [*delivery_log.months(self.data.root)[:1], self.data.root + "/log/errors.jsonl"]

    # memories

    def _memories(self, near: Iterable[str]) -> bool:
        data = self.data
        here = data.library()
        if self._looks % LOOKS == 0:
            known = {scope.label for scope in here}
            self._others = [scope for scope in data.scopes(every=True) if scope.label not in known]
        trees = {scope.label: self._tree(scope) for scope in here + self._others if not scope.problem}
        self._trees = trees
        files = dict.fromkeys(path for tree in trees.values() for path in tree.files)
        changed = files.keys() != self._stamps.keys() or self._looks == 0
        if changed:
            self._stamps = {path: self._stamps.get(path) or stamp(path) for path in files}
        return self._check_files(near) or changed

    def _tree(self, scope: "Scope") -> Tree:
        if not scope.has_index:
            return Tree({}, [f"{scope.directory}/{name}" for name in scope.files])
        known = self._trees.get(scope.label)
        if known and all(stamp(path) == known_stamp for path, known_stamp in known.directories.items()):
            return known
        directories: list[str] = []
        began = time.time_ns() - CLOCK_NS
        try:
            found = locate.walk(scope.directory, directories)
        except OSError:
            found = []
        # A directory that changed while it was listed is listed again at the next look.
        stamps = {path: stamp(path) for path in directories or [scope.directory]}
        stamps = {path: each if each[0] < began else NEVER for path, each in stamps.items()}
        files = [f"{scope.directory}/{name}" for name, problem in found if not problem]
        return Tree(stamps, [scope.index_path, *files])

    def _check_files(self, near: Iterable[str]) -> bool:
        """Check the files whose turn it is, and those of `near`. Return whether one has changed."""
        count = len(self._stamps)
        turn = list(islice(self._stamps, self._at, self._at + FILES_A_LOOK))
        self._at = self._at + FILES_A_LOOK if self._at + FILES_A_LOOK < count else 0
        changed = False
        for path in {*turn, *(path for path in near if path in self._stamps)}:
            now = stamp(path)
            if now != self._stamps[path]:
                self._stamps[path] = now
                changed = True
        return changed


def stamp(path: str) -> Stamp:
    """Return the stamp of a file; zeros if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0, 0)
    return found.st_mtime_ns, found.st_size, found.st_ino


def _names(directory: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(directory) if name.endswith(locate.SUFFIX))
    except OSError:
        return []
