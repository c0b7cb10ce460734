"""The output of commands: data on stdout, narration on stderr, tables that fit the terminal, escaped text.

Memories, notes and logs hold text that others wrote: it is escaped on its way to a terminal, and exact in JSON.
"""

import os
import sys

from memtui.core.base import fastjson
from memtui.core.base.phrasing import gap
from memtui.present import glyphs

VERSION = 1  # of the JSON envelope
STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    "red marked": "31;4",
    "green marked": "32;4",
}
# Marks where a style begins or ends until the line is written, so that an escape in the text itself is not taken for
# one of ours. The character is a noncharacter of Unicode.
STYLE_MARK = "\ufdd0"
MIN_FLEX = 12  # columns that a shortened cell keeps
MIN_LAST = 30  # columns below which a last column goes below its row
GAP = "  "
BELOW = " · "  # between what is printed below a row
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TextIO

    Cell = Sequence[str]  # text, or text and style


class UnwritableError(Exception):
    """The answer of a command can't be written, for example because the disk is full."""


class Result:
    """The result of a command: `data`, or a function that makes it, is for --json; `text` prints it for a person;
    `code` is the exit code."""

    __slots__ = ("code", "data", "text")

    def __init__(self, data: "object", text: "Callable[[Output], None] | None" = None, code: int = 0) -> None:
        self.data = data
        self.text = text
        self.code = code


def plain(value: "object") -> "object":
    """Return what JSON can hold of a value: a named tuple or a dataclass by its fields, a set or a tuple as a list."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif names := getattr(value, "__dataclass_fields__", None):
        value = {name: getattr(value, name) for name in names}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, (list, tuple, set, frozenset)) else value


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def safe(text: str) -> str:
    """Escape terminal escapes and hidden characters in text of several lines."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    from memtui.core.base import visible

    return visible.revealed(text.replace("\r\n", "\n").replace("\t", "    "), _escaped)


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
    """Cut text to at most `columns` columns, with `…` at the end if it was longer: between words, or within a name or a
    path behind one of its parts."""
    if width(text) <= columns:
        return text
    end, used = 0, 0
    while used + width(text[end]) < columns:
        used += width(text[end])
        end += 1
    return text[: gap(text, end)].rstrip() + "…"


def plain_width(text: str) -> int:
    """Return the number of columns of text with marks of styles in it."""
    first, *others = text.split(STYLE_MARK)
    return width(first) + sum(width(each.partition("m")[2]) for each in others)


def slices(text: str, columns: int, hang: int) -> "list[tuple[int, int]]":
    """Return where in a line its pieces begin and end, wrapped between words: the first takes at most `columns`
    columns, the others, indented by `hang`, so many less. A longer word stays whole, in the piece before it if at least
    half of that is free."""
    if plain_width(text) <= columns:
        return [(0, len(text))]
    import re

    found: list[tuple[int, int]] = []
    start, used = 0, len(text) - len(text.lstrip(" "))
    for each in re.finditer("[^ ]+ *", text):
        wide, room = plain_width(each[0].rstrip(" ")), columns - used
        if text[start : each.start()].strip(" ") and wide > room and (wide <= columns - hang or room < columns // 2):
            found.append((start, each.start()))
            start, used = each.start(), hang
        used += plain_width(each[0])
    return [*found, (start, len(text))]


def folded(text: str, columns: int) -> "list[str]":
    """Wrap a line as `slices` does; what follows is indented by two more."""
    hang = min(len(text) - len(text.lstrip(" ")) + 2, columns // 3)
    found = slices(text, columns, hang)
    if len(found) == 1:
        return [text]
    return [(" " * hang if start else "") + text[start:end].rstrip(" ") for start, end in found]


def terminal_columns(env: "Mapping[str, str]") -> "int | None":
    """Return the width of lines: $COLUMNS or that of the terminal, at least 40; None where nothing limits it."""
    given = env.get("COLUMNS", "")
    if given.isdigit() and int(given) > 0:
        return max(40, int(given))
    if not sys.stdout.isatty():
        return None
    try:
        # A terminal without a size reports 0.
        return max(40, os.get_terminal_size(sys.stdout.fileno()).columns or 80)
    except OSError:
        return 80


class Output:
    """The output of a command. `columns` is the width of lines, None where nothing limits it (a file, a pipe)."""

    def __init__(self, env: "Mapping[str, str]", as_json: bool = False) -> None:
        self.json = as_json
        self.stdout: TextIO = sys.stdout
        self.stderr: TextIO = sys.stderr
        self.tty = self.stdout.isatty()
        self.stderr_tty = self.stderr.isatty()
        able = self.tty and env.get("TERM") != "dumb"
        self.colour = (able or bool(env.get("FORCE_COLOR"))) and not env.get("NO_COLOR")
        self.ascii = self.tty and glyphs.only_ascii(env)
        self.columns = terminal_columns(env)
        self._begun = False

    def print(self, text: str = "") -> None:
        """Write a line of data, wrapped between words where it is too wide. Raises BrokenPipeError, and UnwritableError
        for any other error."""
        columns = self.columns
        if columns is not None and len(text) > columns:
            text = "\n".join([piece for each in text.split("\n") for piece in folded(each, columns)])
        self.exact(text)

    def exact(self, text: str) -> None:
        """Write text that is never wrapped: the bytes of a memory, a path, a script. Raises as `print` does."""
        self._begun = True
        self.write(self._for_terminal(text) + "\n")

    def write(self, text: str) -> None:
        """Write text that is safe for a terminal already. Raises as `print` does."""
        try:
            self.stdout.write(text)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise UnwritableError(error.strerror) from None

    def write_bytes(self, data: bytes) -> None:
        """Write a file as it is; on a terminal its text, escaped."""
        if self.tty:
            self.write(safe(data.decode("utf-8", "replace")))
            return
        self.flush()
        self.stdout.buffer.write(data)

    def flush(self) -> None:
        """Write buffered data. Raises as `print` does."""
        try:
            self.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise UnwritableError(error.strerror) from None

    def say(self, text: str, *, exact: bool = False) -> None:
        """Write a line of narration, never wrapped if `exact`. An error is ignored: there is nobody to tell."""
        self.flush()
        try:
            self.stderr.write(self._for_terminal(text if exact else self._narrated(text)) + "\n")
            self.stderr.flush()
        except OSError:
            self.drain()

    def ask(self, question: str) -> None:
        """Write a question, which is answered on the same line."""
        self.flush()
        self.stderr.write(self._for_terminal(self._narrated(question)) + " ")
        self.stderr.flush()

    def _narrated(self, text: str) -> str:
        """Wrap narration for a terminal; a log or a mail keeps its lines."""
        columns = self.columns
        if columns is None or len(text) <= columns or not self.stderr_tty:
            return text
        return "\n".join([piece for each in text.split("\n") for piece in folded(each, columns)])

    def drain(self) -> None:
        """Drop what can't be written, so that it does not fail again at exit."""
        for stream in (self.stdout, self.stderr):
            try:
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

    def _for_terminal(self, text: str) -> str:
        if not text.replace("\n", "").isprintable() or not text.isascii():
            from memtui.core.base import visible

            text = visible.revealed(text, _escaped)
            if self.colour:
                for code in ("0", *STYLES.values()):
                    text = text.replace(f"{STYLE_MARK}{code}m", f"\033[{code}m")
            text = text.replace(STYLE_MARK, _escaped(STYLE_MARK))
        return text.encode("ascii", glyphs.ERRORS).decode("ascii") if self.ascii else text

    def style(self, text: str, name: str) -> str:
        """Mark text as styled, if the terminal has styles."""
        if not (self.colour and name and text):
            return text
        return f"{STYLE_MARK}{STYLES[name]}m{text}{STYLE_MARK}0m"

    def section(self) -> None:
        """Part what follows from what was printed before by a blank line; at the beginning print nothing."""
        if self._begun:
            self.exact("")

    def heading(self, text: str, note: str = "") -> None:
        """Print a title, with a dimmed note after it, which goes on below where it is too wide."""
        if self.columns is None or width(text) + len(GAP) + width(note) <= self.columns:
            self.exact(self.style(text, "bold") + (GAP + self.style(note, "dim") if note else ""))
            return
        first, *others = folded(text + GAP + note, self.columns)
        if first.startswith(text + GAP):
            self.exact(self.style(text, "bold") + self.style(cut(first, self.columns)[len(text) :], "dim"))
        else:
            self.print(self.style(text, "bold"))
            others = folded("  " + note, self.columns) if note else []
        for each in others:
            self.exact(self.style(cut(each, self.columns), "dim"))

    def facts(self, rows: "Iterable[tuple[str, str]]", columns: int = 12, whole: "Sequence[str]" = ()) -> None:
        """Print names, dimmed in a column of so many characters, each with its value beside it; the values of `whole`,
        commands and paths to be copied, are never wrapped."""
        for name, value in rows:
            text = f"  {self.style(f'{name:<{columns - 1}}', 'dim')} {value}"
            room = None if self.columns is None or name in whole else max(MIN_FLEX, self.columns - columns - 2)
            first, *others = [text] if room is None or plain_width(value) <= room else folded(value, room)
            self.exact(first if first == text else text[: len(text) - len(value)] + first)
            for each in others:
                self.exact(" " * (columns + 2) + each.strip(" "))

    def wrapped(self, text: str, indent: int = 0) -> "list[str]":
        """Wrap running text into lines that leave room for an indent; at least one. Long words stay whole."""
        room = max(20, (self.columns or 80) - indent)
        lines: list[str] = []
        for each in safe(text).split("\n"):
            if len(each) <= room and each.isprintable() and each == each.strip():  # most lines of a long list
                lines.append(each)
                continue
            from textwrap import wrap

            lines += wrap(each, room, break_on_hyphens=False, break_long_words=False) or [""]
        return lines

    def phrases(self, found: "Sequence[tuple[str, str]]", indent: str = "") -> None:
        """Print phrases, each with its style, side by side on as many lines as they need; none is parted."""
        lines: list[list[tuple[str, str]]] = []
        used = 0
        for text, style in found:
            used += len(GAP) + width(text)
            if not lines or (self.columns is not None and used > self.columns):
                lines.append([])
                used = len(indent) + width(text)
            lines[-1].append((text, style))
        for pieces in lines:
            self.exact(indent + GAP.join(self.style(*piece) for piece in pieces))

    def wrapped_advice(self, text: str, indent: int) -> "list[str]":
        """Wrap text that names commands of memtui, as `wrapped`, so that each that fits into a line is in one, to be
        copied. Where there is no width it stays whole."""
        if self.columns is None:
            return [safe(text)]
        lines = [""]
        for piece in text.replace(" memtui ", "\nmemtui ").split("\n"):
            joined = f"{lines[-1]} {piece}".lstrip()
            if width(joined) <= self.columns - indent:
                lines[-1] = joined
            else:
                lines.append(piece)
        return [each for line_ in filter(None, lines) for each in self.wrapped(line_, indent)]

    def finding(self, mark: str, style: str, text: str, remedy: str = "", *, whole: bool = False) -> None:
        """Print what was found behind a mark, and below it what to do about it, which is never wrapped if `whole`."""
        first, *others = self.wrapped(text, 2)
        self.print(self.style(mark, style) + " " + first)
        for each in others:
            self.print("  " + each)
        self.remedy(remedy, whole=whole)

    def remedy(self, text: str, *, whole: bool = False) -> None:
        """Print what to do about what stands above, behind an arrow; nothing if there is nothing."""
        for number, each in enumerate([safe(text)] if whole else self.wrapped_advice(text, 6) if text else []):
            self.exact(("      " if number else "    → ") + each)

    def paragraph(self, text: str, indent: str = "") -> None:
        """Print running text, wrapped to the width (80 columns where there is none), each line indented."""
        for piece in self.wrapped(text, len(indent)):
            self.print((indent + piece).rstrip())

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
        """Print rows in columns. If they are too wide, the columns in `flex` are shortened, in that order; the last
        ones are printed below their row if too little would be left of them. With `whole` the last column is never cut:
        it is wrapped below its row.

        `right` are the columns aligned to the right. `notes` has a text to print below each row, or an empty one.
        """
        cells = [[(cell, "") if isinstance(cell, str) else (cell[0], cell[1]) for cell in row] for row in rows]
        count = len(headers)
        widths = [max([width(headers[n]), *[width(row[n][0]) for row in cells]]) for n in range(count)]
        flex = [place % count for place in flex]
        above = count if self.columns is None else self._fitting(widths, flex, self.columns - len(indent), whole=whole)
        below = [row[above:] for row in cells]
        headers, cells, widths, count = headers[:above], [row[:above] for row in cells], widths[:above], above
        flex = [place for place in flex if place < above]
        if self.columns is not None:
            for least in (MIN_FLEX, MIN_FLEX // 3):
                for place in flex:
                    over = sum(widths) + len(GAP) * (count - 1) + len(indent) - self.columns
                    if over > 0:
                        widths[place] = max(min(least, widths[place]), widths[place] - over)
        if any(headers):
            self._row([(name, "dim") for name in headers], widths, right, indent)
        for number, row in enumerate(cells):
            self._row(row, widths, right, indent)
            self._below(below[number], len(indent) + 4, whole=whole)
            if number < len(notes) and notes[number]:
                style = "yellow" if notes[number].startswith("! ") else ""
                for piece in self.wrapped(notes[number], len(indent) + 4):
                    self.print(indent + "    " + self.style(piece, style))

    @staticmethod
    def _fitting(widths: "Sequence[int]", flex: "Sequence[int]", columns: int, *, whole: bool) -> int:
        """Return how many columns of a table stand in its rows; those after them are printed below."""
        count = len(widths)
        least = [min(MIN_FLEX, each) if place in flex else each for place, each in enumerate(widths)]
        if count > 1 and count - 1 in flex:
            left = columns - sum(widths[:-1]) - len(GAP) * (count - 1)
            if left < (widths[-1] if whole else min(MIN_LAST, widths[-1])):
                count -= 1
                while (
                    count > 1
                    and count - 1 in flex
                    and sum(least[: count - 1]) + widths[count - 1] + len(GAP) * (count - 1) > columns
                ):
                    count -= 1
        return count

    def _below(self, cells: "Sequence[tuple[str, str]]", indent: int, *, whole: bool) -> None:
        """Print the cells of a row that have no room in it."""
        found = [cell for cell in cells if cell[0]]
        if not found:
            return
        text, style = BELOW.join(cell[0] for cell in found), found[-1][1]
        room = max(MIN_FLEX, (self.columns or 80) - indent)
        for piece in self.wrapped(text, indent) if whole else [cut(text, room)]:
            self.exact(" " * indent + self.style(piece, style))

    def _row(
        self, cells: "Sequence[tuple[str, str]]", widths: "Sequence[int]", right: "Sequence[int]", indent: str
    ) -> None:
        shown = []
        for number, (text, style) in enumerate(cells):
            piece = cut(text, widths[number]) if self.columns is not None else text
            room = " " * (widths[number] - width(piece)) if number < len(cells) - 1 or number in right else ""
            styled = self.style(piece, style) if style else piece
            shown.append(room + styled if number in right else styled + room)
        self.exact((indent + GAP.join(shown)).rstrip())

    def envelope(self, command: str, data: "object") -> None:
        """Print the answer of a command as JSON."""
        self.exact(fastjson.dumps({"v": VERSION, "command": command, "ok": True, "data": plain(data)}))

    def error(self, command: str, message: str, hint: str, one_line: bool = False) -> None:
        """Print an error: for a person on stderr, with --json on stdout."""
        if self.json:
            error = {"message": message, "hint": hint}
            self.exact(fastjson.dumps({"v": VERSION, "command": command, "ok": False, "error": error}))
            return
        text = "memtui: " + (line(message) if one_line else safe(message))
        if hint and one_line:
            text = text.rstrip(".") + ". " + line(hint)
        elif hint:
            text += "\n  " + safe(hint)
        self.say(text)
