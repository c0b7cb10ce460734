"""Extraction: read the new part of a session's transcript, and leave drafts and open items in the inboxes."""

import time
from collections.abc import Iterable

from memtui.base import fastjson_hot, fs_hot, paths_hot, session_state_hot
from memtui.client.agents import agents_hot
from memtui.client.transcripts import transcript_hot
from memtui.client.transcripts.conversation import Conversation, normalised, note_position, position
from memtui.deliver import error_log_hot
from memtui.inbox import format_hot
from memtui.learn import classifier, inbox_writer, signals, unfinished_work
from memtui.redact.redact import redacted
from memtui.settings import config_hot
from memtui.worker import recall_uses

# Seconds to wait for another worker of the session, for the turn's last message, and for a transcript to stay the same.
LOCK_SECONDS, TURN_SECONDS, QUIET_SECONDS = 20.0, 3.0, 1.0
POLL_SECONDS = 0.05
TAIL_BYTES = 1 << 18  # how far from its end a transcript is searched for the turn's last message
READ_SECONDS = 30.0  # how long one worker reads a transcript; the next one reads on from there
HELD_TURNS = 200  # turns kept in memory at once; drafts are made of earlier ones while the reading goes on


def extract(env: dict[str, str], root: str, payload: dict[str, object], session_id: str) -> None:
    """Read what is new in the session that a hook's payload names, unless the settings of its project turn this off."""
    path = transcript_hot.text_of(payload.get("transcript_path"))
    if not session_id or not path.startswith("/") or payload.get("agent_id"):
        return
    cwd = paths_hot.started_in(env, transcript_hot.text_of(payload.get("cwd")))
    settings = config_hot.load(root)
    if config_hot.value(settings, paths_hot.project_root(cwd), "extract") is not True:
        return
    with fs_hot.Lock(f"{root}/run/worker-{session_state_hot.safe(session_id)}.lock", LOCK_SECONDS):
        last = transcript_hot.text_of(payload.get("last_assistant_message"))
        if not (wait_for_turn(path, last) or last or agents_hot.exists(path)):
            return  # a session that ended before its first prompt has no transcript
        _read_session(env, cwd, session_id, path, last, config_hot.fraction(settings, "extract_confidence"))


def wait_for_turn(path: str, last: str) -> bool:
    """Wait until the transcript has the turn's `last` message, or if that is empty keeps its size; False in vain."""
    deadline = time.monotonic() + (TURN_SECONDS if last else QUIET_SECONDS)
    size = -1
    while True:
        try:
            new_size = agents_hot.status(path)[0]
        except OSError:
            new_size = -1
        if not last and new_size == size and new_size >= 0:
            return True
        if last and new_size != size and new_size >= 0 and _ends_with(path, new_size, last):
            return True
        size = new_size
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS if last else 2 * POLL_SECONDS)


def _ends_with(path: str, size: int, last: str) -> bool:
    text = ""
    try:
        for record in transcript_hot.Reader(path, max(0, size - TAIL_BYTES)):
            if record.get("type") == "assistant" and not record.get("isSidechain"):
                texts = [transcript_hot.text_of(block.get("text")) for block in transcript_hot.blocks(record)]
                text = "\n\n".join([other for other in texts if other.strip()]).strip() or text
    except OSError:
        return False
    # A message of several records ends with the text of the last one.
    return bool(text) and (last.strip().endswith(text) or text.endswith(last.strip()))


def _read_session(env: dict[str, str], cwd: str, session_id: str, path: str, last: str, threshold: float) -> None:
    """Read what is new in a session's transcript; write drafts of at least `threshold`, and items. Raises OSError."""
    root = paths_hot.root(env)
    cursor = session_state_hot.load_part(root, session_id, "cursor")
    # Under --no-session-persistence or CLAUDE_CODE_SKIP_PROMPT_HISTORY there is no transcript.
    is_kept = agents_hot.exists(path)
    start = position(cursor, path) if is_kept else 0
    state = cursor.get("state") if start else None
    conversation = Conversation(state if isinstance(state, dict) else None, redacted, signals.asks)
    reader = transcript_hot.Reader(path, start)
    records = (reader if start else transcript_hot.in_order(reader)) if is_kept else ()
    judge = None
    try:
        judge = classifier.shipped()
    except (OSError, ValueError) as problem:
        error_log_hot.add(root, "extract", problem)  # its table can't be read: the rules judge alone
    drafts, repeats = _drafts(records, conversation, judge)
    if last.strip():
        conversation.last_message = redacted(last)
    # Who has to say what a memory says was not listened to; it is no draft.
    recall_uses.note_corrections(root, session_id, cwd, [*drafts, *repeats])
    new = [draft for draft in drafts if not conversation.was_injected(draft.description)]
    inbox_writer.withdraw_saved(env, cwd, session_id)
    inbox_writer.write_drafts(env, cwd, new, threshold)
    inbox_writer.write_items(env, cwd, session_id, _open_items(root, cwd, conversation))
    if is_kept:
        noted = note_position(path, reader.offset)
        note = {"v": session_state_hot.VERSION, "path": path, **noted, "state": conversation.to_state()}
        file = session_state_hot.path(root, session_id, "cursor")
        fs_hot.write_atomic(file, fastjson_hot.dumps(note).encode(), durable=False)


def _drafts(
    records: Iterable[dict[str, object]], conversation: Conversation, judge: classifier.Classifier | None
) -> tuple[list[signals.Signal], list[signals.Signal]]:
    """Return the drafts of what the person said, and of turns in which they repeated what hooks had given."""
    until = time.monotonic() + READ_SECONDS
    drafts: list[signals.Signal] = []
    repeats: list[signals.Signal] = []

    def take() -> None:
        turns = conversation.turns
        own = list(map(conversation.own, turns))
        drafts.extend(classifier.drafts(own, judge))
        repeats.extend(classifier.drafts([a for a, b in zip(turns, own, strict=True) if a is not b], judge))

    for record in records:
        conversation.feed(record)
        if time.monotonic() > until:
            break
        if len(conversation.turns) > HELD_TURNS:
            take()
            conversation.turns.clear()
    take()
    return drafts, repeats


def _open_items(root: str, cwd: str, conversation: Conversation) -> list[str]:
    """List the texts of unfinished work. One that a hook told the agent counts only while it is an open item still."""
    texts = unfinished_work.open_items(conversation)
    if not any(conversation.was_injected(text) for text in texts):
        return texts
    inbox = paths_hot.inbox_dir(root, paths_hot.project_key(paths_hot.project_root(cwd)))
    path = f"{inbox}/{format_hot.FILES['items']}"
    todos = {normalised(entry.text) for entry in format_hot.read(path, items=True)}
    return [t for t in texts if normalised(t) in todos or not conversation.was_injected(t)]
