"""Make text safe to show and deliver: find hidden characters, and escape tags that content may not open."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# The tags that text may not open or close: ours, and the one that the client wraps a hook's context in; letters only.
GUARDED = ("memtui", "systemreminder")
OPENERS = "<\u02c2\u1438\u2039\u2329\u276c\u276e\u27e8\u3008\ufe64\uff1c"  # they read as the beginning of a tag
# Letters of other scripts, and digits and marks, that look like those of the guarded names.
LOOK_ALIKES = {
    char: latin
    for latin, chars in {
        "m": "\u043c\u1d0d\u03fb\u0271\u20a5",
        "e": "\u0435\u03b5\u0454\u04bd\u212e\u0259\u01dd\u1d073",
        "t": "\u0442\u03c4\u1d1b\u20207",
        "u": "\u03c5\u03bc\u00b5\u057d\u0446\u0438\u1d1c\u028b\u222av",
        "i": "\u0456\u03b9\u0131\u0269\u1d09\u04cf\u2502\u2223\u05c0|!1l",
        "s": "\u0455\u0282\ua731\u01bd5$",
        "y": "\u0443\u03b3\u04af\u028f\u0263\u10e7",
        "r": "\u0433\u1d26\u0280\u0453\u2c85",
        "n": "\u043f\u0578\u057c\u0274\u03b7\u043d",
        "d": "\u0501\u0257\u1d05\u13e7",
    }.items()
    for char in chars
}
# Characters that are printable by Unicode's categories, yet show nothing.
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
# Persian and emoji need joiners, one or two in a row (a heart in flames has a selector and a joiner).
JOINERS, MOST_JOINERS = "\u200c\u200d\ufe0e\ufe0f", 2
PIECE = 4096  # characters that are looked at together


def hidden(char: str) -> bool:
    """Return whether a character shows nothing, or changes how others are shown; newlines, tabs, JOINERS are none."""
    if char.isprintable():
        return char in BLANK or "\ufe00" <= char <= "\ufe0d" or "\U000e0100" <= char <= "\U000e01ef"
    return (
        (char < " " and char not in "\n\t")
        or "\x7f" <= char <= "\x9f"
        or char in "\xad\u061c\u180e\u200b\u200e\u200f\ufeff"
        or "\u2028" <= char <= "\u202e"
        or "\u2060" <= char <= "\u206f"
        or "\ud800" <= char <= "\udfff"
        or "\ufff9" <= char <= "\ufffb"
        or "\U000e0000" <= char <= "\U000e0fff"
    )


def revealed(text: str, show: "Callable[[str], str]") -> str:
    """Replace each hidden character with what `show` returns for it, and each joiner beyond MOST_JOINERS in a row."""
    pieces = []
    run = 0
    # A piece at a time: split into single characters, a text takes eighty times its memory.
    for at in range(0, len(text), PIECE):
        piece = text[at : at + PIECE]
        plain = piece.replace("\n", "").replace("\t", "")
        if plain.isprintable() and (piece.isascii() or (max(plain) < "\ufe00" and BLANK.isdisjoint(plain))):
            pieces.append(piece)
            run = 0
            continue
        chars = []
        for char in piece:
            unseen = hidden(char)
            run = run + (char in JOINERS) if unseen or char in JOINERS else 0
            chars.append(show(char) if unseen or run > MOST_JOINERS else char)
        pieces.append("".join(chars))
    return "".join(pieces)


def clean(text: str) -> str:
    """Remove control and hidden characters and lone surrogates; escape each `<` of a guarded tag."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not (text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()):
        text = revealed(text, lambda _: "")
    for opener in OPENERS if not text.isascii() else "<":
        if opener not in text:
            continue
        pieces = text.split(opener)
        parts = [pieces[0]]
        at = len(pieces[0]) + 1
        for piece in pieces[1:]:
            parts.append("&lt;" if _guarded(text, at) else opener)
            parts.append(piece)
            at += len(piece) + 1
        text = "".join(parts)
    return text


def _guarded(text: str, at: int) -> bool:
    """Tell whether the text behind a `<` reads as a guarded tag, however its letters look, or may still become one."""
    joined = ""
    for place in range(at, len(text)):
        char = text[place]
        if char in OPENERS:
            return False  # `clean` checks it by itself
        joined += _latin(char)
        name = joined.replace("rn", "m")
        if name.startswith(GUARDED):
            return True
        begun = name.removesuffix("r")  # an n behind it would make it an m
        if not any(guarded.startswith(begun) for guarded in GUARDED):
            return False
    return not text[at:].strip("/ \t\n")


def _latin(char: str) -> str:
    """Return the small Latin letters that a character looks like: empty for no letter, a full stop for none like it."""
    if char in LOOK_ALIKES:
        return LOOK_ALIKES[char]
    if char.isascii():
        return char.lower() if char.isalnum() else ""
    import unicodedata

    plain = unicodedata.normalize("NFKD", char).casefold()
    folded = "".join([LOOK_ALIKES.get(c, c) for c in plain if c in LOOK_ALIKES or c.isalnum()])
    return folded if folded.isascii() else "."


def attribute(value: str) -> str:
    """Make text safe as the value of an attribute in double quotes: clean, escaped, on one line."""
    line = clean(value).replace("\n", " ").replace("\t", " ")
    return line.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def one_line(text: str) -> str:
    """Put text on one line, with single spaces."""
    return " ".join(text.split())
