"""Reconcile claims, by transcript and log: what did not arrive goes back, marked as a repeat if that is not sure.

Of an answer that was broken off a resume brings the note again: that session does not get it from the inbox."""

import posix
import time

from memtui.base import clock, fs, ids, paths, session_state
from memtui.client import process
from memtui.client.transcripts import transcript
from memtui.deliver import error_log, receipts
from memtui.deliver import log as delivery_log
from memtui.inbox import claims
from memtui.inbox import file as inbox_file
from memtui.inbox import format as inbox_format

# A hook has logged by then, or never will: the client's time-out ends it long before.
HOOK_SECONDS = 30.0
# By then the client has written to the transcript what a hook gave it.
TRACE_SECONDS = 60.0
LOCK_SECONDS = 2.0
# How long a session that ends is waited for, and how often it is looked at.
END_SECONDS = 2.0
POLL_SECONDS = 0.1
# A hook reads no more than this of a transcript for a claim; what that does not decide is left to a worker.
HOOK_BYTES = 1 << 20
# The text was in a request, and nobody answered it.
MAYBE_SEEN = {receipts.DROPPED, receipts.BROKEN_OFF}
BACK = {receipts.PREVIEWED, *receipts.LOST}
SHOWN = {receipts.ARRIVED, receipts.PREVIEWED, *MAYBE_SEEN}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Reconciled:
    """One claim that was reconciled: the delivery, its outcome, and the ids of the entries put back into the inbox."""

    __slots__ = ("delivery_id", "outcome", "returned")

    def __init__(self, delivery_id: str, outcome: str, returned: "list[str]") -> None:
        self.delivery_id = delivery_id
        self.outcome = outcome
        self.returned = returned


def all_inboxes(root: str) -> "list[str]":
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
    """Reconcile the claims of a session, or all; later those that take over `limit` bytes, or can't be read."""
    seconds = clock.now() if now is None else now
    config = paths.config_dir(env)
    reconciled = []
    for directory in all_inboxes(root) if directories is None else directories:
        try:
            if inbox_file.replaced_files(directory):
                with fs.Lock(directory + "/" + inbox_format.LOCK_NAME, wait):
                    inbox_file.recover(directory)
        except OSError as error:
            if not isinstance(error, fs.LockTimeoutError):
                error_log.add(root, "settle", error)
        for name, delivery_id, owner, pid in inbox_file.claimed(directory):
            if session_id and owner != session_state.safe(session_id):
                continue
            try:
                claim = _Claim(root, directory, name, delivery_id, owner, pid)
                result = claim.reconcile(config, seconds, wait, limit, ended)
                reconciled += [result] if result is not None else []
            except (FileNotFoundError, fs.LockTimeoutError):
                continue  # another process has reconciled it, or works on the inbox
            except OSError as error:
                error_log.add(root, "settle", error)
    return reconciled


def finish(env: "dict[str, str]", root: str, session_id: str) -> None:
    """Reconcile the claims of a session that ends, once its client has written its transcript or END_SECONDS passed."""
    owner = session_state.safe(session_id)
    deadline = time.monotonic() + END_SECONDS
    while any(
        claim_owner == owner for inbox in all_inboxes(root) for _, _, claim_owner, _ in inbox_file.claimed(inbox)
    ):
        ended = time.monotonic() >= deadline
        reconcile(env, root, session_id=session_id, ended=ended)
        if ended:
            return
        time.sleep(POLL_SECONDS)


def withdraw(env: "dict[str, str]", root: str, session_id: str) -> None:
    """Withdraw the notes that a resumed session was told of after all. For the worker. Raises OSError."""
    session = session_state.safe(session_id)

    def without(source: str) -> str:
        after = []
        for entry in inbox_format.parse(source):
            if entry.id in dropped:
                fields = {**entry.fields, "told": " ".join([name for name in claims.told(entry) if name != session])}
                after.append(inbox_format.render({key: value for key, value in fields.items() if value}, entry.text))
            elif entry.id not in arrived:
                after.append(inbox_format.standalone(entry))
        return "".join(after)

    for directory in all_inboxes(root):
        path = directory + "/" + inbox_format.FILES["guidance"]
        entries = [entry for entry in inbox_format.read(path) if session in claims.told(entry)]
        outcomes = {entry.id: _outcomes(env, root, session_id, entry) for entry in entries}
        arrived = {name for name, receipts_of_note in outcomes.items() if receipts.ARRIVED in receipts_of_note}
        dropped = {
            name for name, receipts_of_note in outcomes.items() if receipts_of_note == {receipts.DROPPED}
        } - arrived
        if arrived or dropped:
            inbox_file.rewrite(path, without)


def _outcomes(env: "dict[str, str]", root: str, session_id: str, entry: inbox_format.Entry) -> "set[str]":
    same = {"id": entry.id, "hash": ids.content_hash(entry.text)}
    records = [
        record
        for record in delivery_log.newest_first(root, needle=entry.id.encode())
        if record.get("session_id") == session_id
        and any(same.items() <= {"hash": same["hash"], **item}.items() for item in delivery_log.brought(record))
    ]
    return set(receipts.outcomes(records, env).values())


class _Claim:
    """One claim and its record in the delivery log, None if there is none."""

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
        # How many bytes of it the hook had read; what is behind was appended later.
        self.size = _row(self.record, root, directory, name) if self.record is not None else None

    def _logged(self) -> "dict[str, object] | None":
        """Return the hook's record of the delivery, which may lack this claim, or the one recovered for this claim."""
        for record in delivery_log.records_of(self.root, self.delivery_id, delivery_log.WITHIN_BYTES):
            if not record.get("recovered") or _row(record, self.root, self.directory, self.name) is not None:
                return record
        return None

    def reconcile(self, config: str, now: float, wait: float, limit: "int | None", ended: bool) -> "Reconciled | None":
        """Close the claim and return its outcome; None if that is not known yet. Raises OSError."""
        age = now - (ids.id_time(self.delivery_id) or 0.0)
        if age < 0:
            age = HOOK_SECONDS if process.alive(self.pid) else inbox_file.KEPT_SECONDS  # the clock was put back
        if self.record is not None and self.size is None:
            # The hook failed to read this claim and went on without it: nothing of it was delivered.
            return self._close(receipts.FAILED, None, age, wait)
        if self.record is None and age < HOOK_SECONDS and process.alive(self.pid):
            return None
        path = transcript.path_of(self.record or {"session_id": self.owner}, config)
        view = self._view(path or "", limit)
        if view is None:
            return None
        if self.record is None:
            outcome = self._outcome_without_record(view, age, ended)
        elif view.exists:
            outcome = receipts.outcome(self.record, view, now, ended)
        else:
            outcome = self._outcome_without_transcript(age, ended)
        if outcome == receipts.WAITING or not (view.whole or outcome in SHOWN):
            return None
        return self._close(outcome, view, age, wait)

    def _view(self, path: str, limit: "int | None") -> "receipts.TranscriptView | None":
        """Return the view of the transcript from where it ended when the hook ran; None if `limit` is too small."""
        if not path:
            return receipts.TranscriptView("")
        start: int | None
        if self.record is not None:
            start = max(
                0, receipts.size_of(self.record) - (receipts.TOOL_BYTES if self.record.get("tool_use_id") else 0)
            )
        else:
            start = transcript.recent_start(path, ids.id_time(self.delivery_id) or 0.0, limit)
        return None if start is None else receipts.view_from(path, start, limit, self.delivery_id)

    def _outcome_without_transcript(self, age: float, ended: bool) -> str:
        """Return the outcome of a delivery without a transcript: the Stop hook notes claims that were answered."""
        claims_noted = session_state.load_part(self.root, self.owner, "stopped").get("claims")
        client = self.record.get("client") if self.record is not None else None
        if isinstance(claims_noted, list) and self.name in claims_noted:
            return receipts.UNKNOWN
        if ended or process.gone(client):
            return receipts.DROPPED
        return receipts.UNKNOWN if age >= (receipts.QUIET_SECONDS if client else TRACE_SECONDS) else receipts.WAITING

    def _outcome_without_record(self, view: receipts.TranscriptView, age: float, ended: bool) -> str:
        if self.delivery_id in view.outcomes:
            return view.outcomes[self.delivery_id]
        if self.delivery_id in view.pending:
            return view.at_end(self.delivery_id) if ended or age > receipts.QUIET_SECONDS else receipts.WAITING
        steps = view.steps
        if age < TRACE_SECONDS and not (ended or steps.call > steps.at(ids.id_time(self.delivery_id) or 0.0)):
            return receipts.WAITING
        return receipts.FAILED if view.exists and view.records_attachments else receipts.UNKNOWN

    def _close(
        self, outcome: str, view: "receipts.TranscriptView | None", age: float, wait: float
    ) -> "Reconciled | None":
        """Put back what did not arrive, log the delivery, remove the claim; None if that may still grow."""
        with fs.Lock(self.directory + "/" + inbox_format.LOCK_NAME, wait):
            data = _read(self.path, age)
            if data is None:
                return None
            maybe_seen, is_news = outcome in MAYBE_SEEN, False
            failed: list[inbox_format.Entry] = []  # delivered, but did not arrive
            others: list[inbox_format.Entry] = []  # not part of this delivery
            if view is None:
                others = inbox_format.parse(inbox_format.decode(data))
            elif self.record is not None:
                scope, is_cut = inbox_format.scope_of(self.directory), self._is_cut(outcome, view)
                items = delivery_log.brought(self.record)
                delivered = {item.get("id") for item in items if item.get("scope", scope) == scope}
                if outcome in BACK or is_cut:
                    failed = [
                        e for e in inbox_format.parse(inbox_format.decode(data[: self.size])) if e.id in delivered
                    ]
                others = inbox_format.parse(inbox_format.decode(data[self.size :]))
                maybe_seen = maybe_seen or is_cut
                is_news = outcome in receipts.SETTLED and outcome != self.record.get("outcome")
            elif outcome in SHOWN:
                notes = [fields for fields, _ in _notes_in(view.text) if fields.get("delivery") == self.delivery_id]
                note_ids = {fields.get("id", "") for fields in notes}
                entries, shown = _shown_entries(inbox_format.decode(data), note_ids)
                failed = shown if outcome in BACK else []
                others = [e for e in entries if all(e is not entry for entry in shown)]
            else:
                failed = inbox_format.parse(inbox_format.decode(data))
                maybe_seen = maybe_seen or outcome == receipts.UNKNOWN
            returned = self._put_back(failed, others, outcome, maybe_seen)
            if view is not None and self.record is None and outcome in SHOWN:
                self._log_recovered(shown, view, len(data))
            if is_news and self.record is not None:
                delivery_log.note_outcomes(self.root, [self.record], {self.delivery_id: outcome})
            posix.unlink(self.path)
            return Reconciled(self.delivery_id, outcome, returned)

    def _is_cut(self, outcome: str, view: receipts.TranscriptView) -> bool:
        """Tell whether the transcript was cut before anything could show what became of the delivery."""
        size = receipts.size_of(self.record) if self.record is not None else None
        return outcome == receipts.UNKNOWN and view.exists and size is not None and size > view.size

    def _put_back(
        self, failed: "list[inbox_format.Entry]", others: "list[inbox_format.Entry]", outcome: str, repeat: bool
    ) -> "list[str]":
        """Append what did not arrive or was not delivered, unless it is there; return the ids of what was appended."""
        path = self.directory + "/" + inbox_format.FILES["guidance"]
        if failed or others:
            # The hook, or a process that reconciled before, may have put entries back before it died.
            known_ids = inbox_file.known_elsewhere(
                self.directory, ids.id_time(self.delivery_id) or 0.0, self.delivery_id
            )
            failed, others = (
                inbox_file.unknown_entries(failed, known_ids),
                inbox_file.unknown_entries(others, known_ids),
            )
        # If a person left the branch or ended the client, the note is not to blame.
        attempts = 0 if outcome in MAYBE_SEEN else 1
        session = self.owner if outcome == receipts.BROKEN_OFF else ""
        text = "".join([_retried(e, attempts, repeat, session) for e in failed]) + "".join(
            [inbox_format.standalone(e) for e in others]
        )
        if text:
            inbox_file.add_locked(path, text)
        else:
            fs.sync(path)  # for what the hook put back
        return [e.id for e in [*failed, *others]]

    def _log_recovered(self, entries: "list[inbox_format.Entry]", view: receipts.TranscriptView, size: int) -> None:
        """Write the record that the hook did not write, from the claim, the transcript and the session's state."""
        seconds = ids.id_time(self.delivery_id) or clock.now()
        scope = inbox_format.scope_of(self.directory)
        items = [
            {"kind": "guidance", "id": e.id, "scope": scope, "hash": ids.content_hash(e.text), "reason": "recovered"}
            for e in entries
        ]
        from memtui.deliver import blocks as delivery_blocks

        state = session_state.load(self.root, self.owner)
        text = view.text
        if any(delivery_log.records_of(self.root, self.delivery_id)):
            note_ids = {e.id for e in entries}
            text = "\n".join([block for fields, block in _notes_in(text) if fields.get("id") in note_ids])
        record: dict[str, object] = {
            "v": delivery_log.VERSION,
            "id": self.delivery_id,
            "time": clock.iso(seconds),
            "event": view.event,
            "session_id": self.owner,
            "prompt_id": view.prompt_id,
            "transcript": view.path,
            "cwd": state.cwd,
            "project": state.project or (self.directory[self.directory.rfind("/") + 1 :] if scope == "project" else ""),
            "project_root": state.project_root,
            "mode": state.mode,
            "chars": delivery_blocks.units(text),
            "text": text,
            "items": items,
            "claims": [[self.directory[len(self.root) + 1 :], self.name, size]],
            "recovered": True,
        }
        delivery_log.append(self.root, record, seconds)


def _read(path: str, age: float) -> "bytes | None":
    """Read a claimed file; None as long as a shell that opened it as guidance.md may still write to it."""
    fd = fs.open_regular(path, ours=True, follow=False)
    try:
        most = fs.KINDS["claim"][0]
        return fs.read_fd(fd, most=most, path=path) if fs.quiet(fd) or age > inbox_file.KEPT_SECONDS else None
    finally:
        posix.close(fd)


def _row(record: "dict[str, object]", root: str, directory: str, name: str) -> "int | None":
    """Return how many bytes of a claimed file its hook had read; None if the record does not say."""
    claims = record.get("claims")
    for row in claims if isinstance(claims, list) else []:
        if isinstance(row, list) and len(row) == 3 and row[:2] == [directory[len(root) + 1 :], name]:
            return row[2] if isinstance(row[2], int) else None
    return None


def _retried(entry: inbox_format.Entry, attempts: int, repeat: bool, session: str) -> str:
    """Render an entry that goes back, with `attempts` more; `session`: whose transcript holds it, empty for none."""
    fields = {**entry.fields, "id": entry.id}
    if attempts:
        fields["attempts"] = str(entry.count("attempts") + attempts)
    if repeat:
        fields["repeat"] = "yes"
    if session:
        fields["told"] = " ".join(dict.fromkeys([*claims.told(entry), session]))
    return inbox_format.render(fields, entry.text)


def _shown_entries(text: str, shown_ids: "set[str]") -> "tuple[list[inbox_format.Entry], list[inbox_format.Entry]]":
    """Return all entries of an unlogged claim, and those that the transcript shows; all if it shows no ids."""
    entries = inbox_format.parse(text)
    rows = [e for e in entries if e.id in shown_ids]
    if entries and entries[-1].id not in shown_ids:
        parts = inbox_file.parted(entries[-1], lambda head: head.id in shown_ids)
        if parts:
            return [*entries[:-1], parts[0], *parts[1]], [*rows, parts[0]]
    return entries, rows if shown_ids else entries


def _notes_in(text: str) -> "Iterator[tuple[dict[str, str], str]]":
    """Yield the attributes and the block of each note in a delivered text."""
    for piece in text.split("<memtui-guidance ")[1:]:
        block, close, _ = piece.partition("</memtui-guidance>")
        yield inbox_format.parse_fields(block[: block.find(">")]), "<memtui-guidance " + block + close
