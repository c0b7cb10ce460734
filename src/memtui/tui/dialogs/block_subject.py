"""A block of the model as a form edits it."""

from collections.abc import Sequence

from rich.text import Text

from memtui.core.base import ids
from memtui.core.base.errors import UsageError
from memtui.core.redaction import redact
from memtui.present import safe_text, secret
from memtui.subconscious import places
from memtui.subconscious.blocks import Blocks
from memtui.tui.dialogs.subject import NOTHING, TEXT, FormField, Saved, Shape, Subject, Typed
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.model.data import Data


class BlockSubject(Subject):
    """The subject of the form: the text of the block `name` of this project."""

    def __init__(self, data: Data, name: str) -> None:
        self.data, self.name = data, name
        self.blocks = Blocks(data.root, data.slug, data.now)
        self.text = self.blocks.editable(name)
        kept = f"block-{data.slug if places.BLOCKS[name][0] else ''}-{name}"
        self.autosave = autosave.kept(data.root, kept) or Autosave(kept, self._base())
        left = autosave.left("memories.edit")
        self.shape = Shape(f"The block {name}", "save", "this block", "", "entry", across=100, left=left, at_end=True)
        hint = places.BLOCKS[name][1]
        self.fields: Sequence[FormField] = (FormField("body", safe_text.clean(self.text), TEXT, placeholder=hint),)

    def _base(self) -> str:
        return ids.digest(self.text)

    def check(self, typed: Typed) -> Text:
        """Return how much room is left. Raises UsageError for a text that is too long."""
        size = len(typed.values["body"].strip())
        if size > places.MOST:
            raise UsageError(f"{size - places.MOST:,} characters too many: a block has at most {places.MOST:,}.")
        kinds = redact.kinds_in(typed.values["body"], self.text)
        warned = f" {secret.suspicion(kinds, 'It')}. ^s asks before it is kept." if kinds else ""
        return Text(f"{size:,} of {places.MOST:,} characters.{warned}", style="yellow" if kinds else "dim")

    def there(self) -> str | None:
        """Read the block as it is now, and return its digest."""
        self.text = self.blocks.editable(self.name)
        return self._base()

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        """Return the block as it is, and as it would be."""
        return self.text.encode(), typed.values["body"].strip().encode()

    def save(self, typed: Typed) -> Saved:
        """Write what was typed over the block as it was read last."""
        changed = self.blocks.replace(self.name, typed.values["body"], self.data.journal(), self.text)
        return Saved(self.name, f"Changed {self.name}." if changed else NOTHING)
