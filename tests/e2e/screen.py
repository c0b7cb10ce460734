"""memtui as a person meets it: in a terminal, whose screen is kept cell by cell."""

import codecs
import contextlib
import os
import re
import select
import subprocess
import sys
import termios
import threading
import time
import unicodedata
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import pytest

from waiting import PATIENCE

from .client import SOURCES, World
from .worlds import DemoWorld

COLUMNS, LINES = 160, 40
KEPT = 4_000_000  # characters of what was painted
_PIECES = re.compile(
    r"\x1b\[(?P<given>[0-9;?<>=]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b[\]P][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|\x1b[^\[\]P()]"
    r"|(?P<plain>[ -~]+)|(?P<text>[^\x1b])",
    re.DOTALL,
)
# On before an application starts: the cursor shows, and lines wrap.
_USUAL = {"25", "7"}
# A terminal of its own, in control of the session, as a shell in a window has it.
# Tests that run in the background have ctrl+c ignored, and what they start had, too.
_START = (
    "import fcntl, os, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "signal.signal(signal.SIGINT, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])"
)
_PYTHON = (sys.executable, "-X", "faulthandler", "-c")
_MAIN = "\nimport sys; from memtui.cli.main import main; sys.exit(main())"


def without_escapes(text: str) -> str:
    """The letters of some output."""
    return _PIECES.sub(lambda piece: piece["plain"] or piece["text"] or "", text)


class Cells:
    """The screen that some output paints: enough of a terminal for an application that addresses every line."""

    def __init__(self, columns: int = COLUMNS, lines: int = LINES) -> None:
        self.modes: dict[str, bool] = {}  # the private modes that were set (True) or reset since the start
        self.keyboards = 0  # how many keyboard protocols were pushed and not popped
        self.resize(columns, lines)

    def resize(self, columns: int, lines: int) -> None:
        """Another size, and nothing on the screen: an application paints all of it anew."""
        self.columns, self.height = columns, lines
        self.y = self.x = 0
        self.clear()

    def clear(self) -> None:
        self.lines = [[" "] * self.columns for _ in range(self.height)]

    @property
    def text(self) -> str:
        return "\n".join("".join(line).rstrip() for line in self.lines)

    def feed(self, text: str) -> str:
        """Take output; returns what is left of it because an escape is not complete."""
        at = 0
        while at < len(text):
            piece = _PIECES.match(text, at)
            if piece is None:
                return text[at:]
            at = piece.end()
            if piece["plain"]:
                self._type(piece["plain"])
            elif piece["text"]:
                self._put(piece["text"])
            elif piece["final"]:
                self._control(piece["given"], piece["final"])
        return ""

    def _type(self, text: str) -> None:
        """Letters of one cell each."""
        shown = text[: max(self.columns - self.x, 0)]
        self.lines[self.y][self.x : self.x + len(shown)] = shown
        self.x += len(text)

    def _put(self, char: str) -> None:
        if char == "\n":
            self.y = min(self.y + 1, self.height - 1)
        elif char == "\r":
            self.x = 0
        elif char >= " " and not unicodedata.combining(char):
            width = 2 if unicodedata.east_asian_width(char) in "WF" else 1
            for offset in range(width):
                if self.x + offset < self.columns:
                    self.lines[self.y][self.x + offset] = "" if offset else char
            self.x += width

    def _control(self, given: str, final: str) -> None:
        if given.startswith("?") and final in "hl":
            for mode in given[1:].split(";"):
                self.modes[mode] = final == "h"
                if mode == "1049":
                    self.clear()
            return
        if final == "u" and given[:1] in {">", "<"}:
            self.keyboards += 1 if given[0] == ">" else -1
        numbers = [int(n) if n.isdigit() else 0 for n in given.split(";")]
        first = max(numbers[0], 1)
        if final == "H":
            column = numbers[1] if len(numbers) > 1 else 1
            self.y, self.x = min(first, self.height) - 1, min(max(column, 1), self.columns) - 1
        elif final in "AB":
            self.y = min(max(self.y + (first if final == "B" else -first), 0), self.height - 1)
        elif final in "CD":
            self.x = min(max(self.x + (first if final == "C" else -first), 0), self.columns - 1)
        elif final == "J":
            self.clear()
        elif final == "K":
            self.lines[self.y][self.x :] = [" "] * (self.columns - self.x)


class MemtuiTerminal:
    """`memtui …` in a pseudo-terminal, read all the time, as a terminal does. `size`: columns and lines; `before`: lines of
    Python that run in it first; `program`: another one than memtui."""

    def __init__(
        self,
        world: World | DemoWorld,
        *args: str,
        size: tuple[int, int] = (COLUMNS, LINES),
        before: str = "",
        program: Sequence[str] | None = None,
    ) -> None:
        self.painted = ""
        self.count = 0  # how often something was painted
        self.cells = Cells(*size)
        self._more = threading.Condition()
        self._master, self._slave = os.openpty()
        os.set_blocking(self._master, False)
        termios.tcsetwinsize(self._slave, size[::-1])
        self.settings_before = termios.tcgetattr(self._slave)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, *(program or (*_PYTHON, before + _MAIN)), *args],
            cwd=world.project,
            env=world.environment({"PYTHONPATH": str(SOURCES)}),
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            start_new_session=True,
        )
        self._closing = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if not self._closing or self._reader.is_alive():
            self._closing = True
            self._reader.join()
        for terminal in (self._master, self._slave):
            with contextlib.suppress(OSError):  # it was hung up
                os.close(terminal)

    @property
    def text(self) -> str:
        """What is on the screen now."""
        with self._more:
            return self.cells.text

    @property
    def running(self) -> bool:
        """Whether memtui has not ended."""
        return self.process.poll() is None

    @property
    def settings(self) -> list[Any]:
        """The terminal's own settings: echo, line by line, …"""
        return termios.tcgetattr(self._slave)

    @property
    def raw(self) -> bool:
        """Whether keys go to the program as they are, ctrl+c too."""
        return not self.settings[3] & termios.ISIG

    def see(self, *patterns: str, gone: str = "", seconds: float = PATIENCE) -> str:
        """Wait until the screen shows all of these at once, and `gone` no more; returns the screen. What `gone` is for:
        after escape, whose next key would count as alt and that key if it came before escape was taken."""
        deadline = time.monotonic() + seconds
        with self._more:
            while (missing := [p for p in patterns if not re.search(p, self.cells.text)]) or (
                gone and re.search(gone, self.cells.text)
            ):
                left = deadline - time.monotonic()
                if left <= 0 or self.process.poll() is not None:
                    wrong = f"never seen: {missing}" if missing else f"never gone: {gone!r}"
                    pytest.fail(f"{wrong}; exit code {self.process.returncode}; the screen:\n{self.cells.text}")
                self._more.wait(min(left, 0.5))
            return self.cells.text

    @property
    def left_on(self) -> list[str]:
        """What of the terminal is not as memtui found it: for after its end, and while it is stopped."""
        with self._more:
            modes = dict(self.cells.modes)
            found = [f"mode {mode} is on" for mode, on in modes.items() if on and mode not in _USUAL]
            found += ["the cursor is hidden"] if not modes.get("25", True) else []
            found += ["lines do not wrap"] if not modes.get("7", True) else []
            found += ["a keyboard protocol is on"] if self.cells.keyboards > 0 else []
        found += ["its settings (stty)"] if self.settings != self.settings_before else []
        return found

    @property
    def afterwards(self) -> str:
        """What was painted after memtui left the other screen, without escapes."""
        return _PIECES.sub(
            lambda piece: piece["plain"] or piece["text"] or "", self.painted.rpartition("\x1b[?1049l")[2]
        )

    def press(self, keys: str | bytes, seconds: float = PATIENCE) -> bool:
        """Type. False if memtui ends meanwhile, or takes nothing for so long."""
        rest = keys.encode() if isinstance(keys, str) else keys
        deadline = time.monotonic() + seconds
        while rest:
            if select.select([], [self._master], [], 0.2)[1]:
                rest = rest[os.write(self._master, rest[:1024]) :]
            elif self.process.poll() is not None or time.monotonic() > deadline:
                return False
        return True

    def resize(self, columns: int, lines: int) -> None:
        """Give the window another size, of which memtui is told."""
        with self._more:
            self.cells.resize(columns, lines)
        termios.tcsetwinsize(self._slave, (lines, columns))

    def wait_for_paint(self, after: int, seconds: float) -> bool:
        """Wait until something more is painted than at that `count`; False where nothing is."""
        with self._more:
            return self._more.wait_for(lambda: self.count > after or self.process.poll() is not None, seconds)

    def hang_up(self) -> None:
        """Close the terminal, as a window that is closed."""
        self._closing = True
        self._reader.join()
        os.close(self._slave)
        os.close(self._master)

    def end(self) -> int:
        """Wait until memtui has left; its exit code. What it painted last has been taken by then."""
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            pytest.fail(f"memtui did not end; the screen:\n{self.text}")
        self._closing = True
        self._reader.join()
        return code

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        rest = ""
        while True:
            closing = self._closing
            # On a busy machine the last words take a moment to come through.
            if not select.select([self._master], [], [], 1.0 if closing else 0.1)[0]:
                if closing:
                    return
                continue
            try:
                text = decoder.decode(os.read(self._master, 1 << 16))
            except BlockingIOError:
                continue
            with self._more:
                self.painted = (self.painted + text)[-KEPT:]
                self.count += 1
                rest = self.cells.feed(rest + text)
                self._more.notify_all()


class ShellTerminal(MemtuiTerminal):
    """A shell in a pseudo-terminal, for commands."""

    _ENDED = re.compile(r"<ended with (\d+)> $")

    def __init__(self, world: World | DemoWorld, *, size: tuple[int, int] = (COLUMNS, LINES)) -> None:
        super().__init__(world, size=size, program=("bash", "--norc", "--noprofile", "-i"))
        self.run("bind 'set enable-bracketed-paste off'; PS1='<ended with $?> '")

    def run(self, line: str, answers: Sequence[tuple[str, str]] = ()) -> tuple[int, str]:
        """Type a line, and each answer when what it is for was printed; the exit code, and all that was printed."""
        with self._more:
            self.painted = ""
        self.press(line + "\r")
        printed = ""
        for pattern, answer in answers:
            printed += self._until(re.compile(pattern), line)[0]
            with self._more:
                self.painted = ""
            self.press(answer)
        last, ended = self._until(self._ENDED, line)
        return int(ended[1]), printed + last

    def _until(self, pattern: "re.Pattern[str]", line: str) -> "tuple[str, re.Match[str]]":
        deadline = time.monotonic() + PATIENCE
        with self._more:
            while not (found := pattern.search(text := without_escapes(self.painted))):
                left = deadline - time.monotonic()
                if left <= 0 or self.process.poll() is not None:
                    pytest.fail(f"{line!r}: never printed: {pattern.pattern!r}; but:\n{text[-3000:]}")
                self._more.wait(min(left, 0.5))
        return text, found
