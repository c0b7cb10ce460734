"""What became of guidance that a hook took: done when it arrived, back in its inbox when it did not.

Evidence is the transcript (core/receipts.py) and the delivery log. A claim that a hook logged counts as delivered where
no transcript tells otherwise. One that a hook died over before logging goes back; if no transcript tells whether it
was printed, it is marked as a repeat.
"""

import posix

from memtui.core import carry, claims, clock, delivery, fs, ids, inbox, paths, receipts, session

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
        try:
            if carry.left(directory):
                with fs.Lock(directory + "/" + inbox.LOCK_NAME, wait):
                    carry.recover(directory)
        except OSError as error:
            if not isinstance(error, fs.LockTimeoutError):
                delivery.log_error(root, "settle", error)
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


def _view(path: "str | None", views: "dict[str, receipts.TranscriptView]", since: float) -> receipts.TranscriptView:
    """What the transcript tells, as far back as `since`: a hook has no time to read a long one whole."""
    start = receipts.recent_start(path, since) if path else 0
    key = f"{start} {path}"
    if key not in views:
        views[key] = receipts.TranscriptView(path or "", start)
        if path:
            views[key].refresh()
        if start and not views[key].records_attachments:  # a quiet stretch says nothing of the client
            views[key] = receipts.TranscriptView(path or "").refresh()
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
    age = now - (ids.id_time(delivery_id) or 0.0)
    record = _record(root, directory, name, delivery_id)
    if record is not None and _row(record, root, directory, name) is None:
        # The hook went on without this claim, whose inbox gave it trouble: nobody was given anything of it.
        with fs.Lock(directory + "/" + inbox.LOCK_NAME, wait):
            return _give_back(directory, name, delivery_id, age)
    if record is None and age < HOOK_SECONDS and fs.alive(pid):
        return None
    path = receipts.transcript_path(record or {"session_id": owner}, config)
    view = _view(path, views, ids.id_time(delivery_id) or 0.0)
    outcome = _unlogged(view, delivery_id, age) if record is None else receipts.outcome(record, view, now)
    # A session's first prompt comes before its transcript.
    if outcome == receipts.WAITING or (outcome == receipts.UNKNOWN and not view.exists and age < TRACE_SECONDS):
        return None
    with fs.Lock(directory + "/" + inbox.LOCK_NAME, wait):
        return _close(root, directory, name, delivery_id, record, outcome, path, age)


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
    age: float,
) -> "Settled | None":
    """Append what goes back, log what the hook could not, remove the claim; dying in between repeats nothing."""
    claimed = f"{directory}/{claims.DIRECTORY}/{name}"
    data = _read(claimed, age)
    if data is None:
        return None
    text = inbox.decode(data)
    again: list[inbox.Entry] = []  # given to the model, in vain
    beside: list[inbox.Entry] = []  # never given by this delivery
    if record is not None:
        size = _row(record, root, directory, name)
        delivered = {item.get("id") for item in _items(record) if _is_own(item, directory)}
        if outcome in BACK:
            again = [e for e in inbox.parse(inbox.decode(data[:size])) if e.id in delivered]
        beside = inbox.parse(inbox.decode(data[size:]))
    elif outcome in {receipts.ARRIVED, receipts.PREVIEWED}:
        entries, shown = _arrived(text, transcript, delivery_id)
        again = shown if outcome == receipts.PREVIEWED else []
        beside = [e for e in entries if all(e is not each for each in shown)]
    else:
        again = inbox.parse(text)
    returned = _return(directory, delivery_id, again, beside, record is None and outcome == receipts.UNKNOWN)
    if record is None and outcome in {receipts.ARRIVED, receipts.PREVIEWED}:
        _log_recovered(root, directory, name, delivery_id, shown, transcript, len(data))
    posix.unlink(claimed)
    return Settled(delivery_id, outcome, returned)


def _give_back(directory: str, name: str, delivery_id: str, age: float) -> "Settled | None":
    """Put all of a claim back, as it stood: nothing of it was given to anybody. The caller holds the inbox lock."""
    claimed = f"{directory}/{claims.DIRECTORY}/{name}"
    data = _read(claimed, age)
    if data is None:
        return None
    returned = _return(directory, delivery_id, [], inbox.parse(inbox.decode(data)), repeat=False)
    posix.unlink(claimed)
    return Settled(delivery_id, receipts.FAILED, returned)


def _return(
    directory: str, delivery_id: str, again: "list[inbox.Entry]", beside: "list[inbox.Entry]", repeat: bool
) -> "list[str]":
    """Append to an inbox what was given in vain and what was not given at all; the ids of what was not there yet."""
    path = directory + "/" + inbox.FILES["guidance"]
    if again or beside:
        # What the hook had put back before it died, and what a settling that died had, is there already.
        known = carry.elsewhere(directory, ids.id_time(delivery_id) or 0.0, delivery_id)
        again, beside = carry.unknown(again, known), carry.unknown(beside, known)
    text = "".join([_again(e, repeat) for e in again]) + "".join([inbox.standalone(e) for e in beside])
    if text:
        inbox.add_locked(path, text)
    else:
        fs.sync(path)  # what the hook put back
    return [e.id for e in [*again, *beside]]


def _read(path: str, age: float) -> "bytes | None":
    """A claimed file; None as long as a shell that opened it as guidance.md may still write to it."""
    fd = fs.open_regular(path, ours=True, follow=False)
    try:
        most = fs.KINDS["claim"][0]
        return fs.read_fd(fd, most=most, path=path) if fs.quiet(fd) or age > carry.KEPT_SECONDS else None
    finally:
        posix.close(fd)


def _record(root: str, directory: str, name: str, delivery_id: str) -> "dict[str, object] | None":
    """What the log says of a claim: the hook's record of the delivery, which need not name the claim, or the one
    recovered for this very claim."""
    since, within = ids.id_time(delivery_id), delivery.WITHIN_BYTES
    for record in delivery.newest_first(root, needle=delivery_id.encode(), since=since, within=within):
        if record.get("id") == delivery_id and (
            not record.get("recovered") or _row(record, root, directory, name) is not None
        ):
            return record
    return None


def _row(record: "dict[str, object]", root: str, directory: str, name: str) -> "int | None":
    """How many bytes of a claimed file its hook had read, None if the record does not tell; what stands behind was
    appended later. The claims of one delivery in two inboxes bear one name."""
    taken = record.get("claims")
    for row in taken if isinstance(taken, list) else []:
        if isinstance(row, list) and len(row) == 3 and row[:2] == [directory[len(root) + 1 :], name]:
            return row[2] if isinstance(row[2], int) else None
    return None


def _is_own(item: "dict[str, object]", directory: str) -> bool:
    """Whether a record's item was given, and out of this inbox: two inboxes may hold the same note."""
    path = item.get("path")
    return not item.get("left_out") and path in {None, directory + "/" + inbox.FILES["guidance"]}


def _items(record: "dict[str, object]") -> "list[dict[str, object]]":
    found = record.get("items")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _again(entry: inbox.Entry, repeat: bool) -> str:
    """An entry that goes back, with the attempt counted."""
    fields = {**entry.fields, "id": entry.id, "attempts": str(entry.count("attempts") + 1)}
    if repeat:
        fields["repeat"] = "yes"
    return inbox.render(fields, entry.text)


def _arrived(text: str, transcript: "str | None", delivery_id: str) -> "tuple[list[inbox.Entry], list[inbox.Entry]]":
    """The entries of a claim that nobody logged, and those of them whose block stands in the transcript.

    Text appended by hand after the hook had read the file may have become one with the hand-written end of it: then
    the end is parted where the beginning is what the transcript names. All entries count if none can be told.
    """
    named = _named(transcript, delivery_id)
    entries = inbox.parse(text)
    shown = [e for e in entries if e.id in named]
    if entries and entries[-1].id not in named:
        parts = carry.parted(entries[-1], lambda head: head.id in named)
        if parts:
            return [*entries[:-1], parts[0], *parts[1]], [*shown, parts[0]]
    return entries, shown if named else entries


def _named(transcript: "str | None", delivery_id: str) -> "set[str]":
    """The ids of the guidance that a transcript names as given by a delivery."""
    try:
        data = fs.read_bytes(transcript or "")
    except OSError:
        return set()
    found = set()
    for line in data.split(b"\n"):
        for block in line.split(b"<memtui-guidance ")[1:] if delivery_id.encode() in line else ():
            head = block[: block.find(b">")].decode("utf-8", "replace").replace('\\"', '"')
            fields = inbox.parse_fields(head)
            if fields.get("delivery") == delivery_id:
                found.add(fields.get("id", ""))
    return found


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
