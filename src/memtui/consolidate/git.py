"""Ask git about a repository without changing it, and without running anything that the repository configures.

What git is asked about comes from memories, which anybody may have written: it is passed as data, after `-e` or `--`,
and never begins with a dash.
"""

import hashlib
import os
import subprocess
from collections.abc import Iterable
from datetime import date
from functools import cached_property

SECONDS = 10.0
# The most commits that are searched for paths that were removed.
COMMITS = 20_000
SAFE = (
    *("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "log.showSignature=false", "-c", "core.quotePath=false", "-c", "protocol.allow=never"),
)
ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


class Repository:
    """The repository whose work tree begins at `top`. Every answer is empty if git or the repository is not there."""

    def __init__(self, top: str) -> None:
        self.top = top

    def ask(self, *words: str, seconds: float = SECONDS) -> str:
        """Return what a git command that only reads prints; empty if it fails or takes too long."""
        env = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ} | ENVIRONMENT
        try:
            done = subprocess.run(
                ["git", "-C", self.top, *SAFE, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                env=env,
                check=False,
            )
        except (OSError, subprocess.SubprocessError, ValueError):
            return ""
        return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""

    @cached_property
    def there(self) -> bool:
        """Whether `top` is the top of a work tree that git can read."""
        found = self.ask("rev-parse", "--show-toplevel").rstrip("\n")
        return bool(found) and os.path.realpath(found) == os.path.realpath(self.top)

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
        found: dict[str, str] = {}
        text = self.ask(
            "log",
            "-z",
            "-M",
            "--diff-filter=DR",
            "--name-status",
            "--format=",
            "--no-ext-diff",
            "--no-textconv",
            f"-n{COMMITS}",
        )
        fields = iter(text.split("\0"))
        for field in fields:
            status = field.strip()[:1]
            if status == "D":
                found.setdefault(next(fields, ""), "")
            elif status == "R":
                old, new = next(fields, ""), next(fields, "")
                found.setdefault(old, new)
        return found

    @cached_property
    def refs(self) -> frozenset[tuple[str, str]]:
        """The kind (`branch`, `tag`) and name of each reference; a remote's branch with and without its remote."""
        found = set()
        for name in self.ask("for-each-ref", "--format=%(refname)").split():
            kind, _, rest = name.removeprefix("refs/").partition("/")
            if kind == "remotes":
                found |= {("branch", rest), ("branch", rest.partition("/")[2])}
            elif kind in {"heads", "tags"}:
                found.add(("branch" if kind == "heads" else "tag", rest))
        return frozenset(found)

    @cached_property
    def merged(self) -> str:
        """The subjects of the merges."""
        return self.ask("log", "--merges", "--format=%s", f"-n{COMMITS}")

    def committed(self, path: str, data: bytes) -> date | None:
        """Return the day of the last commit of a file with the content `data`; None if that is not committed. `git
        status` would tell, but runs the filters that a repository configures."""
        blob = self.ask("rev-parse", "--verify", "-q", f"HEAD:{os.path.relpath(path, self.top)}").strip()
        known = (hashlib.new(name, b"blob %d\0" % len(data) + data).hexdigest() for name in ("sha1", "sha256"))
        if blob not in known:
            return None
        day = self.ask("log", "-1", "--format=%cs", "--", path).strip()
        try:
            return date.fromisoformat(day) if day else None
        except ValueError:
            return None

    def holds(self, words: Iterable[str]) -> set[str]:
        """Return which of some words are in the files of the work tree, Claude's own directory left out."""
        wanted = list(words)
        patterns = [part for word in wanted for part in ("-e", word)]
        text = self.ask(
            "grep", "--untracked", "-IohwF", *patterns, "--", ".", ":(exclude).claude", ":(exclude)CLAUDE.md"
        )
        return set(text.splitlines()) & set(wanted)

    def had(self, word: str) -> bool:
        """Return whether a commit added or removed a word outside Claude's own directory."""
        where = ("--", ".", ":(exclude).claude", ":(exclude)CLAUDE.md")
        return bool(
            self.ask(
                "log", f"-S{word}", "--format=%h", "-n1", "--no-ext-diff", "--no-textconv", *where, seconds=SECONDS / 2
            )
        )
