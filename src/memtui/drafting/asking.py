"""Ask a model for drafts of the new turns of a session (drafting/reading.py), in a process of its own that a worker
started, and leave them in the inboxes."""

import os
import signal
import sys
from collections.abc import Mapping

from memtui.core.base import clock, fastjson, paths
from memtui.core.base.errors import MemtuiError
from memtui.core.client import transcript
from memtui.core.client.conversation import Turn
from memtui.core.deliveries import error_log
from memtui.core.settings import config
from memtui.drafting import reading
from memtui.extract import write
from memtui.llm.errors import ModelError
from memtui.llm.model import LanguageModel
from memtui.recall import places, selection

# Characters of the turns by which the memories of the catalogue are looked up; seconds beside those of the call.
LOOKED_UP, MORE_SECONDS = 4000, 60


def run(env: dict[str, str], given: Mapping[str, object]) -> list[str]:
    """Ask about `given`: `cwd`, and `turns` as extract/readable.py chose them; return the ids of the new drafts.

    If the model gives no answer of the schema, the log of calls has why, and what the rules found stands alone. Raises
    MemtuiError, OSError.
    """
    root, cwd = paths.root(env), transcript.text_of(given.get("cwd"))
    rows = given.get("turns")
    turns = [_turn(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    words = "\n".join(turn.text for turn in turns)[-LOOKED_UP:]
    known = selection.catalogue(root, places.of_session(env, cwd), words, clock.now())
    try:
        drafts = reading.read(LanguageModel(env, root), turns, known)
    except ModelError:
        return []
    threshold = config.value(config.load(root), None, "extract_confidence")
    return write.write_drafts(env, cwd, drafts, float(threshold) if isinstance(threshold, (int, float)) else 0.5)


def _turn(row: Mapping[str, object]) -> Turn:
    names = ("text", "channel", "uuid", "session", "time", "agent", "request")
    return Turn(**{name: transcript.text_of(row.get(name)) for name in names})  # type: ignore[arg-type]


def main() -> None:
    """Ask about what is on standard input. Never raises."""
    env = dict(os.environ)
    root = paths.root(env)
    try:
        signal.alarm(config.number(config.load(root), "llm_timeout") + MORE_SECONDS)
        run(env, fastjson.loads_dict(sys.stdin.buffer.read()))
    except (MemtuiError, OSError, ValueError) as error:
        error_log.add(root, "extract with a model", error)


if __name__ == "__main__":
    main()
