"""The files behind the screens, read in workers after a change. Messages say what was read."""

import gc
import os
import threading
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from textual.message import Message

from memtui.base.errors import MemtuiError
from memtui.store import scopes

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from memtui.tui.model.data import Data
    from memtui.tui.watch import Watch

# The group of the workers that run commands: they wait for the person's answers.
COMMAND = "command"
# Findings are counted when no key was pressed for so long, and not again before this many times the last count's time.
QUIET_SECONDS, COUNT_PAUSE = 3.0, 30.0
# Memories over which to count what waits for a decision slows keys, so that it begins only once keys rest.
MANY = 2000
# How often, in seconds, a count that pauses looks whether it may go on. After the start it waits so long for what other
# workers read.
LOOK_SECONDS, START_PAUSE = 0.02, 10.0
# After a decision nobody looks for changes of others for so long: that would read again what was just written.
REST_SECONDS = 1.5
# Nor within so long after a key: a look at thousands of files slows what the next one does.
KEY_REST_SECONDS = 0.5
# A count that failed is tried again after this time.
RETRY_SECONDS = 10.0
# It is looked which sessions are live again after this time: one that ends changes no file.
LIVE_SECONDS = 5.0
# The parts of the files, as `Watch` names them, that findings depend on.
COUNTED = frozenset({"settings", "inbox", "memories", "versions"})
# Those after whose change new versions of memories are taken in, and those that nobody has seen are noted.
TAKEN_IN = frozenset({"memories", "versions"})


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


class FileReader:
    """The files behind the screens, read in workers. `writes`: it may take in the versions of memories."""

    def __init__(
        self, app: "App[None]", data: "Data", *, writes: bool, inbox_shown: "Callable[[], bool]" = lambda: False
    ) -> None:
        self.app, self.data, self.writes, self.inbox_shown = app, data, writes, inbox_shown
        self._has_taken_in = False
        self.has_read = self.looking = False
        self.last_key = self.began = self._live_at = self._key_seen = data.now()
        self._count_wanted = self.count_at_once = True
        self._count_at = self._retry_at = self._rests_until = 0.0
        # One worker at a time reads, and one counts: what began earlier must not replace what is newer.
        self._reading, self._counting = threading.Lock(), threading.Lock()

    @cached_property
    def watch(self) -> "Watch":
        from memtui.tui.watch import Watch

        return Watch(self.data)

    def key_pressed(self) -> None:
        """Note that a key was pressed, which other work has to wait for."""
        self.last_key = self.data.now()
        self._rests_until = max(self._rests_until, time.monotonic() + KEY_REST_SECONDS)

    def look(self, near: list[str]) -> None:
        """Check in a worker whether files have changed, always those of `near`. Now and then count the findings."""
        if self.has_read and not self.looking and time.monotonic() > self._rests_until:
            self.looking = True
            self.app.run_worker(lambda: self._look(near), group="look", thread=True)

    def _look(self, near: list[str]) -> None:
        try:
            parts = self.watch.changed(near)
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
        if parts == frozenset({"inbox"}):  # a decision about an entry
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
            self._wait_for_others()
            self._count_findings(frozenset())

    def _wait_for_others(self) -> None:
        """Wait until other workers have read what the first screen shows."""
        end = time.monotonic() + START_PAUSE
        while time.monotonic() < end and any(
            worker.is_running and worker.group not in {COMMAND, "read"} for worker in [*self.app.workers]
        ):
            time.sleep(LOOK_SECONDS)

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
        if not is_due or now < self._retry_at or not self._counting.acquire(blocking=False):
            return
        at_once, self._count_wanted, self.count_at_once = self.count_at_once, False, False
        before = time.thread_time()
        try:
            self.data.count_findings()
            if not is_quiet and sum(len(scopes.files(scope)) for scope in self.data.scopes()) > MANY:
                self._count_wanted = True
            elif not self.inbox_shown():
                counts = self.data.count_decisions(self.data.undecided(self._go_on))
                if self._go_on() and not self.inbox_shown():
                    self.data.note_decisions(counts)
        except (OSError, MemtuiError):  # Setup shows the error
            self._count_wanted, self._retry_at = True, now + RETRY_SECONDS
            self.count_at_once = self.count_at_once or at_once
        else:
            self._count_at = now + COUNT_PAUSE * (time.thread_time() - before)
            self.app.post_message(FindingsCounted())
        finally:
            self._counting.release()
