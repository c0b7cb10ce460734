"""rapidfuzz, of which all that memtui uses is imported here, in functions: it takes a while.

In one place, because two threads that begin with different parts of it at once can each find the other's half imported.
"""

from rapidfuzz import fuzz, process, utils
from rapidfuzz.distance import LCSseq

__all__ = ["LCSseq", "fuzz", "process", "utils"]
