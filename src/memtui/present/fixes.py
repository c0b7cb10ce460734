"""Words for what a fix did, and for what `gc` removes."""

import os

from memtui.core.base.phrasing import many, size, some
from memtui.core.health.fixes import FixOutcome
from memtui.core.health.retention import Due, Limits
from memtui.core.inbox.reconcile import Reconciled

# By fix: the sentence where it had nothing to do.
NOTHING = {
    "errors": "There are no errors to set aside.",
    "files": "All files are private to you already.",
    "notes": "Nothing new is known of any note yet.",
    "forget": "Nothing was learned from decisions yet.",
    "projects": "Nothing waits to be given to this project.",
    "collect": "Nothing is old enough to be deleted.",
}


def words(done: FixOutcome) -> str:
    """Describe what a fix did, in a sentence."""
    if done.facts is not None:
        return "; ".join(done.facts.busy) or ("Deleted for good." if done.facts.anything else NOTHING["collect"])
    if not done.changed:
        return NOTHING[done.fix]
    if done.fix == "notes":
        back = sum(len(each.returned) for each in done.changed if isinstance(each, Reconciled))
        number = many(len(done.changed), "delivery", "deliveries")
        return f"Found out what became of {number}; {many(back, 'note')} back in the queue."
    return {
        "errors": f"The errors are set aside, in {done.changed[0]}.",
        "files": many(len(done.changed), "file or directory is", "files and directories are") + " private to you now.",
        "forget": "Forgotten: drafts are judged as memtui ships it.",
        "projects": "This project has now what was kept apart.",
    }[done.fix]


def due(found: Due, keep: Limits, *, dry: bool) -> list[tuple[str, str]]:
    """Describe what was removed, or with `dry` what would be: rows of a kind and a sentence."""
    can = "can't be undone then" if dry else "can no longer be undone"
    limits = [f"older than {many(keep.days, 'day')}"] if keep.days else []
    limits += [f"beyond the newest {keep.changes:,}"] if keep.changes else []
    changes = f"{many(found.changes, 'change')} {' or '.join(limits)}: they {can}" if found.changes else ""
    restored = "can't be restored then" if dry else "can no longer be restored"
    number = many(len(found.deleted), "removed memory", "removed memories")
    deleted = f"{number} {restored}: {some(found.deleted)}" if found.deleted else ""
    contents = f"{many(found.images, 'old content')} in the trash, {size(found.image_bytes)}" if found.images else ""
    names = some([os.path.basename(path) for path in found.months])
    ago_words = f"more than {many(keep.days, 'day')} ago"
    deliveries = f"the log of what was delivered {ago_words}: {names}, {size(found.month_bytes)}"
    calls = f"the log of calls of models of {some([os.path.basename(path) for path in found.calls])}"
    files = f"{many(len(found.temporary), 'file')} of writers that were killed" if found.temporary else ""
    number = many(found.versions, "version")
    versions = f"{number} of memories, {size(found.version_bytes)}: they can't be shown or restored then"
    rows = [
        ("undo", changes),
        ("trash", deleted),
        ("contents", contents),
        ("deliveries", deliveries if found.months else ""),
        ("models", calls if found.calls else ""),
        ("proposals", f"{many(len(found.proposals), 'change')} proposed long ago" if found.proposals else ""),
        ("trust", f"{many(found.trusted, 'trusted text')} with later ones" if found.trusted else ""),
        ("rejected", f"{many(found.rejected, 'draft')} that you rejected long ago" if found.rejected else ""),
        ("versions", versions if found.versions else ""),
        ("files", files),
    ]
    return [(what, words) for what, words in rows if words]
