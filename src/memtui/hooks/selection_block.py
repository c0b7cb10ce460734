"""Memories that a model selects for a prompt, in the background (setting `recall_select`): asked for at the prompt,
given before the next tool if the answer is there by then, else dropped.

The part `select` of a session's state: `key` of the prompt, and once the model has answered `memories`, each [scope,
directory, file]."""

import posix

from memtui.base import fastjson, fs, ids, session_state
from memtui.hooks.runner import Hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.recall import bindings, judge

PART = "select"
# Memories that a prompt gets in this way, at most.
MOST = 5
REASON = "selected by a model"


def wanted(hook: Hook) -> bool:
    """Tell whether a model may select memories for this session's prompts."""
    on = hook.settings and hook.mode == "full" and hook.setting("recall_select") and hook.setting("recall")
    return bool(on) and hook.setting("llm_backend") != "off"


def start(hook: Hook) -> None:
    """Have a model asked about the prompt, in a process that nobody waits for. Raises OSError."""
    from memtui.hooks import worker_start
    from memtui.recall import own_words

    if not wanted(hook) or own_words.counted(hook.text("prompt"))[1]:
        fs.unlink(session_state.path(hook.root, hook.session_id, PART))
        return
    session_state.save_part(hook.root, hook.session_id, PART, {"key": ids.new_id()})
    worker_start.detach(hook, "select")


def take(hook: Hook) -> "list[bindings.Bound]":
    """Return what the model selected, which no other hook gets then. An answer that is not there yet is dropped."""
    path = session_state.path(hook.root, hook.session_id, PART)
    try:
        memories = fastjson.rows(session_state.load_part(hook.root, hook.session_id, PART), "memories")
        posix.unlink(path)
    except OSError:
        return []  # nothing was asked, or another tool that begins at the same moment gives it
    rows = [row for row in memories if isinstance(row, list) and len(row) == 3]
    return [(str(row[0]), str(row[1]), str(row[2]), REASON) for row in rows[:MOST]]


def put_back(hook: Hook, verdicts: "list[judge.Verdict]") -> None:
    """Keep what was selected and had no room for the next tool. Raises OSError."""
    rows = [[each.hit.scope, each.hit.directory, each.hit.file] for each in verdicts if each.reason == REASON]
    if rows:
        session_state.save_part(hook.root, hook.session_id, PART, {"key": ids.new_id(), "memories": rows})
