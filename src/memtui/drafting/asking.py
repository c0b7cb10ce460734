"""Ask a model for drafts of the new turns of a session (drafting/reading.py), in a process of its own that a worker
started, and leave them in the inboxes."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence

from memtui.core.base import clock, fastjson, fs, paths
from memtui.core.base.errors import MemtuiError
from memtui.core.client import transcript
from memtui.core.client.conversation import Turn
from memtui.core.deliveries import error_log
from memtui.core.settings import config
from memtui.drafting import reading, unread
from memtui.extract import write
from memtui.extract.signals import Signal
from memtui.llm.errors import ModelError
from memtui.llm.model import LanguageModel
from memtui.recall import places, selection

# Characters of the turns by which the memories of the catalogue are looked up; seconds beside those of the call.
LOOKED_UP, MORE_SECONDS = 4000, 60


def run(env: dict[str, str], given: Mapping[str, object]) -> list[str]:
    """Ask about `given`: `cwd`, and `turns` of a session as extract/readable.py chose them, with those that wait since
    an earlier call; return the ids of the new drafts.

    If the model gives no answer of the schema, the log of calls has why, what the rules found stands alone, and the
    turns wait for the next call. So they do while another process asks about the session: it takes them in, too.
    Raises MemtuiError, OSError.
    """
    root, cwd = paths.root(env), transcript.text_of(given.get("cwd"))
    turns = unread.turns_of(given.get("turns"))
    waiting = unread.UnreadTurns(root, turns[-1].session if turns else "")
    waiting.add(turns)
    made: list[str] = []
    try:
        with waiting.reading():
            while turns := waiting.all():
                drafts = _read(env, root, cwd, turns, waiting)
                if drafts is None:
                    break
                threshold = config.value(config.load(root), None, "extract_confidence")
                made += write.write_drafts(
                    env, cwd, drafts, float(threshold) if isinstance(threshold, (int, float)) else 0.5
                )
                waiting.done(turns)
    except fs.LockTimeoutError:
        pass  # whoever reads finds these turns, or they wait for the next ones
    return made


def _read(
    env: dict[str, str], root: str, cwd: str, turns: Sequence[Turn], waiting: unread.UnreadTurns
) -> list[Signal] | None:
    """Ask the model about turns; None if it gave no answer of the schema."""
    words = "\n".join(turn.text for turn in turns)[-LOOKED_UP:]
    known = selection.catalogue(root, places.of_session(env, cwd), words, clock.now())
    try:
        return reading.read(LanguageModel(env, root, cwd), turns, known)
    except ModelError as error:
        if error.futile:
            waiting.sent_in_vain(turns)
        return None


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
