"""Hooks into a settings file, or out of it: the places to choose from, the diff of each, and the notes."""

from collections.abc import Mapping
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from memtui.core.errors import MemtuiError
from memtui.hooks import install
from memtui.tui import safe

WHOSE = {
    "user": "all projects",
    "local": "this project, you alone",
    "project": "this project, everyone",
}
COLOURS = {"+": "green", "-": "red", "@": "dim"}
WELCOME = """memtui is not connected to Claude Code yet: its hooks tell a session what you want it to know, and note
what arrived. Nothing is written before you choose; memtui hooks uninstall puts back the very bytes."""


class PlanScreen(ModalScreen[install.Plan | None]):
    """Choose where; the plan that was chosen, or None. `offer`: nobody asked for it, so staying out is in focus."""

    DEFAULT_CSS = """
    PlanScreen { align: center middle; background: $background 60%; }
    PlanScreen > Vertical { width: 110; max-width: 98%; height: 96%; max-height: 40; padding: 1 2;
      background: $panel; }
    PlanScreen Static { width: 1fr; height: auto; }
    PlanScreen OptionList { height: auto; max-height: 8; background: $panel; margin: 1 0; padding: 0; border: none; }
    PlanScreen OptionList:focus { border: none; }
    PlanScreen VerticalScroll { height: 1fr; background: $background; padding: 0 1; }
    PlanScreen .hint { color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "cancel"),
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
        Binding("space,pagedown", "scroll(1)", show=False),
        Binding("b,pageup", "scroll(-1)", show=False),
    ]

    def __init__(self, action: install.Action, env: Mapping[str, str], cwd: str, *, offer: bool = False) -> None:
        super().__init__()
        self.action = action
        self.offer = offer
        self.home = env.get("HOME", "").rstrip("/")
        self.top = install.working_tree(cwd).rstrip("/")
        self.plans: list[tuple[str, install.Plan | MemtuiError]] = []
        for scope in WHOSE:
            try:
                path = install.settings_path(env, cwd, scope)
                plan: install.Plan | MemtuiError = install.plan(path, action, env=env, scope=scope)
            except MemtuiError as error:
                plan = error
            if action == "install" or not (isinstance(plan, install.Plan) and not plan.changed):
                self.plans.append((scope, plan))

    def compose(self) -> ComposeResult:
        """The question, the places, the diff of the one that is highlighted."""
        with Vertical():
            words = "Install the hooks" if self.action == "install" else "Take the hooks out"
            yield Static(Text(words, style="bold"))
            if self.offer:
                yield Static(Text(WELCOME.replace("\n", " ")))
            yield OptionList(*[Option(safe.styled(each)) for each in self._options()])
            with VerticalScroll():
                yield Static(id="diff")
            yield Static(Text("enter chooses, escape writes nothing, space scrolls the diff"), classes="hint")

    def _options(self) -> list[str]:
        found = ["Not now" if self.offer else "Cancel"]
        for scope, plan in self.plans:
            path = plan.settings_path if isinstance(plan, install.Plan) else "can't be done"
            if self.home and path.startswith(self.home + "/"):
                path = "~" + path[len(self.home) :]
            path = path.removeprefix(self.top + "/")
            found.append(f"{WHOSE[scope]:<24} {path}")
        return found

    def on_mount(self) -> None:
        """Stand on the first place, or on staying out."""
        options = self.query_one(OptionList)
        options.highlighted = 0 if self.offer or not self.plans else 1
        options.focus()

    def action_move(self, step: int) -> None:
        """Another place."""
        options = self.query_one(OptionList)
        options.highlighted = max(0, min((options.highlighted or 0) + step, options.option_count - 1))

    def action_scroll(self, direction: int) -> None:
        """More of the diff."""
        scroll = self.query_one(VerticalScroll)
        (scroll.scroll_page_down if direction > 0 else scroll.scroll_page_up)(animate=False)

    @on(OptionList.OptionHighlighted)
    def preview(self, event: OptionList.OptionHighlighted) -> None:
        """The diff of the place under the cursor; of the first one where none is."""
        at = max(0, event.option_index - 1)
        plan = self.plans[at][1] if self.plans else None
        self.query_one("#diff", Static).update(_diff(plan))
        self.query_one(VerticalScroll).scroll_home(animate=False)

    @on(OptionList.OptionSelected)
    def answer(self, event: OptionList.OptionSelected) -> None:
        """Enter chooses."""
        if event.option_index == 0:
            self.dismiss(None)
            return
        plan = self.plans[event.option_index - 1][1]
        if isinstance(plan, install.Plan):
            self.dismiss(plan)


def _diff(plan: install.Plan | MemtuiError | None) -> Text:
    text = Text()
    if plan is None:
        text.append("No settings file holds hooks of memtui's.")
    elif isinstance(plan, MemtuiError):
        text.append(safe.clean(f"{plan.message}\n{plan.hint}"), style="yellow")
    elif not plan.changed:
        text.append("The hooks are there already: nothing to change.")
    else:
        for line in plan.diff.splitlines():
            text.append(safe.line(line) + "\n", style=COLOURS.get(line[:1], ""))
        for note in plan.notes:
            text.append(f"note: {safe.clean(note)}\n", style="yellow")
    return text
