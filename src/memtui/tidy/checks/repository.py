"""A git repository that is only read: git runs nothing that it configures, and gets words of memories as data."""

import hashlib
import os
import select
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import date
from functools import cache, cached_property

from memtui.base import visible_hot

SETTINGS = (
    *("core.fsmonitor=false", "core.hooksPath=/dev/null", "log.showSignature=false", "core.quotePath=false"),
    *("protocol.allow=never", "color.ui=false", "grep.lineNumber=false", "grep.column=false"),
    *("submodule.recurse=false", "core.bigFileThreshold=1m"),  # a larger file is not compared
)
SAFE = ("--no-pager", "--no-optional-locks", *(word for setting in SETTINGS for word in ("-c", setting)))
ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
PLAIN = ("--no-ext-diff", "--no-textconv")
# What is code: no documentation, no data, nothing of Claude's own.
NO_CODE = (
    *(".md", ".mdx", ".markdown", ".rst", ".adoc", ".txt", ".pdf", ".docx", ".ipynb", ".csv", ".tsv", ".jsonl", ".svg"),
    *(".lock", "-lock.json", "-lock.yaml", ".map", ".min.js", ".min.css"),
)
CODE = ("--", ".", ":(exclude).claude", ":(exclude)CLAUDE.md", *(f":(exclude,icase)*{end}" for end in NO_CODE))
# The most names that one search looks for: they are one argument, of 128 KB at most.
NAMES = 1000
# A git that has not ended after so long hangs. 20,000 commits take about two minutes.
LONGEST_SECONDS = 300.0
# How often it is asked whether to go on while git is silent, and the bytes that are taken at once.
TICK_SECONDS, BYTES = 0.1, 1 << 20


class Repository:
    """The repository with its work tree at `top`; answers are empty without it. `go_on` is asked; False ends git."""

    def __init__(self, top: str, go_on: Callable[[], bool] = lambda: True) -> None:
        self.top, self.go_on, self.seconds = top, go_on, LONGEST_SECONDS
        self.unanswered: set[str] = set()  # commands that failed

    def chunks(self, *words: str, ok: Collection[int] = (0,)) -> Iterator[bytes]:
        """Yield what a git command that only reads prints, as it comes. Raises OSError if it doesn't exit as `ok`."""
        env = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ} | ENVIRONMENT
        command, nothing = ["git", "-C", self.top, *SAFE, *words], subprocess.DEVNULL
        end = time.monotonic() + self.seconds
        with subprocess.Popen(command, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing, env=env) as process:
            output = process.stdout
            while output is not None:
                if time.monotonic() > end or not self.go_on():
                    process.kill()
                    raise OSError(f"git {words[0]} was ended")
                if select.select([output], [], [], TICK_SECONDS)[0]:
                    if not (data := os.read(output.fileno(), BYTES)):
                        break
                    yield data
        if process.returncode not in ok:
            raise OSError(f"git {words[0]} failed with {process.returncode}")

    def lines(self, *words: str, ok: Collection[int] = (0,)) -> Iterator[bytes]:
        """Yield the lines of what a git command that only reads prints. Raises OSError as `chunks` does."""
        rest = b""
        for data in self.chunks(*words, ok=ok):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield line + b"\n"
        yield from [rest] if rest else ()

    def ask(self, *words: str, ok: Collection[int] = (0,)) -> str:
        """Return what a git command that only reads prints; empty if it fails."""
        try:
            return b"".join(self.chunks(*words, ok=ok)).decode("utf-8", "replace")
        except (OSError, ValueError):  # a NUL in a path
            self.unanswered.add(words[0])
            return ""

    @cached_property
    def facts(self) -> list[str]:
        """The top of the work tree, whether the clone is shallow, HEAD's commit, or HEAD before any."""
        facts = self.ask("rev-parse", "--show-toplevel", "--is-shallow-repository", "HEAD", ok=(0, 128))
        return [*facts.split("\n"), "", ""]

    @cached_property
    def there(self) -> bool:
        """Whether `top` is the top of a work tree that git can read."""
        return bool(self.facts[0]) and os.path.realpath(self.facts[0]) == os.path.realpath(self.top)

    @cached_property
    def head(self) -> str:
        """The id of the newest commit; empty before any, and where a shallow clone has only a part of the history."""
        return self.facts[2] if self.there and self.facts[1] == "false" and self.facts[2] != "HEAD" else ""

    @cached_property
    def tracked(self) -> frozenset[str]:
        return frozenset(filter(None, self.ask("ls-files", "-z", "-co", "--exclude-standard").split("\0")))

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
        blob, day = self._commits_below(os.path.dirname(path)).get(os.path.relpath(path, self.top), ("", ""))
        hashes = (hashlib.new(name, b"blob %d\0" % len(data) + data).hexdigest() for name in ("sha1", "sha256"))
        return date.fromisoformat(day) if blob in hashes else None

    @cache  # noqa: B019
    def _commits_below(self, directory: str) -> dict[str, tuple[str, str]]:
        """Return, by path from the top, the id and day of each file below a directory as it was committed last."""
        files: dict[str, tuple[str, str]] = {}
        words = ("--raw", "-z", "--no-abbrev", "--no-renames", "--format=%x01%cs", *PLAIN, "--", directory)
        for commit in self.ask("log", *words).split("\1"):
            day, _, changes = commit.partition("\0")
            fields = changes.strip("\0\n").split("\0")
            for status, path in zip(fields[::2], fields[1::2], strict=False):
                files.setdefault(path, (status.split(" ")[3], day))
        return files

    def described(self, commits: Collection[str]) -> dict[str, str]:
        """Return commits in words: the short hash, the day and the subject, which anybody may have written."""
        words = ("log", "--no-walk=unsorted", "--format=%H%x00%h, %cs: %<(60,trunc)%s", *commits, "--")
        rows = (line.partition("\0") for line in self.ask(*words).split("\n")) if commits else ()
        return {commit: visible_hot.one_line(words) for commit, _, words in rows}

    def lacking(self, names: Iterable[str]) -> set[str]:
        """Return the names that no file of code in the work tree has as a word. Raises OSError if git can't say."""
        lacking = sorted(names)
        present: set[bytes] = set()
        for start in range(0, len(lacking), NAMES):
            pattern = "|".join(lacking[start : start + NAMES])
            present.update(self.lines("grep", "--untracked", "-IohwE", "-e", pattern, *CODE, ok=(0, 1)))
        return {name for name in lacking if f"{name}\n".encode() not in present}

    def ignored(self, paths: Collection[str]) -> set[str]:
        """Return which paths git is told to ignore, there or not: what a command makes."""
        return set(self.ask("check-ignore", "--", *paths).split("\n")) if paths else set()
