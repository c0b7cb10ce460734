"""The catalog of a directory's memories, most relevant first: hooks `look`, workers `build` its caches in `run/`."""

import posix

from memtui.base import fastjson_hot, fs_hot, ids_hot, paths_hot
from memtui.client import locate_hot
from memtui.store.frontmatter import head_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.store import trust_hot

TYPE_ORDER = ("feedback", "user", "tool", "project", "reference")
# Lines in the head. An index has room for some 60.
HEAD = 200
MAX_BYTES = 1 << 20
# Characters. A longer description is left out whole: half of it might say the opposite.
MAX_DESCRIPTION = 500
# Memories. Reading fewer again is cheaper than a cache.
CACHE_FROM = 48
# Files that a hook has time to read or to check.
AT_ONCE = 320
# Lines of the head that a prompt has time to check (some microseconds each).
WATCHED = 64
# The bytes of the file of `touch` that are read; `build` finds the other changes.
TOUCHED_BYTES = 1 << 16


class CatalogLine:
    """A memory in a catalog: its `file`, name, description, type, the digest of its bytes, its file's `_stamp`."""

    __slots__ = ("description", "digest", "file", "name", "stamp", "type")

    def __init__(self, row: "list[object]") -> None:
        self.file, self.name, self.description, self.type, self.digest = [str(cell) for cell in row[:5]]
        self.stamp = row[5]

    def row(self) -> "list[object]":
        return [self.file, self.name, self.description, self.type, self.digest, self.stamp]

    def rank(self) -> "tuple[int, int, str]":
        """Return the sort key: by TYPE_ORDER, the newest of each type first."""
        place = TYPE_ORDER.index(self.type) if self.type in TYPE_ORDER else len(TYPE_ORDER)
        return place, -self.stamp[0] if isinstance(self.stamp, list) else 0, self.file


class Catalog:
    """The memories of a directory that may be delivered: the `lines` that rank first and the number of all (`count`);
    `untrusted` is the number of those that may not. `directories`: the directory and those below it. `large`: there are
    too many files for a hook to check each. `unready`: a hook had no time to find all changes, until `build` has run;
    with `building` no line is known yet. `files`: the caches that change with it: the head, and the file of `touch`."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.directories = [directory]
        self.lines: list[CatalogLine] = []
        self.count = 0
        self.untrusted = 0
        self.large = self.unready = self.building = False
        self.files: list[str] = []


def _base(root: str, directory: str) -> str:
    return f"{root}/run/catalog-{ids_hot.content_hash(directory)}"


def trusted(root: str, directory: str, project: bool) -> "trust_hot.Trust | None":
    """Read the trust in a directory; None if it does not matter, outside of a project."""
    if not project:
        return None
    from memtui.store import trust_hot  # few sessions have memories of a project

    return trust_hot.load(root, directory)


def _trust_stamp(root: str, project: bool) -> "list[int] | None":
    """Return a value that changes with trust.json; None if that does not matter, or is missing."""
    try:
        return _stamp(root + "/trust.json") if project else None
    except OSError:
        return None


def build(root: str, directory: str, project: bool) -> Catalog:
    """Build a directory's catalog, with `project` of trusted memories only; every file is checked."""
    base = _base(root, directory)
    try:
        fs_hot.unlink(base + ".touched")
    except OSError:
        pass
    stamp = _trust_stamp(root, project)
    return _whole(base, directory, trusted(root, directory, project), stamp)


def look(root: str, directory: str, project: bool, quick: bool = False) -> Catalog:
    """Return the catalog from the caches in the time that a hook has, or with `quick` a prompt; else `unready`."""
    base = _base(root, directory)
    stamp = _trust_stamp(root, project)
    cached = fs_hot.read_table(base + ".json")
    noted = touched(base + ".touched")
    catalog = None if noted else _held(cached, directory, stamp, WATCHED if quick else HEAD)
    if catalog is None and fastjson_hot.number(cached, "count") + fastjson_hot.number(cached, "untrusted") <= AT_ONCE:
        try:
            catalog = _whole(base, directory, trusted(root, directory, project), stamp, AT_ONCE)
        except locate_hot.TooManyError:
            pass
    if catalog is None:
        known_trust = trusted(root, directory, project)
        catalog = _updated(cached, directory, known_trust, noted, quick) or _not_yet(directory)
        # The trust changed since the head was built: only `build` finds what else it allows now.
        catalog.unready = catalog.unready or cached.get("known") != stamp
    number = catalog.count + catalog.untrusted
    catalog.files = [base + ".json", base + ".touched"] if number >= CACHE_FROM or catalog.building else []
    catalog.large = number > AT_ONCE
    return catalog


def touch(root: str, path: str) -> None:
    """Note that a memory was written, for the next `look` at its directory, if that has a cache. Never raises."""
    caches = [name for name in paths_hot.names_in(root + "/run") if name.startswith("catalog-")]
    directory = paths_hot.parent(path)
    while caches and directory != "/":
        base = _base(root, directory)
        try:
            posix.stat(base + ".json")
            file = path[len(directory) + 1 :]
            if "\n" not in file:
                fs_hot.append(base + ".touched", file.encode("utf-8", "surrogateescape") + b"\n")
        except OSError:
            pass
        directory = paths_hot.parent(directory)


def _stamp(path: str) -> "list[int]":
    """Return what shows that a file changed, with its change time, which no archive sets. Raises OSError."""
    status = posix.stat(path)
    return [status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns]


def _held(cached: "dict[str, object]", directory: str, stamp: "list[int] | None", watched: int) -> "Catalog | None":
    """Return the cached catalog; None if it is out of date by its directories or its first `watched` lines."""
    try:
        dirs, rows = cached.get("dirs"), cached.get("rows")
        if cached.get("known") != stamp or not isinstance(dirs, dict) or not isinstance(rows, list):
            return None
        catalog = _counted(cached, directory)
        if any(posix.stat(path).st_ctime_ns != stamp for path, stamp in dirs.items()):
            return None
        for row in rows:
            line = CatalogLine(row)
            if len(catalog.lines) < watched and _stamp(f"{directory}/{line.file}") != line.stamp:
                return None  # overwritten in place
            catalog.lines.append(line)
        return catalog
    except (OSError, ValueError, TypeError, LookupError):  # LookupError: a dict in place of a row
        return None


def _counted(cached: "dict[str, object]", directory: str) -> Catalog:
    catalog = Catalog(directory)
    catalog.count, catalog.untrusted = fastjson_hot.number(cached, "count"), fastjson_hot.number(cached, "untrusted")
    catalog.directories = list(fastjson_hot.table(cached, "dirs")) or [directory]
    return catalog


def _updated(
    cached: "dict[str, object]", directory: str, trusted: "trust_hot.Trust | None", noted: "list[str]", quick: bool
) -> "Catalog | None":
    """Return the cached catalog with the changes since then that can be found fast; None if the cache is damaged."""
    try:
        rows, dirs = cached["rows"], fastjson_hot.table(cached, "dirs")
        catalog = _counted(cached, directory)
        lines = {line.file: line for line in [CatalogLine(row) for row in (rows if isinstance(rows, list) else [])]}
        looked_at = list(lines.values())[: WATCHED if quick else None]
        changed = [line.file for line in looked_at if not _is_as_cached(directory, line)]
        changed += [file for file in noted if file not in changed]
        # Which files are new, only `build` has the time to find.
        moved = any(posix.stat(path).st_ctime_ns != stamp for path, stamp in dirs.items())
        catalog.unready = moved or len(changed) > AT_ONCE
    except (OSError, ValueError, TypeError, LookupError):
        return None
    before = set(lines)
    for file in changed[:AT_ONCE]:
        lines.pop(file, None)
        try:
            lines[file] = line_of(directory, file)
        except OSError:
            pass
    lines_known = {file: line for file, line in lines.items() if trusted is None or trusted.knows(line.digest)}
    # What is new, or was below the head, is counted by `build`.
    catalog.untrusted += len(before & (lines.keys() - lines_known.keys()))
    catalog.count += len(before & lines_known.keys()) - len(before)
    catalog.lines = sorted(lines_known.values(), key=CatalogLine.rank)[:HEAD]
    return catalog


def _is_as_cached(directory: str, line: CatalogLine) -> bool:
    try:
        return _stamp(f"{directory}/{line.file}") == line.stamp
    except OSError:
        return False


def _not_yet(directory: str) -> Catalog:
    """Return the catalog of a directory without a cache: only the number of files at its top."""
    catalog = Catalog(directory)
    catalog.unready = catalog.building = True
    catalog.count = sum(map(locate_hot.is_memory_name, paths_hot.names_in(directory)))
    return catalog


def touched(path: str) -> "list[str]":
    """List the memories that `touch` noted in a file. `build` removes that file."""
    data = fs_hot.head(path, TOUCHED_BYTES)
    return list(dict.fromkeys(data.decode("utf-8", "surrogateescape").split("\n")[:-1]))


def _whole(
    base: str, directory: str, trusted: "trust_hot.Trust | None", stamp: "list[int] | None", most: int = -1
) -> Catalog:
    """Return the catalog by all files, and cache it. Raises TooManyError for more than `most` (-1: any)."""
    catalog = Catalog(directory)
    dirs: list[str] = []
    try:
        files = [file for file, problem in locate_hot.walk(directory, dirs, most) if not problem]
    except OSError:
        return catalog
    catalog.directories = dirs or [directory]
    stamps: dict[str, object] = {}
    try:
        # Taken before the files are read: what changes meanwhile is checked again.
        for path in dirs:
            stamps[path] = posix.stat(path).st_ctime_ns
    except OSError:
        stamps = {}
    old = _rows(base + ".rows") if len(files) >= CACHE_FROM else {}
    rows_to_cache: list[bytes] = []
    lines: list[CatalogLine] = []
    for file in files:
        try:
            line, raw = _line(directory, file, old.pop(file, b""))
        except OSError:
            continue
        if trusted is not None and not trusted.knows(line.digest):
            catalog.untrusted += 1
        else:
            lines.append(line)
        rows_to_cache.append(file.encode("utf-8", "surrogateescape") + b"\t" + raw + b"\n")
    catalog.count = len(lines)
    catalog.lines = sorted(lines, key=CatalogLine.rank)[:HEAD]
    if len(files) >= CACHE_FROM and stamps:
        _write(base + ".rows", b"".join(rows_to_cache))
        rows = [line.row() for line in catalog.lines]
        head = {"known": stamp, "count": catalog.count, "untrusted": catalog.untrusted, "dirs": stamps, "rows": rows}
        _write(base + ".json", fastjson_hot.dumps(head).encode())
    return catalog


def _rows(path: str) -> "dict[str, bytes]":
    """Read the cached rows by file. The file's name is in front of a row, which is parsed only if it is needed."""
    try:
        data = fs_hot.read(path, "cache")
    except OSError:
        return {}
    by_file = {}
    for row in data.split(b"\n"):
        name, tab, rest = row.partition(b"\t")
        if tab:
            by_file[name.decode("utf-8", "surrogateescape")] = rest
    return by_file


def line_of(directory: str, file: str) -> CatalogLine:
    """Read the line of a memory as it is now. Raises OSError."""
    return _line(directory, file, b"")[0]


def _line(directory: str, file: str, cached: bytes) -> "tuple[CatalogLine, bytes]":
    """Return the line of a memory and its row: the `cached` row if the file did not change. Raises OSError."""
    path = f"{directory}/{file}"
    stamp = _stamp(path)
    if cached:
        try:
            row = fastjson_hot.loads(cached)
            if isinstance(row, list) and len(row) == 6 and row[5] == stamp:
                return CatalogLine(row), cached
        except ValueError:
            pass
    data = fs_hot.read_bytes(path, MAX_BYTES)
    if head_hot.first_conflict(data):
        raise OSError("git's conflict markers are in it")  # as good as unreadable
    name, description, kind = head_hot.summarise(data)
    stem = file[file.rfind("/") + 1 :].removesuffix(".md")
    if len(description) > MAX_DESCRIPTION:
        description = f"(a description of {len(description)} characters, see the file)"
    line = CatalogLine([file, name or stem, description, kind, ids_hot.digest(data), stamp])
    return line, fastjson_hot.dumps(line.row()).encode()


def _write(path: str, data: bytes) -> None:
    """Write a cache if its content differs, so that its change time shows a change."""
    try:
        if fs_hot.read(path, "cache") == data:
            return
    except OSError:
        pass
    fs_hot.write_cache(path, data)
