"""Phrases: patterns for the words with which a person corrects, confirms, or says how things shall be done from now on.

`phrases.txt` has them. They are matched against one sentence in lower case, with straight apostrophes and without
opening fillers ("ok so", "please"). A weight is the confidence that such a sentence gives a draft by itself. The
patterns are few and strict on purpose: a draft that nobody needs costs more trust than a missed one."""

import re

from memtui.base import word_lists

Weighted = tuple[tuple[float, re.Pattern[str]], ...]
_SECTIONS = word_lists.read(__file__.removesuffix("py") + "txt")


def _text(name: str) -> str:
    return re.sub(r"«(\w+)»", lambda match: _text(match[1]), re.sub(r"\n\s+", "", _SECTIONS[name]))


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which a newline, and the indentation after it, is layout; case does not count."""
    return re.compile(re.sub(r"\n\s*", "", pattern), re.IGNORECASE)


def pattern(name: str) -> re.Pattern[str]:
    return compiled(_text(name))


def _weighted(name: str) -> Weighted:
    """Compile the patterns of a section with their weights; those of one weight are searched at once."""
    together: dict[tuple[float, bool | str], str] = {}
    for row in _text(name).split("\n"):
        weight, _, phrase = row.partition(" ")
        is_word = phrase.startswith(r"\b")
        key = float(weight), is_word or phrase
        together[key] = f"{together[key]}|{phrase}" if key in together else phrase
    return tuple(
        (weight, compiled(rf"\b(?:{phrase})" if is_word is True else phrase))
        for (weight, is_word), phrase in together.items()
    )


FILLER = pattern("filler")
REFUSAL = pattern("refusal")
OPENERS = pattern("openers")
STANDING = _weighted("standing")
FORBIDDING = pattern("forbidding")
PREFERENCE = _weighted("preference")
PERSON = _weighted("person")
ASIDE = pattern("aside")
OBJECTION = _weighted("objection")
COUNTER = pattern("counter")
DIRECTIVE = pattern("directive")
FAILURE = pattern("failure")
SUPPOSES = pattern("supposes")
CLAIM = pattern("claim")
COMMAND = pattern("command")
PRAISE = _weighted("praise")
PAST = pattern("past")
GO_ON = pattern("go_on")
FACT = pattern("fact")
NORM = pattern("norm")
PLACE = pattern("place")
LOCAL = pattern("local")
GLOBAL = pattern("global")
OWN_MISTAKE = pattern("own_mistake")
NOT_A_RULE = pattern("not_a_rule")
SENTENCE_END = pattern("sentence_end")
REQUEST = pattern("request")
MACHINE = pattern("machine")
