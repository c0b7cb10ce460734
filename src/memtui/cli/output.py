"""The output of commands: data on stdout, narration on stderr; text of others is escaped, but exact in JSON."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from memtui.base import fastjson_hot
from memtui.base.phrasing_hot import gap
from memtui.views import glyphs

VERSION = 1  # of the JSON envelope
STYLES = {
    "bold": "1",
    "dim": "2",
    "dim underline": "2;4",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
# Marks where a style begins or ends until the line is written, so that an escape in the text itself is not taken for
# one of ours. The character is a noncharacter of Unicode.
STYLE_MARK = "\ufdd0"
SIGNS = {"+": "green", "-": "red", "@": "dim"}  # of lines of a diff
MIN_FLEX = 12  # columns that a shortened cell keeps
MIN_LAST = 30  # columns below which a last column goes below its row
GAP = "  "
BELOW = " · "  # between what is printed below a row
Cell = Sequence[str]  # text, or text and style
Printer = Callable[["Output"], None]
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from memtui.views.parts import Part


class UnwritableError(Exception):
    """The answer of a command can't be written, for example because the disk is full."""


class Result:
    """What a command answers: data, or what makes it, for --json; lines and printers for a person; the exit code."""

    __slots__ = ("code", "data", "text")

    def __init__(self, data: "object", *text: "str | Printer", code: int = 0) -> None:
        self.data, self.text, self.code = data, text, code


def narrate(text: str, *, exact: bool = False) -> "Printer":
    """Return what prints a line of narration; nothing for an empty one."""
    return lambda out: out.say(text, exact=exact) if text else None


def styled(text: str, name: str) -> str:
    """Mark text as styled, for a terminal that has styles."""
    return f"{STYLE_MARK}{STYLES[name]}m{text}{STYLE_MARK}0m" if name and text else text


def plain(value: "object") -> "object":
    """Return what JSON can hold of a value: a named tuple or a dataclass by its fields, a set or a tuple as a list."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif names := getattr(value, "__dataclass_fields__", None):
        value = {name: getattr(value, name) for name in names}
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, (list, tuple, set, frozenset)) else value


def picked(thing: "object", names: str) -> "dict[str, object]":
    """Return for --json the attributes of a thing that have these names."""
    return {name: getattr(thing, name) for name in names.split()}


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def safe(text: str) -> str:
    """Escape terminal escapes and hidden characters in text of several lines."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    from memtui.base import visible_hot

    return visible_hot.revealed(text.replace("\r\n", "\n").replace("\t", "    "), _escaped)


def line(text: str) -> str:
    """Escape text as `safe` does, and write it on one line."""
    return safe(" ".join(text.split()))


def width(text: str) -> int:
    """Return the number of columns that text takes in a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    columns = 0
    for char in text:
        if char not in "\u200d\ufe0f" and not combining(char):
            columns += 2 if east_asian_width(char) in "WF" else 1
    return columns


def cut(text: str, columns: int) -> str:
    """Cut text to `columns` columns at most, with `…` where it is cut: between words, or within a long name."""
    if width(text) <= columns:
        return text
    end, columns_used = 0, 0
    while columns_used + width(text[end]) < columns:
        columns_used += width(text[end])
        end += 1
    return text[: gap(text, end)].rstrip() + "…"


def plain_width(text: str) -> int:
    """Return the number of columns of text with marks of styles in it."""
    first, *others = text.split(STYLE_MARK)
    return width(first) + sum(width(other.partition("m")[2]) for other in others)


def slices(text: str, columns: int, hang: int) -> "list[tuple[int, int]]":
    """Return where the pieces of a line begin and end, wrapped between words; all but the first have a `hang`."""
    if plain_width(text) <= columns:
        return [(0, len(text))]
    import re

    pieces: list[tuple[int, int]] = []
    start, used = 0, len(text) - len(text.lstrip(" "))
    for word in re.finditer("[^ ]+ *", text):
        wide, room = plain_width(word[0].rstrip(" ")), columns - used
        if text[start : word.start()].strip(" ") and wide > room and (wide <= columns - hang or room < columns // 2):
            pieces.append((start, word.start()))
            start, used = word.start(), hang
        used += plain_width(word[0])
    return [*pieces, (start, len(text))]


def folded(text: str, columns: int, hang: "int | None" = None) -> "list[str]":
    """Wrap a line as `slices` does; what follows is indented by `hang`, or by two more than the line."""
    if hang is None:
        hang = min(len(text) - len(text.lstrip(" ")) + 2, columns // 3)
    pieces = slices(text, columns, hang)
    if len(pieces) == 1:
        return [text]
    return [(" " * hang if start else "") + text[start:end].rstrip(" ") for start, end in pieces]


def terminal_columns(env: "Mapping[str, str]") -> "int | None":
    """Return the width of lines: $COLUMNS or that of the terminal, at least 40; None where nothing limits it."""
    value = env.get("COLUMNS", "")
    if value.isdigit() and int(value) > 0:
        return max(40, int(value))
    if not sys.stdout.isatty():
        return None
    try:
        # A terminal without a size reports 0.
        return max(40, os.get_terminal_size(sys.stdout.fileno()).columns or 80)
    except OSError:
        return 80


PROGRESS_AFTER, PROGRESS_SECONDS = 0.5, 0.2  # before the first line of progress, and between two


class Output:
    """The output of a command. `columns` is the width of lines, None where nothing limits it (a file, a pipe)."""

    def __init__(self, env: "Mapping[str, str]", as_json: bool = False) -> None:
        self.json = as_json
        self.stdout: TextIO = sys.stdout
        self.stderr: TextIO = sys.stderr
        self.tty, self.stderr_tty = self.stdout.isatty(), self.stderr.isatty()
        able = self.tty and env.get("TERM") != "dumb"
        self.colour = (able or bool(env.get("FORCE_COLOR"))) and not env.get("NO_COLOR")
        self.ascii, self.columns = self.tty and glyphs.only_ascii(env), terminal_columns(env)
        self._begun = False
        self._progress_due, self._has_progress = 0.0, False

    def print(self, text: str = "") -> None:
        """Write a line of data, wrapped where it is too wide. Raises BrokenPipeError, else UnwritableError."""
        self.exact(self._folded(text))

    def exact(self, text: str) -> None:
        """Write text that is never wrapped: the bytes of a memory, a path, a script. Raises as `print` does."""
        self._begun = True
        _guard(self.stdout.write, self._for_terminal(text) + "\n")

    def raw(self, text: str) -> None:
        """Write text that is not escaped: another command's line may hold colours. Raises as `print` does."""
        _guard(self.stdout.write, text)

    def write_bytes(self, data: bytes) -> None:
        """Write a file as it is; on a terminal its text, escaped. Raises as `print` does."""
        if self.tty:
            _guard(self.stdout.write, safe(data.decode("utf-8", "replace")))
            return
        self.flush()
        _guard(self.stdout.buffer.write, data)

    def flush(self) -> None:
        """Write buffered data. Raises as `print` does."""
        _guard(self.stdout.flush)

    def say(self, text: str, *, exact: bool = False, end: str = "\n") -> None:
        """Write a line of narration, wrapped on a terminal unless `exact`; nobody can be told of an error."""
        self.flush()
        try:
            self.stderr.write(self._for_terminal(self._folded(text) if self.stderr_tty and not exact else text) + end)
            self.stderr.flush()
        except OSError:
            self.drain()

    def progress(self, text: str) -> bool:
        """Show on one line of a terminal how far work is that takes longer than that; it goes on. Empty ends it."""
        import time

        now, width = time.monotonic(), (self.columns or 80) - 1
        self._progress_due = self._progress_due or now + PROGRESS_AFTER
        if self.stderr_tty and not self.json and (now >= self._progress_due if text else self._has_progress):
            self.say(text[:width].ljust(width), exact=True, end="\r")
            self._progress_due, self._has_progress = now + PROGRESS_SECONDS, True
        if not text:
            self._progress_due, self._has_progress = 0.0, False
        return True

    def _folded(self, text: str) -> str:
        if self.columns is None or len(text) <= self.columns:
            return text
        return "\n".join([piece for row in text.split("\n") for piece in folded(row, self.columns)])

    def drain(self) -> None:
        """Drop what can't be written, so that it does not fail again at exit."""
        for stream in (self.stdout, self.stderr):
            try:
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

    def _for_terminal(self, text: str) -> str:
        if not text.replace("\n", "").isprintable() or not text.isascii():
            from memtui.base import visible_hot

            text = visible_hot.revealed(text, _escaped)
            for code in ("0", *STYLES.values()):
                text = text.replace(f"{STYLE_MARK}{code}m", f"\033[{code}m" if self.colour else "")
            text = text.replace(STYLE_MARK, _escaped(STYLE_MARK))
        return text.encode("ascii", glyphs.ERRORS).decode("ascii") if self.ascii else text

    def answer(self, text: "Sequence[str | Printer]") -> None:
        for part in text:
            if callable(part):
                part(self)
            elif part:
                self.print(part)

    def parts(self, parts: "Iterable[Part]", indent: str = "") -> None:
        from memtui.views.parts import File, Remedy, TextDifference, Words

        begun = indent  # of a line
        for part in parts:
            if isinstance(part, Words):
                *lines, rest = part.text.split("\n")
                for text in lines:
                    self.print((begun + styled(text, part.style)).rstrip())
                    begun = indent
                begun += styled(rest, part.style)
            elif isinstance(part, TextDifference):
                self.diff_lines(part.lines)
            elif isinstance(part, File):
                self.print(safe(part.text))
            elif isinstance(part, Remedy):
                self.remedy(part.text)

    def section(self) -> None:
        """Part what follows from what was printed before by a blank line; at the beginning print nothing."""
        if self._begun:
            self.exact("")

    def heading(self, text: str, note: str = "") -> None:
        """Print a title, with a dimmed note after it, or below it where that is too wide."""
        title = styled(text, "bold")
        if self.columns is None or width(text) + len(GAP) + width(note) <= self.columns:
            self.exact(title + (GAP + styled(note, "dim") if note else ""))
            return
        self.print(title)
        for row in folded(GAP + note, self.columns) if note else []:
            self.exact(styled(cut(row, self.columns), "dim"))

    def facts(self, rows: "Iterable[tuple[str, str]]", columns: int = 12, whole: "Sequence[str]" = ()) -> None:
        """Print names, dimmed, each with its value beside it; those of `whole` are to be copied, and never wrapped."""
        for name, value in rows:
            room = None if self.columns is None or name in whole else max(MIN_FLEX, self.columns - columns - 2)
            first, *others = [value] if room is None else folded(value, room)
            self.exact(f"  {styled(f'{name:<{columns - 1}}', 'dim')} {first}")
            for other in others:
                self.exact(" " * (columns + 2) + other.strip(" "))

    def wrapped(self, text: str, indent: int = 0) -> "list[str]":
        """Wrap running text into lines, at least one, that leave room for an indent."""
        room = max(20, (self.columns or 80) - indent)
        return [piece for row in safe(text).split("\n") for piece in folded(row.rstrip(), room, 0)]

    def paragraph(self, text: str, indent: str = "") -> None:
        """Print running text, wrapped, each line indented."""
        for piece in self.wrapped(text, len(indent)):
            self.print((indent + piece).rstrip())

    def phrases(self, phrases: "Sequence[tuple[str, str]]", indent: str = "") -> None:
        """Print phrases, each with its style, side by side on as many lines as they need; none is parted."""
        lines: list[list[tuple[str, str]]] = [[]]
        for phrase in phrases:
            row = GAP.join(text for text, _ in [*lines[-1], phrase])
            if lines[-1] and self.columns is not None and len(indent) + width(row) > self.columns:
                lines.append([])
            lines[-1].append(phrase)
        for line_phrases in filter(None, lines):
            self.exact(indent + GAP.join(styled(*phrase) for phrase in line_phrases))

    def finding(self, mark: str, style: str, text: str, remedy: str = "") -> None:
        """Print what was found behind a mark, and below it what to do about it."""
        first, *others = self.wrapped(text, 2)
        self.print(styled(mark, style) + " " + first)
        for other in others:
            self.print("  " + other)
        self.remedy(remedy)

    def remedy(self, text: str, *, whole: bool = False) -> None:
        """Print what to do, behind an arrow; a command of memtui stays whole if it fits, with `whole` all does."""
        lines, room = [""], None if whole or self.columns is None else self.columns - 6
        for piece in [safe(text)] if room is None else text.replace(" memtui ", "\nmemtui ").split("\n"):
            joined = f"{lines[-1]} {piece}".lstrip()
            if room is None or width(joined) <= room:
                lines[-1] = joined
            else:
                lines += [piece] if width(piece) <= room else self.wrapped(piece, 6)
        for number, row in enumerate(filter(None, lines)):
            self.exact(("      " if number else "    → ") + safe(row))

    def diff_lines(self, lines: "Iterable[str]", indent: str = "") -> None:
        """Print the lines of a diff in colour, whole: what is in it may be copied."""
        for row in map(safe, lines):
            self.exact(indent + styled(row, SIGNS.get(row[:1], "")))

    def table(
        self,
        headers: "Sequence[str]",
        rows: "Sequence[Sequence[Cell]]",
        flex: "Sequence[int]" = (-1,),
        right: "Sequence[int]" = (),
        indent: str = "",
        notes: "Sequence[str]" = (),
        *,
        whole: bool = False,
    ) -> None:
        """Print rows in columns; those in `flex` are cut, with `whole` the last is wrapped; `notes` go below."""
        if not rows:
            return
        cells = [[(cell, "") if isinstance(cell, str) else (cell[0], cell[1]) for cell in row] for row in rows]
        widths = [max([width(name), *[width(row[n][0]) for row in cells]]) for n, name in enumerate(headers)]
        flex = [place % len(headers) for place in flex]
        room = None if self.columns is None else self.columns - len(indent)
        count = len(headers) if room is None else _in_row(widths, flex, room, whole=whole)
        widths = widths[:count]
        for least in (MIN_FLEX, MIN_FLEX // 3):
            for place in flex if room is not None else ():
                if place < count and (over := sum(widths) + len(GAP) * (count - 1) - (room or 0)) > 0:
                    widths[place] = max(min(least, widths[place]), widths[place] - over)
        if any(headers[:count]):
            self._row([(name, "dim") for name in headers[:count]], widths, right, indent)
        for row, note in zip(cells, [*notes, *[""] * len(cells)], strict=False):
            self._row(row[:count], widths, right, indent)
            if below := [cell for cell in row[count:] if cell[0]]:
                text = BELOW.join(cell[0] for cell in below)
                pieces = self.wrapped(text, len(indent) + 4) if whole else [cut(text, max(MIN_FLEX, (room or 80) - 4))]
                for piece in pieces:
                    self.exact(f"{indent}    {styled(piece, below[-1][1])}")
            for piece in self.wrapped(note, len(indent) + 4) if note else ():
                self.print(f"{indent}    {styled(piece, 'yellow' if note.startswith('! ') else '')}")

    def _row(
        self, cells: "Sequence[tuple[str, str]]", widths: "Sequence[int]", right: "Sequence[int]", indent: str
    ) -> None:
        pieces = []
        for number, (text, style) in enumerate(cells):
            piece = cut(text, widths[number]) if self.columns is not None else text
            blanks = " " * (widths[number] - width(piece)) if number < len(cells) - 1 or number in right else ""
            piece = styled(piece, style) if self.colour else piece
            pieces.append(blanks + piece if number in right else piece + blanks)
        self.exact((indent + GAP.join(pieces)).rstrip())

    def envelope(self, command: str, data: "object") -> None:
        """Print the answer of a command as JSON."""
        self.exact(fastjson_hot.dumps({"v": VERSION, "command": command, "ok": True, "data": plain(data)}))

    def error(self, command: str, message: str, hint: str, one_line: bool = False) -> None:
        """Print an error: for a person on stderr, with --json on stdout."""
        if self.json:
            error = {"message": message, "hint": hint}
            self.exact(fastjson_hot.dumps({"v": VERSION, "command": command, "ok": False, "error": error}))
        elif one_line:
            text = "memtui: " + line(message)
            self.say(text.rstrip(".") + ". " + line(hint) if hint else text)
        else:
            self.say("memtui: " + safe(message) + ("\n  " + safe(hint) if hint else ""))


def _guard(write: "Callable[..., object]", *data: "object") -> None:
    try:
        write(*data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableError(error.strerror) from None


def _in_row(widths: "Sequence[int]", flex: "Sequence[int]", room: int, *, whole: bool) -> int:
    """Return how many columns of a table stand in its rows: the last goes below them where it has no room."""
    count = len(widths)
    if count == 1 or count - 1 not in flex:
        return count
    rest = room - sum(widths[:-1]) - len(GAP) * (count - 1)
    return count if rest >= (widths[-1] if whole else min(MIN_LAST, widths[-1])) else count - 1
