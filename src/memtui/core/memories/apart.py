"""The pairs of memories that a person called different, by path, in `apart.json`: never shown as alike again."""

from collections.abc import Mapping

from memtui.core.base.errors import UsageError
from memtui.core.base.storage import read_or_none
from memtui.core.journal.journal import Journal
from memtui.core.journal.own_files import Pair, PairsEdit, pairs_of
from memtui.core.memories.memory import Memory


def path(root: str) -> str:
    """Return the path of the file in memtui's directory."""
    return root + "/apart.json"


def load(root: str) -> set[Pair]:
    """Read the pairs, each two paths; none from a file that can't be read. `root` empty: there is no such directory."""
    try:
        data = (read_or_none(path(root)) or b"") if root else b""
    except OSError:
        return set()
    return pairs_of(data)


def moved_edits(root: str, moved: Mapping[str, str]) -> list[PairsEdit]:
    """Return the edits of the file for memories that get another path; `moved` maps old to new ones."""
    pairs = [each for each in load(root) if any(path in each for path in moved)]
    changed = [(each, frozenset(moved.get(path, path) for path in each)) for each in sorted(pairs, key=sorted)]
    return [PairsEdit(path(root), tuple(changed))] if changed else []


def keep(journal: Journal, one: Memory, other: Memory, *, apart: bool = True) -> bool:
    """Keep two memories apart, or no longer. Return whether that changed anything. Raises UsageError for one twice."""
    if one.path == other.path:
        raise UsageError(f"{one.ref} is one memory.", "Name two that are different.")
    pair = frozenset((one.path, other.path))
    if (pair in load(journal.root)) == apart:
        return False
    changed = (None, pair) if apart else (pair, None)
    what = f"keep {one.ref} and {other.ref} apart" if apart else f"compare {one.ref} and {other.ref} again"
    journal.run("apart", [PairsEdit(path(journal.root), (changed,))], what)
    return True
