"""Run the person's editor on a file."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

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


def edited(env: "dict[str, str]", name: str, data: bytes) -> bytes:
    """Run the editor on a temporary file, whose extension tells the syntax; return what it saved. Raises as `run`."""
    with tempfile.TemporaryDirectory(prefix="memtui-") as directory:
        path = os.path.join(directory, name.replace("/", "-") + ("" if name.endswith(".toml") else ".md"))
        with open(path, "wb") as file:
            file.write(data)
        return run(env, path)
