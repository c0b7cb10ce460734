"""The differences of two texts, line by line."""

from collections.abc import Sequence
from itertools import pairwise

from rich.text import Text

from memtui.base.phrasing import many
from memtui.views import safe_text

BOTH, OLD, NEW = " ", "-", "+"
STYLES = {BOTH: "dim", OLD: "red", NEW: "green"}
# Equal lines that are shown around a difference.
CONTEXT = 4
# Characters drawn of each text; a dialog draws no more than the two together.
SHOWN = 20_000
# Between the first and the last difference so many lines are compared; more are taken as all different, so that nobody
# waits.
COMPARED = 1000


def drawn(old: str | bytes, new: str | bytes, names: tuple[str, str]) -> Text:
    """Draw the lines of two texts with these `names`, `-` or `+` before those that only one has."""
    from difflib import SequenceMatcher

    before, after = _lines(old), _lines(new)
    matcher = SequenceMatcher(None, before, after)
    begin = _same(before, after)
    end = _same(before[begin:][::-1], after[begin:][::-1])
    ends = (len(before) - end, len(after) - end)
    if max(ends) - begin > COMPARED:
        changed = ("replace", begin, ends[0], begin, ends[1])
        same = ("equal", 0, begin, 0, begin), ("equal", ends[0], len(before), ends[1], len(after))
        matcher.opcodes = [same[0], changed, same[1]]  # type: ignore[attr-defined]  # documented by its source alone
    drawing = _Drawing()
    shown = 0
    for group in matcher.get_grouped_opcodes(CONTEXT):
        drawing.hide(group[0][1] - shown)
        for tag, old_from, old_to, new_from, new_to in group:
            drawing.add(BOTH if tag == "equal" else OLD, before[old_from:old_to])
            drawing.add(NEW, () if tag == "equal" else after[new_from:new_to])
        shown = group[-1][2]
    drawing.hide(len(before) - shown)
    text = drawing.text
    words = {OLD: f"that only {names[0]} has", NEW: f"that only {names[1]} has", BOTH: "of both"}
    for sign, count in drawing.cut.items():
        if count:
            text.append(f"{sign} … {many(count, 'more line')} {words[sign]}: not shown here\n", "yellow")
    _mark_words(text)
    return text


def _lines(text: str | bytes) -> list[str]:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace").replace("\r\n", "\n")
    text = text.rstrip("\n")
    return text.split("\n") if text else []


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines two texts begin with that are the same."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


class _Drawing:
    """The text that is drawn; `cut` counts the lines that have no room in it, by their sign."""

    def __init__(self) -> None:
        self.text = Text()
        self.room = {OLD: SHOWN, NEW: SHOWN, BOTH: SHOWN // 2}
        self.cut = dict.fromkeys(self.room, 0)

    def add(self, sign: str, lines: Sequence[str]) -> None:
        for line in lines:
            if self.room[sign] <= 0:
                self.cut[sign] += 1
                continue
            text = line[: min(safe_text.MAX_LINE, self.room[sign])]
            self.room[sign] -= len(text) + 2
            self.text.append(f"{sign} {safe_text.clean(text)}\n", STYLES[sign])
            if len(text) < len(line):
                rest = many(len(line) - len(text), "more character")
                self.text.append(f"  … {rest} of this line: not shown here\n", "yellow")

    def hide(self, count: int) -> None:
        if count > 0:
            self.text.append(f"  … {many(count, 'line is', 'lines are')} the same in both\n", "dim italic")


def _mark_words(text: Text) -> None:
    """Underline the words by which a line differs from the one that replaced it, where most of it is the same."""
    from memtui.tidy import similarity  # not needed for the first paint

    at, starts = 0, []
    for line in text.plain.split("\n"):
        starts.append((at, line))
        at += len(line) + 1
    for (old_at, old), (new_at, new) in pairwise(starts):
        if old[:2] == f"{OLD} " and new[:2] == f"{NEW} ":
            for at, spans in zip((old_at, new_at), similarity.differing(old[2:], new[2:]), strict=True):
                for start, end in spans:
                    text.stylize("underline", at + 2 + start, at + 2 + end)
