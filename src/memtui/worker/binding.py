"""List the memories that are bound to paths, for the hook that gives them (recall/bound.py)."""

from collections.abc import Iterable

from memtui.core.base import fastjson, fs
from memtui.recall import bound, segment

LOCK_SECONDS = 5.0
# Globs of one memory, at most: a hook tries each.
MOST_GLOBS = 32


def update(root: str, directories: Iterable[str]) -> None:
    """List the bound memories of these directories anew, by their indexes; the others stay as they are listed. Raises
    OSError."""
    with fs.Lock(f"{root}/run/worker-binding.lock", LOCK_SECONDS):
        before = bound.load(root)
        after = dict(before)
        for directory in directories:
            after.pop(directory, None)
            found = {file: globs[:MOST_GLOBS] for file, globs in _globs(root, directory).items()}
            if found:
                after[directory] = found
        path = f"{root}/{bound.FILE}"
        if not after:
            fs.unlink(path)
        elif after != before:
            fs.write_atomic(path, fastjson.dumps({"v": bound.VERSION, "dirs": after}).encode(), durable=False)


def _globs(root: str, directory: str) -> dict[str, list[str]]:
    """Return the globs of the memories of a directory that have some, by file."""
    found: dict[str, list[str]] = {}
    try:
        manifest = segment.read_manifest(root, directory)
        for entry in manifest.segments if manifest is not None else ():
            opened = segment.Segment(root, entry)
            try:
                for number, row in enumerate(opened.every_row()):
                    if row[segment.PATHS] and number not in opened.dead:
                        found[str(row[0])] = [str(each) for each in row[segment.PATHS]]
            finally:
                opened.close()
    except segment.DAMAGED:
        return {}
    return found
