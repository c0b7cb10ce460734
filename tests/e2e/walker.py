"""A random walk through memtui in a real pseudo-terminal, while hooks write and files change beneath it.

    python tests/e2e/walker.py [--seed N] [--keys 20000]

Keys, pastes, clicks and sizes are drawn from the seed and from nothing that is on the screen: the same seed gives the same
walk. Only where a form is open at a look, a word is typed and escape pressed, and the word must be on the disk. A walk fails
where that is lost, where memtui ends unasked, leaves the terminal otherwise than it found it, logs an error of its own, does
not paint in time, or takes more and more memory. What a walk failed with names the seed, the last events and the screen.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.keys import _character_to_key

if __name__ == "__main__":  # as a program; as a module of the tests it is in the package `e2e`
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from e2e.meddling import ACTS, HOOKS, Meddler
from e2e.screen import MemtuiTerminal
from e2e.worlds import DemoWorld
from memtui import keymap
from tables import rows

PATIENCE = 300.0  # seconds in which memtui must have painted something, on a busy machine
ANSWER = 2.0  # seconds of work in which it answers
LEAVING = 3000  # looks, 10 ms apart, until a stopped memtui has given the terminal back
LOOK_EVERY, PROBE_EVERY = 20, 150  # events
SHOWN = 40  # events, where a walk failed
MEMORY = 300  # megabytes
SIZES = ((20, 5), (40, 12), (60, 20), (80, 24), (100, 30), (160, 48), (220, 60))
CHARACTERS = {_character_to_key(char): char for char in string.printable}
MOVES = (
    "escape enter tab shift+tab backspace delete up down right left home end pageup pagedown shift+up shift+down"
    " shift+left shift+right ctrl+left ctrl+right ctrl+home f1 f5 space"
).split()
SEQUENCES = {
    keys[0].value: text
    for text, keys in ANSI_SEQUENCES_KEYS.items()
    if isinstance(keys, tuple) and len(keys) == 1 and keys[0].value in MOVES
}
# The terminal's own: while an editor runs it stops that and memtui, as it is meant to. ctrl+z is pressed, and memtui goes on.
NOT_PRESSED = {"\x1c"}
QUIT = {"q", "\x11"}
PASTES = (*rows(__file__, "PASTES"), "a" * 20_000, "words and words " * 4_000, "a line\n" * 3_000, "漢" * 20_000)
# What no terminal sends by itself: letters that are not UTF-8, sequences that nobody knows, or that never end.
ODD = [text.encode("latin-1") for text in rows(__file__, "ODD")]
DISCARD = "^g discard"  # in the last line of a form, and nowhere else
FORESEEN = {"FileNotFoundError", "IsADirectoryError", "NotADirectoryError", "OSError", "LateError"}  # late: it is busy
WORDS_OF_A_FAILURE = re.compile(r"Traceback|[A-Z]\w+(?:Error|Exception|Matches)\b|unexpected")
LETTERS = string.ascii_letters + string.digits + string.punctuation + "  äßéж日本語🙂"


@dataclass(frozen=True)
class Event:
    """One step: `kind` is keys, mouse, paste, resize, act, hook or pause; `told` names it in a report."""

    kind: str
    told: str
    data: bytes = b""
    size: tuple[int, int] = (0, 0)
    seed: int = 0
    seconds: float = 0.0

    @property
    def counts(self) -> bool:
        """Whether a person does it."""
        return self.kind in {"keys", "mouse", "paste", "resize"}


class WalkFailed(Exception):
    """What went wrong on a walk, with the seed and the last events."""


def sequence(key: str) -> str:
    """What a terminal sends for a key as textual names it."""
    if key.startswith("ctrl+") and len(key) == 6:
        return chr(ord(key[5]) & 31)
    return SEQUENCES.get(key) or CHARACTERS.get(key) or key


def keys_of_memtui() -> list[str]:
    """Every key that does something somewhere in memtui, but for those that end it."""
    keys = {key for action in keymap.ACTIONS for key in action.keys.split(",") if key} | {"ctrl+s", "ctrl+z"}
    return [sequence(key) for key in sorted(keys) if sequence(key) not in QUIT]


def walk(seed: int) -> Iterator[Event]:
    """The events of a seed, without end."""
    rng = Random(seed)
    known, moves = keys_of_memtui(), sorted(SEQUENCES.values())
    columns, lines = 80, 24

    def typed(text: str) -> Event:
        return Event("keys", repr(text), text.encode())

    def one() -> Iterator[Event]:
        nonlocal columns, lines
        drawn = rng.random()
        if drawn < 0.34:
            yield typed(rng.choice(known))
        elif drawn < 0.42:
            yield typed(rng.choice("1234567,"))
        elif drawn < 0.58:
            yield from [typed(rng.choice(moves))] * rng.choice((1, 1, 1, 3, 8))
        elif drawn < 0.71:  # out of what is open, where most keys mean something
            for _ in range(rng.choice((1, 2, 3))):
                yield from (typed("\x1b"), Event("pause", "a pause", seconds=0.05))
        elif drawn < 0.77:
            yield from (typed(letter) for letter in rng.choices(LETTERS, k=rng.choice((1, 3, 8))))
        elif drawn < 0.80:  # an action by its name
            word = rng.choice([a.name for a in keymap.ACTIONS if a.id != "app.quit"])
            yield from (typed("\x10"), Event("pause", "a pause", seconds=0.1), *map(typed, word[-6:]), typed("\r"))
        elif drawn < 0.83:
            yield from (typed(rng.choice(known)), typed("\r"), typed("\r"))
        elif drawn < 0.85:
            letter = rng.choice(string.ascii_lowercase)
            text = rng.choice((chr(ord(letter) & 31), "\x1b" + letter))
            if text not in NOT_PRESSED | QUIT:
                yield typed(text)
        elif drawn < 0.86:
            yield typed(rng.choice(sorted(QUIT)) if rng.random() < 0.3 else "\x03")
        elif drawn < 0.92:
            x, y = rng.randint(1, columns), rng.choice((1, 2, lines, rng.randint(1, lines)))
            button = rng.choice((0, 0, 0, 0, 2, 64, 65, 65, 35))
            yield Event("mouse", f"button {button} at {x},{y}", f"\x1b[<{button};{x};{y}M".encode())
            if button < 3:
                x, y = (x, y) if rng.random() < 0.8 else (rng.randint(1, columns), rng.randint(1, lines))
                yield Event("mouse", f"button {button} let go at {x},{y}", f"\x1b[<{button};{x};{y}m".encode())
        elif drawn < 0.94:
            text = rng.choice(PASTES)
            yield Event("paste", f"{len(text)} letters {text[:30]!r}", f"\x1b[200~{text}\x1b[201~".encode())
        elif drawn < 0.95:
            odd = rng.choice(ODD)
            yield Event("keys", repr(odd), odd)
        elif drawn < 0.97:
            columns, lines = rng.choice((*SIZES, (rng.randint(20, 220), rng.randint(5, 60))))
            yield Event("resize", f"to {columns}x{lines}", size=(columns, lines))
        elif drawn < 0.985:
            name = rng.choice((*ACTS, "return"))  # what broke is whole again now and then
            yield Event("act", f"beneath: {name}", seed=rng.randrange(1 << 32), data=name.encode())
        else:
            name = rng.choice((*HOOKS, "UserPromptSubmit", "UserPromptSubmit"))
            yield Event("hook", f"hook {name}", seed=rng.randrange(1 << 32), data=name.encode())
        if rng.random() < 0.3:
            yield Event("pause", "a pause", seconds=rng.choice((0.01, 0.05, 0.3)))

    while True:
        yield from one()


class Walker:
    """One walk. `count` is of what a person does, `peak` the most memory of a memtui in megabytes, `starts` how often
    memtui was started, since some keys end it, `typed` how many forms were left with a word in them."""

    def __init__(self, world: DemoWorld, seed: int) -> None:
        self.world, self.seed = world, seed
        self.count = self.peak = self.starts = self.typed = 0
        self.size = (80, 24)
        self._rng = Random(seed)
        self._last: deque[Event] = deque(maxlen=400)
        self._meddler = Meddler(world)
        self._seen = {str(error) for error in world.errors()}
        self._terminal = self._start()

    def run(self, keys: int) -> None:
        """Walk so many keys, then leave. Raises WalkFailed."""
        try:
            for event in walk(self.seed):
                if self.count >= keys:
                    break
                self.count += event.counts
                self._last.append(event)
                self._do(event)
                if event.counts and self.count % LOOK_EVERY == 0:
                    self._look()
                    self._leave_form()
                if event.counts and self.count % PROBE_EVERY == 0:
                    self._probe()
            self._leave()
        finally:
            self._terminal.__exit__(None, None, None)
            self._meddler.end()

    def _start(self) -> MemtuiTerminal:
        self.starts += 1
        options = self._rng.choice(((), (), (), ("--read-only",), ("--screen", "inbox"), ("--screen", "activity")))
        self.world.project.mkdir(parents=True, exist_ok=True)
        terminal = MemtuiTerminal(self.world, *options, size=self.size)
        if not terminal.wait_for_paint(0, PATIENCE):
            raise self._failure("memtui painted nothing at its start", terminal)
        return terminal

    def _do(self, event: Event) -> None:
        self._wait_for_the_screen()
        if event.kind == "pause":
            time.sleep(event.seconds)
        elif event.kind == "act":
            self._meddler.act(event.data.decode(), event.seed)
        elif event.kind == "hook":
            self._meddler.hook(event.data.decode(), event.seed)
        elif event.kind == "resize":
            self.size = event.size
            self._terminal.resize(*event.size)
        elif not self._terminal.press(event.data, PATIENCE) and self._terminal.running:
            raise self._hang("no key was taken")
        if event.data == b"\x1a":
            time.sleep(0.2)

    def _wait_for_the_screen(self) -> None:
        """While memtui has given the terminal back nobody types: an editor runs, ctrl+z stopped it, or it ends."""
        deadline = time.monotonic() + PATIENCE
        while (
            (state := self._state()) in {"T", "Z", ""}
            or not self._terminal.cells.modes.get("1049")
            or not self._terminal.raw
        ):
            if not self._terminal.running:
                self._ended()
            elif state == "T":
                self._go_on()
            elif time.monotonic() > deadline:
                raise self._hang("memtui gave the terminal back and did not end")
            time.sleep(0.01)

    def _go_on(self) -> None:
        """After ctrl+z: as a shell's `fg`."""
        for _ in range(LEAVING):  # until all is read that it wrote before
            if not self._terminal.left_on:
                break
            time.sleep(0.01)
        if left := self._terminal.left_on:
            raise self._failure(f"stopped by ctrl+z, but {', '.join(left)}")
        self._terminal.process.send_signal(signal.SIGCONT)
        time.sleep(0.1)

    def _state(self) -> str:
        """R, S, T, … of the process; empty for none."""
        return self._status()[0]

    def _status(self) -> list[str]:
        try:
            return Path(f"/proc/{self._terminal.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return [""] * 14

    def _worked(self) -> float:
        """Seconds that memtui worked; once it has come to rest, so that what it does next is for the next key."""
        deadline, before = time.monotonic() + PATIENCE, [""]
        while self._terminal.running and before != (ticks := self._status()[11:13]):
            if time.monotonic() > deadline:
                raise self._hang("memtui does not come to rest")
            before = ticks
            time.sleep(0.3)
        return sum(map(int, filter(None, before))) / os.sysconf("SC_CLK_TCK")

    def _ended(self) -> None:
        """memtui has ended: fine if it was asked to, and left all as it was; then it starts again."""
        code = self._terminal.end()
        # An escape that is still looked at takes the one of the next key with it.
        keys = {event.data.decode(errors="replace").lstrip("\x1b") for event in self._last}
        asked = keys & {*QUIT, "\r"} or any(event.kind == "mouse" for event in self._last)
        if code or not asked:
            raise self._failure(f"memtui ended with {code}")
        self._must_be_restored()
        self._terminal.__exit__(None, None, None)
        self._last.clear()
        self._terminal = self._start()

    def _must_be_restored(self) -> None:
        if left := self._terminal.left_on:
            raise self._failure(f"memtui has ended, but {', '.join(left)}")
        # What was typed while memtui left is echoed there.
        if WORDS_OF_A_FAILURE.search(self._terminal.afterwards):
            raise self._failure("memtui left words behind")

    def _look(self) -> None:
        """What may have gone wrong without being seen."""
        self._meddler.look()
        if self._meddler.complaints:
            raise self._failure("; ".join(self._meddler.complaints))
        for error in self.world.errors():
            if str(error) not in self._seen:
                self._seen.add(str(error))
                if not is_foreseen(error):
                    raise self._failure(f"logged: {error}")
        used = self._used()
        self.peak = max(self.peak, used)
        if used > MEMORY:
            raise self._failure(f"memtui takes {used} MB")

    def _leave_form(self) -> None:
        """Type a word into the form that is open, if one is, and escape: the word is kept, or the form asks or says why."""
        word = f"typed{self.count}"
        if DISCARD not in self._terminal.text or not self._worked():
            return
        # At rest, since what was pressed before may just leave it; its cursor may be in no text.
        if DISCARD not in self._terminal.text or not self._sees(word, word) or DISCARD not in self._terminal.text:
            return
        self._sees("\x1b", DISCARD, gone=True)
        screen = self._terminal.text
        if DISCARD in screen or "can't be" in screen or not self._terminal.running:
            return
        self.typed += 1
        texts = b""
        for path in (path for path in self.world.base.rglob("*") if path.is_file()):
            with contextlib.suppress(OSError):  # hooks write meanwhile
                texts += path.read_bytes() if path.suffix in {".md", ".json"} else b""
        if word.encode() not in texts:
            raise self._failure(f"{word} was typed into a form, which was left, and is lost")

    def _sees(self, keys: str, words: str, *, gone: bool = False) -> bool:
        """Press keys; whether the screen then has some words, or has them no more, within a moment."""
        self._terminal.press(keys, PATIENCE)
        for _ in range(300):
            if (words in self._terminal.text) != gone or not self._terminal.running:
                return True
            time.sleep(0.01)
        return False

    def _used(self) -> int:
        try:
            pages = Path(f"/proc/{self._terminal.process.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE") >> 20

    def _probe(self) -> None:
        """Another size must be painted soon, whatever is on the screen."""
        worked, _, before = self._worked(), self._wait_for_the_screen(), self._terminal.count
        columns, lines = self.size
        self.size = (columns - 1 if columns > 20 else columns + 1, lines)
        self._terminal.resize(*self.size)
        if not self._terminal.wait_for_paint(before, PATIENCE):
            raise self._hang("nothing was painted")
        if (took := self._worked() - worked) > ANSWER and self._terminal.running:
            raise self._failure(f"another size took {took} seconds of work")
        if not self._terminal.running:
            self._ended()

    def _leave(self) -> None:
        """Out of whatever is open, and out of memtui."""
        self._probe()
        self._look()
        deadline = time.monotonic() + PATIENCE
        while self._terminal.running:
            if time.monotonic() > deadline:
                raise self._hang("memtui did not end")
            if self._state() == "T":
                self._go_on()
            self._terminal.press("\x1b", 1.0)
            time.sleep(0.3)
            self._terminal.press("\x11", 1.0)
            time.sleep(0.7)
        if code := self._terminal.end():
            raise self._failure(f"memtui ended with {code}")
        self._must_be_restored()
        self._meddler.end()
        self._look()
        words = [sys.executable, "-m", "memtui", "doctor", "--json"]
        done = subprocess.run(words, cwd="/", env=self.world.environment(), capture_output=True, check=False)
        if done.returncode not in {0, 5} or done.stderr or not json.loads(done.stdout)["ok"]:
            raise self._failure(f"memtui doctor ended with {done.returncode}: {done.stderr!r}")

    def _hang(self, what: str) -> WalkFailed:
        """With what each thread was doing."""
        failure = self._failure(f"{what}; state {self._state()}")
        self._terminal.painted = ""
        self._terminal.process.send_signal(signal.SIGABRT)
        self._terminal.process.send_signal(signal.SIGCONT)
        self._terminal.end()
        return WalkFailed(f"{failure}\nthe threads:\n{self._terminal.painted}")

    def _failure(self, what: str, terminal: MemtuiTerminal | None = None) -> WalkFailed:
        terminal = terminal or self._terminal
        if not terminal.running:
            terminal.end()  # takes what it painted last
        last = "\n".join(f"  {event.kind:7}{event.told}" for event in list(self._last)[-SHOWN:])
        return WalkFailed(
            f"{what}\nseed {self.seed}, after {self.count} events; the last of them:\n{last}\n"
            f"the screen, {self.size[0]}x{self.size[1]}:\n"
            + (terminal.text if terminal.running else terminal.afterwards)
        )


def is_foreseen(error: dict[str, object]) -> bool:
    """Whether a hook or a worker may log that in a world where files vanish and break. Nothing of the TUI may."""
    return not str(error.get("where", "")).startswith("tui") and str(error.get("error")) in FORESEEN


def run(seed: int, keys: int) -> Walker:
    """One walk in a new world; what was walked. Raises WalkFailed."""
    base = Path(tempfile.mkdtemp(prefix="memtui-walk-"))
    try:
        walker = Walker(DemoWorld(base), seed)
        walker.run(keys)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    return walker


def main() -> int:
    """Walk once; 1 where the walk failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=Random().randrange(1 << 32))
    parser.add_argument("--keys", type=int, default=20_000)
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.keys} events", flush=True)
    began = time.monotonic()
    try:
        walker = run(options.seed, options.keys)
    except WalkFailed as failure:
        print(failure)
        return 1
    took = time.monotonic() - began
    print(
        f"clean: {walker.count} events, {walker.starts} starts, {walker.typed} forms, peak {walker.peak} MB, {took:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
