"""The question about what was edited in a form and kept for later, where a key would take the text as proposed."""

from memtui import actions
from memtui.core.base.phrasing import ago
from memtui.tui.dialogs.ask import Choice
from memtui.tui.model.autosave import Autosave

MINE, PROPOSED = "mine", "proposed"
WHICH = (
    (MINE, "My text: go on with it in the form"),
    (PROPOSED, "The text as it was proposed; mine comes back if I undo that"),
)


def which(kept: Autosave, now: float) -> Choice:
    """Return the question which text is meant: the answer is MINE, PROPOSED, or None."""
    when = f", {ago(kept.time, now)}" if kept.time else ""
    return Choice(f"You edited this and did not save it{when}. Which text?", WHICH, narrows=False)


def ignored(count: int, action_id: str) -> str:
    """Return the line of a preview of several: so many of them have unsaved text, which is not taken."""
    has = "has" if count == 1 else "have"
    key = actions.key_of(action_id)
    return f"{count} of them {has} unsaved text of yours, which is not written: {key} goes on with it."
