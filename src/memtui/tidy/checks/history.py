"""Names and paths that commits removed: one pass over a repository's history, kept by HEAD and continued from there.

A name is an ASCII word of code in snake_case or camelCase. Documentation, data and files over 1 MB are no code."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from memtui.base import fs_hot, word_lists
from memtui.tidy import coverage
from memtui.tidy.checks.repository import CODE, PLAIN, Repository

# A cache of another version is built anew.
VERSION = 3
# The most commits that are searched; and names that are searched for alone: 30 take half as long as all, 137 as long.
COMMITS, FEW = 20_000, 50
# No setting of a person or repository changes what is printed: nothing but what was added and removed.
PATCH = ("-p", "-U0", "-M", "--diff-algorithm=histogram", "--format=%x00%H", "--submodule=short", *PLAIN)
NAME = re.compile(rb"\b[A-Za-z]\w{5,}")
SHAPE = re.compile(rb"_\w|[a-z][A-Z]")
# Where a commit's id or a file's difference begins; and the head of a file that is added or removed.
SECTION, WHOLE_FILE = re.compile(rb"\n(?=diff --git |\0)"), re.compile(rb"\n(?:new|deleted) file mode ")
# A line that defines a name.
DEFINITION = re.compile(word_lists.expanded(coverage.SECTIONS, "definition").encode())


@dataclass
class History:
    """The commits up to `head`, oldest first; by name (all or `only` some) those that changed how often it is there.
    `defined`: names that were asked for, and whether one of these commits added or removed a definition."""

    head: str = ""
    only: list[str] | None = None
    commits: list[str] = field(default_factory=list)
    names: dict[str, list[int]] = field(default_factory=dict)
    defined: dict[str, bool] = field(default_factory=dict)

    def commits_of(self, name: str) -> list[str]:
        """Return the commits that added or removed a name, newest first."""
        return [self.commits[number] for number in reversed(self.names.get(name, ()))]


def read(git: Repository, cache: str = "", names: Collection[str] | None = None) -> History:
    """Return a repository's history, by what the file `cache` has of it. Raises OSError if git fails or is stopped.

    Few `names` are searched for alone where nothing is known yet, which takes half as long; then all are read."""
    history = History(**_load(cache))
    is_first, is_known = not history.head, history.only is None or {*(names or ())} <= {*history.only}
    if history.head == git.head and is_known:
        return history
    if not is_known or not _continues(git, history.head):
        history = History()
    if not history.head:
        history.defined = dict.fromkeys(names or (), False)
    if is_first and names is not None and len(names) <= FEW:
        history.only = sorted(names)
    pattern = () if history.only is None else ("-G", "|".join(history.only))
    _add_names(history, git.chunks("log", *PATCH, *_span(git, history.head), *pattern, *CODE))
    history.head = git.head
    _save(cache, vars(history))
    return history


def read_removed(git: Repository, cache: str = "") -> dict[str, list[str]]:
    """Return by its path the commit that removed or renamed each file, and the new path, or none. Raises OSError."""
    content = _load(cache)
    head = content.get("head", "")
    removed: dict[str, list[str]] = content.get("removed", {}) if _continues(git, head) else {}
    if removed and head == git.head:
        return removed
    words = ("-z", "-M", "--diff-filter=DR", "--name-status", "--format=%x01%H", *PLAIN)
    commit, data = "", git.chunks("log", *words, *_span(git, head if removed else ""))
    fields = iter(b"".join(data).decode("utf-8", "replace").split("\0"))
    for status in fields:
        if status.startswith("\1"):
            commit = status[1:]
        elif kind := status.strip()[:1]:
            old = next(fields, "")
            removed[old] = [commit, next(fields, "") if kind == "R" else ""]
    _save(cache, {"head": git.head, "removed": removed})
    return removed


def _continues(git: Repository, head: str) -> bool:
    """Tell whether HEAD descends from `head`: otherwise history was rewritten, or another branch is checked out."""
    return head in ("", git.head) or git.ask("merge-base", head, git.head).strip() == head


def _span(git: Repository, head: str) -> tuple[str, ...]:
    # With side branches that a merge took nothing from: they were read if they were HEAD once.
    return "--full-history", "--reverse", f"-n{COMMITS}", f"{head}..{git.head}" if head else git.head


def _load(cache: str) -> dict[str, Any]:
    """Return what `_save` wrote into a file; nothing if another version did, or if it is damaged."""
    content = fs_hot.read_table(cache) if cache else {}
    return content if content.pop("version", 0) == VERSION else {}


def _save(cache: str, content: dict[str, Any]) -> None:
    if cache:
        fs_hot.write_cache(cache, json.dumps({"version": VERSION, **content}, separators=(",", ":")).encode())


def _add_names(history: History, chunks: Iterable[bytes]) -> None:
    """Add the commits of a `git log -p`, their names and their definitions of names asked for to a history."""
    only = None if history.only is None else {name.encode() for name in history.only}
    names = {name.encode() for name in history.defined}
    numbers_by_word = {name.encode(): numbers for name, numbers in history.names.items()}
    plain: set[bytes] = set()  # words that are no names
    for section in _sections(chunks):
        if section[:1] == b"\0":
            history.commits.append(section[1:].decode().strip())
            continue
        number, changed = len(history.commits) - 1, _changed_words(section) - plain
        for word in changed if only is None else changed & only:
            numbers = numbers_by_word.get(word)
            if numbers is None:
                if not SHAPE.search(word):
                    plain.add(word)
                    continue
                numbers = numbers_by_word[word] = []
            if not numbers or numbers[-1] < number:
                numbers.append(number)
        _add_definitions(history, section, changed & names)
    history.names = {word.decode(): numbers for word, numbers in numbers_by_word.items()}


def _add_definitions(history: History, section: bytes, names: set[bytes]) -> None:
    """Note which names that a file's difference changes it defines."""
    for line in section.split(b"\n") if names else ():
        if line[:1] in b"+-" and any(name in line for name in names):
            matches = {match[match.lastindex or 0] for match in DEFINITION.finditer(line)}
            history.defined |= {word.decode(): True for word in matches & names}


def _sections(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts of a `git log -p`: each commit's id, and each file's difference."""
    rest = b""
    for data in chunks:
        *sections, rest = SECTION.split(rest + data)
        yield from sections
    yield rest


def _changed_words(section: bytes) -> set[bytes]:
    """Return the words that a file's difference adds or removes: those that one side has more often."""
    head, _, body = section.partition(b"\n@@ ")
    if WHOLE_FILE.search(head):  # most of the text of many histories
        return set(NAME.findall(body))
    lines = body.split(b"\n")[1:]  # behind the place of the first hunk
    before, after = (b"\n".join([line for line in lines if line[:1] == mark]) for mark in (b"-", b"+"))
    if not before or not after:
        return set(NAME.findall(before or after))
    counts = Counter(NAME.findall(before)), Counter(NAME.findall(after))
    return {word for word, _ in counts[0].items() ^ counts[1].items()}


def find_lost(git: Repository, names: Collection[str], cache: str = "") -> dict[str, str]:
    """Return the names that code once defined and has no more, each with the commit that removed it. Raises OSError."""
    if not (lacking := git.lacking(names)):
        return {}
    history = read(git, cache, lacking)
    if new := (lacking & history.names.keys()) - history.defined.keys():
        words, commits = {name.encode() for name in new}, {each for name in new for each in history.commits_of(name)}
        history.defined |= dict.fromkeys(new, False)
        for section in _sections(git.chunks("log", "--no-walk", *PATCH, "-G", "|".join(new), *commits, *CODE)):
            _add_definitions(history, section, _changed_words(section) & words)
        _save(cache, vars(history))
    return {name: history.commits_of(name)[0] for name in sorted(lacking) if history.defined.get(name)}
