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
PATCH = ("-p", "-U0", "-M", "--format=%x00%H", "--no-color", "--submodule=short", *PLAIN)
NAME = re.compile(rb"\b[A-Za-z]\w{5,}")
SHAPE = re.compile(rb"_\w|[a-z][A-Z]")
_LEAD = (
    rb"(?:(?:export|default|declare|public|private|protected|internal|static|readonly|final|abstract|override|async|pub"
    rb"|local|mut|auto|unsigned|int|long|float|double|bool|boolean|char|void|string|String)[ \t]+)*"
)
# A line that defines a name: behind a keyword; with a value, type or colon; with parameters and a body.
DEFINITION = re.compile(
    rb"\b(?:def|class|function\*?|func(?:[ \t]+\([^)\n]*\))?|fn|fun|sub|const|let|var|val|type|struct|enum|interface"
    rb"|trait|impl|mod|module|namespace|record|object|macro|define|typedef|defp|proc|method|table|index|message|rpc)"
    rb"[ \t]+[*&\"'`]*([A-Za-z]\w{5,})\b"
    rb"|^.[ \t]*" + _LEAD + rb"(?:self\.|this\.|[@$])?([A-Za-z]\w{5,})\??"
    rb"(?:[ \t]*:(?!:)(?!.*,\r?$)|[ \t]*:?=(?![=>])(?!\S.*,\r?$))"
    rb"|^.[ \t]*" + _LEAD + rb"(?:[\w<>\[\],]+[ \t*&]+)?([A-Za-z]\w{5,})[ \t]*\([^()\n]*\)[^;()=\n]*\{[ \t\r]*$"
)


@dataclass
class History:
    """What commits up to `head` did, newest first: their ids; by name, the numbers of those that changed how often a
    file has it; and, by its path, the new path of each file that one removed or renamed, or none."""

    head: str = ""
    commits: list[str] = field(default_factory=list)
    names: dict[str, list[int]] = field(default_factory=dict)
    removed: dict[str, str] = field(default_factory=dict)

    def commits_of(self, name: str) -> list[str]:
        """Return the commits that added or removed a name, newest first."""
        return [self.commits[number] for number in self.names.get(name, ())]

    def before(self, newer: "History") -> "History":
        """Return this history and the newer one as one."""
        count, names = len(newer.commits), newer.names
        for name, numbers in self.names.items():
            names[name] = names.get(name, []) + [number + count for number in numbers]
        return History(newer.head, newer.commits + self.commits, names, self.removed | newer.removed)


def read(git: Repository, cache: str = "", go_on: Callable[[], bool] = lambda: True) -> History | None:
    """Return a repository's history, by what the file `cache` has of it; None if git fails or `go_on` says no."""
    older = History(**_load(cache))
    if older.head == git.head:
        return older
    if older.head and git.ask("merge-base", older.head, git.head).strip() != older.head:
        older = History()  # history was rewritten, or another branch is checked out
    span = (f"-n{COMMITS}", f"{older.head}..{git.head}" if older.head else git.head)
    try:
        paths = b"".join(git.lines("log", "-z", "-M", "--diff-filter=DR", "--name-status", "--format=", *PLAIN, *span))
        newer = History(git.head, removed=_removed(paths.decode("utf-8", "replace")))
        if not _add_names(newer, git.lines("log", *PATCH, *span, *CODE), go_on):
            return None
    except OSError:
        return None
    history = older.before(newer)
    _save(cache, vars(history))
    return history


def _load(cache: str) -> dict[str, Any]:
    """Return what `_save` wrote into a file; nothing if another version did, or if it is damaged."""
    try:
        mark, _, data = (fs_hot.read(cache, "cache") if cache else b"").partition(b"\n")
    except OSError:
        return {}
    content: dict[str, Any] = json.loads(data) if mark == _mark(data) else {}
    return content


def _save(cache: str, content: dict[str, Any]) -> None:
    if cache:
        data = json.dumps(content, separators=(",", ":")).encode()
        fs_hot.write_cache(cache, _mark(data) + b"\n" + data)


def _mark(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16, key=b"%d" % VERSION).hexdigest().encode()


def _removed(text: str) -> dict[str, str]:
    """Return the paths that `git log --name-status` says were removed or renamed, each with its new path or none."""
    renames: dict[str, str] = {}
    fields = iter(text.split("\0"))
    for status in fields:
        if status.strip()[:1] in {"D", "R"}:
            old = next(fields, "")
            renames.setdefault(old, next(fields, "") if status.strip()[0] == "R" else "")
    return renames


def find_lost(git: Repository, history: History, names: Iterable[str], cache: str = "") -> set[str]:
    """Return which names code once defined and has no more; the file `cache` has what was so for the same files."""
    asked = {name for name in names if name in history.names}
    stamps = [f"{path}:{fs_hot.stamp(f'{git.top}/{path}')}" for path in sorted(git.tracked)]
    tree = hashlib.blake2b("\n".join([git.head, *stamps]).encode()).hexdigest()
    before = _load(cache)
    if before.get("tree") == tree and asked <= {*before["asked"]}:
        return asked & {*before["lost"]}
    try:
        lacking = git.lacking(asked - {*re.findall(r"\w+", "\n".join(git.tracked))}) if asked else set()
        lost = _defined(git, history, lacking)
    except OSError:
        return set()
    _save(cache, {"tree": tree, "asked": sorted(asked), "lost": sorted(lost)})
    return lost


def _defined(git: Repository, history: History, names: set[str]) -> set[str]:
    """Return which names the commits that added or removed them define."""
    commits = {commit for name in names for commit in history.commits_of(name)[:LOOKED_AT]}
    if not commits:
        return set()
    name = re.compile(rb"\b(?:%s)\b" % "|".join(names).encode())
    lines = git.lines("log", "--no-walk=unsorted", *PATCH, *commits, *CODE)
    own = (line for line in lines if line[:1] in b"+-" and name.search(line))
    return names & {match[match.lastindex or 0].decode() for line in own for match in DEFINITION.finditer(line)}


def _add_names(history: History, lines: Iterable[bytes], go_on: Callable[[], bool]) -> bool:
    """Add the commits of a `git log -p` and their names to a history; False if `go_on` says no."""
    added: list[bytes] = []
    removed: list[bytes] = []
    names: set[bytes] = set()  # of the commit
    is_in_hunk = False
    for line in chain(lines, (b"\0",)):
        mark = line[:1]
        if mark == b"+":
            added.append(line)
        elif mark == b"-":
            removed.append(line)
        elif mark == b"@":
            if not is_in_hunk:  # what came before are the file's names
                added, removed, is_in_hunk = [], [], True
        elif mark in b"d\0":  # the next file's "diff", or the next commit
            if is_in_hunk:
                before, after = (Counter(NAME.findall(b"".join(part))) for part in (removed, added))
                names.update(name for name, _ in before.items() ^ after.items())
                is_in_hunk = False
            if mark == b"\0":
                for name in names:
                    if SHAPE.search(name):
                        history.names.setdefault(name.decode(), []).append(len(history.commits) - 1)
                names = set()
                history.commits.append(line[1:].decode().strip())
                if not go_on():
                    return False
    history.commits.pop()  # the empty one of the end
    return True
