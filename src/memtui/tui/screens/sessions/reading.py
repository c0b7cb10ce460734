"""What the workers of the Sessions screen do: read the sessions, look up titles and receipts, and post messages."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

from memtui.core.client import projects, serving
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries.session_list import SessionList, SessionRow, Told
from memtui.core.review.waiting import Waiting, guidance_for

if TYPE_CHECKING:
    from memtui.tui.model.data import Data

# Sessions whose titles and receipts are looked up before the first message and between two later ones, and the pause
# after each: a person may be pressing keys.
LOOKED_UP_AT_ONCE, LOOKED_UP_AT_MOST = 12, 96
PAUSE_SECONDS = 0.003
# Deliveries that the detail shows.
TOLD_SHOWN = 40


@dataclass
class SessionsRead(Message):
    """The sessions were read, as far as `progress` says (empty: all of it). `names`: project names by root or slug;
    `elsewhere`: sessions of other projects that are not shown; `older`: the log goes back further."""

    rows: list[SessionRow]
    names: dict[str, str]
    elsewhere: int
    older: bool
    progress: str


@dataclass
class DetailRead(Message):
    """What a session was told, newest first, and what waits for it, were read."""

    session: str
    told: list[Told]
    waiting: list[Waiting]


class LiveChanged(Message):
    """Other sessions are live than before."""


class SessionsReader:
    """The work of the workers. `post` takes their messages; `every`: the sessions of all projects are wanted."""

    def __init__(self, data: "Data", post: Callable[[Message], object]) -> None:
        self.data, self.post = data, post
        self.every = False
        self.list = SessionList(data.env, data.now, data.receipts, most=delivery_log.WINDOW_BYTES)
        self._paths: dict[str, str | None] = {}
        self._clients: dict[int, str] = {}

    def read(self) -> None:
        """Count what the log has, posting in between, then look up titles and receipts, the first of the list first."""
        worker = get_current_worker()
        posted = 0

        def go_on(lines: int) -> bool:
            nonlocal posted
            if lines >= 2 * posted:  # seldom enough to cost little, and the first page at once
                if not posted:  # the first page has its titles before the whole log is read
                    self.list.look_up([row.id for row in self._wanted()[:LOOKED_UP_AT_ONCE]])
                posted = lines
                self._post(f"{lines:,} deliveries read …")
            return not worker.is_cancelled

        self.list.count(go_on)
        if worker.is_cancelled:
            return
        rows = self._post("")
        left = [row.id for row in rows]
        batch = LOOKED_UP_AT_ONCE
        while left and not worker.is_cancelled:
            some, left = left[:batch], left[batch:]
            batch = min(2 * batch, LOOKED_UP_AT_MOST)  # each message draws the list anew
            if self.list.look_up(some):
                self._post(f"receipts of {len(rows) - len(left)} of {len(rows)} …" if left else "")
                time.sleep(PAUSE_SECONDS)
        if not worker.is_cancelled:
            self._post("")

    def _wanted(self, every: list[SessionRow] | None = None) -> list[SessionRow]:
        found = self.list.rows() if every is None else every
        return found if self.every else [row for row in found if row.slug == self.data.slug]

    def _post(self, progress: str) -> list[SessionRow]:
        every = self.list.rows()
        rows = self._wanted(every)
        unknown = {row.project for row in rows if not row.project.startswith("/")} - self._paths.keys()
        if unknown:
            self._paths |= projects.paths_of(self.data.env, unknown)
        names = projects.names_of_roots(self.data.env, {row.project for row in rows}, self._paths)
        self.post(SessionsRead(rows, names, len(every) - len(rows), self.list.older, progress))
        return rows

    def detail(self, row: SessionRow) -> None:
        """Read what a session was told and what waits for it."""
        self.list.look_up([row.id])
        told = self.list.told(row.id, TOLD_SHOWN)
        personal = row.kind != "script"
        mine = guidance_for(self.data.root, row.id, row.slug, personal=personal, now=self.data.now())
        self.post(DetailRead(row.id, told, mine))

    def look_live(self) -> None:
        """Look whether other sessions are live than before."""
        clients = serving.served(self.data.root)
        before, self._clients = self._clients, clients
        if clients != before:
            self.post(LiveChanged())
