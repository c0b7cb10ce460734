"""Guidance under way: taken by a hook, and not yet proven delivered or put back."""

from collections.abc import Iterable
from dataclasses import dataclass

from memtui.base import fs, ids, paths
from memtui.deliver import log as delivery_log
from memtui.deliver import receipts
from memtui.deliver.record import Delivery
from memtui.inbox import claim_files
from memtui.inbox import format as inbox_format


@dataclass(frozen=True)
class UnderWay:
    """One note of a claim: ids of `delivery` and `session`, `time` of the claim, `slug`, `record` (maybe empty)."""

    delivery: str
    session: str
    time: float | None
    slug: str | None
    entry: inbox_format.Entry
    record: Delivery


def outcomes(tasks: Iterable[UnderWay], env: dict[str, str], now: float) -> dict[str, str]:
    """Return by delivery what became of notes under way: waiting as long as the log has no record of it."""
    every = {task.delivery: task.record.record for task in tasks}
    return dict.fromkeys(every, receipts.WAITING) | receipts.outcomes(every.values(), env, now)


def listed(root: str, projects: Iterable[str | None]) -> list[UnderWay]:
    """List the notes under way of some projects' inboxes (None: the global one), newest first."""
    tasks = []
    for slug in projects:
        directory = paths.inbox_dir(root, slug)
        for name, delivery_id, session_id, _ in claim_files.listed(directory):
            try:
                data = fs.read_bytes(f"{directory}/{inbox_format.CLAIMED}/{name}", inbox_format.MAX_BYTES)
            except OSError:
                continue  # reconciled meanwhile
            entries = inbox_format.parse(inbox_format.decode(data))
            record = Delivery.of(next(delivery_log.records_of(root, delivery_id), {"session_id": session_id}))
            # What the hook took but did not deliver is in the inbox again.
            item_ids = {item.id for item in record.items if not item.left_out}
            delivered = [entry for entry in entries if entry.id in item_ids or not item_ids]
            time = ids.id_time(delivery_id)
            tasks += [UnderWay(delivery_id, session_id, time, slug, entry, record) for entry in delivered]
    return sorted(tasks, key=lambda task: task.time or 0.0, reverse=True)
