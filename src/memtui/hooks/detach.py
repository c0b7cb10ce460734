"""Start the worker: a child in a session of its own, with its streams closed, that the client neither waits for nor
ends.

An `async` hook is not enough: under `claude -p` the client is gone before it starts (docs/hooks.md)."""

import gc
import posix

from memtui.hooks import runner

# Seconds that each step of a worker may take, and all together: as `runner.SECONDS`, but nobody waits for a worker.
PATIENCE, MOST = 60.0, 240.0


def detach(hook: runner.Hook, *tasks: str) -> None:
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
        late = runner.LateError("it took too long altogether")
        deadline = runner.Deadline(PATIENCE, MOST, lambda: runner.fail(hook.env, hook.event + " worker", late))
        from memtui.worker import main

        main.run({**hook.env, runner.INSIDE: "1"}, hook.payload, hook.event, tasks, deadline.again)
        if not tasks:
            from memtui.hooks import bundle_writer

            bundle_writer.write()
    except BaseException as error:
        runner.fail(hook.env, hook.event + " worker", error)
    finally:
        posix._exit(0)  # noqa: SLF001
