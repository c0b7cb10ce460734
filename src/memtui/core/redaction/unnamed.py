"""Secrets without a name, recognised by how little they look like words."""

import re
from collections.abc import Iterator

from memtui.core.redaction.generated import DIGIT, FREE_RUN, HASH, NEAR_RUN, entropy, generated, is_both, run_length
from memtui.core.redaction.secret import BARRIER, Secret

# The least length and entropy per character of a secret without a telling word before it.
FREE_LENGTH, FREE_ENTROPY_BITS = 20, 3.6
# How far before a token a telling word counts.
NEAR_CHARACTERS = 48
# Characters. Longer unbroken text is a picture or another file.
BLOB_LENGTH = 220

_DISCORD = re.compile(r"(?<![A-Za-z0-9])[MNO][A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,40}")
_DEVOPS = re.compile(r"(?<![A-Za-z0-9])(?=[a-z]*[2-7])[a-z2-7]{52}(?![A-Za-z0-9])")
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


def unnamed(text: str) -> Iterator[Secret]:
    """Find tokens that look like secrets; after a telling word on the same line less is enough."""
    text = _PUBLIC.sub(_barred, text)
    for match in _TOKEN.finditer(text):
        run = match[0]
        if len(run) > BLOB_LENGTH:
            continue
        start, end = match.span()
        if shaped := _DISCORD.search(run):
            yield Secret(start + shaped.start(), start + shaped.end(), "Discord token", 1)
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


# Random parts that name a document, a message or a row, and open nothing by themselves.
_PUBLIC = re.compile(
    # links to documents, of sites whose addresses are known
    r"https?://(?:"
    r"(?:docs|drive|sheets|slides|forms|script|colab\.research)\.google\.com/(?:[a-z]+/|u/[0-9]{1,2}/|a/[\w.-]{1,60}/){0,6}"
    r"(?:d/(?:e/)?|folders/|open\?id=|uc\?id=)"
    r"|(?:www\.)?figma\.com/(?:file|design|proto|board|slides)/"
    r"|open\.spotify\.com/(?:[a-z-]{1,12}/)?(?:track|album|playlist|artist|episode|show)/"
    r"|(?:www\.)?youtube\.com/(?:channel/|playlist\?list=|watch\?v=[\w-]{11}&list=)"
    r"|(?:www\.)?loom\.com/share/"
    r"|miro\.com/app/board/"
    r")(?P<link>[A-Za-z0-9_-]{10,100})(?![A-Za-z0-9_-])"
    # a nanoid that is called an id
    r"|(?:(?<![A-Za-z])|(?<=[a-z_]))(?:[Ii]d|ID|[Nn]ano ?[Ii][Dd])[\"'`]?[ \t]{0,2}(?::|=|\bis\b|)[ \t]{0,2}[\"'`]?"
    r"(?P<nano>[A-Za-z0-9_-]{21})(?![A-Za-z0-9_/+=-])"
    # a cuid and a ULID of the years 2012 to 2033
    r"|(?<![A-Za-z0-9_-])(?P<dated>c[h-p][0-9a-z]{23}|01[6-9A-HJKMNP-T][0-9A-HJKMNP-TV-Z]{23})(?![A-Za-z0-9_-])"
    # the id of a mail
    r"|<(?P<mail>[A-Za-z0-9.!#$%&'*+=?^_`{|}~-]{6,250}@[A-Za-z0-9.-]{1,200})>"
)
# Words that such an id also follows where it is no secret: `the primary key`.
_STRONG = re.compile(
    r"pass|pwd|secret|credential|bearer|api.?key|access.?(?:key|token)|parol|密|비밀|암호", re.IGNORECASE
)


def _barred(match: re.Match[str]) -> str:
    """Return the text of an id, hidden from the search; as it is after a word that tells of a secret."""
    name = match.lastgroup or ""
    start = match.start(name)
    line = match.string[max(0, start - NEAR_CHARACTERS) : start].rpartition("\n")[2]
    if name != "link" and (_STRONG if name == "dated" else _TELLING).search(line):
        return match[0]
    at = start - match.start()
    return match[0][:at] + BARRIER * len(match[name]) + match[0][at + len(match[name]) :]


def _piece(text: str, piece: str, at: int, before: str) -> Secret | None:
    name = _GIVEN.match(piece)
    piece = piece[name.end() :] if name else piece
    at = text.find(piece, at)
    end = at + len(piece)
    core = piece.rstrip("=")
    if shaped := _DEVOPS.search(core):
        return Secret(at + shaped.start(), at + shaped.end(), "Azure DevOps token", 1)
    if _IDS.match(piece) or HASH.match(core):
        return None
    line = before.rpartition("\n")[2][-NEAR_CHARACTERS:]
    if is_both(core) and DIGIT.search(core) and len(core) >= FREE_LENGTH and generated(core, FREE_RUN):
        aws = len(core) == 40 and ("/" in core or "+" in core)
        telling = aws or entropy(core) >= FREE_ENTROPY_BITS
    else:
        aws = telling = False
    if not telling and (len(core) < FREE_LENGTH or "/" in core or not _TELLING.search(line)):
        return None
    if not telling and not generated(core, NEAR_RUN):
        return None
    if _blob_line(text, at, end):
        return None
    return Secret(at, end, "AWS secret key", 4) if aws else Secret(at, end, "secret", 5)


_FORTY = re.compile("(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/])")
_NOT_ALNUM = re.compile("[^A-Za-z0-9]+")


def _in_path(text: str, start: int, end: int, run: str) -> bool:
    """Tell whether a token belongs to a path or an address."""
    # Base 64 holds slashes, too: then the parts between them look random, or it is long enough for a key.
    if run.count("/") > 1 and not (
        (_FORTY.search(run) and run_length(run) <= 2.2)
        or any(len(part) >= 16 and is_both(part) and run_length(part) <= 2.2 for part in _NOT_ALNUM.split(run))
    ):
        return True
    left = text[max(0, start - 200) : start]
    word = left[max(map(left.rfind, " \n\"'(" + BARRIER)) + 1 :]
    if "://" in word or word.endswith(("/", "\\", "@", "#")):
        return "?" not in word
    return text[end : end + 1] in {"\\", "@", "("} or "://" in text[start : end + 3]


def _blob_line(text: str, start: int, end: int) -> bool:
    """Tell whether a token is a line of a longer piece of base 64, such as a picture or a certificate."""
    left, right = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    right = len(text) if right < 0 else right
    if text[left:start].strip(" \t\"'+/=>|") or text[end:right].strip(" \t\"'+/=,\\;)") or end - start > BLOB_LENGTH:
        return False
    above = text[text.rfind("\n", 0, max(0, left - 1)) + 1 : max(0, left - 1)].strip(" \t\"'+>|\\,")
    below_end = text.find("\n", right + 1)
    below = text[right + 1 : below_end if below_end >= 0 else right + 400].strip(" \t\"'+>|\\,")
    return any((len(line) >= 40 and _BASE64.match(line)) or line.startswith("-----") for line in (above, below))


_BASE64 = re.compile(r"^[A-Za-z0-9+/=_-]+$")
