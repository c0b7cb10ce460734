"""English words for those of other languages, so that a prompt finds memories in another language than its own.

`lexicon.txt` has a line for each meaning: its English words, and those of each of LANGUAGES, between bars. A word of
four letters or more stands for all that begin with it, one of Japanese or Chinese for itself wherever it is. Hot path;
the lexicon is only read for a text in another language."""

from memtui.base import fs_hot
from memtui.recall import words_hot

LANGUAGES = ("de", "es", "fr", "pt", "ja", "zh")
# The words, without accents, by which a text shows its language.
MARKS = {
    each: frozenset(text.split())
    for each, text in {
        "de": "der das und nicht ist ich mit fur auf ein eine einen wir den dem zu zum zur bitte mir uns wird wie beim"
        " von vom soll nur auch noch wenn sind kann mal wo warum hab habe es im als aus bei nach nichts unser unsere",
        "es": "el la los las que en una por con para se del lo al mi esta este y sin cuando pero como mas hay un es su",
        "fr": "le la les des et une dans pour pas est sur je du au avec ne ce cette un que quand mais il on nous l d",
        "pt": "o os que em um uma para nao com do da no na se e por mais quando mas isso essa esse ao",
        "en": "the is are to of and in it that this for with on not can you please fix we my i add make why how what"
        " when from be do a an",
    }.items()
}
# Characters of a text by which its language is told, and letters from which a word stands for those that begin with it.
LOOKED_AT, BEGINNING = 2000, 4
_PATH = __file__[: __file__.rfind("/")] + "/lexicon.txt"
_tables: "dict[str, dict[str, str]]" = {}


def language(text: str) -> str:
    """Return which of LANGUAGES a text is in; "" for English, any other, or if that can't be told."""
    text = text[:LOOKED_AT]
    if not text.isascii():
        if any("\u3041" <= char <= "\u30ff" for char in text):
            return "ja"
        if any("\u4e00" <= char <= "\u9fff" for char in text):
            return "zh"
    words_here = words_hot.folded(text.lower())
    counts = {language_name: sum([word in marks for word in words_here]) for language_name, marks in MARKS.items()}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] > counts["en"] and counts[best] >= (2 if text.isascii() else 1) else ""


def english(text: str, language_code: str = "") -> str:
    """Return the English words for those of a text in another language (`language_code`, if known); "" for English."""
    language_code = language_code or language(text)
    return " ".join([gloss for _, gloss in _pairs(text, language_code) if gloss]) if language_code else ""


def in_english(text: str) -> str:
    """Return a text with English words for those of another language, and without those of it that say little."""
    language_code = language(text)
    if not language_code:
        return text
    marks = MARKS.get(language_code, frozenset())
    telling = [gloss or word for word, gloss in _pairs(text, language_code) if gloss or word.lower() not in marks]
    return " ".join(telling)


def _pairs(text: str, language_code: str) -> "list[tuple[str, str]]":
    """List the words of a text in one of LANGUAGES, each with its English words, "" if there are none."""
    table = _tables.get(language_code)
    if table is None:
        table = _tables[language_code] = _read(language_code)
    if language_code in MARKS:
        return [(word, _spaced(word.strip(words_hot.JOINERS).lower(), table)) for word in words_hot.folded(text)]
    return _unspaced(text, table)


def _read(language_code: str) -> "dict[str, str]":
    """Read the English words by those of a language. Nothing if the file is missing."""
    at = LANGUAGES.index(language_code) + 1
    table: dict[str, str] = {}
    try:
        lines = fs_hot.read_bytes(_PATH).decode().split("\n")
    except (OSError, ValueError):
        return table
    for line in lines:
        columns = line.split("|")
        if len(columns) > at:
            for word in columns[at].split():
                entry = table.get(word)
                table[word] = f"{entry} {columns[0]}" if entry else columns[0]
    return table


def _spaced(word: str, table: "dict[str, str]") -> str:
    """Return the English words for a word, or for the parts of a compound."""
    gloss = table.get(word)
    if gloss is not None:
        return gloss
    glosses = []
    at = 0
    while len(word) - at >= BEGINNING:
        for end in range(len(word), at + BEGINNING - 1, -1):
            gloss = table.get(word[at:end])
            if gloss is not None:
                break
        else:
            break
        glosses.append(gloss)
        at = end + (word[end : end + 1] == "s")
    return " ".join(glosses)


def _unspaced(text: str, table: "dict[str, str]") -> "list[tuple[str, str]]":
    """Split a text in a script without blanks into words of the lexicon, the longest first, and the rest."""
    longest: dict[str, int] = {}
    for word in table:
        longest[word[0]] = max(longest.get(word[0], 0), len(word))
    glosses = []
    at = start = 0
    while at < len(text):
        for size in range(longest.get(text[at], 0), 0, -1):
            gloss = table.get(text[at : at + size])
            if gloss is not None:
                glosses += [(text[start:at], ""), (text[at : at + size], gloss)]
                at = start = at + size
                break
        else:
            at += 1
    glosses.append((text[start:], ""))
    return [pair for pair in glosses if pair[0]]
