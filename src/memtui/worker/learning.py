"""Learn from use: the prompt after which the agent opened a memory becomes a trigger of it.

A memory that was delivered with that very prompt needs no trigger for it. The log of deliveries says what was opened,
the transcript what was asked.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from memtui.core.base import clock, fastjson, fs, paths
from memtui.core.client import prompts, transcript
from memtui.core.client.prompts import Prompt
from memtui.core.deliveries import log as delivery_log
from memtui.core.memories import moved, triggers
from memtui.core.places import locate, reindexing
from memtui.core.redaction.redact import redact
from memtui.core.settings import config
from memtui.recall import own_words, places, words

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
    """That the agent opened a memory: in which session, after which prompt (the client's id), when (seconds since the
    epoch), its path then, the transcript and the working directory of the session."""

    session: str
    prompt: str
    time: float
    path: str
    transcript: str
    cwd: str


def learn(env: dict[str, str], root: str) -> None:
    """Learn from what was logged since the last time. For one process at a time. Raises OSError."""
    found, ends = _uses(root)
    changed = _from(env, root, found) if found else []
    fs.write_atomic(f"{root}/{STATE}", fastjson.dumps({"v": VERSION, "ends": ends}).encode(), durable=False)
    reindexing.request(root, changed)


def _from(env: dict[str, str], root: str, found: list[Use]) -> list[str]:
    """Learn from uses; return the paths of the memories that have other triggers now. Raises OSError."""
    by_session: dict[tuple[str, str], list[Use]] = {}
    for each in found[-MOST_USES:]:
        by_session.setdefault((each.session, each.transcript), []).append(each)
    settings = config.load(root)
    lessons = _Lessons(env, root)
    for (session, path), uses in by_session.items():
        if config.value(settings, paths.project_root(uses[0].cwd), "extract") is True:
            lessons.take(session, path, uses)
    return lessons.note()


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
    now = delivery_log.ends(root)
    found = []
    for _, line in delivery_log.lines(root, now):
        record = delivery_log.parse(line) if _READ in line else None
        if record is not None and (clock.parse(record.get("time")) or 0.0) < clock.now() - FIRST_DAYS * clock.DAY:
            break
        found += list(_of_line(line))
        if len(found) >= MOST_USES:
            break
    return found[::-1], now


def _of_line(line: bytes) -> Iterator[Use]:
    record = delivery_log.parse(line) if _READ in line else None
    if record is None or record.get("agent_id"):
        return
    words = [transcript.text_of(record.get(key)) for key in ("session_id", "prompt_id", "transcript", "cwd")]
    time = clock.parse(record.get("time")) or 0.0
    for item in delivery_log.brought(record):
        path = item.get("path")
        if item.get("kind") == "use" and item.get("action") == "read" and isinstance(path, str):
            yield Use(words[0], words[1], time, path, words[2], words[3])


class _Lessons:
    """What is learned, by directory of memories and file, before it is written."""

    def __init__(self, env: dict[str, str], root: str) -> None:
        self._env, self._root = env, root
        self._earlier = moved.load(root)
        self._asked: dict[str, dict[str, list[tuple[str, float]]]] = {}

    def take(self, session: str, path: str, uses: list[Use]) -> None:
        """Learn from the uses of one session."""
        if not path.startswith("/") or not os.path.exists(path):
            path = transcript.find(paths.config_dir(self._env), session) or ""
        asked = list(prompts.of_transcript(path)) if path else []
        if not asked:
            return
        given = _given(self._root, session, min(each.time for each in uses))
        for use in uses:
            at = _prompt_of(asked, use)
            place = self._place(use)
            if at < 0 or place is None:
                continue
            directory, file = place
            line = _trigger(asked[at].text)
            if line and (use.path, asked[at].id or use.prompt) not in given:
                self._asked.setdefault(directory, {}).setdefault(file, []).append((line, use.time))

    def _place(self, use: Use) -> tuple[str, str] | None:
        """Return the directory of memories and the file in it of an opened memory, where it is now; None if it is gone,
        or is none."""
        path = self._earlier.now(use.path, use.time)
        if not path or not os.path.isfile(path) or not locate.is_memory_name(os.path.basename(path)):
            return None
        own = (each for _, each in places.of_session(self._env, use.cwd) if path.startswith(each + "/"))
        directory = next(own, None) or reindexing.indexed(self._root, path)
        if not directory or locate.is_set_aside(path[len(directory) + 1 :]):
            return None
        return directory, path[len(directory) + 1 :]

    def note(self) -> list[str]:
        """Write what was learned; return the paths of the memories that have other triggers now. Raises OSError."""
        found = []
        for directory, lessons in self._asked.items():
            changed = triggers.note_use(self._root, directory, lessons)
            found += [f"{directory}/{file}" for file in changed]
        return found


def _prompt_of(asked: list[Prompt], use: Use) -> int:
    """Return the place of the prompt after which a memory was opened; -1 if it is not there."""
    if use.prompt and any(each.id for each in asked):
        return next((at for at in range(len(asked) - 1, -1, -1) if asked[at].id == use.prompt), -1)
    return next((at for at in range(len(asked) - 1, -1, -1) if 0.0 < asked[at].time <= use.time), -1)


def _trigger(text: str) -> str:
    """Return what a prompt asked for, as a line without secrets; empty if it says too little."""
    counted, _ = own_words.counted(text)
    return triggers.one_line(redact(counted)[0]) if counted and words.tells(counted) else ""


def _given(root: str, session: str, oldest: float) -> set[tuple[str, str]]:
    """Return (path, id of the prompt) of the memories that were recalled for prompts of a session."""
    found = set()
    needle = session.encode("utf-8", "replace")
    since = delivery_log.back_to(oldest - PROMPT_SECONDS)
    for record in delivery_log.newest_first(root, needle=needle, since=since):
        if record.get("session_id") == session:
            for item in delivery_log.brought(record):
                if item.get("kind") == "recall":
                    found.add((str(item.get("path")), str(record.get("prompt_id"))))
    return found
