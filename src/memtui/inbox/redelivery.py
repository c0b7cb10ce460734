"""Resend lists and indexes that did not arrive: the worker forgets that a session has them, the next prompt tells."""

from memtui.base import clock, fastjson, fs, paths, reverse_lines, session_state
from memtui.client.transcripts import transcript
from memtui.deliver import log as delivery_log
from memtui.deliver import receipts, session_memories, steps

# What was broken off is in the context again when the session is resumed.
LOST = {receipts.PREVIEWED, *receipts.LOST} - {receipts.BROKEN_OFF}
# Stands for the parent of a transcript's first record.
NO_RECORD = "-"
LISTS = {"pending-update", "pending-item", "index", "block"}
# Memories that a session was given whole.
MEMORIES = {"recall", "memory"}


def note(env: "dict[str, str]", root: str, session_id: str) -> "list[str]":
    """Note what became of a session's deliveries; return those with a list that did not arrive. Raises OSError."""
    state = session_state.load(root, session_id)
    begun = clock.parse(state.started)
    if begun is None:
        return []
    records = [
        record
        for record in delivery_log.newest_first(
            root, needle=session_id.encode(), since=delivery_log.back_to(begun) - 1.0, within=delivery_log.WITHIN_BYTES
        )
        if record.get("session_id") == session_id and record.get("text")
    ]
    path = transcript.path_of({**state.values(), "session_id": session_id}, paths.config_dir(env)) or ""
    outcomes = _note_outcomes(env, root, path, records)
    names = {str(record["id"]) for record in records if record.get("id") not in state.redone and _lists(record)}
    if not names:
        return []
    # As an earlier worker found it: the last record of the conversation then.
    before = session_state.load_part(root, session_id, "tip")
    other = left_behind(path, names, transcript.text_of(before.get("uuid")))
    lost = {name for name in names if outcomes.get(name) in LOST} | other.names
    if lost:
        lost |= _names(session_state.load_part(root, session_id, "missed"), "ids")
        session_state.save_part(root, session_id, "missed", {"ids": sorted(lost)})
    if other.tip:
        session_state.save_part(root, session_id, "tip", {"uuid": other.tip})
    return sorted(lost)


def _names(state: "dict[str, object]", key: str) -> "set[str]":
    value = state.get(key)
    return {str(name) for name in value} if isinstance(value, list) else set()


def _note_outcomes(env: "dict[str, str]", root: str, path: str, records: "list[dict[str, object]]") -> "dict[str, str]":
    """Return the outcomes of a session's deliveries by its transcript, and note in the log those that are known now."""
    starts = [steps.size_of(record) for record in records if record.get("outcome") not in receipts.GOT]
    views = {}
    if path and starts and None not in starts:
        view = receipts.view_from(path, min([start for start in starts if start is not None]))
        views = {path: view} if view is not None else {}
    outcomes = receipts.outcomes(records, env, views=views)
    fresh = [record for record in records if outcomes[str(record["id"])] not in {record.get("outcome"), *receipts.OPEN}]
    delivery_log.note_outcomes(root, fresh, {str(record["id"]): outcomes[str(record["id"])] for record in fresh})
    return outcomes


class Left:
    """The deliveries that are not on the conversation's branch any more; and `tip`, the uuid of its last record."""

    __slots__ = ("names", "tip")

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.tip = ""


def left_behind(path: str, names: "set[str]", earlier: str) -> Left:
    """Find deliveries off the conversation's branch, by its records from the last up to `earlier`, its last end."""
    other = Left()
    until = ""
    missing = set(names)
    try:
        for _, line in reverse_lines.lines(path, longest=-1):
            mentioned = (
                {name for name in missing if name.encode() in line} if b"hook_additional_context" in line else set()
            )
            if not mentioned and (until.encode() not in line or b'"uuid"' not in line):
                continue
            record = fastjson.loads_dict(line)
            uuid = transcript.text_of(record.get("uuid"))
            if "parentUuid" not in record or not uuid or record.get("isSidechain"):
                continue
            on_branch = not until or uuid == until
            if on_branch:
                other.tip = other.tip or uuid
                if uuid == earlier or record.get("subtype") == "compact_boundary":
                    break
                until = transcript.text_of(record.get("parentUuid")) or NO_RECORD
            for text in transcript.attachment_texts(transcript.attachment(record)) if mentioned else ():
                in_text = mentioned.intersection(receipts.delivery_ids(text))
                missing -= in_text
                other.names |= set() if on_branch else in_text
            if not missing:
                break
    except OSError:
        return Left()
    return other


def _lists(record: "dict[str, object]") -> "list[dict[str, object]]":
    return [item for item in delivery_log.brought(record) if item.get("kind") in {*LISTS, *MEMORIES}]


def take_back(root: str, state: session_state.SessionState) -> None:
    """Take the lists that did not arrive out of a session's state. Raises OSError if the log is not whole."""
    session_id = state.session_id
    lost = _names(session_state.load_part(root, session_id, "missed"), "ids").difference(map(str, state.redone))
    if not lost:
        try:
            fs.unlink(session_state.path(root, session_id, "missed"))
        except OSError:
            pass  # it does no harm
        return
    redone = state.redone
    state.redone = [*redone, *sorted(lost)]
    begun = clock.parse(state.started)
    since, within = delivery_log.back_to(begun or 0.0) - 1.0, delivery_log.WITHIN_BYTES
    told_since: list[list[str]] = []
    for record in delivery_log.newest_first(root, needle=session_id.encode(), since=since, within=within):
        name = record.get("id")
        if name in redone or record.get("session_id") != session_id:
            continue
        for item in _lists(record):
            what = [str(item.get(key)) for key in ("kind", "scope", "id", "path")]
            if name in lost and what not in told_since:
                state.forget(item)
                _forget_memory(root, state, item)
                if item.get("repeat"):
                    state.telling = str(name)
            elif name not in lost and item.get("reason") != "changed":  # that says how it differs
                told_since.append(what)
        lost.discard(str(name))
        if not lost:
            break


def _forget_memory(root: str, state: session_state.SessionState, item: "dict[str, object]") -> None:
    """Note that a session does not know a memory, by an item of the log that tells of it."""
    scope, path = str(item.get("scope")), str(item.get("path"))
    if item.get("kind") in MEMORIES:
        with session_memories.lock(root, state.session_id):
            session_memories.SessionMemories(root, state.session_id).forget([path])
    elif item.get("kind") == "index":
        lines = fastjson.table(session_state.load_part(root, state.session_id, "index"), "lines")
        for file in [name for name in fastjson.table(lines, scope) if path.endswith("/" + name)]:
            del fastjson.table(lines, scope)[file]
        session_state.save_part(root, state.session_id, "index", {"lines": lines})
        # No directory has this time: the next prompt looks at all of them.
        state.dirs = dict.fromkeys(state.dirs, -1)
