"""Signals: drafts of memories from what a person said (corrections, confirmations, preferences), by rules.

Precision before recall: extract/judged.py adds what the rules miss. Every signal has a confidence between 0 and 1; the
caller drops those below the setting `extract_confidence`. Nothing here reads or writes files.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from memtui.core.base import clock
from memtui.core.client.conversation import Turn, normalised
from memtui.core.memories.relative_dates import relative_dates
from memtui.extract import naming, phrases, wording

# Characters: the most of the person's words, of the agent's and of a reason; a message that is long.
MAX_WORDS, MAX_AGENT, MAX_REASON, LONG_TEXT = 600, 300, 240, 1200
MIN_RULE_WORDS, LEAST_REASON = 3, 8
# The confidence from which the rules take a prompt for feedback and no request.
LEAST_FEEDBACK = 0.4
# How much of the doubt is left each time that something is said again, and how sure that makes a draft at most.
DOUBT, MOST_SURE = 0.8, 0.98
# Sentences among which the one that says what to do is looked for; rules of one message that become drafts, and how
# much of a rule each but the strongest must be; listed points that make a specification.
MOST_SCORED, MOST_RULES, LEAST_OTHER, CROWD = 12, 3, 0.6, 4
# A description of fewer words says little beside another sentence.
LEAST_TELLING = 4
# Words of a sentence that may only announce the points below it; characters of lead-ins, which a body need not repeat.
MOST_ANNOUNCED, MOST_LEFT_OUT = 6, 60
# How sure it is that a check which failed after a claim of success has to be run before the next one.
SURE_FAILURE = 0.55
# Words from which on a quotation is one; quotations in a message, and the first character that stands for one.
MIN_QUOTED, MOST_QUOTATIONS, FIRST_MARK = 2, 100, 0xE000
# Texts whose words and sentences are remembered, turns whose signal is, and weights: each is asked for several times.
REMEMBERED, REMEMBERED_TURNS, REMEMBERED_WEIGHTS = 256, 256, 2000
_weights: dict[tuple[int, str], tuple[phrases.Weighted, float]] = {}  # by identity: to hash the patterns takes longer

_FENCE = re.compile(r"(?:```|~~~)[\s\S]*?(?:```|~~~|\Z)")
_PASTED_LINE = re.compile(
    r"^\s*(?:>|\d{1,5}\s+[+-]|[+-]{1,3}\s{2,}|[+]\s|@@|\||\$ |at [\w.$]+\(|File \"|\d{1,2}:\d\d"
    r"|\[?\d{4}-\d\d-\d\d|\S+:\d+:|(?:error|warning|info|fail|fatal|remote)\b.{0,3}[:\[]"
    r"|[A-Z][a-z]{2} +\d{1,2},? \d\d:\d\d|[-=]{3,}|[✓✗✔✘●├└│])",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+|^\s*#{1,6}\s")
_LETTER = re.compile(r"[^\W\d_]")
_QUOTATION = re.compile(r"[\"“](?P<text>[^\"“”\n]{6,400})[\"”]")
_MARK = re.compile(f"[{chr(FIRST_MARK)}-{chr(FIRST_MARK + MOST_QUOTATIONS)}]")
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\s\"')]+|(?<=[。！？])|\n+")
# The channels in which a person speaks of what the agent does just then, also if it has said nothing.
BESIDE_WORK = frozenset({"tool_reject", "approval", "queued"})


# Shipped scores of both questions, and the features that decisions correct.
Basis = tuple[tuple[float, float], dict[int, float]]


@dataclass(frozen=True, slots=True)
class Signal:
    """A proposed memory. `evidence`: uuid of the transcript's record; `agent`, `person`: excerpts of what they said;
    `request`: what the person had asked for when they said it; `durable`: how likely it is worth keeping for good, None
    if only the rules have looked at it; `by`: model, if one wrote it; `judged`: the shipped scores and the features
    that decisions on the draft correct (extract/personal.py), which are kept beside it; `repeats`: the records of the
    same reading that say it again; `part`: which rule of a message with several it is, from 0."""

    kind: str
    name: str
    type: str
    scope: str
    description: str
    body: str
    confidence: float
    evidence: str = ""
    session: str = ""
    time: str = ""
    agent: str = ""
    person: str = ""
    request: str = ""
    durable: float | None = None
    by: str = ""
    judged: Basis | None = field(default=None, compare=False)
    repeats: tuple[str, ...] = ()
    part: int = 0

    @property
    def origin(self) -> str:
        """What tells its place apart from others: record, or session and time, and which rule of a message it is."""
        return (self.evidence or f"{self.session}@{self.time}") + (f"#{self.part}" if self.part else "")

    @property
    def origins(self) -> list[str]:
        """The places that say it, each once."""
        return list(dict.fromkeys([self.origin, *self.repeats]))


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str  # as written, without fillers
    low: str  # in lower case and without quotations of the agent, for the patterns
    question: bool
    listed: bool


def once(signals: Iterable[Signal | None]) -> list[Signal]:
    """List signals so that what says the same is there once, the more confident one, surer for each other record that
    says it; and each name once: the second of two that say different things under one name gets a number."""
    found: dict[str, list[Signal]] = {}
    for signal in filter(None, signals):
        found.setdefault(normalised(signal.description), []).append(signal)
    times: Counter[str] = Counter()
    named = []
    for signal in map(_joined, found.values()):
        times[signal.name] += 1
        number = times[signal.name]
        named.append(replace(signal, name=f"{signal.name}-{number}") if number > 1 else signal)
    return named


def _joined(same: list[Signal]) -> Signal:
    best = max(same, key=lambda signal: signal.confidence)
    others = [origin for each in same for origin in each.origins if origin not in best.origins]
    repeats = tuple(dict.fromkeys([*best.repeats, *others]))
    return replace(best, repeats=repeats, confidence=said_again(best.confidence, len(repeats))) if others else best


def said_again(confidence: float, times: int) -> float:
    """Return how sure a draft is that was said so many times more: each leaves less doubt, and some stays."""
    return round(max(confidence, min(MOST_SURE, 1 - (1 - confidence) * DOUBT**times)), 2)


@lru_cache(maxsize=REMEMBERED_TURNS)
def signal_of(turn: Turn) -> Signal | None:
    """Return the signal in one turn, or None; of several rules in it the strongest."""
    heard = _heard(turn)
    return None if heard is None else _main(turn, *heard)


def signals_of(turn: Turn) -> list[Signal]:
    """List the signals in one turn: that of `signal_of`, and up to MOST_RULES - 1 more rules for the future that stand
    in sentences of their own, each with the words that belong to it; none more for the points of a specification."""
    main = signal_of(turn)
    heard = _heard(turn) if main is not None and main.kind != "confirmation" else None
    if main is None or heard is None or _is_crowd(heard[1]):
        return [main] if main else []
    sentences = heard[1]
    rules = [(at, *_rule(each, crowd=False)) for at, each in enumerate(sentences)]
    starts = [at for at, weight, _ in rules if weight >= LEAST_OTHER]
    found = [main]
    for at, weight, kind_of_rule in rules:
        if weight < LEAST_OTHER or len(found) == MOST_RULES or len(starts) < 2:
            continue
        end = next((other for other in starts if other > at), len(sentences))
        own = " ".join(each.text for each in sentences[at:end])
        made = _signal(turn, main.kind, kind_of_rule, sentences[at], own, min(main.confidence, weight))
        if made is None or (not turn.agent and weight < 0.75):
            continue
        if normalised(made.description) == normalised(main.description):
            found[0] = replace(made, kind=main.kind, confidence=main.confidence)
        elif normalised(made.description) not in {normalised(each.description) for each in found}:
            found.append(replace(made, person=wording.cut(own, MAX_WORDS)))
    return [replace(each, part=number) for number, each in enumerate(found)]


def _heard(turn: Turn) -> tuple[str, list[_Sentence]] | None:
    """Return the person's words and the sentences of them; None if nothing can be learned from them."""
    words = own_words(turn.text)
    sentences = sentences_of(words, turn.agent)
    if not sentences or phrases.MACHINE.match(turn.text):
        return None
    return None if any(phrases.OWN_MISTAKE.search(s.low) for s in sentences[:2]) else (words, sentences)


def _main(turn: Turn, words: str, sentences: list[_Sentence]) -> Signal | None:
    rule, standing, kind_of_rule = _best_rule(sentences)
    objection = _objection(sentences, turn)
    penalty = 0.15 if len(words) > LONG_TEXT else 0.0
    if standing and not turn.agent and standing < 0.75:
        penalty += 0.2  # the first words of a session state a task, not a habit
    if rule and (standing >= objection or objection < 0.4):
        kind = "correction" if objection >= 0.45 and turn.agent else "preference"
        bonus = 0.1 if kind == "correction" else 0.0
        return _signal(turn, kind, kind_of_rule, rule, words, min(0.95, standing + bonus) - penalty)
    failure = _failure(turn, sentences, words)
    if objection and (failure is None or failure.confidence < SURE_FAILURE):
        return _signal(turn, "correction", "rule", _directive(sentences), words, objection - penalty)
    return failure or _confirmation(turn, sentences, words)


def asks(turn: Turn) -> bool:
    """Return whether a prompt asks for work, as far as the rules see: feedback on the work goes on with what was asked
    for before, and would be no trigger."""
    found = signal_of(turn)
    return found is None or found.kind == "confirmation" or found.confidence < LEAST_FEEDBACK


def unruled(turn: Turn, confidence: float) -> Signal | None:
    """Return a draft of a turn in which no rule found one, for a caller who takes it for feedback all the same; None if
    a program wrote it, the person blames themselves, or a few words leave nothing to learn."""
    heard = _heard(turn)
    if heard is None or too_short(heard[0]):
        return None
    kind = "correction" if turn.agent else "preference"
    return _signal(turn, kind, "rule", _directive(heard[1]), heard[0], confidence)


def too_short(words: str) -> bool:
    """Return whether the person's words are too few to learn from, in a language that puts blanks between them."""
    return len(words.split()) <= MIN_RULE_WORDS and words.isascii()


@lru_cache(maxsize=REMEMBERED)
def own_words(text: str) -> str:
    """Return the words that the person wrote: no code blocks, quotations, diffs, tables, or lines of a log."""
    text = _FENCE.sub("\n", text.replace("’", "'").replace("‘", "'"))
    return "\n".join([line for line in text.splitlines() if not _PASTED_LINE.match(line)]).strip()


@lru_cache(maxsize=REMEMBERED)
def check_in(words: str) -> re.Match[str] | None:
    """Return the command that the person names as a check, if there is one."""
    return phrases.COMMAND.search(words)


def sentences_of(words: str, agent: str = "") -> list[_Sentence]:
    """Split the person's words into sentences, at most 60. Of one that has a quotation of the `agent`, the patterns see
    what stands beside the quotation; one that is nothing else is left out."""
    return list(_sentences_of(words, agent))


@lru_cache(maxsize=REMEMBERED)
def _sentences_of(words: str, agent: str) -> list[_Sentence]:
    marked, quoted = _quotations(words, agent)
    found = []
    for line in marked.splitlines():
        listed = bool(_LISTED.match(line))
        for part in _SENTENCE_END.split(_LISTED.sub("", line)):
            text = part.strip()
            text = (phrases.FILLER.sub("", text) or text)[:500]
            low = _MARK.sub(" ", text).lower() if quoted else text.lower()
            if text and (low == text.lower() or len(low.split()) >= 2):
                whole = _MARK.sub(lambda mark: quoted[ord(mark[0]) - FIRST_MARK], text) if quoted else text
                found.append(_Sentence(whole, low, part.rstrip("\"') ").endswith("?"), listed))
    return found[:60] if found or not quoted else sentences_of(words)


def _quotations(words: str, agent: str) -> tuple[str, list[str]]:
    """Return the words with a mark for each quotation of what the agent said, and these; a literal that it did not say
    stays in the words."""
    if not agent or not _QUOTATION.search(words) or _MARK.search(words):
        return words, []
    said = normalised(agent)
    found: list[str] = []

    def mark(quotation: re.Match[str]) -> str:
        text = normalised(quotation["text"])
        if len(text.split()) < MIN_QUOTED or text not in said or len(found) == MOST_QUOTATIONS:
            return quotation[0]
        found.append(quotation[0])
        return chr(FIRST_MARK + len(found) - 1)

    return _QUOTATION.sub(mark, words), found


def weight_of(patterns: tuple[tuple[float, re.Pattern[str]], ...], low: str) -> float:
    """Return the greatest weight of the patterns that a sentence in lower case matches; 0 if none does."""
    known = _weights.get((id(patterns), low))
    if known is not None and known[0] is patterns:
        return known[1]
    weight = max((weight for weight, pattern in patterns if pattern.search(low)), default=0.0)
    if len(_weights) >= REMEMBERED_WEIGHTS:
        _weights.clear()
    _weights[id(patterns), low] = patterns, weight
    return weight


def _is_crowd(sentences: list[_Sentence]) -> bool:
    """Whether a message lists points, as a specification does."""
    return sum(s.listed for s in sentences) >= CROWD


def _best_rule(sentences: list[_Sentence]) -> tuple[_Sentence | None, float, str]:
    """Return (sentence, weight, "person" or "rule") of the strongest rule; (None, 0, "") if there is none."""
    best: tuple[_Sentence | None, float, str] = (None, 0.0, "")
    crowd = _is_crowd(sentences)
    for sentence in sentences:
        weight, kind = _rule(sentence, crowd=crowd)
        if weight > best[1]:
            best = (sentence, weight, kind)
    return best


def _rule(sentence: _Sentence, *, crowd: bool) -> tuple[float, str]:
    """Return how much of a rule a sentence is, and of which kind. `crowd`: whether the message lists many points."""
    low = phrases.REFUSAL.sub("", sentence.low)
    if phrases.NOT_A_RULE.search(low) or (len(low.split()) < MIN_RULE_WORDS and low.isascii()):
        return 0.0, ""
    standing, liked = weight_of(phrases.STANDING, low), weight_of(phrases.PREFERENCE, low)
    person = weight_of(phrases.PERSON, low)
    weight = max(standing, liked, person)
    if sentence.question:
        # "Can you use type hints from now on?" asks for it; other questions ask.
        weight = standing - 0.15 if standing > 0.8 and phrases.REQUEST.search(low) else 0.0
    if phrases.LOCAL.search(low):
        weight -= 0.25
    if crowd and sentence.listed:
        weight -= 0.2  # one point of a specification
    return weight, "person" if person >= max(standing, liked) else "rule"


def _objection(sentences: list[_Sentence], turn: Turn) -> float:
    """Return the confidence, 0 to 1, that the person objects to what the agent just said or did."""
    if not turn.agent and not turn.interrupted and turn.channel not in BESIDE_WORK:
        return 0.0
    weight = 0.0
    for sentence in sentences[:4]:
        if phrases.NOT_A_RULE.search(sentence.low):
            continue
        found = weight_of(phrases.OBJECTION, sentence.low)
        if sentence.question and turn.channel != "tool_reject":
            found -= 0.1
        weight = max(weight, found)
    asks = bool(phrases.COUNTER.match(sentences[0].low))
    directive = any(phrases.DIRECTIVE.search(s.low) for s in sentences if not s.question)
    ordered = turn.interrupted and any(
        wording.imperative(wording.describe(s.text)) and not phrases.GO_ON.match(s.low) and len(s.text.split()) > 2
        for s in sentences[:4]
        if not s.question
    )
    if turn.channel == "tool_reject":
        weight = max(weight, 0.45 if asks or not sentences[0].question else 0.3)
    elif asks and turn.channel == "queued":
        weight = max(weight, 0.45)
    elif asks:
        weight = max(weight, 0.35)
    elif turn.interrupted and (directive or ordered) and not sentences[0].question:
        weight = max(weight, 0.45)  # they stopped the agent to say so
    if weight >= 0.45:
        # Without a word on what to do instead there is little to learn from.
        weight += 0.15 if directive or ordered else -0.05
    if weight and all(phrases.LOCAL.search(s.low) or s.question for s in sentences):
        weight -= 0.25
    return weight


def _directive(sentences: list[_Sentence]) -> _Sentence:
    """Return the sentence that says best what to do."""
    if len(sentences) == 1:
        return sentences[0]
    return max(sentences[:MOST_SCORED], key=lambda each: _telling(each, sentences.index(each)))


def _telling(sentence: _Sentence, at: int) -> float:
    """Return how well a sentence says what to do: by words of telling, an imperative first, and standing words; less if
    it asks, tells of the past, or is short; of equals the first."""
    low = phrases.REFUSAL.sub("", sentence.low)
    description = wording.describe(sentence.text)
    asks = sentence.question and not wording.imperative(description)
    words = len(low.split())
    return (
        2.0 * weight_of(phrases.STANDING, low)
        + 1.5 * weight_of(phrases.PREFERENCE, low)
        + 1.5 * wording.imperative(description)
        + 1.0 * bool(phrases.DIRECTIVE.search(low))
        + 0.4 * bool(weight_of(phrases.OBJECTION, low))
        - 1.2 * asks
        - 1.0 * bool(phrases.PAST.search(low))
        - 0.5 * bool(phrases.LOCAL.search(low))
        - 0.5 * bool(weight_of(phrases.PRAISE, low))
        - 1.5 * (words < MIN_RULE_WORDS and low.isascii())
        - 5.0 * (not _LETTER.search(low))
        - 0.5 * (sentence.text.endswith(":"))
        - 0.3 * (len(description.split()) < LEAST_TELLING and description.isascii())
        + min(len(sentence.text), 60) / 120
        - 0.02 * at
    )


def _failure(turn: Turn, sentences: list[_Sentence], words: str) -> Signal | None:
    """Return a signal if the person reports a failure right after the agent claimed success; more confident if they
    name the command that checks it."""
    if not phrases.CLAIM.search(turn.agent[-800:].lower()):
        return None
    for sentence in sentences[:3]:
        if sentence.question or len(sentence.low.split()) > 40:
            continue
        command = check_in(words)
        failed = phrases.FAILURE.search(sentence.low)
        if command and (failed or command["told"]):
            text = (
                f"Run `{command['quoted'] or command['told'] or command['bare']}` before saying that the work is done"
            )
            check = _Sentence(text, text.lower(), question=False, listed=False)
            return _signal(turn, "correction", "rule", check, words, SURE_FAILURE)
        if failed and len(words) < 200:
            return _signal(turn, "correction", "rule", sentence, words, 0.4)
    return None


def _confirmation(turn: Turn, sentences: list[_Sentence], words: str) -> Signal | None:
    if not turn.agent or sentences[0].question:
        return None
    first = turn.text.strip().lower()[:200]
    weight = max(weight_of(phrases.PRAISE, first), weight_of(phrases.PRAISE, sentences[0].low))
    if not weight:
        return None
    praise = next((s for s in sentences if weight_of(phrases.PRAISE[:1], s.low)), sentences[0])
    return _signal(turn, "confirmation", "rule", praise, words, weight)


def _signal(
    turn: Turn, kind: str, kind_of_rule: str, sentence: _Sentence, words: str, confidence: float
) -> Signal | None:
    reason, occasion = _reason(sentence, words), _occasion(sentence, words, turn.time)
    whole = _completed(sentence, words)
    text = phrases.REASON.sub("", whole) if reason else whole
    text = text if len(text.split()) >= MIN_RULE_WORDS else whole
    description = _dated(wording.describe(text), turn.time)
    if not description:
        return None
    body = []
    if _says_more(sentence, description, words, reason):
        body.append(_dated(wording.cut(words, MAX_WORDS), turn.time))
    if reason:
        body.append("**Why:** " + _dated(reason, turn.time))
    if occasion and normalised(occasion) not in normalised(description):
        body.append("**How to apply:** " + occasion)
    person = kind_of_rule == "person"
    return Signal(
        kind=kind,
        name=naming.slug(description),
        type="user" if person else _type_of(sentence, description),
        scope="global" if person or phrases.GLOBAL.search(words.lower()) else "project",
        description=description,
        body="\n\n".join(body),
        confidence=round(max(0.0, confidence), 2),
        evidence=turn.uuid,
        session=turn.session,
        time=turn.time,
        agent=wording.tail(turn.agent, MAX_AGENT),
        person=wording.cut(turn.text, MAX_WORDS),
        request=turn.request if turn.agent or turn.interrupted or turn.channel in BESIDE_WORK else "",
    )


def _type_of(sentence: _Sentence, description: str) -> str:
    """Return the type of a memory that is not about the person: where something is to be found, a fact about the
    project, or how to work."""
    low = phrases.REFUSAL.sub("", sentence.low)
    orders = wording.imperative(description)
    if phrases.PLACE.search(low) and not orders:
        return "reference"
    return "project" if phrases.FACT.match(low) and not orders and not phrases.NORM.search(low) else "feedback"


def _completed(sentence: _Sentence, words: str) -> str:
    """Return the text of a sentence; with the points that follow it, if it only announces them."""
    text = sentence.text.rstrip(" :")
    if len(text.split()) > MOST_ANNOUNCED or not (sentence.text.endswith(":") or text.lower().endswith(" that")):
        return sentence.text
    all_sentences = sentences_of(words)
    at = next((at for at, each in enumerate(all_sentences) if each.text == sentence.text), len(all_sentences))
    points = []
    for each in all_sentences[at + 1 :]:
        if not each.listed:
            break
        points.append(each.text.rstrip(" .;,"))
    joint = " " if text.lower().endswith(" that") else ": "
    return text + joint + "; ".join(points) if points else sentence.text


def _says_more(sentence: _Sentence, description: str, words: str, reason: str) -> bool:
    """Whether the person's words say more than the description, and the reason, which stands by itself."""
    if description.endswith("…") or len(description) < len(sentence.text) - len(reason) - MOST_LEFT_OUT:
        return True
    told = {normalised(description), normalised(sentence.text)}
    others = [each for each in sentences_of(words) if normalised(each.text) not in told]
    others = [each for each in others if _LETTER.search(each.low) and not (reason and reason.lower()[1:] in each.low)]
    return any(len(each.text.split()) > 2 or not each.text.isascii() for each in others)


def _reason(sentence: _Sentence, words: str) -> str:
    """Return the reason that the person gave, in the sentence of the rule, else anywhere; empty if they gave none."""
    asks = sentence.question and not wording.imperative(wording.describe(sentence.text))
    others = (phrases.REASON.search(each.text) for each in sentences_of(words) if not each.question)
    found = (None if asks else phrases.REASON.search(sentence.text)) or next(filter(None, others), None)
    if found is None:
        return ""
    reason = _SENTENCE_END.split(found["reason"])[0].strip(" .,;:-—)?!")
    return wording.cut(reason[:1].upper() + reason[1:], MAX_REASON) if len(reason) >= LEAST_REASON else ""


def _occasion(sentence: _Sentence, words: str, time: str) -> str:
    """Return when the rule is for, by the person's words; empty if they did not say."""
    found = phrases.OCCASION.search(sentence.text)
    others = (phrases.OCCASION.match(each.text) for each in sentences_of(words) if not each.question)
    found = found or next(filter(None, others), None)
    if found is None or phrases.WHETHER.search(found.string[: found.start("when")]):
        return ""
    # "When you" makes a rule of any day of what follows; the day that this names is one day all the same.
    opening, _, rest = phrases.REASON.sub("", found["when"]).strip().partition(" ")
    who, _, rest = rest.partition(" ")
    return f"{opening[:1].upper()}{opening[1:]} {who} {_dated(rest, time)}".strip()


def _dated(text: str, time: str) -> str:
    """Return a text with the absolute dates of relative ones, by when it was said; as it is without a time."""
    seconds = clock.parse(time)
    if seconds is None:
        return text
    written = datetime.fromtimestamp(seconds).astimezone().date()  # as the person's calendar has it
    for each in reversed(list(relative_dates(text, written))):
        text = text[: each.start] + each.absolute + text[each.end :]
    return text
