"""The differences of two texts, line by line, in a time that stays short for long and very different texts."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.text import Text

from memtui.core.base.phrasing import many
from memtui.present import safe_text, word_diff

BOTH, OLD, NEW = " ", "-", "+"
STYLES = {BOTH: "dim", OLD: "red", NEW: "green"}
# Equal lines that are shown around a difference.
CONTEXT = 4
# Characters drawn of each text; a dialog draws no more than the two together.
SHOWN = 20_000
# Between two anchors, so many lines of each text are compared one by one; more are taken as all different.
SMALL = 40

Marked = tuple[str, str]


def compared(old: Sequence[str], new: Sequence[str]) -> Iterator[Marked]:
    """Yield the lines of both texts, each with the text it is from. Lines that occur once in each text are the anchors
    (as in a patience diff), so that texts with nothing in common take no longer."""
    begin = 0
    while begin < min(len(old), len(new)) and old[begin] == new[begin]:
        begin += 1
    end = 0
    while end < min(len(old), len(new)) - begin and old[-1 - end] == new[-1 - end]:
        end += 1
    yield from ((BOTH, line) for line in old[:begin])
    yield from _middle(old[begin : len(old) - end], new[begin : len(new) - end])
    yield from ((BOTH, line) for line in old[len(old) - end :])


def _middle(old: Sequence[str], new: Sequence[str]) -> Iterator[Marked]:
    here = there = 0
    for at_old, at_new in [*_anchors(old, new), (len(old), len(new))]:
        yield from _gap(old[here:at_old], new[there:at_new])
        if at_old < len(old):
            yield BOTH, old[at_old]
        here, there = at_old + 1, at_new + 1


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions (in `old`, in `new`) of the longest sequence of lines that occur once in each text, in the
    order of both."""
    once = [{line for line, count in Counter(lines).items() if count == 1} for lines in (old, new)]
    where = {line: at for at, line in enumerate(new) if line in once[1]}
    ends: list[int] = []  # the smallest end, in `new`, of an ascending sequence of each length
    last: list[int] = []  # the number of that pair
    pairs: list[tuple[int, int, int]] = []
    for at, line in enumerate(old):
        if line not in once[0] or line not in where:
            continue
        length = bisect_left(ends, where[line])
        pairs.append((at, where[line], last[length - 1] if length else -1))
        ends[length : length + 1] = [where[line]]
        last[length : length + 1] = [len(pairs) - 1]
    found: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        at_old, at_new, number = pairs[number]
        found.append((at_old, at_new))
    return found[::-1]


def _gap(old: Sequence[str], new: Sequence[str]) -> Iterator[Marked]:
    import difflib

    steps = [("replace", 0, len(old), 0, len(new))]
    if len(old) <= SMALL and len(new) <= SMALL:
        steps = list(difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
    for kind, old_from, old_to, new_from, new_to in steps:
        if kind == "equal":
            yield from ((BOTH, line) for line in old[old_from:old_to])
        else:
            yield from ((OLD, line) for line in old[old_from:old_to])
            yield from ((NEW, line) for line in new[new_from:new_to])


def drawn(old: str, new: str, names: tuple[str, str]) -> Text:
    """Draw the lines of two texts, with `-` or `+` before those that only one has. `names`: the names of the two. Lines
    that are left out are counted."""
    lines = list(compared(*(each.split("\n") if each else [] for each in (old, new))))
    near = _near(lines)
    room = {OLD: SHOWN, NEW: SHOWN, BOTH: SHOWN // 2}
    text = Text()
    hidden = 0
    cut = dict.fromkeys(room, 0)
    for number, (sign, line) in enumerate(lines):
        if not near[number]:
            hidden += 1
            continue
        if hidden:
            text.append(f"  … {many(hidden, 'line is', 'lines are')} the same in both\n", "dim italic")
            hidden = 0
        if room[sign] <= 0:
            cut[sign] += 1
            continue
        shown = line[: min(safe_text.MAX_LINE, room[sign])]
        room[sign] -= len(shown) + 2
        text.append(f"{sign} {safe_text.clean(shown)}\n", STYLES[sign])
        if len(shown) < len(line):
            rest = many(len(line) - len(shown), "more character")
            text.append(f"  … {rest} of this line: not shown here\n", "yellow")
    if hidden:
        text.append(f"  … {many(hidden, 'line is', 'lines are')} the same in both\n", "dim italic")
    words = {OLD: f"that only {names[0]} has", NEW: f"that only {names[1]} has", BOTH: "of both"}
    for sign, count in cut.items():
        if count:
            text.append(f"{sign} … {many(count, 'more line')} {words[sign]}: not shown here\n", "yellow")
    _mark_words(text)
    return text


def _mark_words(text: Text) -> None:
    """Underline the words by which a line differs from the one that replaced it, where most of it is the same."""
    at, starts = 0, []
    for line in text.plain.split("\n"):
        starts.append((at, line))
        at += len(line) + 1
    for (old_at, old), (new_at, new) in pairwise(starts):
        if old[:2] == f"{OLD} " and new[:2] == f"{NEW} ":
            for at, spans in zip((old_at, new_at), word_diff.differing(old[2:], new[2:]), strict=True):
                for start, end in spans:
                    text.stylize("underline", at + 2 + start, at + 2 + end)


def _near(lines: Sequence[Marked]) -> list[bool]:
    """Return for each line whether it differs, or is within CONTEXT of one that does."""
    near = [False] * len(lines)
    until = -1
    for number, (sign, _) in enumerate(lines):
        if sign != BOTH:
            for at in range(max(until, number - CONTEXT), number):
                near[at] = True
            until = number + CONTEXT + 1
        near[number] = near[number] or number < until
    return near
