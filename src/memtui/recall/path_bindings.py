"""Memories that are bound to paths: given before a tool touches one, once a session. Hook path.

`recall/paths` under the data root lists them, by directory and file, each with the globs of its own field `paths`. A
worker writes it (worker/index_updates.py). Where no memory has any there is no such file."""

from memtui.base import clock, fastjson, globs
from memtui.client import locate
from memtui.deliver import session_memories
from memtui.recall import judge, places, query
from memtui.store.frontmatter import head

FILE = "recall/paths"
# Memories that are given before one tool, at most.
MOST = 3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    # (scope, directory); a bound memory has also its file there, and why it is given.
    Place = tuple[str, str]
    Bound = tuple[str, str, str, str]


def matching(root: str, where: "Sequence[Place]", touched: "Sequence[str]", project_root: str) -> "list[Bound]":
    """List the memories of some places that are bound to any of the paths `touched`, with why."""
    rows_by_place = places.listed(root, FILE)
    matches = []
    for scope, directory in where:
        own = fastjson.table(rows_by_place, directory)
        for file, patterns in own.items():
            glob = _fitting(patterns, touched, project_root)
            if glob:
                matches.append((scope, directory, file, f"bound to {glob}"))
    return matches


def _fitting(patterns: object, touched: "Sequence[str]", project_root: str) -> str:
    """Return the first of a memory's globs that fits a path; "" if none does."""
    for glob in patterns if isinstance(patterns, list) else []:
        if any(globs.matches(str(glob), path, project_root) for path in touched):
            return str(glob)
    return ""


def due(
    root: str, matches: "Sequence[Bound]", session: session_memories.SessionMemories, most: int = MOST
) -> "list[judge.Verdict]":
    """Return verdicts of the bound memories that a session may be given, `most` of them, with what their files say."""
    allowed, now = judge.Allowed(root), clock.now()
    verdicts: list[judge.Verdict] = []
    units = judge.SESSION_UNITS - session.units
    for scope, directory, file, reason in matches:
        verdict = judge.Verdict(query.Hit(scope, directory, (file, 0, 0, "", file, "", "", False, 0.0, ())), 1.0, [])
        verdict.outcome = judge.hindrance(verdict, session, now, allowed)
        size = min(judge.MOST_BYTES, len(verdict.data))
        if locate.is_set_aside(file) or verdict.outcome or size > units or len(verdicts) == most:
            continue
        units -= size
        hit = verdict.hit
        name, hit.description, hit.type = head.summarise(verdict.data)
        hit.name = name or file[file.rfind("/") + 1 :].removesuffix(".md")
        verdict.outcome, verdict.reason = judge.INJECT, reason
        verdicts.append(verdict)
    return verdicts
