"""A person's editor on a draft. What was typed is never lost: a draft that could not be saved stays, and is named."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import Self

from memtui.cli.context import Context
from memtui.core.errors import MemtuiError, UsageError


class Draft:
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
        words = command(self.ctx.env)
        try:
            done = subprocess.run([*words, self.path], check=False, env=self.ctx.env)
        except OSError as error:
            raise MemtuiError(f"The editor {words[0]} can't be started: {error.strerror}.", "Set $EDITOR.") from error
        if done.returncode:
            raise MemtuiError(f"The editor ended with {done.returncode}: nothing was changed.")
        with open(self.path, "rb") as file:
            data = file.read()
        self.edited = data != self.before
        return data


def command(env: "dict[str, str]") -> "list[str]":
    """The editor's command line: $VISUAL, $EDITOR, else vi or nano where there is one. Raises UsageError."""
    for name in ("VISUAL", "EDITOR"):
        if env.get(name, "").strip():
            try:
                return shlex.split(env[name])
            except ValueError as error:
                raise UsageError(f"${name} can't be read: {error}.") from error
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("There is no terminal for an editor.", "Set $EDITOR to one that needs none, or use an option.")
    for name in ("vi", "nano"):
        if shutil.which(name, path=env.get("PATH")):
            return [name]
    raise UsageError("There is no editor: neither $VISUAL nor $EDITOR is set.", "Set one, or use --body.")
