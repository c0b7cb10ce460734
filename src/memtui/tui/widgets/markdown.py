"""The parts of a detail, and Markdown styled line by line for reading (`render`) and for the editor (`spans`).

No parser: the Markdown of Rich and Textual drops `<tags>`, comments and link targets, renumbers lists and joins lines,
which a person has to see. It also takes 270 ms for 20,000 characters, this 5 ms, and a key may take 16 ms."""

import re
from collections.abc import Iterable

from rich.text import Text

from memtui.tui.model import line_diff
from memtui.views import safe_text
from memtui.views.parts import File, Part, Remedy, TextDifference

HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
ITEM = re.compile(r"^(\s*)([-*+]|\d{1,4}[.)])(\s+)")
FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
RULE = re.compile(r"^\s*([-*_])(?:\s*\1){2,}\s*$")
# A line with more characters is no prose: it is shown as it is.
INLINE_LIMIT = 5000
INLINE = re.compile(
    r"(?P<code>`[^`\n]+`)"
    r"|(?<!\\)\*\*(?P<bold>[^*\n]+)\*\*"
    r"|(?<![\w*\\])\*(?P<italic>[^*\s][^*\n]*)\*(?!\w)"
    r"|\[\[(?P<wiki>[^\[\]\n]+)\]\]"
    r"|\[(?P<text>[^\[\]\n]*)\]\((?P<target>[^()\s]+)\)"
    r"|(?P<url>https?://[^\s<>)\]]*[^\s<>)\].,;:!?])"
)
STYLES = {"code": "cyan", "bold": "bold", "italic": "italic", "wiki": "cyan underline", "text": "underline"}
# Characters of a text that are drawn: more would take noticeably long after a key.
SHOWN, FILE_SHOWN = 12_000, 20_000
HEAD_STYLE = "bold"
CODE_STYLE = "cyan"
QUOTE_STYLE = "italic dim"


def render(body: str) -> Text:
    """Return a body for reading. Text that is not Markdown stays as it is."""
    text = Text()
    fence = ""
    for number, line in enumerate(safe_text.clean(body).split("\n")):
        if number:
            text.append("\n")
        opened = FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence):
                fence = ""
            else:
                text.append("  " + line, CODE_STYLE)
        elif opened:
            fence = opened[1]
            text.append("  " + line.strip(" `~"), "dim italic")
        else:
            _line(text, line)
    return text


def _line(text: Text, line: str) -> None:
    heading = HEADING.match(line)
    if heading:
        text.append(heading[2], HEAD_STYLE + (" underline" if len(heading[1]) == 1 else ""))
        return
    if RULE.match(line):
        text.append("─" * 20, "dim")
        return
    if line.startswith(">"):
        text.append("▏ ", "dim").append_text(inline(line[1:].lstrip(), QUOTE_STYLE))
        return
    item = ITEM.match(line)
    if item:
        mark = "•" if item[2] in "-*+" else item[2]
        text.append(f"{item[1]}{mark} ", "dim")
        line = line[item.end() :]
    text.append_text(inline(line))


def inline(line: str, base: str = "") -> Text:
    """Return a line for reading, without the marks of code, emphasis and links."""
    text, at = Text(), 0
    for match in INLINE.finditer(line) if len(line) < INLINE_LIMIT else ():
        text.append(line[at : match.start()], base)
        kind = str(match.lastgroup)
        if kind == "target":
            text.append(match["text"] or match["target"], "underline")
            if match["text"]:
                text.append(f" ({match['target']})", "dim")
        elif kind == "code":
            text.append(match["code"].strip("`"), STYLES["code"])
        else:
            text.append(match[kind], STYLES.get(kind, "underline"))
        at = match.end()
    return text.append(line[at:], base)


def spans(line: str, *, code: bool = False) -> list[tuple[int, int, str]]:
    """Return (start, end, style) of the Markdown in a line of source; `code`: the line is inside a fence."""
    if code or FENCE.match(line):
        return [(0, len(line), CODE_STYLE)]
    if HEADING.match(line):
        return [(0, len(line), HEAD_STYLE)]
    styled = []
    item = ITEM.match(line)
    if item:
        styled.append((item.start(2), item.end(2), "bold"))
    if line.startswith(">"):
        styled.append((0, len(line), QUOTE_STYLE))
    for match in INLINE.finditer(line) if len(line) < INLINE_LIMIT else ():
        kind = str(match.lastgroup)
        styled.append((match.start(), match.end(), STYLES.get(kind, "underline")))
    return styled


def draw(parts: Iterable[Part]) -> Text:
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
    other = Text(safe_text.clean(plain)).append_text(render(words[len(plain) : limit]))
    for line in other.split("\n", allow_blank=True):
        text.append(before).append_text(line).append("\n")
    if len(words) > limit:
        rest = f"{len(words) - limit:,} more characters are not shown here: they are in {safe_text.line(path)}"
        text.append(f"! … {rest}\n", style="yellow")
    return text
