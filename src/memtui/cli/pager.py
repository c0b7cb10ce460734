"""Show an answer that is longer than the terminal in the person's pager."""

import io
import os
import shlex
import subprocess
import sys

from memtui.cli.output import Output
from memtui.present import glyphs

DEFAULT = "less"
# As git sets it: ends at once if all fits on the screen, passes colours through, and leaves the text on the screen.
LESS = "FRX"
NONE = ("", "cat")  # values of $PAGER that mean none

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def show(out: Output, answer: "Callable[[Output], None]", env: "Mapping[str, str]") -> None:
    """Print an answer: through the pager if it has more lines than the terminal, else as it is.

    Leaving the pager before the end is no error. Where it can't be started, the answer is printed. Raises as
    `Output.print` does.
    """
    stdout, stderr = out.stdout, out.stderr
    out.stdout, out.stderr = io.StringIO(), io.StringIO()
    try:
        answer(out)
    finally:
        text, said = out.stdout.getvalue(), out.stderr.getvalue()
        out.stdout, out.stderr = stdout, stderr
        if text.count("\n") < _rows() or not _page(text, env):
            out.write(text)
        if said:
            out.flush()
            out.stderr.write(said)


def _rows() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).lines or 24
    except OSError:
        return 24


def _page(text: str, env: "Mapping[str, str]") -> bool:
    """Run the pager on a text; return False if there is none."""
    try:
        words = shlex.split(env.get("PAGER", DEFAULT))
    except ValueError:
        return False
    if " ".join(words) in NONE:
        return False
    from memtui.present.editor import interrupts_ignored

    data = text.encode(sys.stdout.encoding or "utf-8", glyphs.ERRORS)
    try:
        with interrupts_ignored():
            done = subprocess.run(words, input=data, env={"LESS": LESS, **env}, check=False)
    except OSError:
        return False
    return done.returncode != 127
