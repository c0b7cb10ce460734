"""What all dialogs have in common: a box with a title, its keys in the bottom line, a page of keys, one answer."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import ClassVar, TypeVar

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memtui import keymap
from memtui.tui import texts
from memtui.tui.safety_net import composed
from memtui.tui.services import Command, services_of
from memtui.tui.widgets.detail import Detail, wrapped
from memtui.tui.widgets.lines import OneLine
from memtui.tui.widgets.rows import RowList
from memtui.views import glyphs, safe_text
from memtui.views.words import TABLES

Result = TypeVar("Result")
Keys = Sequence[tuple[str, str]]
# A dialog with less than so many columns left on each side takes the whole width: a list can't be read in them.
BESIDE = 12
CORNERS = 6  # columns of a box that its title can't have
# The rows of a box between its borders, from which a dialog takes the whole screen, as one of MANY always does.
MOST_ROWS, MANY = 10, 99
# Cells of the page of keys that it can't write in, of the keys in a column, and from which width it has two columns.
PAGE_SIDES, KEY_CELLS, TWO_COLUMNS = 5, 8, 72
HELP_ACROSS = 130  # columns of that page: in a wide terminal it says no less than in one that it fills
READING: Keys = (("j k", "scroll"), ("escape", "to the list"), ("g G", "top, bottom"))  # keys in the text below a list
# Actions that are one line of the help, and its words.
TOGETHER = [(names.split(), words.split(" | ")) for names, words in texts.TABLES["keys together"].items()]


class KeyBar(OneLine):
    """The bottom line of a dialog, with its keys. It covers that of the screen, whose keys don't work meanwhile."""

    keys: Keys = ()

    def on_resize(self) -> None:
        self.show(self.keys)

    def show(self, keys: Keys) -> None:
        """Draw the keys that have room: escape always, the others in their order."""
        self.keys = keys
        room = (self.size.width or 80) + 1  # the last has its blanks beyond it
        room -= sum(len(f"{key} {word}  ") for key, word in keys if key == "escape")
        text = Text(" ", no_wrap=True, overflow="ellipsis", end="")
        for key, word in keys:
            cells = 0 if key == "escape" else len(f"{key} {word}  ")
            if cells <= room:
                room -= cells
                text.append(key, style="bold").append(f" {word}  ")
        self.put(text)


class Dialog(ModalScreen[Result]):
    """A dialog: a subclass composes its `body` and returns its `keys`; `lead` are words below the heading."""

    across = 110  # columns
    heading = lead = ""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(safe_text.styled(self.heading, "bold"), classes="heading")
            if self.lead:
                yield Static(safe_text.styled(self.lead), classes="lead")
            yield from composed(self, self.body)
        yield KeyBar()

    def body(self) -> ComposeResult:
        yield from ()

    def keys(self) -> Keys:
        """Return the keys as (key, word), the most important first."""
        return (("escape", "back"),)

    def on_mount(self) -> None:
        self.app.clear_notifications()
        self.fit()  # before the first layout: a second one would paint all of it again
        self.name_keys()

    def name_keys(self) -> None:
        is_below_list = isinstance(self.focused, Detail) and bool(self.query(RowList))
        self.query_one(KeyBar).show(READING if is_below_list else self.keys())

    def on_descendant_focus(self) -> None:
        self.name_keys()

    @property
    def box(self) -> Vertical:
        """The box: it comes just before the keys; Textual's notes may come before it."""
        return self.query_children(Vertical).first()

    def on_resize(self) -> None:
        self.fit()

    def fit(self) -> None:
        """Set the sizes that follow from that of the terminal; a heading that the border has no room for is below."""
        box, floats = self.box, self.needed() <= MOST_ROWS
        box.styles.width = self.wide if floats and self.wide < self.app.size.width else "100%"
        self.set_class(not floats, "filled")
        fits = cell_len(self.heading) <= (self.wide if floats else self.app.size.width) - CORNERS
        padded = self.heading if floats else f" {self.heading} "  # a rule leaves no room around it
        box.border_title = Content(safe_text.line(padded)) if fits else None
        self.query(".heading").set(display=not fits)

    def wanted(self) -> int:
        return self.across

    def needed(self) -> int:
        """Return the rows between its borders, 0 for a few: a dialog of more than `MOST_ROWS` is no box."""
        return 0

    @property
    def wide(self) -> int:
        """The cells of its box."""
        width, wanted = self.app.size.width, self.wanted()
        return wanted if wanted <= width - 2 * BESIDE else width

    async def on_click(self, event: events.Click) -> None:
        if event.widget is self and "escape" in self.active_bindings:
            await self.run_action(self.active_bindings["escape"].binding.action)

    def keep_now(self) -> None:
        """Keep what is typed before memtui ends. Most dialogs have nothing to keep."""

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close the dialog, unless it is closed: a second enter of one burst would close the screen below."""
        if self.app.screen is self:
            services_of(self).typed_ahead.hold()
            return super().dismiss(result)
        return AwaitComplete()


class Preview(Dialog[bool]):
    """A text to approve, drawn for a width: True for enter, False for escape; without `go` only to be read."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "dismiss(False)", "back"),
        Binding("enter", "go", "go on"),
    ]

    def __init__(self, title: str, text: Text | Callable[[int], Text], go: str = "", *, across: int = 100) -> None:
        super().__init__()
        self.heading, self.go, self.across = title, go, across
        self.draw = (lambda _: text) if isinstance(text, Text) else text
        self.plain = self.draw(across).plain
        self.pane = Detail(id="text")

    def body(self) -> ComposeResult:
        yield self.pane

    def keys(self) -> Keys:
        go = [("enter", self.go)] * bool(self.go)
        return (*go, ("escape", "back"), ("j k", "scroll"), ("g G", "top, bottom"))

    def on_mount(self) -> None:
        self.pane.focus()

    def needed(self) -> int:
        lines, room = self.plain.count("\n"), self.wide - PAGE_SIDES
        return lines if lines > MOST_ROWS else len(wrapped(self.draw(room), room)[0])

    def fit(self) -> None:
        super().fit()
        self.pane.show("text", self.draw((self.app.size.width if self.has_class("filled") else self.wide) - PAGE_SIDES))
        self.pane.styles.max_height = max(3, self.app.size.height - 3 - 2 * self.query_one(".heading").display)

    def action_go(self) -> None:
        """Approve the text; one that is only to be read scrolls on."""
        if self.go:
            self.dismiss(True)
        else:
            self.pane.scroll_relative(y=max(1, self.pane.size.height - 1), animate=False)


def help_page(groups: Mapping[str, Sequence[Sequence[str]]], below: Text) -> Preview:
    """Return the page of keys by group, each with words for it, the longest first; `below`: what marks mean."""

    def drawn(width: int) -> Text:
        columns = (("Move", "Choose"), ("Do", "All")) if width >= TWO_COLUMNS else (("Move", "Choose", "Do", "All"),)
        room = width // len(columns)
        text = Text()
        for line in zip_longest(*(_column(groups, titles, room) for titles in columns), fillvalue=Text()):
            for part in line[:-1]:
                text.append_text(part).append(" " * (room - part.cell_len))
            text.append_text(line[-1]).append("\n")
        return text.append("\n").append_text(below)

    return Preview("Keys", drawn, across=HELP_ACROSS)


def _column(groups: Mapping[str, Sequence[Sequence[str]]], titles: Sequence[str], room: int) -> list[Text]:
    lines: list[Text] = []
    for title in titles:
        rows = groups.get(title, ())
        lines += [*[Text()] * bool(lines), Text(title, "bold")] if rows else []
        for keys, *wordings in rows:
            cells = room - KEY_CELLS - 3
            words = next((wording for wording in wordings if cell_len(wording) <= cells), wordings[-1])
            for number, part in enumerate(textwrap.wrap(words, cells)):
                keys_text = f" {'' if number else keys:<{KEY_CELLS}} "
                lines.append(Text(keys_text, "bold").append(part, "not bold"))
    return lines


def of_screen(group: str, possible: Mapping[str, Command], marks: str, *, read_only: bool) -> Preview:
    """Return the help of a screen: its keys, those of lists `possible` there, and those that work everywhere."""
    groups: dict[str, list[Sequence[str]]] = {
        "Move": [(keys, *words.split(" | ")) for keys, words in texts.TABLES["keys of lists"].items()]
    }
    offered = {
        command.id: possible[command.id].named(command) if command.id in possible else command
        for name in (group, keymap.LIST, keymap.GLOBAL)
        for command in keymap.offered(name, read_only=read_only)
        if name != keymap.LIST or command.id in possible
    }
    keyless = [offered.pop(name) for name, command in list(offered.items()) if not keymap.keys_of(command)]

    def keys_of(names: Sequence[str]) -> str:
        keys = [keymap.keys_of(offered[name]).split(",") for name in names]
        return " ".join(keymap.key_word(key) for several in keys for key in several[: 1 if len(names) > 1 else None])

    for name, action in offered.items():
        own = [action.help[:1].lower() + action.help[1:], action.name.partition(": ")[2]]
        own = own[: 1 if name == "list.filter" else None]  # what it takes is said whole
        members, wordings = next((both for both in TOGETHER if name in both[0]), ((name,), own))
        several = [member for member in members if member in offered]
        if name == several[0]:
            groups.setdefault(action.section, []).append((keys_of(several), *wordings))
    below = Text()
    if keyless:
        names = ", ".join(action.name.partition(": ")[2] for action in keyless)
        below.append(keymap.key_of("app.palette"), "bold").append(f" has more: {names}\n\n")
    titles = ("Marks in lists", "In the top line")
    signs = "\n".join(glyphs.section(title, TABLES[title.lower()].items()) for title in titles)
    below.append(f"{signs}\n{marks.rstrip()}\n").append("\nKeys can be remapped: [keys] in config.toml.", "dim")
    return help_page(groups, below)
