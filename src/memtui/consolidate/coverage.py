"""Fact coverage: which statements of the inputs of a merge or rewrite are in the outputs, and which are dropped.

A statement is a sentence, a list item, a row of a table, a heading, a block of code, or a field. It is kept only where
one statement has it word for word, but for emphasis and the mark at its end. It is reworded where one statement has all
of its words in the same order and no others, but for those that only join others, capitals and a plural's s. All else
is dropped, a good paraphrase as well: a person looks once too often, not too seldom.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from memtui.consolidate.changeset import Proposal, is_index
from memtui.consolidate.chunks import FENCE, RULE, chunks
from memtui.core.frontmatter import document

StatementKind = Literal["sentence", "item", "row", "heading", "code", "field"]
# Found word for word (kept), with other joining words or in another form (reworded), or not at all.
FieldValue = str | tuple[str, ...]
How = Literal["dropped", "reworded", "kept"]
ORDER: tuple[How, ...] = ("dropped", "reworded", "kept")
# Kinds of proposal whose outputs must have what their inputs say.
COVERED_KINDS = frozenset({"merge", "rewrite"})
# Words that join others. What changes the meaning is none: no persons, tenses, modal verbs or prepositions.
JOINING = frozenset(
    re.findall(
        r"\S+",
        "a an the is are be been it its this that these those and also just very so then please do does der die das "
        "ist sind und le la est sont et el los las y",
    )
)
ENDINGS = ("es", "s")
# What is taken off a word, before and behind it. A dot, a `!` or a `-` before a word can belong to it.
OPENING = "*`\"'“”‘’«»„([{…"
MARKS = OPENING + ")]},;:!?."
# Where a sentence ends: behind its mark and before what begins another one.
END = re.compile(r"(?<=[.!?…])[\"'”’)*_]*\s+(?=[\"'“‘(\[*_`]*[A-Z0-9ÄÖÜÀ-Þ\u0400-\u042F`])|(?<=[\u3002\uff01\uff1f])")
ABBREVIATIONS = frozenset(
    ["e.g.", "i.e.", "etc.", "vs.", "approx.", "ca.", "z.b.", "d.h.", "bzw.", "mr.", "mrs.", "dr."]
)
# A character of text without blanks, or what stands between such.
WORD = r"[\u3040-\u30ff\u3400-\u9fff]|[^\u3040-\u30ff\u3400-\u9fff]+"
# Marks around words, and the ends of a sentence: without them it is the same.
EMPHASIS = re.compile(
    r"(?<![\w*/.])(\*{1,3}|_{1,3}|`+)(?=[^\s*_`])(.*?[^\s*_`])\1(?![\w*/.])(?!`)|(?<=\s)[*_]{2,}(?=\s|$)"
)
AFTER_LINK = re.compile(r"\[\[[^\[\]]+\]\]: ")  # what is behind it, the memory of the link has as its title
LAST = ".:;,! " + chr(0x3002) + chr(0xFF01)  # and the wide marks, which no screen draws
# Fields that are no facts: what they say is elsewhere, or changes with every write.
PASSED_OVER = frozenset({"name", "description", "modified", "updated", "created", "originSessionId", "node_type"})


class Statement(NamedTuple):
    """One statement: its text, and the path of the file that has it."""

    kind: StatementKind
    text: str
    path: str


class Covered(NamedTuple):
    """What became of a statement: `targets` has the one that says it; it is empty if the statement is dropped."""

    statement: Statement
    how: How
    targets: tuple[Statement, ...]


class Coverage(NamedTuple):
    """What became of all statements of the inputs, those dropped first, then those in other words; and the fields that
    the outputs have."""

    statements: tuple[Covered, ...]
    fields: tuple[Statement, ...] = ()

    def of(self, how: How) -> list[Covered]:
        """List the statements of which this became."""
        return [each for each in self.statements if each.how == how]

    def count(self, how: How) -> int:
        """Count the statements of which this became as a reader would: one that several inputs have counts once, and a
        field, such as the type, is no sentence."""
        return len({" ".join(each.statement.text.split()) for each in self.of(how) if each.statement.kind != "field"})

    @property
    def dropped(self) -> list[Covered]:
        """The statements that no output has, fields as well."""
        return self.of("dropped")

    @property
    def is_verbatim(self) -> bool:
        """Whether every statement stays word for word; fields may differ."""
        return all(each.how == "kept" or each.statement.kind == "field" for each in self.statements)

    @property
    def lost(self) -> list[Covered]:
        """The statements that no output has, without fields: what a reader misses."""
        return [each for each in self.dropped if each.statement.kind != "field"]


def of_proposal(found: Proposal) -> Coverage | None:
    """Return what became of the statements that a merge or rewrite read; None for other kinds, and where the
    content of its inputs is not known."""
    files = {each.path for each in found.outputs}
    read = [each for each in found.inputs if each.path in files and each.sha256 and not is_index(each.path)]
    if found.kind not in COVERED_KINDS or any(each.data is None for each in read):
        return None
    before = [each for file in read for each in of_file(file.path, file.data or b"")]
    after = [each for file in found.written for each in of_file(file.path, file.data or b"")]
    return cover(before, after)


def cover(before: Iterable[Statement], after: Sequence[Statement]) -> Coverage:
    """Map statements to those that have them, dropped ones first; each of the rest in the order of the text."""
    targets = Targets(after)
    found = [Covered(each, *targets.find(each)) for each in before]
    fields = tuple(each for each in after if each.kind == "field")
    return Coverage(tuple(sorted(found, key=lambda each: ORDER.index(each.how))), fields)


# Statements


def of_file(path: str, data: bytes) -> list[Statement]:
    """List the statements of a memory's file: those of its description and its body, and its other fields."""
    doc = document.parse(data)
    if doc.broken is not None:
        return of_text(path, data.decode("utf-8", "replace"))
    description = doc.fields.get("description")
    found = of_text(path, description) if isinstance(description, str) else []
    found += of_text(path, doc.body)
    for key, value in field_values(doc.fields):
        name = key.rpartition(".")[2]
        if not PASSED_OVER & {key, name}:
            values = [value] if isinstance(value, str) else value
            found += [Statement("field", f"{name}: {each}", path) for each in values if each]
    return found


def field_values(fields: Mapping[str, object], above: str = "") -> Iterator[tuple[str, FieldValue]]:
    """Yield the fields of a frontmatter that are texts or lists of texts, nested ones by their dotted path."""
    for key, value in fields.items():
        if isinstance(value, dict):
            yield from field_values(value, f"{above}{key}.")
        elif isinstance(value, str):
            yield f"{above}{key}", value
        elif isinstance(value, list) and all(isinstance(each, str) for each in value):
            yield f"{above}{key}", tuple(value)


def of_text(path: str, text: str) -> list[Statement]:
    """List the statements of Markdown text, each as it is written, on one line but for code."""
    found = _statements(text)
    return [Statement(kind, each, path) for kind, each in found if kind == "code" or any(map(str.isalnum, each))]


def _statements(text: str) -> Iterator[tuple[StatementKind, str]]:
    for chunk in chunks(text):
        if chunk.kind == "code":
            yield "code", chunk.text
        elif chunk.kind == "heading":
            yield "heading", " ".join(chunk.plain.split())
        elif chunk.kind == "table":
            yield from (("row", " ".join(row.split())) for row in chunk.plain.split("\n") if not RULE.match(row))
        elif chunk.kind != "rule":
            for sentence in sentences(chunk.plain):
                yield ("item" if chunk.kind == "item" else "sentence"), sentence


def sentences(block: str) -> list[str]:
    """Split a block of running text into sentences, on one line each."""
    text = " ".join(block.split())
    found: list[str] = []
    for piece in END.split(text):
        if found and (found[-1].rpartition(" ")[2].lower() in ABBREVIATIONS):
            found[-1] += " " + piece
        elif piece.strip():
            found.append(piece.strip())
    return found


# Words


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text as they are compared, in their order, without those that only join others.

    Text without blanks between words (Chinese, Japanese) counts by characters.
    """
    telling: list[str] = []
    for at, raw in enumerate(_raw(text)):
        word = _bare(raw)
        lower = word.casefold().replace("’", "'")
        if lower in JOINING and (word == lower or at == 0):  # “plan A” is a name
            continue
        if lower.endswith("n't"):
            verb = lower.removesuffix("n't")
            telling += [{"ca": "can", "wo": "will"}.get(verb, verb)] * (verb not in JOINING) + ["not"]
        else:
            telling += map(_compared, re.findall(WORD, word))
    return tuple(telling)


def _raw(text: str) -> list[str]:
    text = re.sub(r"\]\(|[—–|]", " ", text.replace("[[", "").replace("]]", ""))
    return [each for each in text.split() if each.strip("-*_#")]


def _bare(raw: str) -> str:
    """Return a word without the marks around it. A sign alone, a glob's star, and a dot before a name stay."""
    if not any(map(str.isalnum, raw)):
        return raw
    word = raw.lstrip(OPENING)
    star = "*" if word[0] in "./_-" and raw[: len(raw) - len(word)].endswith("*") else ""
    return star + (word.rstrip(MARKS) or word)


def _compared(word: str) -> str:
    """Return a word as it is compared: letter for letter if it can be a number, a path, a name or code, else without
    capitals and endings."""
    letters = word.replace("-", "").replace("'", "").isalpha()
    plain = letters and word in {word.lower(), word.upper(), word.capitalize()}
    return _stem(word.casefold()) if plain else word


def _stem(word: str) -> str:
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word


# Finding a statement


class Targets:
    """Statements among which others are looked for."""

    def __init__(self, statements: Iterable[Statement] = ()) -> None:
        self._fields: dict[str, Statement] = {}
        self._blocks: list[Statement] = []
        self._literal: dict[str, Statement] = {}
        self._telling: dict[tuple[str, ...], Statement] = {}
        self.add(statements)

    def add(self, statements: Iterable[Statement]) -> None:
        """Add statements to those that are there."""
        for each in statements:
            if each.kind == "field":
                self._fields[each.text] = each
            elif each.kind == "code":
                self._blocks.append(each)
            else:
                for text in (each.text, AFTER_LINK.sub("", each.text)):
                    self._literal.setdefault(literal(text), each)
                self._telling.setdefault(words(each.text), each)

    def find(self, wanted: Statement) -> tuple[How, tuple[Statement, ...]]:
        """Return what became of a statement, and the one that has it, as `Covered` has them."""
        if wanted.kind == "field":
            return ("kept", (self._fields[wanted.text],)) if wanted.text in self._fields else ("dropped", ())
        if wanted.kind == "code":
            return self._code(wanted.text)
        same = self._literal.get(literal(wanted.text))
        if same is not None:
            return "kept", (same,)
        telling = words(wanted.text)
        same = self._telling.get(telling) if telling else None
        return ("dropped", ()) if same is None else ("reworded", (same,))

    def _code(self, text: str) -> tuple[How, tuple[Statement, ...]]:
        lines = _code_lines(text)
        for each in self._blocks:
            has = _code_lines(each.text)
            if any(has[at : at + len(lines)] == lines for at in range(len(has) - len(lines) + 1)):
                return "kept", (each,)
        return "dropped", ()


def literal(text: str) -> str:
    """Return a statement without what does not change it: blanks, emphasis, marks of links, and the mark at its end."""
    plain = EMPHASIS.sub(r"\2", " ".join(text.replace("[[", "").replace("]]", "").split()))
    return plain.strip('"“”„ ').rstrip(LAST) or plain


def _code_lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.split("\n")]
    if lines and FENCE.match(lines[0]):
        lines = lines[1:]
    if lines and FENCE.match(lines[-1]):
        lines = lines[:-1]
    return [line for line in lines if line]
