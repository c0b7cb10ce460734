"""In place of fastembed in tests: a sentence model of a few subjects, made here, with fastembed's own interface.

Texts about the same subject have the same direction. Some words make it fail as the real one may: `slowly` takes
longer than a hook waits, `die` has its process killed; and a model called `missing` can't be loaded, one called `heavy` takes long.
"""

import operator
import os
import random
import signal
import time

SUBJECTS = (
    {"release", "publish", "ship", "live"},
    {"umbrella", "banana", "invoice", "treasurer"},
    {"coffee", "machine", "espresso"},
    {"colours", "charts", "palette"},
    {"timezones", "times", "utc"},
)
_choose = random.Random(1)
# For each dimension what no subject and what each subject adds to it.
DIRECTIONS = [[_choose.choice((-1.0, 1.0)) for _ in range(1 + len(SUBJECTS))] for _ in range(64)]


class TextEmbedding:
    """As fastembed's class of this name, as far as memtui uses it."""

    def __init__(self, model_name, cache_dir=None, threads=None, *, local_files_only=False):
        path = os.path.join(cache_dir, model_name)
        if model_name == "missing" or (local_files_only and not os.path.exists(path)):
            raise ValueError(f"Could not load model {model_name} from any source.")
        for _ in range(40 if model_name == "heavy" else 1):
            with open(path, "a") as file:
                file.write("a part of the model" * 100)
            time.sleep(0.1 if model_name == "heavy" else 0.0)
        assert threads == 1

    def embed(self, documents):
        for text in documents:
            words = text.lower().replace(".", " ").replace("?", " ").split()
            if "die" in words:
                os.kill(os.getpid(), signal.SIGKILL)
            if "slowly" in words:
                time.sleep(3)
            counts = [0.1, *(sum(word in subject for word in words) for subject in SUBJECTS)]
            yield [sum(map(operator.mul, counts, directions)) for directions in DIRECTIONS]
