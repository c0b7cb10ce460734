"""The pairs of memories that a person called different: they are not shown as near-duplicates or contradictions again.

They are in `apart.json` in memtui's directory (docs/file-formats.md), by their paths. Each change of it is a step of
undo; one that gives a memory another path has it there, too.
"""

from collections.abc import Iterable, Mapping

from memtui.core.base import fastjson
from memtui.core.base.errors import UsageError
from memtui.core.base.storage import read_or_none
from memtui.core.journal.changes.file_change import FileChange
from memtui.core.journal.changes.text_edit import TextEdit, text_edits
from memtui.core.journal.journal import Journal
from memtui.core.memories.memory import Memory

FORMAT = 1
Pair = frozenset[str]


def path(root: str) -> str:
    """Return the path of the file in memtui's directory."""
    return root + "/apart.json"


def load(root: str) -> set[Pair]:
    """Read the pairs, each two paths; none from a file that can't be read. `root` empty: there is no such directory."""
    try:
        data = (read_or_none(path(root)) or b"") if root else b""
    except OSError:
        return set()
    return _pairs(data)


def _pairs(data: bytes) -> set[Pair]:
    pairs = fastjson.loads_dict(data).get("pairs") if data.strip() else None
    found = [each for each in pairs if isinstance(each, list)] if isinstance(pairs, list) else []
    return {frozenset(each) for each in found if len(each) == 2 and all(isinstance(name, str) for name in each)}


def moved_edits(root: str, moved: Mapping[str, str]) -> list[TextEdit]:
    """Return the edits of the file for memories that get another path; `moved` maps old to new ones."""
    try:
        before = read_or_none(path(root)) or b""
    except OSError:
        return []
    pairs = _pairs(before)
    if not any(each in pair for pair in pairs for each in moved):
        return []
    return text_edits(path(root), before, _bytes(frozenset(moved.get(each, each) for each in pair) for pair in pairs))


def _bytes(pairs: Iterable[Pair]) -> bytes:
    """Return the file, with a line for each pair, so that changes of different ones can be undone in any order."""
    rows = [fastjson.dumps(row) for row in sorted(sorted(each) for each in pairs)]
    listed = ",\n".join(rows)
    return f'{{"v": {FORMAT}, "pairs": [\n{listed}\n]}}\n'.encode()


def keep(journal: Journal, one: Memory, other: Memory, *, apart: bool = True) -> bool:
    """Keep two memories apart for good, or with `apart` False no longer. Return whether that changed anything. Raises
    UsageError for one memory twice."""
    if one.path == other.path:
        raise UsageError(f"{one.ref} is one memory.", "Name two that are different.")
    before = read_or_none(path(journal.root))
    pairs = _pairs(before or b"")
    pair = frozenset((one.path, other.path))
    if (pair in pairs) == apart:
        return False
    pairs ^= {pair}
    what = f"keep {one.ref} and {other.ref} apart" if apart else f"compare {one.ref} and {other.ref} again"
    journal.run("apart", [FileChange(path(journal.root), before, _bytes(pairs))], what)
    return True
