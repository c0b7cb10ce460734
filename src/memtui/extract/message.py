"""The sentences of a message: what the person wrote in it beside code, quotations, diffs and lines of a log."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache

from memtui.core.client.conversation import normalised
from memtui.extract import carried, pasted, phrases
from memtui.extract.carried import Sentence

# The fewest words of a rule.
MIN_RULE_WORDS = 3
# Words from which on a quotation is one; quotations in a message, and the first character that stands for one.
MIN_QUOTED, MOST_QUOTATIONS, FIRST_MARK = 2, 100, 0xE000
# Texts whose words and sentences are remembered: they are asked for several times.
REMEMBERED = 256

_FENCE = re.compile(r"(?:```|~~~)[\s\S]*?(?:```|~~~|\Z)")
_PASTED_LINE = re.compile(
    r"^\s*(?:>|\d{1,5}\s+[+-]|[+-]{1,3}\s{2,}|[+]\s|@@|\||\$ |at [\w.$]+\(|File \"|\d{1,2}:\d\d"
    r"|\[?\d{4}-\d\d-\d\d|\S+:\d+:|(?:error|warning|info|fail|fatal|remote)\b.{0,3}[:\[]"
    r"|[A-Z][a-z]{2} +\d{1,2},? \d\d:\d\d|[-=]{3,}|[✓✗✔✘●├└│])",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+|^\s*#{1,6}\s")
_QUOTATION = re.compile(r"[\"“](?P<text>[^\"“”\n]{6,400})[\"”]")
_MARK = re.compile(f"[{chr(FIRST_MARK)}-{chr(FIRST_MARK + MOST_QUOTATIONS)}]")


def too_short(words: str) -> bool:
    """Return whether the person's words are too few to learn from, in a language that puts blanks between them."""
    return len(words.split()) <= MIN_RULE_WORDS and words.isascii()


@lru_cache(maxsize=REMEMBERED)
def own_words(text: str) -> str:
    """Return the words that the person wrote: no code blocks, quotations, diffs, tables, or lines of a log."""
    text = _FENCE.sub("\n", text.replace("’", "'").replace("‘", "'"))
    return "\n".join([line for line in text.splitlines() if not _PASTED_LINE.match(line)]).strip()


@lru_cache(maxsize=REMEMBERED)
def check_in(words: str) -> re.Match[str] | None:
    """Return the command that the person names as a check, if there is one."""
    return phrases.COMMAND.search(words)


def sentences_of(words: str, agent: str = "") -> list[Sentence]:
    """Split the person's words into sentences, at most 60. Of one that has a quotation of the `agent`, the patterns see
    what stands beside the quotation; one that is nothing else is left out."""
    return list(_sentences_of(words, agent))


@lru_cache(maxsize=REMEMBERED)
def written_sentences(text: str, agent: str = "") -> list[Sentence]:
    """Split what the person wrote in a message, beside what they pasted, into sentences."""
    written = pasted.written(text)
    found = carried.unbroken(_sentences_of(written.text, agent))
    last = {each.line: at for at, each in enumerate(found)}
    for line, code in written.code.items():
        if line in last:
            found[last[line]] = replace(found[last[line]], code=code)
    return found


@lru_cache(maxsize=REMEMBERED)
def _sentences_of(words: str, agent: str) -> list[Sentence]:
    marked, quoted = _quotations(words, agent)
    whole = lambda mark: quoted[ord(mark[0]) - FIRST_MARK]
    unmarked: Callable[[str], str] = lambda text: _MARK.sub(whole, text) if quoted else text
    found = []
    for number, line in enumerate(marked.splitlines()):
        listed = _LISTED.match(line)
        for part, said in _parts(_LISTED.sub("", line)):
            text = part.strip()
            text = (phrases.FILLER.sub("", text) or text)[:500]
            low = _MARK.sub(" ", text).lower() if quoted else text.lower()
            if text and (low == text.lower() or len(low.split()) >= 2):
                question = part.rstrip("\"') ").endswith("?")
                mark = listed[0].lstrip() if listed else ""
                found.append(Sentence(unmarked(text), low, question, mark, unmarked(said), number))
    return found[:60] if found or not quoted else sentences_of(words)


def _parts(line: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a line, each also with the quotation marks and brackets that open and close it."""
    start, opening = 0, ""
    for end in phrases.SENTENCE_END.finditer(line):
        *closing, after = re.split(r"\s+", end[0])
        part = line[start : end.start()]
        yield part, opening + part.strip() + "".join(closing or [after])
        start, opening = end.end(), after if closing else ""
    yield line[start:], opening + line[start:].strip()


def _quotations(words: str, agent: str) -> tuple[str, list[str]]:
    """Return the words with a mark for each quotation of what the agent said, and these."""
    if not agent or not _QUOTATION.search(words) or _MARK.search(words):
        return words, []
    said = normalised(agent)
    found: list[str] = []

    def mark(quotation: re.Match[str]) -> str:
        text = normalised(quotation["text"])
        if len(text.split()) < MIN_QUOTED or text not in said or len(found) == MOST_QUOTATIONS:
            return quotation[0]
        found.append(quotation[0])
        return chr(FIRST_MARK + len(found) - 1)

    return _QUOTATION.sub(mark, words), found
