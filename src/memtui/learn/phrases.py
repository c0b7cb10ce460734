"""Phrases: patterns for the words with which a person corrects, confirms, or says how things shall be done from now on.

`phrases.txt` has them. They are matched against one sentence in lower case, with straight apostrophes and without
opening fillers ("ok so", "please"). A weight is the confidence that such a sentence gives a draft by itself. The
patterns are few and strict on purpose: a draft that nobody needs costs more trust than a missed one."""

import re

from memtui.base import word_lists

Weighted = tuple[tuple[float, re.Pattern[str]], ...]
_SECTIONS = word_lists.read(__file__.removesuffix("py") + "txt")


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which a newline, and the indentation after it, is layout; case does not count."""
    return re.compile(re.sub(r"\n\s*", "", pattern), re.IGNORECASE)


def pattern(name: str) -> re.Pattern[str]:
    return compiled(word_lists.expanded(_SECTIONS, name))


def _weighted(name: str) -> Weighted:
    """Compile the patterns of a section with their weights; those of one weight are searched at once."""
    together: dict[tuple[float, bool | str], str] = {}
    for row in word_lists.expanded(_SECTIONS, name).split("\n"):
        weight, _, phrase = row.partition(" ")
        is_word = phrase.startswith(r"\b")
        key = float(weight), is_word or phrase
        together[key] = f"{together[key]}|{phrase}" if key in together else phrase
    return tuple(
        (weight, compiled(rf"\b(?:{phrase})" if is_word is True else phrase))
        for (weight, is_word), phrase in together.items()
    )


FILLER, REFUSAL, OPENERS, REQUEST, MACHINE = map(pattern, ("filler", "refusal", "openers", "request", "machine"))
FORBIDDING, ASIDE, COUNTER, DIRECTIVE = map(pattern, ("forbidding", "aside", "counter", "directive"))
FAILURE, SUPPOSES, CLAIM, COMMAND, PAST = map(pattern, ("failure", "supposes", "claim", "command", "past"))
GO_ON, FACT, NORM, PLACE, LOCAL, GLOBAL = map(pattern, ("go_on", "fact", "norm", "place", "local", "global"))
OWN_MISTAKE, NOT_A_RULE, SENTENCE_END = map(pattern, ("own_mistake", "not_a_rule", "sentence_end"))
STANDING, PREFERENCE, PERSON = map(_weighted, ("standing", "preference", "person"))
OBJECTION, PRAISE = map(_weighted, ("objection", "praise"))
