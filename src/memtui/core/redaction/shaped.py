"""Secrets recognised by the shape that their issuer gives them."""

import re
from collections.abc import Iterator
from functools import cache

from memtui.core.redaction import key_shapes
from memtui.core.redaction.generated import is_key_body
from memtui.core.redaction.secret import Secret, shape, trie


def shaped(text: str) -> Iterator[Secret]:
    """Find the secrets of known shapes."""
    yield from _private_keys(text)
    yield from _prefixed(text)
    yield from _holding(text)
    yield from _tokens(text)


@cache
def _beginnings() -> tuple[re.Pattern[str], dict[str, list[tuple[int, str, str]]]]:
    """Return a pattern of all beginnings, and for each the rules to try: (length of the beginning, kind, shape)."""
    rules: dict[str, list[tuple[int, str, str]]] = {}
    for kind, beginnings, rest in key_shapes.PREFIXED:
        for beginning in beginnings.split():
            rules.setdefault(beginning, []).append((len(beginning), kind, rest))
    tried = {word: [rule for size in range(len(word), 0, -1) for rule in rules.get(word[:size], ())] for word in rules}
    return re.compile("(?<![A-Za-z0-9])" + trie(sorted(rules))), tried


def _prefixed(text: str) -> Iterator[Secret]:
    pattern, tried = _beginnings()
    at = 0
    while begin := pattern.search(text, at):
        at = begin.end()
        for size, kind, rest in tried[begin[0]]:
            match = shape(rest).match(text, begin.start() + size)
            if match:
                at = max(at, match.end())
                if is_key_body(match[0], begin[0][:size]):
                    yield Secret(begin.start(), match.end(), kind, 0)
                    break


def _holding(text: str) -> Iterator[Secret]:
    for kind, mark, pattern in key_shapes.HOLDING:
        if mark in text:
            for match in shape("(?<![A-Za-z0-9])(?:" + pattern + ")").finditer(text):
                yield Secret(match.start(), match.end(), kind, 0)


_KEY_BEGIN = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-[0-9]:")
_KEY_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-MAC: [0-9a-f]+")
# A line of such a key: base 64 or a header, indented or quoted, ended by a line feed or a written `\n`.
_KEY_GAP = r"(?:[ \t>|#*\"'+,]|\\[nr]|\r?\n)*+"
_KEY_LINE = re.compile(
    _KEY_GAP
    + r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Encryption|Public-Lines|Private-Lines|Key-Derivation"
    r"|Argon2-[A-Za-z]+)\b[^\n\\]{0,200}|[A-Za-z0-9+/=]{1,1000})"
    r"(?=[ \t]*(?:\r?\n|\\[nr]|[\"'`]|-{4}|\Z)|[ \t][A-Za-z0-9+/=]{16})"
)
_KEY_REST = re.compile(f"{_KEY_GAP}(?:{_KEY_END.pattern})")
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


_JWT = re.compile(
    r"eyJ[A-Za-z0-9_-]{8,}+(?P<rest>\.eyJ[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]*+)?|(?:\.[A-Za-z0-9_-]*+){4})?"
)
_JWT64 = re.compile(r"ZXlKaGJHY2lPaU[A-Za-z0-9+/=_-]{40,}")


def _tokens(text: str) -> Iterator[Secret]:
    if "eyJ" in text:
        for match in _JWT.finditer(text):
            if match["rest"]:
                yield Secret(match.start(), match.end(), "JWT", 1)
    if "ZXlKaGJHY2lPaU" in text:
        for match in _JWT64.finditer(text):
            yield Secret(match.start(), match.end(), "JWT", 1)
