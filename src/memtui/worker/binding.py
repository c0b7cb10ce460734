"""List the memories that are bound to paths, and those that forbid commands, for the hook that gives them
(recall/bound.py, recall/forbidden.py)."""

import os
from collections.abc import Iterable, Mapping, Sequence, Sized

from memtui.core.base import fastjson, fs, paths, session_state
from memtui.recall import bound, forbidden, listed, segment

LOCK_SECONDS = 5.0
# Globs or commands of one memory, at most: a hook tries each.
MOST = 32
# Of which version of each index the lists are, by directory: time in nanoseconds, size and number of its file, and how
# many memories each file lists.
VERSIONS = "recall/listed"
# Which column of an index each file lists.
COLUMNS = {bound.FILE: segment.PATHS, forbidden.FILE: segment.FORBIDS}


def update(root: str, directories: Iterable[str]) -> None:
    """List the bound memories of those of these directories whose index is another than the one that was listed, or
    whose lists were lost; the others stay as they are. Raises OSError."""
    with fs.Lock(f"{root}/run/worker-binding.lock", LOCK_SECONDS):
        before, lists = listed.load(root, VERSIONS), [listed.load(root, file) for file in COLUMNS]
        # Looked at before they are read: an index that is replaced meanwhile is listed again the next time.
        versions = {each: _version(root, each) for each in directories}
        changed = [
            each
            for each, version in versions.items()
            if before.get(each) != _mark(version, [session_state.table(of_all, each) for of_all in lists])
        ]
        if not changed:
            return
        found = {file: {each: _column(root, each, column) for each in changed} for file, column in COLUMNS.items()}
        for file, rows in found.items():
            _change(root, file, rows)
        # Last: who is killed before has listed nothing, and the next one lists all again.
        _change(
            root, VERSIONS, {each: _mark(versions[each], [rows[each] for rows in found.values()]) for each in changed}
        )


def _mark(version: list[int] | None, lists: Sequence[Sized]) -> list[int] | None:
    """Return what is noted of a directory: which version of its index is listed, and how many memories each file lists,
    as a file may be lost."""
    return None if version is None else [*version, *map(len, lists)]


def _version(root: str, directory: str) -> list[int] | None:
    """Return what tells an index from the one that replaces it; None if there is none. Raises OSError."""
    try:
        found = os.stat(paths.index_base(root, directory) + ".index")
    except FileNotFoundError:
        return None
    return [found.st_mtime_ns, found.st_size, found.st_ino]


def _change(root: str, file: str, found: Mapping[str, object]) -> None:
    """Replace what a file lists of some directories; one that lists nothing is removed. Raises OSError."""
    before = listed.load(root, file)
    after = {directory: each for directory, each in {**before, **found}.items() if each}
    path = f"{root}/{file}"
    if not after:
        fs.unlink(path)
    elif after != before:
        fs.write_atomic(path, fastjson.dumps({"v": listed.VERSION, "dirs": after}).encode(), durable=False)


def _column(root: str, directory: str, column: int) -> dict[str, list[str]]:
    """Return what a column of the index of a directory has, by file, of the memories that have something there."""
    found: dict[str, list[str]] = {}
    try:
        manifest = segment.read_manifest(root, directory)
        for entry in manifest.segments if manifest is not None else ():
            opened = segment.Segment(root, entry)
            try:
                for number, row in enumerate(opened.every_row()):
                    if row[column] and number not in opened.dead:
                        found[str(row[0])] = [str(each) for each in row[column][:MOST]]
            finally:
                opened.close()
    except segment.DAMAGED:
        return {}
    return found
