"""Find what memories say of their project that is not so any more: paths, commands, branches and symbols that are gone.

Only what git or a file of the project proves is found, and only in code spans: a path must have been in the
repository, a branch merged, a symbol in its history. A line that tells of the past ("was renamed") or forbids ("never")
is left alone, but for a sentence in it that surely says what is to be done now. Nothing that a memory names is run.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import takewhile

from memtui.consolidate import coverage
from memtui.consolidate.git import Repository
from memtui.core.base import fs, paths
from memtui.core.base.finding import Finding, note, problem
from memtui.core.health import memory_checks
from memtui.core.memories.memory import CODE, Memory
from memtui.core.memories.scopes import Scope

SPAN = re.compile(r"(?<!`)`([^`\n]{2,200})`(?!`)")
PATH = re.compile(r"(?:\./)?([\w@.-]+(?:/[\w@.-]+)*/?)(?::\d+(?:-\d+)?)?")
SUFFIX = re.compile(r"\.[A-Za-z]\w{0,7}$")
# `yarn run` and `bun run` also run files and programs of packages.
SCRIPT = re.compile(r"p?npm run (?P<name>[A-Za-z0-9][\w:.-]*)(?: .*)?")
TARGET = re.compile(r"make (?P<name>[A-Za-z0-9][\w.-]*)")
BRANCH = re.compile(r"\bbranch (?:called |named )?`([\w./-]+)`|`([\w./-]+)` branch\b")
SYMBOL = re.compile(r"(?=\w*(?:_\w|[a-z][A-Z]))[A-Za-z]\w{5,}(?=\(\)$|$)")
# Words of a line that tells of the past, or of what is replaced.
PAST = re.compile(
    r"\b(?:removed?|deleted?|deleting|renamed?|moved?|replaced?|was|were|used to|former(?:ly)?|old|legacy|gone|"
    r"deprecated|no longer|instead of|dropped|until|migrated|previously|originally|earlier|"
    r"obsolete|superseded|extracted|split|merged|retired|historic(?:al)?|before|had)\b|→|->|❌|~~",
    re.IGNORECASE,
)
# Words of a line that tells of what is not to be.
FORBIDS = re.compile(r"\b(?:never|not|don't|avoid)\b", re.IGNORECASE)
# How a sentence begins that says what is to be done now, behind the mark of an item and a label in bold.
TO_DO = re.compile(
    r"[\s>*+-]*(?:\d+[.)]\s+)?(?:\*\*[^*\n]{1,40}\*\*:?\s*)?(?:(?:always|first,?) )?(?:run|see|read) `", re.IGNORECASE
)
# What comes after what is to be done: "run `make check` before committing", "… before each commit".
AHEAD = re.compile(r"` before (?=\w+ing\b|(?:you|a|an|any|each|every|the next) )", re.IGNORECASE)
# What stands before a code span that is not to be left out: "never push without `make check`".
WITHOUT = re.compile(r"\bwithout (?:first )?(?:running |calling )?`$", re.IGNORECASE)
# The most symbols whose history is searched, which takes seconds in a large repository.
SYMBOLS = 20
RULE = re.compile(r"^([^\s:#=][^:#=\n]*?)\s*:(?![:=])", re.MULTILINE)
MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
FILE_BYTES = 1 << 20
# The most files that are looked at in a project without a repository.
FILES = 20_000


class ProjectFiles:
    """The project that memories are about: its directory `top`, and its repository."""

    def __init__(self, top: str) -> None:
        self.top = top
        self.git = Repository(top)

    @cached_property
    def files(self) -> frozenset[str]:
        """The files of the project: those that git does not ignore; without a repository those that are not hidden."""
        if self.git.there:
            return self.git.tracked
        found: list[str] = []
        for here, directories, names in os.walk(self.top):
            directories[:] = [each for each in directories if not each.startswith(".") and each != "node_modules"]
            found += [os.path.relpath(f"{here}/{name}", self.top) for name in names if not name.startswith(".")]
            if len(found) > FILES:
                break
        return frozenset(found[:FILES])

    def read(self, path: str) -> str:
        """Return the text of a file of the project; empty if it can't be read or leads out of it."""
        whole = f"{self.top}/{path}"
        if not paths.inside(self.top, whole):
            return ""
        try:
            return fs.read_bytes(whole, FILE_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""

    @cached_property
    def scripts(self) -> set[str] | None:
        """The names of scripts in any package.json; None if there is none at the top, or one can't be read."""
        files = [each for each in self.git.tracked if each.rpartition("/")[2] == "package.json"]
        if "package.json" not in files:
            return None
        found: set[str] = set()
        for each in files:
            try:
                given = json.loads(self.read(each))
            except ValueError:
                return None
            scripts = given.get("scripts") if isinstance(given, dict) else None
            found.update(scripts if isinstance(scripts, dict) else ())
        return found

    @cached_property
    def targets(self) -> set[str] | None:
        """The targets in any makefile; None if there is none at the top, or one has targets that can't be known."""
        files = [each for each in self.git.tracked if each.rpartition("/")[2] in MAKEFILES or each.endswith(".mk")]
        texts = [self.read(each) for each in files]
        if not any(each in MAKEFILES for each in files) or any(
            re.search(r"^(?:-|s)?include\b|^[^\t#\n]*[%$][^\n]*:|^\$\(", text, re.MULTILINE) for text in texts
        ):
            return None
        return {name for text in texts for match in RULE.finditer(text) for name in match[1].split()}

    def exists(self, path: str) -> bool:
        """Return whether a path, or one that ends with it, is in the project."""
        bare = path.rstrip("/")
        if os.path.lexists(f"{self.top}/{bare}"):
            return True
        return any(f"/{bare}/" in f"/{each}/" for each in self.git.tracked)

    def removed(self, path: str) -> tuple[bool, str]:
        """Return whether the history proves that a path was removed, and where it is now; empty if it is not known."""
        bare = path.rstrip("/")
        seen: set[str] = set()
        gone = self.git.removed
        at = bare
        while at in gone and at not in seen:
            seen.add(at)
            at = gone[at]
            if at and at in self.git.tracked:
                return True, at
        return bare in gone or any(each.startswith(bare + "/") for each in gone), ""


def of_memories(
    project: ProjectFiles, scope: Scope, memories: Sequence[Memory], go_on: Callable[[], bool] = lambda: True
) -> Iterator[Finding]:
    """Find what the memories of a scope name that is gone from the project; nothing without a repository. `go_on` is
    asked before each memory; False ends the search."""
    if not any("`" in memory.body for memory in memories) or not project.git.there:
        return
    symbols: dict[str, tuple[Memory, int]] = {}
    for memory in takewhile(lambda _: go_on(), memories):
        if memory.broken is not None:
            continue
        for start, end, words, line, at in _spans(memory.body):
            if _past(line, at):
                continue
            yield from _path(project, scope, memory, (start, end, words))
            yield from _command(project, scope, memory, start, words)
            if found := SYMBOL.match(words):
                symbols.setdefault(found[0], (memory, start))
        yield from _branches(project, scope, memory)
    if go_on():
        yield from _symbols(project, scope, symbols)


def _spans(body: str) -> Iterator[tuple[int, int, str, str, int]]:
    """Yield the code spans of a body outside fenced code: their start, end, text, the line that they are on, and where
    in it their text begins."""
    fences = [match.span() for match in CODE.finditer(body) if match["fence"]]
    for match in SPAN.finditer(body):
        if any(start <= match.start() < end for start, end in fences):
            continue
        at = body.rfind("\n", 0, match.start()) + 1
        end = body.find("\n", match.end())
        line = body[at : end if end >= 0 else len(body)]
        yield match.start(1), match.end(1), match[1], line, match.start(1) - at


def _past(line: str, at: int) -> bool:
    """Tell whether a line tells of the past, or forbids, what the code span that begins there names, by its words
    outside of code spans. Its sentence is taken by itself if it says what is to be done now: others may forbid then,
    and it may say what comes after ("run `x` before committing")."""
    plain = SPAN.sub(lambda span: f"`{'x' * len(span[1])}`", line)
    if not PAST.search(plain) and not FORBIDS.search(plain):
        return False
    ends = [0, *(found.end() for found in coverage.END.finditer(plain)), len(plain)]
    start = max(each for each in ends if each <= at)
    end = min(each for each in ends if each > at)
    own, others = plain[start:end], f"{plain[:start]} {plain[end:]}"
    if PAST.search(others):
        return True
    if WITHOUT.search(plain[start:at]):
        return PAST.search(own) is not None
    return not TO_DO.match(own) or FORBIDS.search(own) is not None or PAST.search(AHEAD.sub("` ", own)) is not None


def _facts(scope: Scope, memory: Memory, start: int, words: str) -> dict[str, object]:
    line = memory_checks.line_of(memory, start)
    return {
        "line": line,
        "start": start,
        "end": start + len(words),
        "words": words,
        **memory_checks.about(scope, memory),
    }


def _path(project: ProjectFiles, scope: Scope, memory: Memory, span: tuple[int, int, str]) -> Iterator[Finding]:
    start, _, words = span
    match = PATH.fullmatch(words)
    path = match[1] if match else ""
    if not path or ".." in path.split("/") or not ("/" in path.strip("/") or SUFFIX.search(path)):
        return
    if not project.git.whole or project.exists(path):
        return
    gone, now = project.removed(path)
    if gone:
        facts = _facts(scope, memory, start + words.index(path), path)
        yield problem("memories.path", f"memory:{memory.path}", proposed=now, certain=bool(now), **facts)


def _command(project: ProjectFiles, scope: Scope, memory: Memory, start: int, words: str) -> Iterator[Finding]:
    for pattern, known, file in ((SCRIPT, "scripts", "package.json"), (TARGET, "targets", "Makefile")):
        match = pattern.fullmatch(words)
        names = getattr(project, known) if match else None
        if match and names is not None and match["name"] not in names:
            facts = _facts(scope, memory, start, words)
            yield problem("memories.command", f"memory:{memory.path}", file=file, name=match["name"], **facts)


def _branches(project: ProjectFiles, scope: Scope, memory: Memory) -> Iterator[Finding]:
    for match in BRANCH.finditer(memory.body):
        name = match[1] or match[2]
        at = memory.body.rfind("\n", 0, match.start()) + 1
        line = memory.body[at:].partition("\n")[0]
        past = _past(line, match.start(1 if match[1] else 2) - at)
        if {("branch", name), ("tag", name)} & project.git.refs or past or not project.git.whole:
            continue
        if re.search(rf"(?:'|/|\s){re.escape(name)}(?:'|\s|$)", project.git.merged, re.MULTILINE):
            facts = _facts(scope, memory, match.start(1 if match[1] else 2), name)
            yield note("memories.branch", f"memory:{memory.path}", **facts)


def _symbols(project: ProjectFiles, scope: Scope, symbols: dict[str, tuple[Memory, int]]) -> Iterator[Finding]:
    if not symbols or not project.git.whole:
        return
    held = project.git.holds(symbols)
    gone = [word for word in symbols if word not in held]
    for word in gone[:SYMBOLS]:
        memory, start = symbols[word]
        if project.git.had(word):
            yield note("memories.symbol", f"memory:{memory.path}", **_facts(scope, memory, start, word))
