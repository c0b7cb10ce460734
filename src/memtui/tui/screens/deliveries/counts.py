"""The dialog that lists memories by how often they were delivered, also those that never were."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import age, many
from memtui.core.deliveries.memory_counts import RecallCounts
from memtui.core.deliveries.statistics import DAYS
from memtui.core.memories.status import Usage, never_delivered
from memtui.present import safe_text
from memtui.tui.dialogs.dialog import Dialog, Keys
from memtui.tui.widgets.rows import Column, RowList

if TYPE_CHECKING:
    from memtui.tui.model.data import Data


# Columns of the list from which what came of recalling a memory has room.
WITH_RECALLS = 84


@dataclass(frozen=True)
class Count:
    """A memory in the dialog: how often it was delivered and used, and when last (seconds since the epoch). `here`: the
    delivery under the cursor brought it; `never`: it could have been delivered, and never was. A memory without
    deliveries that is not `never` was used, and is loaded by the client itself. `recalls`: what came of these."""

    path: str
    name: str
    deliveries: int = 0
    uses: int = 0
    last: float = 0.0
    here: bool = False
    never: bool = False
    recalls: RecallCounts = field(default_factory=RecallCounts)


@dataclass
class NeverDelivered(Message):
    """The memories that were never delivered were found, each as (name, path)."""

    found: list[tuple[str, str]]


def find_never_delivered(data: "Data") -> list[tuple[str, str]]:
    """Find the memories of this project that were never delivered, as far as deliveries are counted, without those that
    the client loads itself: (name, path) each. Reads all memories."""
    try:
        if data.statistics.ready:
            data.statistics.count(lambda _: True)  # a memory may have been renamed since
        rows = never_delivered(data.root, data.scopes(), data.statistics, Usage(data.root), data.known)
    except (OSError, MemtuiError):
        return []
    return [(row.memory.name, row.memory.path) for row in rows]


def counts(data: "Data", here: set[str], never: list[tuple[str, str]]) -> list[Count]:
    """Return the rows of the dialog, most delivered first. `here`: paths; `never`: (name, path) each."""
    paths = {path for _, path in never}
    rows = [
        Count(
            path,
            each.name,
            each.deliveries,
            each.uses,
            each.last,
            path in here,
            path in paths,
            data.statistics.recalled(path),
        )
        for path, each in data.statistics.memories.items()
    ]
    known = {each.path for each in rows}
    rows += [Count(path, name, never=True) for name, path in never if path not in known]
    return sorted(rows, key=lambda each: (-each.deliveries, -each.last, each.name))


class MemoryCounts(Dialog[tuple[str, str]]):
    """The dialog. It returns where to go, `memory` or `deliveries`, and the path of a memory."""

    DEFAULT_CSS = """
    MemoryCounts > Vertical { width: 96; max-width: 98%; height: 90%; padding: 1 2; background: $panel; }
    MemoryCounts RowList { margin: 1 0 0 0; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "close"),
        Binding("M", "deliveries", "its deliveries"),
        Binding("s", "reverse", "most or never first"),
    ]

    def __init__(self, data: "Data", here: set[str]) -> None:
        super().__init__()
        self.data, self.here = data, here
        self.never: list[tuple[str, str]] | None = None
        self.never_first = False

    def body(self) -> ComposeResult:
        """Compose the title and the list."""
        with Vertical():
            yield Static(id="title")
            yield RowList[Count](
                [
                    Column("memory"),
                    Column("delivered", 9, right=True),
                    Column("recalled", 8, right=True, from_width=WITH_RECALLS),
                    Column("opened", 6, right=True, from_width=WITH_RECALLS),
                    Column("corrected", 9, right=True, from_width=WITH_RECALLS),
                    Column("tokens", 7, right=True, from_width=WITH_RECALLS),
                    Column("used", 5, right=True, from_width=50),
                    Column("last", 5, right=True),
                ],
                self._draw,
                lambda each: each.path,
                empty="Nothing was delivered yet, and there are no memories.",
                id="counts",
            )

    def keys(self) -> Keys:
        """Return the keys of the dialog."""
        first = "most first" if self.never_first else "never first"
        return (("enter", "to the memory"), ("M", "its deliveries"), ("s", first), ("escape", "close"))

    def on_mount(self) -> None:
        """Show the memories that were delivered, and look for the others in a worker."""
        self.table.focus()
        self._fill()
        self._find_never()

    @property
    def table(self) -> RowList[Count]:
        """The list of memories."""
        return self.query_one("#counts", RowList)

    @work(thread=True, exclusive=True)
    def _find_never(self) -> None:
        self.post_message(NeverDelivered(find_never_delivered(self.data)))

    def on_never_delivered(self, message: NeverDelivered) -> None:
        """Add the memories that were never delivered."""
        self.never = message.found
        self._fill()

    def _fill(self) -> None:
        rows = counts(self.data, self.here, self.never or [])
        self.table.show(rows[::-1] if self.never_first else rows)
        span = "in the whole log" if self.data.statistics.complete else f"in {DAYS} days"
        never = "looking for others …" if self.never is None else f"{len(self.never)} never"
        text = Text("Memories by deliveries", style="bold")
        text.append(f"  {many(len(rows), 'memory', 'memories')}, {span} · {never}", style="dim")
        self.query_one("#title", Static).update(text)

    def _draw(self, each: Count) -> list[Text]:
        times = f"{each.deliveries}×" if each.deliveries else "never" if each.never else "-"
        return [
            Text(safe_text.line(each.name, 200), style="bold" if each.here else ""),
            Text(times, style="yellow" if each.never else "" if each.deliveries else "dim"),
            *(
                Text(f"{count:,}{sign}" if count else "", style="dim")
                for count, sign in (
                    (each.recalls.recalled, "×"),
                    (each.recalls.opened, "×"),
                    (each.recalls.corrected, "×"),
                    (each.recalls.tokens, ""),
                )
            ),
            Text(f"{each.uses}×" if each.uses else "", style="dim"),
            Text(age(each.last or None, self.data.now()), style="dim"),
        ]

    @on(RowList.Opened, "#counts")
    def action_memory(self) -> None:
        """Close, to go to the memory under the cursor."""
        if self.table.row is not None:
            self.dismiss(("memory", self.table.row.path))

    def action_deliveries(self) -> None:
        """Close, to go to the deliveries of the memory under the cursor."""
        if self.table.row is not None:
            self.dismiss(("deliveries", self.table.row.path))

    def action_reverse(self) -> None:
        """Turn the order of the list around."""
        self.never_first = not self.never_first
        self._fill()
        self.table.move_to(0)
        self.name_keys()
