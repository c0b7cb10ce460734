"""The catalog of a directory's memories, the most relevant first, fast enough for a start with thousands.

Kept in `run/` of a directory that is not small: the head, the few memories that can find room in an index, with the
times of the directories they came from; the names in those directories; a row a memory. All of it may be deleted at any
time. `look`, for hooks, reads the head, and of what came or changed since no more than it has time for; `build`, for
workers, looks at every file, and reads those that are not as they were.
"""

import posix

from memtui.core.base import fastjson, fs, ids, paths, session_state
from memtui.core.frontmatter import head as memory_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.core.places import trust

TYPE_ORDER = ("feedback", "user", "tool", "project", "reference")
# An index has room for some 60 lines.
HEAD = 200
MAX_BYTES = 1 << 20
# A longer one is no line of an index, and half of it might say the opposite.
MAX_DESCRIPTION = 500
# Reading a few files again is cheaper than keeping caches of them.
CACHE_FROM = 48
# A hook has time to read, or to look at, so many files.
AT_ONCE = 320
# A prompt, which somebody waits for, has time to look at so many of the head (a look costs some microseconds, and an
# index has room for about as many lines), and to list so many names.
WATCHED = 64
LISTED = 2000
# So much of what was noted as changed (`touch`) is heeded; `build` finds the rest.
TOUCHED_BYTES = 1 << 16


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
    (`count`), and how many are left out because they are not trusted. `directories`: it and those below it.

    `large`: a hook does not look at each of its files. `unready`: there is more to know than a hook had time to find
    out, until `build` has run; with `building` no line is known yet. `files`: what tells by its time of a change, the
    head that is kept and what `touch` notes.
    """

    __slots__ = ("building", "count", "directories", "directory", "files", "large", "lines", "unready", "untrusted")

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.directories = [directory]
        self.lines: list[Line] = []
        self.count = 0
        self.untrusted = 0
        self.large = self.unready = self.building = False
        self.files: list[str] = []


def served(env: "dict[str, str]", cwd: str) -> "list[tuple[str, str]]":
    """(scope, directory) of the project's memories, if a session may know of them, and of the global ones. The client
    loads its native ones itself, also where the person has put them into the project."""
    from memtui.core.places import locate

    project, exists = locate.project_dir(env, cwd)
    found = []
    if exists and project != locate.auto_dir(env, cwd) and not locate.leaves_repository(project):
        found.append(("project", project))
    return [*found, ("global", locate.global_dir(env))]


def _base(root: str, directory: str) -> str:
    return f"{root}/run/catalog-{ids.content_hash(directory)}"


def trusted(root: str, directory: str, project: bool) -> "trust.Trust | None":
    """What is trusted in a directory; None where trust does not matter."""
    if not project:
        return None
    from memtui.core.places import trust  # few sessions have memories of a project

    return trust.load(root, directory)


def _trust_stamp(root: str, project: bool) -> "list[int] | None":
    """What changes with what is trusted; None where that does not matter, or nothing is."""
    try:
        return _stamp(root + "/trust.json") if project else None
    except OSError:
        return None


def build(root: str, directory: str, project: bool) -> Catalog:
    """The catalog of a directory, however long it takes; with `project` only of what is trusted there. A missing
    directory holds nothing. Files that can't be read and symlinks that leave the directory are left out.

    Every file is looked at: one that was replaced leaves no other trace.
    """
    base = _base(root, directory)
    try:
        fs.unlink(base + ".touched")
    except OSError:
        pass
    known = _trust_stamp(root, project)
    return _whole(base, directory, trusted(root, directory, project), known)


def look(root: str, directory: str, project: bool, quick: bool = False) -> Catalog:
    """As `build`, but from what is kept, and in the time that a hook has: what there is too much of is `unready`.
    `quick`: in the time that a prompt has."""
    from memtui.core.places import locate

    base = _base(root, directory)
    known = _trust_stamp(root, project)
    kept = _kept(base)
    noted = touched(base + ".touched")
    found = None if noted else _held(kept, directory, known, WATCHED if quick else HEAD)
    if found is None and session_state.number(kept, "count") + session_state.number(kept, "untrusted") <= AT_ONCE:
        try:
            found = _whole(base, directory, trusted(root, directory, project), known, AT_ONCE)
        except locate.TooManyError:
            pass
    if found is None and not kept:
        found = _not_yet(directory)
    elif found is None:
        update = _Update(directory, trusted(root, directory, project))
        found = _updated(base, kept, update, noted, quick) or _not_yet(directory)
        # Another trust than the one that the head is of: what else it allows, only `build` can tell.
        found.unready = found.unready or kept.get("known") != known
    number = found.count + found.untrusted
    found.files = [base + ".json", base + ".touched"] if number >= CACHE_FROM or found.building else []
    found.large = number > AT_ONCE
    return found


def touch(root: str, path: str) -> None:
    """Note that a memory was written, for the next `look` at the directory that it is in, if that one is kept. What
    can't be noted `build` finds. Never raises."""
    directory = paths.parent(path)
    while directory != "/":
        base = _base(root, directory)
        try:
            posix.stat(base + ".json")
            file = path[len(directory) + 1 :]
            if "\n" not in file:
                fs.append(base + ".touched", file.encode("utf-8", "surrogateescape") + b"\n")
        except OSError:
            pass
        directory = paths.parent(directory)


def _stamp(path: str) -> "list[int]":
    """What tells a file from the one read before. The change time is the kernel's: no archive or `touch` sets it, and
    with it slip other words in under a digest that is trusted."""
    found = posix.stat(path)
    return [found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns]


def _kept(base: str) -> "dict[str, object]":
    try:
        return fastjson.loads_dict(fs.read(base + ".json", "cache"))
    except OSError:
        return {}


def _held(kept: "dict[str, object]", directory: str, known: "list[int] | None", watched: int) -> "Catalog | None":
    """The catalog as it was kept last, if it still holds, as far as `watched` lines tell."""
    try:
        dirs, rows = kept.get("dirs"), kept.get("rows")
        if kept.get("known") != known or not isinstance(dirs, dict) or not isinstance(rows, list):
            return None
        found = _counted(kept, directory)
        if any(posix.stat(path).st_ctime_ns != stamp for path, stamp in dirs.items()):
            return None
        for row in rows:
            line = Line(row)
            if len(found.lines) < watched and _stamp(f"{directory}/{line.file}") != line.stamp:
                return None  # changed in place
            found.lines.append(line)
        return found
    except (OSError, ValueError, TypeError, LookupError):  # LookupError: a dict in place of a row
        return None


def _counted(kept: "dict[str, object]", directory: str) -> Catalog:
    found = Catalog(directory)
    found.count, found.untrusted = session_state.number(kept, "count"), session_state.number(kept, "untrusted")
    found.directories = list(session_state.table(kept, "dirs")) or [directory]
    return found


def _updated(
    base: str, kept: "dict[str, object]", update: "_Update", noted: "list[str]", quick: bool
) -> "Catalog | None":
    """The catalog as it was kept, with what is seen at a glance to have come, gone or changed since; None where what
    was kept is of no use."""
    directory = update.directory
    try:
        rows, dirs = kept["rows"], session_state.table(kept, "dirs")
        for row in rows if isinstance(rows, list) else []:
            line = Line(row)
            update.lines[line.file] = line
        found = _counted(kept, directory)
        for number, file in enumerate(list(update.lines)):
            update.check(file, number < WATCHED or not quick)
        for file in noted:
            update.read(file)
        moved = [path for path, stamp in dirs.items() if posix.stat(path).st_ctime_ns != stamp]
        listed: dict[str, list[str]] = {}
        for path in moved if not quick or found.count + found.untrusted <= LISTED else []:
            listed = listed or _names(base + ".names")
            update.compare(path, path[len(directory) + 1 :] + "/" if path != directory else "", listed[path])
    except (OSError, ValueError, TypeError, LookupError):
        return None
    found.unready = update.unsure or (bool(moved) and not update.seen)
    found.count += update.more
    found.untrusted = max(0, found.untrusted + update.untrusted)
    found.lines = sorted(update.lines.values(), key=Line.rank)[:HEAD]
    return found


class _Update:
    """What is found out about the files of a directory since its head was kept. `more`, `untrusted`: by how many there
    are more; `seen`: whether any change was; `unsure`: whether there may be others."""

    def __init__(self, directory: str, trusted: "trust.Trust | None") -> None:
        self.directory = directory
        self.lines: dict[str, Line] = {}
        self.trusted = trusted
        self.more = self.untrusted = self.looked = 0
        self.seen = self.unsure = False

    def check(self, file: str, watched: bool) -> None:
        """Drop or renew a line whose file, if it is `watched`, or trust is not as it was."""
        line = self.lines[file]
        try:
            same = not watched or _stamp(f"{self.directory}/{file}") == line.stamp
        except OSError:
            same = False
        if not same:
            self.read(file)
        elif self.trusted is not None and not self.trusted.knows(line.digest):
            del self.lines[file]
            self.more -= 1
            self.untrusted += 1

    def read(self, file: str, new: bool = False) -> None:
        """Read one file anew."""
        self.looked += 1
        if self.looked > AT_ONCE:
            self.unsure = True
            return
        self.seen = True
        known = self.lines.pop(file, None) is not None
        try:
            line = line_of(self.directory, file)
        except OSError:
            return
        if self.trusted is not None and not self.trusted.knows(line.digest):
            self.untrusted += new or known
            self.more -= known
            return
        self.lines[file] = line
        self.more += new

    def compare(self, path: str, prefix: str, before: "list[str]") -> None:
        """Read what has come into a directory, drop what has gone."""
        from memtui.core.places import locate

        now = posix.listdir(path)
        come = set(now).difference(before)
        for name in come:
            if name.startswith("."):
                continue
            if locate.is_memory(self.directory, f"{path}/{name}"):
                self.read(prefix + name, new=True)
            else:
                self.unsure = True  # a directory, or none of ours
        for name in set(before).difference(now) if len(now) - len(come) < len(before) else ():
            if name.endswith(locate.SUFFIX) and name != locate.INDEX_NAME and not name.startswith("."):
                self.seen = True
                self.more -= 1
                self.lines.pop(prefix + name, None)


def _not_yet(directory: str) -> Catalog:
    from memtui.core.places import locate

    found = Catalog(directory)
    found.unready = found.building = True
    try:
        names = posix.listdir(directory)
    except OSError:
        return found
    found.count = len([n for n in names if n.endswith(locate.SUFFIX) and n != locate.INDEX_NAME and n[0] != "."])
    return found


def touched(path: str) -> "list[str]":
    """The memories that `touch` has noted in a file, which `build` removes."""
    try:
        data = fs.read_bytes(path, TOUCHED_BYTES)
    except OSError:
        return []
    return list(dict.fromkeys(data.decode("utf-8", "surrogateescape").split("\n")[:-1]))


def _names(path: str) -> "dict[str, list[str]]":
    """The names in each directory, as they were listed last."""
    words = fs.read(path, "cache").decode("utf-8", "surrogateescape").split("\0")
    return {words[at]: words[at + 1].split("\n") for at in range(0, len(words) - 1, 2)}


def _whole(
    base: str, directory: str, trusted: "trust.Trust | None", known: "list[int] | None", most: int = -1
) -> Catalog:
    """The catalog from the files. Raises locate.TooManyError for more than `most` of them (-1: any number)."""
    from memtui.core.places import locate

    found = Catalog(directory)
    dirs: list[str] = []
    try:
        files = [file for file, problem in locate.walk(directory, dirs, most) if not problem]
    except OSError:
        return found
    found.directories = dirs or [directory]
    stamps: dict[str, object] = {}
    listed: dict[str, list[str]] = {}
    try:
        # Noted before the files are read: what changes meanwhile is looked at again.
        for path in dirs:
            stamps[path] = posix.stat(path).st_ctime_ns
            listed[path] = posix.listdir(path) if len(files) >= CACHE_FROM else []
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
        _write(base + ".rows", b"".join(kept))
        head = {"known": known, "count": found.count, "untrusted": found.untrusted, "dirs": stamps}
        rows: list[object] = [line.row() for line in found.lines]
        words = [word for path, names in listed.items() for word in (path, "\n".join(names))]
        _write(base + ".names", "\0".join([*words, ""]).encode("utf-8", "surrogateescape"))
        _write(base + ".json", fastjson.dumps({**head, "rows": rows}).encode())
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


def line_of(directory: str, file: str) -> Line:
    """The line of a memory as it is now. Raises OSError."""
    return _line(directory, file, b"")[0]


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
    name, description, kind = memory_head.summarise(data)
    stem = file[file.rfind("/") + 1 :].removesuffix(".md")
    if len(description) > MAX_DESCRIPTION:
        description = f"(a description of {len(description)} characters, see the file)"
    line = Line([file, name or stem, description, kind, ids.digest(data), stamp])
    return line, fastjson.dumps(line.row()).encode()


def _write(path: str, data: bytes) -> None:
    """Write a cache that is not as it should be; one that is keeps its time."""
    try:
        if fs.read(path, "cache") == data:
            return
    except OSError:
        pass
    fs.write_cache(path, data)
