"""The checks that a memory brings itself, in its field `verify`: a text or a list of texts, each one check.

    glob src/**/*.ts                a file of the project matches
    grep "strict = true" in *.toml  a file that matches holds the text, exactly as written
    git branch main                 the repository has the branch (or `git tag NAME`, `git path PATH`: a tracked file)
    not glob yarn.lock              `not` before any of them turns it round

No shell and no program but git sees them, and no path leads out of the project.
"""

import re
from collections.abc import Iterator

from memtui.consolidate.project_checks import ProjectFiles
from memtui.core.base import globs
from memtui.core.base.finding import Finding, problem
from memtui.core.health import memory_checks
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope

FIELD = "verify"
CHECK = re.compile(r"(?P<no>not )?(?P<kind>glob|grep|git) (?P<rest>\S.*)")
GREP = re.compile(r"(?:\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)'|(?P<plain>\S+)) in (?P<glob>\S+)")
GIT = re.compile(r"(?P<what>branch|tag|path) (?P<name>[^\s-]\S*)")
# The most files that one grep reads.
FILES = 2000


def of_memory(project: ProjectFiles | None, scope: Scope, memory: Memory) -> Iterator[Finding]:
    """Find the checks of a memory that fail, or that can't be understood."""
    for check in checks(memory):
        facts = {"check": check, **memory_checks.about(scope, memory)}
        if project is None:
            yield problem("memories.verify_unknown", f"memory:{memory.path}", why="it belongs to no project", **facts)
            continue
        try:
            if not holds(project, check):
                yield problem("memories.verify", f"memory:{memory.path}", **facts)
        except ValueError as error:
            yield problem("memories.verify_unknown", f"memory:{memory.path}", why=str(error), **facts)


def checks(memory: Memory) -> list[str]:
    """List the checks of a memory, as written."""
    nested = memory.fields.get("metadata")
    given = memory.fields.get(FIELD) or (nested.get(FIELD) if isinstance(nested, dict) else None)
    every = given if isinstance(given, list) else [given]
    return [each.strip() for each in every if isinstance(each, str) and each.strip()]


def holds(project: ProjectFiles, check: str) -> bool:
    """Make a check. Raises ValueError, with the reason, for one that can't be understood."""
    found = CHECK.fullmatch(check)
    if found is None:
        raise ValueError("it is not glob, grep or git")
    kind, rest = found["kind"], found["rest"].strip()
    result = {"glob": _glob, "grep": _grep, "git": _git}[kind](project, rest)
    return result != bool(found["no"])


def _matching(project: ProjectFiles, pattern: str) -> list[str]:
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise ValueError("the pattern leads out of the project")
    return sorted(each for each in project.files if globs.matches(pattern, f"{project.top}/{each}", project.top))


def _glob(project: ProjectFiles, rest: str) -> bool:
    return bool(_matching(project, rest))


def _grep(project: ProjectFiles, rest: str) -> bool:
    found = GREP.fullmatch(rest)
    if found is None:
        raise ValueError("write it as: grep TEXT in PATTERN")
    text = found["double"] or found["single"] or found["plain"]
    return any(text in project.read(each) for each in _matching(project, found["glob"])[:FILES])


def _git(project: ProjectFiles, rest: str) -> bool:
    found = GIT.fullmatch(rest)
    if found is None:
        raise ValueError("write it as: git branch|tag|path NAME")
    if not project.git.there:
        raise ValueError("the project is no git repository")
    if found["what"] == "path":
        return found["name"].rstrip("/") in project.git.tracked or any(
            each.startswith(found["name"].rstrip("/") + "/") for each in project.git.tracked
        )
    return (found["what"], found["name"]) in project.git.refs
