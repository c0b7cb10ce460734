"""Signals: drafts of memories from what a person said (corrections, confirmations, preferences), by rules.

Precision before recall: extract/judged.py adds what the rules miss. Every signal has a confidence between 0 and 1; the
caller drops those below the setting `extract_confidence`. Nothing here reads or writes files.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from memtui.core.base import clock
from memtui.core.client.conversation import Turn, normalised
from memtui.core.memories.relative_dates import relative_dates
from memtui.extract import phrases

# Characters: the most of a description, of the person's words and of the agent's; a message that is long.
MAX_DESCRIPTION, MAX_WORDS, MAX_AGENT, LONG_TEXT = 120, 600, 300, 1200
MIN_RULE_WORDS, LEAST_REASON = 3, 8
# The confidence from which the rules take a prompt for feedback and no request.
LEAST_FEEDBACK = 0.4
# How much of the doubt is left each time that something is said again, and how sure that makes a draft at most.
DOUBT, MOST_SURE = 0.8, 0.98
SLUG_WORDS = 6

_FENCE = re.compile(r"(?:```|~~~)[\s\S]*?(?:```|~~~|\Z)")
_PASTED_LINE = re.compile(
    r"^\s*(?:>|[+-]{1,3}\s{2,}|[+]\s|@@|\||\$ |at [\w.$]+\(|File \"|\d{1,2}:\d\d|\[?\d{4}-\d\d-\d\d|\S+:\d+:"
    r"|(?:error|warning|info|fail)\b.{0,3}[:\[])",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+|^\s*#{1,6}\s")
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\s\"')]+|(?<=[。！？])|\n+")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a all also always am an and any are as at be been but by can do does for from had has have i if in into is it"
        " its just me must my of on or our please should so that the their them then there these they this to us was we"
        " were when which will with would you your",
    )
)
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
    same reading that say it again."""

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

    @property
    def origins(self) -> list[str]:
        """What names the records that say it, each once."""
        return list(dict.fromkeys([self.evidence or f"{self.session}@{self.time}", *self.repeats]))


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str  # as written, without fillers
    low: str  # in lower case, for the patterns
    question: bool
    listed: bool


def once(signals: Iterable[Signal | None]) -> list[Signal]:
    """List signals so that each name is there once: the more confident one, surer for each other record that says
    it."""
    found: dict[str, list[Signal]] = {}
    for signal in signals:
        if signal:
            found.setdefault(signal.name, []).append(signal)
    return [_joined(same) for same in found.values()]


def _joined(same: list[Signal]) -> Signal:
    best = max(same, key=lambda signal: signal.confidence)
    others = [origin for each in same for origin in each.origins if origin not in best.origins]
    repeats = tuple(dict.fromkeys([*best.repeats, *others]))
    return replace(best, repeats=repeats, confidence=said_again(best.confidence, len(repeats))) if others else best


def said_again(confidence: float, times: int) -> float:
    """Return how sure a draft is that was said so many times more: each leaves less doubt, and some stays."""
    return round(max(confidence, min(MOST_SURE, 1 - (1 - confidence) * DOUBT**times)), 2)


def signal_of(turn: Turn) -> Signal | None:
    """Return the signal in one turn, or None."""
    words = own_words(turn.text)
    if not words or phrases.MACHINE.match(turn.text):
        return None
    sentences = sentences_of(words)
    if not sentences or any(phrases.OWN_MISTAKE.search(s.low) for s in sentences[:2]):
        return None
    rule, standing, kind_of_rule = _best_rule(sentences)
    objection = _objection(sentences, turn)
    penalty = 0.15 if len(words) > LONG_TEXT else 0.0
    if standing and not turn.agent and standing < 0.75:
        penalty += 0.2  # the first words of a session state a task, not a habit
    if rule and (standing >= objection or objection < 0.4):
        kind = "correction" if objection >= 0.45 and turn.agent else "preference"
        bonus = 0.1 if kind == "correction" else 0.0
        memory_type = "user" if kind_of_rule == "person" else "feedback"
        return _signal(turn, kind, memory_type, rule, words, min(0.95, standing + bonus) - penalty)
    if objection:
        return _signal(turn, "correction", "feedback", _directive(sentences), words, objection - penalty)
    return _failure(turn, sentences, words) or _confirmation(turn, sentences, words)


def asks(turn: Turn) -> bool:
    """Return whether a prompt asks for work, as far as the rules see: feedback on the work goes on with what was asked
    for before, and would be no trigger."""
    found = signal_of(turn)
    return found is None or found.kind == "confirmation" or found.confidence < LEAST_FEEDBACK


def unruled(turn: Turn, confidence: float) -> Signal | None:
    """Return a draft of a turn in which no rule found one, for a caller who takes it for feedback all the same; None if
    a program wrote it, the person blames themselves, or a few words leave nothing to learn."""
    words = own_words(turn.text)
    sentences = sentences_of(words)
    if not sentences or phrases.MACHINE.match(turn.text) or too_short(words):
        return None
    if any(phrases.OWN_MISTAKE.search(s.low) for s in sentences[:2]):
        return None
    kind = "correction" if turn.agent else "preference"
    return _signal(turn, kind, "feedback", _directive(sentences), words, confidence)


def too_short(words: str) -> bool:
    """Return whether the person's words are too few to learn from, in a language that puts blanks between them."""
    return len(words.split()) <= MIN_RULE_WORDS and words.isascii()


def own_words(text: str) -> str:
    """Return the words that the person wrote: no code blocks, quotations, diffs, tables, or lines of a log."""
    text = _FENCE.sub("\n", text.replace("’", "'").replace("‘", "'"))
    return "\n".join([line for line in text.splitlines() if not _PASTED_LINE.match(line)]).strip()


def sentences_of(words: str) -> list[_Sentence]:
    """Split the person's words into sentences, at most 60."""
    found = []
    for line in words.splitlines():
        listed = bool(_LISTED.match(line))
        for part in _SENTENCE_END.split(_LISTED.sub("", line)):
            text = part.strip()
            text = (phrases.FILLER.sub("", text) or text)[:500]
            if text:
                found.append(_Sentence(text, text.lower(), part.rstrip("\"') ").endswith("?"), listed))
    return found[:60]


def weight_of(patterns: tuple[tuple[float, re.Pattern[str]], ...], low: str) -> float:
    """Return the greatest weight of the patterns that a sentence in lower case matches; 0 if none does."""
    return max((weight for weight, pattern in patterns if pattern.search(low)), default=0.0)


def _best_rule(sentences: list[_Sentence]) -> tuple[_Sentence | None, float, str]:
    """Return (sentence, weight, "person" or "rule") of the strongest rule; (None, 0, "") if there is none."""
    best: tuple[_Sentence | None, float, str] = (None, 0.0, "")
    crowd = sum(s.listed for s in sentences) >= 4
    for sentence in sentences:
        low = phrases.REFUSAL.sub("", sentence.low)
        if phrases.NOT_A_RULE.search(low) or (len(low.split()) < MIN_RULE_WORDS and low.isascii()):
            continue
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
        if weight > best[1]:
            best = (sentence, weight, "person" if person >= max(standing, liked) else "rule")
    return best


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
    if turn.channel == "tool_reject":
        weight = max(weight, 0.45 if asks or not sentences[0].question else 0.3)
    elif asks and turn.channel == "queued":
        weight = max(weight, 0.45)
    elif asks:
        weight = max(weight, 0.35)
    elif turn.interrupted and directive and not sentences[0].question:
        weight = max(weight, 0.45)  # they stopped the agent to say so
    if weight >= 0.45:
        # Without a word on what to do instead there is little to learn from.
        weight += 0.15 if directive else -0.05
    if weight and all(phrases.LOCAL.search(s.low) or s.question for s in sentences):
        weight -= 0.25
    return weight


def _directive(sentences: list[_Sentence]) -> _Sentence:
    """Return the sentence that says what to do: the first with a directive that is no question, else the longest."""
    for sentence in sentences:
        low = phrases.REFUSAL.sub("", sentence.low)
        if phrases.DIRECTIVE.search(low) and not sentence.question and len(low.split()) >= MIN_RULE_WORDS:
            return sentence
    return max(sentences[:4], key=lambda s: len(s.text))


def _failure(turn: Turn, sentences: list[_Sentence], words: str) -> Signal | None:
    """Return a signal if the person reports a failure right after the agent claimed success; more confident if they
    name the command that checks it."""
    if not phrases.CLAIM.search(turn.agent[-800:].lower()):
        return None
    for sentence in sentences[:3]:
        if sentence.question or len(sentence.low.split()) > 40:
            continue
        command = phrases.COMMAND.search(words)
        failed = phrases.FAILURE.search(sentence.low)
        if command and (failed or command["bare"]):
            text = f"Run `{command['quoted'] or command['bare']}` before saying that the work is done"
            check = _Sentence(text, text.lower(), question=False, listed=False)
            return _signal(turn, "correction", "feedback", check, words, 0.55)
        if failed and len(words) < 200:
            return _signal(turn, "correction", "feedback", sentence, words, 0.4)
    return None


def _confirmation(turn: Turn, sentences: list[_Sentence], words: str) -> Signal | None:
    if not turn.agent or sentences[0].question:
        return None
    first = turn.text.strip().lower()[:200]
    weight = max(weight_of(phrases.PRAISE, first), weight_of(phrases.PRAISE, sentences[0].low))
    if not weight:
        return None
    praise = next((s for s in sentences if weight_of(phrases.PRAISE[:1], s.low)), sentences[0])
    return _signal(turn, "confirmation", "feedback", praise, words, weight)


def _signal(
    turn: Turn, kind: str, memory_type: str, sentence: _Sentence, words: str, confidence: float
) -> Signal | None:
    reason, occasion = _reason(sentence, words), _occasion(sentence, words)
    text = phrases.REASON.sub("", sentence.text) if reason else sentence.text
    description = _dated(describe(text if len(text.split()) >= MIN_RULE_WORDS else sentence.text), turn.time)
    if not description:
        return None
    body = []
    if normalised(words) not in {normalised(description), normalised(sentence.text)}:
        body.append(_dated(_cut(words, MAX_WORDS), turn.time))
    agent = _tail(turn.agent, MAX_AGENT)
    if reason:
        body.append("**Why:** " + _dated(reason, turn.time))
    elif kind == "correction" and agent:
        body.append("**Why:** said after the agent's “" + _tail(" ".join(agent.split()), 200) + "”")
    if occasion and normalised(occasion) not in normalised(description):
        body.append("**How to apply:** " + occasion)
    return Signal(
        kind=kind,
        name=slug(description),
        type=memory_type,
        scope="global" if phrases.GLOBAL.search(words.lower()) else "project",
        description=description,
        body="\n\n".join(body),
        confidence=round(max(0.0, confidence), 2),
        evidence=turn.uuid,
        session=turn.session,
        time=turn.time,
        agent=agent,
        person=_cut(turn.text, MAX_WORDS),
        request=turn.request if turn.agent or turn.interrupted or turn.channel in BESIDE_WORK else "",
    )


def _reason(sentence: _Sentence, words: str) -> str:
    """Return the reason that the person gave, in the sentence of the rule, else anywhere; empty if they gave none."""
    others = (phrases.REASON.search(each.text) for each in sentences_of(words) if not each.question)
    found = phrases.REASON.search(sentence.text) or next(filter(None, others), None)
    if found is None:
        return ""
    reason = _SENTENCE_END.split(found["reason"])[0].strip(" .,;:-—)")
    return _cut(reason[:1].upper() + reason[1:], MAX_DESCRIPTION * 2) if len(reason) >= LEAST_REASON else ""


def _occasion(sentence: _Sentence, words: str) -> str:
    """Return when the rule is for, by the person's words; empty if they did not say."""
    found = phrases.OCCASION.search(sentence.text) or phrases.OCCASION.search(words)
    if found is None:
        return ""
    when = phrases.REASON.sub("", found["when"]).strip()
    return when[:1].upper() + when[1:]


def _dated(text: str, time: str) -> str:
    """Return a text with the absolute dates of relative ones, by when it was said; as it is without a time."""
    seconds = clock.parse(time)
    if seconds is None:
        return text
    written = datetime.fromtimestamp(seconds).astimezone().date()  # as the person's calendar has it
    for each in reversed(list(relative_dates(text, written))):
        text = text[: each.start] + each.absolute + text[each.end :]
    return text


def describe(sentence: str) -> str:
    """Make a memory's description of a sentence: one line, without opening words, capitalized, cut at a word."""
    text = " ".join(sentence.split())
    text = phrases.TOLD.sub(lambda told: "Do not " if told["not"] else "", text)
    for pattern in (phrases.FILLER, phrases.REFUSAL, phrases.OPENERS, phrases.FILLER):
        shorter = pattern.sub("", text)
        text = shorter if len(shorter) > 3 else text
    text = text.strip(" .,;:-—\"'")
    return _cut(text[:1].upper() + text[1:], MAX_DESCRIPTION)


def slug(text: str) -> str:
    """Make a short name in kebab case from the words of a text that are no stop words."""
    from memtui.core.base.ids import content_hash

    plain = re.sub(r"\b(?:do not|don't|dont|not)\b", "no", text.lower().replace("’", "'"))
    words = re.findall(r"[a-z0-9]+", re.sub(r"'(?:d|s|m|re|ve|ll)\b", "", plain).replace("'", ""))
    kept = [word for word in words if word not in _STOP_WORDS][:SLUG_WORDS]
    name = "-".join(kept)[:60].strip("-")
    return name if len(name) > 2 else "note-" + content_hash(text)[:8]


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    return (head[: head.rfind(" ")] if " " in head[limit // 2 :] else head).rstrip() + "…"


def _tail(text: str, limit: int) -> str:
    text = text.strip()
    if len(text) <= limit:
        return text
    tail = text[-(limit - 1) :]
    return "…" + tail[tail.find(" ") + 1 :].lstrip() if " " in tail[: limit // 2] else "…" + tail
