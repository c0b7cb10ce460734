"""At the end of a session: start the worker, which reads the last turn."""

import posix

from memtui.hooks import detach, runner

# Reasons for which the client goes on with another session.
GOES_ON = {"clear", "resume"}


def handle(hook: runner.Hook) -> None:
    """Start the worker; if the client ends too, forget which session it served."""
    if hook.text("reason") not in GOES_ON:
        try:
            posix.unlink(f"{hook.root}/run/client-{posix.getppid()}")
        except OSError:
            pass
    detach.detach(hook)
