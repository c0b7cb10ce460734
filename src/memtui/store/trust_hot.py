"""Trust: a repository's memory is delivered only if its very bytes, or its whole directory, were trusted.

`trust.json`: `{"v": 1, "dirs": {DIR: {"always": bool, "hashes": {HASH: name at the time}}}}`. Hook path."""

from memtui.base import fastjson_hot, fs_hot, ids_hot, paths_hot
from memtui.client import locate_hot

VERSION = 1


class Trust:
    """The trust in one directory: `always` for all of it, else the `hashes` of trusted contents (hash to name)."""

    __slots__ = ("always", "hashes")

    def __init__(self, always: bool, hashes: "dict[str, str]") -> None:
        self.always = always
        self.hashes = hashes

    def allows(self, data: bytes) -> bool:
        """Tell whether a memory with exactly these bytes may be delivered."""
        return self.always or (bool(self.hashes) and ids_hot.digest(data) in self.hashes)

    def knows(self, digest: str) -> bool:
        """Tell whether a memory whose bytes have this `ids_hot.digest` may be delivered."""
        return self.always or digest in self.hashes


class TrustStatus:
    """A directory's memories by path: `trusted`, `new`, `changed`, `refused` with the reason; `always`: all are."""

    __slots__ = ("always", "changed", "new", "refused", "trusted")

    def __init__(self, always: bool) -> None:
        self.always = always
        self.trusted: list[str] = []
        self.new: list[str] = []
        self.changed: list[str] = []
        self.refused: dict[str, str] = {}


def path(root: str) -> str:
    return root + "/trust.json"


def key(memory_dir: str) -> str:
    """Return the key of a directory in trust.json: its real path; in a linked worktree that in the main work tree."""
    directory = paths_hot.resolve(memory_dir) or memory_dir
    top = locate_hot.worktree_top(directory)
    main = paths_hot.project_root(directory)
    if main != top and _is_own_worktree(top):
        return (paths_hot.resolve(main) or main) + directory[len(top) :]
    return directory


def _is_own_worktree(top: str) -> bool:
    """Tell whether the main repository points back to this worktree: an archive's `.git` can point anywhere."""
    try:
        line = fs_hot.read_bytes(top + "/.git", 4096).decode("utf-8", "surrogateescape").strip()
        gitdir = paths_hot.normal(paths_hot.join(top, line.removeprefix("gitdir:").strip()))
        back = fs_hot.read_bytes(gitdir + "/gitdir", 4096).decode("utf-8", "surrogateescape").strip()
    except OSError:
        return False
    return paths_hot.resolve(paths_hot.join(gitdir, back)) == paths_hot.resolve(top + "/.git")


def read_all(root: str) -> "dict[str, object]":
    """Read trust.json; a missing or empty file gives `{}`. Raises OSError, ValueError."""
    try:
        data = fs_hot.read(path(root), "trust")
    except FileNotFoundError:
        return {}
    if not data.strip():
        return {}
    value = fastjson_hot.loads(data)
    if not isinstance(value, dict) or value.get("v") != VERSION or not isinstance(value.get("dirs"), dict):
        raise ValueError("not a trust file of this version")
    return value


def _trust_of(row: object) -> Trust:
    """Read the trust in a directory from its row; a row of another shape is no trust."""
    row = row if isinstance(row, dict) else {}
    hashes = row.get("hashes")
    return Trust(row.get("always") is True, hashes if isinstance(hashes, dict) else {})


def load(root: str, memory_dir: str) -> Trust:
    """Read the trust in a directory; there is none if trust.json can't be read."""
    try:
        return recorded(root, memory_dir)
    except (OSError, ValueError, RecursionError):
        return Trust(False, {})


def recorded(root: str, memory_dir: str) -> Trust:
    """Read the trust in a directory. Raises OSError, ValueError, RecursionError if trust.json can't be read."""
    return _trust_of(fastjson_hot.table(read_all(root), "dirs").get(key(memory_dir)))


def everything(root: str) -> "dict[str, Trust]":
    """Read the trust in all directories, by `key`. Raises OSError, ValueError if trust.json can't be read."""
    dirs = fastjson_hot.table(read_all(root), "dirs")
    return {name: _trust_of(row) for name, row in dirs.items() if isinstance(row, dict)}


def trusted_names(root: str, memory_dir: str) -> "set[str]":
    """Return the memories that may be delivered as they are now; a delivery checks the bytes that it sends."""
    allowed = load(root, memory_dir)
    if not allowed.always and not allowed.hashes:
        return set()
    try:
        return set(status(root, memory_dir).trusted)
    except OSError:
        return set()


def status(root: str, memory_dir: str) -> TrustStatus:
    """Sort the memories of a directory by trust. Raises OSError if the directory can't be read."""
    trust = load(root, memory_dir)
    names = set(trust.hashes.values())
    result = TrustStatus(trust.always)
    if locate_hot.leaves_repository(memory_dir):
        result.refused["."] = locate_hot.LEAVES_REPOSITORY
        return result
    for name, problem in locate_hot.walk(memory_dir):
        try:
            data = b"" if problem else fs_hot.read_bytes(memory_dir + "/" + name)
        except (FileNotFoundError, NotADirectoryError):
            continue  # removed since it was listed
        except OSError as error:
            problem = error.strerror or "can't be read"  # noqa: PLW2901
        if problem:
            result.refused[name] = problem
        elif trust.allows(data):
            result.trusted.append(name)
        elif name in names:
            result.changed.append(name)
        else:
            result.new.append(name)
    return result
