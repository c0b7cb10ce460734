"""The characters beyond ASCII that memtui and textual draw, and what stands for each where there is only ASCII."""

import codecs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Each stands for characters as wide as itself: columns stay in line.
_STAND_FOR = (
    ("+", "✓✔┌┐└┘├┤┬┴┼┏┓┗┛╔╗╚╝╭╮╰╯▗▖▝▘▛▜▙▟"),
    ("x", "✗✘×▒☑"),
    ("%", "◐▓"),
    ("~", "…"),
    (".", "·░"),
    ("*", "●•"),
    ("o", "○☐"),
    (">", "›»▸▶→"),
    ("<", "‹«◂◀←"),
    ("^", "▴▲↑"),
    ("v", "▾▼↓"),
    ("-", "–—─┄╌▔▀▃▄"),
    ("_", "▁▂"),
    ("=", "━┅╍═╸╺▅▆"),
    ("#", "█▇■"),
    ("|", "│┃║▏▎▍▌▋▊▉▐▕"),
    ('"', "“”„"),
    ("'", "‘’‚"),
    ("?", "\ufffd" + "".join(map(chr, range(0x2400, 0x2420)))),
    ("/ ", "🔎"),
)
PLAIN = {char: plain for plain, chars in _STAND_FOR for char in chars}
# Of the handler below, for streams that can't hold a character.
ERRORS = "memtui-plain"


def _stand_in(error: UnicodeError) -> "tuple[str, int]":
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = error.object[error.start : error.end]
    return "".join([PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in found]), error.end


codecs.register_error(ERRORS, _stand_in)


def only_ascii(env: "Mapping[str, str]") -> bool:
    """Whether the environment says that the terminal knows no UTF-8. One that says nothing is taken to know it."""
    given = env.get("PYTHONIOENCODING", "").partition(":")[0]
    if given:
        return not _is_utf8(given)
    # Where LANG=C Python itself sets this LC_CTYPE as it starts, which says nothing of the terminal.
    coerced = env.get("LC_CTYPE") in {"C.UTF-8", "C.utf8", "UTF-8"} and env.get("LANG") in {"C", "POSIX"}
    names = ("LC_ALL", "LANG") if coerced else ("LC_ALL", "LC_CTYPE", "LANG")
    said = next((env[name] for name in names if env.get(name)), "UTF-8")
    return not _is_utf8(said)


def _is_utf8(name: str) -> bool:
    return "utf8" in name.lower().replace("-", "")


def plain(env: "Mapping[str, str]", setting: object) -> bool:
    """Whether to draw in ASCII: as the setting `glyphs` says, or as the terminal needs it."""
    return setting == "ascii" or (setting != "unicode" and only_ascii(env))
