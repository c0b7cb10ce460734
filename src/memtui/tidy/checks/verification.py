"""The checks that a memory brings itself, in its field `verify`: made, and noted for hooks and lists.

No program but git is started: a check looks for files, words in them, and what git names (docs/file-formats.md). One
that can't be made neither holds nor fails. What is not trusted is not checked."""

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from memtui.base import clock_hot, fastjson_hot, fs_hot, globs_hot, ids_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding, note, problem
from memtui.store import own_checks_hot, scopes
from memtui.store.memory import own_checks, read_memory
from memtui.tidy.checks.check import Check, Checked, about
from memtui.tidy.checks.project_files import FILE_BYTES, FILES, ProjectFiles, top_of

# The most files that one grep reads, and the bytes of one by which it is seen to be no text.
FILES_READ, TEXT_BYTES = 2000, 8000
# Seconds that a worker has for the checks of a session's memories.
MOST_SECONDS = 10.0
# What the commands of git are that answer for the work tree.
ANSWERS = {"ls-files", "for-each-ref"}
CHECK = re.compile(r"(?P<no>not )?(?P<kind>glob|grep|git) (?P<rest>\S.*)")
GREP = re.compile(r"(?:\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)'|(?P<plain>\S+)) in (?P<glob>\S+)")
GIT = re.compile(r"(?P<what>branch|tag|path) (?P<name>[^\s-]\S*)")
# What is found on the checks of a memory, the worst first.
CODES = ("memories.verify", "memories.verify_unknown", "memories.unchecked")


class NotMadeError(ValueError):
    """A check can't be made now, though it is written as one."""


def verified(checked: Checked) -> Iterator[Finding]:
    """Find the checks of memories that fail, or that can't be made; at the end note for each memory what they say."""
    root, scope, trust = checked.root, checked.scope, scopes.trust_of(checked.root, checked.scope)
    before = own_checks_hot.load(root, scope.directory) if root else {}
    rows: dict[str, dict[str, object]] = {}
    for memory in checked.memories:
        if checks := own_checks(memory.fields):
            file, digest = memory.path.removeprefix(scope.directory + "/"), ids_hot.digest(memory.raw)
            faults = list(_faults(checked.project, checks, is_trusted=trust.knows(digest)))
            time_of_check = clock_hot.iso_seconds(checked.now) if root else ""
            rows[file] = row = _row(faults, digest, fastjson_hot.table(before, file), time_of_check)
            if row["state"] == own_checks_hot.FAILS and CODES[0] not in {fault.code for fault in faults}:
                faults.append(problem(CODES[0], check=row["check"]))
            for fault in faults:
                since = row["since"] if fault.data["check"] == row.get("check") else ""
                yield about(fault._replace(data={"since": since, **fault.data}), scope, memory)
    if rows != before and root:
        data = fastjson_hot.dumps({"v": own_checks_hot.VERSION, "memories": rows}).encode()
        fs_hot.write_cache(paths_hot.checks_path(root, scope.directory), data)


def _row(faults: Sequence[Finding], digest: str, old: dict[str, object], time: str) -> dict[str, object]:
    """Return what is noted of a memory: the worst fault, and since when; what failed counts until it is made again."""
    worst = min(faults, key=lambda fault: CODES.index(fault.code), default=None)
    code, facts = (worst.code, dict(worst.data)) if worst is not None else ("", {})
    state = {"": own_checks_hot.HOLDS, CODES[0]: own_checks_hot.FAILS}.get(code, own_checks_hot.NOT_MADE)
    failed = old.get("state") == own_checks_hot.FAILS
    if state == own_checks_hot.NOT_MADE and failed and old.get("digest") == digest:
        return old
    is_same = (old.get("state"), old.get("check")) == (state, facts.get("check"))
    return {"digest": digest, "state": state, **facts, "since": fastjson_hot.text(old, "since") * is_same or time}


def _faults(project: ProjectFiles | None, checks: Sequence[str], *, is_trusted: bool) -> Iterator[Finding]:
    for check in checks:
        try:
            if not is_trusted:
                raise NotMadeError("the memory is not trusted")
            if not holds(project, check):
                yield problem("memories.verify", check=check)
        except NotMadeError as error:
            yield note("memories.unchecked", check=check, why=str(error))
        except ValueError as error:
            yield problem("memories.verify_unknown", check=check, why=str(error))


def holds(project: ProjectFiles | None, check: str) -> bool:
    """Make a check. Raises ValueError, with the reason, for one that can't be understood, NotMadeError."""
    if project is None:
        raise ValueError("it belongs to no project")
    match = CHECK.fullmatch(check)
    if match is None:
        raise ValueError("it is not glob, grep or git")
    if not os.path.isdir(project.top):
        raise NotMadeError("the project's directory is gone")
    if os.path.lexists(f"{project.top}/.git") and not project.git.there:
        raise NotMadeError("git can't read the repository")
    rest, is_glob = match["rest"].strip(), match["kind"] == "glob"
    is_so = any(_matching(project, rest)) if is_glob else {"grep": _grep, "git": _git}[match["kind"]](project, rest)
    if ANSWERS & project.git.unanswered:
        raise NotMadeError("git gave no answer")
    return is_so != bool(match["no"])


def _matching(project: ProjectFiles, pattern: str) -> Iterator[str]:
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise ValueError("the pattern leads out of the project")
    for file in sorted(project.files):
        if not project.go_on():
            raise NotMadeError("it takes too long")
        path = f"{project.top}/{file}"
        if globs_hot.matches(pattern, path, project.top) and os.path.lexists(path):
            yield file
    if len(project.files) == FILES and not project.git.there:
        raise NotMadeError(f"the project has more than {FILES:,} files and no git repository")


def _grep(project: ProjectFiles, rest: str) -> bool:
    match = GREP.fullmatch(rest)
    if match is None:
        raise ValueError("write it as: grep TEXT in PATTERN")
    text = match["double"] or match["single"] or match["plain"]
    unread = ""
    for number, path in enumerate(_matching(project, match["glob"])):
        if number == FILES_READ:
            raise NotMadeError(f"more than {FILES_READ:,} files match {match['glob']}")
        try:
            if _has(project, path, text.encode()):
                return True
        except OSError as error:
            unread = unread or f"{path}: {error.strerror or error}"
    if unread:
        raise NotMadeError(unread)
    return False


def _has(project: ProjectFiles, path: str, text: bytes) -> bool:
    """Tell whether a file of text in the project has a text. Raises OSError if that can't be known."""
    whole = f"{project.top}/{path}"
    data = fs_hot.read_bytes(whole, FILE_BYTES + 1) if paths_hot.inside(project.top, whole) else b""
    has_text = text in data[:FILE_BYTES]
    if len(data) > FILE_BYTES and not has_text and b"\0" not in data[:TEXT_BYTES]:
        raise OSError(f"it is larger than {FILE_BYTES >> 20} MB")
    return has_text


def _git(project: ProjectFiles, rest: str) -> bool:
    match = GIT.fullmatch(rest)
    if match is None:
        raise ValueError("write it as: git branch|tag|path NAME")
    if not project.git.there:
        raise ValueError("the project is no git repository")
    if match["what"] != "path":
        return (match["what"], match["name"]) in project.git.refs
    path = match["name"].rstrip("/")
    return path in project.git.tracked or any(tracked.startswith(path + "/") for tracked in project.git.tracked)


def make(env: dict[str, str], root: str, cwd: str, listed: dict[str, object]) -> None:
    """Make the checks of a session's memories, of those `listed` by directory and file, in MOST_SECONDS at most."""
    end = time.monotonic() + MOST_SECONDS
    projects: dict[str, ProjectFiles] = {}
    for scope in scopes.discover(env, cwd):
        memories = []
        for file in fastjson_hot.table(listed, scope.directory):
            with suppress(MemtuiError):
                memories.append(read_memory(f"{scope.directory}/{file}", scope.label))
        if memories:
            top = top_of(scope)
            project = projects.setdefault(top, ProjectFiles(top, root, lambda: time.monotonic() < end))
            project.git.seconds = MOST_SECONDS
            whole = [memory for memory in memories if memory.broken is None]
            list(verified(Checked(scope, whole, project if top else None, root=root, now=clock_hot.now())))


CHECKS = (Check(CODES, of_scope=verified),)
