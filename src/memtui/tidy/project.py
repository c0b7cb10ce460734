"""The project that memories are about: its files, and what git knows of them.

Git only reads, runs nothing that the repository configures, and gets words of memories as data, after `-e` or `--`."""

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterable
from datetime import date
from functools import cached_property

from memtui.base import fs, paths

SECONDS = 10.0
# The most commits that are searched for paths that were removed; files of a project without a repository; bytes of one.
COMMITS, FILES, FILE_BYTES = 20_000, 20_000, 1 << 20
SAFE = (
    *("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "log.showSignature=false", "-c", "core.quotePath=false", "-c", "protocol.allow=never"),
)
ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
PLAIN = ("--no-ext-diff", "--no-textconv")
OUTSIDE = ("--", ".", ":(exclude).claude", ":(exclude)CLAUDE.md")
RULE = re.compile(r"^([^\s:#=][^:#=\n]*?)\s*:(?![:=])", re.MULTILINE)
# What makes the targets of a makefile unknown: includes, patterns, variables.
UNKNOWN = re.compile(r"^(?:-|s)?include\b|^[^\t#\n]*[%$][^\n]*:|^\$\(", re.MULTILINE)
MAKEFILES = ("Makefile", "makefile", "GNUmakefile")


class Repository:
    """The repository whose work tree begins at `top`. Every answer is empty if git or the repository is not there."""

    def __init__(self, top: str) -> None:
        self.top = top

    def ask(self, *words: str, seconds: float = SECONDS) -> str:
        """Return what a git command that only reads prints; empty if it fails or takes too long."""
        env = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ} | ENVIRONMENT
        try:
            process = subprocess.run(
                ["git", "-C", self.top, *SAFE, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                env=env,
                check=False,
            )
        except (OSError, subprocess.SubprocessError, ValueError):
            return ""
        return process.stdout.decode("utf-8", "replace") if process.returncode == 0 else ""

    @cached_property
    def there(self) -> bool:
        """Whether `top` is the top of a work tree that git can read."""
        top = self.ask("rev-parse", "--show-toplevel").rstrip("\n")
        return bool(top) and os.path.realpath(top) == os.path.realpath(self.top)

    @cached_property
    def whole(self) -> bool:
        """Whether the whole history is here: what a shallow clone lacks tells nothing."""
        return self.there and self.ask("rev-parse", "--is-shallow-repository").strip() == "false"

    @cached_property
    def tracked(self) -> frozenset[str]:
        """The tracked files, and those that are not ignored."""
        return frozenset(filter(None, self.ask("ls-files", "-z", "-co", "--exclude-standard").split("\0")))

    @cached_property
    def removed(self) -> dict[str, str]:
        """Each path that a commit removed or renamed: its new path, empty if it was removed."""
        renames: dict[str, str] = {}
        text = self.ask("log", "-z", "-M", "--diff-filter=DR", "--name-status", "--format=", *PLAIN, f"-n{COMMITS}")
        fields = iter(text.split("\0"))
        for field in fields:
            status = field.strip()[:1]
            if status in {"D", "R"}:
                old = next(fields, "")
                renames.setdefault(old, next(fields, "") if status == "R" else "")
        return renames

    @cached_property
    def refs(self) -> frozenset[tuple[str, str]]:
        """The kind (`branch`, `tag`) and name of each reference; a remote's branch with and without its remote."""
        refs = set()
        for name in self.ask("for-each-ref", "--format=%(refname)").split():
            place, _, rest = name.removeprefix("refs/").partition("/")
            if kind := {"remotes": "branch", "heads": "branch", "tags": "tag"}.get(place):
                refs |= {(kind, rest), (kind, rest.partition("/")[2] if place == "remotes" else rest)}
        return frozenset(refs)

    def committed(self, path: str, data: bytes) -> date | None:
        """Return the day of a file's last commit; None if `data` is not committed. git status would run filters."""
        blob = self.ask("rev-parse", "--verify", "-q", f"HEAD:{os.path.relpath(path, self.top)}").strip()
        hashes = (hashlib.new(name, b"blob %d\0" % len(data) + data).hexdigest() for name in ("sha1", "sha256"))
        if blob not in hashes:
            return None
        try:
            return date.fromisoformat(self.ask("log", "-1", "--format=%cs", "--", path).strip())
        except ValueError:
            return None

    def holds(self, words: Iterable[str]) -> set[str]:
        """Return which of some words are in the files of the work tree, Claude's own directory left out."""
        names = list(words)
        patterns = [part for word in names for part in ("-e", word)]
        return set(self.ask("grep", "--untracked", "-IohwF", *patterns, *OUTSIDE).splitlines()) & set(names)

    def had(self, word: str) -> bool:
        """Return whether a commit added or removed a word outside Claude's own directory."""
        return bool(self.ask("log", f"-S{word}", "--format=%h", "-n1", *PLAIN, *OUTSIDE, seconds=SECONDS / 2))


class ProjectFiles:
    """The project that memories are about: its directory `top`, and its repository."""

    def __init__(self, top: str) -> None:
        self.top, self.git = top, Repository(top)

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
        try:
            data = fs.read_bytes(whole, FILE_BYTES) if paths.inside(self.top, whole) else b""
        except OSError:
            return ""
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
            scripts = package.get("scripts") if isinstance(package, dict) else None
            names.update(scripts if isinstance(scripts, dict) else ())
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
        """Return whether a path, or one that ends with it, is in the project."""
        bare = path.rstrip("/")
        return os.path.lexists(f"{self.top}/{bare}") or any(f"/{bare}/" in f"/{file}/" for file in self.git.tracked)

    def removed(self, path: str) -> tuple[bool, str]:
        """Return whether the history proves that a path was removed, and where it is now; empty if it is not known."""
        at = bare = path.rstrip("/")
        names: set[str] = set()
        renames = self.git.removed
        while at in renames and at not in names:
            names.add(at)
            at = renames[at]
            if at and at in self.git.tracked:
                return True, at
        return bare in renames or any(path_before.startswith(bare + "/") for path_before in renames), ""
