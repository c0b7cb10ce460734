"""Learn from use: the prompt after which the agent opened a memory becomes a trigger of it, unless that very prompt had
brought the memory. The log of deliveries says what was opened, the transcript what was asked."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from memtui.base import clock, fastjson, fs, paths
from memtui.client import locate
from memtui.client.transcripts import prompts, transcript
from memtui.deliver import log as delivery_log
from memtui.deliver.earlier_paths import EarlierPlaces
from memtui.recall import own_words, places, words
from memtui.redact.redact import redacted
from memtui.settings import config
from memtui.store import index_requests, triggers
from memtui.store.versions import moves

# How far the log was read: {"v": 1, "ends": {file: bytes}}. Without it learning begins with what was logged in the last
# FIRST_DAYS.
STATE = "run/learned.json"
VERSION = 1
FIRST_DAYS = 30
# Uses of one run: a first one may find very many.
MOST_USES = 2000
# A delivery of the same prompt is at most so much older than the use.
PROMPT_SECONDS = 12 * 3600.0
_READ = b'"action": "read"'


class Use(NamedTuple):
    """That the agent opened a memory: session, prompt (the client's id), time, path then, transcript, directory."""

    session: str
    prompt: str
    time: float
    path: str
    transcript: str
    cwd: str


def learn(env: dict[str, str], root: str) -> None:
    """Learn from what was logged since the last time. For one process at a time. Raises OSError."""
    openings, ends = _uses(root)
    by_session: dict[tuple[str, str], list[Use]] = {}
    for use in openings[-MOST_USES:]:
        by_session.setdefault((use.session, use.transcript), []).append(use)
    lessons: dict[str, dict[str, list[tuple[str, float]]]] = {}
    if by_session:
        settings, earlier = config.load(root), moves.load(root)
        for uses in by_session.values():
            if config.value(settings, paths.project_root(uses[0].cwd), "extract") is True:
                for directory, file, line, time in _lessons(env, root, earlier, uses):
                    lessons.setdefault(directory, {}).setdefault(file, []).append((line, time))
    changed = [
        f"{directory}/{file}"
        for directory, of_files in lessons.items()
        for file in triggers.note_use(root, directory, of_files)
    ]
    fs.write_atomic(f"{root}/{STATE}", fastjson.dumps({"v": VERSION, "ends": ends}).encode(), durable=False)
    index_requests.request(root, changed)


def _uses(root: str) -> tuple[list[Use], dict[str, int]]:
    """Return the uses since the last time, oldest first, and where the log ends now."""
    try:
        state = fastjson.loads_dict(fs.read(f"{root}/{STATE}", "cache"))
    except OSError:
        state = {}
    ends = state.get("ends")
    got = delivery_log.appended(root, ends) if state.get("v") == VERSION and isinstance(ends, dict) else None
    if got is not None:
        return [use for _, line in got[0] for use in _of_line(line)], got[1]
    now, oldest = delivery_log.ends(root), clock.now() - FIRST_DAYS * clock.DAY
    openings: list[Use] = []
    for _, line in delivery_log.lines(root, now):
        uses = list(_of_line(line))
        if (uses and uses[0].time < oldest) or len(openings) >= MOST_USES:
            break
        openings += uses
    return openings[::-1], now


def _of_line(line: bytes) -> Iterator[Use]:
    record = delivery_log.parse(line) if _READ in line else None
    if record is None or record.get("agent_id"):
        return
    session, prompt, path_of, cwd = (
        transcript.text_of(record.get(key)) for key in ("session_id", "prompt_id", "transcript", "cwd")
    )
    time = clock.parse(record.get("time")) or 0.0
    for item in delivery_log.brought(record):
        path = item.get("path")
        if item.get("kind") == "use" and item.get("action") == "read" and isinstance(path, str):
            yield Use(session, prompt, time, path, path_of, cwd)


def _lessons(
    env: dict[str, str], root: str, earlier: EarlierPlaces, uses: list[Use]
) -> Iterator[tuple[str, str, str, float]]:
    """Yield the triggers that the uses of one session teach: directory of memories, file in it, line, time."""
    session, path = uses[0].session, uses[0].transcript
    if not path.startswith("/") or not os.path.exists(path):
        path = transcript.find(paths.config_dir(env), session) or ""
    questions = list(prompts.of_transcript(path)) if path else []
    delivered = _given(root, session, min(other.time for other in uses)) if questions else set()
    for use in uses:
        by_id = use.prompt and any(question.id for question in questions)
        before = (
            each for each in reversed(questions) if (each.id == use.prompt if by_id else 0.0 < each.time <= use.time)
        )
        prompt, place = next(before, None), _place(env, root, earlier, use)
        if prompt is None or place is None or (use.path, prompt.id or use.prompt) in delivered:
            continue
        counted, _ = own_words.counted(prompt.text)
        line = triggers.one_line(redacted(counted)) if counted and words.tells(counted) else ""
        if line:
            yield (*place, line, use.time)


def _place(env: dict[str, str], root: str, earlier: EarlierPlaces, use: Use) -> tuple[str, str] | None:
    """Return the directory and file where an opened memory is now; None if it is gone, or is none."""
    path = earlier.now(use.path, use.time)
    if not path or not os.path.isfile(path) or not locate.is_memory_name(os.path.basename(path)):
        return None
    own = (each for _, each in places.of_session(env, use.cwd) if path.startswith(each + "/"))
    directory = next(own, None) or index_requests.indexed(root, path)
    if not directory or locate.is_set_aside(path[len(directory) + 1 :]):
        return None
    return directory, path[len(directory) + 1 :]


def _given(root: str, session: str, oldest: float) -> set[tuple[str, str]]:
    """Return (path, id of the prompt) of the memories that were recalled for prompts of a session."""
    needle = session.encode("utf-8", "replace")
    since = delivery_log.back_to(oldest - PROMPT_SECONDS)
    return {
        (str(item.get("path")), str(record.get("prompt_id")))
        for record in delivery_log.newest_first(root, needle=needle, since=since)
        if record.get("session_id") == session
        for item in delivery_log.brought(record)
        if item.get("kind") == "recall"
    }
