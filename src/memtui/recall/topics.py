"""The topics of a standing instruction: what a person has to ask about for it to hold ("…, when I ask about prices").

The patterns of `topics.txt` find the clause that says so, in nine languages."""

import re

from memtui.base import word_lists
from memtui.recall import words_hot

_SECTIONS = word_lists.read(__file__.removesuffix("py") + "txt")
_EMPTY = frozenset(words_hot.terms(_SECTIONS.pop("empty"))) | words_hot.COMMON | words_hot.SMALLTALK
_ENDS, _OR = (re.compile(_SECTIONS.pop(name), re.IGNORECASE) for name in ("ends", "or"))
_PATTERNS = [pattern for patterns in _SECTIONS.values() for pattern in patterns.split("\n") if pattern]
_CLAUSES = [re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE) for pattern in _PATTERNS]
_SENTENCE = re.compile(r"(?:[^.!?\n。！？]|\.(?=\w))+[.!?。！？]?")
MOST_READ, MOST = 600, 8  # characters of a text that are read, and topics that it has at most


def clause(text: str) -> str:
    """Return the words for what a text is about, as they are written; empty if it says no condition."""
    sentences = [words for words in _SENTENCE.findall(text[:MOST_READ].replace("’", "'")) if words[-1] not in "?？"]
    match = next(filter(None, (pattern.search(sentence) for sentence in sentences for pattern in _CLAUSES)), None)
    topic = _ENDS.split(match[1].strip(), maxsplit=1)[0].strip(" \"'“”«»") if match else ""
    return topic if telling(topic) else ""


def telling(topic: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term for term in words_hot.terms(topic) if term not in _EMPTY))


def split(condition: str) -> list[tuple[str, ...]]:
    """Return the terms of each topic of a condition, of which any is enough."""
    return [terms for topic in _OR.split(condition) if (terms := telling(topic))][:MOST]
