"""What a form is about: the fields that it shows, and how these are checked, compared and saved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from rich.text import Text

from memtui.tui.model.autosave import Autosave

LINE, CHOICE, TEXT = "line", "choice", "text"
Options = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class FormField:
    """What is typed: a line, a choice of `options` (value, words), or the text. `later` looks for more options, which
    takes long. A text that is one of `templates` follows the choice `type`."""

    key: str
    value: str
    kind: str = LINE
    label: str = ""
    placeholder: str = ""
    options: Options = ()
    later: Callable[[], Options] | None = None
    templates: Mapping[str, str] = field(default_factory=dict)


class Typed(NamedTuple):
    """What stands in a form: all `values`, untouched ones as they were given, and the ones that `changed`."""

    values: dict[str, str]
    changed: dict[str, str]


class Saved(NamedTuple):
    """What came of saving, and the words for it. What is `wrong` still keeps the form open, on what is written now."""

    result: str
    words: str = ""
    warns: bool = False
    wrong: str = ""


@dataclass(frozen=True)
class Shape:
    """How a form looks and what it offers, where forms differ. `verb` is what saving is called, `name` what it is about
    as questions call it, `gone` what to say if that is not there any more. `css`: memory, entry or note. `is_file`: a
    file that is watched while the form is open, and may be written again where it is gone. `notice` stands in a form
    where nothing was typed before. `editor` names the file for the person's editor, empty for none. `left`: what to say
    when it is left, and kept. `first` has the focus, else the text has it, with the cursor `at_end`."""

    title: str
    verb: str
    name: str
    gone: str
    css: str
    is_file: bool = False
    notice: str = ""
    editor: str = ""
    left: str = ""
    at_end: bool = False
    first: str = ""
    across: int = 110


class Subject(Protocol):
    """What a form is about. `autosave` is what was typed before, or where to keep it."""

    shape: Shape
    fields: Sequence[FormField]
    autosave: Autosave

    def is_empty(self, typed: Typed, /) -> bool:
        """Whether nothing is written yet that were worth keeping."""

    def check(self, typed: Typed, /) -> Text:
        """What will become of it, while it is typed. Raises MemtuiError for what can't be saved."""

    def there(self) -> str | None:
        """Read again what stands on the disk: its base, another as soon as it says something else. Empty where nothing
        is written over, None if it is gone. Raises MemtuiError."""

    def compared(self, typed: Typed, /) -> tuple[bytes, bytes]:
        """What `there` read last, and what would be written over it. Raises MemtuiError."""

    def save(self, typed: Typed, /) -> Saved:
        """Write it, over what `there` read last. Raises MemtuiError or OSError: then nothing was written."""
