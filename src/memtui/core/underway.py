"""Guidance that a hook has taken, and of which no transcript tells yet what became of it."""

from collections.abc import Iterable
from dataclasses import dataclass

from memtui.core import claims, fs, ids, inbox, paths


@dataclass(frozen=True)
class UnderWay:
    """One note of a claim. `slug` is its project, None for the global inbox; `time` is when the hook took it."""

    delivery: str
    session: str
    time: float | None
    slug: str | None
    entry: inbox.Entry


def listed(root: str, projects: Iterable[str | None]) -> list[UnderWay]:
    """The notes under way of some projects' inboxes (None: the global one), newest first."""
    found = []
    for slug in projects:
        directory = paths.inbox_dir(root, slug)
        for name, delivery_id, session_id, _ in claims.listed(directory):
            try:
                data = fs.read_bytes(f"{directory}/{claims.DIRECTORY}/{name}", inbox.MAX_BYTES)
            except OSError:
                continue  # settled in between
            entries = inbox.parse(inbox.decode(data))
            found += [UnderWay(delivery_id, session_id, ids.id_time(delivery_id), slug, each) for each in entries]
    return sorted(found, key=lambda each: each.time or 0.0, reverse=True)
