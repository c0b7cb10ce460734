"""What became of guidance that a hook took: done when it arrived, back in its inbox when it did not.

Evidence is the transcript (deliveries/receipts.py) and the delivery log. A claim that a hook logged counts as
delivered where no transcript tells otherwise. One that a hook died over before logging goes back; if no transcript
tells whether it was printed, it is marked as a repeat. So is what the client dropped: on a branch that the person left,
or with a session that ended before it wrote a transcript.
"""

import posix
import time

from memtui.core.base import clock, fs, ids, paths, session_state
from memtui.core.client import process, transcript
from memtui.core.deliveries import error_log, receipts
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries.steps import size_of
from memtui.core.inbox import claimed
from memtui.core.inbox import file as inbox_file
from memtui.core.inbox import format as inbox_format

# A hook is ended by the client's time-out long before this; so is its chance to log.
HOOK_SECONDS = 30.0
# By then the client has written to the transcript what a hook gave it.
TRACE_SECONDS = 60.0
LOCK_SECONDS = 2.0
END_SECONDS = 2.0
POLL_SECONDS = 0.1
# Before what it was given with, a tool's message stands in the transcript.
TOOL_BYTES = 1 << 16
# A hook reads no more than this of a transcript for a claim; what that does not decide is left to a worker.
HOOK_BYTES = 1 << 20
BACK = {receipts.PREVIEWED, *receipts.LOST}
SHOWN = {receipts.ARRIVED, receipts.PREVIEWED, receipts.DROPPED}


class Reconciled:
    """One claim that was decided on: the delivery, its outcome, and the ids that went back to the inbox."""

    __slots__ = ("delivery_id", "outcome", "returned")

    def __init__(self, delivery_id: str, outcome: str, returned: "list[str]") -> None:
        self.delivery_id = delivery_id
        self.outcome = outcome
        self.returned = returned


def all_inboxes(root: str) -> "list[str]":
    """The directories of every inbox there is."""
    return [paths.inbox_dir(root, None), *[paths.inbox_dir(root, slug) for slug in paths.inbox_slugs(root)]]


def reconcile(
    env: "dict[str, str]",
    root: str,
    session_id: str = "",
    directories: "list[str] | None" = None,
    now: "float | None" = None,
    wait: float = LOCK_SECONDS,
    limit: "int | None" = None,
    ended: bool = False,
) -> "list[Reconciled]":
    """Decide what became of the claims of one session, or of all, in the inboxes given, or in all.

    Claims about which nothing can be said yet, or only by more than `limit` bytes of a transcript, or whose inbox is
    locked for longer than `wait` seconds, are left for a later call; so is one that can't be read, which is logged
    and keeps no other from it. `ended`: that session is over.
    """
    seconds = clock.now() if now is None else now
    config = paths.config_dir(env)
    found = []
    for directory in all_inboxes(root) if directories is None else directories:
        try:
            if claimed.replaced(directory):
                with fs.Lock(directory + "/" + inbox_format.LOCK_NAME, wait):
                    inbox_file.recover(directory)
        except OSError as error:
            if not isinstance(error, fs.LockTimeoutError):
                error_log.add(root, "settle", error)
        for name, delivery_id, owner, pid in claimed.listed(directory):
            if session_id and owner != session_state.safe(session_id):
                continue
            try:
                claim = _Claim(root, directory, name, delivery_id, owner, pid)
                done = claim.reconcile(config, seconds, wait, limit, ended)
            except (FileNotFoundError, fs.LockTimeoutError):
                continue  # another process closed it, or works on the inbox
            except OSError as error:
                error_log.add(root, "settle", error)
                continue
            if done is not None:
                found.append(done)
    return found


def finish(env: "dict[str, str]", root: str, session_id: str) -> None:
    """Decide on the claims of a session that ends, once its client is gone and has written what it will, or after
    END_SECONDS: after `/clear` it lives on."""
    owner = session_state.safe(session_id)
    deadline = time.monotonic() + END_SECONDS
    while any(whose == owner for box in all_inboxes(root) for _, _, whose, _ in claimed.listed(box)):
        ended = time.monotonic() >= deadline
        reconcile(env, root, session_id=session_id, ended=ended)
        if ended:
            return
        time.sleep(POLL_SECONDS)


class _Claim:
    """One claim, and what the log says of it."""

    __slots__ = ("delivery_id", "directory", "name", "owner", "path", "pid", "record", "root", "size")

    def __init__(self, root: str, directory: str, name: str, delivery_id: str, owner: str, pid: int) -> None:
        self.root = root
        self.directory = directory
        self.name = name
        self.delivery_id = delivery_id
        self.owner = owner
        self.pid = pid
        self.path = f"{directory}/{inbox_format.CLAIMED}/{name}"
        self.record = self._logged()
        # How many bytes of it its hook had read; what stands behind was appended later.
        self.size = _row(self.record, root, directory, name) if self.record is not None else None

    def _logged(self) -> "dict[str, object] | None":
        """The hook's record of the delivery, which need not name the claim, or the one recovered for this claim."""
        since, within = ids.id_time(self.delivery_id), delivery_log.WITHIN_BYTES
        for record in delivery_log.newest_first(
            self.root, needle=self.delivery_id.encode(), since=since, within=within
        ):
            if record.get("id") == self.delivery_id and (
                not record.get("recovered") or _row(record, self.root, self.directory, self.name) is not None
            ):
                return record
        return None

    def reconcile(self, config: str, now: float, wait: float, limit: "int | None", ended: bool) -> "Reconciled | None":
        """Close the claim if it can be said what became of it. Raises OSError."""
        age = now - (ids.id_time(self.delivery_id) or 0.0)
        if age < 0:
            age = HOOK_SECONDS if fs.alive(self.pid) else claimed.KEPT_SECONDS  # the clock was put back
        if self.record is not None and self.size is None:
            # The hook went on without this claim, whose inbox gave it trouble: nobody was given anything of it.
            with self._lock(wait):
                return self._give_back(age)
        if self.record is None and age < HOOK_SECONDS and fs.alive(self.pid):
            return None
        path = transcript.path_of(self.record or {"session_id": self.owner}, config)
        view = self._view(path or "", limit)
        if view is None:
            return None
        if self.record is None:
            outcome = self._unlogged(view, age, ended)
        elif view.exists:
            outcome = receipts.outcome(self.record, view, now, ended)
        else:
            outcome = self._untold(age, ended)
        if outcome == receipts.WAITING or not (view.whole or outcome in SHOWN):
            return None
        with self._lock(wait):
            return self._close(outcome, view, age)

    def _lock(self, wait: float) -> fs.Lock:
        return fs.Lock(self.directory + "/" + inbox_format.LOCK_NAME, wait)

    def _view(self, path: str, limit: "int | None") -> "receipts.TranscriptView | None":
        """What the transcript tells of the delivery, read from where it was when the hook ran. None if that would be
        too much."""
        if not path:
            return receipts.TranscriptView("")
        size = size_of(self.record) if self.record is not None else None
        if size is not None and self.record is not None:
            start: int | None = max(0, size - (TOOL_BYTES if self.record.get("tool_use_id") else 0))
        else:
            start = transcript.recent_start(path, ids.id_time(self.delivery_id) or 0.0, limit)
        return None if start is None else receipts.view_from(path, start, limit, self.delivery_id)

    def _untold(self, age: float, ended: bool) -> str:
        """What became of a delivery of whose session there is no transcript: it comes with the first request, unless
        the session shall leave none. There the end of the turn tells that the model was called."""
        found = session_state.load(self.root, self.owner, "stopped").get("claims")
        client = self.record.get("client") if self.record is not None else None
        if isinstance(found, list) and self.name in found:
            return receipts.UNKNOWN
        if ended or process.gone(client):
            return receipts.DROPPED
        return receipts.UNKNOWN if age >= (receipts.QUIET_SECONDS if client else TRACE_SECONDS) else receipts.WAITING

    def _unlogged(self, view: receipts.TranscriptView, age: float, ended: bool) -> str:
        """What became of a claim that nobody logged."""
        if self.delivery_id in view.outcomes:
            return view.outcomes[self.delivery_id]
        if self.delivery_id in view.pending:
            return view.at_end(self.delivery_id) if ended or age > receipts.QUIET_SECONDS else receipts.WAITING
        steps = view.steps
        if age < TRACE_SECONDS and not (ended or steps.call > steps.at(ids.id_time(self.delivery_id) or 0.0)):
            return receipts.WAITING
        return receipts.FAILED if view.exists and view.records_attachments else receipts.UNKNOWN

    def _close(self, outcome: str, view: receipts.TranscriptView, age: float) -> "Reconciled | None":
        """Append what goes back, log what the hook could not, remove the claim; dying in between repeats nothing."""
        data = _read(self.path, age)
        if data is None:
            return None
        again: list[inbox_format.Entry] = []  # given to the model, in vain
        beside: list[inbox_format.Entry] = []  # never given by this delivery
        if self.record is not None:
            scope = inbox_format.scope_of(self.directory)
            delivered = {item.get("id") for item in _items(self.record) if item.get("scope", scope) == scope}
            if outcome in BACK:
                again = [e for e in inbox_format.parse(inbox_format.decode(data[: self.size])) if e.id in delivered]
            beside = inbox_format.parse(inbox_format.decode(data[self.size :]))
        elif outcome in SHOWN:
            entries, shown = _arrived(inbox_format.decode(data), _named(view.text, self.delivery_id))
            again = shown if outcome in BACK else []
            beside = [e for e in entries if all(e is not each for each in shown)]
        else:
            again = inbox_format.parse(inbox_format.decode(data))
        unsure = outcome == receipts.DROPPED or (self.record is None and outcome == receipts.UNKNOWN)
        returned = self._return(again, beside, outcome, unsure)
        if self.record is None and outcome in SHOWN:
            self._log_recovered(shown, view, len(data))
        posix.unlink(self.path)
        return Reconciled(self.delivery_id, outcome, returned)

    def _give_back(self, age: float) -> "Reconciled | None":
        """Put all of the claim back, as it stood: nothing of it was given to anybody. The caller holds the lock."""
        data = _read(self.path, age)
        if data is None:
            return None
        returned = self._return([], inbox_format.parse(inbox_format.decode(data)), receipts.FAILED, repeat=False)
        posix.unlink(self.path)
        return Reconciled(self.delivery_id, receipts.FAILED, returned)

    def _return(
        self, again: "list[inbox_format.Entry]", beside: "list[inbox_format.Entry]", outcome: str, repeat: bool
    ) -> "list[str]":
        """Append to the inbox what was given in vain and what was not given at all; the ids of what was not there."""
        path = self.directory + "/" + inbox_format.FILES["guidance"]
        if again or beside:
            # What the hook had put back before it died, and what a settling that died had, is there already.
            known = claimed.elsewhere(self.directory, ids.id_time(self.delivery_id) or 0.0, self.delivery_id)
            again, beside = claimed.unknown(again, known), claimed.unknown(beside, known)
        # That a person left a branch says nothing against the note.
        tried = 0 if outcome == receipts.DROPPED else 1
        text = "".join([_again(e, tried, repeat) for e in again]) + "".join(
            [inbox_format.standalone(e) for e in beside]
        )
        if text:
            inbox_file.add_locked(path, text)
        else:
            fs.sync(path)  # what the hook put back
        return [e.id for e in [*again, *beside]]

    def _log_recovered(self, entries: "list[inbox_format.Entry]", view: receipts.TranscriptView, size: int) -> None:
        """Write the record that the hook could not write any more, from the claim, the transcript and what is known of
        the session. The second claim of a delivery that took two tells only of its own notes."""
        seconds = ids.id_time(self.delivery_id) or clock.now()
        scope = inbox_format.scope_of(self.directory)
        items = [
            {"kind": "guidance", "id": e.id, "scope": scope, "hash": ids.content_hash(e.text), "reason": "recovered"}
            for e in entries
        ]
        from memtui.core.deliveries import blocks as delivery_blocks

        known = session_state.load(self.root, self.owner)
        text = view.text
        needle = self.delivery_id.encode()
        if any(
            r.get("id") == self.delivery_id for r in delivery_log.newest_first(self.root, needle=needle, since=seconds)
        ):
            text = "\n".join(_blocks(text, {e.id for e in entries}))
        record: dict[str, object] = {
            "v": delivery_log.VERSION,
            "id": self.delivery_id,
            "time": clock.iso(seconds),
            "event": view.event,
            "session_id": self.owner,
            "prompt_id": view.prompt_id,
            "transcript": view.path,
            "cwd": known.get("cwd", ""),
            "project": known.get("project")
            or (self.directory[self.directory.rfind("/") + 1 :] if scope == "project" else ""),
            "project_root": known.get("project_root", ""),
            "mode": known.get("mode", ""),
            "chars": delivery_blocks.units(text),
            "text": text,
            "items": items,
            "claims": [[self.directory[len(self.root) + 1 :], self.name, size]],
            "recovered": True,
        }
        delivery_log.append(self.root, record, seconds)


def _read(path: str, age: float) -> "bytes | None":
    """A claimed file; None as long as a shell that opened it as guidance.md may still write to it."""
    fd = fs.open_regular(path, ours=True, follow=False)
    try:
        most = fs.KINDS["claim"][0]
        return fs.read_fd(fd, most=most, path=path) if fs.quiet(fd) or age > claimed.KEPT_SECONDS else None
    finally:
        posix.close(fd)


def _row(record: "dict[str, object]", root: str, directory: str, name: str) -> "int | None":
    """How many bytes of a claimed file its hook had read, None if the record does not tell. The claims of one delivery
    in two inboxes bear one name."""
    taken = record.get("claims")
    for row in taken if isinstance(taken, list) else []:
        if isinstance(row, list) and len(row) == 3 and row[:2] == [directory[len(root) + 1 :], name]:
            return row[2] if isinstance(row[2], int) else None
    return None


def _items(record: "dict[str, object]") -> "list[dict[str, object]]":
    """What a record says that it gave."""
    found = record.get("items")
    items = [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
    return [item for item in items if not item.get("left_out")]


def _again(entry: inbox_format.Entry, tried: int, repeat: bool) -> str:
    """An entry that goes back, with the attempt counted."""
    fields = {**entry.fields, "id": entry.id}
    if tried:
        fields["attempts"] = str(entry.count("attempts") + tried)
    if repeat:
        fields["repeat"] = "yes"
    return inbox_format.render(fields, entry.text)


def _arrived(text: str, named: "set[str]") -> "tuple[list[inbox_format.Entry], list[inbox_format.Entry]]":
    """The entries of a claim that nobody logged, and those of them whose ids the transcript names.

    Text appended by hand after the hook had read the file may have become one with the hand-written end of it: then
    the end is parted where the beginning is what the transcript names. All entries count if none can be told.
    """
    entries = inbox_format.parse(text)
    shown = [e for e in entries if e.id in named]
    if entries and entries[-1].id not in named:
        parts = claimed.parted(entries[-1], lambda head: head.id in named)
        if parts:
            return [*entries[:-1], parts[0], *parts[1]], [*shown, parts[0]]
    return entries, shown if named else entries


def _named(text: str, delivery_id: str) -> "set[str]":
    """The ids of the guidance that a delivery's text holds."""
    found = set()
    for block in text.split("<memtui-guidance ")[1:]:
        fields = inbox_format.parse_fields(block[: block.find(">")])
        if fields.get("delivery") == delivery_id:
            found.add(fields.get("id", ""))
    return found


def _blocks(text: str, names: "set[str]") -> "list[str]":
    """The blocks of a delivered text that hold these notes."""
    found = []
    for piece in text.split("<memtui-guidance ")[1:]:
        block, close, _ = piece.partition("</memtui-guidance>")
        if inbox_format.parse_fields(block[: block.find(">")]).get("id") in names:
            found.append("<memtui-guidance " + block + close)
    return found
