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
from memtui.tui.dialogs.preview import Preview
from memtui.tui.widgets.rows import RowList

WHOSE = {
    "user": "all projects",
    "local": "this project, you alone",
    "project": "this project, everyone",
}
COLOURS = {"+": "green", "-": "red", "@": "dim"}
WELCOME = """memtui is not connected to Claude Code yet. Its hooks give your sessions your memories and notes, and
record what arrived. enter adds the lines below to the file under the cursor. Before that, nothing is written."""
EXPLAINED = """\
Claude Code runs a hook at each of these events:

SessionStart: gives the session an index of your memories.
UserPromptSubmit: adds your notes, new drafts and unfinished work to a prompt.
PreToolUse: adds urgent notes, and notes for the file that a tool uses.
PostToolUse: records which memories Claude opened or wrote.
PreCompact, Stop, SessionEnd: look for corrections of yours, and draft memories from them for you to approve.

The hooks run on this machine. They open no network connection and call no model. If one fails or is late, your\
 prompt goes on without it.

memtui setup hooks --remove removes them. It restores the settings file byte for byte; if the file was changed\
 meanwhile, only memtui's lines are removed."""


class PlanScreen(Dialog[install.Plan | None]):
    """The dialog. The answer is the plan that was chosen, None for none. `offer`: the person did not ask for it, so it
    says what the hooks are."""

    DEFAULT_CSS = """
    PlanScreen > Vertical { height: 96%; max-height: 40; padding: 1 2;
      background: $panel; }
    PlanScreen.filled > Vertical { height: 100%; }
    PlanScreen Static { width: 1fr; height: auto; }
    PlanScreen Options { margin: 1 0; }
    PlanScreen VerticalScroll { height: 1fr; background: $background; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "cancel"),
        Binding("space,pagedown", "scroll(1)", show=False),
        Binding("b,pageup", "scroll(-1)", show=False),
        Binding("question_mark", "explain", "what hooks do"),
    ]

    def __init__(self, action: install.Action, env: dict[str, str], cwd: str, *, offer: bool = False) -> None:
        super().__init__()
        self.action = action
        self.offer = offer
        self.home = env.get("HOME", "").rstrip("/")
        self.top = install.working_tree(cwd).rstrip("/")
        self.plans: list[tuple[str, install.Plan | MemtuiError | None]] = []
        for scope in WHOSE:
            try:
                path = install.settings_path(env, cwd, scope)
                plan: install.Plan | MemtuiError = install.plan(path, action, env=env, scope=scope)
            except MemtuiError as error:
                plan = error
            if action == "install" or not (isinstance(plan, install.Plan) and not plan.changed):
                self.plans.append((scope, plan))
        self.plans.append(("Not now" if offer else "Cancel", None))

    def body(self) -> ComposeResult:
        """Compose the question, the list of files, and the diff of the one under the cursor."""
        with Vertical():
            words = "Install the hooks" if self.action == "install" else "Remove the hooks"
            yield Static(Text(words, style="bold"))
            if self.offer:
                yield Static(Text(WELCOME.replace("\n", " ")))
            yield Options()
            with VerticalScroll():
                yield Static(id="diff")

    def keys(self) -> Keys:
        """Return the keys."""
        more = (("escape", "write nothing"), ("j k", "other file"), ("space b", "scroll"), ("?", "about"))
        if isinstance(self.chosen, MemtuiError):
            return more
        writes = "install" if self.action == "install" else "remove"
        return (("enter", writes if self._writes else "close"), *more)

    @property
    def chosen(self) -> install.Plan | MemtuiError | None:
        """Return the plan of the row under the cursor, None for none."""
        return self.plans[self.query_one(Options).cursor][1]

    @property
    def _writes(self) -> bool:
        """Whether the plan under the cursor would write something."""
        plan = self.chosen
        return isinstance(plan, install.Plan) and plan.changed

    def _places(self) -> list[str]:
        found = []
        for scope, plan in self.plans:
            if plan is None:
                found.append(scope)
                continue
            path = plan.settings_path if isinstance(plan, install.Plan) else "can't be done"
            if self.home and path.startswith(self.home + "/"):
                path = "~" + path[len(self.home) :]
            path = path.removeprefix(self.top + "/")
            found.append(f"{WHOSE[scope]:<24} {path}")
        return found

    def on_mount(self) -> None:
        """Show the files, with the cursor on the first one."""
        options = self.query_one(Options)
        rows = list(enumerate(self._places()))
        options.styles.height = len(rows)
        options.show(rows)
        options.move_to(0)
        options.focus()
        self.preview()

    def action_scroll(self, direction: int) -> None:
        """Scroll the diff by a page: down (1) or up (-1)."""
        scroll = self.query_one(VerticalScroll)
        (scroll.scroll_page_down if direction > 0 else scroll.scroll_page_up)(animate=False)

    @on(RowList.Moved)
    def preview(self) -> None:
        """Show what choosing the row under the cursor would write."""
        left = "No settings file has hooks of memtui's." if len(self.plans) == 1 else "Nothing is written."
        plan = self.chosen
        self.query_one("#diff", Static).update(Text(left) if plan is None else _diff(plan))
        self.query_one(VerticalScroll).scroll_home(animate=False)
        self.name_keys()

    def action_explain(self) -> None:
        """Show what the hooks do."""
        self.app.push_screen(Preview("What the hooks do", Text(EXPLAINED), go=""))

    @on(RowList.Opened)
    def answer(self) -> None:
        """Answer with the plan of the row that was opened, with None if it changes nothing. A file that can't be
        changed is no answer."""
        plan = self.chosen
        if not isinstance(plan, MemtuiError):
            self.dismiss(plan if self._writes else None)


def _diff(plan: install.Plan | MemtuiError) -> Text:
    text = Text()
    if isinstance(plan, MemtuiError):
        text.append(safe_text.clean(f"{plan.message}\n{plan.hint}"), style="yellow")
    elif not plan.changed:
        text.append("The hooks are in this file already: nothing to change.")
    else:
        for line in plan.diff.splitlines():
            text.append(safe_text.line(line) + "\n", style=COLOURS.get(line[:1], ""))
        for note in hook_words.notes(plan):
            text.append(f"note: {safe_text.clean(note)}\n", style="yellow")
        if pasted := hook_words.to_paste(plan):
            text.append(safe_text.clean(pasted) + "\n")
    return text
