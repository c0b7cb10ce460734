"""A session of 100 MB is read fast, and in bounded memory."""

import time
import tracemalloc

from memtui.client.transcripts import transcript_hot


def check_reading_of_100_mb(session):
    """Repeat the lines of a session, and judge a reading: over 10 MB a second of CPU, under 40 MB of memory."""
    turns = session.read_bytes()
    with session.open("ab") as file:
        for _ in range((100 << 20) // len(turns)):
            file.write(turns)
    started = time.process_time()
    assert sum(1 for _ in transcript_hot.Reader(str(session))) > 1000
    assert session.stat().st_size / (time.process_time() - started) > 10 << 20
    tracemalloc.start()
    for _ in zip(range(20_000), transcript_hot.Reader(str(session)), strict=False):
        pass
    assert tracemalloc.get_traced_memory()[1] < 40 << 20
    tracemalloc.stop()
