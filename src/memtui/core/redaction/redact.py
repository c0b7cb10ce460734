"""Redaction of secrets, before anything is written: text that a person typed may hold a key or a password.

A secret is recognised by the shape that its issuer gives it (`shaped`); by its place in an address, a header or a
command (`placed`); by its name, such as `password` in one of many languages (`named`); and, without a name, by how
little it looks like words (`unnamed`). Commit hashes, UUIDs, file paths, pictures and plain words stay: a text full of
holes is no memory.

Time is linear in the length of the text: a rule reads no text again, or only a limited part."""

import re
from collections.abc import Iterable, Iterator

from memtui.core.redaction.generated import BARRIER, FREE_RUN, Secret, generated
from memtui.core.redaction.named import named, unnamed
from memtui.core.redaction.shaped import placed, shaped
from memtui.core.redaction.unescaped import unescaped, unwrapped

MAX_PASSES = 8


def _lowered(text: str) -> str:
    low = text.lower()
    return low if len(low) == len(text) else "".join([c.lower() if len(c.lower()) == 1 else c for c in text])


def _rules(text: str) -> Iterator[Secret]:
    low = _lowered(text)
    yield from shaped(text)
    yield from placed(text, low)
    yield from named(text, low)
    yield from unnamed(text)


def found_in(text: str) -> list[Secret]:
    """List the secrets of a text in order, none within another."""
    view = unescaped(_HARMLESS.sub(lambda match: BARRIER * len(match[0]), text))
    found = [
        Secret(view.place(f.start), view.place(_rest(view.text, f.end) - 1) + 1, f.kind, f.rank)
        for f in _rules(view.text)
    ]
    joined = unwrapped(view.text)
    if joined:
        for each in _rules(joined.text):
            start, end = joined.place(each.start), joined.place(_rest(joined.text, each.end) - 1) + 1
            if end - start > each.end - each.start and _is_whole(view.text, start, end, each):
                found.append(Secret(view.place(start), view.place(end - 1) + 1, each.kind, each.rank))
    return _merged(text, found)


# A mark of an earlier redaction, whose kind is words of a few letters, which can't hold a key; and the public half of
# a pair of keys.
_HARMLESS = re.compile(
    r"\[redacted: (?:[A-Za-z0-9.&]{1,13} ){0,5}[A-Za-z0-9.&]{1,13}\]"
    r"|(?<![A-Za-z0-9])pk_(?:test|live)_[A-Za-z0-9]{20,120}(?![A-Za-z0-9_])"
)
_REST = re.compile("[A-Za-z0-9]{0,100}")


def _rest(text: str, at: int) -> int:
    """Return the end of the word in which a secret ends: the rest of the word could look like another secret."""
    match = _REST.match(text, at) if text[at - 1].isalnum() else None
    return match.end() if match else at


def _is_whole(text: str, start: int, end: int, found: Secret) -> bool:
    """Tell whether a match over a line break is one secret: it has a known shape, or is generated on both sides."""
    if found.rank <= 1:
        return True
    lines = [line.strip(" \t>|#*\\/") for line in text[start:end].split("\n")]
    return all(len(line) >= 14 and generated(line, FREE_RUN) for line in lines)


def _merged(text: str, found: list[Secret]) -> list[Secret]:
    kept: list[Secret] = []
    for each in sorted(found, key=lambda f: (f.start, f.end, f.rank, f.kind)):
        if kept and each.start < kept[-1].end:
            last = kept[-1]
            surest = min(last, each, key=lambda f: f.rank)
            kept[-1] = Secret(last.start, max(last.end, each.end), surest.kind, surest.rank)
        elif text[each.start : each.end].strip():
            kept.append(each)
    return kept


def redact(text: str) -> tuple[str, list[str]]:
    """Replace secrets by `[redacted: kind]`; return the text and the kinds found, in the order of the text, each once.
    Redacting twice changes nothing more."""
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


def redacted(text: str) -> str:
    """Return a text without its secrets."""
    return redact(text)[0]


def kinds_in(text: str, before: str = "") -> list[str]:
    """List the kinds of secrets that a text seems to hold and `before` does not, in order, each once."""
    known = {before[found.start : found.end] for found in found_in(before)} if before else set()
    return list(dict.fromkeys(each.kind for each in found_in(text) if text[each.start : each.end] not in known))


def described(kinds: Iterable[str]) -> str:
    """Name kinds of secrets in words: `a GitHub token and an npm token`."""
    words = [f"{'an' if kind.startswith(_AN) else 'a'} {kind}" for kind in kinds]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


# The beginnings of kinds that take "an".
_AN = (*"AEIOaeio", "Un", "npm", "NVIDIA", "Nx", "xAI", "SAS")
