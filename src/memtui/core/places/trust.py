"""Which memories of a project scope may be delivered. Whoever clones a repository did not write what is in its
`.claude/memory`: a memory is delivered only if its very bytes were trusted, or its directory is trusted for good. Who
trusts does so by core/memories/trusting.py, which goes through the journal.

`trust.json`: `{"v": 1, "dirs": {DIR: {"always": bool, "hashes": {HASH: name at the time}}}}`. Hook path.
"""

from memtui.core.base import fastjson, fs, ids, paths
from memtui.core.places import locate

VERSION = 1
LOCK_SECONDS = 5.0

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Trust:
    """What is trusted in one directory: `always`, else the `hashes` of trusted contents (hash to name)."""

    __slots__ = ("always", "hashes")

    def __init__(self, always: bool, hashes: "dict[str, str]") -> None:
        self.always = always
        self.hashes = hashes

    def allows(self, data: bytes) -> bool:
        """Whether a memory with exactly these bytes may be delivered."""
        return self.always or (bool(self.hashes) and ids.digest(data) in self.hashes)

    def knows(self, digest: str) -> bool:
        """As `allows`, for who has the `ids.digest` of the bytes already."""
        return self.always or digest in self.hashes


class Status:
    """The memories of a directory as relative paths: `trusted`, `new` (never trusted), `changed` (trusted once, with
    other bytes) and `refused` (relative path to reason); `always` if the whole directory is trusted."""

    __slots__ = ("always", "changed", "new", "refused", "trusted")

    def __init__(self, always: bool) -> None:
        self.always = always
        self.trusted: list[str] = []
        self.new: list[str] = []
        self.changed: list[str] = []
        self.refused: dict[str, str] = {}


def path(root: str) -> str:
    """Where trust is recorded."""
    return root + "/trust.json"


def key(memory_dir: str) -> str:
    """The name under which a directory's trust is kept: its real path, a linked worktree's as in the main work tree."""
    found = paths.resolve(memory_dir) or memory_dir
    top = locate.worktree_top(found)
    main = paths.project_root(found)
    if main != top and _is_own_worktree(top):
        return (paths.resolve(main) or main) + found[len(top) :]
    return found


def _is_own_worktree(top: str) -> bool:
    """Git notes in the main repository where each worktree is. A `.git` file that came with an unpacked archive can
    point into any repository, but the repository does not point back."""
    try:
        line = fs.read_bytes(top + "/.git", 4096).decode("utf-8", "surrogateescape").strip()
        gitdir = paths.normal(paths.join(top, line.removeprefix("gitdir:").strip()))
        back = fs.read_bytes(gitdir + "/gitdir", 4096).decode("utf-8", "surrogateescape").strip()
    except OSError:
        return False
    return paths.resolve(paths.join(gitdir, back)) == paths.resolve(top + "/.git")


def _read_all(root: str) -> "dict[str, object]":
    """The whole file; a missing one is empty. Raises OSError, ValueError (which never means: trust)."""
    try:
        data = fs.read(path(root), "trust")
    except FileNotFoundError:
        return {}
    if not data.strip():
        return {}
    value = fastjson.loads(data)
    if not isinstance(value, dict) or value.get("v") != VERSION or not isinstance(value.get("dirs"), dict):
        raise ValueError("not a trust file of this version")
    return value


def load(root: str, memory_dir: str) -> Trust:
    """What is trusted in a directory; nothing where trust.json can't be read."""
    try:
        return recorded(root, memory_dir)
    except (OSError, ValueError, RecursionError):
        return Trust(False, {})


def recorded(root: str, memory_dir: str) -> Trust:
    """As `load`, but raises OSError, ValueError, RecursionError where trust.json can't be read."""
    dirs = _read_all(root).get("dirs")
    found = dirs.get(key(memory_dir)) if isinstance(dirs, dict) else None
    if not isinstance(found, dict):
        return Trust(False, {})
    hashes = found.get("hashes")
    return Trust(found.get("always") is True, hashes if isinstance(hashes, dict) else {})


def everything(root: str) -> "dict[str, Trust]":
    """What is trusted, by the `key` of each directory. Raises OSError, ValueError where trust.json can't be read."""
    dirs = _read_all(root).get("dirs")
    found = {}
    for name, row in dirs.items() if isinstance(dirs, dict) else ():
        hashes = row.get("hashes") if isinstance(row, dict) else None
        if isinstance(row, dict):
            found[name] = Trust(row.get("always") is True, hashes if isinstance(hashes, dict) else {})
    return found


def trusted_names(root: str, memory_dir: str) -> "set[str]":
    """Relative paths of the memories in a directory that may be delivered as they are now.

    Who delivers should still ask `Trust.allows` of the very bytes that go out.
    """
    allowed = load(root, memory_dir)
    if not allowed.always and not allowed.hashes:
        return set()
    found: set[str] = set()
    try:
        listed = locate.walk(memory_dir)
    except OSError:
        return found
    for name, problem in listed:
        if problem:
            continue
        try:
            if allowed.always or allowed.allows(fs.read_bytes(memory_dir + "/" + name)):
                found.add(name)
        except OSError:
            continue
    return found


def status(root: str, memory_dir: str) -> Status:
    """How each memory of a directory stands. Raises OSError if the directory can't be read."""
    known = load(root, memory_dir)
    names = set(known.hashes.values())
    result = Status(known.always)
    if locate.leaves_repository(memory_dir):
        result.refused["."] = locate.LEAVES_REPOSITORY
        return result
    for name, problem in locate.walk(memory_dir):
        try:
            data = b"" if problem else fs.read_bytes(memory_dir + "/" + name)
        except (FileNotFoundError, NotADirectoryError):
            continue  # it went since it was listed
        except OSError as error:
            problem = error.strerror or "can't be read"  # noqa: PLW2901
        if problem:
            result.refused[name] = problem
        elif known.allows(data):
            result.trusted.append(name)
        elif name in names:
            result.changed.append(name)
        else:
            result.new.append(name)
    return result


def update(
    root: str, name: str, removed: "Iterable[str]", added: "dict[str, str]", always: "bool | None" = None
) -> None:
    """Change what is trusted in the directory of that `key`, whatever else is trusted by then; `always` None: as it is.
    Raises MemtuiError."""
    from memtui.core.base.errors import MemtuiError

    try:
        with fs.Lock(root + "/run/trust.lock", LOCK_SECONDS):
            whole = _read_all(root)
            dirs = whole.get("dirs")
            dirs = dict(dirs) if isinstance(dirs, dict) else {}
            found = dirs.pop(name, None)
            old = found if isinstance(found, dict) else {}
            known = old.get("hashes")
            hashes = dict(known) if isinstance(known, dict) else {}
            for digest in removed:
                hashes.pop(digest, None)
            hashes.update(added)
            whether = old.get("always") is True if always is None else always
            if hashes or whether:
                dirs[name] = {"always": whether, "hashes": hashes}
            if dirs.get(name) != found:
                fs.write_atomic(path(root), fastjson.dumps({**whole, "v": VERSION, "dirs": dirs}).encode() + b"\n")
    except ValueError as error:
        raise MemtuiError(
            f"{path(root)} can't be read: {error}", "Fix it, or remove it to trust nothing, and try again."
        ) from error
    except OSError as error:
        raise MemtuiError(
            f"{path(root)} can't be written: {error.strerror}", "Nothing was changed. Fix that and try again."
        ) from error
