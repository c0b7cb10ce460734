"""Paths: the directories of memtui and Claude Code, project roots, symlinks, and who owns a path.

The rules are the client's (docs/file-formats.md): CLAUDE_CONFIG_DIR, the slug of a path, and the main repository root,
which worktrees and subdirectories share. The environment is always a parameter."""

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Variables that move the client's own memory (client/locate_hot.py).
MOVING = ("CLAUDE_CODE_PROJECT_DIR_NAME", "CLAUDE_CODE_REMOTE_MEMORY_DIR", "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE")
SLUG_LIMIT = 200
SOURCES = __file__[: -len("/memtui/base/paths_hot.py")]  # the directory in which Python finds memtui
# A prime below 2^24, so that six hex digits hold what a root leaves, and roots that differ in one letter differ in it.
KEY_PRIME = 16777213
MAX_LINKS = 40  # as the kernel has it
PROJECT_FILE = "project.json"  # in the inbox of a project: its root and its remote, as JSON
S_IFMT, S_IFDIR, S_IFREG = 0o170000, 0o040000, 0o100000
_HOMES: dict[str, str] = {}  # with symlinks followed, by path: looked up many times a second


def config_dir(env: "dict[str, str]") -> str:
    """Return Claude Code's configuration directory, symlinks followed. Raises KeyError without a home."""
    return followed(env.get("CLAUDE_CONFIG_DIR") or env["HOME"].rstrip("/") + "/.claude")


def root(env: "dict[str, str]") -> str:
    """Return memtui's own directory, with symlinks followed: MEMTUI_HOME, else `memtui/` in that of Claude Code."""
    return followed(env.get("MEMTUI_HOME") or config_dir(env) + "/memtui")


def home(env: "Mapping[str, str]") -> str:
    """Return the person's home directory, with symlinks followed; empty if it is not known, or `/`."""
    return followed(env.get("HOME", "")).rstrip("/")


def followed(path: str) -> str:
    """Return what `real` does; a path that was asked for before is not looked up again."""
    if path not in _HOMES:
        _HOMES[path] = real(path)
    return _HOMES[path]


def real(path: str) -> str:
    """Return a directory with symlinks followed, or by its name if it is relative, or if they lead in a circle."""
    return (resolve(path) if path.startswith("/") else None) or path.rstrip("/") or path


def index_base(root: str, directory: str) -> str:
    """Return how the paths of the index of a directory of memories begin (recall/segment_hot.py), named inside."""
    number = int.from_bytes(directory.encode("utf-8", "surrogatepass"), "little") % ((1 << 61) - 1)
    return f"{root}/recall/{number:016x}"


def checks_path(root: str, directory: str) -> str:
    """Return the path of what the own checks of a directory's memories said last (store/own_checks_hot.py)."""
    return f"{root}/run/checks-{index_base('', directory).rpartition('/')[2]}"


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits or "0"


def slug(path: str) -> str:
    """Return the client's directory name for a path: all but a-z A-Z 0-9 becomes `-`; a name over 200 gets a hash.
    Counted and hashed in UTF-16 units as the client's JavaScript does: an astral character becomes two dashes."""
    if not path.isascii():
        pairs = [c if c <= "\uffff" else chr(0xD7C0 + (ord(c) >> 10)) + chr(0xDC00 + (ord(c) & 0x3FF)) for c in path]
        path = "".join(pairs)
    name = "".join([c if c.isascii() and c.isalnum() else "-" for c in path])
    if len(name) <= SLUG_LIMIT:
        return name
    value = 0
    for char in path:
        value = (value * 31 + ord(char)) & 0xFFFFFFFF
    if value >= 0x80000000:
        value -= 0x100000000
    return name[:SLUG_LIMIT] + "-" + _base36(abs(value))


def project_key(root: str) -> str:
    """Return the name of a project in memtui's own files: the slug of its root, a dot, and six hex digits."""
    number = int.from_bytes(root.encode("utf-8", "surrogatepass"), "little") % KEY_PRIME
    return f"{slug(root)}.{number:06x}"


def slug_of(project: str) -> str:
    """Return the slug that the key of a project begins with; a slug, which has no dot, as it is."""
    return project.partition(".")[0]


def is_of(recorded: str, project: str) -> bool:
    """Tell whether a record that names a project is of the one with this key, or has its slug alone."""
    return recorded in (project, slug_of(project))


def _read(path: str) -> str:
    """Read a small file of git without its newline. Raises OSError."""
    from memtui.base import fs_hot  # few directories are linked worktrees

    return fs_hot.read_bytes(path, 4096).decode("utf-8", "surrogateescape").strip()


def exists(path: str) -> bool:
    try:
        posix.stat(path)
    except OSError:
        return False
    return True


def names_in(directory: str) -> "list[str]":
    """List the names in a directory, in no order; none if it can't be read."""
    try:
        return posix.listdir(directory)
    except OSError:
        return []


def join(base: str, name: str) -> str:
    """Join two paths as `posixpath.join` does, without importing it."""
    return name if name.startswith("/") else base.rstrip("/") + "/" + name


def parent(path: str) -> str:
    """Return the directory of an absolute path; the parent of `/` is `/`."""
    return path[: path.rfind("/")] or "/"


def normal(path: str) -> str:
    """Remove `.`, `..` and doubled slashes from an absolute path. Symlinks are not followed."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part and part != ".":
            parts.append(part)
    return "/" + "/".join(parts)


def started_in(env: "dict[str, str]", cwd: str) -> str:
    """Return the directory that a session was started in: CLAUDE_PROJECT_DIR, else `cwd`."""
    return normal(env.get("CLAUDE_PROJECT_DIR") or cwd)


def project_root(cwd: str) -> str:
    """Return the main repository root of a directory, also of a linked worktree; outside of any, the directory."""
    here = cwd.rstrip("/") or "/"
    while True:
        dot_git = here.rstrip("/") + "/.git"
        try:
            kind = posix.stat(dot_git).st_mode & S_IFMT
        except OSError:
            kind = 0
        if kind == S_IFDIR:
            return here
        if kind == S_IFREG:
            return _worktree_main(here, dot_git)
        if here == "/":
            return cwd.rstrip("/") or "/"
        here = parent(here)


def _worktree_main(here: str, dot_git: str) -> str:
    """Follow a `.git` file to the repository that lists its directory as a worktree, else to itself."""
    try:
        line = _read(dot_git)
        if not line.startswith("gitdir:"):
            return here
        gitdir = normal(join(here, line[7:].strip()))
        common = normal(join(gitdir, _read(gitdir + "/commondir")))
        back = _read(gitdir + "/gitdir")
    except (OSError, ValueError):  # ValueError: a NUL in a path
        return here
    if parent(gitdir) != common.rstrip("/") + "/worktrees" or not back.startswith("/"):
        return here
    if resolve(back) != (resolve(here) or here).rstrip("/") + "/.git":
        return here
    return parent(common) if common.endswith("/.git") else common


def inbox_dir(root_dir: str, project: "str | None") -> str:
    """Return the directory of guidance.md and what else waits for a project, by its key; None means global."""
    return root_dir + "/projects/" + project if project else root_dir + "/global"


def stranger(path: str) -> "int | None":
    """Return the user who owns a path, or what it links to, if neither we nor root do; None otherwise."""
    ours = (posix.geteuid(), 0)
    try:
        owner = posix.lstat(path).st_uid
        owner = posix.stat(path).st_uid if owner in ours else owner
    except OSError:
        return None
    return None if owner in ours else owner


def strangers(root_dir: str, project: "str | None" = None) -> "list[tuple[str, int]]":
    """List the directories of memtui, and of one project, that belong to another user, as (path, user). Where there are
    any, nothing may be read or written: whoever owns a directory can forge the person's words there."""
    owned = []
    for part in ("", "/log", "/run", "/sessions", "/global", "/global/claimed", "/projects", "/subconscious"):
        owner = stranger(root_dir + part)
        if owner is not None:
            owned.append((root_dir + part, owner))
    return owned + inbox_strangers(root_dir, project) if project else owned


def inbox_slugs(root_dir: str) -> "list[str]":
    """List the projects that have an inbox, sorted, without those whose inbox belongs to another user."""
    return [name for name in sorted(names_in(root_dir + "/projects")) if not inbox_strangers(root_dir, name)]


def inbox_strangers(root_dir: str, project: str) -> "list[tuple[str, int]]":
    """List the directories of one project's inbox that belong to another user, as (path, user)."""
    top = inbox_dir(root_dir, project)
    return [(path, owner) for path in (top, top + "/claimed") if (owner := stranger(path)) is not None]


def resolve(path: str) -> "str | None":
    """Follow the symlinks of an absolute path, also one of which parts don't exist. None for a loop."""
    path_so_far, rest, links = "/", [part for part in reversed(path.split("/")) if part], 0
    while rest:
        part = rest.pop()
        if part == ".":
            continue
        if part == "..":
            path_so_far = parent(path_so_far)
            continue
        here = path_so_far.rstrip("/") + "/" + part
        try:
            target = posix.readlink(here)
        except OSError:
            path_so_far = here
            continue
        links += 1
        if links > MAX_LINKS:
            return None
        if target.startswith("/"):
            path_so_far = "/"
        rest.extend([part for part in reversed(target.split("/")) if part])
    return path_so_far


def inside(base: str, path: str) -> bool:
    """Return whether a path lies below `base`, with symlinks followed in both."""
    top, target = resolve(base), resolve(path)
    return top is not None and target is not None and target.startswith(top.rstrip("/") + "/")
