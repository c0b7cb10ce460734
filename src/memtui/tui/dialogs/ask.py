"""Small dialogs: a line of text, a choice, the palette, and what several screens ask or report."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from memtui import keymap
from memtui.base.errors import UsageError
from memtui.base.phrasing_hot import many
from memtui.settings import config_hot
from memtui.tui.dialogs.dialog import CORNERS, MANY, Dialog, Keys, Preview
from memtui.tui.model import matches
from memtui.tui.texts import TABLES
from memtui.tui.widgets import prose
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.lines import Field
from memtui.tui.widgets.rows import Column, RowList
from memtui.views import safe_text

if TYPE_CHECKING:
    from memtui.store.memory import Memory
    from memtui.store.store import Outcome
    from memtui.tui.services import Command, Services

BACK, YES, MINE, THEIRS = "", "yes", "mine", "theirs"
AROUND = 8  # columns of the box beside the words of its list: its padding, and the mark and the blanks of a row
OVER = 7  # lines of the screen above and below the list: the question, what is typed, the padding, the keys
LEAST, MOST = 40, 80  # the width of a box in columns: the least, the most that a long question alone takes
SHARE = 0.4  # the part of the height that a list with an `about` takes
NARROWED = 3  # a list of fewer options, such as yes and no, is not narrowed
# The palette: what its themes begin with, the width of names and keys, and what it has no row for.
THEME, NAME_WIDTH, KEY_WIDTH = "theme: ", 30, 7
LEFT_OUT = {"app.palette", "list.left", "list.right", "list.next", "list.previous"}


class Line(Dialog[str]):
    """A question answered by a line of text, None if left. `check` raises UsageError for text that is not taken."""

    across = 72
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "back")]

    def __init__(
        self,
        question: str,
        value: str = "",
        *,
        about: str = "",
        below: str = "",
        verb: str,
        check: Callable[[str], object] = str,
        hint: str = "",
    ) -> None:
        super().__init__()
        self.heading, self.lead, self.value, self.below = question, about, value, below
        self.check, self.verb, self.hint = check, verb, hint

    def body(self) -> ComposeResult:
        yield Field(self.value, placeholder=self.hint)
        yield Static(id="wrong")
        if self.below:
            yield Static(safe_text.styled(self.below, "dim"), id="below")

    def keys(self) -> Keys:
        return (("enter", self.verb), ("escape", "back"))

    def on_mount(self) -> None:
        self.show_problem()

    @on(Input.Changed)
    def show_problem(self) -> None:
        wrong, problem = self.query_one("#wrong", Static), self._problem(self.query_one(Field).value)
        wrong.update(Text().append(problem, style="yellow"))
        wrong.display = bool(problem)

    def _problem(self, typed: str) -> str:
        try:
            self.check(typed.strip())
        except UsageError as error:
            return f"! {error.message} {'' if self.lead else error.hint}".rstrip()  # which says it, too
        return ""

    @on(Input.Submitted)
    def answer(self, event: Input.Submitted) -> None:
        if not self._problem(event.value):
            self.dismiss(event.value)


class Options(RowList[tuple[int, str]]):
    """The list of a choice: rows of (number, words). A click chooses one; matches of `typed` are highlighted."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+n", "move(1)", "down"), Binding("ctrl+p", "move(-1)", "up")]
    typed = ""

    def __init__(self, beside: Mapping[int, Text]) -> None:
        self.beside = beside
        super().__init__([Column("")], self.draw_words, lambda row: str(row[0]), header=False)

    def draw_words(self, row: tuple[int, str]) -> list[Text]:
        text = Text(row[1]) + self.beside.get(row[0], Text())
        matches.mark([text], self.typed)
        return [text]

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()
        at = event.y + int(self.scroll_offset.y)
        if 0 <= at < len(self.rows):
            self.move_to(at)
            self.action_open()


class Choice(Dialog[str | None]):
    """A question answered by one of several options; the answer is None if the person left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back"),
        Binding("q", "dismiss(None)", "back"),
        Binding("enter", "choose", "choose"),  # also while one reads on below the list
    ]

    def __init__(
        self,
        question: str,
        options: Sequence[tuple[str, str]],  # (value, words)
        current: str = "",  # the value that is in force, which is marked
        *,
        about: Callable[[str], Text] | None = None,  # the text below the list, by value
        beside: Mapping[str, Text] | None = None,  # texts in which only whole typed words are found
        lead: str = "",  # a text above the list
        below: str = "",  # a text that is the same for all
        verb: str | Callable[[str], str] = "choose",  # for enter, or by value; empty where it does nothing
        start: str = "",  # where the cursor begins without it
        idle: str | None = None,  # the value at which enter does nothing
        typing: bool = False,  # whether letters narrow the list at once, else from / on
    ) -> None:
        super().__init__()
        self.heading, self.lead = question, lead
        self.below, self.verb, self.current, self.about = below, verb, current, about
        self.start, self.idle, self.typing = current or start, idle, typing
        self.typed: str | None = None  # what narrows the list
        self.values = [value for value, _ in options]
        self.rows = [(at, safe_text.line(words)) for at, (_, words) in enumerate(options)]
        after = {at: beside[value] for at, value in enumerate(self.values) if beside and value in beside}
        words_beside = lambda row: after[row[0]].plain if row[0] in after else ""
        self._haystack = matches.Haystack(self.rows, lambda row: row[1], words_beside)
        self.table, self.narrows = Options(after), len(options) >= NARROWED

    def body(self) -> ComposeResult:
        yield Static(id="typed")
        yield self.table
        if self.about is not None:
            yield Detail()
        if self.below:
            yield Static(safe_text.styled(self.below, "dim"), id="below")

    def keys(self) -> Keys:
        value = self.values[self.table.row[0]] if self.table.row else None
        verb = "choose" if not value else self.verb if isinstance(self.verb, str) else self.verb(value)
        enter = [("enter", verb)] * (value not in {None, self.idle} and bool(verb))
        if self.typed is not None:
            escape = "clear" if self.typed or not self.typing else "back"
            narrow = [("type", "to narrow")] * (not self.typed)
            return (*enter, ("escape", escape), *narrow, *[("up down", "move")] * bool(self.table.rows))
        narrow = [("/", "filter")] * self.narrows
        extra = [("tab", "read on")] * (self.about is not None)
        return (*enter, ("escape", "back"), *narrow, *extra, ("j k", "move"), ("g G", "top, bottom"))

    def on_mount(self) -> None:
        self.table.empty = "No matches. escape clears what you typed."
        self.table.show(self.rows)
        self.table.marks = {str(at) for at, value in enumerate(self.values) if value == self.current and value}
        self.table.move_to(self.values.index(self.start) if self.start in self.values else 0)
        self.table.focus()
        if self.typing:
            self._narrow("")
        self._show_about()

    def fit(self) -> None:
        super().fit()
        room = max(3, self.app.size.height - OVER - (2 if self.below else 0) - len(self.query(".lead")) * 3)
        if self.about is not None:
            room = max(3, int(room * SHARE))
        self.table.styles.height = min(len(self.rows), room)

    def needed(self) -> int:
        is_below = cell_len(self.heading) + CORNERS > self.wide
        return MANY if self.about else len(self.rows) + 2 * sum(map(bool, (self.below, self.lead, is_below)))

    def wanted(self) -> int:
        words = max((self.table.draw_words(row)[0].cell_len for row in self.rows), default=0)
        return max(words + AROUND, min(cell_len(self.heading) + AROUND, MOST), LEAST)

    def on_key(self, event: events.Key) -> None:
        """Narrow the list by what is typed: from / on, or at once where `typing` is set."""
        if not self.table.has_focus or not self.narrows:
            return
        letter = event.character if event.is_printable else None
        if self.typed is None:
            if letter == "/":
                self._narrow("")
                event.stop()
        elif (letter and (self.typed or letter not in " ?")) or event.key == "backspace":
            self._narrow(self.typed + letter if letter else self.typed[:-1])
            event.stop()

    def _narrow(self, typed: str | None) -> None:
        self.typed, self.table.typed = typed, typed or ""
        self.set_class(typed is not None, "typing")
        words = typed or ("type what you look for" if self.typing else "")
        self.query_one("#typed", Static).update(Text("/ ").append(words, "" if typed else "dim"))
        self.table.show(self._haystack.select(self.table.typed))
        self.table.move_to(0)
        self.table.redraw()
        self._show_about()

    def action_leave(self) -> None:
        if not self.table.has_focus:
            self.table.focus()
        elif self.typed is None or (self.typing and not self.typed):
            self.dismiss(None)
        else:
            self._narrow("" if self.typing else None)

    def action_choose(self) -> None:
        self.table.action_open()

    @on(RowList.Moved)
    def _show_about(self) -> None:
        self.name_keys()
        if self.about is not None:
            row = self.table.row
            value = self.values[row[0]] if row else ""
            self.query_one(Detail).show(value, self.about(value) if row else Text(""))

    @on(RowList.Opened)
    def answer(self, event: RowList.Opened) -> None:
        if (value := self.values[int(event.row_id)]) != self.idle:
            self.dismiss(value)


def sure(question: str, yes: str) -> Choice:
    """Return a dialog that confirms what can't be undone, its cursor on cancel: empty or None for no."""
    return Choice(question, [("", "Cancel"), (YES, yes)])


def conflict(name: str, theirs: bytes, mine: bytes) -> Choice:
    """Ask what becomes of a file changed meanwhile, both versions below: MINE, THEIRS, or BACK or None."""
    text = prose.difference(theirs, mine)
    ways = [(way, keymap.keyed(words)) for way, words in TABLES["conflict"].items()]
    lead = "- is on the disk now   + is yours"
    return Choice(f"{name} was changed by somebody else meanwhile.", ways, about=lambda _: text, lead=lead)


def ignored(count: int, action_id: str) -> str:
    """Return the line of a preview of several: so many of them have unsaved text, which is not taken."""
    has = "has" if count == 1 else "have"
    key = keymap.key_of(action_id)
    return f"{count} of them {has} unsaved text of yours, which is not written: {key} goes on with it."


async def report(
    services: "Services",
    outcome: "Outcome[Any, Any]",
    words: str,
    name_of: "Callable[[Any], tuple[Memory, str]]",
    *,
    for_good: bool = False,
) -> None:
    """Say how many changes were made; list those that were not, and why. `name_of`: memory and scope of an item."""
    count, failed = len(outcome.done), outcome.failed
    if outcome.total == 1 and failed:
        services.fail(failed[0][1])
        return
    what = many(count, "memory", "memories") if count == outcome.total else f"{count} of {outcome.total}"
    if outcome.total == 1:
        what = safe_text.line(name_of(outcome.done[0][0])[0].stem, 60)
    sentence = f"{words}: {what}{', then stopped' if outcome.stopped else ''}."
    if not failed:
        services.say(sentence if for_good else f"{sentence} {keymap.takes_back()}")
        return
    rows = [(*name_of(item), error.message) for item, error in failed]
    reasons = [(f"{memory.stem} ({scope})", why.removeprefix(memory.path + ": ")) for memory, scope, why in rows]
    title = f"{sentence} {many(len(failed), 'memory was', 'memories were')} left alone:"
    await services.ask(left_alone(title, reasons))


def left_alone(title: str, reasons: "Iterable[tuple[str, str]]") -> Preview:
    """Return a dialog that lists what was not changed: (what, why)."""
    text = Text()
    for what, why in reasons:
        text.append(safe_text.line(what, 200), style="bold").append(f"\n  {safe_text.line(why, 400)}\n")
    return Preview(title, text, "")


async def choose_action(services: "Services", group: str, own: "Mapping[str, Command]") -> None:
    """Let an action or a theme be chosen, and run it; `own` are the commands of the screen on top, which come first."""
    order = {group: 0, keymap.LIST: 1, keymap.GLOBAL: 2}
    offered = [action for action in keymap.offered(read_only=services.read_only) if action.id not in LEFT_OUT]
    possible = [
        own[action.id].named(action) if action.id in own else action
        for action in offered
        if action.id in own or action.group != keymap.LIST
    ]
    groups = [action.name.partition(": ")[0] for action in possible]
    possible.sort(key=lambda action: (order.get(action.group, 3), groups.index(action.name.partition(": ")[0])))
    options = [(action.id, f"{action.name:<{NAME_WIDTH}}") for action in possible]
    options += [(f"{THEME}{theme}", f"{THEME}{theme}") for theme in config_hot.CHOICES["theme"]]
    beside = {action.id: _about(action) for action in possible}
    answer = await services.ask(Choice("Actions and themes", options, beside=beside, verb="run", typing=True))
    if answer and answer.startswith(THEME):
        services.choose_theme(answer.removeprefix(THEME))
    elif answer:
        services.action_run(answer)


def _about(action: keymap.Action) -> Text:
    """Return the key of an action, and its help."""
    return Text(f"{keymap.key_word(keymap.keys_of(action)):<{KEY_WIDTH}}", "bold").append(action.help, "not bold dim")
