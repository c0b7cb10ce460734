"""The differences of two texts, line by line."""

from collections import Counter
from collections.abc import Iterator, Sequence
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
    text, cut = Text(), Counter[str]()
    room = {OLD: SHOWN, NEW: SHOWN, BOTH: SHOWN // 2}
    for sign, line in _rows(_lines(old), _lines(new)):
        if isinstance(line, int):
            text.append(f"  … {many(line, 'line is', 'lines are')} the same in both\n", "dim italic")
        elif room[sign] <= 0:
            cut[sign] += 1
        else:
            start = line[: min(safe_text.MAX_LINE, room[sign])]
            room[sign] -= len(start) + 2
            text.append(f"{sign} {safe_text.clean(start)}\n", STYLES[sign])
            if rest := len(line) - len(start):
                text.append(f"  … {many(rest, 'more character')} of this line: not shown here\n", "yellow")
    whose = {OLD: f"that only {names[0]} has", NEW: f"that only {names[1]} has", BOTH: "of both"}
    for sign, words in whose.items():
        if cut[sign]:
            text.append(f"{sign} … {many(cut[sign], 'more line')} {words}: not shown here\n", "yellow")
    _mark_words(text)
    return text


def _rows(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str | int]]:
    """Yield the lines with the sign of each; the number of equal lines that are left out in their place."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, before, after)
    begin = _same(before, after)
    end = _same(before[begin:][::-1], after[begin:][::-1])
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


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines two texts begin with that are the same."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def underline(one: Text, other: Text, style: str = "underline") -> bool:
    """Underline the words that only one of two texts has, if few, those of the first in a `style`; tell if any are."""
    from memtui.tidy import similarity  # not needed for the first paint

    differing = similarity.differing(one.plain, other.plain)
    for text, spans, own_style in zip((one, other), differing, (style, "underline"), strict=True):
        for start, end in spans:
            text.stylize(own_style, start, end)
    return any(differing)


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
