"""The watch over the files behind the screens: which have changed, by `stat`, thousands in turns."""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from memtui.base import paths
from memtui.client import locate
from memtui.deliver import log as delivery_log
from memtui.hooks.install import installation as install
from memtui.models.subconscious import block_files
from memtui.settings import config

if TYPE_CHECKING:
    from memtui.store.scopes import Scope
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
        """Return the parts that changed since the last call. `near`: files to check every time, on the screen."""
        changed = set()
        for part, files in self._files().items():
            stamps = tuple(stamp(path) for path in files)
            if self._parts.get(part) != stamps:
                self._parts[part] = stamps
                changed.add(part)
        if self._memories(near):
            changed.add(MEMORIES)
        if self.data.settled():
            changed.add(RECEIPTS)
        self._looks += 1
        return frozenset(changed)

    def _files(self) -> dict[str, list[str]]:
        """Return the files of each part but the memories."""
        data, root = self.data, self.data.root
        settings = [config.file_path(root), f"{root}/trust.json", f"{root}/journal.jsonl"]
        inboxes = [paths.inbox_dir(root, slug) for slug in (None, *paths.inbox_slugs(root))]
        home = block_files.home(root)
        return {
            SETTINGS: [*settings, *(install.settings_path(data.env, data.cwd, scope) for scope in install.SCOPES)],
            INBOX: [path for inbox in inboxes for path in (inbox, *(f"{inbox}/{name}" for name in _names(inbox)))],
            LOG: [*delivery_log.months(root)[:1], f"{root}/log/errors.jsonl"],
            VERSIONS: [f"{root}/versions.jsonl"],
            SUBCONSCIOUS: [home, *(f"{home}/{name}" for name in ("runs.jsonl", "sessions", "stopped"))],
        }

    def _memories(self, near: Iterable[str]) -> bool:
        here = self.data.library()
        if self._looks % LOOKS == 0:
            labels = {scope.label for scope in here}
            self._others = [scope for scope in self.data.scopes(every=True) if scope.label not in labels]
        self._trees = {scope.label: self._tree(scope) for scope in here + self._others if not scope.problem}
        files = dict.fromkeys(path for tree in self._trees.values() for path in tree.files)
        changed = files.keys() != self._stamps.keys() or self._looks == 0
        if changed:
            self._stamps = {path: self._stamps.get(path) or stamp(path) for path in files}
        return self._check_files(near) or changed

    def _tree(self, scope: "Scope") -> Tree:
        if not scope.has_index:
            return Tree({}, [f"{scope.directory}/{name}" for name in scope.files])
        tree = self._trees.get(scope.label)
        if tree and all(stamp(path) == before for path, before in tree.directories.items()):
            return tree
        directories: list[str] = []
        began = time.time_ns() - CLOCK_NS
        try:
            files = locate.walk(scope.directory, directories)
        except OSError:
            files = []
        # A directory that changed while it was listed is listed again at the next look.
        stamps = {path: stamp(path) for path in directories or [scope.directory]}
        stamps = {path: each if each[0] < began else NEVER for path, each in stamps.items()}
        return Tree(
            stamps, [scope.index_path, *(f"{scope.directory}/{name}" for name, problem in files if not problem)]
        )

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
        status = os.stat(path)
    except OSError:
        return (0, 0, 0)
    return status.st_mtime_ns, status.st_size, status.st_ino


def _names(directory: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(directory) if name.endswith(locate.SUFFIX))
    except OSError:
        return []
