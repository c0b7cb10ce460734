"""The commands of Setup on settings and modes: set another value, or reset to the default."""

from functools import partial

from rich.text import Text

from memtui import actions
from memtui.core.settings import config, config_text, setting
from memtui.core.settings.modes import Mode
from memtui.core.settings.setting import Setting, Value
from memtui.tui.dialogs.ask import Choice, Line
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.setup.config_file import ConfigFile
from memtui.tui.screens.setup.rows import SetupRow
from memtui.tui.services import Services

HERE, ALL = "here", "all"


class SettingCommands:
    """The commands on the setting or mode under the cursor. `file`: config.toml, for an edit that was kept."""

    def __init__(self, services: Services, screen: ListScreen[SetupRow], file: ConfigFile) -> None:
        self.services, self.screen, self.file = services, screen, file

    @property
    def _about(self) -> object:
        row = self.screen.table.row
        return row.about if row else None

    def _why_elsewhere(self) -> str:
        if isinstance(self._about, (Mode, Setting)):
            return ""
        return "Move the cursor to a setting or a mode first."

    def why_no_edit(self) -> str:
        """Return why nothing can be edited here; empty if it can."""
        return "" if self.file.kept else self._why_elsewhere()

    def why_no_default(self) -> str:
        """Return why nothing can be reset here; empty if it can."""
        about = self._about
        if elsewhere := self._why_elsewhere():
            return elsewhere
        if isinstance(about, Mode):
            changed = bool(about.own) or not about.path
        else:
            changed = isinstance(about, Setting) and about.source != "default"
        return "" if changed else "That is the default already."

    def _assign(self, key: str, value: Value | None, project: str | None) -> None:
        data = self.services.data
        changed = setting.assign(data.root, data.journal(), key, value, project)
        where = f" for {project}" if project else ""
        shown = "the default" if value is None else config_text.written(value)
        words = f"{key} is {shown}{where}. {actions.takes_back()}" if changed else f"{key} was {shown}{where} already."
        self.services.say(words)
        self.services.read()

    async def edit(self) -> None:
        """Ask for another value of the setting or mode under the cursor. An edit of config.toml that was kept is opened
        instead."""
        about = self._about
        if self.file.kept:
            await self.file.edit()
        elif isinstance(about, Mode):
            await self._edit_mode(about)
        elif isinstance(about, Setting):
            await self._edit_setting(about)

    async def _edit_mode(self, about: Mode) -> None:
        options = [(mode, mode) for mode in config.MODES]
        if about.path:
            options.append(("", "as all projects"))
        current = "" if about.path and "mode" not in about.own else about.mode
        mode = await self.services.ask(Choice(f"Mode of {about.path or 'all projects'}", options, current))
        if mode is not None:
            self._assign("mode", mode or None, about.path or None)

    async def _edit_setting(self, about: Setting) -> None:
        if about.key in config.CHOICES or isinstance(about.default, bool):
            await self._choose_value(about)
            return
        question = Line(
            about.key,
            str(about.value),
            about=" ".join(filter(None, [about.meaning + ".", setting.explained(about.key)])),
            below=f"default {config_text.written(about.default)}",
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
        now = f"{HERE if about.source == 'project' else ALL} {setting.as_typed(about.value)}"
        known = setting.VALUES.get(about.key, {})
        answer = await self.services.ask(
            Choice(
                f"{about.key}: {about.meaning}",
                options,
                now,
                about=(lambda option: Text(known.get(option.partition(" ")[2], ""))) if known else None,
            )
        )
        if answer is not None:
            where, _, word = answer.partition(" ")
            project = self.services.data.project_root if where == HERE else None
            self._assign(about.key, setting.value_of(about.key, word), project)

    def default(self) -> None:
        """Take the setting or mode back to the default; one of a project, to what holds in every project."""
        about = self._about
        if isinstance(about, Setting):
            self._assign(about.key, None, self.services.data.project_root if about.source == "project" else None)
        elif isinstance(about, Mode):
            for key in about.own or ("mode",):
                self._assign(key, None, about.path or None)
