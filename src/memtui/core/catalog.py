"""What memories a directory holds, a line each, fast enough for the start of a session with thousands of them.

A file is read once; after that a stamp (time, size, inode) tells that it is the same. The cache lies in `run/` and
may be deleted at any time.
"""

import posix

from memtui.core import fastjson, fs, ids, locate, summary

MAX_BYTES = 1 << 20
# Reading a few files again is cheaper than keeping a cache of them.
CACHE_FROM = 48


class Line:
    """One memory: `file` relative to the directory, name, description, type, and the digest of its bytes."""

    __slots__ = ("description", "digest", "file", "mtime_ns", "name", "type")

    def __init__(self, file: str, mtime_ns: int, row: "list[str]") -> None:
        self.file = file
        self.mtime_ns = mtime_ns
        self.name, self.description, self.type, self.digest = row


def cache_path(root: str, directory: str) -> str:
    """Where the cache of a directory lies."""
    return f"{root}/run/catalog-{ids.content_hash(directory)}.json"


def read(root: str, directory: str) -> "list[Line]":
    """The memories below a directory, by file name. Missing directory: none. Files that can't be read are left out.

    Symlinks are followed only where they stay inside the directory.
    """
    stamps = _stamps(directory)
    cached: dict[str, object] = {}
    if len(stamps) >= CACHE_FROM:
        try:
            cached = fastjson.loads_dict(fs.read_bytes(cache_path(root, directory)))
        except OSError:
            pass
    lines, rows, stale = [], {}, False
    for file in sorted(stamps):
        stamp = stamps[file]
        kept = cached.get(file)
        if isinstance(kept, list) and len(kept) == 2 and kept[0] == stamp:
            row = kept[1]
        else:
            stale = True
            try:
                row = _row(f"{directory}/{file}")
            except OSError:
                continue
        rows[file] = [stamp, row]
        lines.append(Line(file, stamp[0], row))
    if len(stamps) >= CACHE_FROM and (stale or len(cached) != len(rows)):
        try:
            fs.write_atomic(cache_path(root, directory), fastjson.dumps(rows).encode(), durable=False)
        except OSError:
            pass
    return lines


def _stamps(directory: str) -> "dict[str, list[int]]":
    stamps = {}
    try:
        files = [file for file, problem in locate.walk(directory) if not problem]
    except OSError:
        return {}
    for file in files:
        try:
            found = posix.stat(f"{directory}/{file}")
        except OSError:
            continue
        stamps[file] = [found.st_mtime_ns, found.st_size, found.st_ino]
    return stamps


def _row(path: str) -> "list[str]":
    data = fs.read_bytes(path, MAX_BYTES)
    name, description, kind = summary.summarise(data)
    stem = path[path.rfind("/") + 1 :].removesuffix(".md")
    return [name or stem, description, kind, ids.digest(data)]
