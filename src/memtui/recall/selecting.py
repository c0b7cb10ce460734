"""Ask a model which memories a prompt needs (recall/selection.py), in a process of its own, and leave the answer for
the hook before the next tool (hooks/selected.py)."""

import os
import signal
import sys
import time
from collections.abc import Mapping

from memtui.core.base import clock, fastjson, paths, session_state
from memtui.core.base.errors import MemtuiError
from memtui.core.client import transcript
from memtui.core.deliveries import error_log
from memtui.llm.errors import ModelError
from memtui.llm.model import LanguageModel
from memtui.recall import own_words, places, selection

PART = "select"
# Seconds that an answer may take: then the agent is long at work. And those after which the process ends by itself.
WAIT, MOST_SECONDS = 30.0, 60


def run(env: dict[str, str], payload: Mapping[str, object]) -> None:
    """Ask about the prompt of a hook's payload. If the model gives no answer, the log of calls has why, and the prompt
    keeps what was recalled without one. Raises MemtuiError, OSError."""
    root, session = paths.root(env), transcript.text_of(payload.get("session_id"))
    key = session_state.load(root, session, PART).get("key")
    prompt = transcript.text_of(payload.get("prompt"))
    words, why = own_words.counted(prompt)
    if not key or why:
        return
    cwd = paths.started_in(env, transcript.text_of(payload.get("cwd")))
    where = places.of_session(env, cwd)
    entries = selection.catalogue(root, where, words, clock.now())
    end = time.monotonic() + WAIT

    def over() -> bool:
        return time.monotonic() > end or session_state.load(root, session, PART).get("key") != key

    try:
        selected = selection.select(LanguageModel(env, root, cwd, cancelled=over), prompt, entries)
    except ModelError:
        return
    if not over():
        memories = [[each.scope, each.directory, each.file] for each in selected]
        session_state.save(root, session, {"key": key, "memories": memories}, PART)


def main() -> None:
    """Ask about the payload on standard input. Never raises."""
    env = dict(os.environ)
    signal.alarm(MOST_SECONDS)
    try:
        run(env, fastjson.loads_dict(sys.stdin.buffer.read()))
    except (MemtuiError, OSError, ValueError) as error:
        error_log.add(paths.root(env), "select", error)


if __name__ == "__main__":
    main()
