"""What the rules that find secrets share: a secret, patterns of many words, and tests that tell generated values, such
as keys, from words, names and paths."""

import math
import re
from functools import cache

from memtui.redact import tables

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
HASH = re.compile(
    r"^(?:(?:[A-Za-z.]{1,24}[-_.])*[A-Za-z]?[0-9a-f]{7,40}|[0-9A-F]{7,40}|(?:[A-Za-z]{1,24}[-_.])?[0-9a-f]{56}"
    r"|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}"
    r"|(?i:(?:[0-9]{4}-[0-9]{2}-[0-9]{2}-|[a-z]{1,24}[-_:])?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))$"
)
# What is written in place of a value: a variable, a type, an advice.
PLACEHOLDER = re.compile(
    r"(?i)^(?:\$[\w{(].*|%\w+%|%[sdr]|%\(.*|<.*|\{.*|\[.*|\(.*|\*+|x{3,}|\.{2,}|…+|•+|-+|_+"
    r"|none|null|nil|true|false|undefined|string|str|bool|int|bytes|any|optional|required|object|number|text|varchar.*"
    r"|redacted.*|your[_-].*|my[_-](?:pass|secret|token|key).*|example.*|changeme|change[_-]me|placeholder|dummy.*"
    r"|sample.*|fake.*|env[.:(\[].*|os\..*|process\.env.*|secrets\..*|self\..*|this\..*|config[.\[].*|settings[.\[].*"
    r"|args\..*|vault:.*|op://.*|[a-z_][\w.]*[\[(].*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
    r"|(?:missing|invalid|expired|empty|here|unset|hidden|masked)[.)]*)$"
)
# A value without any of these is an ordinary word.
TELLS = re.compile(r"[0-9!@#$%^&*?~+=|_.-]|[a-z][A-Z]|[A-Z]{2}[a-z]|^[^\W\d_]{4,40}$| ")
SYMBOLS = frozenset("!@#$%^&*?~+=|")
REFERENCE = re.compile(r"^[A-Za-z_][\w-]*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)*$")
PATHLIKE = re.compile(
    r"(?:^|[^:/\w])(?:[.~]{0,2}/[\w.@-]+/|[A-Za-z]:\\)|^[a-z][a-z0-9+.-]*://|^\.{0,2}/"
    r"|\.(?:py|js|ts|tsx|json|md|ya?ml|toml|txt|sh|go|rs|env|pem|html|css|lock|cfg|ini|java|rb|php|sql|log)$"
)


def entropy(text: str) -> float:
    """Return the Shannon entropy in bits per character."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in (text.count(c) for c in set(text)))


def run_length(text: str) -> float:
    """Return the number of letters or digits of one kind in a row, on average."""
    runs = _RUN.findall(text)
    return sum(map(len, runs)) / len(runs) if runs else float(len(text))


def generated(value: str, longest_run: float) -> bool:
    """Tell whether a value looks generated: letters and digits are mixed, and it is no hash, path or words."""
    return (
        DIGIT.search(value) is not None
        and _LETTER.search(value) is not None
        and entropy(value) >= MIN_ENTROPY_BITS
        # Letters and digits, or both cases, alternate more than in words with numbers.
        and (
            run_length(value) <= longest_run
            if is_both(value)
            else any(len(piece) >= 7 and len(SWITCH.findall(piece)) > 1 for piece in _SEPARATED.split(value))
        )
        and not HASH.match(value)
        and not PATHLIKE.search(value)
    )


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
    """Tell whether the text after the beginning of a key belongs to a key, not words in camel case or with dashes.
    A beginning of a few letters proves less: a row of equal characters after it is no key."""
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
    return re.compile(tables.expanded(pattern))


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
