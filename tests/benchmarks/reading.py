"""How much memory it takes to read a transcript: for a backfill, by the worker after a turn, and by
the subconscious.

    python tests/benchmarks/reading.py backfill|worker|subconscious TRANSCRIPT

Prints the peak, and what came of it. Nothing is asked of a real model.
"""

import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "src")]

from transcripts import peak  # noqa: E402


def backfill(path: str) -> str:
    from memtui.learn import classifier
    from memtui.learn.backfill import session

    found = sum(len(piece.drafts) for piece in session.read(path, {}, classifier.shipped(), 0.5))
    return f"{found} drafts"


def worker(path: str) -> str:
    from memtui.base import paths_hot, session_state_hot
    from memtui.worker import main

    with tempfile.TemporaryDirectory() as top:
        env = {"HOME": top, "PATH": os.environ["PATH"]}
        root = paths_hot.root(env)
        os.makedirs(root, mode=0o700)
        payload = {"session_id": "s", "transcript_path": path, "cwd": top}
        size, runs = os.path.getsize(path), 0
        while session_state_hot.load_part(root, "s", "cursor").get("offset") != size:
            main.run(env, payload, "SessionEnd", ("extract",))
            runs += 1
        assert not os.path.exists(root + "/log/errors.jsonl")
    return f"{runs} runs"


def subconscious(path: str) -> str:
    from memtui.client.transcripts import transcript_hot
    from memtui.client.transcripts.conversation import Conversation
    from memtui.models.subconscious import transcript_view

    heard = transcript_view.listen(transcript_hot.Reader(path), Conversation())
    return f"{len(heard.lines)} messages, {heard.left_out} left out"


if __name__ == "__main__":
    done = {"backfill": backfill, "worker": worker, "subconscious": subconscious}[sys.argv[1]](sys.argv[2])
    print(f"{done}; peak {peak():.0f} MB")
