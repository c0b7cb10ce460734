"""What a draft says of the sentences that carry a rule: its description, its body, the reason and the occasion."""

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import takewhile
from typing import NamedTuple

from memtui.core.base import clock
from memtui.core.client.conversation import normalised
from memtui.core.memories.relative_dates import relative_dates
from memtui.extract import carried, phrases, wording
from memtui.extract.carried import Sentence

# Characters: the most of a body's sentences and of a reason, the fewest of a reason; words with which a sentence says
# something; words of a sentence that may only announce the points below it.
MAX_BODY, MAX_REASON, LEAST_REASON, LEAST_WORDS, MOST_ANNOUNCED = 600, 240, 8, 3, 6
# Characters of lead-ins, and words beside the rule, for which there is no body; characters of code in a description.
MOST_LEFT_OUT, LEAST_TOLD, MOST_CODE = 60, 1, 60

# What goes on after a reason.
_FURTHER = re.compile(r", (?:and|but|so) ")
_LETTER = re.compile(r"[^\W\d_]")


class DraftWords(NamedTuple):
    """The words of a draft."""

    description: str
    body: str


def told(rule: Sentence, kept: Sequence[Sentence], time: str) -> DraftWords:
    """Return the words of a draft. `rule`: the sentence that says what to do; `kept`: those that carry it, in their
    order; `time`: when it was said, by which relative dates become absolute ones."""
    reason, occasion = _reason(rule, kept), _occasion(rule, kept, time)
    text = phrases.REASON.sub("", rule.text) if reason else rule.text
    text = text if len(text.split()) >= LEAST_WORDS else rule.text
    description = _dated(wording.describe(_completed(text, rule, kept)), time)
    rest = [left for each in kept if (left := each.without(reason)).said] if reason else kept
    body = []
    short = rule.without(reason)
    goes_on = text != rule.text and short == rule  # behind the reason
    if goes_on or _says_more(short, description, rest):
        body.append(_dated(wording.cut(carried.told(rest), MAX_BODY), time))
    if reason:
        body.append("**Why:** " + _dated(reason, time))
    if occasion and normalised(occasion) not in normalised(description):
        body.append("**How to apply:** " + occasion)
    return DraftWords(description, "\n\n".join(body))


def _completed(told: str, rule: Sentence, kept: Sequence[Sentence]) -> str:
    """Return what is `told` of a rule, with the code or the points that it announces, or with what limits it."""
    text = told.rstrip(" :.,;!?…。！？")
    at = next((at for at, each in enumerate(kept) if each.said == rule.said), len(kept))
    code = kept[at].code if at < len(kept) else ""
    if code and len(code) <= MOST_CODE:
        return f"{text}: " + "; ".join(f"`{line.strip()}`" for line in code.splitlines())
    limit = carried.limit_of(rule, kept)
    if limit and len(text) + len(limit) < wording.MAX_DESCRIPTION:
        return f"{text}{'。' if limit.endswith('。') else '. '}{limit}"
    announces = len(text.split()) <= MOST_ANNOUNCED and (rule.announces or text.lower().endswith(" that"))
    listed = [*takewhile(lambda each: each.listed, kept[at + 1 :])] if announces else []
    joint = " " if text.lower().endswith(" that") else ": "
    return text + joint + "; ".join(each.text.rstrip(" .;,") for each in listed) if listed else told


def _says_more(rule: Sentence, description: str, kept: Sequence[Sentence]) -> bool:
    """Whether the sentences that carry a rule say more than its description."""
    if normalised(carried.told(kept)) == normalised(description):
        return False
    if description.endswith("…") or len(description) < len(rule.text) - MOST_LEFT_OUT:
        return True
    others = [each for each in kept if each.said != rule.said and normalised(each.text) not in normalised(description)]
    words = " ".join(each.text for each in others if _LETTER.search(each.low))
    return len(words.split()) > LEAST_TOLD or not words.isascii() or any(each.code for each in kept)


def _reason(sentence: Sentence, kept: Sequence[Sentence]) -> str:
    """Return the reason that the person gave, in the sentence of the rule, else beside it; empty if they gave none."""
    asks = sentence.question and not wording.imperative(wording.describe(sentence.text))
    others = (phrases.REASON.match(each.text) for each in kept if not each.question)
    found = (None if asks else phrases.REASON.search(sentence.text)) or next(filter(None, others), None)
    if found is None:
        return ""
    reason = phrases.SENTENCE_END.split(found["reason"])[0].partition("; ")[0]
    reason = next((reason[: end.start()] for end in _FURTHER.finditer(reason) if _orders(reason[end.end() :])), reason)
    if found.start() == 0 and len(reason.partition(", ")[2].split()) >= LEAST_WORDS:
        reason = reason.partition(", ")[0]  # "since it is slow, use the other one"
    if reason.count(")") > reason.count("("):
        reason = reason.partition(")")[0]
    reason = reason.strip(phrases.CLOSING)
    return wording.cut(reason[:1].upper() + reason[1:], MAX_REASON) if len(reason) >= LEAST_REASON else ""


def _orders(text: str) -> bool:
    """Whether a text says what to do."""
    return wording.imperative(wording.describe(text)) or text.lower().startswith(("instead of ", "rather than "))


def _occasion(sentence: Sentence, kept: Sequence[Sentence], time: str) -> str:
    """Return when the rule is for, by the person's words; empty if they did not say."""
    places = [(sentence, phrases.OCCASION.search(sentence.text))]
    places += [(each, phrases.OCCASION.match(each.text)) for each in kept if not each.question]
    found = next((found for each, found in places if found and _lays_down(each, found.end("when"))), None)
    if found is None or phrases.WHETHER.search(found.string[: found.start("when")]):
        return ""
    # "When you" makes a rule of any day of what follows; the day that this names is one day all the same.
    opening, _, rest = phrases.REASON.sub("", found["when"]).strip().partition(" ")
    who, _, rest = rest.partition(" ")
    return f"{opening[:1].upper()}{opening[1:]} {who} {_dated(rest, time)}".strip()


def _lays_down(sentence: Sentence, start: int) -> bool:
    """Whether a sentence says what to do, be it behind a clause that ends at `start`; it may tell what happens."""
    told = (wording.describe(sentence.text), wording.describe(sentence.text[start:].lstrip(" ,;")))
    norm = not sentence.question and phrases.NORM.search(sentence.low) is not None
    return norm or any(map(wording.imperative, told))


def _dated(text: str, time: str) -> str:
    """Return a text with the absolute dates of relative ones, by when it was said; as it is without a time."""
    seconds = clock.parse(time)
    if seconds is None:
        return text
    written = datetime.fromtimestamp(seconds).astimezone().date()  # as the person's calendar has it
    for each in reversed(list(relative_dates(text, written))):
        text = text[: each.start] + each.absolute + text[each.end :]
    return text
