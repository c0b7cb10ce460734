"""The classifier behind the rules: how likely a message is feedback, and how likely it is worth keeping for good.

`feedback.table` was fitted to labelled messages (tests/training/fit_feedback.py tells its provenance). It is MAGIC, and
for each question a bias and the size of a step, in little-endian doubles, and a signed byte for each of the BUCKETS
features.

A feature is a number below BUCKETS, so that no words are kept. Groups: what the rules see, words and pairs of words,
groups of 3 to 5 characters, the opening words, topics, and what the agent had just said and done. The values of a group
have the length of LENGTHS, however long the message is. A change of these needs new weights."""

import math
import re
import struct
import zlib
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise, repeat
from operator import add, itemgetter
from pathlib import Path

from memtui.client.transcripts.conversation import Turn
from memtui.learn import message, phrases, signals, wording
from memtui.learn.signals import Signal

# How many numbers a group has, and the length of its values; those of signals are as they are.
SIZES = {
    "word": 1 << 14,
    "pair": 1 << 15,
    "characters": 1 << 16,
    "opening": 1 << 14,
    "agent": 1 << 14,
    "signal": 1 << 12,
}
LENGTHS = {"word": 2.0, "pair": 0.7, "characters": 2.5, "opening": 1.5, "agent": 0.25}
BUCKETS = sum(SIZES.values())
_STARTS = {group: sum(list(SIZES.values())[:number]) for number, group in enumerate(SIZES)}
# Characters of a message, those of it for groups of characters, and those of the end of the agent's text.
MAX_TEXT, MAX_GROUPED, AGENT_TAIL = 2000, 500, 300
TAIL_OF_CLAIM = 800
# The value of a topic when a quarter of the words, or more, are of it; less for a smaller share.
TOPIC = 4.0
_TOPICS = {name: words for name, words in wording.VOCABULARY.items() if name.startswith("topic ")}
_WORD = re.compile(r"[\w']+|[?!]")
_IDENTIFIER = re.compile(r"\b\w+[_.]\w+|\b[a-z]+[A-Z]\w+|`")
_DOCUMENT = re.compile(r"\b(?:CLAUDE\.md|AGENTS|README|memory|docs?|plan)\b", re.IGNORECASE)
_FAMILIES = {
    "standing": phrases.STANDING,
    "preference": phrases.PREFERENCE,
    "person": phrases.PERSON,
    "objection": phrases.OBJECTION,
    "praise": phrases.PRAISE,
}
_SINGLE = {
    "counter": phrases.COUNTER,
    "directive": phrases.DIRECTIVE,
    "failure": phrases.FAILURE,
    "local": phrases.LOCAL,
    "global": phrases.GLOBAL,
    "mistake": phrases.OWN_MISTAKE,
    "not": phrases.NOT_A_RULE,
    "request": phrases.REQUEST,
}
# Values, each with the features that have it; a feature may be there twice.
Rows = list[tuple[float, list[int]]]


def rows(turn: Turn, draft: Signal | None) -> Rows:
    """List the features of a turn by their values, those of one group together."""
    words = message.own_words(turn.text)[:MAX_TEXT]
    low = " ".join(words.lower().split())
    tokens = _WORD.findall(low)
    groups = {
        "word": set(tokens),
        "pair": {f"{one} {two}" for one, two in pairwise(tokens)},
        "characters": _groups(low[:MAX_GROUPED]),
        "opening": {" ".join(tokens[:count]) for count in (1, 2, 3) if len(tokens) >= count},
        "agent": set(_WORD.findall(turn.agent[-AGENT_TAIL:].lower())),
    }
    present = [(group, members) for group, members in groups.items() if members]
    grouped = [(LENGTHS[group] / len(members) ** 0.5, _buckets(group, members)) for group, members in present]
    counts = {name: sum(token in topic for token in tokens) for name, topic in _TOPICS.items()}
    topics = {name: TOPIC * min(1.0, 4 * count / len(tokens)) for name, count in counts.items() if count}
    ruled = {**_signals(turn, words, draft), **topics}
    return grouped + [(value, [key]) for key, value in zip(_buckets("signal", ruled), ruled.values(), strict=True)]


def _buckets(group: str, names: Iterable[str]) -> list[int]:
    """Return the number of each feature of a group by its name: the hash of group and name, begun with the group."""
    begun, start, size = zlib.crc32(f"{group}:".encode()), _STARTS[group], SIZES[group]
    return [start + checksum % size for checksum in map(zlib.crc32, map(str.encode, names), repeat(begun))]


def _groups(low: str) -> set[str]:
    padded = f" {low} "
    threes = list(map("".join, zip(padded, padded[1:], padded[2:], strict=False)))
    fours = list(map(add, threes, padded[3:]))
    return {*threes, *fours, *map(add, fours, padded[4:])}


def _signals(turn: Turn, words: str, draft: Signal | None) -> dict[str, float]:
    """Return what the rules see, and what the agent had just done, each 0 to 1."""
    sentences = message.sentences_of(words)
    values = {"channel " + turn.channel: 1.0, "agent" if turn.agent else "first": 1.0}
    for name, family in _FAMILIES.items():
        values[name] = max((signals.weight_of(family, s.low) for s in sentences), default=0.0)
        values[name + " first"] = signals.weight_of(family, sentences[0].low) if sentences else 0.0
    for name, pattern in _SINGLE.items():
        values[name] = float(any(pattern.search(s.low) for s in sentences))
    if draft:
        values["draft " + draft.kind] = draft.confidence
        values["draft"] = float(draft.confidence >= 0.5)
    agent = turn.agent[-TAIL_OF_CLAIM:].lower()
    claimed = bool(phrases.CLAIM.search(agent))
    questions = sum(s.question for s in sentences)
    values["claimed"] = float(claimed)
    values["failure after claim"] = values["failure"] * claimed
    values["agent asked"] = float(agent.rstrip(" *_)\n").endswith("?"))
    values["asks"] = float(questions > 0)
    values["only asks"] = float(bool(sentences) and questions == len(sentences))
    values["asks first"] = float(bool(sentences) and sentences[0].question)
    values["listed"] = float(any(s.listed for s in sentences))
    values["pasted"] = float(len(words) < 0.7 * len(turn.text.strip()))
    values["shouts"] = float(any(w.isupper() and len(w) > 2 for w in words.split()[:60]))
    values["negations"] = min(1.0, sum(wording.negations(words).values()) / 3)
    values["identifiers"] = min(1.0, len(_IDENTIFIER.findall(words)) / 4)
    values["document"] = float(_DOCUMENT.search(words) is not None)
    values["check"] = float(message.check_in(words) is not None)
    values["link"] = float("http" in words)
    values[f"length {min(9, len(words.split()).bit_length())}"] = 1.0
    for tool in turn.tools[-3:]:
        values["tool " + tool] = 0.5
    if turn.tools:
        values["last tool " + turn.tools[-1]] = 0.5
    values["tools"] = min(1.0, len(turn.tools) / 10)
    return {name: value for name, value in values.items() if value}


# The table

MAGIC = b"memtui feedback1"
TABLE = Path(__file__).with_name("feedback.table")
_HEAD = struct.Struct("<dd")
# A signed byte as one without a sign, and what that adds: sums of bytes are the fastest.
_UNSIGNED, _ADDED = bytes([*range(128, 256), *range(128)]), 128
Question = tuple[float, float, bytes]


def unpacked(data: bytes) -> list[Question]:
    """Read the bytes of a table. Raises ValueError if they are no table of this version."""
    size = _HEAD.size + BUCKETS
    if not data.startswith(MAGIC) or len(data) != len(MAGIC) + 2 * size:
        raise ValueError("feedback.table has another format")
    starts = (len(MAGIC), len(MAGIC) + size)
    return [(*_HEAD.unpack_from(data, start), data[start + _HEAD.size : start + size]) for start in starts]


class Classifier:
    def __init__(self, data: bytes) -> None:
        questions = unpacked(data)
        self._steps = [(bias, step) for bias, step, _ in questions]
        self._weights = [weights.translate(_UNSIGNED) for _, _, weights in questions]

    def judged(self, turn: Turn, draft: Signal | None) -> tuple[float, float]:
        """Return how likely a turn is feedback, and how likely it is durable."""
        sums = []
        for value, keys in rows(turn, draft):
            # The first one twice: of a single one there would be no tuple.
            take, added = itemgetter(keys[0], *keys), _ADDED * len(keys)
            sums.append((value, [sum(take(weights)) - weights[keys[0]] - added for weights in self._weights]))
        totals = [sum([value * each[at] for value, each in sums]) for at in (0, 1)]
        feedback, durable = [bias + step * total for total, (bias, step) in zip(totals, self._steps, strict=True)]
        return probability(feedback), probability(durable)


def probability(score: float) -> float:
    """Return the probability that a score in log odds means."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def shipped() -> Classifier:
    """Read the table that memtui ships."""
    return Classifier(TABLE.read_bytes())


# From this confidence, the rules are sure: of 41 among 1,780 labelled messages 37 were feedback, and about this share
# was worth keeping for good: enough not to be folded, too little to be delivered.
SURE, SURE_DURABLE = 0.5, 0.29
# From this confidence, the person said that it is for the future. Only two labelled messages do, so the number is set:
# enough to be delivered (inbox/format_hot.py).
SAID, SAID_DURABLE = 0.75, 0.5
# The least probability with which the classifier makes a draft of what no rule matches.
LEAST = 0.05


def drafts(turns: Iterable[Turn], classifier: Classifier | None) -> list[Signal]:
    """List the drafts in these turns, each name once; by the rules alone without a classifier."""
    return signals.once(signal for turn in turns for signal in drafts_of(turn, classifier))


def drafts_of(turn: Turn, classifier: Classifier | None) -> list[Signal]:
    """List the drafts in one turn: one, or for each of several rules one."""
    signals_here = signals.signals_of(turn)
    words = message.own_words(turn.text)
    if classifier is None or not words:
        return signals_here
    if not signals_here and (message.too_short(words) or phrases.MACHINE.match(turn.text)):
        return []  # of which no draft is made, whatever its scores
    first = _judged(turn, signals_here[0] if signals_here else None, classifier)
    if first is None:
        return []
    lasts = first.durable or 0.0
    return [first, *(replace(signal, durable=_lasting(lasts, signal.confidence)) for signal in signals_here[1:])]


def joined(feedback: float, durable: float, sure: float) -> tuple[float, float]:
    """Return both probabilities of the classifier for a draft that the rules are `sure` of, with what that adds."""
    return (max(feedback, sure), _lasting(durable, sure)) if sure >= SURE else (feedback, durable)


def _lasting(durable: float, sure: float) -> float:
    """Return how likely what the rules are `sure` of is durable, by the classifier and by its words."""
    return max(durable, SAID_DURABLE if sure >= SAID else SURE_DURABLE)


def _judged(turn: Turn, draft: Signal | None, classifier: Classifier) -> Signal | None:
    feedback, durable = classifier.judged(turn, draft)
    if draft is None:
        signal = signals.unruled(turn, round(feedback, 2)) if feedback >= LEAST else None
        return replace(signal, durable=round(durable, 2)) if signal else None
    if draft.kind == "confirmation":
        return replace(draft, durable=round(durable, 2))
    if draft.confidence >= SURE:
        feedback, durable = joined(feedback, durable, draft.confidence)
    elif message.too_short(turn.text):
        feedback = draft.confidence  # of a few words the classifier says too much; how long they hold, it may say
    return replace(draft, confidence=round(feedback, 2), durable=round(durable, 2))
