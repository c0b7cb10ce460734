"""A temporary file for the person's editor. What was typed is never lost: a file that could not be saved is kept."""

import shutil
import tempfile
from typing import Self

from memtui.cli.context import Context
from memtui.views import editor


class EditedFile:
    """A temporary file for the editor, which goes with the block unless `keep` is set or an edit was not saved."""

    def __init__(self, ctx: Context, name: str, data: bytes) -> None:
        self.ctx = ctx
        self.before = data
        self.keep = False
        self.edited = False
        self.directory = tempfile.mkdtemp(prefix="memtui-")
        self.path = editor.write_temporary(self.directory, name, data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: "BaseException | None", __: object) -> None:
        if error is not None and self.edited and not self.keep:
            self.keep = True
            self.ctx.out.say(f"Your text is kept in {self.path}")
        if not self.keep:
            shutil.rmtree(self.directory, ignore_errors=True)

    def edit(self) -> bytes:
        """Run the editor and return what it saved. Raises MemtuiError if it failed: the edit is discarded."""
        data = editor.run(self.ctx.env, self.path)
        self.edited = data != self.before
        return data
