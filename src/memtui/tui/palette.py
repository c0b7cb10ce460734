"""The palette: every action by its group and name, with its key beside it, those of the screen that is shown first; and
themes by name. What was typed whole stands first, then words, then parts of words."""

import re
from functools import partial
from typing import Any, Self

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.command import CommandInput, CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.strip import Strip
from textual.widgets.option_list import Option

from memtui import actions
from memtui.settings import config
from memtui.tui.dialogs.dialog import BESIDE, KeyBar
from memtui.tui.model import fuzzy
from memtui.tui.services import services_of
from memtui.views import safe_text
from memtui.views.legend import CURSOR

TITLE = "Actions and themes"
KEYS = (("enter", "run"), ("escape", "back"), ("type", "to narrow"), ("up down", "move"))
# Cells of the columns: a longer name is cut, so that they stay in line; the width of the box, and that of the screen
# from which there is room for words about an action.
GROUP_WIDTH, NAME_WIDTH, KEY_WIDTH = 10, 24, 7
FLOATING_FROM, EXPLAINED_FROM = 100 + 2 * BESIDE, 80
# Added to a rank, and less than the distance to the next: for an action that works on the screen that is shown, and for
# one that works elsewhere. Themes come after them.
RANK, HERE, ACTION = 10.0, 2.0, 1.0

# The ranks of a name, from the worst to the best: it does not answer; a word is only in its explanation; within a word;
# at the beginning of a word; all typed words are words of it; it is what was typed.
NONE, EXPLAINED, WITHIN, AT_START, WHOLE, EXACT = range(6)
# What joins the words of a name.
JOINT = r"[\W_]"
# The action that opens the palette; and the words by which a help adds something to a name.
OWN, WORD = "app.palette", re.compile(r"\w{4,}")


class Names(Provider):
    """The actions and the themes, found by their names."""

    def _actions(self) -> list[actions.Action]:
        """Return the actions that can be run: this screen's, then those that work everywhere, then the others."""
        order = {getattr(self.screen, "group", ""): 0, actions.LIST: 1, actions.GLOBAL: 2}
        here = getattr(self.screen, "commands", {})
        offered = actions.offered(read_only=services_of(self.screen).read_only)
        possible = [each for each in offered if each.id in here or (each.group != actions.LIST and each.id != OWN)]
        possible = [here[action.id].named(action) if action.id in here else action for action in possible]
        groups = [action.name.partition(": ")[0] for action in possible]
        return sorted(
            possible, key=lambda each: (order.get(each.group, len(order)), groups.index(each.name.partition(": ")[0]))
        )

    def _line(self, action: actions.Action, name: Content) -> Content:
        keys = actions.key_word(actions.keys_of(action, services_of(self.screen).remapped))
        words = explanation(action) if self.screen.size.width >= EXPLAINED_FROM else ""
        return line(name, f"{keys:<{KEY_WIDTH}}", words)

    async def discover(self) -> Hits:
        """List all actions, before anything is typed, with the name of a group before the first of it."""
        before = ""
        for number, action in enumerate(self._actions()):
            group, _, verb = action.name.partition(": ")
            name = Content(f"{'' if group == before else group}: {verb}")
            before = group
            # Textual sorts by the text: numbers keep the order.
            yield DiscoveryHit(self._line(action, name), partial(self._run, action), text=f"{number:03}")

    async def search(self, query: str) -> Hits:
        here = {getattr(self.screen, "group", ""), actions.LIST, actions.GLOBAL}
        for action in self._actions():
            if rank := rank_of(action.name, query, action.help):
                content = self._line(action, self._marked(action.name, query))
                score = RANK * rank + (HERE if action.group in here else ACTION)
                yield Hit(score, content, partial(self._run, action), text=action.name)
        for theme in config.CHOICES["theme"]:
            name = f"theme: {theme}"
            if rank := rank_of(name, query):
                choose = partial(services_of(self.screen).choose_theme, theme)
                yield Hit(RANK * rank, line(self._marked(name, query), "", ""), choose, text=name)

    def _marked(self, name: str, query: str) -> Content:
        content = Content(name)
        for start, end in fuzzy.spans(name, query):
            content = content.stylize(self.match_style or "reverse", start, end)
        return content

    def _run(self, action: actions.Action) -> None:
        services_of(self.screen).action_run(action.id)


def explanation(action: actions.Action) -> str:
    """Return what the help of an action adds to its name; empty for nothing."""
    name = action.name.partition(": ")[2].rstrip("…")
    rest = re.sub(rf"^{re.escape(name)}\b[ ,:;]*", "", action.help, flags=re.IGNORECASE)
    adds = {*WORD.findall(rest.casefold())} - {*WORD.findall(name.casefold())}
    return rest[:1].upper() + rest[1:] if adds else ""


def line(name: Content, keys: str, words: str) -> Content:
    """Return a line of the palette: a group and a name (`group: name`), the keys for it, and words about it."""
    at = name.plain.index(": ")
    group = Content(name.plain[:at].capitalize()).truncate(GROUP_WIDTH - 1, ellipsis=True).stylize("$text-muted")
    cut = name[at + 2 :].truncate(NAME_WIDTH - 1, ellipsis=True)
    gaps = (" " * (GROUP_WIDTH - group.cell_length), " " * (NAME_WIDTH - cut.cell_length))
    return Content.assemble(group, gaps[0], cut, gaps[1], (keys, "$accent"), (words, "dim"))


def rank_of(name: str, typed: str, explanation: str = "") -> int:
    """Return the rank of a name, such as `theme: nord`: that of the typed word which it answers worst. It is exact with
    or without what stands before the colon."""
    low, words = name.casefold(), typed.casefold().split()
    if " ".join(words) in {low, low.partition(": ")[2]}:
        return EXACT
    return min((_of_word(low, word, explanation.casefold()) for word in words), default=NONE)


def _of_word(low: str, word: str, explanation: str) -> int:
    sought = re.escape(word)
    if not re.search(sought, low):
        return EXPLAINED if word in explanation else NONE
    begun = rf"(?:^|(?<={JOINT})){sought}"
    if not re.search(begun, low):
        return WITHIN
    return WHOLE if re.search(rf"{begun}(?={JOINT}|$)", low) else AT_START


class Commands(CommandList):
    """Textual's list of commands, with the mark of our lists on the row under the cursor. The cursor stops at the ends,
    and a click on a row that is gone, but not painted over yet, does nothing."""

    def add_option(self, option: Any = None) -> Self:
        """Add a row; the one for no matches in the words of our lists."""
        if isinstance(option, Option) and option.disabled:
            typed = safe_text.line(self.screen.query_one(CommandInput).value, 60)
            option = Option(Content(f" No matches for “{typed}”."), id=option.id, disabled=True)
        return super().add_option(option)

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        if self.highlighted is None or self.scroll_offset.y + y != self.highlighted:
            return strip
        return Strip.join([Strip([Segment(CURSOR, next(iter(strip)).style)]), strip.crop(1)])

    def action_cursor_up(self) -> None:
        if self.highlighted != 0:
            super().action_cursor_up()

    def action_cursor_down(self) -> None:
        if self.highlighted != self.option_count - 1:
            super().action_cursor_down()

    def on_click(self, event: events.Click) -> None:
        if event.style.meta.get("option", 0) >= self.option_count:
            event.prevent_default()


class Palette(CommandPalette):
    """Textual's palette, except that its list can be paged before it is drawn or where there is no room for it, and
    that it may be closed before it is mounted, and starts no search afterwards (keys may come in one burst)."""

    HORIZONTAL_BREAKPOINTS = [(0, "filled"), (FLOATING_FROM, "floating")]  # noqa: RUF012  textual's

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            yield Commands() if type(widget) is CommandList else widget
        yield KeyBar()

    def on_mount(self, event: events.Mount) -> None:
        self.query_one(KeyBar).show(KEYS)
        if not self.is_current:
            event.prevent_default()

    def on_resize(self) -> None:
        """Leave the last row of the screen to the keys: three are above the list. A rule has no blanks for a title."""
        self.query_one("#--input").border_title = TITLE if self.size.width >= FLOATING_FROM else f" {TITLE} "
        self.query_one(CommandList).styles.max_height = min(self.size.height * 8 // 10, self.size.height - 4)

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close the palette, unless it is closed or a dialog has come over it: Textual would close that one instead,
        and the palette could never be closed again."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()

    def _gather_commands(self, search_value: str) -> Any:
        return super()._gather_commands(search_value) if self.is_current else None

    def _action_command_list(self, action: str) -> None:
        try:
            super()._action_command_list(action)
        except (KeyError, IndexError):  # Textual looks up lines of a page that is not there
            pass
