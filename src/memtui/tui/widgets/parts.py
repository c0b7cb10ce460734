"""The parts of a detail, as the TUI draws them."""

from collections.abc import Iterable

from rich.text import Text

from memtui.tui.model import line_diff
from memtui.tui.widgets import markdown
from memtui.views import safe_text
from memtui.views.parts import File, Part, Remedy, TextDifference

# Characters of a text that are drawn: more would take noticeably long after a key.
SHOWN, FILE_SHOWN = 12_000, 20_000


def draw(parts: Iterable[Part]) -> Text:
    """Draw the parts of a detail one after the other."""
    text = Text()
    for part in parts:
        if isinstance(part, TextDifference):
            text.append_text(line_diff.drawn(*part))
        elif isinstance(part, File):
            cut(text, part.text, part.path, limit=FILE_SHOWN)
        elif isinstance(part, Remedy):
            text.append(f"\n{safe_text.line(part.text, 600)}\n" if part.text else "")
        else:
            text.append(*part)
    return text


def cut(text: Text, words: str, path: str, *, limit: int = SHOWN, before: str = "", head: int = -1) -> Text:
    """Append `limit` characters of `words`, lines after `before`; what follows `head` characters is Markdown."""
    plain = words[:limit] if head < 0 else words[: min(head, limit)]
    other = Text(safe_text.clean(plain)).append_text(markdown.render(words[len(plain) : limit]))
    for line in other.split("\n", allow_blank=True):
        text.append(before).append_text(line).append("\n")
    if len(words) > limit:
        rest = f"{len(words) - limit:,} more characters are not shown here: they are in {safe_text.line(path)}"
        text.append(f"! … {rest}\n", style="yellow")
    return text
