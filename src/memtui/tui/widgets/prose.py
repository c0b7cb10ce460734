"""Texts as they are drawn: the parts of a detail, Markdown styled line by line (`render`, `spans`), differences.

No parser of Markdown: those of Rich and Textual drop `<tags>`, comments and link targets, renumber lists and join
lines, which a person has to see. They also take 270 ms for 20,000 characters, this 5 ms, and a key may take 16 ms."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from rich.text import Text

from memtui.base.phrasing_hot import many
from memtui.store.journal.changes import shared_ends
from memtui.views import safe_text
from memtui.views.parts import File, Part, Remedy, TextDifference

HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
ITEM = re.compile(r"^(\s*)([-*+]|\d{1,4}[.)])(\s+)")
FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
RULE = re.compile(r"^\s*([-*_])(?:\s*\1){2,}\s*$")
INLINE_LIMIT = 5000  # a line with more characters is no prose: it is shown as it is
INLINE = re.compile(
    r"(?P<code>`[^`\n]+`)"
    r"|(?<!\\)\*\*(?P<bold>[^*\n]+)\*\*"
    r"|(?<![\w*\\])\*(?P<italic>[^*\s][^*\n]*)\*(?!\w)"
    r"|\[\[(?P<wiki>[^\[\]\n]+)\]\]"
    r"|\[(?P<text>[^\[\]\n]*)\]\((?P<target>[^()\s]+)\)"
    r"|(?P<url>https?://[^\s<>)\]]*[^\s<>)\].,;:!?])"
)
STYLES = {"code": "cyan", "bold": "bold", "italic": "italic", "wiki": "cyan underline", "text": "underline"}
SHOWN, FILE_SHOWN = 12_000, 20_000  # characters of a text that are drawn: more would take noticeably long after a key
HEAD_STYLE, CODE_STYLE, QUOTE_STYLE = "bold", "cyan", "italic dim"
BOTH, OLD, NEW = " ", "-", "+"
DIFF_STYLES = {BOTH: "dim", OLD: "red", NEW: "green"}
CONTEXT = 4  # equal lines that are shown around a difference
DIFF_SHOWN = 20_000  # characters drawn of each text; a dialog draws no more than the two together
COMPARED = 1000  # lines between the first and the last difference: more would take long, and count as all different


def render(body: str) -> Text:
    """Return a body for reading. Text that is not Markdown stays as it is."""
    text, fence = Text(), ""
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


def spans(line: str) -> list[tuple[int, int, str]]:
    """Return (start, end, style) of the Markdown in a line of source."""
    if FENCE.match(line):
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
            text.append_text(_text_first(part.before or b"", part.after or b""))
        elif isinstance(part, File):
            text.append_text(cut(Text(style=part.style), part.text, part.path, limit=FILE_SHOWN))
        elif isinstance(part, Remedy):
            text.append(f"\n{safe_text.line(part.text, 600)}\n" if part.text else "")
        else:
            text.append(*part)
    return text


def _text_first(old: bytes, new: bytes) -> Text:
    """Draw the difference of two memories' texts, then that of their fields."""
    (old_fields, old_body), (new_fields, new_body) = map(_divided, (old, new))
    pairs = [pair for pair in ((old_body, new_body), (old_fields, new_fields)) if pair[0] != pair[1]]
    return Text("\n").join(difference(*pair) for pair in pairs or [(old, new)])


def _divided(data: bytes) -> tuple[bytes, bytes]:
    fields, mark, body = data.partition(b"\n---\n")
    text = body.lstrip(b"\n")
    return (data[: len(data) - len(text)], text) if mark and fields.startswith(b"---\n") else (b"", data)


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


def difference(old: str | bytes, new: str | bytes) -> Text:
    """Draw the lines of two texts, `-` or `+` before those that only one has."""
    drawn: list[tuple[str, Text]] = []
    cut, room = Counter[str](), {OLD: DIFF_SHOWN, NEW: DIFF_SHOWN, BOTH: DIFF_SHOWN // 2}
    for sign, line in _rows(_lines(old), _lines(new)):
        if isinstance(line, int):
            drawn.append(("", Text(f"  … {many(line, 'line is', 'lines are')} the same in both", "dim italic")))
        elif room[sign] <= 0:
            cut[sign] += 1
        else:
            start = line[: min(safe_text.MAX_LINE, room[sign])]
            room[sign] -= len(start) + 2
            drawn.append((f"{sign} ", Text(safe_text.clean(start), DIFF_STYLES[sign])))
            if rest := len(line) - len(start):
                drawn.append(("", Text(f"  … {many(rest, 'more character')} of this line: not shown here", "yellow")))
    drawn += [(f"{sign} ", Text(f"… {many(n, 'more line')}: not shown here", "yellow")) for sign, n in cut.items()]
    for (sign, one), (other_sign, other) in pairwise(drawn):
        if (sign, other_sign) == (f"{OLD} ", f"{NEW} "):
            _underline(one, other)
    text = Text()
    for sign, words in drawn:
        text.append(sign, words.style).append_text(words).append("\n")
    return text


def _rows(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str | int]]:
    """Yield the lines with the sign of each; the number of equal lines that are left out in their place."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, before, after)
    begin, end = shared_ends(before, after)
    ends = (len(before) - end, len(after) - end)
    if max(ends) - begin > COMPARED:
        changed = ("replace", begin, ends[0], begin, ends[1])
        same = ("equal", 0, begin, 0, begin), ("equal", ends[0], len(before), ends[1], len(after))
        matcher.opcodes = [same[0], changed, same[1]]  # type: ignore[attr-defined]  # documented by its source alone
    shown = 0
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if group[0][1] > shown:
            yield BOTH, group[0][1] - shown
        for tag, old_from, old_to, new_from, new_to in group:
            yield from ((BOTH if tag == "equal" else OLD, line) for line in before[old_from:old_to])
            yield from ((NEW, line) for line in after[new_from:new_to] if tag != "equal")
        shown = group[-1][2]
    if len(before) > shown:
        yield BOTH, len(before) - shown


def _lines(text: str | bytes) -> list[str]:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace").replace("\r\n", "\n")
    text = text.rstrip("\n")
    return text.split("\n") if text else []


def _underline(one: Text, other: Text) -> None:
    from memtui.tidy import similar_memories  # not needed for the first paint

    for text, spans in zip((one, other), similar_memories.differing(one.plain, other.plain), strict=True):
        for start, end in spans:
            text.stylize("underline", start, end)
