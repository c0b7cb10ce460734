"""Secrets recognised by their place: in an address, a header, a command."""

import re
from collections.abc import Iterator

from memtui.core.redaction import key_shapes, secret_words
from memtui.core.redaction.generated import NEAR_LENGTH, NEAR_RUN, PLACEHOLDER, generated, is_long_hash
from memtui.core.redaction.secret import BARRIER, Secret, shape


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
    for kind, mark, rest in key_shapes.WEBHOOKS:
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
                elif _is_header_value(value["secret"]):
                    yield Secret(value.start("secret"), _trimmed(value), "authorization header", 2)
    if "bearer" in low:
        for match in _BEARER.finditer(text):
            if any(c.isdigit() for c in match["secret"]) and not PLACEHOLDER.match(match["secret"]):
                yield Secret(match.start("secret"), _trimmed(match), "bearer token", 2)


def _is_header_value(value: str) -> bool:
    return not PLACEHOLDER.match(value) and not value.isalpha() and "(" not in value


def _in_commands(text: str, low: str) -> Iterator[Secret]:
    for kind, needed, pattern in secret_words.COMMANDS:
        for word in needed:
            if word in low:
                break
        else:
            continue
        for match in shape(pattern).finditer(text):
            value = match["secret"]
            if BARRIER not in value and (kind == "password hash" or not PLACEHOLDER.match(value)):
                yield Secret(match.start("secret"), _trimmed(match), kind, 1 if kind != "password" else 2)


def _trimmed(match: re.Match[str]) -> int:
    """Return the end of the group `secret`, without the marks that close a sentence or a bracket around it."""
    value = match["secret"]
    return match.start("secret") + len(value.rstrip(".)]},;:!?") or value)
