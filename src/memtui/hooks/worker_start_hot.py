"""Start the worker: a child in a session of its own, with its streams closed, that the client neither waits for nor
ends. The events that do little else stand here too: the end of a turn, a compaction, the end of a session.

An `async` hook is not enough: under `claude -p` the client is gone before it starts (docs/hooks.md)."""

import gc
import posix

from memtui.base import clock_hot, paths_hot
from memtui.client.agents import agents_hot
from memtui.hooks import runner_hot

# Seconds that each step of a worker may take, and all together: as `runner_hot.EVENTS`, but nobody waits for a worker.
PATIENCE, MOST = 60.0, 240.0
# Reasons for a session's end after which the client goes on with another one.
GOES_ON = {"clear", "resume"}


def detach(hook: runner_hot.Hook, *tasks: str) -> None:
    """Fork the worker for this event, or for only these `tasks` of it, and return at once."""
    if posix.fork():
        return
    try:
        posix.setsid()
        gc.enable()
        null = posix.open("/dev/null", posix.O_RDWR)
        for fd in (0, 1, 2):
            posix.dup2(null, fd)
        # A worker must not keep the client's directory busy.
        posix.chdir("/")
        late = runner_hot.LateError("it took too long altogether")
        deadline = runner_hot.Deadline(PATIENCE, MOST, lambda: runner_hot.fail(hook.env, hook.event + " worker", late))
        from memtui.worker import main

        main.run({**hook.env, runner_hot.INSIDE: "1"}, hook.payload, hook.event, tasks, deadline.again)
        if not tasks:
            from memtui.hooks import bundle_writer

            bundle_writer.write()
    except BaseException as error:
        runner_hot.fail(hook.env, hook.event + " worker", error)
    finally:
        posix._exit(0)  # noqa: SLF001


def end_turn(hook: runner_hot.Hook) -> None:
    """Have the turn read. Prints nothing: context from Stop makes the model go on. A subagent's turn is none."""
    if hook.payload.get("agent_id"):
        return
    transcript = hook.text("transcript_path")
    if not paths_hot.exists(transcript) and not (hook.agent_name and agents_hot.exists(transcript)):
        _note_claims(hook)
    detach(hook)


def _note_claims(hook: runner_hot.Hook) -> None:
    """Note the claims under way without a transcript: only the turn's end proves that the model was called."""
    claimed = [name for _, directory in hook.inboxes() for name in paths_hot.names_in(directory + "/claimed")]
    names = [name for name in claimed if hook.session_id in name]
    if names:
        from memtui.base import session_state_hot

        hook.attempt(None, session_state_hot.save_part, hook.root, hook.session_id, "stopped", {"claims": names})


def compact(hook: runner_hot.Hook) -> None:
    """Note why the context is compacted, and have read what is about to be summarized."""
    from memtui.base import session_state_hot

    state = session_state_hot.load(hook.root, hook.session_id)
    state.compacting = hook.text("trigger")
    if hook.agent_name and not hook.agent.announces_compaction:
        state.started = ""  # the next prompt begins anew
    state.save()
    detach(hook)


def end_session(hook: runner_hot.Hook) -> None:
    """Have the last turn read; if the client ends too, forget which session it served."""
    if hook.text("reason") not in GOES_ON:
        try:
            posix.unlink(f"{hook.root}/run/client-{posix.getppid()}")
        except OSError:
            pass
    if hook.settings and hook.setting("recall_select"):
        from memtui.recall import selection_state_hot

        hook.attempt(None, selection_state_hot.end, hook.root, hook.session_id)
    # The session may be resumed before the worker begins.
    hook.payload = {**hook.payload, "ended": clock_hot.iso(clock_hot.now())}
    detach(hook)
