"""Words for what a fix did, and for what `gc` removes."""

import os

from memtui.base.phrasing import many, size, some
from memtui.inbox.reconcile import Reconciled
from memtui.tidy.checks.fixes import FixOutcome
from memtui.tidy.checks.retention import Due, Limits

# By fix: the sentence where it had nothing to do.
NOTHING = {
    "errors": "There are no errors to set aside.",
    "files": "All files are private to you already.",
    "notes": "Nothing new is known of any note yet.",
    "projects": "Nothing waits to be given to this project.",
    "collect": "Nothing is old enough to be deleted.",
}


def words(outcome: FixOutcome) -> str:
    """Describe what a fix did, in a sentence."""
    if outcome.facts is not None:
        return "; ".join(outcome.facts.busy) or ("Deleted for good." if outcome.facts.anything else NOTHING["collect"])
    if not outcome.changed:
        return NOTHING[outcome.fix]
    if outcome.fix == "notes":
        back = sum(len(change.returned) for change in outcome.changed if isinstance(change, Reconciled))
        number = many(len(outcome.changed), "delivery", "deliveries")
        return f"Found out what became of {number}; {many(back, 'note')} back in the queue."
    return {
        "errors": f"The errors are set aside, in {outcome.changed[0]}.",
        "files": many(len(outcome.changed), "file or directory is", "files and directories are")
        + " private to you now.",
        "projects": "This project has now what was kept apart.",
    }[outcome.fix]


def due(expired: Due, keep: Limits, *, dry: bool) -> list[tuple[str, str]]:
    """Describe what was removed, or with `dry` what would be: rows of a kind and a sentence."""
    can = "can't be undone then" if dry else "can no longer be undone"
    limits = [f"older than {many(keep.days, 'day')}"] if keep.days else []
    limits += [f"beyond the newest {keep.changes:,}"] if keep.changes else []
    changes = f"{many(expired.changes, 'change')} {' or '.join(limits)}: they {can}" if expired.changes else ""
    restored = "can't be restored then" if dry else "can no longer be restored"
    number = many(len(expired.deleted), "removed memory", "removed memories")
    deleted = f"{number} {restored}: {some(expired.deleted)}" if expired.deleted else ""
    contents = (
        f"{many(expired.images, 'old content')} in the trash, {size(expired.image_bytes)}" if expired.images else ""
    )
    names = some([os.path.basename(path) for path in expired.months])
    ago_words = f"more than {many(keep.days, 'day')} ago"
    deliveries = f"the log of what was delivered {ago_words}: {names}, {size(expired.month_bytes)}"
    calls = f"the log of calls of models of {some([os.path.basename(path) for path in expired.calls])}"
    files = f"{many(len(expired.temporary), 'file')} of writers that were killed" if expired.temporary else ""
    number = many(expired.versions, "version")
    versions = f"{number} of memories, {size(expired.version_bytes)}: they can't be shown or restored then"
    rows = [
        ("undo", changes),
        ("trash", deleted),
        ("contents", contents),
        ("deliveries", deliveries if expired.months else ""),
        ("models", calls if expired.calls else ""),
        ("proposals", f"{many(len(expired.proposals), 'change')} proposed long ago" if expired.proposals else ""),
        ("trust", f"{many(expired.trusted, 'trusted text')} with later ones" if expired.trusted else ""),
        ("rejected", f"{many(expired.rejected, 'draft')} that you rejected long ago" if expired.rejected else ""),
        ("versions", versions if expired.versions else ""),
        ("files", files),
    ]
    return [(what, words) for what, words in rows if words]
