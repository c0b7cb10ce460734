"""At the end of a turn: start the worker, which reads it. Prints nothing: context from Stop makes the model go on."""

import posix

from memtui.hooks import detach, runner


def handle(hook: runner.Hook) -> None:
    """Start the worker, except when a subagent stops."""
    if hook.payload.get("agent_id"):
        return
    try:
        posix.stat(hook.text("transcript_path"))
    except OSError:
        note_end(hook)
    detach.detach(hook)


def note_end(hook: runner.Hook) -> None:
    """Note the claims under way where there is no transcript (`--no-session-persistence`): only the end of the
    turn proves that the model was called."""
    names = []
    for _, directory in hook.inboxes():
        try:
            names += [name for name in posix.listdir(directory + "/claimed") if hook.session_id in name]
        except OSError:
            continue
    if not names:
        return
    from memtui.core.base import session_state

    try:
        session_state.save(hook.root, hook.session_id, {"claims": names}, "stopped")
    except OSError as error:
        runner.fail(hook.env, hook.event, error)
