"""The sentences of a message: what the person wrote in it, apart from what they pasted: logs, stack traces, listings,
diffs, data and code. Code that the line before announces (“run this before each commit:”) counts as written."""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from memtui.client.transcripts.conversation import normalised
from memtui.learn import phrases, rule_sentences, wording
from memtui.learn.rule_sentences import Sentence
from memtui.recall.own_words_hot import is_pasted as is_of_log

# The fewest words of a rule.
MIN_RULE_WORDS = 3
# How much of a preference is one beside a question; characters of a sentence that are read.
SURE_WISH, MOST_CHARS = 0.65, 500
# Words from which on a quotation is one; quotations in a message, and the first character that stands for one.
MIN_QUOTED, MOST_QUOTATIONS, FIRST_MARK = 2, 100, 0xE000
# Texts whose words and sentences are remembered: they are asked for several times.
REMEMBERED = 256
_BLOCK = re.compile(r"(?:```|~~~)[\s\S]*?(?:```|~~~|\Z)")
_POINT = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+|^\s*#{1,6}\s")
_QUOTATION = re.compile(r"[\"“](?P<text>[^\"“”\n]{6,400})[\"”]")
_MARK = re.compile(f"[{chr(FIRST_MARK)}-{chr(FIRST_MARK + MOST_QUOTATIONS)}]")
# Lines and characters of code that a line announces; characters of a line that goes on in the next; lines between
# pasted ones; characters of a line that are read for words of talk; texts that are remembered.
MOST_CODE, MOST_CODE_CHARS, MOST_WRAPPED, MOST_BETWEEN, MOST_READ, PASTES = 6, 300, 1000, 3, 300, 32
# A line that may be one of a paste is a person's with so many of the words of talk, and this share of them.
LEAST_TALK, TALK_SHARE = 2, 0.25
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_GAP = re.compile(r"^(?P<own>[ \t]*\S(?:.*?\S)?)[ \t]{3,}(?=(?P<rest>\S.{0,100}))", re.MULTILINE)
_PASTED, _SHOWS, _CONTINUES, _WRAPPED = map(phrases.pattern, ("pasted", "shows", "continues", "wrapped"))
_TALK, _PERSON, _SPEAKS, _PASTED_LINE = map(phrases.pattern, ("talk", "speaker", "speaks", "pasted_line"))
_BEGINS = phrases.pattern("begins")
_JOINS = re.compile(r"^\s*(?:and|or) ", re.IGNORECASE)
_ENDED = re.compile(r"[.!?:;…。！？]$")
# What a person may also begin a line with.
_LEVEL = re.compile(r"^\s*\[?(?:error|warning|warn|info|debug|trace|fail|fatal|remote)\b.{0,3}[:\[\]]", re.IGNORECASE)
_LISTED = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+\S")
_CODE_SPAN = re.compile(r"`[^`\n]*`")
# What lines of programs have, and what people write has less of.
_MARKS = re.compile(r"[:=_/\\()\[\]{}<>|#\d]|^\W*[A-Z]{2,}\W*$|\w\.\w")


def too_short(words: str) -> bool:
    """Return whether the person's words are too few to learn from, in a language that puts blanks between them."""
    return len(words.split()) <= MIN_RULE_WORDS and words.isascii()


@lru_cache(maxsize=REMEMBERED)
def own_words(text: str) -> str:
    """Return the words that the person wrote: no code blocks, quotations, diffs, tables, or lines of a log."""
    lines = _BLOCK.sub("\n", text.replace("’", "'").replace("‘", "'")).splitlines()
    shown = _shown(lines)
    own = [line for at, line in enumerate(lines) if at not in shown and not _PASTED_LINE.match(line)]
    return "\n".join(own).strip()


def _shown(lines: list[str]) -> range:
    """Return the lines of a text that the person shows: behind “Here is the README:”, but for the last paragraph."""
    first = next((at for at, line in enumerate(lines[:-1]) if not lines[at + 1].strip() and _SHOWS.search(line)), None)
    if first is None:
        return range(0)
    last = max(at for at, line in enumerate(lines) if line.strip())
    end = next((at for at in range(last, first + 1, -1) if not lines[at].strip()), first + 1)
    return range(first + 1, end if end > first + 1 else len(lines))


@lru_cache(maxsize=REMEMBERED)
def check_in(words: str) -> re.Match[str] | None:
    """Return the command that the person names as a check, if there is one."""
    return phrases.COMMAND.search(words)


def sentences_of(words: str, agent: str = "") -> list[Sentence]:
    """Split the person's words into at most 60 sentences; a quotation of the `agent` alone is left out."""
    return list(_sentences_of(words, agent))


@lru_cache(maxsize=REMEMBERED)
def written_sentences(text: str, agent: str = "") -> list[Sentence]:
    """Split what the person wrote in a message, beside what they pasted, into sentences."""
    own = written(text)
    sentences = rule_sentences.unbroken(_sentences_of(own.text, agent))
    last = {sentence.line: at for at, sentence in enumerate(sentences)}
    for line, code in own.code.items():
        if line in last:
            sentences[last[line]] = replace(sentences[last[line]], code=code)
    return sentences


@lru_cache(maxsize=REMEMBERED)
def _sentences_of(words: str, agent: str) -> list[Sentence]:
    marked, quoted = _quotations(words, agent)
    whole = lambda mark: quoted[ord(mark[0]) - FIRST_MARK]
    unmarked: Callable[[str], str] = lambda text: _MARK.sub(whole, text) if quoted else text
    sentences = []
    for number, line in enumerate(marked.splitlines()):
        match = _POINT.match(line)
        for part, whole_part in _halves(_parts(_POINT.sub("", line))):
            text = part.strip()
            text = (phrases.FILLER.sub("", text) or text)[:MOST_CHARS]
            low = _MARK.sub(" ", text).lower() if quoted else text.lower()
            if text and (low == text.lower() or len(low.split()) >= 2):
                question = part.rstrip("\"') ").endswith("?")
                mark = match[0].lstrip() if match else ""
                sentences.append(Sentence(unmarked(text), low, question, mark, unmarked(whole_part), number))
    return sentences[:60] if sentences or not quoted else sentences_of(words)


def _parts(line: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a line, each also with the quotation marks and brackets that open and close it."""
    start, opening = 0, ""
    for end in phrases.SENTENCE_END.finditer(line):
        *closing, after = re.split(r"\s+", end[0])
        part = line[start : end.start()]
        yield part, opening + part.strip() + "".join(closing or [after])
        start, opening = end.end(), after if closing else ""
    yield line[start:], opening + line[start:].strip()


def _halves(parts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield sentences; one that says what the person prefers and then asks for something else as two."""
    for part, whole in parts:
        aside = phrases.ASIDE.search(part) if part.rstrip().endswith("?") else None
        wish = part[: aside.start()] if aside else ""
        sure = [pattern for weight, pattern in phrases.PREFERENCE if weight >= SURE_WISH and len(wish) < MOST_CHARS]
        if any(pattern.search(wish.lower()) for pattern in sure):
            question = part[len(wish) + 1 :].strip()
            yield from ((wish, wish.strip()), (question, question))
        else:
            yield part, whole


def _quotations(words: str, agent: str) -> tuple[str, list[str]]:
    """Return the words with a mark for each quotation of what the agent said, and these."""
    if not agent or not _QUOTATION.search(words) or _MARK.search(words):
        return words, []
    answer = normalised(agent)
    quotations: list[str] = []

    def mark(quotation: re.Match[str]) -> str:
        text = normalised(quotation["text"])
        if len(text.split()) < MIN_QUOTED or text not in answer or len(quotations) == MOST_QUOTATIONS:
            return quotation[0]
        quotations.append(quotation[0])
        return chr(FIRST_MARK + len(quotations) - 1)

    return _QUOTATION.sub(mark, words), quotations


# What was pasted: told by its look. What a person may have written counts as written, unless it is between such lines.


class OwnText(NamedTuple):
    """What a person wrote, blank lines for pastes, and by the number of a line the `code` that it announces."""

    text: str
    code: dict[int, str]


@lru_cache(maxsize=PASTES)
def written(text: str) -> OwnText:
    """Return what the person wrote of a message."""
    lines: list[str] = []
    code: dict[int, str] = {}
    for run, pasted in _runs(text):
        if not pasted:
            for above, line in zip(["", *run], run, strict=False):
                _add(lines, above.rstrip(), line)
            continue
        before = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].strip()), -1)
        block = _bare(run)
        if before >= 0 and lines[before].rstrip().endswith(":") and block and len(block) <= MOST_CODE_CHARS:
            code.setdefault(before, block)
        lines.append("")
    return OwnText("\n".join(lines), code)


def _add(lines: list[str], above: str, line: str) -> None:
    """Add a line; to the one before, if the sentence goes on. `above`: the line above it in the message."""
    begins = not above or not line.strip()[:1].islower() or _LISTED.match(line)
    if begins or len(lines[-1]) > MOST_WRAPPED or not (_WRAPPED.search(above) or _continues(above, line)):
        lines.append(line)
    else:
        lines[-1] = f"{lines[-1].rstrip()} {line.strip()}"


def _continues(above: str, line: str) -> bool:
    """Tell whether a line begins with a word that goes on with the line above it."""
    if _ENDED.search(above):
        return False
    joined = _JOINS.match(line)
    return _CONTINUES.match(line) is not None or (joined is not None and not wording.imperative(line[joined.end() :]))


def shortened(text: str) -> str:
    """Return a message with no more than the first line of each paste, and "…" for what follows it."""
    lines: list[str] = []
    for run, pasted in _runs(text):
        first = next((line for line in run if not _FENCE.match(line)), "")
        lines += [first, "…"] if pasted and len(run) > 1 else run
    return "\n".join(lines)


def _runs(text: str) -> list[tuple[list[str], bool]]:
    """Split a message into runs of lines that are pasted, and that are not; blank lines go with what is around them."""
    behind = lambda gap: gap[0] if _LISTED.match(gap["rest"]) or not _goes_on(gap["rest"]) else gap["own"] + "\n"
    lines = _GAP.sub(behind, _BEGINS.sub("\n", text.replace("’", "'").replace("‘", "'"))).splitlines()
    runs: list[tuple[list[str], bool]] = []
    for line, pasted in zip(lines, _told(lines), strict=True):
        if runs and (runs[-1][1] == pasted or not line.strip()):
            runs[-1][0].append(line)
        else:
            runs.append(([line], pasted))
    return runs


def _told(lines: list[str]) -> list[bool]:
    """Tell of each line whether it is pasted: by itself, or for what stands around it."""
    foreign = [inside or _is_pasted(line) for line, inside in zip(lines, _fenced(lines), strict=True)]
    for order in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        before = False
        for at in order:
            foreign[at] = foreign[at] or (before and _goes_on(lines[at]))
            before = foreign[at]
    shown = _shown(lines)
    return [pasted or at in shown for at, pasted in enumerate(_filled(lines, foreign))]


def _filled(lines: list[str], foreign: list[bool]) -> list[bool]:
    """Add the few lines between two pasted ones, and those that are indented below one, where no person speaks."""
    last, indented = -1, False
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        indented = foreign[at] or (indented and line.startswith(("  ", "\t")) and not _LISTED.match(line))
        foreign[at] = foreign[at] or indented
        if foreign[at]:
            between = lines[last + 1 : at]
            few = last >= 0 and sum(bool(line.strip()) for line in between) <= MOST_BETWEEN
            block = all(map(str.strip, between))
            if few and not any(_is_own(each, block=block) for each in between if each.strip()):
                foreign[last + 1 : at] = [True] * len(between)
            last = at
    return foreign


def _is_own(line: str, *, block: bool) -> bool:
    """Tell whether a line between pasted ones, in a `block` with them or a paragraph by itself, is the person's."""
    if _is_foreign(line) or block:
        return _is_foreign(line) or _PERSON.search(line) is not None
    plain = _MARKS.search(_CODE_SPAN.sub("", line)) is None
    return plain or _SPEAKS.search(line) is not None or wording.imperative(line.strip())


def _fenced(lines: list[str]) -> list[bool]:
    fenced: list[bool] = []
    inside = False
    for line in lines:
        mark = _FENCE.match(line) is not None
        fenced.append(inside or mark)
        inside ^= mark
    return fenced


def _is_pasted(line: str) -> bool:
    bare = _CODE_SPAN.sub("", line)
    if _PASTED.match(bare.strip()):
        return True
    if _LEVEL.match(bare):
        return _PERSON.search(bare) is None
    if _LISTED.match(line) or not bare.strip():
        return False
    return is_of_log(bare) and not _talks(bare, LEAST_TALK)


def _goes_on(line: str) -> bool:
    """Tell whether a line beside a pasted one belongs to it."""
    bare = _CODE_SPAN.sub("", line)
    announces = line.rstrip().endswith(":")
    own = _is_foreign(line) or _PERSON.search(line) or _talks(line, 1 if announces else LEAST_TALK)
    return bool(line.strip() and not own and _MARKS.search(bare))


def _is_foreign(line: str) -> bool:
    return any(char.isalpha() and not char.isascii() for char in line)


def _talks(line: str, least: int) -> bool:
    head = line[:MOST_READ]
    count = len(_TALK.findall(head))
    return count >= least and count >= TALK_SHARE * len(head.split())


def _bare(run: list[str]) -> str:
    """Return the code of a run without fences and indentation; empty if that is a long one."""
    lines = [line for line in run if line.strip() and not _FENCE.match(line)]
    if len(lines) > MOST_CODE:
        return ""
    return textwrap.dedent("\n".join(lines).expandtabs(4)).strip()
