"""The name of a draft, from its description."""

import re
import unicodedata

from memtui.core.base.ids import content_hash
from memtui.extract import wording
from memtui.extract.vocabulary import FEW_STOP_WORDS, OPEN_ENDED, STOP_WORDS, VERBS

# Characters and words of a name, at most.
MAX_NAME, MAX_NAME_WORDS = 48, 5
# Characters of a description that are read.
MAX_READ = 300
# Words with which a clause is a name.
LEAST_OF_CLAUSE = 3
# Words that don't count for the length of a name.
_UNCOUNTED = frozenset({"do", "not", "no", "never", "always"})
_NOT_WORDS = re.compile(r"\b(?:cannot|can not|\w+n't|(?:do|does|did|is|are|was|wo|ca|could|should|would)nt)\b")
_NO_WORD = re.compile(
    r"https?://\S+|\b(?=[a-f-]*\d)[0-9a-f]{7,40}\b|\b[0-9a-f]{4,}(?:-[0-9a-f]{4,})+\b|\b\d{4}-\d\d-\d\d\S*|'(?:d|s|m|re|ve|ll)\b"
)
# The negation with which a question begins expects a yes.
_ASKED = re.compile(r"^(?:is|are|do|does|did|was|were|ca|could|should|would|wo|have|has)n't(?= .*\?$)")
_LETTER = re.compile(r"[^\W\d_]")


def slug(text: str) -> str:
    """Make a short name in kebab case from the words of a description that are no stop words: the same for the same
    text. One that is mostly in another script is told apart by a hash."""
    order = wording.order_of(text[:MAX_READ])
    low = _NO_WORD.sub(" ", _ASKED.sub("", order.lower().replace("’", "'")))
    low = _NOT_WORDS.sub(" not ", low)
    plain = unicodedata.normalize("NFKD", low.replace("ß", "ss"))
    plain = "".join([each for each in plain if not unicodedata.combining(each)]).replace("'", "")
    words = re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*|[,;:.!?](?= )", plain)
    if words[:1] == ["not"] and words[1:2] and words[1] in VERBS:
        words = ["do", *words]
    kept = _chosen(words, STOP_WORDS, orders=wording.imperative(order))
    name = "-".join(kept if len(kept) > 2 else _chosen(words, FEW_STOP_WORDS, orders=wording.imperative(order)))
    letters = _LETTER.findall(low)
    foreign = sum(not unicodedata.normalize("NFKD", each)[0].isascii() for each in letters) * 2 > len(letters)
    if len(name) > 2 and not foreign:
        return name
    return "-".join(filter(None, (name, "" if len(name) > 2 else "note", content_hash(text)[:8])))


def _chosen(words: list[str], stop_words: frozenset[str], *, orders: bool) -> list[str]:
    """Return the words of a name. `orders`: whether they say what to do, so that the first verb is not left out."""
    kept: list[str] = []
    for word in words:
        counted = sum(each not in _UNCOUNTED for each in kept)
        if word in ",;:.!?":
            # Words of another clause would read as one with these.
            if counted >= LEAST_OF_CLAUSE:
                break
            continue
        told = orders and (word in VERBS or word in _UNCOUNTED) and not set(kept) - _UNCOUNTED
        if word in kept or (word in stop_words and not told):
            continue
        if counted == MAX_NAME_WORDS or len("-".join([*kept, word])) > MAX_NAME:
            break
        kept.append(word)
    while len(kept) > 1 and (kept[-1] in OPEN_ENDED or kept[-1] in FEW_STOP_WORDS):
        kept.pop()
    return kept or [word[:MAX_NAME] for word in words if word.isalnum()][:1]
