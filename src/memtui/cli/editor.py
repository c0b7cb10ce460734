"""A person's editor on a draft. What was typed is never lost: a draft that could not be saved stays, and is named."""

import os
import shutil
import tempfile
from typing import Self

from memtui.cli.context import Context
from memtui.present import editor


class EditedFile:
    """A file for the editor, gone afterwards unless `keep` is set or saving failed (an error left the `with` block)."""

    def __init__(self, ctx: Context, name: str, data: bytes) -> None:
        self.ctx = ctx
        self.before = data
        self.keep = False
        self.edited = False
        self.directory = tempfile.mkdtemp(prefix="memtui-")
        self.path = os.path.join(self.directory, name.replace("/", "-") + ("" if name.endswith(".toml") else ".md"))
        with open(self.path, "wb") as file:
            file.write(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: "BaseException | None", __: object) -> None:
        if error is not None and self.edited and not self.keep:
            self.keep = True
            self.ctx.out.say(f"Your text is kept in {self.path}")
        if not self.keep:
            shutil.rmtree(self.directory, ignore_errors=True)

    def edit(self) -> bytes:
        """Run the editor; what it saved. Raises MemtuiError if it ended with an error, which discards the edit."""
        data = editor.run(self.ctx.env, self.path)
        self.edited = data != self.before
        return data
