"""Text from files, made safe to draw: no terminal escapes, no markup, no bidirectional tricks."""

from memtui.base import visible_hot

MAX_LINE = 4000  # characters of a line that are drawn
TAB = "    "
TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.text import Text


def clean(text: str) -> str:
    """Make one or more lines safe: control and hidden characters become visible, tabs become blanks."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return visible_hot.revealed(text.replace("\r\n", "\n").replace("\t", TAB), _picture)


def _picture(char: str) -> str:
    return chr(0x2400 + ord(char)) if char < " " else "\ufffd"  # U+2400 and on: pictures of control characters


def same_length(text: str) -> str:
    """Make a line safe and keep its length and its tabs, for callers that count columns."""
    return text if text.isascii() and text.isprintable() else visible_hot.revealed(text, _picture)


def line(text: str, limit: int = MAX_LINE) -> str:
    """Make text safe on one line, cut at `limit` characters."""
    text_line = clean(text[: limit + 1]).replace("\n", " ")
    return text_line if len(text_line) <= limit else text_line[: limit - 1] + "…"


def styled(text: str, style: str = "") -> "Text":
    """Return safe text as a Rich `Text`, which is never parsed as markup."""
    from rich.text import Text  # the command line does without

    return Text(clean(text), style=style, no_wrap=False, end="")
