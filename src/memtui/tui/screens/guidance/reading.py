"""Read the notes of the Guidance screen: those waiting, under way and delivered."""

from typing import TYPE_CHECKING

from memtui.core.base import clock, paths
from memtui.core.client import projects, transcript
from memtui.core.client import titles as session_titles
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import notes, receipts
from memtui.core.deliveries.record import Delivery, project_of
from memtui.core.health import findings
from memtui.core.inbox import under_way
from memtui.core.review.waiting import homes, waiting_in
from memtui.present import undelivered
from memtui.tui.screens.guidance.rows import GuidanceRow, session_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memtui.core.base.finding import Finding
    from memtui.core.review.waiting import Waiting
    from memtui.tui.model.data import Data

# The most delivered notes that are shown, and the age of the oldest.
HISTORY = 200
HISTORY_SECONDS = 45 * clock.DAY


class GuidanceNotes:
    """The notes of this project, or with `every` of all projects. `names`: of projects, by slug; `titles`: by session
    id, empty where there is none."""

    def __init__(self, data: "Data") -> None:
        self.data = data
        self.every = False
        self.names: dict[str, str] = {}
        self._homes: dict[str, str | None] = {data.slug: data.project_root}
        self.titles: dict[str, str] = {}

    def slugs(self) -> list[str | None]:
        """Return the slugs of the projects to show, None for notes to all projects."""
        here: list[str | None] = [self.data.slug, None]
        if not self.every:
            return here
        others = [slug for slug in paths.inbox_slugs(self.data.root) if slug != self.data.slug]
        return here + others

    def _name(self, homes: "Mapping[str, str | None]") -> None:
        """Name the projects with these paths, by slug, and all others anew: the names tell them apart."""
        self._homes |= homes
        self.names = projects.names(self.data.env, self._homes)

    def queue(self, slugs: list[str | None]) -> tuple[list[GuidanceRow], str]:
        """Return the notes that wait or are under way, and in words what could not be read."""
        unread: list[Finding] = []
        now = self.data.now()
        found = waiting_in(self.data.root, slugs, ("guidance",), unread)
        self._name(homes(self.data.env, (each for each in found if each.slug not in self._homes)))
        queue = [self._queued(each, now) for each in found]
        queue.sort(key=lambda row: (not row.states, row.time or 0.0), reverse=True)
        under = under_way.listed(self.data.root, slugs)
        queue += [GuidanceRow(f"way {t.delivery} {t.entry.id}", t.entry.text, t.time, under_way=t) for t in under]
        return queue, " ".join(map(findings.with_remedy, unread))

    def _queued(self, item: "Waiting", now: float) -> GuidanceRow:
        states = tuple(undelivered.findings_of(self.data.settings(), item, now))
        return GuidanceRow(f"{item.path}#{item.id}", item.entry.text, item.entry.time(), item=item, states=states)

    def history(self, slugs: list[str | None], queue: list[GuidanceRow]) -> list[GuidanceRow]:
        """Return the delivered notes, newest first; those that are in the queue again are marked `back`. One that is
        under way stands in the queue, and only there until it is known what became of it."""
        data, waiting = self.data, {row.item.id for row in queue if row.item is not None}
        on_the_way = {row.key.removeprefix("way ") for row in queue if row.under_way is not None}
        since = max(0.0, data.now() - HISTORY_SECONDS)
        found: list[notes.Note] = []
        for record in delivery_log.newest_first(data.root, needle=b'"guidance"', since=since):
            if self.every or project_of(record) in slugs:
                found += notes.of(Delivery.of(record))
            if len(found) >= HISTORY:
                break
        self._name({note.delivery.project: note.delivery.project_root for note in found if note.delivery.project_root})
        outcomes = data.outcomes([note.delivery.record for note in found])
        return [
            GuidanceRow(
                f"told {note.delivery.id} {note.id}",
                note.text,
                note.delivery.time or None,
                note=note,
                outcome=outcomes.get(note.delivery.id, receipts.UNKNOWN),
                back=note.id in waiting,
            )
            for note in found
            if f"{note.delivery.id} {note.id}" not in on_the_way
        ]

    def look_up(self, rows: "Iterable[GuidanceRow]") -> bool:
        """Look up the titles of the sessions of some rows, each once; return whether any was looked up."""
        known = len(self.titles)
        finder = transcript.Finder(paths.config_dir(self.data.env))
        for row in rows:
            session = session_of(row)
            if session and session not in self.titles:
                self.titles[session] = session_titles.about(finder.find(session)).title[:80]
        return len(self.titles) > known

    def elsewhere(self) -> int:
        """Return how many notes wait in other projects."""
        near = {self.data.slug, None}
        return sum(each.slug not in near for each in self.data.waiting(("guidance",), every=True))

    def is_elsewhere(self, row: GuidanceRow) -> bool:
        """Return whether a note belongs to another project."""
        return self.slug(row) not in {self.data.slug, None}

    def project(self, row: GuidanceRow) -> str:
        """Return the name of the project that a note belongs to."""
        slug = self.slug(row)
        return self.data.facts.project if slug is None else self.names.get(slug, slug)

    def slug(self, row: GuidanceRow) -> str | None:
        """Return the slug of the project that a note belongs to, None for a note to all projects."""
        if row.item is not None:
            return row.item.slug
        if row.under_way is not None:
            return row.under_way.slug
        return (row.note.delivery.project if row.note is not None else "") or self.data.slug
