"""The conversation that a draft comes from, as both front doors quote it."""

from typing import NamedTuple

from memtui.core.review.evidence import Evidence
from memtui.core.review.waiting import Waiting

SIMILAR_SHOWN = 3  # similar memories beside a draft
HIT_SHOWN, AROUND_SHOWN = 900, 300  # characters of a quote: one that the draft comes from, one around it


class Quote(NamedTuple):
    """Words from a conversation, cut to what is shown; `hit` if the draft comes from them."""

    who: str
    text: str
    hit: bool


def setting(found: Evidence) -> list[Quote]:
    """Quote the transcript around a draft."""
    quotes = []
    for each in found.said:
        limit = HIT_SHOWN if each.hit else AROUND_SHOWN
        words = each.text if len(each.text) <= limit else each.text[:limit] + " …"
        quotes.append(Quote(each.who, " ".join(words.split()) if each.who == "tool" else words, each.hit))
    return quotes


def quoted(item: Waiting) -> list[Quote]:
    """Quote the evidence that the draft itself holds, for where the transcript is gone."""
    return [Quote(who, words, hit=True) for who, _, words in (line[2:].partition(": ") for line in item.evidence)]
