"""All checks of memtui's files and of the person's content, in order. They change nothing.

hooks/installer/checkup.py runs these, and checks the hooks and the client before them.
"""

from collections.abc import Iterator

from memtui.core.base import paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding, good, problem
from memtui.core.health import content_checks, file_checks, settings_checks
from memtui.core.journal.journal import Journal
from memtui.core.memories.memory import Memory


def check(
    env: dict[str, str],
    cwd: str,
    now: float,
    known: dict[str, Memory] | None = None,
) -> list[Finding]:
    """Run all checks except those of hooks and client. `known` as for `status.of_scope`.

    A check that fails gives a finding; the others still run.
    """
    root = paths.root(env)
    found: list[Finding] = []
    journal = Journal(root)
    checks: dict[str, Iterator[Finding]] = {
        "root": file_checks.own(root),
        "config": settings_checks.check(env, root, paths.project_root(cwd)),
        "errors": file_checks.errors(root, now),
        "inbox": content_checks.inboxes(root, now),
        "memories": content_checks.memories(env, cwd, known),
        "trust": content_checks.trust(env, root, cwd),
        "journal": file_checks.journal(journal),
        "log": file_checks.log(root),
        "kept": file_checks.kept(journal, now),
    }
    for area, findings in checks.items():
        try:
            area_findings = list(findings)
        except (OSError, MemtuiError, ValueError, RecursionError) as error:
            why = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.filename else str(error)
            area_findings = [problem(f"{area}.failed", why=why)]
        found += area_findings or [good(f"{area}.ok")]
    return found
