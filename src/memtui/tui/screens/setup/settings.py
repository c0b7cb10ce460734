"""The commands of Setup on settings: set another value, reset to the default, edit config.toml as a whole."""

from collections.abc import Callable
from functools import partial

from rich.text import Text

from memtui import actions
from memtui.core.base import fs, ids
from memtui.core.base.errors import MemtuiError
from memtui.core.settings import config, config_text, setting
from memtui.core.settings.setting import Setting, Value
from memtui.present import editor
from memtui.tui.dialogs.ask import MINE, THEIRS, Choice, Line, conflict
from memtui.tui.model import autosave
from memtui.tui.services import Services

HERE, ALL = "here", "all"
FILE = "config.toml"
KEPT = "What you typed is kept: {setup.edit} on this screen opens it again in your editor."


class SettingCommands:
    """The commands on a setting. `chosen` returns the one that the row under the cursor is about."""

    def __init__(self, services: Services, chosen: Callable[[], Setting | None]) -> None:
        self.services, self.chosen = services, chosen

    def why_no_edit(self) -> str:
        """Return why nothing can be edited here; empty if it can."""
        return "" if self.chosen() or self._unsaved else "Move the cursor to a setting first."

    def why_no_default(self) -> str:
        """Return why nothing can be reset here; empty if it can."""
        about = self.chosen()
        if about is None:
            return self.why_no_edit()
        return "That is the default already." if about.source == "default" else ""

    async def edit(self) -> None:
        """Ask for another value. An edit of config.toml that could not be saved is opened instead."""
        about = self.chosen()
        if self._unsaved:
            await self.edit_file()
        elif about is not None and (about.key in config.CHOICES or isinstance(about.default, bool)):
            await self._choose_value(about)
        elif about is not None:
            await self._type_value(about)

    async def _type_value(self, about: Setting) -> None:
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
        current = f"{HERE if about.source == 'project' else ALL} {setting.as_typed(about.value)}"
        meanings = setting.VALUES.get(about.key, {})
        question = Choice(
            f"{about.key}: {about.meaning}",
            options,
            current,
            about=(lambda option: Text(meanings.get(option.partition(" ")[2], ""))) if meanings else None,
        )
        answer = await self.services.ask(question)
        if answer is not None:
            where, _, word = answer.partition(" ")
            project = self.services.data.project_root if where == HERE else None
            self._assign(about.key, setting.value_of(about.key, word), project)

    def default(self) -> None:
        """Take the setting back to the default; one of this project to what holds in every project."""
        if (about := self.chosen()) is not None:
            self._assign(about.key, None, self.services.data.project_root if about.source == "project" else None)

    def _assign(self, key: str, value: Value | None, project: str | None) -> None:
        data = self.services.data
        changed = setting.assign(data.root, data.journal(), key, value, project)
        words = f"{key} is {'the default' if value is None else config_text.written(value)}"
        words += " in this project" if project else ""
        self.services.say(f"{words}. {actions.takes_back()}" if changed else f"{words} already.")
        self.services.read()

    # config.toml as a whole

    @property
    def _unsaved(self) -> bool:
        """Whether an edit could not be saved and is kept."""
        return bool(autosave.load(self.services.data.root, FILE).get("text"))

    async def edit_file(self) -> None:
        """Open config.toml, or the edit of it that was kept, in the person's editor; save what comes back."""
        data = self.services.data
        before = fs.read_or_empty(config.file_path(data.root))
        unsaved = autosave.load(data.root, FILE)
        text = str(unsaved["text"]).encode("utf-8", "surrogateescape") if unsaved.get("text") else before
        with self.services.suspend():
            after = editor.edited(data.env, FILE, text)
        if after == before:
            autosave.drop(data.root, FILE)
        else:
            await self._save(str(unsaved.get("base") or ids.digest(before)), after)

    async def _save(self, base: str, after: bytes) -> None:
        """Save an edit if the file still has the digest `base`; else show both and ask. It is kept until saved."""
        data = self.services.data
        autosave.save(data.root, FILE, {"text": after.decode("utf-8", "surrogateescape"), "base": base})
        current = fs.read_or_empty(config.file_path(data.root))
        unchanged = ids.digest(current) == base
        try:
            setting.readable(after)
            if unchanged:
                setting.save(data.root, data.journal(), current, after)
        except MemtuiError as error:
            raise MemtuiError(error.message, actions.keyed(KEPT)) from error
        if unchanged:
            autosave.drop(data.root, FILE)
            self.services.say(f"Saved {FILE}. {actions.takes_back()}")
            self.services.read()
            return
        answer = await self.services.ask(conflict(FILE, current, after))
        if answer == MINE:
            await self._save(ids.digest(current), after)
        elif answer == THEIRS:
            autosave.drop(data.root, FILE)
        else:
            self.services.say(actions.keyed(KEPT))
