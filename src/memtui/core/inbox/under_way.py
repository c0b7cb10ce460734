"""Guidance that a hook has taken, and of which no transcript tells yet what became of it."""

from collections.abc import Iterable
from dataclasses import dataclass

from memtui.core.base import fs, ids, paths
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries.record import Delivery
from memtui.core.inbox import claimed
from memtui.core.inbox import format as inbox_format


@dataclass(frozen=True)
class UnderWay:
    """One note of a claim. `slug` is its project, None for the global inbox; `time` is when the hook took it; `record`
    is what the hook logged of it, empty before it did."""

    delivery: str
    session: str
    time: float | None
    slug: str | None
    entry: inbox_format.Entry
    record: Delivery


def listed(root: str, projects: Iterable[str | None]) -> list[UnderWay]:
    """The notes under way of some projects' inboxes (None: the global one), newest first."""
    found = []
    for slug in projects:
        directory = paths.inbox_dir(root, slug)
        for name, delivery_id, session_id, _ in claimed.listed(directory):
            try:
                data = fs.read_bytes(f"{directory}/{inbox_format.CLAIMED}/{name}", inbox_format.MAX_BYTES)
            except OSError:
                continue  # settled in between
            entries = inbox_format.parse(inbox_format.decode(data))
            taken, record = ids.id_time(delivery_id), _record(root, delivery_id, session_id)
            # What the hook took but did not give stands in the inbox again.
            given = {item.id for item in record.items if not item.left_out}
            mine = [each for each in entries if each.id in given or not given]
            found += [UnderWay(delivery_id, session_id, taken, slug, each, record) for each in mine]
    return sorted(found, key=lambda each: each.time or 0.0, reverse=True)


def _record(root: str, delivery_id: str, session_id: str) -> Delivery:
    logged = delivery_log.newest_first(root, needle=delivery_id.encode(), since=ids.id_time(delivery_id))
    return Delivery.of(next((each for each in logged if each.get("id") == delivery_id), {"session_id": session_id}))
