"""The bars above and below every screen: where you are, and which keys work. Both can be clicked."""

from itertools import accumulate
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from memtui import actions
from memtui.present import safe_text
from memtui.tui.widgets.line import OneLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtui.tui.services import Services

TABS = ("memories", "inbox", "activity", "setup")
# Where there is no room for all: one blank between tabs; then one more short name at each step; then the project goes,
# whose name the person knows; then the open tab has its short name, too. Where that is too long, the others have only
# their numbers, one more at each step, and at the last one no counts; the open tab has its whole name then. In these
# orders: the longest first; then what everybody knows first, and what is rarely opened last.
SHORT = {"activity": "Act", "memories": "Mem"}
NUMBERED = ("memories", "activity", "inbox", "setup")
ONE_BLANK = 1
ALL_SHORT = ONE_BLANK + len(SHORT)
OPEN_SHORT = ALL_SHORT + 1
STEPS = OPEN_SHORT + len(NUMBERED) + 1
# From WIDE cells on everything is shown; below TIGHT only what matters most.
WIDE, TIGHT = 100, 60
# Characters of the project's name.
PROJECT_MOST, PROJECT_LEAST = 16, 4


class BarPart:
    """A part left of the tabs: its words, the least cells that it takes, and the step of the tabs up to which it is
    shown, whatever room it takes."""

    def __init__(self, words: str, style: str, until: int = STEPS, *, least: int = 0) -> None:
        self.words, self.style, self.until = words, style, until
        self.least = min(least or cell_len(words), cell_len(words))


class TopBar(OneLine):
    """The top bar: the project, its mode, whether hooks run, and a tab for each screen with what waits there."""

    DEFAULT_CSS = "TopBar { background: $panel; color: $text; }"

    def show(self, current: str, app: "Services") -> None:
        """Draw the line for a screen."""
        width = self.size.width or 80
        gap = "  " if width >= WIDE else " "
        every = self._parts(app)
        lasting = sorted(every, key=lambda part: part.until)[::-1]
        tabs, left, count = self._tabs(current, 0, app), 0, 0
        for step in range(STEPS + 1):
            tabs = self._tabs(current, step, app)
            left = width - sum(map(len, tabs.values()))
            count = sum(cells <= left for cells in accumulate(part.least + len(gap) for part in lasting))
            if left >= 0 and all(part.until <= step for part in lasting[count:]):
                break
        parts = [part for part in every if part in lasting[:count]]
        left -= sum(part.least + len(gap) for part in parts)
        text = Text(no_wrap=True, overflow="ellipsis", end="")
        for part in parts:
            shown = Text(part.words, part.style)
            shown.truncate(part.least + left, overflow="ellipsis")
            left -= shown.cell_len - part.least
            text.append(gap[: 1 if part is parts[0] else None]).append_text(shown)
        # Room that is left parts the project from the tabs, and the count of a tab from the number of the next.
        for name, words in tabs.items():
            if left > 1 and width < WIDE and not words.endswith(" "):
                tabs[name], left = words + " ", left - 1
        text.append(" " * (left if width < WIDE else min(left, 2)))
        pieces = []
        for name, words in tabs.items():
            start = text.cell_len
            number = words[:2]
            text.append(number, style="reverse" if name == current else "dim")
            text.append(words[len(number) :], style="reverse" if name == current else "")
            if name != current and "!" in words:  # problems
                text.stylize("bold red", start + words.index("!"))
            pieces.append((start, text.cell_len, f"app.{name}"))
        self.pieces = pieces
        self.put(text)

    def _tabs(self, current: str, step: int, app: "Services") -> "dict[str, str]":
        """Return the words of the tabs; each step is one more of what is said at SHORT."""
        short = set(list(SHORT)[: max(0, step - ONE_BLANK)]) - (set() if step == OPEN_SHORT else {current})
        numbered = set(NUMBERED[: max(0, step - OPEN_SHORT)]) - {current}
        tabs = {}
        for name, following in zip(TABS, (*TABS[1:], ""), strict=True):
            number = actions.get(f"app.{name}").keys
            badge = "" if name in numbered and step == STEPS else _badge(name, app)
            if name in numbered:  # a count stands in parentheses there: "3 6" would read as two tabs
                words = f" {number}({badge.strip()})" if badge else f" {number}"
            else:
                words = f" {number} {SHORT[name] if name in short else name.capitalize()}{badge}"
            tabs[name] = words + " " * (step == 0 or bool(numbered & {name, following}))
        return tabs

    def _parts(self, app: "Services") -> "list[BarPart]":
        """Return the parts left of the tabs, in their order. A narrow screen shows only what is not as usual."""
        facts, wide = app.data.facts, (self.size.width or 80) >= WIDE
        name = safe_text.line(facts.project, PROJECT_MOST)
        mode_style = "dim" if facts.mode == "full" else "bold yellow"
        hooks, hooks_style = ("hooks ✓", "dim") if facts.hooks else ("hooks ✗", "bold red")
        parts = [
            BarPart("memtui", "dim", 0),
            BarPart(name, "bold", ALL_SHORT, least=PROJECT_LEAST),
            BarPart(facts.mode, mode_style, 0 if facts.mode == "full" else STEPS),
            BarPart(hooks, hooks_style, 0 if facts.hooks else STEPS),
            *([BarPart("read-only", "bold")] if app.read_only else []),
        ]
        return [part for part in parts if wide or part.until]


def _badge(name: str, app: "Services") -> str:
    """Return what stands behind a tab: how much waits there."""
    waiting = app.data.facts.waiting
    count = waiting.get(name, 0) + (waiting.get("changes", 0) if name == "inbox" else 0)
    return f" {'!' if name == 'setup' else ''}{count}" if count else ""


class FootBar(OneLine):
    """The bottom bar: as many keys of the screen as there is room for, and a count or a message on the right."""

    DEFAULT_CSS = "FootBar { background: $panel; color: $text; }"

    def typing(self, keys: "Sequence[tuple[str, str]]", status: str) -> None:
        """Draw the bar while a person types: the keys of the screen are letters then. `keys`: those that are none, and
        what each does."""
        text = Text(" ", no_wrap=True, end="")
        for key, word in keys:
            text.append(key, style="bold").append(f" {word}  ", style="dim")
        self.pieces = ()
        text.append(status.rjust((self.size.width or 80) - text.cell_len - 1), style="dim")
        self.put(text)

    def show(
        self,
        wanted: "Sequence[actions.Action]",
        status: str,
        app: "Services",
        first: "Sequence[tuple[str, str]]" = (),
    ) -> None:
        """Draw the bar for a screen; `wanted` are its own actions, the most useful first. `first`: keys that come
        before them, and what each does."""
        width = self.size.width or 80
        text = Text(" ", no_wrap=True, end="")
        for key, word in first:
            text.append(key, style="bold").append(f" {word}  ", style="dim")
        end = width - len(status) - 2 if status else width  # the last action may have its blanks beyond it
        room = end + 1 - text.cell_len
        everywhere = {"app.help"} if width < TIGHT else {"app.undo", "app.note", "app.help"}
        if width >= WIDE:
            everywhere.add("app.quit")
        last = [a for a in actions.ACTIONS if a.id in everywhere and not (a.writes and app.read_only)]
        cells = {a.id: _cells_of(a, app) for a in (*wanted, *last)}
        always = sum(cells[a.id] for a in last)
        if always > room:
            last.sort(key=lambda a: a.id != "app.help")  # which lists all the others
        own: list[actions.Action] = []
        taken = always
        for action in wanted:
            taken += cells[action.id]
            if taken > room:
                break
            own.append(action)
        pieces = []
        for action in [*own, *last]:
            start = text.cell_len
            if start + cells[action.id] - 2 > end - 1:
                break
            text.append(actions.key_word(actions.keys_of(action, app.remapped)), style="bold")
            text.append(f" {action.footer}  ", style="dim")
            pieces.append((start, text.cell_len - 1, action.id))
        self.pieces = pieces
        text.append(status.rjust(width - text.cell_len - 1), style="dim")
        self.put(text)


def _cells_of(action: actions.Action, app: "Services") -> int:
    return len(actions.key_word(actions.keys_of(action, app.remapped))) + len(action.footer) + 3
