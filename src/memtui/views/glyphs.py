"""The characters beyond ASCII that memtui and Textual draw, and the ASCII that replaces each in a plain terminal."""

import codecs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

EIGHTHS = " ▏▎▍▌▋▊▉█"  # of a cell, for bars
# By character the ASCII of the same width that replaces it: in each line of glyphs.txt the first for the others.
with open(__file__.removesuffix("py") + "txt", encoding="utf-8") as _file:
    PLAIN = {char: line[0] for line in _file for char in line[1:-1]}
PLAIN |= {"🔎": "/ "} | dict.fromkeys(map(chr, range(0x2400, 0x2420)), "?")
ERRORS = "memtui-plain"  # the name of the error handler below, for streams whose encoding lacks a character


def _replace(error: UnicodeError) -> "tuple[str, int]":
    if not isinstance(error, UnicodeEncodeError):
        raise error
    chars = error.object[error.start : error.end]
    return "".join([PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in chars]), error.end


codecs.register_error(ERRORS, _replace)


def only_ascii(env: "Mapping[str, str]") -> bool:
    """Return whether the environment names an encoding other than UTF-8. If it names none, UTF-8 is assumed."""
    encoding = env.get("PYTHONIOENCODING", "").partition(":")[0]
    if encoding:
        return not _is_utf8(encoding)
    # With LANG=C Python itself sets this LC_CTYPE as it starts (PEP 538), which says nothing about the terminal.
    coerced = env.get("LC_CTYPE") in {"C.UTF-8", "C.utf8", "UTF-8"} and env.get("LANG") in {"C", "POSIX"}
    names = ("LC_ALL", "LANG") if coerced else ("LC_ALL", "LC_CTYPE", "LANG")
    return not _is_utf8(next((env[name] for name in names if env.get(name)), "UTF-8"))


def _is_utf8(name: str) -> bool:
    return "utf8" in name.lower().replace("-", "")


def plain(env: "Mapping[str, str]", setting: object) -> bool:
    """Return whether to draw in ASCII: as the setting `glyphs` says, or as the terminal needs it."""
    return setting == "ascii" or (setting != "unicode" and only_ascii(env))


def bar(value: float, top: float, width: int) -> str:
    """Draw a bar, padded to `width` cells, which `top` fills. A value above zero shows at least an eighth of a cell."""
    if top <= 0 or value <= 0 or width <= 0:
        return " " * max(0, width)
    whole, rest = divmod(max(1, round(min(1.0, value / top) * width * 8)), 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(width)


CURSOR, MARKED, FOLDED, UNFOLDED = "›", "●", "▸", "▾"  # the marks of every list

UNSAVED = "D", "it has unsaved text of yours"  # what has text of the person that was typed in a form and not saved


def section(title: str, marks: "Iterable[tuple[str, str]]") -> str:
    """Return the lines of a legend: a title, and a line for each mark."""
    rows = [*marks]
    wide = max([6, *(len(mark) for mark, _ in rows)])
    return f"{title}\n" + "".join(f"  {mark:<{wide}}  {meaning}\n" for mark, meaning in rows)
