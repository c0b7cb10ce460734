"""Signals: drafts of memories from what a person said (corrections, confirmations, preferences), by rules.

Precision before recall: learn/classifier.py adds what the rules miss. Every signal has a confidence between 0 and 1;
the caller drops those below the setting `extract_confidence`. Nothing here reads or writes files."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from memtui.base.phrasing_hot import cut
from memtui.client.transcripts.conversation import Turn, normalised
from memtui.learn import message, phrases, rule_sentences, wording
from memtui.learn.rule_sentences import Sentence
from memtui.recall import topics, words_hot

# Characters: the most of the excerpts of what the person and the agent said; a message that is long.
MAX_WORDS, MAX_AGENT, LONG_TEXT = 600, 300, 1200
# The confidence from which the rules take a prompt for feedback and no request.
LEAST_FEEDBACK = 0.4
# How much of the doubt is left each time that something is said again, and how sure that makes a draft at most.
DOUBT, MOST_SURE = 0.8, 0.98
# Sentences among which the one that says what to do is looked for; rules of one message that become drafts, and how
# much of a rule each but the strongest must be; listed points that make a specification.
MOST_SCORED, MOST_RULES, LEAST_OTHER, CROWD = 12, 3, 0.6, 4
# How much of a rule a sentence is that says by itself what to do.
ALONE = 0.55
# A description of fewer words says little beside another sentence.
LEAST_TELLING = 4
# How sure it is that a check which failed after a claim of success has to be run before the next one.
SURE_FAILURE = 0.55
# Below it, the first words of a session state a task, and no habit.
SAID_FIRST = 0.7
# How sure it is that a message which begins with "don't" and names nothing at hand forbids something for good.
FORBIDDEN = 0.75
# Turns whose signal is remembered, and weights: each is asked for several times.
REMEMBERED_TURNS, REMEMBERED_WEIGHTS = 256, 2000
_weights: dict[tuple[int, str], tuple[phrases.Weighted, float]] = {}  # by identity: to hash the patterns takes longer
# What every prompt asks for: such words alone do not say that two texts are about one thing.
_VERBS = "add change code create file fix make new remove run set show start update work write"
VAGUE = frozenset(words_hot.terms(_VERBS))
_LETTER = re.compile(r"[^\W\d_]")
# The channels in which a person speaks of what the agent does just then, also if it has said nothing.
BESIDE_WORK = frozenset({"tool_reject", "approval", "queued"})


@dataclass(frozen=True, slots=True)
class Signal:
    """A proposed memory. `evidence`: uuid of the record; `agent`, `person`: excerpts of what they said; `request`: what
    the person had asked for; `durable`: how likely it lasts, None by the rules alone; `repeats`: other records that say
    it; `part`: which rule of a message it is, from 0."""

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
    repeats: tuple[str, ...] = ()
    part: int = 0

    @property
    def origin(self) -> str:
        """What tells its place apart from others: record, or session and time, and which rule of a message it is."""
        return (self.evidence or f"{self.session}@{self.time}") + (f"#{self.part}" if self.part else "")

    @property
    def origins(self) -> list[str]:
        return list(dict.fromkeys([self.origin, *self.repeats]))


class _Rule(NamedTuple):
    """A rule: the kind of its draft, its sentence, "person" or "rule", how sure it is, the place it was written at."""

    kind: str
    sentence: Sentence
    kind_of_rule: str
    confidence: float
    at: int


def once(signals: Iterable[Signal | None]) -> list[Signal]:
    """List signals, each description once, surer for each other record that says it; equal names get a number."""
    by_text: dict[str, list[Signal]] = {}
    for signal in filter(None, signals):
        by_text.setdefault(normalised(signal.description), []).append(signal)
    times: Counter[str] = Counter()
    drafts = []
    for same in by_text.values():
        signal = max(same, key=lambda signal: signal.confidence)
        others = [origin for other in same for origin in other.origins if origin not in signal.origins]
        if others:
            repeats = tuple(dict.fromkeys([*signal.repeats, *others]))
            signal = replace(signal, repeats=repeats, confidence=said_again(signal.confidence, len(repeats)))
        times[signal.name] += 1
        number = times[signal.name]
        drafts.append(replace(signal, name=f"{signal.name}-{number}") if number > 1 else signal)
    return drafts


def said_again(confidence: float, times: int) -> float:
    """Return how sure a draft is that was said so many times more: each leaves less doubt, and some stays."""
    return round(max(confidence, min(MOST_SURE, 1 - (1 - confidence) * DOUBT**times)), 2)


@lru_cache(maxsize=REMEMBERED_TURNS)
def signal_of(turn: Turn) -> Signal | None:
    """Return the strongest signal in one turn, or None: measured on the whole message, worded by what was written."""
    heard = _heard(turn)
    main_rule = None if heard is None else _main(turn, *heard)
    if heard is None or main_rule is None:
        return None
    sentences = _learned(turn, heard[0])
    return _signal(turn, sentences, _worded(turn, sentences, main_rule)) if sentences else None


def signals_of(turn: Turn) -> list[Signal]:
    """List the signals in a turn: that of `signal_of`, and up to MOST_RULES - 1 more rules in their own sentences."""
    main = signal_of(turn)
    if main is None or main.kind == "confirmation":
        return [main] if main else []
    sentences = message.written_sentences(turn.text, turn.agent)
    if sum(sentence.listed for sentence in sentences) >= CROWD:
        return [main]
    rules = [(at, *_rule(sentence, crowd=False)) for at, sentence in enumerate(sentences)]
    starts = [at for at, weight, _ in rules if weight >= LEAST_OTHER]
    signals = [main]
    for at, weight, kind_of_rule in rules:
        if weight < LEAST_OTHER or len(signals) == MOST_RULES or len(starts) < 2:
            continue
        end = next((other for other in starts if other > at), len(sentences))
        rule = _Rule(main.kind, sentences[at], kind_of_rule, min(main.confidence, weight), at)
        signal = _signal(turn, sentences[:end], rule, [other for other in starts if other != at])
        if signal is None or (not turn.agent and weight < SAID_FIRST):
            continue
        if normalised(signal.description) == normalised(main.description):
            signals[0] = replace(signal, confidence=main.confidence, person=main.person)
        elif normalised(signal.description) not in {normalised(signal.description) for signal in signals}:
            signals.append(signal)
    return [replace(signal, part=number) for number, signal in enumerate(signals)]


def _heard(turn: Turn) -> tuple[str, list[Sentence]] | None:
    """Return the person's words and the sentences of them; None if nothing can be learned from them."""
    words = message.own_words(turn.text)
    sentences = message.sentences_of(words, turn.agent)
    if not sentences or phrases.MACHINE.match(turn.text):
        return None
    return None if any(phrases.OWN_MISTAKE.search(s.low) for s in sentences[:2]) else (words, sentences)


def _learned(turn: Turn, words: str) -> list[Sentence]:
    """Return the sentences that the person wrote; none if those beside a paste are too short to learn from."""
    sentences = message.written_sentences(turn.text, turn.agent)
    short = message.too_short(" ".join(sentence.said for sentence in sentences)) and not message.too_short(words)
    return [] if short else sentences


def _main(turn: Turn, words: str, sentences: list[Sentence]) -> _Rule | None:
    crowd = sum(other.listed for other in sentences) >= CROWD  # as a specification does
    rules = [(sentence, *_rule(sentence, crowd=crowd, first=sentence is sentences[0])) for sentence in sentences]
    rule, standing, kind_of_rule = max([(None, 0.0, ""), *rules], key=lambda rule: rule[1])
    objection = _objection(sentences, turn)
    penalty = 0.15 if len(words) > LONG_TEXT else 0.0
    if standing and not turn.agent and standing < SAID_FIRST:
        penalty += 0.2
    if rule and (standing >= objection or objection < 0.4):
        kind = "correction" if objection >= 0.45 and turn.agent else "preference"
        bonus = 0.1 if kind == "correction" else 0.0
        return _Rule(kind, rule, kind_of_rule, min(0.95, standing + bonus) - penalty, sentences.index(rule))
    failure = _failure(turn, sentences, words)
    if objection and (failure is None or failure.confidence < SURE_FAILURE):
        sentence = _directive(sentences)
        return _Rule("correction", sentence, "rule", objection - penalty, sentences.index(sentence))
    return failure or _confirmation(turn, sentences)


def _worded(turn: Turn, sentences: list[Sentence], measured: _Rule | None) -> _Rule:
    """Return the rule that the person wrote beside what they pasted; of the kind of the whole message, and as sure."""
    rule = _main(turn, "\n".join(sentence.said for sentence in sentences), sentences)
    if rule is None:
        sentence = _directive(sentences)
        rule = _Rule("correction" if turn.agent else "preference", sentence, "rule", 0.0, sentences.index(sentence))
    return rule if measured is None else rule._replace(kind=measured.kind, confidence=measured.confidence)


def asks(turn: Turn) -> bool:
    """Return whether a prompt asks for work, as far as the rules see; feedback and small talk do not."""
    if not words_hot.tells(turn.text):
        return False
    signal = signal_of(turn)
    return signal is None or signal.kind == "confirmation" or signal.confidence < LEAST_FEEDBACK


def unruled(turn: Turn, confidence: float) -> Signal | None:
    """Return a draft of a turn without a rule; None if a program wrote it, or it leaves nothing to learn."""
    heard = _heard(turn)
    sentences = _learned(turn, heard[0]) if heard else []
    if heard is None or message.too_short(heard[0]) or not sentences:
        return None
    return _signal(turn, sentences, _worded(turn, sentences, None)._replace(confidence=confidence))


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


def _rule(sentence: Sentence, *, crowd: bool, first: bool = False) -> tuple[float, str]:
    """Return how much of a rule a sentence is, and its kind. `crowd`: many points are listed."""
    low = phrases.REFUSAL.sub("", sentence.low)
    if phrases.NOT_A_RULE.search(low) or (len(low.split()) < message.MIN_RULE_WORDS and low.isascii()):
        return 0.0, ""
    standing, liked = weight_of(phrases.STANDING, low), weight_of(phrases.PREFERENCE, low)
    if first and phrases.FORBIDDING.search(low):
        standing = max(standing, FORBIDDEN)
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


def _objection(sentences: list[Sentence], turn: Turn) -> float:
    """Return the confidence, 0 to 1, that the person objects to what the agent just said or did."""
    if not turn.agent and not turn.interrupted and turn.channel not in BESIDE_WORK:
        return 0.0
    doubt = 0.0 if turn.channel == "tool_reject" else 0.1  # of a question
    first = [sentence for sentence in sentences[:4] if not phrases.NOT_A_RULE.search(sentence.low)]
    weights = [weight_of(phrases.OBJECTION, sentence.low) - doubt * sentence.question for sentence in first]
    weight = max([0.0, *weights])
    asks = bool(phrases.COUNTER.match(sentences[0].low))
    directive = any(phrases.DIRECTIVE.search(s.low) for s in sentences if not s.question)
    ordered = turn.interrupted and any(
        wording.orders(s.text) and not phrases.GO_ON.match(s.low) and len(s.text.split()) > 2
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


def _directive(sentences: list[Sentence]) -> Sentence:
    if len(sentences) == 1:
        return sentences[0]
    return max(sentences[:MOST_SCORED], key=lambda sentence: _telling(sentence, sentences.index(sentence)))


def _telling(sentence: Sentence, at: int) -> float:
    """Return how well a sentence says what to do; less if it asks, tells of the past, or is short."""
    low = phrases.REFUSAL.sub("", sentence.low)
    description = wording.describe(sentence.text)
    orders = wording.orders(sentence.text)
    words = len(low.split())
    return (
        2.0 * weight_of(phrases.STANDING, low)
        + 1.5 * weight_of(phrases.PREFERENCE, low)
        + 1.5 * orders
        + 1.0 * bool(phrases.DIRECTIVE.search(low))
        + 0.4 * bool(weight_of(phrases.OBJECTION, low))
        - 1.2 * (sentence.question and not orders)
        - 1.0 * bool(phrases.PAST.search(low))
        - 0.5 * bool(phrases.LOCAL.search(low))
        - 0.5 * bool(weight_of(phrases.PRAISE, low))
        - 1.5 * (words < message.MIN_RULE_WORDS and low.isascii())
        - 5.0 * (not _LETTER.search(low))
        - 0.5 * (sentence.text.endswith(":"))
        - 1.0 * (rule_sentences.limits(sentence) and not orders)
        - 0.3 * (len(description.split()) < LEAST_TELLING and description.isascii())
        + min(len(sentence.text), 60) / 120
        - 0.02 * at
    )


def _failure(turn: Turn, sentences: list[Sentence], words: str) -> _Rule | None:
    """Return a rule if the person reports a failure right after a claim of success, best by the command that failed."""
    if not phrases.CLAIM.search(turn.agent[-800:].lower()):
        return None
    for at, sentence in enumerate(sentences[:3]):
        if sentence.question or len(sentence.low.split()) > 40 or phrases.SUPPOSES.match(sentence.low):
            continue
        command = message.check_in(words)
        failed = phrases.FAILURE.search(sentence.low)
        if command and (failed or command["told"]):
            line = command["quoted"] or command["told"] or command["bare"]
            text = f"Run `{line}` before saying that the work is done"
            check = Sentence(text, text.lower(), question=False, said=text)
            return _Rule("correction", check, "rule", SURE_FAILURE, at)
        if failed and len(words) < 200:
            return _Rule("correction", sentence, "rule", 0.4, at)
    return None


def _confirmation(turn: Turn, sentences: list[Sentence]) -> _Rule | None:
    if not turn.agent or sentences[0].question:
        return None
    first = turn.text.strip().lower()[:200]
    weight = max(weight_of(phrases.PRAISE, first), weight_of(phrases.PRAISE, sentences[0].low))
    if not weight:
        return None
    praise = next((s for s in sentences if weight_of(phrases.PRAISE[:1], s.low)), sentences[0])
    praise = _directive(sentences) if message.too_short(praise.low) else praise
    return _Rule("confirmation", praise, "rule", weight, sentences.index(praise))


def _signal(turn: Turn, sentences: list[Sentence], rule: _Rule, apart: list[int] | None = None) -> Signal | None:
    """Make the draft of a rule. `apart`: the places of the other rules, if each of them becomes a draft."""
    own = sentences if apart is None else sentences[rule.at :]
    others = [
        at
        for at, sentence in enumerate(sentences)
        if (apart is None or at > rule.at)
        and not sentence.question
        and len(phrases.REFUSAL.sub("", sentence.low).split()) > message.MIN_RULE_WORDS
        # Another rule, or what the person objects to.
        and max(_rule(sentence, crowd=False)[0], weight_of(phrases.OBJECTION, sentence.low)) >= LEAST_FEEDBACK
    ]
    alone = _rule(sentences[rule.at], crowd=False)[0] >= ALONE
    carried_sentences = rule_sentences.carrying(sentences, rule.at, others, apart or (), alone=alone)
    description, body = rule_sentences.quoted(rule.sentence, carried_sentences, turn.time)
    if not description:
        return None
    person = rule.kind_of_rule == "person"
    sentence_text = " ".join(sentence.said for sentence in own)
    return Signal(
        kind=rule.kind,
        name=wording.slug(description),
        description=description,
        body=body,
        type="user" if person else _type_of(rule.sentence),
        scope="global" if person or phrases.GLOBAL.search(sentence_text.lower()) else "project",
        confidence=round(max(0.0, rule.confidence), 2),
        evidence=turn.uuid,
        session=turn.session,
        time=turn.time,
        agent=wording.tail(turn.agent, MAX_AGENT),
        request=_request(turn, f"{description} {body}"),
        person=cut(message.shortened(turn.text) if apart is None else sentence_text, MAX_WORDS),
    )


def _request(turn: Turn, text: str) -> str:
    """Return what the person had asked for, if that or what the agent did for it has a telling word of a draft."""
    if not (turn.agent or turn.interrupted or turn.channel in BESIDE_WORK):
        return ""
    words = {*topics.telling(text)} - VAGUE
    return turn.request if words.intersection(words_hot.terms(f"{turn.request} {turn.calls}")) else ""


def _type_of(sentence: Sentence) -> str:
    """Return the type of a memory: where something is to be found, a fact of the project, or how to work."""
    low = phrases.REFUSAL.sub("", sentence.low)
    orders = wording.orders(sentence.text)
    if phrases.PLACE.search(low) and not orders:
        return "reference"
    return "project" if phrases.FACT.match(low) and not orders and not phrases.NORM.search(low) else "feedback"
