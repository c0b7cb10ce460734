"""Text from files stays text: what is drawn can hold no terminal escape, no markup, no bidirectional trick.

Everything that comes from a memory, a transcript, an inbox or the log passes through here before a widget sees it.
"""

from rich.text import Text

# Above this a line is cut for drawing; the file keeps it.
MAX_LINE = 4000
TAB = "    "


def clean(text: str) -> str:
    """One or more lines without control characters, bidirectional overrides, or lone surrogates; tabs become blanks."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(_shown(char) for char in text.replace("\r\n", "\n").replace("\t", TAB))


def _shown(char: str) -> str:
    if char == "\n":
        return char
    if char < " ":
        return chr(0x2400 + ord(char))  # the picture of the control character
    code = ord(char)
    hidden = 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xDFFF or 0x200E <= code <= 0x200F or code == 0x061C
    if hidden or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069 or 0xE0000 <= code <= 0xE007F:
        return "\ufffd"
    return char


def same_length(text: str) -> str:
    """A line made harmless letter for letter; tabs stay, for who counts them."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char == "\t" else _shown(char) for char in text)


def line(text: str, limit: int = MAX_LINE) -> str:
    """Text on one line, cut at `limit` characters."""
    found = clean(text[: limit + 1]).replace("\n", " ")
    return found if len(found) <= limit else found[: limit - 1] + "…"


def styled(text: str, style: str = "") -> Text:
    """A `Text` that is never parsed as markup."""
    return Text(clean(text), style=style, no_wrap=False, end="")
