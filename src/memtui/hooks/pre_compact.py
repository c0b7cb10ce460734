"""Before the context is compacted: the worker reads what is about to be summarised, and the session notes whether a
turn is under way, since guidance given in it must then be given again."""

from memtui.core.base import session_state
from memtui.hooks import detach, runner


def handle(hook: runner.Hook) -> None:
    """Note the trigger (`auto` comes in the middle of a turn) and start the worker."""
    state = session_state.load(hook.root, hook.session_id)
    session_state.save(hook.root, hook.session_id, {**state, "compacting": hook.text("trigger")})
    detach.detach(hook)
