"""Text from files stays text: what is drawn can hold no terminal escape, no markup, no bidirectional trick.

Everything that comes from a memory, a transcript, an inbox or the log passes through here before a widget sees it.
"""

from rich.text import Text

from memtui.core.base import visible

# Above this a line is cut for drawing; the file keeps it.
MAX_LINE = 4000
TAB = "    "


def clean(text: str) -> str:
    """One or more lines without control characters, and nothing hidden in them; tabs become blanks."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return visible.revealed(text.replace("\r\n", "\n").replace("\t", TAB), _shown)


def _shown(char: str) -> str:
    return chr(0x2400 + ord(char)) if char < " " else "\ufffd"  # the picture of a control character


def same_length(text: str) -> str:
    """A line made harmless letter for letter; tabs stay, for who counts them."""
    if text.isascii() and text.isprintable():
        return text
    return visible.revealed(text, _shown)


def line(text: str, limit: int = MAX_LINE) -> str:
    """Text on one line, cut at `limit` characters."""
    found = clean(text[: limit + 1]).replace("\n", " ")
    return found if len(found) <= limit else found[: limit - 1] + "…"


def styled(text: str, style: str = "") -> Text:
    """A `Text` that is never parsed as markup."""
    return Text(clean(text), style=style, no_wrap=False, end="")
