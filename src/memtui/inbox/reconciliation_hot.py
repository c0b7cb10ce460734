"""Reconcile claims, by transcript and log: what did not arrive goes back, marked as a repeat if that is not sure.

Of an answer that was broken off a resume brings the note again: that session does not get it from the inbox."""

import posix
import time

from memtui.base import clock_hot, fs_hot, ids_hot, paths_hot, session_state_hot
from memtui.client import process_hot
from memtui.client.transcripts import transcript_hot
from memtui.deliver import error_log_hot, log_hot, receipts_hot
from memtui.inbox import claims_hot, file_hot, format_hot

HOOK_SECONDS = 30.0  # a hook has logged by then, or never will: the client's time-out ends it long before
# By then the client has written to the transcript what a hook gave it.
TRACE_SECONDS = 60.0
LOCK_SECONDS = 2.0
# How long a session that ends is waited for, and how often it is looked at.
END_SECONDS = 2.0
POLL_SECONDS = 0.1
HOOK_BYTES = 1 << 20  # of a transcript that a hook reads for a claim; what that does not decide is a worker's
# The text was in a request, and nobody answered it.
MAYBE_SEEN = {receipts_hot.DROPPED, receipts_hot.BROKEN_OFF}
BACK = {receipts_hot.PREVIEWED, *receipts_hot.LOST}
SHOWN = {receipts_hot.ARRIVED, receipts_hot.PREVIEWED, *MAYBE_SEEN}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Reconciled:
    """One claim that was reconciled: the delivery, its outcome, and the ids of the entries put back into the inbox."""

    __slots__ = ("delivery_id", "outcome", "returned")

    def __init__(self, delivery_id: str, outcome: str, returned: "list[str]") -> None:
        self.delivery_id, self.outcome, self.returned = delivery_id, outcome, returned


def all_inboxes(root: str) -> "list[str]":
    return [paths_hot.inbox_dir(root, None), *[paths_hot.inbox_dir(root, slug) for slug in paths_hot.inbox_slugs(root)]]


def reconcile(
    env: "dict[str, str]",
    root: str,
    session_id: str = "",
    directories: "list[str] | None" = None,
    now: "float | None" = None,
    wait: float = LOCK_SECONDS,
    limit: "int | None" = None,
    ended: float = 0.0,
) -> "list[Reconciled]":
    """Reconcile the claims of a session, or all; later those that take over `limit` bytes, or can't be read. `ended`:
    when the session ended, in seconds since the epoch; what it was given since belongs to its resume. 0: it goes on."""
    seconds = clock_hot.now() if now is None else now
    config = paths_hot.config_dir(env)
    reconciled = []
    for directory in all_inboxes(root) if directories is None else directories:
        try:
            if file_hot.replaced_files(directory):
                with fs_hot.Lock(directory + "/" + format_hot.LOCK_NAME, wait):
                    file_hot.recover(directory)
        except OSError as error:
            if not isinstance(error, fs_hot.LockTimeoutError):
                error_log_hot.add(root, "settle", error)
        for name, delivery_id, owner, pid in file_hot.claimed(directory):
            if session_id and owner != session_state_hot.safe(session_id):
                continue
            try:
                claim = _Claim(root, directory, name, delivery_id, owner, pid)
                result = claim.reconcile(config, seconds, wait, limit, (ids_hot.id_time(delivery_id) or 1.0) <= ended)
                reconciled += [result] if result is not None else []
            except (FileNotFoundError, fs_hot.LockTimeoutError):
                continue  # another process has reconciled it, or works on the inbox
            except OSError as error:
                error_log_hot.add(root, "settle", error)
    return reconciled


def finish(env: "dict[str, str]", root: str, session_id: str, ended: float) -> None:
    """Reconcile the claims of a session that ended, once its client has written its transcript or END_SECONDS passed.
    An agent may say after every turn that its session ends."""
    owner = session_state_hot.safe(session_id)
    deadline = time.monotonic() + END_SECONDS
    while any(claim_owner == owner for inbox in all_inboxes(root) for _, _, claim_owner, _ in file_hot.claimed(inbox)):
        is_late = time.monotonic() >= deadline
        reconcile(env, root, session_id=session_id, ended=ended if is_late else 0.0)
        if is_late:
            return
        time.sleep(POLL_SECONDS)


def withdraw(env: "dict[str, str]", root: str, session_id: str) -> None:
    """Withdraw the notes that a resumed session was told of after all. For the worker. Raises OSError."""
    session = session_state_hot.safe(session_id)

    def without(source: str) -> str:
        after = []
        for entry in format_hot.parse(source):
            if entry.id in dropped:
                others = " ".join([name for name in claims_hot.told(entry) if name != session])
                fields = {**entry.fields, "told": others}
                after.append(format_hot.render({key: value for key, value in fields.items() if value}, entry.text))
            elif entry.id not in arrived:
                after.append(format_hot.standalone(entry))
        return "".join(after)

    for directory in all_inboxes(root):
        path = directory + "/" + format_hot.FILES["guidance"]
        entries = [entry for entry in format_hot.read(path) if session in claims_hot.told(entry)]
        outcomes = {entry.id: _outcomes(env, root, session_id, entry) for entry in entries}
        arrived = {name for name, receipts_of_note in outcomes.items() if receipts_hot.ARRIVED in receipts_of_note}
        dropped = {name for name, receipts in outcomes.items() if receipts == {receipts_hot.DROPPED}} - arrived
        if arrived or dropped:
            file_hot.rewrite(path, without)


def _outcomes(env: "dict[str, str]", root: str, session_id: str, entry: format_hot.Entry) -> "set[str]":
    same = {"id": entry.id, "hash": ids_hot.content_hash(entry.text)}
    records = [
        record
        for record in log_hot.newest_first(root, needle=entry.id.encode())
        if record.get("session_id") == session_id
        and any(same.items() <= {"hash": same["hash"], **item}.items() for item in log_hot.brought(record))
    ]
    return set(receipts_hot.outcomes(records, env).values())


class _Claim:
    """One claim and its record in the delivery log, None if there is none."""

    __slots__ = ("delivery_id", "directory", "name", "owner", "path", "pid", "record", "root", "size")

    def __init__(self, root: str, directory: str, name: str, delivery_id: str, owner: str, pid: int) -> None:
        self.root, self.directory, self.name = root, directory, name
        self.delivery_id, self.owner, self.pid = delivery_id, owner, pid
        self.path = f"{directory}/{format_hot.CLAIMED}/{name}"
        self.record = self._logged()
        # How many bytes of it the hook had read; what is behind was appended later.
        self.size = _row(self.record, root, directory, name) if self.record is not None else None

    def _logged(self) -> "dict[str, object] | None":
        """Return the hook's record of the delivery, which may lack this claim, or the one recovered for this claim."""
        for record in log_hot.records_of(self.root, self.delivery_id, log_hot.WITHIN_BYTES):
            if not record.get("recovered") or _row(record, self.root, self.directory, self.name) is not None:
                return record
        return None

    def reconcile(self, config: str, now: float, wait: float, limit: "int | None", ended: bool) -> "Reconciled | None":
        """Close the claim and return its outcome; None if that is not known yet. Raises OSError."""
        age = now - (ids_hot.id_time(self.delivery_id) or 0.0)
        if age < 0:
            age = HOOK_SECONDS if process_hot.alive(self.pid) else file_hot.KEPT_SECONDS  # the clock was put back
        if self.record is not None and self.size is None:
            # The hook failed to read this claim and went on without it: nothing of it was delivered.
            return self._close(receipts_hot.FAILED, None, age, wait)
        if self.record is None and age < HOOK_SECONDS and process_hot.alive(self.pid):
            return None
        state = session_state_hot.load(self.root, self.owner).values() if self.record is None else {}
        path = transcript_hot.path_of(self.record or {**state, "session_id": self.owner}, config)
        view = self._view(path or "", limit)
        if view is None:
            return None
        if self.record is None:
            outcome = self._outcome_without_record(view, age, ended)
        elif view.exists:
            outcome = receipts_hot.outcome(self.record, view, now, ended)
        else:
            outcome = self._outcome_without_transcript(age, ended)
        if outcome == receipts_hot.WAITING or not (view.whole or outcome in SHOWN):
            return None
        return self._close(outcome, view, age, wait)

    def _view(self, path: str, limit: "int | None") -> "receipts_hot.TranscriptView | None":
        """Return the view of the transcript from where it ended when the hook ran; None if `limit` is too small."""
        if not path:
            return receipts_hot.TranscriptView("")
        start: int | None
        if self.record is not None:
            start = receipts_hot.start_of(self.record)
        else:
            start = transcript_hot.recent_start(path, ids_hot.id_time(self.delivery_id) or 0.0, limit)
        return None if start is None else receipts_hot.view_from(path, start, limit, self.delivery_id)

    def _outcome_without_transcript(self, age: float, ended: bool) -> str:
        """Return the outcome of a delivery without a transcript: the Stop hook notes claims that were answered."""
        claims_noted = session_state_hot.load_part(self.root, self.owner, "stopped").get("claims")
        client = self.record.get("client") if self.record is not None else None
        if isinstance(claims_noted, list) and self.name in claims_noted:
            return receipts_hot.UNKNOWN
        if ended or process_hot.gone(client):
            return receipts_hot.DROPPED
        wait = receipts_hot.QUIET_SECONDS if client else TRACE_SECONDS
        return receipts_hot.UNKNOWN if age >= wait else receipts_hot.WAITING

    def _outcome_without_record(self, view: receipts_hot.TranscriptView, age: float, ended: bool) -> str:
        if self.delivery_id in view.outcomes:
            return view.outcomes[self.delivery_id]
        if self.delivery_id in view.pending:
            return view.at_end(self.delivery_id) if ended or age > receipts_hot.QUIET_SECONDS else receipts_hot.WAITING
        steps = view.steps
        if age < TRACE_SECONDS and not (ended or steps.call > steps.at(ids_hot.id_time(self.delivery_id) or 0.0)):
            return receipts_hot.WAITING
        return receipts_hot.FAILED if view.exists and view.records_attachments else receipts_hot.UNKNOWN

    def _close(
        self, outcome: str, view: "receipts_hot.TranscriptView | None", age: float, wait: float
    ) -> "Reconciled | None":
        """Put back what did not arrive, log the delivery, remove the claim; None if that may still grow."""
        with fs_hot.Lock(self.directory + "/" + format_hot.LOCK_NAME, wait):
            data = _read(self.path, age)
            if data is None:
                return None
            maybe_seen, is_news = outcome in MAYBE_SEEN, False
            failed: list[format_hot.Entry] = []  # delivered, but did not arrive
            others: list[format_hot.Entry] = []  # not part of this delivery
            if view is None:
                others = format_hot.parse(format_hot.decode(data))
            elif self.record is not None:
                scope, is_cut = format_hot.scope_of(self.directory), self._is_cut(outcome, view)
                items = log_hot.brought(self.record)
                delivered = {item.get("id") for item in items if item.get("scope", scope) == scope}
                if outcome in BACK or is_cut:
                    failed = [e for e in format_hot.parse(format_hot.decode(data[: self.size])) if e.id in delivered]
                others = format_hot.parse(format_hot.decode(data[self.size :]))
                maybe_seen = maybe_seen or is_cut
                is_news = outcome in receipts_hot.SETTLED and outcome != self.record.get("outcome")
            elif outcome in SHOWN:
                notes = [fields for fields, _ in _notes_in(view.text) if fields.get("delivery") == self.delivery_id]
                note_ids = {fields.get("id", "") for fields in notes}
                entries, shown = _shown_entries(format_hot.decode(data), note_ids)
                failed = shown if outcome in BACK else []
                others = [e for e in entries if all(e is not entry for entry in shown)]
            else:
                failed = format_hot.parse(format_hot.decode(data))
                maybe_seen = maybe_seen or outcome == receipts_hot.UNKNOWN
            returned = self._put_back(failed, others, outcome, maybe_seen)
            if view is not None and self.record is None and outcome in SHOWN:
                self._log_recovered(shown, view, len(data))
            if is_news and self.record is not None:
                log_hot.note_outcomes(self.root, [self.record], {self.delivery_id: outcome})
            posix.unlink(self.path)
            return Reconciled(self.delivery_id, outcome, returned)

    def _is_cut(self, outcome: str, view: receipts_hot.TranscriptView) -> bool:
        """Tell whether the transcript was cut before anything could show what became of the delivery."""
        size = receipts_hot.size_of(self.record) if self.record is not None else None
        return outcome == receipts_hot.UNKNOWN and view.exists and size is not None and size > view.size

    def _put_back(
        self, failed: "list[format_hot.Entry]", others: "list[format_hot.Entry]", outcome: str, repeat: bool
    ) -> "list[str]":
        """Append what did not arrive or was not delivered, unless it is there; return the ids of what was appended."""
        path = self.directory + "/" + format_hot.FILES["guidance"]
        if failed or others:
            # The hook, or a process that reconciled before, may have put entries back before it died.
            since = ids_hot.id_time(self.delivery_id) or 0.0
            known_ids = file_hot.known_elsewhere(self.directory, since, self.delivery_id)
            failed = file_hot.unknown_entries(failed, known_ids)
            others = file_hot.unknown_entries(others, known_ids)
        # If a person left the branch or ended the client, the note is not to blame.
        attempts = 0 if outcome in MAYBE_SEEN else 1
        session = self.owner if outcome == receipts_hot.BROKEN_OFF else ""
        retried = [_retried(e, attempts, repeat, session) for e in failed]
        text = "".join([*retried, *map(format_hot.standalone, others)])
        if text:
            file_hot.add_locked(path, text)
        else:
            fs_hot.sync(path)  # for what the hook put back
        return [e.id for e in [*failed, *others]]

    def _log_recovered(self, entries: "list[format_hot.Entry]", view: receipts_hot.TranscriptView, size: int) -> None:
        """Write the record that the hook did not write, from the claim, the transcript and the session's state."""
        seconds = ids_hot.id_time(self.delivery_id) or clock_hot.now()
        scope = format_hot.scope_of(self.directory)
        of_all = {"kind": "guidance", "scope": scope, "reason": "recovered"}
        items = [{**of_all, "id": e.id, "hash": ids_hot.content_hash(e.text)} for e in entries]
        from memtui.deliver import blocks_hot

        state = session_state_hot.load(self.root, self.owner)
        text = view.text
        if any(log_hot.records_of(self.root, self.delivery_id)):
            note_ids = {e.id for e in entries}
            text = "\n".join([block for fields, block in _notes_in(text) if fields.get("id") in note_ids])
        project = state.project or (self.directory[self.directory.rfind("/") + 1 :] if scope == "project" else "")
        claim = [self.directory[len(self.root) + 1 :], self.name, size]
        record: dict[str, object] = {"v": log_hot.VERSION, "id": self.delivery_id, "time": clock_hot.iso(seconds)}
        record |= {"event": view.event, "session_id": self.owner, "prompt_id": view.prompt_id, "transcript": view.path}
        record |= {"cwd": state.cwd, "project": project, "project_root": state.project_root, "mode": state.mode}
        record |= {"chars": blocks_hot.units(text), "text": text, "items": items, "claims": [claim], "recovered": True}
        log_hot.append(self.root, record, seconds)


def _read(path: str, age: float) -> "bytes | None":
    """Read a claimed file; None as long as a shell that opened it as guidance.md may still write to it."""
    fd = fs_hot.open_regular(path, ours=True, follow=False)
    try:
        most = fs_hot.KINDS["claim"][0]
        return fs_hot.read_fd(fd, most=most, path=path) if fs_hot.quiet(fd) or age > file_hot.KEPT_SECONDS else None
    finally:
        posix.close(fd)


def _row(record: "dict[str, object]", root: str, directory: str, name: str) -> "int | None":
    """Return how many bytes of a claimed file its hook had read; None if the record does not say."""
    claims = record.get("claims")
    for row in claims if isinstance(claims, list) else []:
        if isinstance(row, list) and len(row) == 3 and row[:2] == [directory[len(root) + 1 :], name]:
            return row[2] if isinstance(row[2], int) else None
    return None


def _retried(entry: format_hot.Entry, attempts: int, repeat: bool, session: str) -> str:
    """Render an entry that goes back, with `attempts` more; `session`: whose transcript holds it, empty for none."""
    fields = {**entry.fields, "id": entry.id}
    if attempts:
        fields["attempts"] = str(entry.count("attempts") + attempts)
    if repeat:
        fields["repeat"] = "yes"
    if session:
        fields["told"] = " ".join(dict.fromkeys([*claims_hot.told(entry), session]))
    return format_hot.render(fields, entry.text)


def _shown_entries(text: str, shown_ids: "set[str]") -> "tuple[list[format_hot.Entry], list[format_hot.Entry]]":
    """Return all entries of an unlogged claim, and those that the transcript shows; all if it shows no ids."""
    entries = format_hot.parse(text)
    rows = [e for e in entries if e.id in shown_ids]
    if entries and entries[-1].id not in shown_ids:
        parts = file_hot.parted(entries[-1], lambda head: head.id in shown_ids)
        if parts:
            return [*entries[:-1], parts[0], *parts[1]], [*rows, parts[0]]
    return entries, rows if shown_ids else entries


def _notes_in(text: str) -> "Iterator[tuple[dict[str, str], str]]":
    """Yield the attributes and the block of each note in a delivered text."""
    for piece in text.split("<memtui-guidance ")[1:]:
        block, close, _ = piece.partition("</memtui-guidance>")
        yield format_hot.parse_fields(block[: block.find(">")]), "<memtui-guidance " + block + close
