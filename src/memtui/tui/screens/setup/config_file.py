"""Editing config.toml in the person's editor. What can't be saved is kept, and opened again the next time."""

from memtui import actions
from memtui.core.base import fs, ids
from memtui.core.base.errors import MemtuiError
from memtui.core.settings import config, setting
from memtui.present import editor
from memtui.tui.dialogs.conflict import MINE, THEIRS, Conflict
from memtui.tui.model import autosave
from memtui.tui.services import Services

NAME = "config.toml"
KEPT = "What you typed is kept: {setup.edit} on this screen opens it again in your editor."


class ConfigFile:
    """The file config.toml, edited as a whole."""

    def __init__(self, services: Services) -> None:
        self.services = services

    @property
    def kept(self) -> bool:
        """Whether an edit could not be saved and is kept."""
        return bool(autosave.load(self.services.data.root, NAME).get("text"))

    async def edit(self) -> None:
        """Open the file, or the edit that was kept, in the editor; save what comes back."""
        data = self.services.data
        before = fs.read_or_empty(config.file_path(data.root))
        kept = autosave.load(data.root, NAME)
        given = str(kept["text"]).encode("utf-8", "surrogateescape") if kept.get("text") else before
        with self.services.suspend():
            after = editor.edited(data.env, NAME, given)
        if after == before:
            autosave.drop(data.root, NAME)
        else:
            await self._save(str(kept.get("base") or ids.digest(before)), after)

    async def _save(self, base: str, after: bytes) -> None:
        """Save an edit if the file still has the digest `base`; else show both and ask. It is kept until saved."""
        data = self.services.data
        autosave.save(data.root, NAME, {"text": after.decode("utf-8", "surrogateescape"), "base": base})
        current = fs.read_or_empty(config.file_path(data.root))
        unchanged = ids.digest(current) == base
        try:
            setting.readable(after)
            if unchanged:
                setting.save(data.root, data.journal(), current, after)
        except MemtuiError as error:
            raise MemtuiError(error.message, actions.keyed(KEPT)) from error
        if not unchanged:
            await self._ask(current, after)
            return
        autosave.drop(data.root, NAME)
        self.services.say(f"Saved {NAME}. {actions.takes_back()}")
        self.services.read()

    async def _ask(self, theirs: bytes, mine: bytes) -> None:
        answer = await self.services.ask(Conflict(NAME, theirs, mine))
        if answer == MINE:
            await self._save(ids.digest(theirs), mine)
        elif answer == THEIRS:
            autosave.drop(self.services.data.root, NAME)
        else:
            self.services.say(actions.keyed(KEPT))
