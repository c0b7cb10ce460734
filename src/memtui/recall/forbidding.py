"""What a memory's field `forbids` says, and whether a hook will ever find it in a command (recall/forbidden.py)."""

import os

from memtui.core.memories.memory import Memory
from memtui.recall import fields, forbidden

# Every memory that forbids something has this.
MARK = b"forbids"


def commands(found: Memory) -> tuple[str, ...]:
    """Return the commands that a memory forbids, as they are written."""
    return fields.read(found.raw, os.path.basename(found.path)).forbids if MARK in found.raw else ()


def can_match(forbids: str) -> bool:
    """Tell whether any command is forbidden by this: not what begins with a directory, an assignment or a word such as
    `sudo`, is quoted, is several commands, or only punctuation."""
    first = (forbids.split() or [""])[0]
    if not any(char.isalnum() for char in first):
        return False
    return any(forbidden.runs(words, forbids) for words in forbidden.commands_of(forbids))
