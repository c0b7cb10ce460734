"""Secrets recognised by the shape that their issuer gives them, or by their place: in an address, a header, a
command."""

import re
from collections.abc import Iterator
from functools import cache

from memtui.redact import tables
from memtui.redact.generated import (
    BARRIER,
    NEAR_LENGTH,
    NEAR_RUN,
    PLACEHOLDER,
    Secret,
    generated,
    is_key_body,
    is_long_hash,
    shape,
    trie,
)


def shaped(text: str) -> Iterator[Secret]:
    """Find the secrets of known shapes."""
    yield from _private_keys(text)
    yield from _prefixed(text)
    for kind, mark, pattern in tables.HOLDING:
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
    for kind, beginnings, rest in tables.PREFIXED:
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


def placed(text: str, low: str) -> Iterator[Secret]:
    """Find the secrets in addresses, headers and commands; `low` is the text in lower case, with the same places."""
    yield from _in_addresses(text)
    yield from _in_headers(text, low)
    yield from _in_commands(text, low)


_SCHEME = re.compile(r"://(?P<user>[^\s/@:'\"<>?#\0]{0,256}+)(?::(?P<secret>[^\s/'\"<>\0]{1,300}+))?")
# The rest of an address as in instructions: `postgres://user:password@localhost`.
_EXAMPLE = re.compile(
    r"(?i)(?:password|passwd|pass|pwd)@(?:localhost|127\.0\.0\.1|\[::1\]|host(?:name)?|(?:[\w-]+\.)?example\.(?:com|org|net))(?![\w.-])"
)
_HOST_WORDS = re.compile(r"^[a-z]+(?:[.-][a-z]+)*$")


def _in_addresses(text: str) -> Iterator[Secret]:
    at = text.find("://")
    while at >= 0:
        end = at + 3
        match = _SCHEME.match(text, at)
        if match and "@" in text[at : match.end() + 1]:
            secret, user = match["secret"], match["user"]
            if secret and "@" in secret:
                value = secret[: secret.rfind("@")]
                if value and not PLACEHOLDER.match(value) and not _EXAMPLE.match(secret):
                    yield Secret(match.start("secret"), match.start("secret") + len(value), "password in a URL", 1)
                    if len(user) >= NEAR_LENGTH and (generated(user, NEAR_RUN) or is_long_hash(user)):
                        yield Secret(match.start("user"), match.end("user"), "token in a URL", 1)
                end = match.end()
            elif (
                secret is None
                and text[match.end() : match.end() + 1] == "@"
                and len(user) >= 16
                and not PLACEHOLDER.match(user)
            ):
                if any(c.isdigit() for c in user) and not _HOST_WORDS.match(user):
                    yield Secret(match.start("user"), match.end("user"), "token in a URL", 1)
                end = match.end()
        at = text.find("://", end)
    for kind, mark, rest in tables.WEBHOOKS:
        at = text.find(mark)
        while at >= 0:
            match = shape(rest).match(text, at + len(mark))
            if match and any(c.isdigit() or c.isupper() for c in match["secret"]):
                yield Secret(match.start("secret"), match.end("secret"), kind, 0)
            at = text.find(mark, match.end() if match else at + 1)


_HEADER = re.compile(r"(?i)(?:(?P<auth>authorization)|cookie)\\?[\"'`]?\]?[ \t]*(?::|=>?|,)[ \t]*(?:[fbru]?\\?[\"'`])?")
_SCHEMED = re.compile(
    r"(?i)(?:(?:bearer|basic|token|digest|apikey|api-key|negotiate|bot|sso-key|aws4-hmac-sha256|glsa|key|signature)"
    r"[ \t:=]{1,3})?(?P<secret>[^\s\"'`<>\0]{8,2000})"
)
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


def _in_commands(text: str, low: str) -> Iterator[Secret]:
    for kind, needed, pattern in tables.COMMANDS:
        if not any(word in low for word in needed):
            continue
        for match in shape(pattern).finditer(text):
            value = match["secret"]
            if BARRIER not in value and (kind == "password hash" or not PLACEHOLDER.match(value)):
                yield Secret(match.start("secret"), _trimmed(match), kind, 1 if kind != "password" else 2)


def _trimmed(match: re.Match[str]) -> int:
    """Return the end of the group `secret`, without the marks that close a sentence or a bracket around it."""
    value = match["secret"]
    return match.start("secret") + len(value.rstrip(".)]},;:!?") or value)
