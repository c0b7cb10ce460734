"""Run the person's editor on a file. What was typed is never lost: a file that could not be saved is kept."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from memtui.base.errors import MemtuiError, UsageError


def command(env: "dict[str, str]") -> "list[str]":
    """Return the editor's command line: $VISUAL, $EDITOR, or vi or nano where installed. Raises UsageError."""
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
    raise UsageError("There is no editor: neither $VISUAL nor $EDITOR is set.", "Set one of them, or use --body.")


def run(env: "dict[str, str]", path: str) -> bytes:
    """Run the editor on a file and return what it saved. Raises MemtuiError if it ended with an error."""
    words = command(env)
    try:
        with interrupts_ignored():
            process = subprocess.run([*words, path], check=False, env=env)
    except OSError as error:
        raise MemtuiError(f"The editor {words[0]} can't be started: {error.strerror}.", "Set $EDITOR.") from error
    if process.returncode:
        raise MemtuiError(f"The editor ended with {process.returncode}: nothing was changed.")
    with open(path, "rb") as file:
        return file.read()


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ignore ctrl+c while another program has the terminal, by a handler, which that program does not inherit."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def write_temporary(directory: str, name: str, data: bytes) -> str:
    """Write content for the editor into a directory and return the path; its extension tells the editor the syntax."""
    path = os.path.join(directory, name.replace("/", "-") + ("" if name.endswith(".toml") else ".md"))
    with open(path, "wb") as file:
        file.write(data)
    return path


def edited(env: "dict[str, str]", name: str, data: bytes) -> bytes:
    """Run the editor on a temporary file with this content and return what it saved. Raises as `run`."""
    with tempfile.TemporaryDirectory(prefix="memtui-") as directory:
        return run(env, write_temporary(directory, name, data))


class EditedFile:
    """A temporary file for the editor; it stays if an edit could not be saved, or with `keep`. `say` gets its path."""

    def __init__(self, env: "dict[str, str]", name: str, data: bytes, say: Callable[[str], object]) -> None:
        self.env, self.before, self.say = env, data, say
        self.keep = self.edited = False
        self.directory = tempfile.mkdtemp(prefix="memtui-")
        self.path = write_temporary(self.directory, name, data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: "BaseException | None", __: object) -> None:
        if error is not None and self.edited and not self.keep:
            self.keep = True
            self.say(f"Your text is kept in {self.path}")
        if not self.keep:
            shutil.rmtree(self.directory, ignore_errors=True)

    def edit(self) -> bytes:
        """Run the editor and return what it saved. Raises MemtuiError if it failed: the edit is discarded."""
        data = run(self.env, self.path)
        self.edited = data != self.before
        return data
