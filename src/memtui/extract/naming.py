"""The name of a draft, from its description."""

import re
import unicodedata

from memtui.core.base.ids import content_hash
from memtui.extract.vocabulary import FEW_STOP_WORDS, OPEN_ENDED, STOP_WORDS

# Characters and words of a name, at most; characters of a description that are read; words with which a clause is one.
MAX_NAME, MAX_NAME_WORDS, MAX_READ, LEAST_OF_CLAUSE = 48, 5, 300, 3
# What a name says although it is no content word: without it, the name would say the opposite.
_NEGATIONS = frozenset({"not", "no", "never"})
_NOT_WORDS = re.compile(r"\b(?:cannot|can not|\w+n't|(?:do|does|did|is|are|was|wo|ca|could|should|would)nt)\b")
_NO_WORD = re.compile(
    r"^let's\b|https?://\S+|\b(?=[a-f-]*\d)[0-9a-f]{7,40}\b|\b[0-9a-f]{4,}(?:-[0-9a-f]{4,})+\b|\b\d{4}-\d\d-\d\d\S*|'(?:d|s|m|re|ve|ll)\b"
)
# The negation with which a question begins expects a yes.
_ASKED = re.compile(r"^(?:is|are|do|does|did|was|were|ca|could|should|would|wo|have|has)n't(?= .*\?$)")
_DO_NOT = re.compile(r"(?:do not|don'?t)\b")
_LETTER = re.compile(r"[^\W\d_]")


def slug(text: str) -> str:
    """Make a short name in kebab case from the content words of a description: the same for the same text. One that is
    mostly in another script is told apart by a hash."""
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
    """Return the words of a name."""
    chosen: list[str] = []
    for word in words:
        count = sum(each not in _NEGATIONS for each in chosen)
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
