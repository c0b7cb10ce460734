"""Secrets recognised by the shape that their issuer gives them, or by their place: in an address, a header, a
command. And what all rules share: `tables.txt` with these shapes, commands and names, a secret, patterns of many words,
and tests that tell generated values, such as keys, from words, names and paths."""

import math
import re
from collections.abc import Iterable, Iterator
from functools import cache

from memtui.base import word_lists

_CLASSES = {
    "A": "[A-Za-z0-9]",
    "W": "[A-Za-z0-9_-]",
    "H": "[0-9A-Fa-f]",
    "L": "[a-z0-9]",
    "U": "[A-Z0-9]",
    "B": "[A-Za-z0-9+/]",
}
_SECTIONS = word_lists.read(__file__.removesuffix("shaped.py") + "tables.txt")


def pattern(name: str) -> re.Pattern[str]:
    return re.compile(word_lists.expanded(_SECTIONS, name))


def expanded(shape: str) -> str:
    """Return a shape as a regular expression."""
    return re.sub(r"(?<!\\)([AWHULB])(?=\{)", lambda match: _CLASSES[match[1]], shape)


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and words of each entry, `name: words | name: words`; without words, the name in lower case."""
    for entry in " ".join(text.split()).split(" | "):
        name, _, words = entry.partition(": ")
        yield name, words or name.lower()


def _triples(section: str) -> list[tuple[str, str, str]]:
    rows = (line.split(" | ", 2) for line in _SECTIONS[section].split("\n"))
    return [(first, second, third) for first, second, third in rows]


# (kind, the beginnings of such a key, the shape that follows).
PREFIXED = [
    (kind, beginnings, line.partition(" ")[0])
    for line in re.split(r"\n(?! )", _SECTIONS["keys"])
    for kind, beginnings in _rows(line.partition(" ")[2])
]
# (kind, a text that such a key holds, the whole shape), and of addresses (kind, a text in it, the rest).
HOLDING, WEBHOOKS = _triples("holding"), _triples("webhooks")
# The name of a service by its words.
SERVICES = {word: name for name, words in _rows(_SECTIONS["services"]) for word in words.split()}
PASSWORDS, SECRETS, WEAK = _SECTIONS["passwords"], _SECTIONS["secrets"], _SECTIONS["weak"]
# (kind, words of which the text in lower case must hold one, pattern with the group `secret`).
COMMANDS = []
for kind, words, place in _triples("commands"):
    whole = place.replace("…", r"[^\n]{0,160}?").replace("SECRET", r"(?P<secret>[^\s\"'|]{3,2000})")
    COMMANDS.append((kind, tuple(words.split()), r"(?<![A-Za-z0-9])" + whole))
COMMANDS.append(("recovery phrase", ("phrase", "mnemonic", "seed"), pattern("phrase").pattern))
_COMMAND_WORDS = {word for _, needed, _ in COMMANDS for word in needed}


# Generated values

# Replaces what was redacted before, in the text that is searched: no rule matches it.
BARRIER = "\0"
MIN_ENTROPY_BITS = 3.0
# The least length of a secret beside a telling word, such as "token".
NEAR_LENGTH = 16
# The most letters or digits of one kind in a row, on average, of a generated value: random base 62 has 1.6, camel case
# 4 and more. The limits are for a value without a name, beside a telling word, given to such a name, and after the
# known beginning of a key.
FREE_RUN, NEAR_RUN, NAMED_RUN, WORD_RUN = 2.7, 3.0, 3.2, 5.0
_RUN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]|[0-9]+")
HASH = pattern("hash")
PLACEHOLDER = pattern("placeholder")
# A value without any of these is an ordinary word.
TELLS = re.compile(r"[0-9!@#$%^&*?~+=|_.-]|[a-z][A-Z]|[A-Z]{2}[a-z]|^[^\W\d_]{4,40}$| ")
SYMBOLS = frozenset("!@#$%^&*?~+=|")
REFERENCE = re.compile(r"^[A-Za-z_][\w-]*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)*$")
PATHLIKE = pattern("pathlike")


def entropy(text: str) -> float:
    """Return the Shannon entropy in bits per character."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in (text.count(c) for c in set(text)))


def run_length(text: str) -> float:
    """Return the number of letters or digits of one kind in a row, on average."""
    runs = _RUN.findall(text)
    return sum(map(len, runs)) / len(runs) if runs else float(len(text))


def generated(value: str, longest_run: float) -> bool:
    """Tell whether a value looks generated: letters and digits are mixed, and it is no hash, path or words."""
    if not DIGIT.search(value) or not _LETTER.search(value) or entropy(value) < MIN_ENTROPY_BITS:
        return False
    # Letters and digits, or both cases, alternate more than in words with numbers.
    if is_both(value):
        is_mixed = run_length(value) <= longest_run
    else:
        is_mixed = any(len(piece) >= 7 and len(SWITCH.findall(piece)) > 1 for piece in _SEPARATED.split(value))
    return is_mixed and not HASH.match(value) and not PATHLIKE.search(value)


DIGIT, _LETTER = re.compile("[0-9]"), re.compile(r"[^\W\d_]")
SWITCH = re.compile(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])")
_SEPARATED = re.compile(r"[^A-Za-z0-9!#$%&*?]+")
_WORD = re.compile(r"^(?:[A-Z]?[a-z]+|[A-Z]+|[0-9]+)$")


def is_given(value: str) -> bool:
    """Tell whether a value given to a telling name looks generated: here it may have few digits, or none."""
    if generated(value, NAMED_RUN):
        return True
    if len(value) < 12 or not value.isalnum() or not value.isascii() or HASH.match(value):
        return False
    if value.islower() or value.isupper():
        return len(value) >= 15 and any(c.isdigit() for c in value)
    return run_length(value) <= 2.5 and entropy(value) >= MIN_ENTROPY_BITS


def is_key_body(body: str, beginning: str) -> bool:
    """Tell whether the text after the beginning of a key belongs to a key, not words in camel case or with dashes."""
    telling = len(beginning) > 3 or (not beginning.isalpha() and len(beginning.strip("._-/")) > 1)
    if not telling and len(set(body)) < min(6, len(body)):
        return False
    longest = WORD_RUN if telling else NAMED_RUN
    return any(_is_key_piece(piece, longest, telling) for piece in _SEPARATED.split(body) if piece)


def _is_key_piece(piece: str, longest: float, telling: bool) -> bool:
    if telling and len(piece) >= 20 and DIGIT.search(piece):
        return True
    run = run_length(piece)
    if is_both(piece) and longest < run <= _ALPHABET_RUN:
        return False
    if not piece.isdigit() and len(piece) > 3 and DIGIT.search(piece):
        return True
    if len(piece) >= 8 and not _WORD.match(piece):
        return True
    return (len(piece) >= 12 and piece.isupper()) or (telling and len(piece) >= 20)


# The run length of an alphabet, as in examples of keys; no words have such runs.
_ALPHABET_RUN = 9.0


def is_both(text: str) -> bool:
    """Tell whether a text has lower case and upper case."""
    return any(c.islower() for c in text) and any(c.isupper() for c in text)


def is_long_hash(value: str) -> bool:
    """Tell whether a value is a hash or a UUID: it is a secret only if its name is one of a secret."""
    return len(value) >= 16 and bool(HASH.match(value))


def is_code(value: str) -> bool:
    """Tell whether a value is an expression in a program, not a literal."""
    return bool(re.search(r"[\[({].*[\])}]$|^[A-Za-z_][\w.]*[\[({]|^[a-z_]\w*(?:\.\w+)+$|=>|\|\||&&|::|\\", value))


class Secret:  # no dataclass: importing dataclasses takes `guide` too long
    """A secret found in a text, from `start` to `end`. The smaller the `rank`, the surer the `kind`."""

    __slots__ = ("end", "kind", "rank", "start")

    def __init__(self, start: int, end: int, kind: str, rank: int) -> None:
        self.start, self.end, self.kind, self.rank = start, end, kind, rank


@cache
def shape(pattern: str) -> re.Pattern[str]:
    """Compile a shape of `tables`."""
    return re.compile(expanded(pattern))


def trie(words: list[str]) -> str:
    """Return a pattern for many words that tests each character once; the longest word wins."""
    if len(words) == 1:
        return re.escape(words[0])
    heads: dict[str, list[str]] = {}
    for word in words:
        heads.setdefault(word[:1], []).append(word[1:])
    ends = "" in heads
    heads.pop("", None)
    branches = [re.escape(head) + (trie(rest) if rest != [""] else "") for head, rest in heads.items()]
    if not branches:
        return ""
    pattern = branches[0] if len(branches) == 1 and not ends else "(?:" + "|".join(branches) + ")"
    return pattern + "?" if ends else pattern


# By shape and place


def words_at(line: str, places: Iterable[int]) -> set[str]:
    """Return the words at ascending places of a line, in which a blank stands before and behind each word."""
    words, end = set(), 0
    for at in places:
        if at >= end:
            end = line.find(" ", at)
            words.add(line[line.rfind(" ", 0, at) + 1 : end])
    return words


def shape_words(line: str, long: str) -> set[str]:
    """Return the words of a line of which one is in each secret that `shaped` finds; `long`: those of 15 characters
    and more, shorter than which no key with a known shape is."""
    words = words_at(long, (match.start() for match in _shape_marks().finditer(long)))
    return words | {word for mark in ("PRIVATE", "PuTTY") if mark in line for word in line.split() if mark in word}


@cache
def _shape_marks() -> re.Pattern[str]:
    marks = [re.escape(mark) for mark in (*(mark for _, mark, _ in HOLDING), "eyJ", "ZXlKaGJHY2lPaU")]
    return re.compile("|".join([_beginnings()[0].pattern, *marks]))


def shaped(text: str) -> Iterator[Secret]:
    yield from _private_keys(text)
    yield from _prefixed(text)
    for kind, mark, pattern in HOLDING:
        if mark in text:
            for match in shape("(?<![A-Za-z0-9])(?:" + pattern + ")").finditer(text):
                yield Secret(match.start(), match.end(), kind, 0)
    for match in _JWT.finditer(text) if "eyJ" in text else ():
        if match["rest"]:
            yield Secret(match.start(), match.end(), "JWT", 1)
    for match in _JWT64.finditer(text) if "ZXlKaGJHY2lPaU" in text else ():
        yield Secret(match.start(), match.end(), "JWT", 1)


@cache
def _beginnings() -> tuple[re.Pattern[str], dict[str, list[tuple[int, str, str]]]]:
    """Return a pattern of all beginnings, and for each the rules to try: (length of the beginning, kind, shape)."""
    rules: dict[str, list[tuple[int, str, str]]] = {}
    for kind, beginnings, rest in PREFIXED:
        for beginning in beginnings.split():
            rules.setdefault(beginning, []).append((len(beginning), kind, rest))
    tried = {word: [rule for size in range(len(word), 0, -1) for rule in rules.get(word[:size], ())] for word in rules}
    return re.compile("(?<![A-Za-z0-9])" + trie(sorted(rules))), tried


def _prefixed(text: str) -> Iterator[Secret]:
    pattern, tried = _beginnings()
    for word in _LONG_WORD.finditer(text):
        at = word.start()
        while begin := pattern.search(text, at, word.end()):
            at = begin.end()
            for size, kind, rest in tried[begin[0]]:
                match = shape(rest).match(text, begin.start() + size)
                if match:
                    at = max(at, match.end())
                    if is_key_body(match[0], begin[0][:size]):
                        yield Secret(begin.start(), match.end(), kind, 0)
                        break


# No key with a known beginning is shorter, or goes on behind a blank.
_LONG_WORD = re.compile(r"\S{15,}")
_KEY_BEGIN, _KEY_END = pattern("key_begin"), pattern("key_end")
# A line of such a key: base 64 or a header, indented or quoted, ended by a line feed or a written `\n`.
_KEY_LINE, _KEY_REST = pattern("key_line"), pattern("key_rest")
_CUT_LINE = re.compile(r"^[ \t>|]*[A-Za-z0-9+/=]{16,}\s*$")


def _private_keys(text: str) -> Iterator[Secret]:
    at = 0
    if "PRIVATE KEY" not in text and "PuTTY" not in text:
        return
    while begin := _KEY_BEGIN.search(text, at):
        at = begin.end()
        while line := _KEY_LINE.match(text, at):
            at = line.end()
        end = _KEY_REST.match(text, at)
        at = end.end() if end else at
        if end or at > begin.end():
            yield Secret(begin.start(), at, "private key", 0)
    # The rest of a key whose beginning was cut off.
    for end in _KEY_END.finditer(text):
        start = text.rfind("\n", 0, end.start()) + 1
        while start and _CUT_LINE.match(text[(above := text.rfind("\n", 0, start - 1) + 1) : start - 1]):
            start = above
        yield Secret(start, end.end(), "private key", 1)


_JWT = pattern("jwt")
_JWT64 = re.compile(r"ZXlKaGJHY2lPaU[A-Za-z0-9+/=_-]{40,}")


_PLACES = [*_COMMAND_WORDS, "authorization", "cookie", "bearer", *(mark for _, mark, _ in WEBHOOKS)]
_PLACE = re.compile("|".join(map(re.escape, _PLACES)))


def place_words(line: str, low: str) -> set[str]:
    """Return the words of a line of which one is in or before each secret that `placed` finds."""
    return words_at(line, (match.start() for match in _PLACE.finditer(low)))


def placed(text: str, low: str, low_words: str) -> Iterator[Secret]:
    """Find the secrets in addresses, headers and commands; `low` is the text in lower case, with the same places,
    `low_words` those of its words that `place_words` selects."""
    yield from _in_addresses(text)
    yield from _in_headers(text, low)
    yield from _in_commands(text, low_words)


_SCHEME = re.compile(r"://(?P<user>[^\s/@:'\"<>?#\0]{0,256}+)(?::(?P<secret>[^\s/'\"<>\0]{1,300}+))?")
# The rest of an address as in instructions: `postgres://user:password@localhost`.
_EXAMPLE = pattern("example")
_HOST_WORDS = re.compile(r"^[a-z]+(?:[.-][a-z]+)*$")


def _in_addresses(text: str) -> Iterator[Secret]:
    at = text.find("://")
    while at >= 0:
        end = at + 3
        match = _SCHEME.match(text, at)
        if match and "@" in text[at : match.end() + 1]:
            secret, user = match["secret"], match["user"]
            is_token = len(user) >= 16 and not PLACEHOLDER.match(user)
            if secret and "@" in secret:
                value = secret[: secret.rfind("@")]
                if value and not PLACEHOLDER.match(value) and not _EXAMPLE.match(secret):
                    yield Secret(match.start("secret"), match.start("secret") + len(value), "password in a URL", 1)
                    if len(user) >= NEAR_LENGTH and (generated(user, NEAR_RUN) or is_long_hash(user)):
                        yield Secret(match.start("user"), match.end("user"), "token in a URL", 1)
                end = match.end()
            elif secret is None and text[match.end() : match.end() + 1] == "@" and is_token:
                if any(c.isdigit() for c in user) and not _HOST_WORDS.match(user):
                    yield Secret(match.start("user"), match.end("user"), "token in a URL", 1)
                end = match.end()
        at = text.find("://", end)
    for kind, mark, rest in WEBHOOKS:
        at = text.find(mark)
        while at >= 0:
            match = shape(rest).match(text, at + len(mark))
            if match and any(c.isdigit() or c.isupper() for c in match["secret"]):
                yield Secret(match.start("secret"), match.end("secret"), kind, 0)
            at = text.find(mark, match.end() if match else at + 1)


_HEADER = re.compile(r"(?i)(?:(?P<auth>authorization)|cookie)\\?[\"'`]?\]?[ \t]*(?::|=>?|,)[ \t]*(?:[fbru]?\\?[\"'`])?")
_SCHEMED = pattern("schemed")
_COOKIES = re.compile(r"(?P<secret>[^\s=;\"'`<>\0]{1,100}=[^\n\"'`<>\0]{4,4000})")
_BEARER = re.compile(r"(?i)\bbearer[ \t]{1,3}(?P<secret>[A-Za-z0-9._~+/=-]{16,2000})")


def _in_headers(text: str, low: str) -> Iterator[Secret]:
    if "authorization" in low or "cookie" in low:
        at = 0
        while match := _HEADER.search(text, at):
            at = match.end()
            value = (_SCHEMED if match["auth"] else _COOKIES).match(text, at)
            if value:
                at = value.end()
                if not match["auth"]:
                    yield Secret(value.start("secret"), value.end("secret"), "cookie", 2)
                elif not (PLACEHOLDER.match(value["secret"]) or value["secret"].isalpha() or "(" in value["secret"]):
                    yield Secret(value.start("secret"), _trimmed(value), "authorization header", 2)
    if "bearer" in low:
        for match in _BEARER.finditer(text):
            if any(c.isdigit() for c in match["secret"]) and not PLACEHOLDER.match(match["secret"]):
                yield Secret(match.start("secret"), _trimmed(match), "bearer token", 2)


def _in_commands(text: str, low_words: str) -> Iterator[Secret]:
    words = {word for word in _COMMAND_WORDS if word in low_words}
    for kind, needed, pattern in COMMANDS if words else ():
        for match in () if words.isdisjoint(needed) else shape(pattern).finditer(text):
            value = match["secret"]
            if BARRIER not in value and (kind == "password hash" or not PLACEHOLDER.match(value)):
                yield Secret(match.start("secret"), _trimmed(match), kind, 1 if kind != "password" else 2)


def _trimmed(match: re.Match[str]) -> int:
    """Return the end of the group `secret`, without the marks that close a sentence or a bracket around it."""
    value = match["secret"]
    return match.start("secret") + len(value.rstrip(".)]},;:!?") or value)
