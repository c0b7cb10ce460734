"""The files, commands and history of the project that memories are about."""

import json
import os
import re
from collections.abc import Callable, Collection
from functools import cached_property

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.client import locate_hot
from memtui.store.scopes import Scope
from memtui.tidy.checks import history
from memtui.tidy.checks.repository import Repository

# Files of a project without a repository; bytes of one.
FILES, FILE_BYTES = 20_000, 1 << 20
RULE = re.compile(r"^([^\s:#=][^:#=\n]*?)\s*:(?![:=])", re.MULTILINE)
# What makes the targets of a makefile unknown: includes, patterns, variables.
UNKNOWN = re.compile(r"^(?:-|s)?include\b|^[^\t#\n]*[%$][^\n]*:|^\$\(", re.MULTILINE)
# Files of a person in which git is told what to ignore.
IGNORING = ("~/.gitconfig", "~/.config/git/config", "~/.config/git/ignore")
MAKEFILES = ("Makefile", "makefile", "GNUmakefile")


def top_of(scope: Scope) -> str:
    """Return the directory of the project that a scope's memories are about; in a linked work tree that tree."""
    top = locate_hot.worktree_top(scope.directory) if scope.kind == "project" else ""
    return top if top and os.path.lexists(f"{top}/.git") else scope.root_path or ""


class ProjectFiles:
    """The project that memories are about: its directory `top`, its repository; `root`: memtui's own directory, if any,
    which keeps what git said; `go_on`: asked while git is. `is_sure`: git answered all that it was asked so far."""

    def __init__(self, top: str, root: str = "", go_on: Callable[[], bool] = lambda: True) -> None:
        self.top, self.git, self.go_on, self.is_sure = top, Repository(top, go_on), go_on, True
        self.cache = f"{root}/run/git-{paths_hot.project_key(top)}" if root else ""

    @cached_property
    def state(self) -> str:
        """What the answers here depend on, but for `exists`: HEAD, the files with their times, what git ignores."""
        ignoring = (f"{self.git.top}/.git/info/exclude", *map(os.path.expanduser, IGNORING))
        paths = [*(f"{self.top}/{path}" for path in sorted(self.git.tracked)), *ignoring]
        return repr((self.git.head, [(path, fs_hot.stamp(path)) for path in paths]))

    @cached_property
    def files(self) -> frozenset[str]:
        """The files of the project: those that git does not ignore; without a repository those that are not hidden."""
        if self.git.there:
            return self.git.tracked
        files: list[str] = []
        for here, directories, names in os.walk(self.top):
            directories[:] = [name for name in directories if not name.startswith(".") and name != "node_modules"]
            files += [os.path.relpath(f"{here}/{name}", self.top) for name in names if not name.startswith(".")]
            if len(files) > FILES:
                break
        return frozenset(files[:FILES])

    def read(self, path: str) -> str:
        """Return the text of a file of the project; empty if it can't be read or leads out of it."""
        whole = f"{self.top}/{path}"
        data = fs_hot.head(whole, FILE_BYTES) if paths_hot.inside(self.top, whole) else b""
        return data.decode("utf-8", "replace")

    @cached_property
    def scripts(self) -> set[str] | None:
        """The names of scripts in any package.json; None if there is none at the top, or one can't be read."""
        files = [path for path in self.git.tracked if path.rpartition("/")[2] == "package.json"]
        if "package.json" not in files:
            return None
        names: set[str] = set()
        for path in files:
            try:
                package = json.loads(self.read(path))
            except ValueError:
                return None
            names.update(fastjson_hot.table(package, "scripts") if isinstance(package, dict) else ())
        return names

    @cached_property
    def targets(self) -> set[str] | None:
        """The targets in any makefile; None if there is none at the top, or one has targets that can't be known."""
        files = [path for path in self.git.tracked if path.rpartition("/")[2] in MAKEFILES or path.endswith(".mk")]
        texts = [self.read(path) for path in files]
        if not any(path in MAKEFILES for path in files) or any(map(UNKNOWN.search, texts)):
            return None
        return {name for text in texts for match in RULE.finditer(text) for name in match[1].split()}

    def exists(self, path: str) -> bool:
        bare = path.rstrip("/")
        return os.path.lexists(f"{self.top}/{bare}") or f"/{bare}/" in self._joined

    @cached_property
    def _joined(self) -> str:
        return "/".join(f"\0/{file}/" for file in self.git.tracked)

    @cached_property
    def _removed(self) -> dict[str, list[str]]:
        try:
            return history.read_removed(self.git, self.cache and self.cache + ".removed") if self.git.head else {}
        except OSError:
            self.is_sure = False
            return {}

    def removed(self, path: str) -> tuple[str, str]:
        """Return the commit that removed a path, empty if none did, and where it is now, empty if it is not known."""
        at = bare = path.rstrip("/")
        names: set[str] = set()
        commit = self._removed.get(bare, [""])[0]
        while at in self._removed and at not in names:
            names.add(at)
            at = self._removed[at][1]
            if at and at in self.git.tracked:
                return commit, at
        below = (row[0] for file, row in reversed(self._removed.items()) if file.startswith(bare + "/"))
        return commit or next(below, ""), ""

    def lost(self, names: Collection[str]) -> dict[str, str]:
        """Return the names that the project's code defined and has no more, each with the commit that removed it."""
        own = self.cache and self.cache + ".history"
        try:
            return history.find_lost(self.git, names, own) if self.git.head and names else {}
        except OSError:
            self.is_sure = False
            return {}
