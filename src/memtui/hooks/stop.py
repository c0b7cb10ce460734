"""The end of a turn: a detached worker reads what was said. Prints nothing: context from Stop makes the model go on."""

from memtui.hooks import detach, runner


def handle(hook: runner.Hook) -> None:
    """Start the worker, but for a subagent's stop."""
    if not hook.payload.get("agent_id"):
        detach.detach(hook)
