"""The directories that hold memories, and the files in them that may be read. Hook path."""

import posix

from memtui.base import fs_hot, paths_hot
from memtui.base.paths_hot import inside
from memtui.client import settings_files_hot

INDEX_NAME = "MEMORY.md"
SUFFIX = ".md"
MAX_DEPTH = 8
# Names, in lower case without `_` before them, of directories whose memories are put away: no prompt recalls these.
SET_ASIDE = ("archive", "archived", "archives", "trash", "inbox")
LEAVES = "is a symlink that leaves its scope"
LEAVES_REPOSITORY = "is a symlink that leaves the repository"
PERSONAL_STORE = "personal"  # the client's name for its native memory, in its memory tools
# The directory in the client's native memory that a team shares: colleagues write it, and the client fetches it.
TEAM = "team"
# Below memtui's own directory: a directory for each team whose memories come over git (sync/sync.py).
TEAMS = "/teams"
# Native memories that a setting moved, as this process found them.
_moved: "set[str]" = set()
IN_REPOSITORY = "/.claude/memory"
# What the client takes for a name of a project's directory.
LONGEST_NAME = 64
NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"


def worktree_top(cwd: str) -> str:
    """Return the nearest directory from `cwd` upwards that holds a `.git`, also a linked worktree's, else `cwd`."""
    here_and_above = upwards(cwd)
    return next((here for here in here_and_above if _identity(here.rstrip("/") + "/.git")), here_and_above[0])


def upwards(cwd: str, top: str = "/") -> "list[str]":
    """List `cwd` and the directories above it, up to `top` or to `/`."""
    here = cwd.rstrip("/") or "/"
    directories = [here]
    while here not in {"/", top}:
        here = paths_hot.parent(here)
        directories.append(here)
    return directories


def _file_type(path: str) -> int:
    """Return the type of the file that a path leads to, as fs_hot.S_IFREG; 0 if there is none."""
    try:
        return posix.stat(path).st_mode & fs_hot.S_IFMT
    except OSError:
        return 0


def _identity(path: str) -> "tuple[int, int] | None":
    """Return the device and inode that a path leads to; None if there is nothing."""
    try:
        status = posix.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def global_dir(env: "dict[str, str]") -> str:
    """Return the directory of the global scope, which only memtui's hooks read."""
    return paths_hot.config_dir(env) + "/memory"


def project_dir(env: "dict[str, str]", cwd: str) -> "tuple[str, bool]":
    """Return the project's directory, and whether it exists: the nearest `.claude/memory` up to a work tree's top."""
    root = paths_hot.project_root(cwd)
    top = worktree_top(cwd)
    own = upwards(cwd, top)
    configs = [paths_hot.config_dir(env)]
    if env.get("HOME"):
        configs.append(env["HOME"].rstrip("/") + "/.claude")
    never = {_identity(config + "/memory") for config in configs}
    names = {config + "/memory" for config in configs}
    above = [] if _identity(top.rstrip("/") + "/.git") else upwards(paths_hot.parent(top))
    for here in [*own, root, *above]:
        directory = here.rstrip("/") + IN_REPOSITORY
        if directory in names or _file_type(directory) != fs_hot.S_IFDIR or _identity(directory) in never:
            continue
        # Where the client keeps sessions is somebody's configuration, and no project's.
        if here not in above or not _identity(here.rstrip("/") + "/.claude/projects"):
            return directory, True
    bare = root != top and _identity(root + "/.git") is None
    return (top if bare else root).rstrip("/") + IN_REPOSITORY, False


def delivered_dirs(env: "dict[str, str]", cwd: str) -> "list[tuple[str, str]]":
    """List (scope, directory) of what memtui delivers: of the project, unless the client loads it, global, of teams."""
    project, exists = project_dir(env, cwd)
    directories = [("global", global_dir(env))]
    if exists and project != auto_dir(env, cwd) and not leaves_repository(project):
        directories.insert(0, ("project", project))
    return directories + team_dirs(paths_hot.root(env))


def team_dirs(root: str) -> "list[tuple[str, str]]":
    """List (scope, directory) of the teams that this person syncs with: `team:NAME`, below memtui's own directory."""
    names = sorted(paths_hot.names_in(root + TEAMS))
    return [(f"{TEAM}:{name}", f"{root}{TEAMS}/{name}/memory") for name in names if not name.startswith(".")]


def needs_trust(scope: str) -> bool:
    """Tell whether memories of a scope are delivered only if a person has trusted their present bytes."""
    return scope == "project" or scope.startswith(TEAM)


def leaves_repository(directory: str) -> bool:
    """Tell whether project memories lie behind a symlink out of the repository: neither read nor trusted."""
    if not directory.endswith(IN_REPOSITORY):
        return False
    return not inside(directory[: -len(IN_REPOSITORY)] or "/", directory)


def auto_dir(env: "dict[str, str]", cwd: str) -> str:
    """Return the client's native memory of a project, or where `autoMemoryDirectory` or a variable points."""
    moved = _absolute(env.get("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", ""))
    if moved is None:
        setting = settings_files_hot.nearest(env, cwd, "autoMemoryDirectory", str)
        if isinstance(setting, str):
            if setting.startswith("~/"):
                home = paths_hot.home(env)
                setting = paths_hot.normal(home + "/" + setting[2:])
                setting = setting if setting.startswith(home + "/") else ""
            moved = _absolute(setting)
    if moved is not None:
        _moved.add(moved)
        return moved
    elsewhere = env.get("CLAUDE_CODE_REMOTE_MEMORY_DIR")
    name = env.get("CLAUDE_CODE_PROJECT_DIR_NAME", "") if not elsewhere and env.get("CLAUDE_CONFIG_DIR") else ""
    if not 0 < len(name) <= LONGEST_NAME or name.strip(NAME_CHARACTERS):
        name = paths_hot.slug(paths_hot.project_root(cwd))
    return f"{elsewhere or paths_hot.config_dir(env)}/projects/{name}/memory"


def is_native(directory: str) -> bool:
    """Tell whether a directory is a client's native memory, by its path: then its `team` is another scope."""
    parts = directory.rsplit("/", 3)
    return directory in _moved or (len(parts) == 4 and parts[1] == "projects" and parts[3] == "memory")


def _absolute(value: str) -> "str | None":
    if not value.startswith("/") or value.startswith("//") or "\0" in value:
        return None
    value = paths_hot.normal(value)
    return value if len(value) >= 3 else None


def stored(env: "dict[str, str]", cwd: str, store: "object", path: "object") -> str:
    """Return the file that a memory tool of the client names; empty for another store, or a path out of it."""
    if store != PERSONAL_STORE or not isinstance(path, str):
        return ""
    top = auto_dir(env, cwd)
    file = paths_hot.normal(f"{top}/{path}")
    return file if file.startswith(top + "/") else ""


class TooManyError(Exception):
    """A directory has more files than the caller has time for."""


def is_memory_name(name: str) -> bool:
    """Tell whether a file of this name is a memory; the index and hidden files are none."""
    return name.endswith(SUFFIX) and name != INDEX_NAME and not name.startswith(".")


def is_memory(top: str, path: str) -> bool:
    """Tell whether a path below the directory `top` is a memory that may be read, by the rules of `walk`."""
    return is_memory_name(path[path.rfind("/") + 1 :]) and _file_type(path) == fs_hot.S_IFREG and inside(top, path)


def is_set_aside(file: str) -> bool:
    """Tell whether a file, relative to a directory of memories, lies in an archive, a trash or an inbox there."""
    return "/" in file and any(part.lstrip("_") in SET_ASIDE for part in file.lower().split("/")[:-1])


def recallable(directory: str) -> "list[str]":
    """List the memories under a directory that a prompt may recall, relative to it, sorted. Raises OSError."""
    return [file for file, problem in walk(directory) if not problem and not is_set_aside(file)]


def walk(directory: str, directories: "list[str] | None" = None, most: int = -1) -> "list[tuple[str, str]]":
    """List the Markdown files under a directory as (relative path, problem), sorted. Raises OSError, TooManyError."""
    files: list[tuple[str, str]] = []
    through: list[str] = [] if directories is None else directories
    try:
        _walk(directory, directory.rstrip("/"), "", files, through, most)
    except (FileNotFoundError, NotADirectoryError):
        return []
    files.sort()
    return files


def _walk(top: str, here: str, prefix: str, files: "list[tuple[str, str]]", through: "list[str]", most: int) -> None:
    below = []
    through.append(here)
    with posix.scandir(here) as entries:
        for entry in entries:
            if most >= 0 and max(len(files), len(through)) > most:
                raise TooManyError
            name = entry.name
            if entry.is_file(follow_symlinks=False):
                if is_memory_name(name):
                    files.append((prefix + name, ""))
            elif name.startswith(".") or (name == TEAM and not prefix and is_native(top.rstrip("/"))):
                continue
            elif entry.is_symlink():
                if not inside(top, entry.path) and paths_hot.resolve(entry.path) != paths_hot.resolve(top):
                    if name.endswith(SUFFIX) or _file_type(entry.path) == fs_hot.S_IFDIR:
                        files.append((prefix + name, LEAVES))
                elif is_memory_name(name) and entry.is_file():
                    files.append((prefix + name, ""))
            elif not name.endswith(SUFFIX) and prefix.count("/") < MAX_DEPTH and entry.is_dir():
                below.append(name)
    for name in below:
        try:
            _walk(top, here + "/" + name, prefix + name + "/", files, through, most)
        except (FileNotFoundError, NotADirectoryError):
            continue  # removed since it was listed
        except OSError:
            files.append((prefix + name, "is a directory that can't be read"))


def scope_of(env: "dict[str, str]", cwd: str, path: str) -> "str | None":
    """Return a memory file's scope by its path: global, project, auto, team, team:NAME, agent:NAME; None for others."""
    if not path.endswith(SUFFIX) or path.endswith("/" + INDEX_NAME):
        return None
    config = paths_hot.config_dir(env)
    if path.startswith(config + "/memory/"):
        return "global"
    if path.startswith(config + "/projects/"):
        parts = path[len(config) + 10 :].split("/")
        if parts[1:2] == ["memory"]:
            return TEAM if parts[2] == TEAM and len(parts) > 3 else "auto"
    top = paths_hot.root(env) + TEAMS + "/"
    if path.startswith(top):
        return f"{TEAM}:{path[len(top) :].partition('/')[0]}"
    for part in (config + "/agent-memory/", "/.claude/agent-memory/", "/.claude/agent-memory-local/"):
        _, mark, rest = path.partition(part)
        if mark and "/" in rest:
            return "agent:" + rest[: rest.find("/")]
    if "/.claude/memory/" in path:
        return "project"
    own = auto_dir(env, cwd) + "/"
    if path.startswith(own):
        return TEAM if path.startswith(own + TEAM + "/") else "auto"
    return None
