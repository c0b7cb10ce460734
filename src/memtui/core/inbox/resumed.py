"""Notes whose answer was broken off, once their session has been resumed: what its model has answered since leaves the
inbox; what it went on without may come to it again."""

import functools

from memtui.core.base import ids, session_state
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts
from memtui.core.inbox import claims, reconcile
from memtui.core.inbox import file as inbox_file
from memtui.core.inbox import format as inbox_format


def withdraw(env: "dict[str, str]", root: str, session_id: str) -> None:
    """Withdraw from all inboxes the notes that a session was told of after all. Raises OSError.

    For the worker: where such a note waits it searches the log, and reads the session's transcript."""
    session = session_state.safe(session_id)
    for directory in reconcile.all_inboxes(root):
        path = directory + "/" + inbox_format.FILES["guidance"]
        outcomes = {
            entry.id: _outcomes(env, root, session_id, entry)
            for entry in inbox_format.read(path)
            if session in claims.told(entry)
        }
        arrived = {name for name, found in outcomes.items() if receipts.ARRIVED in found}
        left = {name for name, found in outcomes.items() if found == {receipts.DROPPED}} - arrived
        if arrived or left:
            inbox_file.rewrite(path, functools.partial(_without, gone=arrived, free=left, session=session))


def _outcomes(env: "dict[str, str]", root: str, session_id: str, entry: inbox_format.Entry) -> "set[str]":
    """Return what became of the deliveries that told a session of an entry as it is now."""
    same = {"id": entry.id, "hash": ids.content_hash(entry.text)}
    records = [
        record
        for record in delivery_log.newest_first(root, needle=entry.id.encode())
        if record.get("session_id") == session_id
        and any(same.items() <= {"hash": same["hash"], **item}.items() for item in delivery_log.brought(record))
    ]
    return set(receipts.outcomes(records, env).values())


def _without(source: str, gone: "set[str]", free: "set[str]", session: str) -> str:
    """Return the text of an inbox without the notes that are `gone`. Those that are `free` name the session no more."""
    after = []
    for entry in inbox_format.parse(source):
        if entry.id in free:
            fields = {**entry.fields, "told": " ".join([name for name in claims.told(entry) if name != session])}
            after.append(inbox_format.render({key: value for key, value in fields.items() if value}, entry.text))
        elif entry.id not in gone:
            after.append(inbox_format.standalone(entry))
    return "".join(after)
