"""The words by which a line differs from the one that replaced it, for diffs in both user interfaces."""

import re
from collections.abc import Iterator, Sequence

# Words are marked in lines of at most so many characters, of which at least this part is the same.
MARKED_LINE, ALIKE = 1000, 0.4
WORD = re.compile(r"\s+|\w+|[^\w\s]")
Spans = list[tuple[int, int]]


def differing(old: str, new: str) -> tuple[Spans, Spans]:
    """Return where each of two lines differs from the other, as (start, end); nothing where most of them does."""
    from difflib import SequenceMatcher

    if max(len(old), len(new)) > MARKED_LINE:
        return [], []
    words = [WORD.findall(line) for line in (old, new)]
    matcher = SequenceMatcher(None, words[0], words[1], autojunk=False)
    if matcher.ratio() < ALIKE:
        return [], []
    steps = [step[1:] for step in matcher.get_opcodes() if step[0] != "equal"]
    return (
        list(_spans(words[0], [(begin, end) for begin, end, _, _ in steps])),
        list(_spans(words[1], [(begin, end) for _, _, begin, end in steps])),
    )


def _spans(words: Sequence[str], ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for begin, end in ranges:
        if begin < end:
            start = len("".join(words[:begin]))
            yield start, start + len("".join(words[begin:end]))
