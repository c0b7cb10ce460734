"""Which sentences of a message carry a rule: it itself, what it refers to, what limits or explains it, and its points.
All else stays out of a draft's body; but a sentence in a language that these patterns don't know stays with a rule of
its paragraph, because it may limit it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import takewhile

from memtui.base import clock_hot
from memtui.base.phrasing_hot import cut
from memtui.client.transcripts.conversation import normalised
from memtui.learn import phrases, wording
from memtui.store.relative_dates import dated

# How many sentences before one are looked at for what it refers to; how many after it may belong to it; characters of a
# body; the fewest words of a sentence that may limit another; first words in which a reference is looked for.
MOST_BACK, MOST_ON, MOST_CHARS, LEAST_WORDS, FIRST_WORDS = 2, 3, 500, 3, 7
# Sentences of a body but for points; characters of a list that is short.
MOST_SENTENCES, MOST_SHORT_LIST = 4, 200
REMEMBERED = 256  # sentences of which it is known whether they order something
_FOLLOWING = phrases.pattern("following")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a message: `text` without fillers, `low` in lower case and without quotations of the agent;
    `said`: as written; `line`: the number of its line, `mark`: what lists it there; `code`: what it announces."""

    text: str
    low: str
    question: bool
    mark: str = ""
    said: str = ""
    line: int = 0
    code: str = ""

    @property
    def listed(self) -> bool:
        return bool(self.mark)

    @property
    def announces(self) -> bool:
        return self.text.endswith((":", "\uff1a")) or _FOLLOWING.search(self.text) is not None


_REFERS, _THOSE, _NO_REFERENCE, _NAMED = map(phrases.pattern, ("refers", "those", "no_reference", "named"))
_BELONGS, _LIMITS, _ASKS, _THEREFORE = map(phrases.pattern, ("belongs", "limits", "asks", "therefore"))
_BROKEN, _MAY_END, _STATES, _PRAISES = map(phrases.pattern, ("broken", "may_end", "states", "praises"))
_ENGLISH = phrases.pattern("english")
_HALF, _OTHER_HALF = re.compile(r"\b[a-z]\.$"), re.compile(r"\w{1,2}\.(?:\s|$)")
_TWO_WORDS = re.compile(r"[^\W\d_]+ [^\W\d_]+[.!]*$")


def unbroken(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Join sentences that an abbreviation, a bracket or code had split."""
    joined: list[Sentence] = []
    for at, each in enumerate(sentences):
        last = joined[-1] if joined else None
        after = " ".join(other.said for other in sentences[at:] if other.line == each.line)
        if last and last.line == each.line and _goes_on(last.said, after):
            closing = last.said[len(last.said.rstrip("\"')")) :]
            text, low = f"{last.text}{closing} {each.said}", f"{last.low}{closing} {each.said.lower()}"
            joined[-1] = replace(last, text=text, low=low, said=f"{last.said} {each.said}", question=each.question)
        else:
            joined.append(each)
    return joined


def _goes_on(text: str, after: str) -> bool:
    code = text.count("`") % 2 == 1 and "`" in after
    opened = code or (text.count("(") > text.count(")") and ")" in after)
    half = _HALF.search(text) and _OTHER_HALF.match(after)
    may_end = after[:1].islower() and _MAY_END.search(text)
    return opened or any((half, may_end, _BROKEN.search(text)))


def carrying(
    sentences: Sequence[Sentence], at: int, others: Iterable[int], apart: Iterable[int], *, alone: bool
) -> list[Sentence]:
    """Return the sentences that carry the rule at a place of a message, as many as a body holds; the rule always.
    `others`: places of more rules, and of objections; `apart`: those of another draft; `alone`: whether the rule says
    by itself what to do, else what is around it may belong to it."""
    places = [*_with(sentences, at), *_foreign(sentences, at)]
    for other in others:
        places += _with(sentences, other)
    places += _around(sentences, at, alone=alone)
    apart = set(apart) - set(_referred(sentences, at))
    places_fitting: list[int] = []
    room = MOST_CHARS - len(sentences[at].said)
    for place in dict.fromkeys(places):
        size = len(sentences[place].said)
        few = sentences[place].listed or len(places_fitting) < MOST_SENTENCES
        if place == at or (few and size <= room and place not in apart):
            places_fitting.append(place)
            room -= 0 if place == at else size
    coded = alone or _orders(sentences[at])
    chosen = [(place, sentences[place]) for place in sorted(places_fitting)]
    return [sentence if place == at and coded else replace(sentence, code="") for place, sentence in chosen]


def limit_of(sentence: Sentence, sentences: Sequence[Sentence]) -> str:
    """Return the sentence that limits a rule right after it, by an exception or a condition; empty if none does."""
    at = next((at for at, one in enumerate(sentences) if (one.said, one.line) == (sentence.said, sentence.line)), None)
    after = None if at is None else next(iter(sentences[at + 1 : at + 2]), None)
    near = after is not None and after.line - sentence.line <= 1 and not after.question
    return after.said if after is not None and near and limits(after) else ""


def limits(sentence: Sentence) -> bool:
    return _LIMITS.match(sentence.said) is not None


def told(sentences: Sequence[Sentence]) -> str:
    """Return sentences as the text of a body: those of a line in a line, points as a list, code in a fence."""
    text = ""
    last: Sentence | None = None
    for each in sentences:
        begins = last is None or each.line != last.line or bool(last.code)
        words = (each.mark if begins else "") + each.said + (f"\n\n```\n{each.code}\n```" if each.code else "")
        if last is not None:
            near = each.line - last.line <= 1 and each.listed == last.listed and not last.code
            # No blank where a script has none.
            joint = "" if text.endswith(("。", "！", "？")) else " "
            text += ("\n" if near or (each.listed and last.announces) else "\n\n") if begins else joint
        text += words
        last = each
    return text


def _with(sentences: Sequence[Sentence], at: int) -> Iterator[int]:
    """Yield the places of a sentence and of all that it needs, what it needs most first."""
    yield at
    yield from _referred(sentences, at)
    yield from _points(sentences, at)
    if at and _turns(sentences, at, at - 1):
        yield at - 1
    turned = False
    for place in range(at + 1, min(len(sentences), at + 1 + MOST_ON)):
        sentence = sentences[place]
        joined = _near(sentences, place - 1, place) or _REFERS.match(sentence.low)
        turns = not turned and _turns(sentences, at, place)
        if _asks(sentence) or not joined or not (turns or _BELONGS.match(sentence.said)):
            break
        turned |= turns
        yield place


def _referred(sentences: Sequence[Sentence], at: int) -> list[int]:
    back = at
    while back > 0 and at - back < MOST_BACK and _refers(sentences[back]):
        back -= 1
    return list(range(at - 1, back - 1, -1))


def _refers(sentence: Sentence) -> bool:
    """Whether a sentence begins with a word for something said before, says “those rules”, or follows from it."""
    head = _NO_REFERENCE.sub("_", " ".join(sentence.low.split()[:FIRST_WORDS]))
    match = _REFERS.search(head)
    begins = match is not None and not _NAMED.search(head[: match.start()])
    references = (_THOSE.search(sentence.low), _THEREFORE.match(sentence.said))
    return begins or any(match is not None for match in references)


def _near(sentences: Sequence[Sentence], one: int, other: int) -> bool:
    return abs(sentences[one].line - sentences[other].line) <= 1


def _turns(sentences: Sequence[Sentence], at: int, place: int) -> bool:
    """Whether one of two orders in a paragraph says what not to do, and the other what to do."""
    one, other = sentences[at], sentences[place]
    if other.question or other.listed or one.listed or not _near(sentences, at, place):
        return False
    return (_forbids(one) or _forbids(other)) and _orders(one) and _orders(other)


def _forbids(sentence: Sentence) -> bool:
    return bool(wording.negations(sentence.low)) or sentence.low.startswith("stop ")


@lru_cache(maxsize=REMEMBERED)
def _orders(sentence: Sentence) -> bool:
    return wording.orders(sentence.text)


def _around(sentences: Sequence[Sentence], at: int, *, alone: bool) -> Iterator[int]:
    """Yield the statement after a rule; around one that does not stand `alone` the nearest ones of its paragraph."""
    if sentences[at].listed:
        return
    single = all(not _near(sentences, at, place) for place in (at - 1, at + 1) if 0 <= place < len(sentences))
    ended = set()
    for step in (1,) if alone else (1, -1, 2, -2, 3, -3):
        place, side = at + step, 1 if step > 0 else -1
        if not 0 <= place < len(sentences) or side in ended:
            continue
        if not _near(sentences, place - side, place) and not (single and abs(step) == 1):
            ended.add(side)
        elif _tells(sentences[place], asks=_asks(sentences[at])) and not (alone and _orders(sentences[place])):
            yield place


def _asks(sentence: Sentence) -> bool:
    return sentence.question and _ASKS.match(sentence.said) is not None


def _tells(sentence: Sentence, *, asks: bool) -> bool:
    """Whether a sentence beside a rule tells something: no greeting or praise; no question, but beside one."""
    if len(sentence.low.split()) < LEAST_WORDS and sentence.low.isascii() and "://" not in sentence.low:
        return False
    return (asks or not _asks(sentence)) and not _PRAISES.match(sentence.said)


def _points(sentences: Sequence[Sentence], at: int) -> Iterator[int]:
    """Yield the points that a sentence announces; of a point, what announces it, and the others of a list of rules."""
    first, announced = at + 1, True
    if sentences[at].listed:
        first = at
        while first > 0 and sentences[first - 1].listed and _near(sentences, first - 1, first):
            first -= 1
        announced = first > 0 and _heads(sentences, first - 1)
        if announced:
            yield first - 1
    elif not _heads(sentences, at):
        if sentences[at].announces:
            yield from takewhile(lambda place: _near(sentences, place - 1, place), range(first, len(sentences)))
        return
    points = []
    while first < len(sentences) and sentences[first].listed:
        points.append(first)
        first += 1
    orders = sum(_orders(sentences[point]) for point in points)
    short = sum(len(sentences[point].said) for point in points) <= MOST_SHORT_LIST
    if announced and (not sentences[at].listed or short or orders * 2 >= len(points)):
        yield from points
    elif orders * 2 >= len(points):
        yield from (point for point in points if _orders(sentences[point]) or not _STATES.search(sentences[point].low))


def _heads(sentences: Sequence[Sentence], at: int) -> bool:
    """Whether a sentence announces the points below it: it says so, or ends without a mark just above them."""
    one, other = sentences[at], sentences[at + 1 : at + 2]
    if one.listed or one.question or not other or not other[0].listed:
        return False
    return one.announces or (_near(sentences, at, at + 1) and one.said[-1:] not in ".!?…。！？")


def _foreign(sentences: Sequence[Sentence], at: int) -> Iterator[int]:
    """Yield the other sentences of a paragraph, where they are in a language that the patterns don't know."""
    for step in (1, -1):
        place = at + step
        while 0 <= place < len(sentences) and _near(sentences, place - step, place) and not sentences[place].listed:
            each = sentences[place]
            long = len(each.low.split()) >= LEAST_WORDS or _TWO_WORDS.match(each.low) or not each.low.isascii()
            if long and not _ENGLISH.search(each.low) and not _orders(each):
                yield place
            place += step


# Characters of a body, of code in a description, and of lead-ins that a description leaves out; words of a sentence
# that may only announce the points below it, and words beside a rule for which there is no body.
MAX_BODY, MOST_CODE, MOST_LEAD, MOST_ANNOUNCED, LEAST_MORE = 600, 60, 60, 6, 1


def quoted(rule: Sentence, sentences: Sequence[Sentence], time: str) -> tuple[str, str]:
    """Return description and body of a draft. `rule`: the sentence that says what to do; `sentences`: those that carry
    it, in their order; `time`: when it was said, by which relative dates become absolute ones."""
    description = _dated(wording.describe(_completed(rule, sentences)), time)
    if not _says_more(rule, description, sentences):
        return description, ""
    return description, _dated(cut(told(sentences), MAX_BODY), time)


def _completed(rule: Sentence, sentences: Sequence[Sentence]) -> str:
    """Return a rule with the code or the points that it announces, or with what limits it."""
    text = rule.text.rstrip(" :.,;!?…。！？")
    at = next((at for at, sentence in enumerate(sentences) if sentence.said == rule.said), len(sentences))
    code = sentences[at].code if at < len(sentences) else ""
    if code and len(code) <= MOST_CODE:
        return f"{text}: " + "; ".join(f"`{line.strip()}`" for line in code.splitlines())
    limit = limit_of(rule, sentences)
    if limit and len(text) + len(limit) < wording.MAX_DESCRIPTION:
        return f"{text}{'。' if limit.endswith('。') else '. '}{limit}"
    announces = len(text.split()) <= MOST_ANNOUNCED and (rule.announces or text.lower().endswith(" that"))
    points = [*takewhile(lambda sentence: sentence.listed, sentences[at + 1 :])] if announces else []
    joint = " " if text.lower().endswith(" that") else ": "
    return text + joint + "; ".join(sentence.text.rstrip(" .;,") for sentence in points) if points else rule.text


def _says_more(rule: Sentence, description: str, sentences: Sequence[Sentence]) -> bool:
    if normalised(told(sentences)) == normalised(description):
        return False
    if description.endswith("…") or len(description) < len(rule.text) - MOST_LEAD:
        return True
    others = [sentence for sentence in sentences if sentence.said != rule.said]
    words = " ".join(sentence.text for sentence in others if normalised(sentence.text) not in normalised(description))
    return len(words.split()) > LEAST_MORE or not words.isascii() or any(sentence.code for sentence in sentences)


def _dated(text: str, time: str) -> str:
    """Return a text with the absolute dates of relative ones, by when it was said; as it is without a time."""
    seconds = clock_hot.parse(time)
    if seconds is None:
        return text
    day = datetime.fromtimestamp(seconds).astimezone().date()  # as the person's calendar has it
    return dated(text, day)
