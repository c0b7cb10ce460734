"""A row of the inbox: one thing to decide. Each class draws and describes its rows; the `kind` of a row names it and
the commands that decide about it."""

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from memtui.core.memories.writers import Occasion
from memtui.present import colours, safe_text
from memtui.present import legend as marks
from memtui.tui.model import autosave, fuzzy
from memtui.tui.screens.list_screen import Described

if TYPE_CHECKING:
    from memtui.core.review.changed import Changed
    from memtui.core.review.waiting import Waiting
    from memtui.tui.screens.inbox.proposals import Proposals
    from memtui.tui.services import Services

# Characters of a row's sentence, and of its place, that are drawn.
SENTENCE, PLACE = 300, 40
# The lines of a detail that must be on the screen: all of them.
WHOLE = math.inf


class InboxView:
    """What rows need to draw themselves. `alike`: what drafts are like, and `occasions`: when memories were changed,
    both by key; `detail_width`: of the detail, in cells; `is_wide`: whether the detail stands
    beside the list; `needed`: how many lines of the detail that was described last must be on the screen before it is
    accepted unasked; `glance_says_all`: whether its preview below a narrow list says as much, if it is not cut."""

    def __init__(self, services: "Services", proposals: "Proposals") -> None:
        self.services, self.proposals = services, proposals
        self.alike: Mapping[str, str] = {}
        self.occasions: dict[str, Occasion] = {}
        self.autosaves: Container[str] = ()
        self.typed = ""
        self.detail_width = 0
        self.is_wide = False
        self.needed: float = WHOLE
        self.glance_says_all = True

    @property
    def now(self) -> float:
        """The time, in seconds since the epoch."""
        return self.services.data.now()


class RowKind(NamedTuple):
    """A kind of rows. `family` names its commands; `word` it in the list, `singular` and `plural` in sentences;
    `verbs`: the words of the foot, by action."""

    family: str
    word: str
    singular: str
    plural: str
    verbs: Mapping[str, str]

    @property
    def style(self) -> str:
        """Its colour."""
        return colours.KINDS.get(self.word, "")


FOLD = RowKind("", "", "", "", {})


@dataclass(frozen=True)
class InboxRow:
    """A row. `until`: when a hidden row shows again, in seconds since the epoch; `item`: the entry of an inbox that it
    is, `changed`: the memory that somebody else wrote, each None for others."""

    key: str
    until: float | None = None
    item: "Waiting | None" = field(default=None, kw_only=True)
    changed: "Changed | None" = field(default=None, kw_only=True)

    @property
    def kind(self) -> RowKind:
        """The kind of thing that it is."""
        return FOLD

    @property
    def folds(self) -> "tuple[InboxRow, ...]":
        """The rows that it folds."""
        return ()

    @property
    def acts_as_one(self) -> bool:
        """Whether a command on this fold is about all of its rows."""
        return False

    # what a list shows

    @property
    def look(self) -> tuple[object, ...]:
        """What decides how it is drawn."""
        return self.key, self.until, self.gist, self.later_key

    @property
    def gist(self) -> str:
        """What it says, which leads the row."""
        return ""

    @property
    def later_key(self) -> str:
        """What tells it from all others while it is hidden; empty for an entry, which has its own field for that."""
        return ""

    def where(self, _view: InboxView) -> str:
        """Return the project or scope that it is of."""
        return ""

    def extent(self, _view: InboxView) -> str:
        """Return its age, or by how many bytes files grow."""
        return ""

    def signs(self, _view: InboxView) -> Text:
        """Return the marks in front of the sentence."""
        return Text()

    def autosave_name(self) -> str:
        """Return the name under which unsaved text of it is kept."""
        return self.key

    def cells(self, view: InboxView) -> list[Text]:
        """Draw the cells of the row: kind, sentence, place, age or bytes."""
        kind, what = Text(self.kind.word, self.kind.style), Text(safe_text.line(self.gist, SENTENCE))
        where = Text(safe_text.line(self.where(view), PLACE), "dim")
        fuzzy.mark([kind, what, where], view.typed)
        signs = self.signs(view)
        if autosave.has(view.autosaves, self.autosave_name()):
            signs = Text.assemble((f"{marks.UNSAVED[0]} ", "yellow"), signs)
        return [kind, signs.append_text(what), where, Text(self.extent(view), "dim")]

    def searched(self, view: InboxView) -> str:
        """Return the text that the filter searches."""
        return f"{self.kind.word} {self.gist} {self.where(view)}"

    def describe(self, _view: InboxView) -> Described:
        """Return the detail."""
        return Described(Text(self.kind.word))

    def copied(self, _view: InboxView) -> str:
        """Return the text for the clipboard."""
        return ""

    def needs_look(self) -> bool:
        """Whether a person has to look at it by itself, so that it is not marked with all of its kind."""
        return self.until is not None


@dataclass(frozen=True)
class FoldRow(InboxRow):
    """The fold of some rows of one kind; `says` names them, `why` says why they are folded; `whole`: a command on it is
    about all of them."""

    rows: tuple[InboxRow, ...] = ()
    says: str = ""
    why: str = ""
    is_open: bool = False
    whole: bool = False

    @property
    def acts_as_one(self) -> bool:
        """Whether a command on it is about all of its rows."""
        return self.whole

    @property
    def folds(self) -> tuple[InboxRow, ...]:
        """The rows that it folds."""
        return self.rows

    @property
    def look(self) -> tuple[object, ...]:
        """What decides how it is drawn."""
        return self.key, self.says, self.is_open

    @property
    def gist(self) -> str:
        """What it folds."""
        return self.says

    def cells(self, _view: InboxView) -> list[Text]:
        """Draw the cells: the sign of a fold, what it folds."""
        sign = marks.UNFOLDED if self.is_open else marks.FOLDED
        return [Text(sign, "dim"), Text(safe_text.line(self.says, SENTENCE), "dim"), Text(), Text()]

    def describe(self, view: InboxView) -> Described:
        """Return what is in it, and why."""
        text = Text(self.why).append(f"\nenter {'hides' if self.is_open else 'shows'} them.\n\n", "dim")
        for row in self.rows:
            kind, what, *_ = row.cells(view)
            kind.pad_right(max(0, 9 - kind.cell_len))
            text.append_text(kind).append_text(what).append("\n")
        return Described(text)
