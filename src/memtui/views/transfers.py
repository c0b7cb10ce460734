"""Words for what an import or an export brings, in both front doors."""

from collections.abc import Sequence

from memtui.base.phrasing import many, some
from memtui.base.shell import shell_word
from memtui.redact import redact
from memtui.transfer.export_folder import Export, folder_name
from memtui.transfer.import_plan import ImportPlan
from memtui.transfer.source import LeftOut
from memtui.views import safe_text

# Lines of each list that are shown.
SHOWN = 8
FULL = "the inbox is full. Approve or reject some drafts, then import it again"


def imported(plan: ImportPlan, *, is_done: bool) -> list[str]:
    """Say what an import brings, or brought, a line each: counts, and the first of what was left out."""
    drafts = plan.drafts
    verb = "Added" if is_done else "Would add"
    none = "None of it fits into the inbox." if plan.full else "Nothing new is in it."
    lines = [f"{verb} {many(len(drafts), 'draft')}." if drafts else none]
    if plan.secrets:
        lines.append(f"Secrets {'were' if is_done else 'are'} removed: {redact.described(plan.secrets)}.")
    if plan.known:
        secrets = [f"{left_out.where} ({left_out.why})" for left_out in plan.known]
        lines.append(f"{len(plan.known)} known already: {safe_text.line(some(secrets, 3))}.")
    if plan.decided:
        where = safe_text.line(some(plan.decided, 3))
        lines.append(f"{len(plan.decided)} decided on before: {where}.")
    if plan.left:
        why = FULL if plan.full else "that is enough to review at once"
        lines.append(f"{many(len(plan.left), 'more memory', 'more memories')} left for another import: {why}.")
    return [*lines, *map(safe_text.line, plan.found.notes)]


def skipped(left_outs: Sequence[LeftOut]) -> list[str]:
    """Say what was left out and why, a line each."""
    lines = [safe_text.line(f"{left_out.where} {left_out.why}") for left_out in left_outs[:SHOWN]]
    return [*lines, f"and {len(left_outs) - SHOWN} more"] if len(left_outs) > SHOWN else lines


def exported(export: Export) -> str:
    names = ", ".join(f"{label} ({count})" for label, count in export.counts.items())
    return safe_text.line(f"{many(export.memories, 'memory', 'memories')}: {names}")


def beside(export: Export) -> list[str]:
    """Say what an export takes along that others should not see, a line each."""
    lines = []
    if export.secrets:
        places = [f"{left_out.where} ({left_out.why})" for left_out in export.secrets]
        hold = "seems to hold a secret" if len(places) == 1 else "seem to hold secrets"
        memories = many(len(places), "memory", "memories")
        lines.append(f"{memories} {hold}: {safe_text.line(some(places, SHOWN))}. The export has them as they are.")
    return lines


def elsewhere(export: Export, name: str) -> str:
    """Say what to type on another machine for an export of that file name."""
    labels = [*export.files]
    path = name if len(labels) == 1 else f"{name}/{folder_name(labels[0])}"
    return f"On another machine: memtui import {shell_word(path)} --scope {shell_word(labels[0])}"
