"""What a draft says of the sentences that carry a rule: its description and its body, in the person's own words."""

from collections.abc import Sequence
from datetime import datetime
from itertools import takewhile
from typing import NamedTuple

from memtui.core.base import clock
from memtui.core.client.conversation import normalised
from memtui.core.memories.relative_dates import relative_dates
from memtui.extract import carried, wording
from memtui.extract.carried import Sentence

# Characters of a body, of code in a description, and of lead-ins that a description leaves out; words of a sentence
# that may only announce the points below it, and words beside a rule for which there is no body.
MAX_BODY, MOST_CODE, MOST_LEAD, MOST_ANNOUNCED, LEAST_MORE = 600, 60, 60, 6, 1


class DraftWords(NamedTuple):
    """The words of a draft."""

    description: str
    body: str


def quoted(rule: Sentence, sentences: Sequence[Sentence], time: str) -> DraftWords:
    """Return the words of a draft. `rule`: the sentence that says what to do; `sentences`: those that carry it, in
    their order; `time`: when it was said, by which relative dates become absolute ones."""
    description = _dated(wording.describe(_completed(rule, sentences)), time)
    if not _says_more(rule, description, sentences):
        return DraftWords(description, "")
    return DraftWords(description, _dated(wording.cut(carried.told(sentences), MAX_BODY), time))


def _completed(rule: Sentence, sentences: Sequence[Sentence]) -> str:
    """Return a rule with the code or the points that it announces, or with what limits it."""
    text = rule.text.rstrip(" :.,;!?…。！？")
    at = next((at for at, each in enumerate(sentences) if each.said == rule.said), len(sentences))
    code = sentences[at].code if at < len(sentences) else ""
    if code and len(code) <= MOST_CODE:
        return f"{text}: " + "; ".join(f"`{line.strip()}`" for line in code.splitlines())
    limit = carried.limit_of(rule, sentences)
    if limit and len(text) + len(limit) < wording.MAX_DESCRIPTION:
        return f"{text}{'。' if limit.endswith('。') else '. '}{limit}"
    announces = len(text.split()) <= MOST_ANNOUNCED and (rule.announces or text.lower().endswith(" that"))
    listed = [*takewhile(lambda each: each.listed, sentences[at + 1 :])] if announces else []
    joint = " " if text.lower().endswith(" that") else ": "
    return text + joint + "; ".join(each.text.rstrip(" .;,") for each in listed) if listed else rule.text


def _says_more(rule: Sentence, description: str, sentences: Sequence[Sentence]) -> bool:
    """Whether the sentences that carry a rule say more than its description."""
    if normalised(carried.told(sentences)) == normalised(description):
        return False
    if description.endswith("…") or len(description) < len(rule.text) - MOST_LEAD:
        return True
    others = [each for each in sentences if each.said != rule.said]
    words = " ".join(each.text for each in others if normalised(each.text) not in normalised(description))
    return len(words.split()) > LEAST_MORE or not words.isascii() or any(each.code for each in sentences)


def _dated(text: str, time: str) -> str:
    """Return a text with the absolute dates of relative ones, by when it was said; as it is without a time."""
    seconds = clock.parse(time)
    if seconds is None:
        return text
    written = datetime.fromtimestamp(seconds).astimezone().date()  # as the person's calendar has it
    for each in reversed(list(relative_dates(text, written))):
        text = text[: each.start] + each.absolute + text[each.end :]
    return text
