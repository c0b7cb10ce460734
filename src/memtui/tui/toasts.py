"""Toasts: the notes above the bottom bar, where they cover nothing; one at a time, an error until a key is pressed."""

from typing import TYPE_CHECKING

from textual.notifications import Notification

if TYPE_CHECKING:
    from textual.app import App

# A note stays as long as it takes to read; an error until a key is pressed.
NOTE_SECONDS, CHARACTERS_A_SECOND, FOR_EVER = 2.5, 25, 86400.0
# The characters that a note shows of a text that was copied.
COPIED_SHOWN = 30


def seconds(message: str, severity: str) -> float:
    """Return how many seconds a note stays."""
    return FOR_EVER if severity == "error" else NOTE_SECONDS + len(message) / CHARACTERS_A_SECOND


def copied(text: str) -> str:
    """Return the note that a text was copied: how long it is, and how it begins."""
    start = " ".join(text[: COPIED_SHOWN * 4].split())[:COPIED_SHOWN].rstrip()
    more = " …" if len(text.strip()) > len(start) else ""
    return f"Copied {len(text):,} characters: “{start}{more}”"


class Toasts:
    """The notes of an application. Textual has no public way to remove one of several."""

    def __init__(self, app: "App[None]") -> None:
        self.app = app

    def make_room(self, new: Notification) -> None:
        """Remove the notes that the new one replaces: all but errors, and these too if it is an error."""
        self.drop_notes(errors=new.severity == "error")

    def drop_notes(self, *, errors: bool = False) -> None:
        """Remove all notes, with `errors` also those of errors: they are about what is no longer shown."""
        for old in list(self.app._notifications):  # noqa: SLF001
            if old.severity != "error" or errors:
                self.app._unnotify(old, refresh=False)  # noqa: SLF001
                self.remove(f"#--textual-toast-{old.identity}")

    def remove(self, holders: str) -> None:
        """Remove the notes that a selector names, also from the screens that a dialog covers."""
        # Textual would remove the text alone, only on the screen on top, and leave an empty line in its place.
        for screen in self.app.screen_stack:
            for holder in screen.query(holders):
                holder.remove()

    def drop_errors(self) -> None:
        """Remove all notes if one is an error: a key was pressed, so it was seen."""
        if any(note.severity == "error" for note in self.app._notifications):  # noqa: SLF001
            self.app.clear_notifications()
