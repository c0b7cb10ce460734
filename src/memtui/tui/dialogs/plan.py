"""The dialog that installs or removes the hooks: the settings files to choose from, the diff of each, and notes."""

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from memtui.core.base.errors import MemtuiError
from memtui.hooks.installer import install
from memtui.present import hooks as hook_words
from memtui.present import safe_text
from memtui.tui.dialogs.ask import Options
from memtui.tui.dialogs.dialog import Dialog, Keys
from memtui.tui.widgets.rows import RowList

WHOSE = {
    "user": "all projects",
    "local": "this project, you alone",
    "project": "this project, everyone",
}
COLOURS = {"+": "green", "-": "red", "@": "dim"}
WELCOME = """memtui is not connected to Claude Code yet: its hooks tell a session what you want it to know, and note
what arrived. Nothing is written before you choose; memtui hooks uninstall puts back the very bytes."""


class PlanScreen(Dialog[install.Plan | None]):
    """The dialog. The answer is the plan that was chosen, None for none. `offer`: the person did not ask for it, so the
    cursor is on "Not now"."""

    DEFAULT_CSS = """
    PlanScreen > Vertical { height: 96%; max-height: 40; padding: 1 2;
      background: $panel; }
    PlanScreen Static { width: 1fr; height: auto; }
    PlanScreen Options { margin: 1 0; }
    PlanScreen VerticalScroll { height: 1fr; background: $background; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "cancel"),
        Binding("space,pagedown", "scroll(1)", show=False),
        Binding("b,pageup", "scroll(-1)", show=False),
    ]

    def __init__(self, action: install.Action, env: dict[str, str], cwd: str, *, offer: bool = False) -> None:
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

    def body(self) -> ComposeResult:
        """Compose the question, the list of files, and the diff of the one under the cursor."""
        with Vertical():
            words = "Install the hooks" if self.action == "install" else "Take the hooks out"
            yield Static(Text(words, style="bold"))
            if self.offer:
                yield Static(Text(WELCOME.replace("\n", " ")))
            yield Options()
            with VerticalScroll():
                yield Static(id="diff")

    def keys(self) -> Keys:
        """Return the keys."""
        return (("enter", "choose"), ("escape", "write nothing"), ("j k", "move"), ("space b", "scroll the diff"))

    def _places(self) -> list[str]:
        found = ["Not now" if self.offer else "Cancel"]
        for scope, plan in self.plans:
            path = plan.settings_path if isinstance(plan, install.Plan) else "can't be done"
            if self.home and path.startswith(self.home + "/"):
                path = "~" + path[len(self.home) :]
            path = path.removeprefix(self.top + "/")
            found.append(f"{WHOSE[scope]:<24} {path}")
        return found

    def on_mount(self) -> None:
        """Show the files, with the cursor on the first one, or on "Not now"."""
        options = self.query_one(Options)
        rows = list(enumerate(self._places()))
        options.styles.height = len(rows)
        options.show(rows)
        options.move_to(0 if self.offer or not self.plans else 1)
        options.focus()
        self.preview()

    def action_scroll(self, direction: int) -> None:
        """Scroll the diff by a page: down (1) or up (-1)."""
        scroll = self.query_one(VerticalScroll)
        (scroll.scroll_page_down if direction > 0 else scroll.scroll_page_up)(animate=False)

    @on(RowList.Moved)
    def preview(self) -> None:
        """Show the diff of the file under the cursor, of the first one if that is on "Cancel" or "Not now"."""
        at = max(0, self.query_one(Options).cursor - 1)
        plan = self.plans[at][1] if self.plans else None
        self.query_one("#diff", Static).update(_diff(plan))
        self.query_one(VerticalScroll).scroll_home(animate=False)

    @on(RowList.Opened)
    def answer(self) -> None:
        """Answer with the plan of the row that was opened. A file that can't be changed is no answer."""
        at = self.query_one(Options).cursor
        if at == 0:
            self.dismiss(None)
            return
        plan = self.plans[at - 1][1]
        if isinstance(plan, install.Plan):
            self.dismiss(plan)


def _diff(plan: install.Plan | MemtuiError | None) -> Text:
    text = Text()
    if plan is None:
        text.append("No settings file holds hooks of memtui's.")
    elif isinstance(plan, MemtuiError):
        text.append(safe_text.clean(f"{plan.message}\n{plan.hint}"), style="yellow")
    elif not plan.changed:
        text.append("The hooks are there already: nothing to change.")
    else:
        for line in plan.diff.splitlines():
            text.append(safe_text.line(line) + "\n", style=COLOURS.get(line[:1], ""))
        for note in hook_words.notes(plan):
            text.append(f"note: {safe_text.clean(note)}\n", style="yellow")
    return text
