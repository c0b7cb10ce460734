"""What memtui keeps beside memories, and follows them: triggers, muted prompts, pairs kept apart."""

import functools
import os
from collections.abc import Mapping

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.base.errors import UsageError
from memtui.base.storage import read_or_none
from memtui.store.journal import own_files
from memtui.store.journal.journal import Journal
from memtui.store.journal.own_files import BesideEdit, BesideRows, Entries, Pair, PairsEdit, pair_entries, pairs_of
from memtui.store.memory import Memory

KINDS = TRIGGERS, MUTES = ("triggers", "mutes")
# The directory of a memory, and its file there.
Place = tuple[str, str]


def rows(root: str, kind: str, directory: str) -> BesideRows:
    """Return the rows of one of the KINDS for a directory of memories; none from a file that can't be read."""
    try:
        return own_files.beside_rows(read_or_none(own_files.beside_path(root, kind, directory)) or b"")
    except OSError:
        return {}


def edit(root: str, kind: str, directory: str, file: str, after: Entries) -> list[BesideEdit]:
    """Return the edit that gives a memory other rows; none if it has these."""
    before = rows(root, kind, directory).get(file, {})
    path = own_files.beside_path(root, kind, directory)
    return [BesideEdit(path, before, after, directory, file)] if before != after else []


def moved_edits(root: str, moved: Mapping[Place, Place | None]) -> list[BesideEdit]:
    """Return the edits for memories that become others, of which several may be the same one, or none."""
    edits = []
    for kind in KINDS:
        rows_of = functools.cache(functools.partial(rows, root, kind))
        after: dict[Place, Entries] = {}
        for old, new in moved.items():
            own = rows_of(old[0]).get(old[1])
            if own:
                after.setdefault(old, {})
            if own and new is not None:
                present = after.get(new, {} if new in moved else rows_of(new[0]).get(new[1], {}))
                texts = set(map(str.casefold, present))
                after[new] = {**present, **{text: row for text, row in own.items() if text.casefold() not in texts}}
        for (directory, file), now in after.items():
            edits += edit(root, kind, directory, file, now)
    return edits


def adopt(root: str, directory: str) -> list[str]:
    """Take over what is beside the memories of a directory that was moved here; return the kinds. Raises OSError."""
    kinds = []
    for kind in KINDS:
        own = own_files.beside_path(root, kind, directory)
        if not os.path.isdir(f"{root}/{kind}") or os.path.exists(own) or not os.path.isdir(directory):
            continue
        for name in sorted(paths_hot.names_in(f"{root}/{kind}")):
            path = f"{root}/{kind}/{name}"
            try:
                data = fs_hot.read_bytes(path) if name.endswith(".jsonl") else b""
            except OSError:
                continue
            head = fastjson_hot.loads_dict(data.partition(b"\n")[0])
            old = fastjson_hot.text(head, "dir")
            is_moved = old.startswith("/") and not os.path.lexists(old)
            if is_moved and head.get("inode") == os.stat(directory).st_ino:
                with fs_hot.Lock(root + own_files.BESIDE_LOCK, own_files.LOCK_SECONDS):
                    own_files.write_beside(own, directory, own_files.beside_rows(read_or_none(path) or b""))
                    fs_hot.unlink(path)
                kinds.append(kind)
                break
    return kinds


def pairs_path(root: str) -> str:
    """Return the path of the file with the pairs of memories that a person called different."""
    return root + "/apart.json"


def kept_apart(root: str) -> set[Pair]:
    """Read these pairs, each two paths; none from a file that can't be read, or for an empty `root`."""
    try:
        return pairs_of((read_or_none(pairs_path(root)) or b"") if root else b"")
    except OSError:
        return set()


def moved_pairs(root: str, moved: Mapping[str, str]) -> list[PairsEdit]:
    """Return the edits of the pairs of memories that get another path; `moved` maps old to new ones."""
    pairs = [pair for pair in kept_apart(root) if not pair.isdisjoint(moved)]
    after = pair_entries([moved.get(path, path) for path in pair] for pair in pairs)
    return [PairsEdit(pairs_path(root), pair_entries(pairs), after)] if pairs else []


def keep_apart(journal: Journal, one: Memory, other: Memory) -> bool:
    """Keep two memories apart; return whether that changed anything. Raises UsageError for one twice."""
    if one.path == other.path:
        raise UsageError(f"{one.ref} is one memory.", "Name two that are different.")
    pair = frozenset((one.path, other.path))
    if pair in kept_apart(journal.root):
        return False
    words = f"keep {one.ref} and {other.ref} apart"
    journal.run("apart", [PairsEdit(pairs_path(journal.root), {}, pair_entries([pair]))], words)
    return True
