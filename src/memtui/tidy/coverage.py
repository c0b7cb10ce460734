"""The statements of Markdown texts, and which of a merge's inputs are in its outputs.

Kept: word for word, or begun so (`begins`); reworded: the same words in order but for joining ones; else dropped."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from memtui.base import word_lists
from memtui.store.frontmatter import document, prose_hot

ChunkKind = Literal["paragraph", "item", "table", "heading", "code", "rule"]
# Where a sentence ends: behind its mark and before what begins another one, also code (`make` …).
END = re.compile(r"(?<=[.!?…])[\"'”’)*_]*\s+(?=[\"'“‘(\[*_`]*[A-Z0-9ÄÖÜÀ-Þ\u0400-\u042F`])|(?<=[\u3002\uff01\uff1f])")
FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})")
ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$")
ROW = re.compile(r"\s*\|.*\|\s*$")
RULE = re.compile(r"[\s|:=_*-]+$")
QUOTE = re.compile(r"\s*>+ ?")
# A line that begins a labelled part of a memory: `**Why:** …`.
LABEL = re.compile(r"\s*\*\*([^*\n]{1,40}?):?\*\*:?\s")
StatementKind = Literal["sentence", "item", "row", "heading", "code", "field"]
FieldValue = str | tuple[str, ...]
# Found word for word (kept), with other joining words or in another form (reworded), or not at all.
How = Literal["dropped", "reworded", "kept"]
ORDER: tuple[How, ...] = ("dropped", "reworded", "kept")
SECTIONS = word_lists.read(os.path.dirname(__file__) + "/words.txt")
JOINING = frozenset(SECTIONS["joining"].split())
# What is taken off a word, before and behind it. A dot, a `!` or a `-` before a word can belong to it.
OPENING = "*`\"'“”‘’«»„([{…"
MARKS = OPENING + ")]},;:!?."
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


def pattern(name: str) -> re.Pattern[str]:
    return re.compile(word_lists.expanded(SECTIONS, name))


class Chunk(NamedTuple):
    """A piece of a text: `text` as it stands there without its last line end, and what is `before` it."""

    kind: ChunkKind
    text: str
    before: str = ""

    @property
    def plain(self) -> str:
        """The text without the marks of its kind: `> `, `- `, `# `. Of code it is the text."""
        if self.kind == "code":
            return self.text
        lines = [QUOTE.sub("", line, count=1) if QUOTE.match(line) else line for line in self.text.split("\n")]
        if self.kind == "heading":
            match = HEADING.match(lines[0])
            return match[1] if match else lines[0].strip()
        if self.kind == "item":
            lines[0] = ITEM.sub("", lines[0], count=1)
        return "\n".join(lines).strip()

    @property
    def label(self) -> str:
        """The label that a paragraph begins with, in lower case: `why`, `how to apply`; empty if it has none."""
        match = LABEL.match(self.text) if self.kind == "paragraph" else None
        return match[1].casefold() if match else ""


def chunks(text: str) -> list[Chunk]:
    """Return the pieces of a text. Joined by `join` they are the text; what ends it is a rule without text."""
    parts: list[Chunk] = []
    before = fence = ""
    kind: ChunkKind | None = None
    lines: list[str] = []

    def end() -> None:
        nonlocal before, kind, lines
        if kind is not None:
            piece = "".join(lines)
            parts.append(Chunk(kind, piece.removesuffix("\n"), before))
            before, kind, lines = "\n" * piece.endswith("\n"), None, []

    for line in text.split("\n"):
        with_end = line + "\n"
        if fence:
            lines.append(with_end)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
                end()
            continue
        plain = QUOTE.sub("", line, count=1) if QUOTE.match(line) else line
        if not plain.strip():
            end()
            before += with_end
            continue
        opened = FENCE.match(line)
        begins = _begins(plain, "code" if opened else None, kind)
        if begins is not None:
            end()
            kind = begins
        lines.append(with_end)
        fence = opened["mark"] if opened else ""
        if kind in {"heading", "rule"}:
            end()
    end()
    # The last line has no end of its own.
    return [*parts, Chunk("rule", "", before.removesuffix("\n"))] if before != "\n" or not parts else parts


def _begins(line: str, code: ChunkKind | None, kind: ChunkKind | None) -> ChunkKind | None:
    """Return the kind of the piece that a line begins; None if it continues the one before it, of that kind."""
    if code is not None:
        return code
    if HEADING.match(line):
        return "heading"
    if ROW.match(line):
        return None if kind == "table" else "table"
    if RULE.match(line):
        return "rule"
    if ITEM.match(line):
        return "item"
    if kind is None or kind == "table" or (kind == "paragraph" and LABEL.match(line)):
        return "paragraph"
    return None


def join(parts: list[Chunk]) -> str:
    return "".join(chunk.before + chunk.text for chunk in parts)


class Statement(NamedTuple):
    """One statement: its text, and the path of the file that has it."""

    kind: StatementKind
    text: str
    path: str


class Covered(NamedTuple):
    """What became of a statement: `target` is the one that says it, None if the statement is dropped."""

    statement: Statement
    how: How
    target: Statement | None


class Coverage(NamedTuple):
    """What became of all statements of the inputs, dropped ones first, and the fields of the outputs."""

    statements: tuple[Covered, ...]
    fields: tuple[Statement, ...] = ()

    def of(self, how: How) -> list[Covered]:
        """List the statements of which this became."""
        return [coverage for coverage in self.statements if coverage.how == how]

    def count(self, how: How) -> int:
        """Count the statements of which this became; one in several inputs counts once, and no field."""
        return len({" ".join(each.statement.text.split()) for each in self.of(how) if each.statement.kind != "field"})

    @property
    def dropped(self) -> list[Covered]:
        """The statements that no output has, fields as well."""
        return self.of("dropped")

    @property
    def is_verbatim(self) -> bool:
        """Whether every statement stays word for word; fields may differ."""
        return all(coverage.how == "kept" or coverage.statement.kind == "field" for coverage in self.statements)

    @property
    def lost(self) -> list[Covered]:
        """The statements that no output has, without fields: what a reader misses."""
        return [coverage for coverage in self.dropped if coverage.statement.kind != "field"]


def cover(before: Iterable[Statement], after: Sequence[Statement]) -> Coverage:
    """Map statements to those that have them, dropped ones first; each of the rest in the order of the text."""
    targets = Targets(after)
    coverage = [targets.find(statement) for statement in before]
    for at, covered in enumerate(coverage):
        own = [other.statement.text for other in coverage if other.statement.path == covered.statement.path]
        longer = (target for target in after if covered.how == "dropped" and begins(covered.statement, target, own))
        if (target := next(longer, None)) is not None:
            coverage[at] = Covered(covered.statement, "kept", target)
    fields = tuple(statement for statement in after if statement.kind == "field")
    return Coverage(tuple(sorted(coverage, key=lambda coverage: ORDER.index(coverage.how))), fields)


def of_file(path: str, data: bytes) -> list[Statement]:
    """List the statements of a memory's file: those of its description and its body, and its other fields."""
    doc = document.parse(data)
    if doc.broken is not None:
        return of_text(path, data.decode("utf-8", "replace"))
    description = doc.fields.get("description")
    statements = of_text(path, description) if isinstance(description, str) else []
    statements += of_text(path, doc.body)
    for key, value in field_values(doc.fields):
        name = key.rpartition(".")[2]
        if not PASSED_OVER & {key, name}:
            values = [value] if isinstance(value, str) else value
            statements += [Statement("field", f"{name}: {other}", path) for other in values if other]
    return statements


def field_values(fields: Mapping[str, object], above: str = "") -> Iterator[tuple[str, FieldValue]]:
    """Yield the fields of a frontmatter that are texts or lists of texts, nested ones by their dotted path."""
    for key, value in fields.items():
        if isinstance(value, dict):
            yield from field_values(value, f"{above}{key}.")
        elif isinstance(value, str):
            yield f"{above}{key}", value
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            yield f"{above}{key}", tuple(value)


def of_text(path: str, text: str) -> list[Statement]:
    """List the statements of Markdown text, each as it is written, on one line but for code."""
    pairs = ((kind, part) for chunk in chunks(text) for kind, part in _statements(chunk))
    return [Statement(kind, part, path) for kind, part in pairs if kind == "code" or any(map(str.isalnum, part))]


def _statements(chunk: Chunk) -> list[tuple[StatementKind, str]]:
    match chunk.kind:
        case "code":
            return [("code", chunk.text)]
        case "heading":
            return [("heading", " ".join(chunk.plain.split()))]
        case "table":
            return [("row", " ".join(row.split())) for row in chunk.plain.split("\n") if not RULE.match(row)]
        case "rule":
            return []
    sentences: list[str] = []
    for piece in END.split(" ".join(chunk.plain.split())):
        if sentences and sentences[-1].rpartition(" ")[2].lower() in prose_hot.ABBREVIATIONS:
            sentences[-1] += " " + piece
        elif piece.strip():
            sentences.append(piece.strip())
    return [("item" if chunk.kind == "item" else "sentence", sentence) for sentence in sentences]


def words(text: str) -> tuple[str, ...]:
    """Return a text's words as they are compared, in order, without joining ones; CJK text by characters."""
    telling: list[str] = []
    plain = re.sub(r"\]\(|[—–|]", " ", text.replace("[[", "").replace("]]", ""))
    for at, raw in enumerate(token for token in plain.split() if token.strip("-*_#")):
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


def _bare(raw: str) -> str:
    """Return a word without the marks around it. A sign alone, a glob's star, and a dot before a name stay."""
    if not any(map(str.isalnum, raw)):
        return raw
    word = raw.lstrip(OPENING)
    star = "*" if word[0] in "./_-" and raw[: len(raw) - len(word)].endswith("*") else ""
    return star + (word.rstrip(MARKS) or word)


def _compared(word: str) -> str:
    """Return a word as it is compared: numbers, paths, names and code as they are, others without case and ending."""
    letters = word.replace("-", "").replace("'", "").isalpha()
    plain = letters and word in {word.lower(), word.upper(), word.capitalize()}
    if not plain:
        return word
    folded = word.casefold()
    ending = next((suffix for suffix in ("es", "s") if folded.endswith(suffix) and len(folded) - len(suffix) >= 4), "")
    return folded.removesuffix(ending)


def begins(statement: Statement, longer: Statement, own: Sequence[str]) -> bool:
    """Tell whether a longer statement only adds, behind a comma, what its `own` text says of the same thing."""
    head, whole = literal(statement.text), literal(longer.text)
    rest = whole.removeprefix(f"{head}, ")
    if statement.kind not in {"sentence", "item"} or rest == whole:
        return False
    about = words(head)[-2:]
    return len(about) == 2 and any(literal(text).endswith(f" {rest}") and words(text)[:2] == about for text in own)


class Targets:
    """Statements among which others are looked for."""

    def __init__(self, statements: Iterable[Statement] = ()) -> None:
        self._fields: dict[str, Statement] = {}
        self._blocks: list[Statement] = []
        self._literal: dict[str, Statement] = {}
        self._telling: dict[tuple[str, ...], Statement] = {}
        self.add(statements)

    def add(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            if statement.kind == "field":
                self._fields[statement.text] = statement
            elif statement.kind == "code":
                self._blocks.append(statement)
            else:
                for text in (statement.text, AFTER_LINK.sub("", statement.text)):
                    self._literal.setdefault(literal(text), statement)
                self._telling.setdefault(words(statement.text), statement)

    def find(self, statement: Statement) -> Covered:
        if statement.kind == "field":
            same = self._fields.get(statement.text)
        elif statement.kind == "code":
            same = next((block for block in self._blocks if _code(statement.text) in _code(block.text)), None)
        else:
            same = self._literal.get(literal(statement.text))
            telling = () if same is not None else words(statement.text)
            if telling in self._telling and telling:
                return Covered(statement, "reworded", self._telling[telling])
        return Covered(statement, "dropped" if same is None else "kept", same)


def literal(text: str) -> str:
    """Return a statement without what does not change it: blanks, emphasis, marks of links, and the mark at its end."""
    plain = EMPHASIS.sub(r"\2", " ".join(text.replace("[[", "").replace("]]", "").split()))
    return plain.strip('"“”„ ').rstrip(LAST) or plain


def _code(text: str) -> str:
    """Return the lines of a block of code without blank ones, each between two line breaks."""
    lines = [line.rstrip() for line in text.split("\n")]
    lines = lines[1:] if FENCE.match(lines[0]) else lines
    lines = lines[:-1] if lines and FENCE.match(lines[-1]) else lines
    return "\n".join(["", *filter(None, lines), ""])
