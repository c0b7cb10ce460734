"""Bring the indexes of memories up to date (recall/build.py), in a worker, or in a process of its own."""

import os
import signal
import time
from collections.abc import Iterable, Mapping, Sequence, Sized

from memtui.core.base import fastjson, fs, paths, session_state
from memtui.core.deliveries import error_log
from memtui.core.memories import beside
from memtui.core.places import reindexing
from memtui.recall import bound, build, forbidden, places, segment
from memtui.worker import warming

# Seconds after which a process of its own ends, whatever it does.
MOST_SECONDS = 240


def update(root: str, where: Iterable[tuple[str, str]]) -> None:
    """Bring the indexes of (scope, directory) up to date; a directory that is missing gets none. Raises OSError."""
    indexed = []
    for _, directory in where:
        beside.adopt(root, directory)
        if os.path.isdir(directory) or os.path.exists(paths.index_base(root, directory) + ".index"):
            build.bring_up_to_date(root, directory)
            indexed.append(directory)
    if indexed:
        list_bound(root, indexed)


def main(argv: Sequence[str]) -> None:
    """Bring the indexes of the directories `argv[1:]` up to date, below memtui's directory `argv[0]`. Never raises."""
    root, directories = argv[0], argv[1:]
    signal.alarm(MOST_SECONDS)
    os.chdir("/")
    time.sleep(reindexing.GATHERING)
    try:
        update(root, [("", each) for each in directories])
        if warming.is_on(root):
            warming.fill(root, directories)
    except Exception as error:
        error_log.add(root, "index", error)


LOCK_SECONDS = 5.0
# Globs or commands of one memory, at most: a hook tries each.
MOST = 32
# Of which version of each index the lists are, by directory: time in nanoseconds, size and number of its file, and how
# many memories each file lists.
VERSIONS = "recall/listed"
# Which column of an index each file lists.
COLUMNS = {bound.FILE: segment.PATHS, forbidden.FILE: segment.FORBIDS}


def list_bound(root: str, directories: Iterable[str]) -> None:
    """List the bound memories of directories whose index, or lists, are not what was listed. Raises OSError."""
    with fs.Lock(f"{root}/run/worker-binding.lock", LOCK_SECONDS):
        before, lists = places.listed(root, VERSIONS), [places.listed(root, file) for file in COLUMNS]
        # Looked at before they are read: an index that is replaced meanwhile is listed again the next time.
        versions = {each: _version(root, each) for each in directories}
        changed = [
            each
            for each, version in versions.items()
            if before.get(each) != _mark(version, [session_state.table(of_all, each) for of_all in lists])
        ]
        if not changed:
            return
        found: dict[str, dict[str, dict[str, list[str]]]] = {file: {each: {} for each in changed} for file in COLUMNS}
        for directory in changed:
            try:
                for row in segment.living(root, directory):
                    for file, column in COLUMNS.items():
                        if row[column]:
                            found[file][directory][str(row[0])] = [str(each) for each in row[column][:MOST]]
            except segment.DAMAGED:
                for rows in found.values():
                    rows[directory] = {}
        for file, rows in found.items():
            _change(root, file, rows)
        # Last: who is killed before has listed nothing, and the next one lists all again.
        _change(
            root, VERSIONS, {each: _mark(versions[each], [rows[each] for rows in found.values()]) for each in changed}
        )


def _mark(version: list[int] | None, lists: Sequence[Sized]) -> list[int] | None:
    """Return what is noted of a directory: the version of its index, and how many memories each file lists."""
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
    before = places.listed(root, file)
    after = {directory: each for directory, each in {**before, **found}.items() if each}
    path = f"{root}/{file}"
    if not after:
        fs.unlink(path)
    elif after != before:
        fs.write_atomic(path, fastjson.dumps({"v": places.LISTED_VERSION, "dirs": after}).encode(), durable=False)
