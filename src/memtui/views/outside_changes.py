"""Words for memories that somebody else wrote since a person last saw them."""

from collections.abc import Sequence

from memtui.base.errors import MemtuiError
from memtui.base.phrasing import many, some
from memtui.review.outside_changes import Changed
from memtui.store.journal import acts
from memtui.store.versions.versions import AGENT
from memtui.views import versions

DID = {"new": "new", "edited": "changed", "deleted": "deleted"}
NOT_TRUSTED = "not trusted: sessions get it once you keep it"
# What rejecting it does.
BACK = {"new": "it goes to the trash", "edited": "what you saw last is restored", "deleted": "it comes back"}


def by(item: Changed, title: str = "") -> str:
    """Say what was done and by whom: `changed by Claude in “title”`."""
    if item.kind == "deleted":
        return f"deleted outside memtui{_undone(item)}"
    what = "added" if item.kind == "new" else "changed"
    if item.writer.by == AGENT:
        return f"{what} by {versions.writer(item.now, title, item.writer)}{_undone(item)}"
    return f"{what} outside memtui{_undone(item)}"


def _undone(item: Changed) -> str:
    """Say that an undo of the person put it back, which is why it is here again."""
    return ", put back by your undo" if item.now.op == "undo" else ""


def who(item: Changed) -> str:
    """Say in two words who wrote it."""
    return f"{'by Claude' if item.writer.by == AGENT else 'outside memtui'}{_undone(item)}"


def done(act: str, items: Sequence[Changed], failed: int = 0) -> str:
    """Say what was done: `Kept: auto:prefer-pnpm.`, `Rejected: 3 memories; one was left alone.`."""
    names = some([item.ref for item in items]) if len(items) <= 2 else many(len(items), "memory", "memories")
    rest = f"; {many(failed, 'one was', 'were')} left alone" if failed else ""
    return f"{acts.done(act).capitalize()}: {names}{rest}."


def gate_off(hidden: int, *, own: bool) -> tuple[str, str]:
    """Say that the gate hides so many memories, and what lists them; `own` if the project has its own setting."""
    which = many(hidden, "memory changed by others is", "memories changed by others are")
    return (
        f"The gate is off, so {which if hidden else 'what others change is'} not listed.",
        f"List what others change: memtui config set gate show{' --project .' if own else ''}",
    )


def failures(failed: Sequence[tuple[Changed, MemtuiError]]) -> list[dict[str, str]]:
    """Return name, message and hint of each that could not be rejected."""
    return [{"name": item.ref, "message": error.message, "hint": error.hint} for item, error in failed]
