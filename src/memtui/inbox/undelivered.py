"""Notes that have not arrived: under way, or kept from being delivered by what they say."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memtui.base import clock_hot, fs_hot, ids_hot, paths_hot
from memtui.base.finding import Finding, problem
from memtui.base.phrasing_hot import cut
from memtui.deliver import log_hot
from memtui.deliver.record import Delivery
from memtui.inbox import claims_hot, file_hot, format_hot, note_block_hot
from memtui.inbox.format_hot import Entry
from memtui.redact import redact


@dataclass(frozen=True)
class UnderWay:
    """One note of a claim: ids of `delivery` and `session`, `time` of the claim, `slug`, `record` (maybe empty)."""

    delivery: str
    session: str
    time: float | None
    slug: str | None
    entry: format_hot.Entry
    record: Delivery


def under_way(root: str, projects: Iterable[str | None]) -> list[UnderWay]:
    """List the notes under way of some projects' inboxes (None: the global one), newest first."""
    tasks = []
    for slug in projects:
        directory = paths_hot.inbox_dir(root, slug)
        for name, delivery_id, session_id, _ in file_hot.claimed(directory):
            try:
                data = fs_hot.read_bytes(f"{directory}/{format_hot.CLAIMED}/{name}", format_hot.MAX_BYTES)
            except OSError:
                continue  # reconciled meanwhile
            entries = format_hot.parse(format_hot.decode(data))
            record = Delivery(next(log_hot.records_of(root, delivery_id), {"session_id": session_id}))
            # What the hook took but did not deliver is in the inbox again.
            item_ids = {item.id for item in record.items if not item.left_out}
            delivered = [entry for entry in entries if entry.id in item_ids or not item_ids]
            time = ids_hot.id_time(delivery_id)
            tasks += [UnderWay(delivery_id, session_id, time, slug, entry, record) for entry in delivered]
    return sorted(tasks, key=lambda task: task.time or 0.0, reverse=True)


TEXT_SHOWN = 40  # the most characters of a note that a finding names it by


def problems(entry: Entry, directory: str, now: float, budget: int) -> Iterator[Finding]:
    """Yield what keeps an entry of an inbox from being delivered. `budget`: the UTF-16 units of a delivery."""
    inbox = directory.rpartition("/")[2]  # global, or the project's slug

    def finding(code: str, **data: object) -> Finding:
        text = cut(" ".join(redact.redact(entry.text)[0].split()), TEXT_SHOWN)
        return problem(code, f"note:{entry.id}", inbox=inbox, id=entry.id[-6:], text=text, **data)

    expires = entry.fields.get("expires")
    if whom := claims_hot.no_addressee(entry):
        yield finding("inbox.nobody", whom=whom)
    if expires and clock_hot.parse(expires) is None:
        yield finding("inbox.endless", expires=expires)
    elif entry.expired(now) and entry.fields.get("kind") != note_block_hot.WHISPER:  # its session has ended
        yield finding("inbox.expired")
    if entry.count("attempts") >= claims_hot.MAX_ATTEMPTS:
        yield finding("inbox.held", attempts=entry.count("attempts"))
    if "\0" in entry.text:
        yield finding("inbox.binary")
    if note_block_hot.over(budget, now, entry, directory) > 0:
        yield finding("inbox.long")
