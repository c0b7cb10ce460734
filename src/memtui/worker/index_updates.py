"""Bring the indexes of memories up to date (recall/index_build.py), in a worker, or in a process of its own."""

import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.deliver import error_log_hot
from memtui.recall import bindings_hot, index_build, segment_hot
from memtui.rules import enforced_hot
from memtui.store import index_requests, sidecars
from memtui.worker import sentence_vectors

MOST_SECONDS = 240  # seconds after which a process of its own ends, whatever it does


def update(root: str, where: Iterable[tuple[str, str]], progress: Callable[[], object] = lambda: None) -> None:
    """Bring the indexes of (scope, directory) up to date; `progress` is called every second or two. Raises OSError."""
    indexed = []
    for _, directory in where:
        sidecars.adopt(root, directory)
        if os.path.isdir(directory) or os.path.exists(paths_hot.index_base(root, directory) + ".index"):
            index_build.bring_up_to_date(root, directory, progress=progress)
            indexed.append(directory)
    if indexed:
        list_bound(root, indexed)


def main(argv: Sequence[str]) -> None:
    """Bring the indexes of the directories `argv[1:]` up to date, below memtui's directory `argv[0]`. Never raises."""
    root, directories = argv[0], argv[1:]
    signal.alarm(MOST_SECONDS)
    os.chdir("/")
    time.sleep(index_requests.GATHERING)
    try:
        update(root, [("", directory) for directory in directories])
        if sentence_vectors.is_on(root):
            sentence_vectors.fill(root, directories)
    except Exception as error:
        error_log_hot.add(root, "index", error)


LOCK_SECONDS = 5.0
MOST = 32  # globs or rules of one memory, at most: a hook tries each
# Which column of an index each file lists.
COLUMNS = {
    bindings_hot.PATHS: segment_hot.PATHS,
    bindings_hot.PINNED: segment_hot.PINNED,
    enforced_hot.FILE: segment_hot.RULES,
    bindings_hot.CHECKS: segment_hot.CHECKS,
}


def list_bound(root: str, directories: Iterable[str]) -> None:
    """List the bound memories of directories as their indexes have them. Raises OSError."""
    with fs_hot.Lock(f"{root}/run/worker-binding.lock", LOCK_SECONDS):
        lists: dict[str, dict[str, dict[str, list[object]]]] = {file: {} for file in COLUMNS}
        for directory in directories:
            try:
                rows = list(segment_hot.living(root, directory))
            except segment_hot.DAMAGED:
                rows = []
            for file, column in COLUMNS.items():
                values = {str(row[0]): row[column] for row in rows if row[column]}
                pairs = ((name, ["pinned"] if value is True else [*value[:MOST]]) for name, value in values.items())
                lists[file][directory] = dict(pairs)
        for file, memories in lists.items():
            _change(root, file, memories)


def _change(root: str, file: str, memories: Mapping[str, object]) -> None:
    """Replace what a file lists of some directories; one that lists nothing is removed. Raises OSError."""
    before = bindings_hot.listed(root, file)
    after = {directory: table for directory, table in {**before, **memories}.items() if table}
    path = f"{root}/{file}"
    if not after:
        fs_hot.unlink(path)
    elif after != before:
        data = fastjson_hot.dumps({"v": bindings_hot.VERSION, "dirs": after}).encode()
        fs_hot.write_atomic(path, data, durable=False)
