"""What became of guidance that a hook took: done when it arrived, back in its inbox when it did not.

Evidence is the transcript (core/receipts.py) and the delivery log. A claim that a hook logged counts as delivered where
no transcript tells otherwise. One that a hook died over before logging goes back; if no transcript tells whether it
was printed, it is marked as a repeat.
"""

import posix

from memtui.core import claims, clock, delivery, fs, ids, inbox, paths, receipts, session

# A hook is ended by the client's time-out long before this; so is its chance to log.
HOOK_SECONDS = 30.0
# By then the client has written to the transcript what a hook gave it.
TRACE_SECONDS = 60.0
LOCK_SECONDS = 2.0
BACK = {receipts.PREVIEWED, receipts.TIMED_OUT, receipts.FAILED}


class Settled:
    """One claim that was settled: the delivery, its outcome, and the ids that went back to the inbox."""

    __slots__ = ("delivery_id", "outcome", "returned")

    def __init__(self, delivery_id: str, outcome: str, returned: "list[str]") -> None:
        self.delivery_id = delivery_id
        self.outcome = outcome
        self.returned = returned


def all_inboxes(root: str) -> "list[str]":
    """The directories of every inbox there is."""
    try:
        slugs = sorted(posix.listdir(root + "/projects"))
    except OSError:
        slugs = []
    return [paths.inbox_dir(root, None), *[paths.inbox_dir(root, slug) for slug in slugs]]


def settle(
    env: "dict[str, str]",
    root: str,
    session_id: str = "",
    directories: "list[str] | None" = None,
    now: "float | None" = None,
    wait: float = LOCK_SECONDS,
) -> "list[Settled]":
    """Settle the claims of one session, or of all, in the inboxes given, or in all.

    Claims about which nothing can be said yet, or whose inbox is locked for longer than `wait` seconds, are left for a
    later call; so is one that can't be settled, which is logged and keeps no other from it.
    """
    seconds = clock.now() if now is None else now
    config = paths.config_dir(env)
    found = []
    views: dict[str, receipts.TranscriptView] = {}
    for directory in all_inboxes(root) if directories is None else directories:
        for name, delivery_id, owner, pid in claims.listed(directory):
            if session_id and owner != session.safe(session_id):
                continue
            try:
                done = _settle_one(root, config, directory, (name, delivery_id, owner, pid), views, seconds, wait)
            except (FileNotFoundError, fs.LockTimeoutError):
                continue  # another process settled it, or works on the inbox
            except OSError as error:
                delivery.log_error(root, "settle", error)
                continue
            if done is not None:
                found.append(done)
    return found


def _view(path: "str | None", views: "dict[str, receipts.TranscriptView]") -> receipts.TranscriptView:
    key = path or ""
    if key not in views:
        views[key] = receipts.TranscriptView(key)
        if path:
            views[key].refresh()
    return views[key]


def _settle_one(
    root: str,
    config: str,
    directory: str,
    claim: "tuple[str, str, str, int]",
    views: "dict[str, receipts.TranscriptView]",
    now: float,
    wait: float,
) -> "Settled | None":
    name, delivery_id, owner, pid = claim
    taken = ids.id_time(delivery_id) or 0.0
    age = now - taken
    record = next(delivery.newest_first(root, needle=delivery_id.encode(), since=taken), None)
    if record is None and age < HOOK_SECONDS and _alive(pid):
        return None
    path = receipts.transcript_path(record or {"session_id": owner}, config)
    view = _view(path, views)
    outcome = _unlogged(view, delivery_id, age) if record is None else receipts.outcome(record, view, now)
    # A session's first prompt comes before its transcript.
    if outcome == receipts.WAITING or (outcome == receipts.UNKNOWN and not view.exists and age < TRACE_SECONDS):
        return None
    with fs.Lock(directory + "/" + inbox.LOCK_NAME, wait):
        return _close(root, directory, name, delivery_id, record, outcome, path)


def _alive(pid: int) -> bool:
    try:
        posix.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _unlogged(view: receipts.TranscriptView, delivery_id: str, age: float) -> str:
    """What became of a claim that nobody logged."""
    told = view.outcomes.get(delivery_id)
    if told:
        return told
    if age < TRACE_SECONDS and not (view.exists and view.last_call > (ids.id_time(delivery_id) or 0.0)):
        return receipts.WAITING
    return receipts.FAILED if view.exists and view.records_attachments else receipts.UNKNOWN


def _close(
    root: str,
    directory: str,
    name: str,
    delivery_id: str,
    record: "dict[str, object] | None",
    outcome: str,
    transcript: "str | None",
) -> Settled:
    claimed = f"{directory}/{claims.DIRECTORY}/{name}"
    data = fs.read_bytes(claimed)
    size = _size(record, name, len(data))
    entries = inbox.parse(inbox.decode(data[:size]))
    late = data[size:]
    beside: list[inbox.Entry] = []  # never delivered by this claim
    if record is not None:
        delivered = {item.get("id") for item in _items(record) if not item.get("left_out")}
        back = [e for e in entries if e.id in delivered] if outcome in BACK else []
    elif outcome in {receipts.ARRIVED, receipts.PREVIEWED}:
        arrived = _named(transcript, delivery_id, entries)
        back = arrived if outcome == receipts.PREVIEWED else []
        others = [e for e in entries if all(e is not each for each in arrived)]
        beside = _never_put_back(root, directory, name, delivery_id, others)
        _log_recovered(root, directory, name, delivery_id, arrived, transcript, size)
    else:
        back = _never_put_back(root, directory, name, delivery_id, entries)
    present = {e.id for e in inbox.read(directory + "/" + inbox.FILES["guidance"])}
    returned = [e for e in back if e.id not in present]
    text = "".join([_again(e, repeat=record is None and outcome == receipts.UNKNOWN) for e in returned])
    beside = [e for e in beside if e.id not in present]
    text += "".join([e.raw if e.raw.endswith("\n") else e.raw + "\n" for e in beside])
    if text or late:
        fs.append(directory + "/" + inbox.FILES["guidance"], inbox.encode(text) + late, durable=True)
    posix.unlink(claimed)
    return Settled(delivery_id, outcome, [e.id for e in [*returned, *beside]])


def _size(record: "dict[str, object] | None", name: str, whole: int) -> int:
    """How many bytes of a claimed file its hook had read; what stands behind was appended later."""
    taken = record.get("claims") if record else None
    for row in taken if isinstance(taken, list) else []:
        if isinstance(row, list) and len(row) == 3 and row[1] == name and isinstance(row[2], int):
            return row[2]
    return whole


def _items(record: "dict[str, object]") -> "list[dict[str, object]]":
    found = record.get("items")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _again(entry: inbox.Entry, repeat: bool) -> str:
    """An entry that goes back, with the attempt counted."""
    fields = {**entry.fields, "id": entry.id, "attempts": str(entry.count("attempts") + 1)}
    if repeat:
        fields["repeat"] = "yes"
    return inbox.render(fields, entry.text)


def _named(transcript: "str | None", delivery_id: str, entries: "list[inbox.Entry]") -> "list[inbox.Entry]":
    """The entries whose block stands in the transcript's lines of this delivery; all of them if none can be told."""
    try:
        data = fs.read_bytes(transcript or "")
    except OSError:
        return entries
    lines = [line for line in data.split(b"\n") if delivery_id.encode() in line]
    found = [e for e in entries if any(b'id=\\"%s\\"' % e.id.encode() in line for line in lines)]
    return found or entries


def _never_put_back(
    root: str, directory: str, name: str, delivery_id: str, entries: "list[inbox.Entry]"
) -> "list[inbox.Entry]":
    """Entries of a claim without a record, less those that its hook had put back before it died: another claim holds
    them, or another delivery brought them since."""
    elsewhere: set[object] = set()
    for other, *_ in claims.listed(directory):
        if other != name:
            data = fs.read_or_empty(f"{directory}/{claims.DIRECTORY}/{other}")
            elsewhere.update(e.id for e in inbox.parse(inbox.decode(data)))
    for record in delivery.newest_first(root, needle=b'"guidance"', since=ids.id_time(delivery_id)):
        elsewhere.update(item.get("id") for item in _items(record) if not item.get("left_out"))
    return [e for e in entries if e.id not in elsewhere]


def _log_recovered(
    root: str,
    directory: str,
    name: str,
    delivery_id: str,
    entries: "list[inbox.Entry]",
    transcript: "str | None",
    size: int,
) -> None:
    """Write the record that the hook could not write any more."""
    seconds = ids.id_time(delivery_id) or clock.now()
    scope = "global" if directory.endswith("/global") else "project"
    items = [
        {"kind": "guidance", "id": e.id, "scope": scope, "hash": ids.content_hash(e.text), "reason": "recovered"}
        for e in entries
    ]
    record: dict[str, object] = {
        "v": delivery.VERSION,
        "id": delivery_id,
        "time": clock.iso(seconds),
        "event": "",
        "session_id": name.split("~")[1],
        "transcript": transcript or "",
        "project": directory[directory.rfind("/") + 1 :] if scope == "project" else "",
        "chars": sum(len(e.text) for e in entries),
        "items": items,
        "claims": [[directory[len(root) + 1 :], name, size]],
        "recovered": True,
    }
    delivery.append(root, record, seconds)
