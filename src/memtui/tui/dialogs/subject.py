"""The subject of a form (a memory, a draft, a note): its fields, and how they are checked, compared and saved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from memtui.tui.model.autosave import Autosave

if TYPE_CHECKING:
    from memtui.recall.prompt_replay import StoreChange
    from memtui.tui.dialogs.dialog import Dialog

LINE, CHOICE, TEXT = "line", "choice", "text"
# What saving says where nothing was typed.
NOTHING = "Nothing changed."
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


@dataclass(frozen=True)
class Shape:
    """How a form looks, and what it offers."""

    title: str
    verb: str  # the word for saving
    name: str  # of the subject, in questions
    gone: str  # the message if the subject does not exist any more
    is_file: bool = False  # a file, which is watched while the form is open and may be written again if it is gone
    notice: str = ""  # the first message, unless there is an autosave
    left: str = ""  # the note when the person leaves and the text is kept
    # Makes the preview of what was typed, which is agreed to before it is saved. Raises MemtuiError.
    preview: "Callable[[Typed], Dialog[bool]] | None" = None
    # Returns what saving would do to the memories that prompts recall: the last prompts can be replayed with it.
    changes: "Callable[[Typed], Sequence[StoreChange]] | None" = None
    beside: Sequence[tuple[Text, Text]] = ()  # texts to read beside the one that is edited, each with its title
    at_end: bool = False  # the cursor begins at the end of the text
    is_example: bool = False  # the text is selected, so that typing replaces it; enter sends it as it is
    first: str = ""  # the key of the field with the focus; else the text has it
    across: int = 90  # the width in columns


class Subject:
    """The subject of a form, here a new one. `autosave`: what was typed before, and where to keep it."""

    shape: Shape
    fields: Sequence[FormField]
    autosave: Autosave

    def is_empty(self, typed: Typed) -> bool:
        """Return whether nothing is typed that is worth keeping: here, nothing was changed."""
        return not typed.changed

    def check(self, typed: Typed) -> Text:  # noqa: ARG002
        """Return what saving would do, in words for the form. Raises MemtuiError for what can't be saved."""
        return Text()

    def there(self) -> str | None:
        """Return the base of what is on the disk; empty for something new, None if it is gone. Raises MemtuiError."""
        return ""

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:  # noqa: ARG002
        """Return what `there` read last, and what would be written over it. Raises MemtuiError."""
        return b"", b""

    def save(self, typed: Typed) -> Saved:  # noqa: ARG002
        """Write the subject over what `there` read last. Raises MemtuiError or OSError: then nothing was written."""
        return Saved("", NOTHING)
