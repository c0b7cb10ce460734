"""At the end of a turn: start the worker, which reads it. Prints nothing: context from Stop makes the model go on."""

from memtui.base import paths
from memtui.hooks import detach, runner


def handle(hook: runner.Hook) -> None:
    """Start the worker, except when a subagent stops."""
    if hook.payload.get("agent_id"):
        return
    if not paths.exists(hook.text("transcript_path")):
        note_end(hook)
    detach.detach(hook)


def note_end(hook: runner.Hook) -> None:
    """Note the claims under way where there is no transcript (`--no-session-persistence`): only the end of the
    turn proves that the model was called."""
    claimed = [name for _, directory in hook.inboxes() for name in paths.names_in(directory + "/claimed")]
    names = [name for name in claimed if hook.session_id in name]
    if names:
        from memtui.base import session_state

        hook.attempt(None, session_state.save_part, hook.root, hook.session_id, "stopped", {"claims": names})
