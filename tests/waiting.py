"""Waiting for what another thread or process does, however busy the machine is."""

import threading
import time

PATIENCE = 120.0  # seconds; only a test that fails waits so long
PAUSE = 0.01


def eventually(condition, seconds=PATIENCE):
    """The first true value of a condition; after so many seconds its last one, which the test asserts."""
    end = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(PAUSE)
    return value


def at_once(*functions):
    """Run functions in a thread each, until all have ended."""
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
