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
from typing import TYPE_CHECKING, Self

from memtui.base.errors import MemtuiError, UsageError

if TYPE_CHECKING:
    from memtui.store.memory import Memory

# What a person can do about a file whose head is broken.
AGAIN, KEEP, BACK = ("again", "edit it again"), ("keep", "keep it as it is"), ("back", "take the edit back")


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


def problem(before: "Memory", data: bytes) -> str:
    """Say in a sentence what is wrong with the file of a memory as it was typed; empty if nothing new is."""
    from memtui.rules.problems import problems_of
    from memtui.store import memory

    after = memory.from_bytes(before.path, before.scope_label, data)
    if data == before.raw:
        return ""
    if not data.strip():
        return "The file is empty."
    if before.fields and not after.fields:
        return "Its frontmatter is gone, or has no field."
    if after.broken and after.broken != before.broken:
        return f"Its frontmatter can't be read: {after.broken}."
    if after.name != before.name and not any(map(str.isalnum, after.name)):
        return f"Its name is “{after.name}”, without a letter."
    earlier = {words for _, words in problems_of(before)}
    return next((f"Line {line}: {words}." for line, words in problems_of(after) if words not in earlier), "")


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
