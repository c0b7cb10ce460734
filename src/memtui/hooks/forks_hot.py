"""Forks: the state that a copy of a session begins with. A fork has its parent's context, under an id of its own.

The parent is found in these ways (2.1.197 and 2.1.332, docs/hooks.md):
- `/branch`: the records of the copy name it, `forkedFrom: {sessionId, messageUuid}`;
- a start with the source `fork`: the payload says when the parent's model answered last, and how large its context is;
  the parent's transcript agrees with that;
- a new id with the first prompt of a resumed session: the start was reported under the parent's id."""

import posix

from memtui.base import clock_hot, fastjson_hot, fs_hot, paths_hot, session_state_hot
from memtui.base.session_state_hot import SessionState
from memtui.client import process_hot
from memtui.deliver import blocks_hot, session_memories_hot
from memtui.hooks.runner_hot import Hook

# The payload's time is in seconds, and is taken a while before the hook runs.
EARLY_SECONDS = 1.0
LATE_SECONDS = 10.0
HEAD_RECORDS = 50
# How far from its end a transcript is searched for its last answer.
TAIL_BYTES = 1 << 24
# What an index of ours and a compaction are found by, and how far from its end a transcript is searched.
INDEX, SUMMARY = b"<" + blocks_hot.TAGS["index"].encode(), b'"isCompactSummary":true'
INDEX_BYTES = 1 << 26
USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def path(hook: Hook) -> str:
    """Return the path of the file that says which session this client process serves."""
    return f"{hook.root}/run/client-{posix.getppid()}"


def note_session(hook: Hook, before: "dict[str, object]") -> None:
    """Note which session this client process serves, and what it knew `before` a delivery, as `state_at_prompt` reads
    it: `delivery`, its id; `tool` and `dirs` of the state; `index`, that part of it."""
    row: dict[str, object] = {"session_id": hook.session_id, "source": hook.text("source")}
    row |= {"client": process_hot.client(), **before}
    fs_hot.write_atomic(path(hook), fastjson_hot.dumps(row).encode(), durable=False)


def state_at_start(hook: Hook) -> SessionState:
    """Return the state of a session that starts as a copy of another; a new one if it is none, or of an unknown one."""
    parent = _parent_by_record(hook)
    if parent:
        # The copy's transcript is written anew, and keeps what the client would drop at a resume.
        return _state(hook, {**_copied(hook, parent), "tool": []})
    parent = _parent_by_answer(hook, hook.payload)
    return _state(hook, _copied(hook, parent) if parent else {})


def _state(hook: Hook, values: "dict[str, object]") -> SessionState:
    return SessionState(hook.root, hook.session_id, values)


def state_at_prompt(hook: Hook) -> "SessionState | None":
    """Return the state of a session first seen with a prompt; None if it is no copy, or none of a resumed one. The fork
    received what its parent was told at the start, so the parent's state goes back to before that."""
    noted = fs_hot.read_table(path(hook))
    parent = fastjson_hot.text(noted, "session_id")
    # Other agents report a copy as one, and may serve many sessions in a process.
    was_resumed = noted.get("source") == "resume" and parent not in {"", hook.session_id} and not hook.agent_name
    origin = _parent_by_record(hook)  # its start was killed before it noted anything
    if not origin and not was_resumed and not hook.agent_name:
        at, size = _last_answer(hook.text("transcript_path"))
        if at:  # without an answer it is new, and no other session's state has to be read
            row: dict[str, object] = {"seconds_since_last_response": clock_hot.now() - at, "context_tokens": size}
            origin = _parent_by_answer(hook, row)
    if origin:
        return _state(hook, {**_copied(hook, origin), **_now(hook)})
    if not was_resumed:
        # Its parent has gone on since. What it knows stands in its transcript alone.
        is_copy = has_index(hook.text("transcript_path"))
        return _state(hook, {"telling": "a parent that is not known", **_now(hook)}) if is_copy else None
    copied = _copied(hook, parent)
    delivery = noted.get("delivery")
    if delivery:
        state = session_state_hot.load(hook.root, parent)
        state.tool = [*fastjson_hot.rows(noted, "tool"), *state.tool]
        state.dirs = dict.fromkeys(fastjson_hot.table(noted, "dirs"), -1)
        state.redone.append(delivery)
        session_state_hot.save_part(hook.root, parent, "index", fastjson_hot.table(noted, "index"))
        state.save()
        note_session(hook, {})
    return _state(hook, {**copied, **_now(hook)})


def _now(hook: Hook) -> "dict[str, object]":
    now, transcript = clock_hot.iso(clock_hot.now()), hook.text("transcript_path")
    return {"started": now, "cwd": hook.text("cwd"), "transcript": transcript, "tool": []}


def _copied(hook: Hook, parent: str) -> "dict[str, object]":
    """Return the state of the parent, and copy its index and what it was given to this session."""
    lineage, state = [parent], _state_of(hook, parent)
    # A copy whose own start was killed knows what its parent knew.
    while not state:
        above = _named_parent(_transcript_beside(hook, lineage[-1]), lineage[-1])
        if not above or above in lineage:
            break
        state = _state_of(hook, above)
        lineage.append(above)
    index: dict[str, object] = {}
    for session_id in lineage:
        index = index or session_state_hot.load_part(hook.root, session_id, "index")
        session_memories_hot.copy(hook.root, session_id, hook.session_id)
    session_state_hot.save_part(hook.root, hook.session_id, "index", index)
    state.pop("started", None)
    state["copy_of"] = [*fastjson_hot.rows(state, "copy_of"), *reversed(lineage)]
    return state


def _state_of(hook: Hook, session_id: str) -> "dict[str, object]":
    state = session_state_hot.load(hook.root, session_id)
    if fs_hot.stamp(session_state_hot.path(hook.root, session_id, "missed")):
        from memtui.inbox import redelivery_hot

        redelivery_hot.take_back(hook.root, state)
        state.save()
    return state.values()


def _parent_by_record(hook: Hook) -> str:
    return _named_parent(hook.text("transcript_path"), hook.session_id)


def _transcript_beside(hook: Hook, session_id: str) -> str:
    return f"{hook.text('transcript_path').rpartition('/')[0]}/{session_id}.jsonl"


def _named_parent(path: str, session_id: str) -> str:
    from memtui.client.transcripts import transcript_hot

    try:
        for number, record in enumerate(transcript_hot.Reader(path)):
            parent = fastjson_hot.text(fastjson_hot.table(record, "forkedFrom"), "sessionId")
            if parent and parent != session_id:
                return parent
            if number > HEAD_RECORDS:
                break
    except OSError:
        pass
    return ""


def has_index(transcript: str) -> bool:
    """Return whether a transcript has an index of ours that no later compaction has dropped."""
    from memtui.base import reverse_lines_hot

    at = -1
    try:
        at = next(reverse_lines_hot.lines(transcript, needle=INDEX, within=INDEX_BYTES), (-1,))[0]
        behind = posix.stat(transcript).st_size - at
        return at >= 0 and next(reverse_lines_hot.lines(transcript, needle=SUMMARY, within=behind), (-1,))[0] < at
    except reverse_lines_hot.TooFarError:
        return at >= 0
    except OSError:
        return False


def _parent_by_answer(hook: Hook, payload: "dict[str, object]") -> str:
    """Return the session whose last answer came when the start's payload says, with that context; "" if none."""
    past, tokens = payload.get("seconds_since_last_response"), payload.get("context_tokens")
    if isinstance(past, bool) or not isinstance(past, (int, float)):
        return ""
    answered = clock_hot.now() - past
    candidates: list[tuple[float, str]] = []
    for name in paths_hot.names_in(hook.root + "/sessions"):
        session_id = name.removesuffix(".json")
        if "." in session_id or session_id == hook.session_id:
            continue
        # A session whose start was killed never noted where its transcript is.
        transcript = session_state_hot.load(hook.root, session_id).transcript or _transcript_beside(hook, session_id)
        at, size = _last_answer(transcript, answered - LATE_SECONDS)
        is_near = at and -LATE_SECONDS <= at - answered <= EARLY_SECONDS
        if is_near and (size == tokens or not isinstance(tokens, int)):
            candidates.append((abs(answered - at), session_id))
    return min(candidates)[1] if candidates else ""


def _last_answer(transcript: str, since: float = 0.0) -> "tuple[float, int]":
    """Return when the last answer in a transcript came, and its tokens with all before it; zeros for none."""
    from memtui.base import reverse_lines_hot

    try:
        if posix.stat(transcript).st_mtime < since:
            return 0.0, 0
        for _, line in reverse_lines_hot.lines(transcript, needle=b'"usage"', within=TAIL_BYTES):
            record = fastjson_hot.loads_dict(line)
            usage = fastjson_hot.table(fastjson_hot.table(record, "message"), "usage")
            at = clock_hot.parse(record.get("timestamp"))
            if record.get("type") == "assistant" and not record.get("isSidechain") and usage and at is not None:
                return at, sum([count for count in map(usage.get, USAGE) if isinstance(count, int)])
    except OSError:
        pass
    return 0.0, 0
