"""What memories a directory holds, the most relevant first, fast enough for the start of a session with thousands.

A start reads the head: the few memories that can find room in an index, kept in `run/` with the times of the
directories they came from. Only when a file came, went or was replaced are all files looked at, and of them only those
read that are not as they were. Both caches may be deleted at any time.
"""

import posix

from memtui.core import fastjson, fs, ids, locate, summary, trust

TYPE_ORDER = ("feedback", "user", "tool", "project", "reference")
# An index has room for some 60 lines.
HEAD = 200
MAX_BYTES = 1 << 20
# A longer one is no line of an index, and half of it might say the opposite.
MAX_DESCRIPTION = 500
# Reading a few files again is cheaper than keeping caches of them.
CACHE_FROM = 48


class Line:
    """One memory: `file` relative to its directory, name, description, type, and the `ids.digest` of its bytes."""

    __slots__ = ("description", "digest", "file", "name", "stamp", "type")

    def __init__(self, row: "list[object]") -> None:
        self.file, self.name, self.description, self.type, self.digest = [str(cell) for cell in row[:5]]
        self.stamp = row[5]

    def row(self) -> "list[object]":
        """The line as a list, as the caches hold it."""
        return [self.file, self.name, self.description, self.type, self.digest, self.stamp]

    def rank(self) -> "tuple[int, int, str]":
        """Rules of behaviour first, then what is known of the person; the newest of each type first."""
        place = TYPE_ORDER.index(self.type) if self.type in TYPE_ORDER else len(TYPE_ORDER)
        return place, -self.stamp[0] if isinstance(self.stamp, list) else 0, self.file


class Catalog:
    """The memories of a directory that may be delivered: the `lines` that rank first, how many there are in all
    (`count`), and how many are left out because they are not trusted. `directories`: it and those below it."""

    __slots__ = ("count", "directories", "directory", "lines", "untrusted")

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.directories = [directory]
        self.lines: list[Line] = []
        self.count = 0
        self.untrusted = 0


def read(root: str, directory: str, trusted: "trust.Trust | None" = None) -> Catalog:
    """The catalog of a directory; with `trusted` only of what is trusted there. A missing directory holds nothing.

    Files that can't be read and symlinks that leave the directory are left out.
    """
    base = f"{root}/run/catalog-{ids.content_hash(directory)}"
    known = None if trusted is None else ids.content_hash(fastjson.dumps([trusted.always, sorted(trusted.hashes)]))
    head = _head(base, directory, known)
    return head if head is not None else _whole(base, directory, trusted, known)


def _stamp(path: str) -> "list[int]":
    """What tells a file from the one read before. The change time is the kernel's: no archive or `touch` sets it, and
    with it slip other words in under a digest that is trusted."""
    found = posix.stat(path)
    return [found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns]


def _head(base: str, directory: str, known: "str | None") -> "Catalog | None":
    """The catalog as it was at the last start, if it still holds."""
    try:
        kept = fastjson.loads_dict(fs.read(base + ".json", "cache"))
        dirs, rows = kept.get("dirs"), kept.get("rows")
        if kept.get("known") != known or not isinstance(dirs, dict) or not isinstance(rows, list):
            return None
        found = Catalog(directory)
        found.count, found.untrusted = int(str(kept.get("count"))), int(str(kept.get("untrusted")))
        if any(posix.stat(path).st_ctime_ns != stamp for path, stamp in dirs.items()):
            return None
        found.directories = list(dirs)
        for row in rows:
            line = Line(row)
            if _stamp(f"{directory}/{line.file}") != line.stamp:
                return None  # changed in place
            found.lines.append(line)
        return found
    except (OSError, ValueError, TypeError, LookupError):  # LookupError: a dict in place of a row
        return None


def _whole(base: str, directory: str, trusted: "trust.Trust | None", known: "str | None") -> Catalog:
    found = Catalog(directory)
    dirs: list[str] = []
    try:
        files = [file for file, problem in locate.walk(directory, dirs) if not problem]
    except OSError:
        return found
    found.directories = dirs or [directory]
    try:
        # Noted before the files are read: what changes meanwhile is looked at again.
        stamps = {path: posix.stat(path).st_ctime_ns for path in dirs}
    except OSError:
        stamps = {}
    old = _rows(base + ".rows") if len(files) >= CACHE_FROM else {}
    kept: list[bytes] = []
    ranked: list[tuple[tuple[int, int, str], int]] = []
    for file in files:
        try:
            line, raw = _line(directory, file, old.pop(file, b""))
        except OSError:
            continue
        if trusted is not None and not trusted.knows(line.digest):
            found.untrusted += 1
        else:
            ranked.append((line.rank(), len(kept)))
        kept.append(file.encode("utf-8", "surrogateescape") + b"\t" + raw + b"\n")
    ranked.sort()
    found.count = len(ranked)
    for _, number in ranked[:HEAD]:
        row = fastjson.loads(kept[number].partition(b"\t")[2])
        found.lines.append(Line(row if isinstance(row, list) else []))
    if len(files) >= CACHE_FROM and stamps:
        head = {"known": known, "count": found.count, "untrusted": found.untrusted, "dirs": stamps}
        _keep(base, head | {"rows": [line.row() for line in found.lines]}, kept)
    return found


def _rows(path: str) -> "dict[str, bytes]":
    """The cached rows by file; the file's name is in front, so that a row is parsed only when it is needed."""
    try:
        data = fs.read(path, "cache")
    except OSError:
        return {}
    found = {}
    for row in data.split(b"\n"):
        name, tab, rest = row.partition(b"\t")
        if tab:
            found[name.decode("utf-8", "surrogateescape")] = rest
    return found


def _line(directory: str, file: str, cached: bytes) -> "tuple[Line, bytes]":
    path = f"{directory}/{file}"
    stamp = _stamp(path)
    if cached:
        try:
            row = fastjson.loads(cached)
            if isinstance(row, list) and len(row) == 6 and row[5] == stamp:
                return Line(row), cached
        except ValueError:
            pass
    data = fs.read_bytes(path, MAX_BYTES)
    name, description, kind = summary.summarise(data)
    stem = file[file.rfind("/") + 1 :].removesuffix(".md")
    if len(description) > MAX_DESCRIPTION:
        description = f"(a description of {len(description)} characters, see the file)"
    line = Line([file, name or stem, description, kind, ids.digest(data), stamp])
    return line, fastjson.dumps(line.row()).encode()


def _keep(base: str, head: "dict[str, object]", rows: "list[bytes]") -> None:
    try:
        fs.write_atomic(base + ".rows", b"".join(rows), durable=False)
        fs.write_atomic(base + ".json", fastjson.dumps(head).encode(), durable=False)
    except OSError:
        pass
