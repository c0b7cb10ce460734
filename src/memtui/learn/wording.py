"""How a draft is worded: its description is the person's own sentence, in one line."""

import re
import unicodedata
from collections import Counter

from memtui.base import word_lists
from memtui.base.ids_hot import content_hash
from memtui.base.phrasing_hot import cut
from memtui.learn import phrases
from memtui.learn.phrases import compiled

# The words of each list of `vocabulary.txt`.
VOCABULARY = word_lists.sets(__file__.removesuffix("wording.py") + "vocabulary.txt")
VERBS, NOUNS, OPEN_ENDED = VOCABULARY["verbs"], VOCABULARY["nouns"], VOCABULARY["open_ended"]
STOP_WORDS, FEW_STOP_WORDS = VOCABULARY["stop_words"], VOCABULARY["few_stop_words"]
# Characters: the most of a description, and those that are read of a sentence; the fewest that a lead-in leaves.
MAX_DESCRIPTION, MOST_READ, LEAST_LEFT = 120, 1000, 4
# How many lead-ins are taken from a sentence.
MOST_LEADS = 6
_OBJECT, _NEGATION, _NO_WORD = map(phrases.pattern, ("object", "negation", "no_word"))
# What a sentence may begin with and says the same without: a "no" that answers the agent, "from now on", fillers.
_LEADS = (compiled(r"^(?:(?:no|nope|nah)(?: no| wait)*|stop|wait)\s*[,.!:;…—–]+\s*"), phrases.FILLER, phrases.OPENERS)
_ASKING = phrases.pattern("asking")
# What may stand before the verb of an order; those that make one of any word behind them but a person.
_NOT_TO = {"don't", "dont", "never", "always"}
_WHO = {"we", "you", "i", "they", "it", "the", "a", "this", "that", "mind"}
_MANNER = _NOT_TO | {"only", "first"}
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?(?=[\s,:;.!?)]*(?:\s|$))")


def negations(text: str) -> Counter[str]:
    return Counter("n" for _ in _NEGATION.findall(text.lower().replace("’", "'")))


def describe(sentence: str) -> str:
    """Return a sentence as a memory's description: one line, without lead-ins, capitalized, cut at a word."""
    text = " ".join(sentence[:MOST_READ].replace("’", "'").split())
    for _ in range(MOST_LEADS):
        rest = next((rest for lead in _LEADS if LEAST_LEFT <= len(rest := lead.sub("", text, count=1)) < len(text)), "")
        if not rest:
            break
        text = rest
    text = text.lstrip(",;:—– ").rstrip(" .,;:!—–-")
    return cut(text[:1].upper() + text[1:] if _PLAIN_WORD.match(text) else text, MAX_DESCRIPTION)


def orders(sentence: str) -> bool:
    text = describe(sentence)
    return imperative(text) or imperative(_ASKING.sub("", text, count=1).rstrip("?"))


def imperative(text: str) -> bool:
    words = text.replace("’", "'").replace(",", " ").split()
    if text.rstrip().endswith("?") or not words:
        return False
    while words[0].lower() in _MANNER and len(words) > 1 and words[0].lower() + words[1].lower() != "donot":
        if words[0].lower() in _NOT_TO and words[1].lower() not in _WHO:
            return True
        words = words[1:]
    first = words[0].lower()
    if first not in VERBS:
        return False
    return first not in NOUNS or (len(words) > 1 and _OBJECT.match(words[1]) is not None)


def tail(text: str, limit: int) -> str:
    """Return the end of a text, cut at a word, with "…" if it is longer."""
    text = text.strip()
    if len(text) <= limit:
        return text
    end = text[-(limit - 1) :]
    return "…" + end[end.find(" ") + 1 :].lstrip() if " " in end[: limit // 2] else "…" + end


# Characters and words of a name, at most; characters of a description that are read; words with which a clause is one.
MAX_NAME, MAX_NAME_WORDS, MAX_READ, LEAST_OF_CLAUSE = 48, 5, 300, 3
# What a name says although it is no content word: without it, the name would say the opposite.
_NEGATIONS = frozenset({"not", "no", "never"})
_NOT_WORDS = re.compile(r"\b(?:cannot|can not|\w+n't|(?:do|does|did|is|are|was|wo|ca|could|should|would)nt)\b")
# The negation with which a question begins expects a yes.
_ASKED = re.compile(r"^(?:is|are|do|does|did|was|were|ca|could|should|would|wo|have|has)n't(?= .*\?$)")
_DO_NOT = re.compile(r"(?:do not|don'?t)\b")
_LETTER = re.compile(r"[^\W\d_]")


def slug(text: str) -> str:
    """Make a short name in kebab case from a description's content words, in another script with a hash."""
    low = _NO_WORD.sub(" ", _ASKED.sub("", text[:MAX_READ].lower().replace("’", "'")))
    begin = "do-" if _DO_NOT.match(low) else ""
    low = _NOT_WORDS.sub(" not ", low)
    plain = unicodedata.normalize("NFKD", low.replace("ß", "ss"))
    plain = "".join([char for char in plain if not unicodedata.combining(char)]).replace("'", "")
    words = re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*|[,;:.!?](?= )", plain)
    chosen = _chosen(words, STOP_WORDS - _NEGATIONS)
    chosen = chosen if len(chosen) > 2 else _chosen(words, FEW_STOP_WORDS)
    name = ("" if _NEGATIONS.issuperset(chosen) else begin) + "-".join(chosen)
    letters = _LETTER.findall(low)
    foreign = sum(not unicodedata.normalize("NFKD", char)[0].isascii() for char in letters) * 2 > len(letters)
    if len(name) > 2 and not foreign:
        return name
    return "-".join(filter(None, (name, "" if len(name) > 2 else "note", content_hash(text)[:8])))


def _chosen(words: list[str], stop_words: frozenset[str]) -> list[str]:
    chosen: list[str] = []
    for word in words:
        count = sum(word not in _NEGATIONS for word in chosen)
        if word in ",;:.!?":
            # Words of another clause would read as one with these.
            if count >= LEAST_OF_CLAUSE:
                break
            continue
        if word in chosen or word in stop_words:
            continue
        if count == MAX_NAME_WORDS or len("-".join([*chosen, word])) > MAX_NAME:
            break
        chosen.append(word)
    while len(chosen) > 1 and (chosen[-1] in OPEN_ENDED or chosen[-1] in FEW_STOP_WORDS):
        chosen.pop()
    return chosen or [word[:MAX_NAME] for word in words if word.isalnum()][:1]
