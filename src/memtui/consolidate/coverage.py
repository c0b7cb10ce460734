"""Fact coverage: which statements of the inputs of a merge, rewrite or split are in the outputs, and which are dropped.

A statement is a sentence, a list item, a row of a table, a heading, a block of code, or a field. It counts as there
only if one statement, or two that follow each other, has all its words in their order, with the same negations; words
that only join others, capitals and a plural's s make no difference. So a changed number, path, name or negation is
never covered, and a good paraphrase may be listed as dropped: a person looks once too often, not too seldom.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from memtui.consolidate import rapid
from memtui.consolidate.changeset import Proposal, is_index
from memtui.consolidate.chunks import FENCE, RULE, chunks
from memtui.core.frontmatter import document

StatementKind = Literal["sentence", "item", "row", "heading", "code", "field"]
# Found word for word (kept), with other joining words or in another form (reworded), or not at all.
FieldValue = str | tuple[str, ...]
How = Literal["dropped", "reworded", "kept"]
ORDER: tuple[How, ...] = ("dropped", "reworded", "kept")
# Kinds of proposal whose outputs must have what their inputs say.
COVERED_KINDS = frozenset({"merge", "rewrite", "split"})
# Words that join others. What changes the meaning is none: no tenses, no modal verbs, no prepositions of time.
JOINING = frozenset(
    re.findall(
        r"\S+",
        "a an the is are be been it its this that these those of to and also just very so then we i you our your my "
        "please do does has have der die das ist sind und le la les est sont et el los las es y",
    )
)
NEGATIONS = frozenset(
    re.findall(
        r"\S+",
        "not no never none nobody nothing neither nor without cannot avoid except unless only instead stop forbid "
        "forbidden nicht nie niemals kein keine keinen ohne nur außer ne pas jamais sans sauf nunca sin solo salvo",
    )
)
# So many words after a negation are negated by it, at most.
NEGATED = 6
# Of a statement's words, the part that must be found in the same order; all must be found.
IN_ORDER = 0.8
ENDINGS = ("es", "s")
# What is taken off a word, before and behind it. A dot, a `!` or a `-` before a word can belong to it.
OPENING = "*`\"'“”‘’«»„([{…"
MARKS = OPENING + ")]},;:!?."
# Where a sentence ends: behind its mark and before what begins another one.
END = re.compile(r"(?<=[.!?…])[\"'”’)*_]*\s+(?=[\"'“‘(\[*_`]*[A-Z0-9ÄÖÜÀ-Þ\u0400-\u042F`])|(?<=[。！？])")
ABBREVIATIONS = frozenset(
    ["e.g.", "i.e.", "etc.", "vs.", "approx.", "ca.", "z.b.", "d.h.", "bzw.", "mr.", "mrs.", "dr."]
)
# Fields that are no facts: what they say is elsewhere, or changes with every write.
PASSED_OVER = frozenset({"name", "description", "modified", "updated", "created", "originSessionId", "node_type"})


class Statement(NamedTuple):
    """One statement: its text, and the path of the file that has it."""

    kind: StatementKind
    text: str
    path: str


class Covered(NamedTuple):
    """What became of a statement: `targets` have it, one or two that follow each other; none if it is dropped."""

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
    def lost(self) -> list[Covered]:
        """The statements that no output has, without fields: what a reader misses."""
        return [each for each in self.dropped if each.statement.kind != "field"]


def of_proposal(found: Proposal) -> Coverage | None:
    """Return what became of the statements that a merge, rewrite or split read; None for other kinds, and where the
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


class Words(NamedTuple):
    """The words of a statement as they are compared: those that tell something, and for each negation the words that it
    negates."""

    telling: tuple[str, ...]
    negated: tuple[tuple[str, ...], ...]


def words(text: str) -> Words:
    """Return the words of a text as they are compared."""
    telling: list[str] = []
    open_negations: list[list[str]] = []
    negated: list[list[str]] = []
    for at, raw in enumerate(_raw(text)):
        word = _bare(raw)
        lower = word.casefold().replace("’", "'")
        joins = lower in JOINING and (word == lower or at == 0)  # “plan A” is a name
        if lower in NEGATIONS or lower.endswith("n't"):
            open_negations.append([])
            negated.append(open_negations[-1])
            verb = lower.removesuffix("n't")
            if verb not in NEGATIONS | JOINING:
                telling.append({"ca": "can", "wo": "will"}.get(verb, verb))
        elif not joins:
            compared = _compared(word)
            telling.append(compared)
            for each in open_negations:
                each.append(compared)
        open_negations = [each for each in open_negations if len(each) < NEGATED]
        if raw[-1] in ".;:)" and not word.endswith(raw[-1]):
            open_negations = []
    return Words(tuple(telling), tuple(map(tuple, negated)))


def _raw(text: str) -> list[str]:
    text = re.sub(r"\]\(|[—–|]", " ", text.replace("[[", "").replace("]]", ""))
    return [each for each in text.split() if each.strip("-*_#>") or each == ">"]


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
    """Statements among which others are looked for, alone and in pairs of those that follow each other."""

    def __init__(self, statements: Iterable[Statement] = ()) -> None:
        self._fields: dict[str, Statement] = {}
        self._blocks: list[Statement] = []
        self._single: list[tuple[Statement, Words]] = []
        self._same: dict[tuple[str, ...], Statement] = {}
        self._holders: dict[str, list[int]] = {}
        self.add(statements)

    def add(self, statements: Iterable[Statement]) -> None:
        """Add statements after those that are there."""
        for each in statements:
            if each.kind == "field":
                self._fields[each.text] = each
            elif each.kind == "code":
                self._blocks.append(each)
            else:
                found = words(each.text)
                self._same.setdefault(_literal(each.text), each)
                self._same.setdefault((*found.telling, "\0", *map(" ".join, found.negated)), each)
                for word in set(found.telling):
                    self._holders.setdefault(word, []).append(len(self._single))
                self._single.append((each, found))

    def find(self, found: Statement) -> tuple[How, tuple[Statement, ...]]:
        """Return what became of a statement, and the statements that have it, as `Covered` has them."""
        if found.kind == "field":
            return ("kept", (self._fields[found.text],)) if found.text in self._fields else ("dropped", ())
        if found.kind == "code":
            return self._code(found.text)
        literal = self._same.get(_literal(found.text))
        if literal is not None:
            return "kept", (literal,)
        wanted = words(found.text)
        same = self._same.get((*wanted.telling, "\0", *map(" ".join, wanted.negated)))
        if same is not None:
            return "reworded", (same,)
        for at in self._candidates(wanted):
            target, has = self._single[at]
            if _has(has, wanted):
                return ("kept" if _within(found.text, target.text) else "reworded"), (target,)
            if at + 1 < len(self._single) and self._single[at + 1][0].path == target.path:
                following, after = self._single[at + 1]
                both = Words(has.telling + after.telling, has.negated + after.negated)
                if _has(both, wanted):
                    return "reworded", (target, following)
        return "dropped", ()

    def _code(self, text: str) -> tuple[How, tuple[Statement, ...]]:
        lines = _code_lines(text)
        for each in self._blocks:
            has = _code_lines(each.text)
            if any(has[at : at + len(lines)] == lines for at in range(len(has) - len(lines) + 1)):
                return "kept", (each,)
        return "dropped", ()

    def _candidates(self, wanted: Words) -> list[int]:
        """Return the targets, by number, that may have a statement, those with most of its words first; of a pair its
        first one."""
        if not wanted.telling:
            return []
        counts: Counter[int] = Counter()
        for word in set(wanted.telling):
            for at in self._holders.get(word, ()):
                counts.update((at, max(0, at - 1)))
        least = len(set(wanted.telling)) / 2
        return [at for at, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])) if count >= least]


def _literal(text: str) -> tuple[str, ...]:
    return ("=", " ".join(text.split()))


def _within(text: str, target: str) -> bool:
    return " ".join(text.split()).strip(MARKS) in target


def _code_lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.split("\n")]
    if lines and FENCE.match(lines[0]):
        lines = lines[1:]
    if lines and FENCE.match(lines[-1]):
        lines = lines[:-1]
    return [line for line in lines if line]


def _has(has: Words, wanted: Words) -> bool:
    """Return whether a text has all that a statement tells, and negates nothing else of it."""
    if not wanted.telling or Counter(wanted.telling) - Counter(has.telling):
        return False
    own = set(wanted.telling)
    # Negations count if they negate a word of the statement, or none at all.
    theirs = sorted(tuple(word for word in each if word in own) for each in has.negated if not each or own & set(each))
    if theirs != sorted(tuple(word for word in each if word in own) for each in wanted.negated):
        return False
    return _common(wanted.telling, has.telling) >= IN_ORDER * len(wanted.telling)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    return int(rapid.load().LCSseq.similarity(one, other))
