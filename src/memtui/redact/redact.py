"""Redaction of secrets, before anything is written: text that a person typed may hold a key or a password.

A secret is recognised by the shape that its issuer gives it (`shaped`); by its place in an address, a header or a
command (`placed`); by its name, such as `password` in one of many languages (`named`); and, without a name, by how
little it looks like words (`unnamed`). Commit hashes, UUIDs, file paths, pictures and plain words stay: a text full of
holes is no memory. What hides a key (invisible characters, colours, escapes, line breaks) is taken out first.

Time is linear in the length of the text: a rule reads no text again, or only a limited part."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from memtui.base.phrasing_hot import series
from memtui.redact.named import name_words, named, unnamed, unnamed_words
from memtui.redact.shaped import BARRIER, FREE_RUN, Secret, generated, pattern, place_words, placed, shape_words, shaped

MAX_PASSES = 8
# Words of less than SHORT characters that no rule needs: most of a text, looked at once. A text is searched for each of
# FEW names, or read as a whole.
_PLAIN: set[str] = set()
MAX_PLAIN, SHORT, FEW = 100_000, 15, 50


def _rules(text: str) -> Iterator[Secret]:
    """Find secrets by the rules that a word of the text, between blanks, allows."""
    words = {*text.split()} - _PLAIN
    low, line = text.lower(), f" {' '.join(words)} "
    low_line, long = line.lower(), [word for word in words if len(word) >= SHORT]
    if len(low) != len(text):
        low = "".join([c.lower() if len(c.lower()) == 1 else c for c in text])
        shapes = places = names = others = words
        spots = [low]
    else:
        shapes, others = shape_words(line, f" {' '.join(long)} "), unnamed_words(f" {' '.join(long)} ")
        places, names = place_words(line, low_line), name_words(line, low_line)
        spots = [*map(str.lower, names)] if len(names) < FEW else [low]
        if len(_PLAIN) > MAX_PLAIN:
            _PLAIN.clear()
        _PLAIN.update(words.difference(long, shapes, places, names))
    yield from shaped(text) if shapes else ()
    yield from placed(text, low, " ".join(places).lower()) if places else ()
    yield from named(text, low, spots) if names else ()
    yield from unnamed(text) if others else ()


def found_in(text: str) -> list[Secret]:
    is_marked = "[redacted: " in text or "pk_" in text
    view = _unescaped(_HARMLESS.sub(lambda match: BARRIER * len(match[0]), text) if is_marked else text)
    place, whole = view.place, view.text
    secrets = [Secret(place(f.start), place(_rest(whole, f.end) - 1) + 1, f.kind, f.rank) for f in _rules(whole)]
    joins = list(_joins(view.text)) if "\n" in view.text else []
    if joins:
        joined = ReducedText(view.text, joins)
        for secret in _rules(joined.text):
            start, end = joined.place(secret.start), joined.place(_rest(joined.text, secret.end) - 1) + 1
            if end - start > secret.end - secret.start and _is_whole(view.text, start, end, secret):
                secrets.append(Secret(view.place(start), view.place(end - 1) + 1, secret.kind, secret.rank))
    return _merged(text, secrets)


# A mark of an earlier redaction, whose kind is words of a few letters, which can't hold a key; and the public half of
# a pair of keys.
_HARMLESS = pattern("harmless")
_REST = re.compile("[A-Za-z0-9]{0,100}")


def _rest(text: str, at: int) -> int:
    """Return the end of the word in which a secret ends: the rest of the word could look like another secret."""
    match = _REST.match(text, at) if text[at - 1].isalnum() else None
    return match.end() if match else at


def _is_whole(text: str, start: int, end: int, secret: Secret) -> bool:
    """Tell whether a match over a line break is one secret: it has a known shape, or is generated on both sides."""
    if secret.rank <= 1:
        return True
    lines = [line.strip(" \t>|#*\\/") for line in text[start:end].split("\n")]
    return all(len(line) >= 14 and generated(line, FREE_RUN) for line in lines)


def _merged(text: str, secrets: list[Secret]) -> list[Secret]:
    apart: list[Secret] = []
    for secret in sorted(secrets, key=lambda f: (f.start, f.end, f.rank, f.kind)):
        if apart and secret.start < apart[-1].end:
            last = apart[-1]
            surest = min(last, secret, key=lambda f: f.rank)
            apart[-1] = Secret(last.start, max(last.end, secret.end), surest.kind, surest.rank)
        elif text[secret.start : secret.end].strip():
            apart.append(secret)
    return apart


def redact(text: str) -> tuple[str, list[str]]:
    """Replace secrets by `[redacted: kind]`; return the text and the kinds, each once. Twice changes nothing more."""
    kinds: dict[str, None] = {}
    for _ in range(MAX_PASSES):
        secrets = found_in(text)
        if not secrets:
            break
        parts, at = [], 0
        for secret in secrets:
            parts += [text[at : secret.start], f"[redacted: {secret.kind}]"]
            at = secret.end
            kinds[secret.kind] = None
        text = "".join([*parts, text[at:]])
    return text, list(kinds)


def redacted(text: str) -> str:
    return redact(text)[0]


def kinds_in(text: str, before: str = "") -> list[str]:
    """List the kinds of secrets that a text seems to hold and `before` does not, in order, each once."""
    texts_before = {before[secret.start : secret.end] for secret in found_in(before)} if before else set()
    return list(dict.fromkeys(each.kind for each in found_in(text) if text[each.start : each.end] not in texts_before))


def described(kinds: Iterable[str]) -> str:
    """Name kinds of secrets in words: `a GitHub token and an npm token`."""
    return series([f"{'an' if kind.startswith(_AN) else 'a'} {kind}" for kind in kinds])


def suspicion(kinds: Iterable[str], what: str = "This") -> str:
    """Name what a text seems to hold: `This looks like it holds a password`."""
    return f"{what} looks like it holds {described(kinds)}"


def question(kinds: Iterable[str]) -> str:
    """Return the sentences before a person is asked what to do with it."""
    return f"{suspicion(kinds)}. It would be sent to sessions and kept in logs."


# The beginnings of kinds that take "an".
_AN = (*"AEIOaeio", "Un", "npm", "NVIDIA", "Nx", "xAI", "SAS")
_ESCAPED = pattern("escaped")
_ENTITIES = {
    "quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">", "equals": "=", "colon": ":", "period": ".",
    "lowbar": "_", "commat": "@", "sol": "/", "num": "#", "nbsp": " ",
}  # fmt: skip


def _meant(match: re.Match[str]) -> str:
    """Return the character that an escape means; empty for invisible ones."""
    code = match.lastgroup
    if code is None:
        return ""
    value = match[code]
    if code == "name":
        return _ENTITIES[value]
    if code == "mark":
        return value
    if code == "line":
        return "\n"
    if code == "wide":
        return chr(ord(value) - 0xFEE0)
    char = chr(int(value, 10 if code == "dec" else 16))
    return char if char.isprintable() else " "


class ReducedText:
    """A text with `pieces` (start, end, replacement) replaced by shorter ones, with a map back to the original."""

    def __init__(self, text: str, pieces: Iterable[tuple[int, int, str]]) -> None:
        parts: list[str] = []
        # Where each stretch begins that is the same in both: in this text, and in the original.
        self._breaks, self._places = [0], [0]
        at = size = 0
        for start, end, replacement in pieces:
            parts += [text[at:start], replacement]
            size += start - at + len(replacement)
            at = end
            self._breaks.append(size)
            self._places.append(end)
        parts.append(text[at:])
        self.text = "".join(parts)

    def place(self, at: int) -> int:
        """Return the place in the original of a place in this text."""
        number = bisect_right(self._breaks, at) - 1
        end = self._places[number + 1] if number + 1 < len(self._places) else 1 << 62
        return min(self._places[number] + at - self._breaks[number], end)


# A line break, with the indentation or the quotation marks of the next line, and that line's first token; and what a
# key may have before it.
_NEXT_LINE, _IN_KEY = pattern("next_line"), re.compile("[A-Za-z0-9_+/=.~$!%-]")
_LIST_NUMBER = pattern("list_number")


def _goes_on(rest: str) -> bool:
    """Tell whether the first token of a line can be the rest of a key: no word, number, date or version."""
    return bool(_MIXED.search(rest) or (len(rest) > 3 and rest.isupper())) and not _LIST_NUMBER.match(rest)


_MIXED = re.compile("[0-9]|[a-z][A-Z]|[A-Z]{2}[a-z]")
# What each of these begins with: most texts have none, and are searched for a class of characters six times as fast.
_BEGINS = pattern("begins")


def _unescaped(text: str) -> ReducedText:
    """Remove invisible characters and resolve escapes."""
    is_plain = text.isascii() and not ("&" in text or "%" in text or "\\" in text or "\x1b" in text)
    escapes = _ESCAPED.finditer(text) if not is_plain and _BEGINS.search(text) else ()
    return ReducedText(text, [(*match.span(), _meant(match)) for match in escapes])


def _joins(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the line breaks within which a key may go on, as pieces of a `ReducedText`."""
    joined = -1
    for match in _NEXT_LINE.finditer(text):
        rest = match["rest"]
        goes_on = _goes_on(rest)
        # The last line of a key may be a few digits, or a letter.
        if not (goes_on or rest.isdigit() or len(rest) < 3):
            continue
        start = match.start()
        start -= text[start - 1 : start] == "\r"
        start -= text[start - 1 : start] == "\\"
        while text[start - 1 : start] in {" ", "\t"}:
            start -= 1
        if (goes_on or start == joined) and _IN_KEY.match(text[start - 1 : start]):
            yield start, match.start("rest"), ""
            joined = match.end()
