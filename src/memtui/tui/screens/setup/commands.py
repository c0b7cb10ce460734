"""The commands of Setup: fix, install or remove hooks, start or stop the model, change a setting."""

import asyncio
import inspect
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
from memtui.tui import hooks_offer
from memtui.tui.dialogs.ask import Choice, Line, sure
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.setup.rows import HOOKS, MARKS, SetupRow, Snapshot
from memtui.tui.services import Command, Services
from memtui.views import editor, safe_text
from memtui.views import fixes as fix_words


class Fix(NamedTuple):
    """What `setup.approve` does, in words for the detail, and the word for it in the footer."""

    words: str
    footer: str = "fix"


FIXES = {
    "install": Fix("install the hooks, after showing the change", "install hooks"),
    "notes": Fix("find out whether they arrived"),
    "projects": Fix("give it to this project, after asking"),
    "errors": Fix("set the errors aside, beside the log"),
    "files": Fix("let only you read and write them"),
    "config": Fix("open config.toml in your editor"),
    "collect": Fix("delete old data for good, after asking"),
    "start": Fix("start reading sessions again", "start again"),
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
        return {
            "setup.approve": Command(self.fix, self._why_no_fix),
            "setup.edit": Command(self.edit, self._why_no_edit),
            "setup.remove": Command(self._remove, self._why_no_remove),
        }

    def keys(self, row: SetupRow) -> list[tuple[str, str]]:
        """Return the keys that work on a row, as (action id, what it does)."""
        fix, about = self._fix_of(row), self._setting_of(row)
        keys = [("setup.approve", FIXES[fix].words)] if fix else []
        if about is not None:
            keys.append(("setup.edit", "change it" if about is row.about else f"change {about.key}"))
        if self.is_of_hooks(row) and not self._why_no_uninstall():
            keys.append(("setup.remove", "remove the hooks, after showing the change"))
        elif isinstance(row.about, Overview) and not self._why_no_stop():
            keys.append(("setup.remove", "stop it, also what it reads now"))
        elif about is not None and about is row.about and about.source != "default":
            keys.append(("setup.remove", "reset it to the default"))
        return keys

    def footer_word(self, action_id: str) -> str | None:
        """Return the footer's word for an action on the row under the cursor; empty: its usual one, None: none."""
        row = self.screen.table.row
        if action_id == "setup.approve":
            fix = self._fix_of(row)
            return FIXES[fix].footer if fix else None
        return "remove hooks" if action_id == "setup.remove" and self.is_of_hooks(row) else ""

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
        if self._fix_of(row) or self._setting_of(row) is not None:
            return ""
        if row is not None and isinstance(row.about, Finding) and (remedy := findings.remedy(row.about)):
            return f"This is for you to do: {remedy}"
        return "There is nothing to fix here."

    async def fix(self) -> None:
        """Fix what the row under the cursor shows, after asking where a person decides; change a setting."""
        row = self.screen.table.row
        fix = self._fix_of(row)
        asking: dict[str, Callable[[], object]] = {
            "": self.edit,
            "install": lambda: hooks_offer.change_hooks(self.services, "install"),
            "config": self._edit_file,
            "collect": self._collect,
            "start": self._start_reading,
            "projects": lambda: self._adopt(row.about.subject if row and isinstance(row.about, Finding) else ""),
        }
        outcome = asking.get(fix, lambda: self._run_fix(fix))()
        if inspect.isawaitable(outcome):
            await outcome

    def _run_fix(self, fix: str, subjects: Sequence[str] = ()) -> None:
        """Run a fix that needs no question, or whose question was answered."""
        self._report(fixes.fix(self.services.data.store(), fix, subjects))

    def _report(self, outcome: fixes.FixOutcome) -> None:
        back = f" {actions.takes_back()}" * (outcome.undoable and bool(outcome.changed))
        self.services.say(fix_words.words(outcome) + back)
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
        words = "; ".join(words for _, words in fix_words.due(due, retention.limits(data.root), dry=True))
        if await self.services.ask(sure(f"Delete for good, without undo: {words}?", "Delete for good")):
            self._report(await asyncio.to_thread(fixes.fix, data.store(), "collect"))

    def _start_reading(self) -> None:
        data = self.services.data
        control.start(data.root)
        why = control.powers(data.env, data.root, data.project_root).missing
        self.services.say("The model may read sessions again." + (f" But: {why}" if why else ""))
        self.services.read()

    # taking away

    def _remove(self) -> object:
        """Remove the hooks, stop the model that reads sessions, or reset a setting."""
        row, data = self.screen.table.row, self.services.data
        if self.is_of_hooks(row):
            return hooks_offer.change_hooks(self.services, "uninstall")
        if row is not None and isinstance(row.about, Overview):
            control.stop(data.root)
            again = actions.key_of("setup.approve")
            self.services.say(f"The model reads no more sessions, in all projects. {again} starts it again.")
            self.services.read()
        elif (about := self._setting_of(row)) is not None:
            self._assign(about.key, None, data.project_root if about.source == "project" else None)
        return None

    def _why_no_remove(self) -> str:
        row = self.screen.table.row
        if self.is_of_hooks(row):
            return self._why_no_uninstall()
        if row is not None and isinstance(row.about, Overview):
            return self._why_no_stop()
        about = self._setting_of(row)
        if about is None:
            return "There is nothing to reset or remove here."
        return "That is the default already." if about.source == "default" else ""

    def _why_no_uninstall(self) -> str:
        hooks = self.snapshot().hooks
        return "" if hooks and hooks.installed else "No hooks are installed."

    def _why_no_stop(self) -> str:
        reading = self.snapshot().reading
        return "" if reading is not None and reading.stopped is None else "It is stopped already."

    # settings

    def _why_no_edit(self) -> str:
        return "" if self._setting_of(self.screen.table.row) else "Move the cursor to a setting first."

    async def edit(self) -> None:
        about = self._setting_of(self.screen.table.row)
        if about is None:
            return
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
