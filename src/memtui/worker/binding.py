"""List the memories that are bound to paths, and those that forbid commands, for the hook that gives them
(recall/bound.py, recall/forbidden.py)."""

from collections.abc import Iterable

from memtui.core.base import fastjson, fs
from memtui.recall import bound, forbidden, listed, segment

LOCK_SECONDS = 5.0
# Globs or commands of one memory, at most: a hook tries each.
MOST = 32
# Which column of an index each file lists.
COLUMNS = {bound.FILE: segment.PATHS, forbidden.FILE: segment.FORBIDS}


def update(root: str, directories: Iterable[str]) -> None:
    """List the bound memories of these directories anew, by their indexes; the others stay as they are listed. Raises
    OSError."""
    changed = list(directories)
    with fs.Lock(f"{root}/run/worker-binding.lock", LOCK_SECONDS):
        for file, column in COLUMNS.items():
            before = listed.load(root, file)
            after = dict(before)
            for directory in changed:
                after.pop(directory, None)
                found = _column(root, directory, column)
                if found:
                    after[directory] = found
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
