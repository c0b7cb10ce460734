"""Before a form keeps what looks like a secret, it says so and asks."""

from collections.abc import Callable

from textual.widgets import Input, TextArea

from memtui.core.redaction import redact
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Result, Typed

OUT, KEEP, BACK = "out", "keep", "back"
WAYS = (
    (BACK, "Go back to the form"),
    (OUT, "Take it out: [redacted] and its kind stand there instead"),
    (KEEP, "Keep it as it is"),
)
# A text that is looked through at each key is no longer than this.
WHILE_TYPING = 20_000


def words(text: str, before: str = "") -> str:
    """What a text seems to hold that `before` did not, in a sentence; empty if nothing."""
    kinds = redact.kinds_in(text, before) if len(text) <= WHILE_TYPING else []
    return f"It looks like it holds {redact.described(kinds)}." if kinds else ""


def asks(form: Typed[Result], text: str, before: str, go_on: Callable[[], None]) -> bool:
    """Ask, if a text holds a secret that `before` did not and the person has not let stand yet; whether it asks.

    `go_on` is called when the secret is taken out of the form's fields, or may stay.
    """
    kinds = redact.kinds_in(text, before) if text != form.allowed else []
    if not kinds:
        return False

    def then(answer: str | None) -> None:
        if answer == OUT:
            for line in form.query(Input):
                line.value = redact.redact(line.value)[0]
            for area in form.query(TextArea):
                area.text = redact.redact(area.text)[0]
        elif answer == KEEP:
            form.allowed = text
        if answer in {OUT, KEEP}:
            form.call_after_refresh(go_on)

    looks = f"This looks like it holds {redact.described(kinds)}. Sessions would be told it, and logs would keep it."
    form.app.push_screen(Choice(looks, WAYS), then)
    return True
