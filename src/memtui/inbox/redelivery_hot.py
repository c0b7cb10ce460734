"""Resend lists and indexes that did not arrive: the worker forgets that a session has them, the next prompt tells."""

from memtui.base import clock_hot, fastjson_hot, fs_hot, paths_hot, reverse_lines_hot, session_state_hot
from memtui.client.agents import agents_hot
from memtui.client.transcripts import transcript_hot
from memtui.deliver import log_hot, receipts_hot, session_memories_hot

# What was broken off is in the context again when the session is resumed.
LOST = {receipts_hot.PREVIEWED, *receipts_hot.LOST} - {receipts_hot.BROKEN_OFF}
# Stands for the parent of a transcript's first record.
NO_RECORD = "-"
LISTS = {"pending-update", "pending-item", "index", "block"}
MEMORIES = {"recall", "memory"}  # memories that a session was given whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memtui.client.agents.agent_hot import Agent


def note(env: "dict[str, str]", root: str, session_id: str) -> "list[str]":
    """Note what became of a session's deliveries; return those with a list that did not arrive. Raises OSError."""
    state = session_state_hot.load(root, session_id)
    if clock_hot.parse(state.started) is None:
        return []
    records = [record for record in _records(root, state) if record.get("text")]
    path = transcript_hot.path_of({**state.values(), "session_id": session_id}, paths_hot.config_dir(env)) or ""
    outcomes = _note_outcomes(env, root, path, records)
    names = {str(record["id"]) for record in records if record.get("id") not in state.redone and _lists(record)}
    if not names:
        return []
    # As an earlier worker found it: the last record of the conversation then.
    before = session_state_hot.load_part(root, session_id, "tip")
    others, tip = left_behind(path, names, transcript_hot.text_of(before.get("uuid")))
    lost = {name for name in names if outcomes.get(name) in LOST} | others
    if lost:
        lost |= _missed(root, session_id)
        session_state_hot.save_part(root, session_id, "missed", {"ids": sorted(lost)})
    if tip:
        session_state_hot.save_part(root, session_id, "tip", {"uuid": tip})
    return sorted(lost)


def note_cut(agent: "Agent", root: str, session_id: str, path: str) -> None:
    """Note the lists that a session of another agent no longer has, since it goes on from an earlier place."""
    state = session_state_hot.load(root, session_id)
    lost = agent.cut_off(path, [record for record in _records(root, state) if _lists(record)])
    if lost:
        session_state_hot.save_part(root, session_id, "missed", {"ids": sorted(lost | _missed(root, session_id))})


def _missed(root: str, session_id: str) -> "set[str]":
    return set(map(str, fastjson_hot.rows(session_state_hot.load_part(root, session_id, "missed"), "ids")))


def _records(root: str, state: session_state_hot.SessionState) -> "Iterator[dict[str, object]]":
    """Yield the records of a session since its start, newest first. Raises OSError if the log is not whole."""
    since, needle = log_hot.back_to(clock_hot.parse(state.started) or 0.0) - 1.0, state.session_id.encode()
    for record in log_hot.newest_first(root, needle=needle, since=since, within=log_hot.WITHIN_BYTES):
        if record.get("session_id") == state.session_id:
            yield record


def _note_outcomes(env: "dict[str, str]", root: str, path: str, records: "list[dict[str, object]]") -> "dict[str, str]":
    """Return the outcomes of a session's deliveries by its transcript, and note in the log those that are known now."""
    starts = [receipts_hot.start_of(record) for record in records if record.get("outcome") not in receipts_hot.GOT]
    view = receipts_hot.view_from(path, min(starts)) if path and starts else None
    outcomes = receipts_hot.outcomes(records, env, views={} if view is None else {path: view})
    fresh = [row for row in records if outcomes[str(row["id"])] not in {row.get("outcome"), *receipts_hot.OPEN}]
    log_hot.note_outcomes(root, fresh, {str(record["id"]): outcomes[str(record["id"])] for record in fresh})
    return outcomes


def left_behind(path: str, names: "set[str]", earlier: str) -> "tuple[set[str], str]":
    """Find the deliveries that are off the conversation's branch; return them, and the uuid of its last record now."""
    off_branch: set[str] = set()
    tip = until = ""
    missing = set(names)
    agent = agents_hot.of_session(path)
    translate = agent.translator() if agent is not None else None
    try:
        for _, line in reverse_lines_hot.lines(path, longest=-1):
            has_context = agent is not None or b"hook_additional_context" in line
            mentioned = {name for name in missing if name.encode() in line} if has_context else set()
            if not mentioned and (until.encode() not in line or b'"uuid"' not in line):
                continue
            record = (transcript_hot.parse_line(line) or [{}])[-1]
            uuid = transcript_hot.text_of(record.get("uuid"))
            if "parentUuid" not in record or not uuid or record.get("isSidechain"):
                continue
            on_branch = not until or uuid == until
            parts = translate(record, 0) if translate is not None else [record]
            if on_branch:
                tip = tip or uuid
                if uuid == earlier or "compact_boundary" in [part.get("subtype") for part in parts]:
                    break
                until = transcript_hot.text_of(record.get("parentUuid")) or NO_RECORD
            texts = [transcript_hot.attachment_texts(transcript_hot.attachment(part)) for part in parts if mentioned]
            for text in [text for group in texts for text in group]:
                in_text = mentioned.intersection(receipts_hot.delivery_ids(text))
                missing -= in_text
                off_branch |= set() if on_branch else in_text
            if not missing:
                break
    except OSError:
        return set(), ""
    return off_branch, tip


def _lists(record: "dict[str, object]") -> "list[dict[str, object]]":
    return [item for item in log_hot.brought(record) if item.get("kind") in {*LISTS, *MEMORIES}]


def take_back(root: str, state: session_state_hot.SessionState) -> None:
    """Take the lists that did not arrive out of a session's state. Raises OSError if the log is not whole."""
    session_id = state.session_id
    lost = _missed(root, session_id).difference(map(str, state.redone))
    if not lost:
        try:
            fs_hot.unlink(session_state_hot.path(root, session_id, "missed"))
        except OSError:
            pass  # it does no harm
        return
    redone = state.redone
    state.redone = [*redone, *sorted(lost)]
    told_since: list[list[str]] = []
    for record in _records(root, state):
        name = record.get("id")
        for item in _lists(record) if name not in redone else ():
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


def _forget_memory(root: str, state: session_state_hot.SessionState, item: "dict[str, object]") -> None:
    """Note that a session does not know a memory, by an item of the log that tells of it."""
    scope, path = str(item.get("scope")), str(item.get("path"))
    if item.get("kind") in MEMORIES:
        with session_memories_hot.lock(root, state.session_id):
            session_memories_hot.SessionMemories(root, state.session_id).forget([path])
    elif item.get("kind") == "index":
        lines = fastjson_hot.table(session_state_hot.load_part(root, state.session_id, "index"), "lines")
        for file in [name for name in fastjson_hot.table(lines, scope) if path.endswith("/" + name)]:
            del fastjson_hot.table(lines, scope)[file]
        session_state_hot.save_part(root, state.session_id, "index", {"lines": lines})
        # No directory has this time: the next prompt looks at all of them.
        state.dirs = dict.fromkeys(state.dirs, -1)
