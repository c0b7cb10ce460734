"""The subject of a form (a memory, a draft, guidance): its fields, and how they are checked, compared and saved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from memtui.tui.model.autosave import Autosave

if TYPE_CHECKING:
    from memtui.recall.replaying import StoreChange
    from memtui.tui.dialogs.dialog import Dialog

LINE, CHOICE, TEXT = "line", "choice", "text"
# What saving says where nothing was typed.
NOTHING = "Nothing changed."
Options = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class FormField:
    """A field of a form: a line, a choice of `options` (value, words), or the text. `later` returns more options; it is
    slow and called in a worker. `templates` are texts by the value of the field `type`: a text that was not edited
    changes with it."""

    key: str
    value: str
    kind: str = LINE
    label: str = ""
    placeholder: str = ""
    options: Options = ()
    later: Callable[[], Options] | None = None
    templates: Mapping[str, str] = field(default_factory=dict)


class Typed(NamedTuple):
    """The values of a form by their keys: all `values`, and those that the person has `changed`. The others are just as
    the subject gave them."""

    values: dict[str, str]
    changed: dict[str, str]


class Saved(NamedTuple):
    """The result of saving, and a note that says so, a warning with `warns`. With `wrong`, an error message, the form
    stays open over what was written."""

    result: str
    words: str = ""
    warns: bool = False
    wrong: str = ""


@dataclass(frozen=True)
class Shape:
    """How a form looks, and what it offers. `verb` is the word for saving, `name` that for the subject in questions,
    `gone` the message if the subject does not exist any more. `css` is the class: memory, entry or note. `is_file`: the
    subject is a file, which is watched while the form is open and may be written again if it is gone. `notice` is the
    first message, unless there is an autosave. `editor` is the file name for the person's editor, empty for none.
    `is_example`: the text is an example, which is selected so that typing replaces it; enter sends it as it is.
    `preview`, if it is given, makes the preview of what was typed, which is shown and agreed to before it is saved; it
    raises MemtuiError for what can't be made. `changes`, if it is given, returns what saving would do to the memories
    that prompts recall, so that the last prompts can be replayed with it. `left` is the note when the person leaves and
    the text is kept. `beside` are texts to read beside the one that is edited, each with its title. `first` is the key
    of the field with the focus; else the text has it, with the cursor at its end if `at_end`. `across` is the width in
    columns."""

    title: str
    verb: str
    name: str
    gone: str
    css: str
    is_file: bool = False
    notice: str = ""
    editor: str = ""
    left: str = ""
    preview: "Callable[[Typed], Dialog[bool]] | None" = None
    changes: "Callable[[Typed], Sequence[StoreChange]] | None" = None
    beside: Sequence[tuple[Text, Text]] = ()
    at_end: bool = False
    is_example: bool = False
    first: str = ""
    across: int = 110


class Subject:
    """The subject of a form. `autosave` is what was typed before, and where to keep what is typed. As it stands here it
    is new: nothing would be written over."""

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
        """Read the subject from the disk again. Return its base, which differs if the content does; empty if nothing
        would be written over, None if the subject is gone. Raises MemtuiError."""
        return ""

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:  # noqa: ARG002
        """Return what `there` read last, and what would be written over it. Raises MemtuiError."""
        return b"", b""

    def save(self, typed: Typed) -> Saved:  # noqa: ARG002
        """Write the subject over what `there` read last. Raises MemtuiError or OSError: then nothing was written."""
        return Saved("", NOTHING)
