"""A draft as both front doors tell of it: what was said around it."""

from typing import NamedTuple

from memtui.core.review.evidence import Evidence
from memtui.core.review.waiting import Waiting

# Of the memories that are alike so many are shown, of what was said so many characters.
ALIKE_SHOWN = 3
HIT_SHOWN, AROUND_SHOWN = 900, 300


class Quote(NamedTuple):
    """Words that somebody said, as far as it is shown; `hit` is what the draft comes from."""

    who: str
    text: str
    hit: bool


def setting(found: Evidence) -> list[Quote]:
    """Quote what was said around a draft, by the transcript."""
    quotes = []
    for said in found.said:
        limit = HIT_SHOWN if said.hit else AROUND_SHOWN
        words = said.text if len(said.text) <= limit else said.text[:limit] + " …"
        quotes.append(Quote(said.who, " ".join(words.split()) if said.who == "tool" else words, said.hit))
    return quotes


def quoted(item: Waiting) -> list[Quote]:
    """Quote what the draft itself holds of it."""
    return [Quote(who, words, hit=True) for who, _, words in (line[2:].partition(": ") for line in item.evidence)]
