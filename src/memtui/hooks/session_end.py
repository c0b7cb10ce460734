"""The end of a session: the worker reads what the last turn left."""

from memtui.hooks import detach, runner


def handle(hook: runner.Hook) -> None:
    """Start the worker."""
    detach.detach(hook)
