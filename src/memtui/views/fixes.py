"""Words for what a fix did, and for what `gc` removes."""

import os

from memtui.base.phrasing import many, size, some
from memtui.inbox.reconciliation import Reconciled
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
    undone, back = ("can't be undone then", "can't be restored then")
    if not dry:
        undone, back = ("can no longer be undone", "can no longer be restored")
    limits = [f"older than {many(keep.days, 'day')}"] if keep.days else []
    limits += [f"beyond the newest {keep.changes:,}"] if keep.changes else []
    removed = many(len(expired.deleted), "removed memory", "removed memories")
    months, calls = (some([os.path.basename(path) for path in paths]) for paths in (expired.months, expired.calls))
    log = f"the log of what was delivered more than {many(keep.days, 'day')} ago"
    versions = f"{many(expired.versions, 'version')} of memories, {size(expired.version_bytes)}"
    rows: list[tuple[str, object, str]] = [
        ("undo", expired.changes, f"{many(expired.changes, 'change')} {' or '.join(limits)}: they {undone}"),
        ("trash", expired.deleted, f"{removed} {back}: {some(expired.deleted)}"),
        (
            "contents",
            expired.images,
            f"{many(expired.images, 'old content')} in the trash, {size(expired.image_bytes)}",
        ),
        ("deliveries", expired.months, f"{log}: {months}, {size(expired.month_bytes)}"),
        ("models", expired.calls, f"the log of calls of models of {calls}"),
        ("proposals", expired.proposals, f"{many(len(expired.proposals), 'change')} proposed long ago"),
        ("trust", expired.trusted, f"{many(expired.trusted, 'trusted text')} with later ones"),
        ("rejected", expired.rejected, f"{many(expired.rejected, 'draft')} that you rejected long ago"),
        ("versions", expired.versions, f"{versions}: they can't be shown or restored then"),
        ("files", expired.temporary, f"{many(len(expired.temporary), 'file')} of writers that were killed"),
    ]
    return [(what, words) for what, there_is, words in rows if there_is]
