"""The state that a copy of a session begins with: a fork has the context of the session that it was made of, under an
id of its own.

No client says of which session. They tell it apart in these ways (2.1.197 and 2.1.330, docs/hooks.md):
- `/branch`: the session that the same client process served until then; both transcripts begin with the same record;
- a start with the source `fork`: the payload says when that session's model answered last, and how large its context
  is, and a transcript says the same;
- a new id with the first prompt of a resumed session: its start was reported under the id of that session.
"""

import posix

from memtui.core.base import clock, fastjson, fs, session_state
from memtui.hooks.runner import Hook

# The client says seconds, and says them a while before the hook runs.
EARLY_SECONDS = 1.0
LATE_SECONDS = 10.0
HEAD_RECORDS = 50
# Nobody forks what has gone on for longer since its last answer.
TAIL_BYTES = 1 << 24
USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def path(hook: Hook) -> str:
    """The file that says which session this client process serves."""
    return f"{hook.root}/run/client-{posix.getppid()}"


def mark(hook: Hook, delivery_id: str, old: "dict[str, object]", index: "dict[str, object]") -> None:
    """Note which session this client process serves, and what it knew, of the memories `index`, before it was told
    `delivery_id`, if anything."""
    found: dict[str, object] = {"session_id": hook.session_id, "source": hook.text("source")}
    if delivery_id and old:
        found |= {"delivery": delivery_id, "tool": old.get("tool"), "dirs": old.get("dirs"), "index": index}
    fs.write_atomic(path(hook), fastjson.dumps(found).encode(), durable=False)


def _marked(hook: Hook) -> "dict[str, object]":
    try:
        return fastjson.loads_dict(fs.read(path(hook), "cache"))
    except OSError:
        return {}


def started(hook: Hook) -> "dict[str, object]":
    """The state of a session that starts as a copy of another; `{}` if it is none, or of one that is not known."""
    served = _text(_marked(hook), "session_id")
    if served and served != hook.session_id and _begin_alike(hook, served):
        # Written anew, the copy holds in one row what the client would drop at a resume.
        return {**_copied(hook, served), "tool": []}
    parent = _answered_last(hook)
    return _copied(hook, parent) if parent else {}


def prompted(hook: Hook) -> "dict[str, object]":
    """The state of a session whose first sign of life is a prompt; `{}` if it is no fork of a resumed one.

    What that one was told at its start has gone to the fork, so that it knows again what it knew before."""
    found = _marked(hook)
    parent = _text(found, "session_id")
    if found.get("source") != "resume" or not parent or parent == hook.session_id:
        return {}
    known = _copied(hook, parent)
    told = found.get("delivery")
    if told:
        state = session_state.load(hook.root, parent)
        state |= {
            "tool": [*_list(found.get("tool")), *_list(state.get("tool"))],
            "dirs": dict.fromkeys(session_state.table(found, "dirs"), -1),
            "redone": [*_list(state.get("redone")), told],
        }
        session_state.save(hook.root, parent, session_state.table(found, "index"), "index")
        session_state.save(hook.root, parent, state)
        mark(hook, "", {}, {})
    return {
        **known,
        "started": clock.iso(clock.now()),
        "cwd": hook.text("cwd"),
        "transcript": hook.text("transcript_path"),
        "tool": [],
    }


def _text(found: "dict[str, object]", key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""


def _list(given: "object") -> "list[object]":
    return given if isinstance(given, list) else []


def _copied(hook: Hook, parent: str) -> "dict[str, object]":
    """The state of another session as this one's, the index among it."""
    state = session_state.load(hook.root, parent)
    if fs.stamp(session_state.path(hook.root, parent, "missed")):
        from memtui.core.inbox import resend

        state = resend.take_back(hook.root, parent, state)
        session_state.save(hook.root, parent, state)
    session_state.save(hook.root, hook.session_id, session_state.load(hook.root, parent, "index"), "index")
    state.pop("started", None)
    return state


def _begin_alike(hook: Hook, other: str) -> bool:
    mine = _first_record(hook.text("transcript_path"))
    return bool(mine) and mine == _first_record(_text(session_state.load(hook.root, other), "transcript"))


def _first_record(name: str) -> str:
    """The uuid of a transcript's first record that has one."""
    from memtui.core.client import transcript

    try:
        for number, record in enumerate(transcript.Reader(name)):
            if record.get("uuid") or number > HEAD_RECORDS:
                return _text(record, "uuid")
    except OSError:
        pass
    return ""


def _answered_last(hook: Hook) -> str:
    """The session whose model answered last when, and with a context as large as, the payload says; "" if none did."""
    past = hook.payload.get("seconds_since_last_response")
    if isinstance(past, bool) or not isinstance(past, (int, float)):
        return ""
    answered = clock.now() - past
    best: tuple[float, str] | None = None
    try:
        names = posix.listdir(hook.root + "/sessions")
    except OSError:
        return ""
    for name in names:
        session_id = name.removesuffix(".json")
        if "." in session_id or session_id == hook.session_id:
            continue
        named = _text(session_state.load(hook.root, session_id), "transcript")
        try:
            if posix.stat(named).st_mtime < answered - LATE_SECONDS:
                continue
            gap = abs(answered - _response(named, answered, hook.payload.get("context_tokens")))
        except OSError:
            continue
        if gap <= LATE_SECONDS and (best is None or gap < best[0]):
            best = (gap, session_id)
    return best[1] if best else ""


def _response(name: str, answered: float, tokens: "object") -> float:
    """When a transcript's last response came, if that was about `answered`, and its context had so many tokens or was
    compacted since; 0 otherwise. Raises OSError."""
    from memtui.core.client import transcript

    start = transcript.recent_start(name, answered - LATE_SECONDS, TAIL_BYTES)
    if start is None:
        return 0.0
    last, size = 0.0, -1
    for record in transcript.Reader(name, start, keep=lambda line: b'"assistant"' in line or b"ompact" in line):
        if record.get("isSidechain"):
            continue
        message = record.get("message")
        usage = message.get("usage") if isinstance(message, dict) else None
        if record.get("isCompactSummary") or record.get("subtype") == "compact_boundary":
            size = -1
        elif record.get("type") == "assistant" and isinstance(usage, dict):
            last = clock.parse(record.get("timestamp")) or 0.0
            size = sum([count for count in map(usage.get, USAGE) if isinstance(count, int)])
    fits = size < 0 or not isinstance(tokens, int) or size == tokens
    return last if fits and -LATE_SECONDS <= last - answered <= EARLY_SECONDS else 0.0
