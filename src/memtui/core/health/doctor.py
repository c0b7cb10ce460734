"""All checks of memtui's files and of the person's content, in order; hooks/installer/checkup.py runs these."""

import os
from collections.abc import Iterator
from itertools import chain

from memtui.core.base import paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding, good, problem
from memtui.core.health import adoption, content_checks, file_checks, findings, settings_checks
from memtui.core.journal.journal import Journal
from memtui.core.memories import scopes
from memtui.core.memories.memory import Memory
from memtui.core.review import taught


def check(env: dict[str, str], cwd: str, now: float, known: dict[str, Memory] | None = None) -> list[Finding]:
    """Run all checks but those of hooks, client and other projects; one that fails gives a finding of its own."""
    root = paths.root(env)
    journal = Journal(root)
    here = paths.project_root(cwd)
    scopes_here = scopes.discover(env, cwd)
    names = {None: "all projects", paths.project_key(here): os.path.basename(here) or "/"}
    checks: dict[str, Iterator[Finding]] = {
        "root": file_checks.own(root),
        "config": settings_checks.check(env, root, here),
        "errors": file_checks.errors(root, now),
        "inbox": chain(
            adoption.renamed(env, here),
            content_checks.inboxes(root, names.items(), now),
        ),
        "memories": (
            each for scope in scopes_here for each in content_checks.memories(root, scope, known, others=scopes_here)
        ),
        "trust": content_checks.trust(root, scopes_here),
        "journal": file_checks.journal(journal),
        "kept": file_checks.kept(journal, now),
        "learned": taught.check(root, journal),
    }
    return [each for area, found in checks.items() for each in _run(area, found) or [good(f"{area}.ok")]]


def _run(area: str, found: Iterator[Finding]) -> list[Finding]:
    try:
        return [findings.merged(parts) for parts in findings.by_cause(found)]
    except (OSError, MemtuiError, ValueError, RecursionError) as error:
        why = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.filename else str(error)
        return [problem(f"{area}.failed", why=why)]
