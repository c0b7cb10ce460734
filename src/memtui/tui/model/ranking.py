"""How well a name answers what was typed into the palette: as a whole, or by its words."""

import re

# The ranks of a name, from the worst to the best: it does not answer; a word is only in its explanation; within a word;
# at the beginning of a word; all typed words are words of it; it is what was typed.
NONE, EXPLAINED, WITHIN, AT_START, WHOLE, EXACT = range(6)
# What joins the words of a name.
JOINT = r"[\W_]"


def rank(name: str, typed: str, explanation: str = "") -> int:
    """Return the rank of a name, such as `theme: nord`: that of the typed word which it answers worst. It is exact with
    or without what stands before the colon."""
    low, wanted = name.casefold(), typed.casefold().split()
    if " ".join(wanted) in {low, low.partition(": ")[2]}:
        return EXACT
    return min((_of_word(low, word, explanation.casefold()) for word in wanted), default=NONE)


def _of_word(low: str, word: str, explanation: str) -> int:
    sought = re.escape(word)
    if not re.search(sought, low):
        return EXPLAINED if word in explanation else NONE
    begun = rf"(?:^|(?<={JOINT})){sought}"
    if not re.search(begun, low):
        return WITHIN
    return WHOLE if re.search(rf"{begun}(?={JOINT}|$)", low) else AT_START
