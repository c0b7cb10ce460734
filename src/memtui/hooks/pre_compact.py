"""Before the context is compacted: start the worker, which reads what is about to be summarized, and note whether a
turn is under way: guidance given in it must be given again afterwards."""

from memtui.base import session_state
from memtui.hooks import detach, runner


def handle(hook: runner.Hook) -> None:
    """Note the trigger (`auto` comes in the middle of a turn), then start the worker."""
    state = session_state.load(hook.root, hook.session_id)
    state.compacting = hook.text("trigger")
    state.save()
    detach.detach(hook)
