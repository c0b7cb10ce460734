"""Words for what an import or an export brings, in both front doors."""

from collections.abc import Sequence

from memtui.core.base.phrasing import many, some
from memtui.core.redaction import redact
from memtui.present import safe_text
from memtui.transfer.exporting import Export
from memtui.transfer.importing import ImportPlan
from memtui.transfer.incoming import LeftOut
from memtui.transfer.restoring import RestorePlan

# Lines of each list that are shown.
SHOWN = 8
FULL = "the inbox is full. Approve or reject some drafts, then import it again"
TAKE = "To take what the archive has, rename or remove what is here, then restore again."


def imported(plan: ImportPlan, *, done: bool) -> list[str]:
    """Say what an import brings, or brought, a line each: counts, and the first of what was left out."""
    made = plan.drafts
    verb = "Added" if done else "Would add"
    none = "None of it fits into the inbox." if plan.full else "Nothing new is in it."
    lines = [f"{verb} {many(len(made), 'draft')}." if made else none]
    if plan.secrets:
        lines.append(f"Secrets were removed: {redact.described(plan.secrets)}." if done else _secrets(plan))
    if plan.known:
        told = [f"{each.where} ({each.why})" for each in plan.known]
        lines.append(f"{len(plan.known)} known already: {safe_text.line(some(told, 3))}.")
    if plan.decided:
        where = safe_text.line(some(plan.decided, 3))
        lines.append(f"{len(plan.decided)} decided on before: {where}. --again takes them as well.")
    if plan.left:
        why = FULL if plan.full else "that is enough to review at once"
        lines.append(f"{many(len(plan.left), 'more memory', 'more memories')} left for another import: {why}.")
    return [*lines, *map(safe_text.line, plan.found.notes)]


def _secrets(plan: ImportPlan) -> str:
    return f"Secrets are removed: {redact.described(plan.secrets)}."


def skipped(found: Sequence[LeftOut]) -> list[str]:
    """Say what was left out and why, a line each."""
    lines = [safe_text.line(f"{each.where} {each.why}") for each in found[:SHOWN]]
    return [*lines, f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else lines


def restored(plan: RestorePlan, *, done: bool) -> list[str]:
    """Say what a restore writes, or wrote, a line each."""
    verb = "restored" if done else "would be restored"
    lines = [f"{many(len(plan.new), 'file')} {verb}."] if plan.new or not plan.same else []
    if plan.same:
        lines.append(
            f"{many(len(plan.same), 'file')} {'is' if len(plan.same) == 1 else 'are'} there already, the same."
        )
    if plan.conflicts:
        names = safe_text.line(some(plan.conflicts, SHOWN))
        verb = "is" if len(plan.conflicts) == 1 else "are"
        lines.append(f"{many(len(plan.conflicts), 'file')} {verb} there with other content and kept: {names}. {TAKE}")
    return [*lines, *map(safe_text.line, plan.notes)]


def exported(found: Export) -> str:
    """Say what an export holds."""
    names = ", ".join(f"{each.label} ({len(each.memories)})" for each in found.scopes)
    return safe_text.line(f"{many(found.memories, 'memory', 'memories')}: {names}")


def beside(found: Export) -> list[str]:
    """Say what an export leaves behind, and what it takes along that others should not see, a line each."""
    lines = []
    if found.others:
        what = many(len(found.others), "file that is no memory", "files that are no memories")
        lines.append(f"{what} stayed here: {safe_text.line(some(found.others, 3))}.")
    if found.secrets:
        told = [f"{each.where} ({each.why})" for each in found.secrets]
        hold = "seems to hold a secret" if len(told) == 1 else "seem to hold secrets"
        memories = many(len(told), "memory", "memories")
        lines.append(f"{memories} {hold}: {safe_text.line(some(told, SHOWN))}. The export has them as they are.")
    return lines
