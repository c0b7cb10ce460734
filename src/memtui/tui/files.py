"""The files behind the screens: watched by `stat`, thousands in turns, and read in workers after a change."""

import gc
import os
import sys
import threading
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.message import Message

from memtui.base import paths_hot
from memtui.base.errors import MemtuiError
from memtui.client import locate_hot
from memtui.settings import config_hot
from memtui.store.scopes import Scope

if TYPE_CHECKING:
    from textual.app import App

    from memtui.tui.model.data import Data

COMMAND = "command"  # the group of the workers that run commands: they wait for the person's answers
# Findings are counted when no key was pressed for so long, and not again before this many times the last count's time.
QUIET_SECONDS, COUNT_PAUSE = 3.0, 30.0
# How often, in seconds, a count that pauses looks whether it may go on, and how long it waits at the start for workers.
LOOK_SECONDS, START_PAUSE = 0.02, 10.0
# After a decision nobody looks for changes of others for so long: that would read again what was just written.
REST_SECONDS = 1.5
KEY_REST_SECONDS = 0.5  # nor within so long after a key: a look at thousands of files slows what the next one does
RETRY_SECONDS = 10.0  # a count that failed is tried again after this time
LIVE_SECONDS = 5.0  # it is looked which sessions are live again after this time: one that ends changes no file
Stamp = tuple[int, int, int]  # mtime in nanoseconds, size, inode
# Parts of the files: each is read again as a whole.
SETTINGS, INBOX, LOG, MEMORIES, VERSIONS = "settings", "inbox", "log", "memories", "versions"
SUBCONSCIOUS, RULES = "subconscious", "rules"
PARTS = frozenset({SETTINGS, INBOX, LOG, MEMORIES, VERSIONS, SUBCONSCIOUS, RULES})
# Not one of our files has changed, but a transcript now proves a delivery that a screen shows as not proven.
RECEIPTS = "receipts"
FILES_A_LOOK = 1500  # a look checks all directories and so many files; the next one goes on where it ended
LOOKS = 8  # the directories of other projects are listed again every so many looks
CLOCK_NS = 20_000_000  # file systems stamp by a clock that may be late by a tick of the kernel's
NEVER = (-1, -1, -1)
# Those that findings depend on, and those after whose change new versions of memories are taken in and noted.
COUNTED = frozenset({SETTINGS, INBOX, MEMORIES, VERSIONS})
TAKEN_IN = frozenset({MEMORIES, VERSIONS})


@dataclass
class FilesChanged(Message):
    """Some parts of the files have changed, as `Watch` names them."""

    parts: frozenset[str]


@dataclass
class FilesRead(Message):
    """The data that all screens share was read, from these parts of the files; None for all."""

    parts: frozenset[str] | None


class FindingsCounted(Message):
    """The number of findings, which the top line shows, was counted again."""


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
        self._paths: list[str] = []
        self._stamps = array("q")  # the hashes of their stamps
        self._others: list[Scope] = []
        self._looks, self._at = 0, 0

    def changed(self) -> frozenset[str]:
        """Return the parts that changed since the last call."""
        parts = {part: tuple(map(stamp, files)) for part, files in self._files().items()}
        changed = {part for part, stamps in parts.items() if self._parts.get(part) != stamps}
        self._parts = parts
        if self._memories():
            changed.add(MEMORIES)
        if self.data.settled():
            changed.add(RECEIPTS)
        self._looks += 1
        return frozenset(changed)

    def _files(self) -> dict[str, list[str]]:
        from memtui.deliver import log_hot
        from memtui.hooks.install import installation as install
        from memtui.models.subconscious import block_files_hot
        from memtui.rules import counts_file

        data, root = self.data, self.data.root
        settings = [config_hot.file_path(root), f"{root}/trust.json", f"{root}/journal.jsonl"]
        inboxes = [paths_hot.inbox_dir(root, slug) for slug in (None, *paths_hot.inbox_slugs(root))]
        home = block_files_hot.home(root)
        return {
            SETTINGS: [*settings, *(install.settings_path(data.env, data.cwd, scope) for scope in install.SCOPES)],
            INBOX: [*inboxes, *(f"{inbox}/{name}" for inbox in inboxes for name in sorted(paths_hot.names_in(inbox)))],
            LOG: [*log_hot.months(root)[:1], f"{root}/log/errors.jsonl"],
            RULES: [f"{root}/{counts_file.FILE}"],
            VERSIONS: [f"{root}/versions.jsonl"],
            MEMORIES: [paths_hot.checks_path(root, scope.directory) for scope in data.library()],
            SUBCONSCIOUS: [home, *(f"{home}/{name}" for name in ("runs.jsonl", "sessions", "stopped"))],
        }

    def _memories(self) -> bool:
        here = self.data.library()
        if self._looks % LOOKS == 0:
            labels = {scope.label for scope in here}
            self._others = [scope for scope in self.data.scopes(every=True) if scope.label not in labels]
        trees = {scope.label: self._tree(scope) for scope in here + self._others if not scope.problem}
        changed = self._looks == 0
        if trees != self._trees:  # else no list of thousands is made at every look
            paths = list(dict.fromkeys(path for tree in trees.values() for path in tree.files))
            stamps = dict(zip(self._paths, self._stamps, strict=True))
            changed = changed or paths != self._paths
            self._stamps = array("q", (stamps.get(path) or hash(stamp(path)) for path in paths))
            self._trees, self._paths = trees, paths
        return self._check_files() or changed

    def _tree(self, scope: Scope) -> Tree:
        if not scope.has_index:
            return Tree({}, [f"{scope.directory}/{name}" for name in scope.files])
        tree = self._trees.get(scope.label)
        if tree and all(stamp(path) == before for path, before in tree.directories.items()):
            return tree
        directories: list[str] = []
        began = time.time_ns() - CLOCK_NS
        try:
            files = locate_hot.walk(scope.directory, directories)
        except OSError:
            files = []
        # A directory that changed while it was listed is listed again at the next look.
        stamps = {path: stamp(path) for path in directories or [scope.directory]}
        stamps = {path: moment if moment[0] < began else NEVER for path, moment in stamps.items()}
        # The same strings as in the memories of the screens.
        paths = (sys.intern(f"{scope.directory}/{name}") for name, wrong in files if not wrong)
        return Tree(stamps, [scope.index_path, *paths])

    def _check_files(self) -> bool:
        """Check the files whose turn it is. Return whether one has changed."""
        first, self._at = self._at, self._at + FILES_A_LOOK
        paths = self._paths[first : self._at]
        stamps = array("q", (hash(stamp(path)) for path in paths))
        changed = self._stamps[first : self._at] != stamps
        self._stamps[first : self._at] = stamps
        if self._at >= len(self._paths):
            self._at = 0
        return changed


def stamp(path: str) -> Stamp:
    """Return the stamp of a file; zeros if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0, 0)
    return status.st_mtime_ns, status.st_size, status.st_ino


class FileReader:
    """The files behind the screens, read in workers. `writes`: it may take in the versions of memories."""

    def __init__(
        self, app: "App[None]", data: "Data", *, writes: bool, inbox_shown: Callable[[], bool] = lambda: False
    ) -> None:
        self.app, self.data, self.writes, self.inbox_shown = app, data, writes, inbox_shown
        self.watch, self._has_taken_in = Watch(data), False
        self.has_read = self.looking = False
        self.last_key = self.began = self._live_at = self._key_seen = data.now()
        self._count_wanted = self.count_at_once = True
        self._count_at = self._rests_until = 0.0
        # One worker at a time reads, and one counts: what began earlier must not replace what is newer.
        self._reading, self._counting = threading.Lock(), threading.Lock()

    def key_pressed(self) -> None:
        """Note that a key was pressed, which other work has to wait for."""
        self.last_key = self.data.now()
        self._rests_until = max(self._rests_until, time.monotonic() + KEY_REST_SECONDS)

    def look(self) -> None:
        """Check in a worker whether files have changed. Now and then count the findings."""
        if self.has_read and not self.looking and time.monotonic() > self._rests_until:
            self.looking = True
            self.app.run_worker(self._look, group="look", thread=True)

    def _look(self) -> None:
        try:
            parts = self.watch.changed()
            try:
                self._take_in(parts)
            finally:  # the watch reports a change once, even where taking in fails
                if parts:
                    self.app.post_message(FilesChanged(parts))
        finally:
            self.looking = False
        if (now := self.data.now()) - self._live_at >= LIVE_SECONDS:
            self._live_at = now
            if self.data.count_live():
                self.app.post_message(FindingsCounted())
        self._count_findings(parts)

    def _take_in(self, parts: frozenset[str]) -> None:
        """Take in new versions of memories at the first look, and when memories have changed."""
        is_due = not self._has_taken_in or parts & TAKEN_IN or self.data.versions.unsettled
        if is_due and self.writes and os.path.isdir(self.data.root):
            self._has_taken_in = True
            self.data.take_in()

    def read(self, parts: frozenset[str] | None = None) -> None:
        """Read in a worker the data of all screens; `parts` of the files as `Watch` names them, None for all."""
        if not gc.isenabled():
            gc.freeze()  # modules and styles live as long as the process
            gc.enable()
        if parts == frozenset({INBOX}):  # a decision about an entry
            self._rests_until = time.monotonic() + REST_SECONDS
        first, self.has_read = not self.has_read, True
        self.looking = self.looking or first
        self.app.run_worker(lambda: self._read(parts, first), group="read", thread=True)

    def _read(self, parts: frozenset[str] | None, first: bool) -> None:
        if first:
            try:
                self.watch.changed()  # the first call takes down the stamps that later ones compare with
            finally:
                self.looking = False
        with self._reading:
            hooked = self.data.hooked()
            self.data.refresh(parts)
            self.app.post_message(FilesRead(parts))
            if not first and self.data.hooked() != hooked:
                self.count_at_once = True  # who has just installed the hooks must not read on that there are none
        if first:
            end = time.monotonic() + START_PAUSE
            while time.monotonic() < end and any(
                worker.is_running and worker.group not in {COMMAND, "read"} for worker in [*self.app.workers]
            ):
                time.sleep(LOOK_SECONDS)
            self._count_findings(frozenset())

    def _go_on(self) -> bool:
        """Wait while keys are pressed: work in a thread slows what they do. Return whether the application runs."""
        while self._key_seen != self.last_key:
            self._key_seen = self.last_key
            end = time.monotonic() + QUIET_SECONDS
            while self.app.is_running and time.monotonic() < end:
                time.sleep(LOOK_SECONDS)
        return self.app.is_running

    def _count_findings(self, parts: frozenset[str]) -> None:
        """Count for the top line what is broken or waits, while no keys are pressed: counting reads all memories."""
        self._count_wanted = self._count_wanted or bool(parts & COUNTED)
        now = self.data.now()
        is_quiet = now - max(self.last_key, self.began) >= QUIET_SECONDS and now >= self._count_at
        is_due = self.count_at_once or (self._count_wanted and is_quiet)
        if not is_due or not self._counting.acquire(blocking=False):
            return
        self._count_wanted = self.count_at_once = False
        before = time.thread_time()
        try:
            from memtui.tidy.waiting_proposals import UndecidedSet

            self.data.count_findings()
            if not self.inbox_shown():
                none = UndecidedSet((), (), frozenset())  # as in the Inbox, where nothing is compared then
                counts = self.data.count_decisions(none if self.data.is_vast else self.data.undecided(self._go_on))
                if self._go_on() and not self.inbox_shown():
                    self.data.note_decisions(counts)
        except (OSError, MemtuiError):  # Setup shows the error
            self._count_wanted, self._count_at = True, now + RETRY_SECONDS
        else:
            self._count_at = now + COUNT_PAUSE * (time.thread_time() - before)
            self.app.post_message(FindingsCounted())
        finally:
            self._counting.release()
