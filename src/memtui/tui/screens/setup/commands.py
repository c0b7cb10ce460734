"""The commands of Setup: fix, install or remove hooks, start or stop the model, change a setting."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from rich.text import Text

from memtui import actions
from memtui.base import findings, fs
from memtui.base.errors import ConflictError, MemtuiError
from memtui.base.finding import OK, Finding
from memtui.models.subconscious import control
from memtui.models.subconscious.control import Overview
from memtui.settings import config, setting
from memtui.settings.setting import Setting, Value
from memtui.tidy.checks import fixes, retention
from memtui.tui.dialogs import offers
from memtui.tui.dialogs.ask import Choice, Line, sure
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.setup.rows import HOOKS, MARKS, SetupRow, Snapshot
from memtui.tui.services import Command, Services
from memtui.views import editor, safe_text
from memtui.views import setup as setup_words


class Way(NamedTuple):
    """What a key does with a row: words for the detail, and the word of the footer where it has another one."""

    run: Callable[[], object]
    words: str
    footer: str = ""


# What a fix does, by its id, and the word for it in the footer.
FIXES = {
    "install": ("install the hooks, after showing the change", "install hooks"),
    "notes": ("find out whether they arrived", "fix"),
    "projects": ("give it to this project, after asking", "fix"),
    "errors": ("set the errors aside, beside the log", "fix"),
    "files": ("let only you read and write them", "fix"),
    "config": ("open config.toml in your editor", "fix"),
    "collect": ("delete old data for good, after asking", "fix"),
    "start": ("start reading sessions again", "start again"),
}
# By the code of a finding: the setting that cures it.
CURES = {
    **dict.fromkeys(("config.mode_off", "config.mode_off_here"), "mode"),
    **dict.fromkeys(("config.no_model", "llm.no_key", "llm.no_client"), "llm_backend"),
    "dream.off": "dream",
}
HERE, ALL = "here", "all"
FILE = "config.toml"


class SetupCommands:
    """The commands on the row under the cursor. `snapshot` returns what was seen last."""

    def __init__(self, services: Services, screen: ListScreen[SetupRow], snapshot: Callable[[], Snapshot]) -> None:
        self.services, self.screen, self.snapshot = services, screen, snapshot

    def table(self) -> dict[str, Command]:
        reasons = {"approve": self._why_no_fix, "edit": self._why_no_edit, "remove": self._why_no_remove}
        return {f"setup.{verb}": self._command(verb, why_not) for verb, why_not in reasons.items()}

    def _command(self, verb: str, why_not: Callable[[], str]) -> Command:
        """Return the command of a verb, which the row under the cursor decides; `why_not`: where it has no such way."""

        def way() -> Way | None:
            ways = self.ways(self.screen.table.row)
            return ways.get(verb) or (ways.get("edit") if verb == "approve" else None)

        def run() -> object:
            chosen = way()
            return chosen.run() if chosen is not None else None

        return Command(run, lambda: "" if way() is not None else why_not())

    def ways(self, row: SetupRow | None) -> dict[str, Way]:
        """Return what can be done with a row, by verb."""
        fix, option, ways = self._fix_of(row), self._setting_of(row), dict[str, Way]()
        if row is not None and fix:
            ways["approve"] = Way(partial(self._fix, fix, row), *FIXES[fix])
        if option is not None:
            name = "it" if row is not None and option is row.about else option.key
            ways["edit"] = Way(partial(self._change, option), f"change {name}")
            if option.source != "default":
                ways["remove"] = Way(partial(self._reset, option), f"reset {name} to the default")
        hooks, reading = self.snapshot().hooks, self.snapshot().reading
        if self.is_of_hooks(row) and hooks is not None and hooks.installed:
            remove = partial(offers.change_hooks, self.services, "uninstall")
            ways["remove"] = Way(remove, "remove the hooks, after showing the change", "remove hooks")
        elif row is not None and isinstance(row.about, Overview) and reading is not None and reading.stopped is None:
            ways["remove"] = Way(self._stop_reading, "stop it, also what it reads now")
        return ways

    def is_of_hooks(self, row: SetupRow | None) -> bool:
        """Whether a row is the heading of the hooks, or one of them."""
        return row is not None and HOOKS in {row.group, row.title if row.kind == "head" else ""}

    def _setting_of(self, row: SetupRow | None) -> Setting | None:
        """Return the setting that a row is about, or that cures its finding."""
        about = row.about if row else None
        if isinstance(about, Finding):
            return self.snapshot().setting(CURES.get(about.code, ""))
        return about if isinstance(about, Setting) else None

    # fixes

    def _fix_of(self, row: SetupRow | None) -> str:
        """Return the id of the fix for a row; empty if only a person can fix it."""
        about = row.about if row else None
        if isinstance(about, Finding):
            fix = findings.fix_of(about)
            return fix if fix in FIXES and about.code not in CURES else ""
        if isinstance(about, Overview):
            return "start" if about.stopped is not None else ""
        if row is not None and self.is_of_hooks(row):
            hooks = self.snapshot().hooks
            is_running = row.mark == MARKS[OK][0] if row.kind == "event" else hooks is not None and hooks.installed
            return "" if is_running else "install"
        return "errors" if row is not None and row.kind == "error" else ""

    def _why_no_fix(self) -> str:
        row = self.screen.table.row
        if row is not None and isinstance(row.about, Finding) and (remedy := findings.remedy(row.about)):
            return f"This is for you to do: {remedy}"
        return "There is nothing to fix here."

    def _fix(self, fix: str, row: SetupRow) -> object:
        """Fix what a row shows, after asking where a person decides."""
        asking: dict[str, Callable[[], object]] = {
            "install": lambda: offers.change_hooks(self.services, "install"),
            "config": self._edit_file,
            "collect": self._collect,
            "start": self._start_reading,
            "projects": lambda: self._adopt(row.about.subject if isinstance(row.about, Finding) else ""),
        }
        return asking.get(fix, lambda: self._run_fix(fix))()

    def _run_fix(self, fix: str, subjects: Sequence[str] = ()) -> None:
        """Run a fix that needs no question, or whose question was answered."""
        self._report(fixes.fix(self.services.data.store(), fix, subjects))

    def _report(self, outcome: fixes.FixOutcome) -> None:
        back = f" {actions.takes_back()}" * (outcome.undoable and bool(outcome.changed))
        self.services.say(setup_words.fixed(outcome) + back)
        self.services.read()

    async def _adopt(self, subject: str) -> None:
        """Give what may be of several projects, or was of one whose directory is gone, to this one."""
        name = safe_text.line(self.services.data.facts.project)
        if await self.services.ask(sure(f"Give it to {name}?", "Give it to this project")):
            self._run_fix("projects", [subject])

    async def _collect(self) -> None:
        """Show what is kept no longer, and remove it if that is wanted."""
        data = self.services.data
        due = await asyncio.to_thread(retention.due, data.root, data.now())
        words = "; ".join(words for _, words in setup_words.due(due, retention.limits(data.root), dry=True))
        if await self.services.ask(sure(f"Delete for good, without undo: {words}?", "Delete for good")):
            self._report(await asyncio.to_thread(fixes.fix, data.store(), "collect"))

    def _start_reading(self) -> None:
        data = self.services.data
        control.start(data.root)
        why = control.powers(data.env, data.root, data.project_root).missing
        self.services.say("The model may read sessions again." + (f" But: {why}" if why else ""))
        self.services.read()

    # taking away

    def _stop_reading(self) -> None:
        control.stop(self.services.data.root)
        again = actions.key_of("setup.approve")
        self.services.say(f"The model reads no more sessions, in all projects. {again} starts it again.")
        self.services.read()

    def _why_no_remove(self) -> str:
        row = self.screen.table.row
        if self.is_of_hooks(row):
            return "No hooks are installed."
        if row is not None and isinstance(row.about, Overview):
            return "It is stopped already."
        is_default = self._setting_of(row) is not None
        return "That is the default already." if is_default else "There is nothing to reset or remove here."

    # settings

    def _why_no_edit(self) -> str:
        return "Move the cursor to a setting first."

    async def _change(self, about: Setting) -> None:
        if about.key in config.CHOICES or isinstance(about.default, bool):
            await self._choose_value(about)
            return
        question = Line(
            f"Change {about.key}",
            str(about.value),
            about=" ".join(filter(None, [about.meaning + ".", setting.explained(about.key)])),
            below=f"default {setting.as_toml(about.default)}",
            verb="set",
            check=partial(setting.value_of, about.key),
        )
        typed = await self.services.ask(question)
        if typed is not None:
            self._assign(about.key, setting.value_of(about.key, typed.strip()), None)

    def _reset(self, option: Setting) -> None:
        self._assign(option.key, None, self.services.data.project_root if option.source == "project" else None)

    async def _choose_value(self, about: Setting) -> None:
        values = list(config.CHOICES.get(about.key, ("true", "false")))
        own = about.key in config.PER_PROJECT
        options = [(f"{ALL} {value}", f"{value}, in all projects" if own else value) for value in values]
        options += [(f"{HERE} {value}", f"{value}, in this project only") for value in values] if own else []
        meanings = setting.VALUES.get(about.key, {})
        question = Choice(
            f"Change {about.key}",
            options,
            f"{HERE if about.source == 'project' else ALL} {setting.as_typed(about.value)}",
            about=(lambda option: Text(meanings.get(option.partition(" ")[2], ""))) if meanings else None,
            lead="" if meanings else f"{about.meaning}.",
            verb="set",
        )
        answer = await self.services.ask(question)
        if answer is not None:
            where, _, word = answer.partition(" ")
            project = self.services.data.project_root if where == HERE else None
            self._assign(about.key, setting.value_of(about.key, word), project)

    def _assign(self, key: str, value: Value | None, project: str | None) -> None:
        """Set a setting, to the default without a `value`: of a `project`, or of all."""
        data = self.services.data
        now = setting.row(data.root, None, key)
        is_reset = project is None and value == now.default and (now.source == "default" or value != now.value)
        changed = setting.assign(data.root, data.journal(), key, None if is_reset else value, project)
        words = f"{key} is {'the default' if value is None else setting.as_toml(value)}"
        words += " in this project" if project else ""
        self.services.say(f"{words}. {actions.takes_back()}" if changed else f"{words} already.")
        self.services.read()

    async def _edit_file(self) -> None:
        """Open config.toml in the person's editor, again until what comes back can be saved or is dropped."""
        data = self.services.data
        before = typed = fs.read_or_empty(config.file_path(data.root))
        while True:
            with self.services.suspend():
                after = editor.edited(data.env, FILE, typed)
            if after == before:
                return
            try:
                setting.readable(after)
                if fs.read_or_empty(config.file_path(data.root)) != before:
                    raise ConflictError(f"{FILE} was changed by somebody else meanwhile.")
                setting.save(data.root, data.journal(), before, after)
            except MemtuiError as error:
                typed, before = after, fs.read_or_empty(config.file_path(data.root))
                options = [("edit", "Edit again what I typed"), ("drop", f"Drop it: {FILE} stays as it is")]
                if await self.services.ask(Choice(f"Not saved. {error.message}", options)) != "edit":
                    return
                continue
            self.services.say(f"Saved {FILE}. {actions.takes_back()}")
            self.services.read()
            return
