"""Secrets are taken out before anything is written: what a person typed into a session may hold a key or a password.

Four ways to know one: the shape that its issuer gives it (`keyshapes`); where it stands, in an address, a header, a
command; a name that is given to it, such as `password` in one of many languages (`secretwords`); and, of what has no
name, how little it looks like words (`generated`). Commit hashes, UUIDs, file paths, pictures and plain words are left
alone: text full of holes is no memory.

Time is linear in the length of the text: what a rule has read it does not read again, or only so far.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

from memtui.core.redaction import key_shapes, secret_words
from memtui.core.redaction.generated import (
    DIGIT,
    FREE_RUN,
    HASH,
    NEAR_RUN,
    PATHLIKE,
    PLACEHOLDER,
    REFERENCE,
    SWITCH,
    SYMBOLS,
    TELLS,
    WORD_RUN,
    entropy,
    generated,
    is_both,
    is_code,
    is_given,
    is_key_body,
    is_long_hash,
    run_length,
)
from memtui.core.redaction.unescaped import unescaped, unwrapped

# Of what has no name, and of what stands beside a telling word.
FREE_LENGTH, NEAR_LENGTH = 20, 16
FREE_ENTROPY_BITS = 3.6
# So far before a token a telling word counts.
NEAR_CHARACTERS = 48
# Longer unbroken text is a picture or another file.
BLOB_LENGTH = 220
MAX_PASSES = 8
# Stands for what was redacted before, in the text that is looked through: no rule takes it in.
BARRIER = "\0"


class Found:
    """A secret: from where to where it stands, and its kind. The smaller the rank, the surer the kind."""

    __slots__ = ("end", "kind", "rank", "start")

    def __init__(self, start: int, end: int, kind: str, rank: int) -> None:
        self.start, self.end, self.kind, self.rank = start, end, kind, rank


@cache
def _shape(pattern: str) -> re.Pattern[str]:
    return re.compile(key_shapes.expanded(pattern))


@cache
def _beginnings() -> tuple[re.Pattern[str], dict[str, list[tuple[int, str, str]]]]:
    """A pattern of all beginnings, and for each the rules to try: (length of the beginning, kind, shape)."""
    rules: dict[str, list[tuple[int, str, str]]] = {}
    for kind, beginnings, shape in key_shapes.PREFIXED:
        for beginning in beginnings.split():
            rules.setdefault(beginning, []).append((len(beginning), kind, shape))
    tried = {word: [rule for size in range(len(word), 0, -1) for rule in rules.get(word[:size], ())] for word in rules}
    return re.compile("(?<![A-Za-z0-9])" + _trie(sorted(rules))), tried


def _trie(words: list[str]) -> str:
    """A pattern of many words that looks at each character once; the longest word wins."""
    if len(words) == 1:
        return re.escape(words[0])
    heads: dict[str, list[str]] = {}
    for word in words:
        heads.setdefault(word[:1], []).append(word[1:])
    ends = "" in heads
    heads.pop("", None)
    branches = [re.escape(head) + (_trie(rest) if rest != [""] else "") for head, rest in heads.items()]
    if not branches:
        return ""
    found = branches[0] if len(branches) == 1 and not ends else "(?:" + "|".join(branches) + ")"
    return found + "?" if ends else found


def _prefixed(text: str) -> Iterator[Found]:
    pattern, tried = _beginnings()
    at = 0
    while begin := pattern.search(text, at):
        at = begin.end()
        for size, kind, shape in tried[begin[0]]:
            match = _shape(shape).match(text, begin.start() + size)
            if match:
                at = max(at, match.end())
                if is_key_body(match[0], begin[0][:size]):
                    yield Found(begin.start(), match.end(), kind, 0)
                    break


def _holding(text: str) -> Iterator[Found]:
    for kind, mark, shape in key_shapes.HOLDING:
        if mark in text:
            for match in _shape("(?<![A-Za-z0-9])(?:" + shape + ")").finditer(text):
                yield Found(match.start(), match.end(), kind, 0)


_KEY_BEGIN = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-[0-9]:")
_KEY_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-MAC: [0-9a-f]+")
# A line of such a key: base 64 or a header, indented or quoted, with a line feed or one that is written as `\n`.
_KEY_GAP = r"(?:[ \t>|#*\"'+,]|\\[nr]|\r?\n)*+"
_KEY_LINE = re.compile(
    _KEY_GAP
    + r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Encryption|Public-Lines|Private-Lines|Key-Derivation"
    r"|Argon2-[A-Za-z]+)\b[^\n\\]{0,200}|[A-Za-z0-9+/=]{1,1000})"
    r"(?=[ \t]*(?:\r?\n|\\[nr]|[\"'`]|-{4}|\Z)|[ \t][A-Za-z0-9+/=]{16})"
)
_KEY_REST = re.compile(f"{_KEY_GAP}(?:{_KEY_END.pattern})")
_CUT_LINE = re.compile(r"^[ \t>|]*[A-Za-z0-9+/=]{16,}\s*$")


def _private_keys(text: str) -> Iterator[Found]:
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
            yield Found(begin.start(), at, "private key", 0)
    # The end of a key whose beginning was cut off.
    for end in _KEY_END.finditer(text):
        start = text.rfind("\n", 0, end.start()) + 1
        while start and _CUT_LINE.match(text[(above := text.rfind("\n", 0, start - 1) + 1) : start - 1]):
            start = above
        yield Found(start, end.end(), "private key", 1)


_JWT = re.compile(
    r"eyJ[A-Za-z0-9_-]{8,}+(?P<rest>\.eyJ[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]*+)?|(?:\.[A-Za-z0-9_-]*+){4})?"
)
_JWT64 = re.compile(r"ZXlKaGJHY2lPaU[A-Za-z0-9+/=_-]{40,}")
_DISCORD = re.compile(r"(?<![A-Za-z0-9])[MNO][A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,40}")
_DEVOPS = re.compile(r"(?<![A-Za-z0-9])(?=[a-z]*[2-7])[a-z2-7]{52}(?![A-Za-z0-9])")


def _shapes(text: str) -> Iterator[Found]:
    if "eyJ" in text:
        for match in _JWT.finditer(text):
            if match["rest"]:
                yield Found(match.start(), match.end(), "JWT", 1)
    if "ZXlKaGJHY2lPaU" in text:
        for match in _JWT64.finditer(text):
            yield Found(match.start(), match.end(), "JWT", 1)


_SCHEME = re.compile(r"://(?P<user>[^\s/@:'\"<>?#\0]{0,256}+)(?::(?P<secret>[^\s/'\"<>\0]{1,300}+))?")
_HOST_WORDS = re.compile(r"^[a-z]+(?:[.-][a-z]+)*$")


def _in_addresses(text: str) -> Iterator[Found]:
    at = text.find("://")
    while at >= 0:
        end = at + 3
        match = _SCHEME.match(text, at)
        if match and "@" in text[at : match.end() + 1]:
            secret, user = match["secret"], match["user"]
            if secret and "@" in secret:
                value = secret[: secret.rfind("@")]
                if value and not PLACEHOLDER.match(value):
                    yield Found(match.start("secret"), match.start("secret") + len(value), "password in a URL", 1)
                    if len(user) >= NEAR_LENGTH and (generated(user, NEAR_RUN) or is_long_hash(user)):
                        yield Found(match.start("user"), match.end("user"), "token in a URL", 1)
                end = match.end()
            elif (
                secret is None
                and text[match.end() : match.end() + 1] == "@"
                and len(user) >= 16
                and not PLACEHOLDER.match(user)
            ):
                if any(c.isdigit() for c in user) and not _HOST_WORDS.match(user):
                    yield Found(match.start("user"), match.end("user"), "token in a URL", 1)
                end = match.end()
        at = text.find("://", end)
    for kind, mark, rest in key_shapes.WEBHOOKS:
        at = text.find(mark)
        while at >= 0:
            match = _shape(rest).match(text, at + len(mark))
            if match and any(c.isdigit() or c.isupper() for c in match["secret"]):
                yield Found(match.start("secret"), match.end("secret"), kind, 0)
            at = text.find(mark, match.end() if match else at + 1)


_HEADER = re.compile(r"(?i)(?:(?P<auth>authorization)|cookie)\\?[\"'`]?\]?[ \t]*(?::|=>?|,)[ \t]*(?:[fbru]?\\?[\"'`])?")
_SCHEMED = re.compile(
    r"(?i)(?:(?:bearer|basic|token|digest|apikey|api-key|negotiate|bot|sso-key|aws4-hmac-sha256|glsa|key|signature)"
    r"[ \t:=]{1,3})?(?P<secret>[^\s\"'`<>\0]{8,2000})"
)
_COOKIES = re.compile(r"(?P<secret>[^\s=;\"'`<>\0]{1,100}=[^\n\"'`<>\0]{4,4000})")
_BEARER = re.compile(r"(?i)\bbearer[ \t]{1,3}(?P<secret>[A-Za-z0-9._~+/=-]{16,2000})")


def _in_headers(text: str, low: str) -> Iterator[Found]:
    if "authorization" in low or "cookie" in low:
        at = 0
        while match := _HEADER.search(text, at):
            at = match.end()
            value = (_SCHEMED if match["auth"] else _COOKIES).match(text, at)
            if value:
                at = value.end()
                if not match["auth"]:
                    yield Found(value.start("secret"), value.end("secret"), "cookie", 2)
                elif _is_header_value(value["secret"]):
                    yield Found(value.start("secret"), _trimmed(value), "authorization header", 2)
    if "bearer" in low:
        for match in _BEARER.finditer(text):
            if any(c.isdigit() for c in match["secret"]) and not PLACEHOLDER.match(match["secret"]):
                yield Found(match.start("secret"), _trimmed(match), "bearer token", 2)


def _is_header_value(value: str) -> bool:
    return not PLACEHOLDER.match(value) and not value.isalpha() and "(" not in value


def _trimmed(match: re.Match[str], group: str = "secret") -> int:
    """Where a value ends, without what closes the sentence or the bracket around it."""
    value = match[group]
    return match.start(group) + len(value.rstrip(".)]},;:!?") or value)


def _in_commands(text: str, low: str) -> Iterator[Found]:
    for kind, needed, pattern in secret_words.COMMANDS:
        if any(word in low for word in needed):
            for match in _shape(pattern).finditer(text):
                value = match["secret"]
                if BARRIER not in value and (kind == "password hash" or not PLACEHOLDER.match(value)):
                    yield Found(match.start("secret"), _trimmed(match), kind, 1 if kind != "password" else 2)


@cache
def _names() -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern of all telling words in lower case, and what each names: password, secret, weak or service."""
    known: dict[str, str] = {}
    for words, kind, gaps in (
        (secret_words.WEAK, "weak", "_"),
        (secret_words.SECRETS, "secret", "_- "),
        (secret_words.PASSWORDS, "password", " "),
        ("\n".join(key_shapes.SERVICES), "service", "_-. "),
    ):
        for word in words.lower().split():
            forms = {word.replace("_", gap) for gap in gaps} | ({word.replace("_", "")} if kind == "secret" else set())
            for form in forms:
                known.setdefault(unicodedata.normalize("NFC", form), kind)
                known.setdefault(unicodedata.normalize("NFD", form), kind)
    return re.compile(_trie(sorted(known))), known


_ENDS = ".)]},:!?；"
_QUOTES = "\"'`“”„«»‘’「」『』《》"
_OF = "for|of|on|to|in|at|für|von|zu|pour|de|du|del|do|da|di|van|voor|dla|для|от"
_IS = "is|was|ist|lautet|est|es|è|é|jest|to"
# What stands between a name and its value: the rest of the name, closing marks, and a sign or a word for "is".
_AFTER = re.compile(
    r"(?P<more>[A-Za-z0-9_-]{0,40}+)"
    rf"(?P<close>[{_QUOTES}*_)\]]{{0,4}})"
    r"(?:(?P<op>[ \t]{0,8}(?::=|=>|->|={1,3}|\?=|:|→|＝|：)[ \t]{0,8}(?:\r?\n[ \t]{0,16})?"
    rf"|(?P<of>[ \t](?:{_OF})[ \t][^\n:=,;]{{1,60}}?(?:[ \t](?:{_IS})[ \t]|[:=][ \t]?))"
    rf"|[ \t]{{1,3}}(?:{_IS}|=|—|–)[ \t]{{0,3}}:?[ \t]{{1,3}}"
    r"|[ \t]?(?:は|是|为|為|은|는|이|가)[ \t：:]{0,3})"
    rf"|(?P<pair>[{_QUOTES}]?[ \t]{{0,4}},?\s{{0,40}}[{_QUOTES}]?(?i:value)[{_QUOTES}]?[ \t]{{0,4}}[:=][ \t]{{0,4}})"
    r"|(?P<tag>>)|(?P<gap>[ \t]{1,3}))"
    rf"(?:[*_]{{0,2}}(?P<quote>[{_QUOTES}]{{1,3}}))?"
)
_BARE = re.compile(r"[^\s\"'`“”„«»「」『』,;<>\0、。，；（）]{3,200}")
_QUOTED = re.compile(r"[^\"'`“”«»「」『』\n\0]{3,200}")
_FLAG = re.compile(r"(?:^|(?<=[\s\"'`(\[]))--?[A-Za-z0-9-]{0,30}\Z")
# Names that go on so name something else: token_count, key_file.
_NOT_A_KEY = re.compile(
    r"(?:id|count|name|type|url|uri|path|file|length|size|limit|usage|hash|cost|at|in|index|ttl|expir\w*|provider|class"
    r"|field|label|version)s?$",
    re.IGNORECASE,
)


def _named(text: str, low: str) -> Iterator[Found]:
    pattern, classes = _names()
    done = 0
    for name in pattern.finditer(low):
        start, end = name.span()
        if start < done:
            continue
        word = classes[name[0]]
        before = text[start - 1] if start else ""
        if (
            word == "weak"
            and before.isascii()
            and before.isalpha()
            and not (before.islower() and text[start].isupper())
        ):
            continue  # monkey
        if name[0] in {"pass", "pw", "to"} and before.isascii() and before.isalpha():
            continue  # bypass
        match = _AFTER.match(text, end) if word != "service" else None
        found = _of_service(text, low, name) if word == "service" else match and _given(text, match, word, start)
        if found:
            yield found
            done = found.end


def _given(text: str, match: re.Match[str], word: str, start: int) -> Found | None:
    """The value that a name is given, if it is a secret."""
    more = match["more"]
    value, at = _value(text, match)
    tail = len(value) - len(value.rstrip(_ENDS)) if not match["quote"] else 0
    value = value[: len(value) - tail] if tail < len(value) else value
    if len(value) < 4 or not TELLS.search(value) or BARRIER in value or PLACEHOLDER.match(value):
        return None
    kind = "password" if word == "password" else "secret"
    found = Found(at, at + len(value), kind, 3)
    if (
        more not in {"", "s"}
        and not re.match(r"s?[_-]?[0-9]{0,3}$", more)
        and (
            _NOT_A_KEY.search(more)
            or not more.startswith(("_", "-", "s_", "s-"))
            or not (generated(value, NEAR_RUN) or (len(value) >= 32 and is_long_hash(value)))
        )
    ):
        return None
    op = match["op"] or ""
    if match["gap"]:
        if _FLAG.search(text, max(0, start - 32), start) and not value.startswith("-"):
            return found if not REFERENCE.match(value) or generated(value, WORD_RUN) else None
        if word == "weak":
            return None
        if "/" in value or "." in value:
            return None
        if word == "password" and "_" not in value:
            return found if len(value) >= 6 and DIGIT.search(value) and any(map(str.isalpha, value)) else None
        strong = len(value) >= 8 and generated(value, NEAR_RUN) and (word == "password" or len(value) >= NEAR_LENGTH)
        return found if strong else None
    if match["of"]:
        return (
            found
            if word != "weak"
            and (generated(value, NEAR_RUN) or any(c in SYMBOLS for c in value[1:]))
            and not is_code(value)
            else None
        )
    # A header's name has dashes, and a header a value of its own.
    header = word == "secret" and op.lstrip().startswith(":") and "-" in text[max(0, start - 2) : match.start()]
    tight = header or bool(match["quote"] or match["pair"] or match["tag"]) or ("=" in op and op == op.strip())
    if not match["quote"] and is_code(value):
        return None
    if word == "weak":
        return found if len(value) >= NEAR_LENGTH and generated(value, 2.8) else None
    if word == "password":
        return found if _is_password(value, op, tight, bool(match["quote"])) else None
    plain = value.replace(" ", "").replace("-", "").replace("_", "").isalpha()
    if tight and len(value) >= 12 and is_given(value):
        return found
    if tight and not plain and " " not in value.strip():
        return found if not value.isdigit() and not PATHLIKE.search(value) and not is_code(value) else None
    return (
        found
        if len(value) >= 8
        and (
            generated(value, FREE_RUN)
            or (len(value) >= 12 and len(SWITCH.findall(value)) > 2 and generated(value, WORD_RUN))
            or (is_given(value) and not is_both(value))
            or (len(value) >= 32 and is_long_hash(value) and "-" not in value)
        )
        else None
    )


def _value(text: str, match: re.Match[str]) -> tuple[str, int]:
    at = match.end()
    found = (_QUOTED if match["quote"] else _BARE).match(text, at)
    value = found[0] if found else ""
    if (
        not match["quote"]
        and "&" in value
        and text[: match.start()][-40:].count("&") + text[max(0, match.start() - 40) : match.start()].count("?")
    ):
        value = value.partition("&")[0]
    return value, at


def _is_password(value: str, op: str, tight: bool, quoted: bool) -> bool:
    told = any(c.isdigit() or c in SYMBOLS for c in value)
    if is_code(value) or (value.isdigit() and len(value) > 12):
        return False
    if tight:
        return told or bool(
            op.strip() == "="
            and not re.search("pass|pwd|secret|token|key|none|null|self", value.lower())
            and (quoted or REFERENCE.match(value))
        )
    # An identifier in camel case, with a number behind it or not, is a program's.
    named = REFERENCE.match(value) and re.search("[a-z][A-Z]", value) and run_length(value) > FREE_RUN
    return told and not named and not PATHLIKE.search(value)


_SERVICE_VALUE = re.compile(
    rf"(?P<words>[ \t\w.-]{{0,30}}?)[{_QUOTES}*)\]]{{0,3}}"
    rf"(?P<op>[ \t]{{0,4}}(?::=|=>|={{1,2}}|:)[ \t]{{0,4}}|[ \t]{{1,3}}(?:(?:is|was)[ \t]{{1,3}})?)[{_QUOTES}]{{0,2}}"
    r"(?P<secret>[A-Za-z0-9_+/=.-]{14,200}+)(?![\w/])"
)
_OTHER_ID = re.compile(
    r"(?:^|[ _.-])(?:commit|sha|hash|release|id|session|request|trace|version|build|image|digest|url|host|region|path"
    r"|file)s?[ _.-]*$"
)


def _of_service(text: str, low: str, name: re.Match[str]) -> Found | None:
    match = _SERVICE_VALUE.match(text, name.end())
    if not match:
        return None
    value, words = match["secret"].rstrip(".="), low[match.start("words") : match.end("words")]
    if BARRIER in value or _OTHER_ID.search(words) or PLACEHOLDER.match(value):
        return None
    if (
        not match["op"].strip()
        and not re.search("key|token|secret|password|pat|credential", words + name[0])
        and not HASH.match(value)
    ):
        return None
    if len(value) < 32 and HASH.match(value) and not re.search("key|token|secret", words + name[0]):
        return None
    if not (is_given(value) or is_long_hash(value)):
        return None
    return Found(
        match.start("secret"),
        match.start("secret") + len(value),
        f"{key_shapes.SERVICES[re.sub('[-. ]', '_', name[0])]} key",
        2,
    )


_TOKEN = re.compile(r"[A-Za-z0-9+/_=~.-]{16,}")
_PIECE = re.compile(r"[A-Za-z0-9+/_=~-]{16,}")
# Tokens that name something: ids of well-known services, public keys, pictures and archives in base 64.
_IDS = re.compile(
    r"^(?:toolu|srvtoolu|msg|req|call|chatcmpl|cmpl|resp|run|thread|asst|file|batch|step|sess|ses|session|evt|item|ws|fc"
    r"|rs|vs|wf|sha(?:1|224|256|384|512)|md5|h1|mod|integrity|AAAA[BCE]|doi|rev|commit|arn|urn|prj|dpl|team|org|proj|acct"
    r"|cus|price|prod|sub|pi|in|ch|usr|user|node)[_:-]"
    r"|^(?:[A-Z]{1,4}_kwD|MDQ6|MDEwO|AAAA[BCE]3|AAAAC3|Qm[A-Za-z0-9]{44}$|UklGR|iVBORw0KGgo|/9j/|R0lGOD|MII[A-Za-z]"
    r"|PHN2Zy|d09G|AAEAAAA)"
)
_BEFORE_ID = re.compile(
    r"(?:sha(?:1|224|256|384|512)[:-]|md5[:-]|h1:|base64,|(?:integrity|checksum|hash)[\"']?[:=] ?[\"']?|nonce-"
    r"|etag[\"']?: ?(?:W/)?[\"']?|ssh-[a-z0-9-]{3,40} )$",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"pass|pwd|secret|token|key|auth|credential|parol|пароль|токен|ключ|密|パスワード|トークン|비밀|암호|토큰|contrase|senha"
    r"|wachtwoord|schlüssel|kennwort",
    re.IGNORECASE,
)
# `NAME=` or `NAME_` before a token.
_GIVEN = re.compile(r"[A-Za-z0-9_.-]*=(?=[^=])|(?:[A-Z]{2,20}_)+(?=[^_]{20})")


def _unnamed(text: str) -> Iterator[Found]:
    """What no rule names, by how it looks; and, looser, what stands behind a telling word on the same line."""
    for match in _TOKEN.finditer(text):
        run = match[0]
        if len(run) > BLOB_LENGTH:
            continue
        start, end = match.span()
        if shaped := _DISCORD.search(run):
            yield Found(start + shaped.start(), start + shaped.end(), "Discord token", 1)
            continue
        if not DIGIT.search(run):
            continue
        before = text[max(0, start - 64) : start]
        if _BEFORE_ID.search(before) or _in_path(text, start, end, run):
            continue
        for piece in _PIECE.finditer(run):
            found = _piece(
                text,
                piece[0].strip("-=./+~") if "=" not in piece[0] else piece[0].lstrip("-=./+~"),
                start + piece.start(),
                before,
            )
            if found:
                yield found


def _piece(text: str, piece: str, at: int, before: str) -> Found | None:
    name = _GIVEN.match(piece)
    piece = piece[name.end() :] if name else piece
    at = text.find(piece, at)
    end = at + len(piece)
    core = piece.rstrip("=")
    if shaped := _DEVOPS.search(core):
        return Found(at + shaped.start(), at + shaped.end(), "Azure DevOps token", 1)
    if _IDS.match(piece) or HASH.match(core):
        return None
    mixed = any(c.islower() for c in core) and any(c.isupper() for c in core) and any(c.isdigit() for c in core)
    if (
        mixed
        and len(core) == 40
        and generated(core, FREE_RUN)
        and ("/" in core or "+" in core)
        and not _blob_line(text, at, end)
    ):
        return Found(at, end, "AWS secret key", 4)
    if (
        mixed
        and len(core) >= FREE_LENGTH
        and entropy(core) >= 3.6
        and generated(core, FREE_RUN)
        and not _blob_line(text, at, end)
    ):
        return Found(at, end, "secret", 5)
    line = before.rpartition("\n")[2][-NEAR_CHARACTERS:]
    if (
        generated(core, NEAR_RUN)
        and len(core) >= 20
        and _TELLING.search(line)
        and "/" not in core
        and not _blob_line(text, at, end)
    ):
        return Found(at, end, "secret", 5)
    return None


_FORTY = re.compile("(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/])")


_NOT_ALNUM = re.compile("[^A-Za-z0-9]+")


def _in_path(text: str, start: int, end: int, run: str) -> bool:
    """Whether a run of characters belongs to a path or an address."""
    # Base 64 holds slashes, too: there what stands between them looks random, or it is long enough for a key.
    if run.count("/") > 1 and not (
        (_FORTY.search(run) and run_length(run) <= 2.2)
        or any(len(part) >= 16 and is_both(part) and run_length(part) <= 2.2 for part in _NOT_ALNUM.split(run))
    ):
        return True
    left = text[max(0, start - 200) : start]
    word = left[max(left.rfind(" "), left.rfind("\n"), left.rfind('"'), left.rfind("'"), left.rfind("(")) + 1 :]
    if "://" in word or word.endswith(("/", "\\", "@", "#")):
        return "?" not in word
    return text[end : end + 1] in {"\\", "@", "("} or "://" in text[start : end + 3]


def _blob_line(text: str, start: int, end: int) -> bool:
    """Whether a token is a line of a longer piece of base 64: a picture or a certificate in lines."""
    left, right = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    right = len(text) if right < 0 else right
    if text[left:start].strip(" \t\"'+/=>|") or text[end:right].strip(" \t\"'+/=,\\;)") or end - start > BLOB_LENGTH:
        return False
    above = text[text.rfind("\n", 0, max(0, left - 1)) + 1 : max(0, left - 1)].strip(" \t\"'+>|\\,")
    below_end = text.find("\n", right + 1)
    below = text[right + 1 : below_end if below_end >= 0 else right + 400].strip(" \t\"'+>|\\,")
    return any((len(line) >= 40 and _BASE64.match(line)) or line.startswith("-----") for line in (above, below))


_BASE64 = re.compile(r"^[A-Za-z0-9+/=_-]+$")


def _lowered(text: str) -> str:
    low = text.lower()
    return low if len(low) == len(text) else "".join([c.lower() if len(c.lower()) == 1 else c for c in text])


def _rules(text: str) -> Iterator[Found]:
    low = _lowered(text)
    yield from _private_keys(text)
    yield from _prefixed(text)
    yield from _holding(text)
    yield from _shapes(text)
    yield from _in_addresses(text)
    yield from _in_headers(text, low)
    yield from _in_commands(text, low)
    yield from _named(text, low)
    yield from _unnamed(text)


def found_in(text: str) -> list[Found]:
    """The secrets of a text, in order, none within another."""
    view = unescaped(_REDACTED.sub(lambda match: BARRIER * len(match[0]), text))
    found = [
        Found(view.place(f.start), view.place(_rest(view.text, f.end) - 1) + 1, f.kind, f.rank)
        for f in _rules(view.text)
    ]
    joined = unwrapped(view.text)
    if joined:
        for each in _rules(joined.text):
            start, end = joined.place(each.start), joined.place(_rest(joined.text, each.end) - 1) + 1
            if end - start > each.end - each.start and _is_whole(view.text, start, end, each):
                found.append(Found(view.place(start), view.place(end - 1) + 1, each.kind, each.rank))
    return _merged(text, found)


# No key stands in such: words of a few letters.
_REDACTED = re.compile(r"\[redacted: (?:[A-Za-z0-9.&]{1,13} ){0,5}[A-Za-z0-9.&]{1,13}\]")
_REST = re.compile("[A-Za-z0-9]{0,100}")


def _rest(text: str, at: int) -> int:
    """Where the word ends that a secret ends in: what is glued to it would look like another one, seen alone."""
    match = _REST.match(text, at) if text[at - 1].isalnum() else None
    return match.end() if match else at


def _is_whole(text: str, start: int, end: int, found: Found) -> bool:
    """Whether what was found over a line break is one secret: of a known shape, or generated on both sides."""
    if found.rank <= 1:
        return True
    lines = [line.strip(" \t>|#*\\/") for line in text[start:end].split("\n")]
    return all(len(line) >= 14 and generated(line, FREE_RUN) for line in lines)


def _merged(text: str, found: list[Found]) -> list[Found]:
    kept: list[Found] = []
    for each in sorted(found, key=lambda f: (f.start, f.end, f.rank, f.kind)):
        if kept and each.start < kept[-1].end:
            last = kept[-1]
            best = min(last, each, key=lambda f: f.rank)
            kept[-1] = Found(last.start, max(last.end, each.end), best.kind, best.rank)
        elif text[each.start : each.end].strip():
            kept.append(each)
    return kept


def redact(text: str) -> tuple[str, list[str]]:
    """Replace secrets by `[redacted: kind]`; the text and the kinds found, in the order of the text, each once.

    Redacting twice changes nothing more.
    """
    kinds: dict[str, None] = {}
    for _ in range(MAX_PASSES):
        found = found_in(text)
        if not found:
            break
        parts, at = [], 0
        for each in found:
            parts += [text[at : each.start], f"[redacted: {each.kind}]"]
            at = each.end
            kinds[each.kind] = None
        text = "".join([*parts, text[at:]])
    return text, list(kinds)


def kinds_in(text: str, before: str = "") -> list[str]:
    """The kinds of secrets that a text seems to hold and `before` did not, in its order, each once."""
    known = {before[found.start : found.end] for found in found_in(before)} if before else set()
    return list(dict.fromkeys(each.kind for each in found_in(text) if text[each.start : each.end] not in known))


def described(kinds: Iterable[str]) -> str:
    """Kinds of secrets in words: `a GitHub token and an npm token`."""
    words = [f"{'an' if kind.startswith(_AN) else 'a'} {kind}" for kind in kinds]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


# Kinds that are read out with a vowel first.
_AN = (*"AEIOaeio", "Un", "npm", "NVIDIA", "Nx", "xAI", "SAS")
