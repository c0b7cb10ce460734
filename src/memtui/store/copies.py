"""Copies of memories that other programs left behind: a sync that could not merge two versions, or a file manager."""

import os
import re
from collections.abc import Sequence

from memtui.store.memory import Memory

# The name of a file that a sync program writes beside another one, which it could not merge: `of` is that one's.
CONFLICT = re.compile(
    r"(?P<of>.+?)(?:\s*\([^()]*\b(?:conflicted copy|conflict)\b[^()]*\)|\.sync-conflict-\d{8}-\d{6}[-\w]*)",
    re.IGNORECASE,
)
# What a file manager calls a copy. People call their files so as well.
COPY = re.compile(r"Copy of (?P<first>.+)|(?P<of>.+?)(?: - Copy| copy)?(?: \(\d+\)| \d+)?", re.IGNORECASE)


def of_memories(memories: Sequence[Memory]) -> dict[str, str]:
    """Return the paths of copies with the stem that each copies; a common name only if the original has that name."""
    stems = {(os.path.dirname(memory.path), memory.stem): memory for memory in memories}
    originals = {}
    for memory in memories:
        directory = os.path.dirname(memory.path)
        if match := CONFLICT.fullmatch(memory.stem):
            originals[memory.path] = match["of"]
        elif (match := COPY.fullmatch(memory.stem)) and (stem := match["first"] or match["of"]) != memory.stem:
            original = stems.get((directory, stem))
            if original is not None and memory.has_frontmatter and memory.name == original.name:
                originals[memory.path] = stem
    return originals
