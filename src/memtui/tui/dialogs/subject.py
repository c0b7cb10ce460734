"""The subject of a form (a memory, a draft, a note): its words and fields, its checks, and how it is saved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from memtui.tui.model.autosave import Autosave

if TYPE_CHECKING:
    from memtui.recall.prompt_replay import StoreChange
    from memtui.tui.dialogs.dialog import Dialog

LINE, CHOICE, TEXT = "line", "choice", "text"
NOTHING = "Nothing changed."  # what saving says where nothing was typed
MAX_LINE, MAX_TEXT = 20_000, 500_000  # characters. A longer line can't be wrapped fast enough while a person types
Options = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class FormField:
    """A field: a line, a choice of `options` (value, words), or the text. `later` looks up more options, slowly."""

    key: str
    value: str
    kind: str = LINE
    label: str = ""
    placeholder: str = ""
    options: Options = ()
    later: Callable[[], Options] | None = None


class Typed(NamedTuple):
    """The values of a form by their keys: all `values`, and those that the person has `changed`."""

    values: dict[str, str]
    changed: dict[str, str]


class Saved(NamedTuple):
    """The result of saving, and a note of it; with `wrong`, an error message, the form stays open."""

    result: str
    words: str = ""
    warns: bool = False
    wrong: str = ""


class Subject:
    """The subject of a form, with what the form says and offers; here a new one."""

    title: str
    verb = "save"  # the word for saving
    name = ""  # what questions call it
    gone = ""  # the message if it does not exist any more
    action = ""  # that goes on with the text, if it is kept as the person leaves and that is said
    notice = ""  # the first message, unless there is an autosave
    fields: Sequence[FormField]
    autosave: Autosave  # what was typed before, and where to keep it
    is_file = False  # a file, which is watched while the form is open and may be written again if it is gone
    is_recalled = False  # a memory that prompts recall: the last prompts can be replayed with `changes`
    is_example = False  # the text is selected, so that typing replaces it
    at_end = False  # the cursor begins at the end of the text
    first = ""  # the key of the field with the focus; else the text has it
    beside: Sequence[tuple[Text, Text]] = ()  # texts to read beside the one that is edited, each with its title

    def is_empty(self, typed: Typed) -> bool:
        """Return whether nothing is typed that is worth keeping: here, nothing was changed."""
        return not typed.changed

    def check(self, typed: Typed) -> Text:  # noqa: ARG002
        """Return what saving would do, in words for the form. Raises MemtuiError for what can't be saved."""
        return Text()

    def changes(self, typed: Typed) -> "Sequence[StoreChange]":  # noqa: ARG002
        """Return what saving would do to the memories that prompts recall. Raises MemtuiError."""
        return ()

    def preview(self, typed: Typed) -> "Dialog[bool] | None":  # noqa: ARG002
        """Return the preview of what was typed, which is agreed to before it is saved. Raises MemtuiError."""
        return None

    def there(self) -> str | None:
        """Return the base of what is on the disk; empty for something new, None if it is gone. Raises MemtuiError."""
        return ""

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:  # noqa: ARG002
        """Return what `there` read last, and what would be written over it. Raises MemtuiError."""
        return b"", b""

    def save(self, typed: Typed) -> Saved:  # noqa: ARG002
        """Write the subject over what `there` read last. Raises MemtuiError or OSError: then nothing was written."""
        return Saved("", NOTHING)


def fits(text: str) -> bool:
    """Return whether a text is small enough for a form; a larger one needs a real editor."""
    return len(text) <= MAX_TEXT and max(map(len, text.split("\n")), default=0) <= MAX_LINE
