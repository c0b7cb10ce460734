"""The end of a session: the worker reads what the last turn left."""

import posix

from memtui.hooks import detach, runner

# The client goes on, with another session.
GOES_ON = {"clear", "resume"}


def handle(hook: runner.Hook) -> None:
    """Start the worker; of a client that ends nothing need be known any more."""
    if hook.text("reason") not in GOES_ON:
        try:
            posix.unlink(f"{hook.root}/run/client-{posix.getppid()}")
        except OSError:
            pass
    detach.detach(hook)
