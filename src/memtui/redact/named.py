"""Secrets recognised by their name, `password` in one of many languages or that of a service; and secrets without a
name, recognised by how little they look like words."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from memtui.redact import shaped
from memtui.redact.shaped import Secret, entropy, generated, is_both, is_code, is_given, is_long_hash, run_length, trie


@cache
def _names() -> tuple[re.Pattern[str], dict[str, str], set[str]]:
    """Return a pattern of all telling words in lower case, the class of each (password, secret, weak or service), and
    the three characters up to each blank in them."""
    values_by_name: dict[str, str] = {}
    tables = ((shaped.WEAK, "weak", "_"), (shaped.SECRETS, "secret", "_- "), (shaped.PASSWORDS, "password", " "))
    for words, kind, gaps in (*tables, ("\n".join(shaped.SERVICES), "service", "_-. ")):
        for word in words.lower().split():
            forms = {word.replace("_", gap) for gap in gaps} | ({word.replace("_", "")} if kind == "secret" else set())
            for form in forms:
                values_by_name.setdefault(unicodedata.normalize("NFC", form), kind)
                values_by_name.setdefault(unicodedata.normalize("NFD", form), kind)
    ends = {name[max(0, at - 2) : at + 1] for name in values_by_name for at, mark in enumerate(name) if mark == " "}
    return re.compile(trie(sorted(values_by_name))), values_by_name, ends


_ENDS = ".)]},:!?；"
# The text between a name and its value: the rest of the name, closing marks, and a sign or a word for "is".
_AFTER = shaped.pattern("after")
# Behind a name, a blank and a plain word: nothing that tells of a value.
_PLAIN = shaped.pattern("plain")
_BLANKS = ("", " ", "\n")
LONGEST = 40  # characters of a name
_BARE = re.compile(r"[^\s\"'`“”„«»「」『』,;<>\0、。，；（）]{3,200}")
_QUOTED = re.compile(r"[^\"'`“”«»「」『』\n\0]{3,200}")
_FLAG = re.compile(r"(?:^|(?<=[\s\"'`(\[]))--?[A-Za-z0-9-]{0,30}\Z")
_NOT_A_KEY = shaped.pattern("not_a_key")


@cache
def _word_names() -> re.Pattern[str]:
    """Return a pattern of the names at each place of a word: those of one word, and of others the longest word, unless
    one of them begins with a name."""
    names = {name for name in _names()[1] if " " not in name}
    others = [name.split(" ") for name in _names()[1] if " " in name]
    begins = (*names,)
    names |= {max(parts, key=len) for parts in others if not any(part.startswith(begins) for part in parts[1:])}
    return re.compile(f"(?=({trie(sorted(names))}))")


def name_words(line: str, low: str) -> set[str]:
    """Return the words of a line of which one is in each name that `named` goes by."""
    names = _word_names().finditer(low)
    return shaped.words_at(line, (name.start() for name in names if _is_name(line, name[1], name.start())))


def _is_name(text: str, name: str, start: int) -> bool:
    """Tell whether one of the telling words is no part of another word."""
    before = text[start - 1 : start]
    is_weak = _names()[1].get(name) == "weak" and not (before.islower() and text[start].isupper())  # monkey
    return not ((is_weak or name in {"pass", "pw", "to"}) and before.isascii() and before.isalpha())  # bypass


def _occurrences(low: str, words: list[str]) -> Iterator[re.Match[str]]:
    """Yield the names in a text, which is read only around these words of it."""
    pattern, _, ends = _names()
    places, done = [], 0
    for word in words:
        at = low.find(word)
        while at >= 0:
            places.append((at, len(word)))
            at = low.find(word, at + 1)
    for start, size in sorted(places):
        done = max(done, start - LONGEST if low[start - 3 : start] in ends else start)
        end = start + size
        while done < end and (name := pattern.search(low, done, end + LONGEST)) and name.start() < end:
            yield name
            done = name.end()


def named(text: str, low: str, words: list[str]) -> Iterator[Secret]:
    """Find the secrets after a telling name; `low` is the text in lower case, `words` are those in names."""
    classes = _names()[1]
    done = 0
    for name in _occurrences(low, words):
        start, end = name.span()
        if start < done:
            continue
        word = classes[name[0]]
        if not _is_name(text, name[0], start):
            continue
        if word != "service" and text[max(0, start - 1) : start] in _BLANKS and _PLAIN.match(text, end):
            continue
        if word == "service":
            secret = _of_service(text, low, name)
        else:
            match = _AFTER.match(text, end)
            secret = _assigned(text, match, word, start) if match else None
        if secret:
            yield secret
            done = secret.end


def _assigned(text: str, match: re.Match[str], word: str, start: int) -> Secret | None:
    """Return the value that a name is given, if it is a secret."""
    value = _value(text, match)
    if not match["quote"]:
        value = value.rstrip(_ENDS) or value
    if len(value) < 4 or not shaped.TELLS.search(value) or shaped.BARRIER in value or shaped.PLACEHOLDER.match(value):
        return None
    if not _names_a_key(match["more"], value) or not _is_secret(text, match, word, start, value):
        return None
    at = match.end()
    return Secret(at, at + len(value), "password" if word == "password" else "secret", 3)


def _names_a_key(more: str, value: str) -> bool:
    """Tell whether a name with the ending `more` is a key's: a number, or more words before a generated value."""
    if re.match(r"s?[_-]?[0-9]{0,3}$", more):
        return True
    if _NOT_A_KEY.search(more) or not more.startswith(("_", "-", "s_", "s-")):
        return False
    return generated(value, shaped.NEAR_RUN) or (len(value) >= 32 and is_long_hash(value))


def _is_secret(text: str, match: re.Match[str], word: str, start: int, value: str) -> bool:
    """Tell whether a value is a secret: the less stands between it and its name, the more random it must be."""
    if match["gap"]:
        return _is_secret_behind_a_gap(text, word, start, value)
    if match["of"]:
        likely = generated(value, shaped.NEAR_RUN) or any(c in shaped.SYMBOLS for c in value[1:])
        return word != "weak" and likely and not is_code(value)
    op, quoted = match["op"] or "", bool(match["quote"])
    if not quoted and is_code(value):
        return False
    if word == "weak":
        return len(value) >= shaped.NEAR_LENGTH and generated(value, 2.8)
    # The name of a header has dashes.
    header = word == "secret" and op.lstrip().startswith(":") and "-" in text[max(0, start - 2) : match.start()]
    tight = header or quoted or bool(match["pair"] or match["tag"]) or ("=" in op and op == op.strip())
    if word == "password":
        return _is_password(value, op, tight, quoted)
    if tight and len(value) >= 12 and is_given(value):
        return True
    if tight and " " not in value.strip() and not re.sub("[ _-]", "", value).isalpha():
        return not value.isdigit() and not shaped.PATHLIKE.search(value) and not is_code(value)
    return len(value) >= 8 and (
        generated(value, shaped.FREE_RUN)
        or (len(value) >= 12 and len(shaped.SWITCH.findall(value)) > 2 and generated(value, shaped.WORD_RUN))
        or (is_given(value) and not is_both(value))
        or (len(value) >= 32 and is_long_hash(value) and "-" not in value)
    )


def _is_secret_behind_a_gap(text: str, word: str, start: int, value: str) -> bool:
    if _FLAG.search(text, max(0, start - 32), start) and not value.startswith("-"):
        return not shaped.REFERENCE.match(value) or generated(value, shaped.WORD_RUN)
    if word == "weak" or "/" in value or "." in value:
        return False
    if word == "password" and "_" not in value:
        return len(value) >= 6 and shaped.DIGIT.search(value) is not None and any(map(str.isalpha, value))
    least = 8 if word == "password" else shaped.NEAR_LENGTH
    return len(value) >= least and generated(value, shaped.NEAR_RUN)


def _value(text: str, match: re.Match[str]) -> str:
    literal = (_QUOTED if match["quote"] else _BARE).match(text, match.end())
    value = literal[0] if literal else ""
    if not match["quote"] and "&" in value:
        before = text[max(0, match.start() - 40) : match.start()]
        if "&" in before or "?" in before:  # a field of a URL's query
            value = value.partition("&")[0]
    return value


def _is_password(value: str, op: str, tight: bool, quoted: bool) -> bool:
    likely = any(c.isdigit() or c in shaped.SYMBOLS for c in value)
    if is_code(value) or (value.isdigit() and len(value) > 12):
        return False
    if tight:
        is_name = re.search("pass|pwd|secret|token|key|none|null|self", value.lower()) is not None
        return likely or (op.strip() == "=" and not is_name and (quoted or bool(shaped.REFERENCE.match(value))))
    # An identifier in camel case, perhaps with a number after it, belongs to a program.
    is_camel = re.search("[a-z][A-Z]", value) and run_length(value) > shaped.FREE_RUN
    return likely and not (is_camel and shaped.REFERENCE.match(value)) and not shaped.PATHLIKE.search(value)


_SERVICE_VALUE = shaped.pattern("service_value")
_OTHER_ID = shaped.pattern("other_id")


def _of_service(text: str, low: str, name: re.Match[str]) -> Secret | None:
    match = _SERVICE_VALUE.match(text, name.end())
    if not match:
        return None
    value, words = match["secret"].rstrip(".="), low[match.start("words") : match.end("words")]
    if shaped.BARRIER in value or _OTHER_ID.search(words) or shaped.PLACEHOLDER.match(value):
        return None
    is_hash, whole = shaped.HASH.match(value), words + name[0]
    if not match["op"].strip() and not is_hash and not re.search("key|token|secret|password|pat|credential", whole):
        return None
    if len(value) < 32 and is_hash and not re.search("key|token|secret", whole):
        return None
    if not (is_given(value) or is_long_hash(value)):
        return None
    start, service = match.start("secret"), shaped.SERVICES[re.sub("[-. ]", "_", name[0])]
    return Secret(start, start + len(value), f"{service} key", 2)


# Without a name

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
_IDS = shaped.pattern("ids")
_BEFORE_ID = shaped.pattern("before_id")
_TELLING = shaped.pattern("telling")
# `NAME=` or `NAME_` before a token.
_GIVEN = re.compile(r"[A-Za-z0-9_.-]*=(?=[^=])|(?:[A-Z]{2,20}_)+(?=[^_]{20})")


def unnamed(text: str) -> Iterator[Secret]:
    """Find tokens that look like secrets; after a telling word on the same line less is enough."""
    text = _without_public(text)
    for match in _TOKEN.finditer(text):
        run = match[0]
        if len(run) > BLOB_LENGTH:
            continue
        start, end = match.span()
        if token := _DISCORD.search(run):
            yield Secret(start + token.start(), start + token.end(), "Discord token", 1)
            continue
        if not shaped.DIGIT.search(run):
            continue
        before = text[max(0, start - 64) : start]
        if _BEFORE_ID.search(before) or _in_path(text, start, end, run):
            continue
        for piece in _PIECE.finditer(run):
            core = piece[0].lstrip("-=./+~")
            secret = _piece(text, core if "=" in core else core.rstrip("-=./+~"), start + piece.start(), before)
            if secret:
                yield secret


def unnamed_words(line: str) -> set[str]:
    """Return the words of a line that hold what can be a secret without a name."""
    is_id, has_digit = shaped.HASH.match, shaped.DIGIT.search
    runs = ((match.start(), match[0]) for match in _TOKEN.finditer(line))
    return shaped.words_at(
        line, (at for at, run in runs if (has_digit(run) and not is_id(run)) or _DISCORD.search(run))
    )


# Random parts that name a document, a message or a row, and open nothing by themselves.
_PUBLIC = shaped.pattern("public")
_STRONG = shaped.pattern("strong")


def _without_public(text: str) -> str:
    """Return a text with these parts hidden, where a line has a token that could be a secret at all."""
    parts, at = [], 0
    for match in _TOKEN.finditer(text):
        if match.start() >= at and (shaped.DIGIT.search(match[0]) or len(match[0]) > 58):
            start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
            parts += [text[at:start], _PUBLIC.sub(_barred, text[start : end if end >= 0 else len(text)])]
            at = end if end >= 0 else len(text)
    return "".join([*parts, text[at:]])


def _barred(match: re.Match[str]) -> str:
    """Return the text of an id, hidden from the search; as it is after a word that tells of a secret."""
    name = match.lastgroup or ""
    start = match.start(name)
    line = match.string[max(0, start - NEAR_CHARACTERS) : start].rpartition("\n")[2]
    if name != "link" and (_STRONG if name == "dated" else _TELLING).search(line):
        return match[0]
    at = start - match.start()
    return match[0][:at] + shaped.BARRIER * len(match[name]) + match[0][at + len(match[name]) :]


def _piece(text: str, piece: str, at: int, before: str) -> Secret | None:
    name = _GIVEN.match(piece)
    piece = piece[name.end() :] if name else piece
    at = text.find(piece, at)
    end = at + len(piece)
    core = piece.rstrip("=")
    if token := _DEVOPS.search(core):
        return Secret(at + token.start(), at + token.end(), "Azure DevOps token", 1)
    if _IDS.match(piece) or shaped.HASH.match(core):
        return None
    line = before.rpartition("\n")[2][-NEAR_CHARACTERS:]
    if is_both(core) and shaped.DIGIT.search(core) and len(core) >= FREE_LENGTH and generated(core, shaped.FREE_RUN):
        aws = len(core) == 40 and ("/" in core or "+" in core)
        telling = aws or entropy(core) >= FREE_ENTROPY_BITS
    else:
        aws = telling = False
    if not telling and (len(core) < FREE_LENGTH or "/" in core or not _TELLING.search(line)):
        return None
    if not telling and not generated(core, shaped.NEAR_RUN):
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
    before = text[max(0, start - 200) : start]
    word = before[max(map(before.rfind, " \n\"'(" + shaped.BARRIER)) + 1 :]
    if "://" in word or word.endswith(("/", "\\", "@", "#")):
        return "?" not in word
    return text[end : end + 1] in {"\\", "@", "("} or "://" in text[start : end + 3]


def _blob_line(text: str, start: int, end: int) -> bool:
    """Tell whether a token is a line of a longer piece of base 64, such as a picture or a certificate."""
    line_start, right = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    right = len(text) if right < 0 else right
    beside = text[line_start:start].strip(" \t\"'+/=>|") or text[end:right].strip(" \t\"'+/=,\\;)")
    if beside or end - start > BLOB_LENGTH:
        return False
    above = text[text.rfind("\n", 0, max(0, line_start - 1)) + 1 : max(0, line_start - 1)].strip(" \t\"'+>|\\,")
    below_end = text.find("\n", right + 1)
    below = text[right + 1 : below_end if below_end >= 0 else right + 400].strip(" \t\"'+>|\\,")
    return any((len(line) >= 40 and _BASE64.match(line)) or line.startswith("-----") for line in (above, below))


_BASE64 = re.compile(r"^[A-Za-z0-9+/=_-]+$")
