"""Lists and indexes that did not arrive: noted by the worker when a turn ends, given again with the next prompt.

Guidance has its own way back (reconcile.py). What a session knows of drafts, items and memories is only a belief
until the transcript proves it; here the belief is taken back where the transcript proves the contrary. That holds also
for what arrived once, and stands on a branch of the conversation that the person has left since (`/rewind`).
"""

from memtui.core.base import backwards, clock, fastjson, fs, paths, session_state
from memtui.core.client import transcript
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts, steps

LOST = {receipts.PREVIEWED, *receipts.LOST}
NO_RECORD = "-"
LISTS = {"pending-update", "pending-item", "index"}


def note(env: "dict[str, str]", root: str, session_id: str) -> "list[str]":
    """Write down which deliveries of a session brought a list that did not arrive; their ids. Raises OSError.

    For the worker: reads the log back to the session's start, and its transcript.
    """
    state = session_state.load(root, session_id)
    begun = clock.parse(state.get("started"))
    if begun is None:
        return []
    done = _names(state, "redone")
    records = [
        record
        for record in delivery_log.newest_first(
            root, needle=session_id.encode(), since=delivery_log.back_to(begun) - 1.0, within=delivery_log.WITHIN_BYTES
        )
        if record.get("session_id") == session_id and record.get("id") not in done and _lists(record)
    ]
    if not records:
        return []
    names = {str(record["id"]) for record in records}
    # What a worker found out before: the last record of the conversation then, and what had arrived.
    before = session_state.load(root, session_id, "tip")
    arrived = names & _names(before, "arrived")
    path = transcript.path_of({**state, "session_id": session_id}, paths.config_dir(env)) or ""
    outcomes = _outcomes(env, path, [record for record in records if record["id"] not in arrived])
    arrived |= {name for name, outcome in outcomes.items() if outcome == receipts.ARRIVED}
    left = left_behind(path, names, transcript.text_of(before.get("uuid")))
    lost = {name for name, outcome in outcomes.items() if outcome in LOST} | left.names
    if lost:
        lost |= _names(session_state.load(root, session_id, "missed"), "ids")
        session_state.save(root, session_id, {"ids": sorted(lost)}, "missed")
    if left.tip:
        session_state.save(root, session_id, {"uuid": left.tip, "arrived": sorted(arrived)}, "tip")
    return sorted(lost)


def _names(state: "dict[str, object]", key: str) -> "set[str]":
    found = state.get(key)
    return {str(each) for each in found} if isinstance(found, list) else set()


def _outcomes(env: "dict[str, str]", path: str, records: "list[dict[str, object]]") -> "dict[str, str]":
    """The outcomes of some deliveries of a session, by its transcript from where the first of them was made."""
    starts = [steps.size_of(record) for record in records]
    views = {}
    if path and starts and None not in starts:
        view = receipts.view_from(path, min([start for start in starts if start is not None]))
        views = {path: view} if view is not None else {}
    return receipts.outcomes(records, env, views=views)


class Left:
    """The deliveries that stand on no branch of the conversation any more, and the conversation's last record."""

    __slots__ = ("names", "tip")

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.tip = ""


def left_behind(path: str, names: "set[str]", known: str) -> Left:
    """Which of some deliveries the conversation has gone on without, by the records from its last one upwards.

    `known`: a record that stood on the branch when it was looked at before; what is above it is the same since, so that
    a long transcript is read back only to there. What a compaction summed up was not left.
    """
    found = Left()
    wanted = ""
    missing = set(names)
    try:
        for _, line in backwards.lines(path, longest=-1):
            given = {name for name in missing if name.encode() in line} if b"hook_additional_context" in line else set()
            if not given and (wanted.encode() not in line or b'"uuid"' not in line):
                continue
            record = fastjson.loads_dict(line)
            uuid = transcript.text_of(record.get("uuid"))
            if "parentUuid" not in record or not uuid or record.get("isSidechain"):
                continue
            on_branch = not wanted or uuid == wanted
            if on_branch:
                found.tip = found.tip or uuid
                if uuid == known or record.get("subtype") == "compact_boundary":
                    break
                wanted = transcript.text_of(record.get("parentUuid")) or NO_RECORD
            for text in transcript.attachment_texts(transcript.attachment(record)) if given else ():
                told = given.intersection(receipts.delivery_ids(text))
                missing -= told
                found.names |= set() if on_branch else told
            if not missing:
                break
    except OSError:
        return Left()
    return found


def _lists(record: "dict[str, object]") -> "list[dict[str, object]]":
    items = record.get("items")
    found = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return [item for item in found if item.get("kind") in LISTS and not item.get("left_out")]


def take_back(root: str, session_id: str, state: "dict[str, object]") -> "dict[str, object]":
    """The state of a session without what it was thought to know and did not get.

    The note goes once the state that heeds it is kept: a hook can be killed before. Raises OSError where the log can't
    tell what was lost."""
    heeded = sorted(_names(state, "redone"))
    lost = _names(session_state.load(root, session_id, "missed"), "ids") - {*heeded}
    if not lost:
        try:
            fs.unlink(session_state.path(root, session_id, "missed"))
        except OSError:
            pass  # in nobody's way
        return state
    after = dict(state)
    after["redone"] = [*heeded, *sorted(lost)]
    begun = clock.parse(state.get("started"))
    since, within = delivery_log.back_to(begun or 0.0) - 1.0, delivery_log.WITHIN_BYTES
    for record in delivery_log.newest_first(root, needle=session_id.encode(), since=since, within=within):
        if record.get("id") not in lost:
            continue
        lost.discard(record.get("id"))
        for item in _lists(record):
            _forget(root, session_id, after, item)
        if not lost:
            break
    return after


def _forget(root: str, session_id: str, after: "dict[str, object]", item: "dict[str, object]") -> None:
    scope = str(item.get("scope"))
    kind = item.get("kind")
    if kind == "pending-item":
        after["prompted"] = False
    elif kind == "pending-update":
        known = session_state.table(after, "updates")
        session_state.table(known, scope).pop(str(item.get("id")), None)
        after["stamps"] = {**session_state.table(after, "stamps"), scope: -1}
    else:
        lines = session_state.table(session_state.load(root, session_id, "index"), "lines")
        path = str(item.get("path"))
        for file in [name for name in session_state.table(lines, scope) if path.endswith("/" + name)]:
            del session_state.table(lines, scope)[file]
        session_state.save(root, session_id, {"lines": lines}, "index")
        # No directory has this time: the next prompt looks at all of them.
        after["dirs"] = dict.fromkeys(session_state.table(after, "dirs"), -1)
