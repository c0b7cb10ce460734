"""Names and paths that commits removed: one pass over a repository's history, kept by HEAD and continued from there.

A name is an ASCII word of code in snake_case or camelCase. Documentation, data and files over 1 MB are no code."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from memtui.base import fs_hot
from memtui.tidy.checks.repository import CODE, PLAIN, Repository

# A cache of another version is built anew.
VERSION = 1
# The most commits that are searched, and the most of one name that are searched for its definition.
COMMITS, LOOKED_AT = 20_000, 20
# No setting of a person or repository changes what is printed: nothing but what was added and removed.
PATCH = ("-p", "-U0", "-M", "--diff-algorithm=histogram", "--format=%x00%H", "--submodule=short", *PLAIN)
NAME = re.compile(rb"\b[A-Za-z]\w{5,}")
SHAPE = re.compile(rb"_\w|[a-z][A-Z]")
_LEAD = (
    rb"(?:(?:export|default|declare|public|private|protected|internal|static|readonly|final|abstract|override|virtual|async"
    rb"|partial|pub|local|mut|auto|unsigned|int|long|float|double|bool|boolean|char|void|string|String)[ \t]+)"
)
_TYPE, _NAME = rb"[\w<>\[\],.?]+[ \t*&]+", rb"([A-Za-z]\w{5,})"
# A line that defines a name: behind a keyword; with a value, type or colon; with parameters and a body, or a modifier.
DEFINITION = re.compile(
    rb"\b(?:def|class|function\*?|func(?:[ \t]+\([^)\n]*\))?|fn|fun|sub|const|let|var|val|type|struct|enum|interface"
    rb"|trait|impl|mod|module|namespace|record|object|macro|define|typedef|defp|proc|method|table|index|message|rpc)"
    rb"[ \t]+[*&\"'`]*" + _NAME + rb"\b"
    rb"|^.[ \t]*" + _LEAD + rb"*(?:self\.|this\.|[@$])?" + _NAME + rb"\??"
    rb"(?:[ \t]*:(?!:)(?!.*,\r?$)|[ \t]*:?=(?![=>])(?!\S.*,\r?$))"
    rb"|^.[ \t]*(?:" + _TYPE + rb")?" + _NAME + rb"[ \t]*\([^()\n]*\)[^;()=\n]*\{[ \t\r]*$"
    rb"|^.[ \t]*" + _LEAD + rb"+(?:" + _TYPE + rb")?" + _NAME + rb"[ \t]*(?:<[^>\n]*>)?[({;=]"
)


@dataclass
class History:
    """What commits up to `head` did, oldest first: their ids; by name, the numbers of those that changed how often a
    file has it; and by its path the new one of each file that was removed or renamed, or none."""

    head: str = ""
    commits: list[str] = field(default_factory=list)
    names: dict[str, list[int]] = field(default_factory=dict)
    removed: dict[str, str] = field(default_factory=dict)

    def commits_of(self, name: str) -> list[str]:
        """Return the commits that added or removed a name, newest first."""
        return [self.commits[number] for number in reversed(self.names.get(name, ()))]


def read(git: Repository, cache: str = "", go_on: Callable[[], bool] = lambda: True) -> History | None:
    """Return a repository's history, by what the file `cache` has of it; None if git fails or `go_on` says no."""
    history = History(**_load(cache))
    if history.head == git.head:
        return history
    if history.head and git.ask("merge-base", history.head, git.head).strip() != history.head:
        history = History()  # it was rewritten, or another branch is checked out
    # With side branches that a merge took nothing from: they were read if they were HEAD once.
    span = ("--full-history", "--reverse", f"-n{COMMITS}", f"{history.head}..{git.head}" if history.head else git.head)
    try:
        paths = b"".join(git.lines("log", "-z", "-M", "--diff-filter=DR", "--name-status", "--format=", *PLAIN, *span))
        fields = iter(paths.decode("utf-8", "replace").split("\0"))
        for status in fields:
            if kind := status.strip()[:1]:
                old = next(fields, "")
                history.removed[old] = next(fields, "") if kind == "R" else ""
        if not _add_names(history, git.lines("log", *PATCH, *span, *CODE), go_on):
            return None
    except OSError:
        return None
    history.head = git.head
    _save(cache, vars(history))
    return history


def _load(cache: str) -> dict[str, Any]:
    """Return what `_save` wrote into a file; nothing if another version did, or if it is damaged."""
    try:
        content = json.loads(fs_hot.read(cache, "cache")) if cache else None
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) and content.pop("version", 0) == VERSION else {}


def _save(cache: str, content: dict[str, Any]) -> None:
    if cache:
        fs_hot.write_cache(cache, json.dumps({"version": VERSION, **content}, separators=(",", ":")).encode())


def _add_names(history: History, lines: Iterable[bytes], go_on: Callable[[], bool]) -> bool:
    """Add the commits of a `git log -p` and their names to a history; False if `go_on` says no."""
    added: list[bytes] = []
    removed: list[bytes] = []
    is_in_hunk = False
    for line in chain(lines, (b"d",)):
        mark = line[:1]
        if mark == b"+":
            added.append(line)
        elif mark == b"-":
            removed.append(line)
        elif mark == b"@" and not is_in_hunk:  # what came before are the file's names
            added, removed, is_in_hunk = [], [], True
        elif mark in b"d\0":  # the next file's "diff", or the next commit
            if is_in_hunk:
                before, after = (Counter(NAME.findall(b"".join(part))) for part in (removed, added))
                for name in {name for name, _ in before.items() ^ after.items() if SHAPE.search(name)}:
                    numbers = history.names.setdefault(name.decode(), [])
                    if not numbers or numbers[-1] < len(history.commits) - 1:
                        numbers.append(len(history.commits) - 1)
            is_in_hunk = False
            if mark == b"\0":
                history.commits.append(line[1:].decode().strip())
                if not go_on():
                    return False
    return True


def find_lost(git: Repository, history: History, names: Iterable[str], cache: str = "") -> set[str]:
    """Return which names code once defined and has no more; the file `cache` has what was so for the same files."""
    asked = {name for name in names if name in history.names}
    stamps = [f"{path}:{fs_hot.stamp(f'{git.top}/{path}')}" for path in sorted(git.tracked)]
    tree = hashlib.blake2b("\n".join([git.head, *stamps]).encode()).hexdigest()
    before = _load(cache)
    if before.get("tree") == tree and asked <= {*before["asked"]}:
        return asked & {*before["lost"]}
    lost: set[str] = set()
    try:
        if lacking := git.lacking(asked):
            commits = {commit for name in lacking for commit in history.commits_of(name)[:LOOKED_AT]}
            name = re.compile(rb"\b(?:%s)\b" % "|".join(lacking).encode())
            for line in git.lines("log", "--no-walk=unsorted", *PATCH, *commits, *CODE):
                if line[:1] in b"+-" and name.search(line):
                    lost |= lacking & {match[match.lastindex or 0].decode() for match in DEFINITION.finditer(line)}
    except OSError:
        return set()
    _save(cache, {"tree": tree, "asked": sorted(asked), "lost": sorted(lost)})
    return lost
