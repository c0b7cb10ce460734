"""Merge memories into the first one: it keeps its file, links and words, and gets what only the others say."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

from memtui.base.errors import MemtuiError
from memtui.rules import rule_lines
from memtui.rules.rule_hot import Rule, parse_all
from memtui.store import references, scopes
from memtui.store.frontmatter import document
from memtui.store.memory import Memory
from memtui.store.plan import FileDiff
from memtui.tidy import coverage
from memtui.tidy.changeset import Proposal, ProposalEvidence, propose
from memtui.tidy.coverage import ITEM, LABEL, Chunk, FieldValue, Statement, Targets, chunks, join

# What belongs to one file alone.
OWN = frozenset({"name"})
# The kinds of pieces that have sentences.
RUNNING = frozenset({"paragraph", "item"})
LEANING = coverage.pattern("leaning")
SENTENCE_END = (".", "!", "?", "…", "。", ":", ";")


def best_first(memories: Sequence[Memory], referred: Collection[str] = ()) -> list[Memory]:
    """Sort memories, the one to keep first: no copy, `referred` to (paths), with the most text, the newest."""
    names = [mem.name for mem in memories]
    copied = scopes.copied_memories(memories)

    def key(memory: Memory) -> tuple[bool, bool, int, float, str]:
        is_copy = memory.path in copied or (memory.stem != memory.name and names.count(memory.name) > 1)
        return is_copy, memory.path not in referred, -len(memory.body), -memory.changed_at, memory.path

    return sorted(memories, key=key)


def _fields(memories: Sequence[Memory]) -> Iterator[tuple[str, FieldValue]]:
    """Yield the merged fields by dotted path: the first one's value, lists put together."""
    rows = [dict(coverage.field_values(document.parse(memory.raw).fields)) for memory in memories]
    for path in dict.fromkeys(path for row in rows for path in row):
        values = [row[path] for row in rows if path in row]
        if all(isinstance(value, tuple) for value in values):
            yield path, tuple(dict.fromkeys(part for value in values if isinstance(value, tuple) for part in value))
        elif path not in OWN:
            yield path, next((value for value in values if value), "")


def body(memories: Sequence[Memory], description: str) -> str:
    """Return the first body with what only the others say, below the same heading or label, else at the end."""
    first, *others = memories
    own = _Body(first.body, description)
    if first.description != description:
        own.add(_of_description(first))
    for memory in others:
        own.add([*([] if own.describes(memory) else _of_description(memory)), *chunks(memory.body)])
    for memory in memories:
        own.add_missing(coverage.of_text(memory.path, memory.description) + coverage.of_text(memory.path, memory.body))
    return own.text


def _of_description(memory: Memory) -> list[Chunk]:
    return [Chunk("paragraph", memory.description, "")] if memory.description else []


def merged(memories: Sequence[Memory]) -> bytes:
    """Return the first memory's file with the fields and bodies of all. Raises MemtuiError for a broken one."""
    for memory in memories:
        if memory.broken is not None:
            raise MemtuiError(f"{memory.path} is broken: {memory.broken}.", "Fix it in an editor first.")
    doc = document.parse(memories[0].raw)
    for key, value in _fields(memories):
        path = tuple(key.split("."))
        if value and doc.get(path) != (value if isinstance(value, str) else list(value)):
            # Where the first memory has something else, its field stays, and the other counts as dropped.
            with suppress(MemtuiError):
                doc = doc.with_field(path, value)
    description = doc.fields.get("description")
    data = doc.with_body(body(memories, description if isinstance(description, str) else "")).raw
    rules, own = _rules(memories), parse_all(memories[0].fields)[0]
    if [*map(Rule.key, rules)] != [*map(Rule.key, own)] and rule_lines.stated(memories[0].fields) is not None:
        data = rule_lines.with_rules(data, rules, others=True)
    for memory in memories:  # they would lead from the memory to itself
        data = references.relink(data, memories[0].path, memory.path, (memory.stem, memory.name), None)
    return data


def _rules(memories: Sequence[Memory]) -> list[Rule]:
    """List the rules of all, without one that another says with what to do beside it."""
    rules = {rule.key(): rule for memory in memories for rule in parse_all(memory.fields)[0]}.values()
    fuller = {(rule.kind, str(rule.subject)) for rule in rules if rule.other is not None}
    short = [rule for rule in rules if rule.other is None and not rule.enforce]
    return [rule for rule in rules if rule not in short or (rule.kind, str(rule.subject)) not in fuller]


def proposal(memories: Sequence[Memory], evidence: Sequence[ProposalEvidence] = (), reason: str = "") -> Proposal:
    """Propose to merge memories of a scope into the first one. Raises MemtuiError."""
    after = merged(memories)
    files = [FileDiff(mem.path, mem.raw, None if at else after) for at, mem in enumerate(memories)]
    return propose("merge", files, evidence, reason)


class _Body:
    """A body that grows by what it does not say yet."""

    def __init__(self, text: str, description: str) -> None:
        self._chunks = chunks(text)
        self._description = description
        self._added: Chunk | None = None  # the newest piece
        self._said = Targets([*coverage.of_text("", description), *coverage.of_text("", text)])

    @property
    def text(self) -> str:
        return join(self._chunks)

    def describes(self, memory: Memory) -> bool:
        described = coverage.of_text("", memory.description)
        own = coverage.of_text("", self._description) + coverage.of_text("", self.text)
        covered = coverage.cover([*described, *coverage.of_text("", memory.body)], own)
        return all(cover.how == "kept" for cover in covered.statements if cover.statement in described)

    def add(self, parts: Sequence[Chunk]) -> None:
        """Add those of the pieces that say something new; of a paragraph or an item only what is new."""
        heading: Chunk | None = None
        pieces: list[Chunk] = []
        for chunk in [*parts, None]:
            if chunk is None or chunk.kind == "heading":
                self._add_section(heading, pieces)
                heading, pieces = chunk, []
            elif chunk.kind != "rule":
                pieces.append(chunk)

    def add_missing(self, statements: Sequence[Statement]) -> None:
        """Add statements that are missing after all, at the end: those that are there only in other words."""
        own = coverage.of_text("", self._description) + coverage.of_text("", self.text)
        for statement, how, _ in coverage.cover(statements, own).statements:
            if how != "kept":
                self._insert(self._end, Chunk("code" if statement.kind == "code" else "paragraph", statement.text))

    def _add_section(self, heading: Chunk | None, pieces: Sequence[Chunk]) -> None:
        place = self._section_end(heading)
        begun = False
        above: Statement | None = None  # the one that a piece follows
        for chunk in pieces:
            statements = coverage.of_text("", chunk.text)
            new = self._new_part(chunk, above)
            above = statements[-1] if statements and chunk.kind in RUNNING else None
            if new is None:
                continue
            if place is None and heading is not None and not begun:
                self._insert(self._end, heading)
                begun = True
            same = [at for at, part in enumerate(self._chunks) if new.label and part.label == new.label]
            at = self._end if begun else same[-1] + 1 if same and heading is None else self._section_end(heading)
            self._insert(self._end if at is None else at, new)

    def _new_part(self, chunk: Chunk, above: Statement | None) -> Chunk | None:
        """Return what a piece says that is new, None if nothing; one that leans (“It …”) stays behind `above`."""
        statements = coverage.of_text("", chunk.text)
        is_new = [self._said.find(statement).how != "kept" for statement in statements]
        if not any(is_new):
            return None
        if chunk.kind not in RUNNING:
            return chunk
        first = is_new.index(True)
        leans = [LEANING.match(statement.text) is not None for statement in statements]
        before = statements[first - 1] if first else above
        end = next((at for at in range(first, len(is_new)) if not is_new[at]), len(is_new))
        newest = coverage.of_text("", self._added.text) if self._added is not None else []
        follows = bool(newest) and before is not None and newest[-1].text == before.text
        if leans[first] and before is not None and not follows:
            if self._put_behind(before, statements[first:end]):
                return self._new_part(chunk, above)
            if not first:
                return self._together(before, chunk)
        if all(is_new):
            return chunk
        for at in range(len(statements) - 1, 0, -1):
            is_new[at - 1] = is_new[at - 1] or (is_new[at] and leans[at])
        missing = [statement for statement, is_wanted in zip(statements, is_new, strict=True) if is_wanted]
        marks = ITEM.match(chunk.text) if chunk.kind == "item" else LABEL.match(chunk.text)
        begins = missing[0] == statements[0] and chunk.kind != "item"
        text = " ".join(statement.text for statement in missing)
        return Chunk(chunk.kind, text if marks is None or begins else marks[0].lstrip() + text)

    def _put_behind(self, before: Statement, following: Sequence[Statement]) -> bool:
        """Put statements behind the piece that ends with `before`; return whether there is one without a follower."""
        target = self._said.find(before).target
        for at, chunk in enumerate(self._chunks):
            statements = coverage.of_text("", chunk.text) if chunk.kind in RUNNING and target else []
            if target and statements and statements[-1].text == target.text and chunk.text.endswith(SENTENCE_END):
                below = self._chunks[at + 1].plain if at + 1 < len(self._chunks) else ""
                if LEANING.match(below):
                    return False
                self._chunks[at] = chunk._replace(text=" ".join([chunk.text, *(part.text for part in following)]))
                self._said.add(following)
                return True
        return False

    def _together(self, before: Statement, chunk: Chunk) -> Chunk:
        """Return a piece with the statement that it follows in front."""
        mark = ITEM.match(chunk.text) if chunk.kind == "item" else None
        lead = mark[0] if mark is not None else ""
        stop = "" if before.text.endswith(SENTENCE_END) else "."
        return chunk._replace(text=f"{lead}{before.text}{stop} {chunk.text.removeprefix(lead)}")

    @property
    def _end(self) -> int:
        """The place behind the last piece, before the blank lines that end the text."""
        last = self._chunks[-1]
        return len(self._chunks) - (last.kind == "rule" and not last.text)

    def _section_end(self, heading: Chunk | None) -> int | None:
        """Return the end of the section with a heading, None if there is none; without one, of the first text."""
        heads = [at for at, chunk in enumerate(self._chunks) if chunk.kind == "heading"]
        after = [*heads[1:], self._end]
        if heading is None:
            return (after[0] if heads[0] == 0 else heads[0]) if heads else self._end
        titles = [self._chunks[at].plain.casefold() for at in heads]
        wanted = heading.plain.casefold()
        return next((end for title, end in zip(titles, after, strict=False) if title == wanted), None)

    def _insert(self, at: int, chunk: Chunk) -> None:
        above = self._chunks[at - 1] if at else None
        if chunk.kind == "item" and (above is None or above.kind != "item"):
            chunk = chunk._replace(text=chunk.text.lstrip())
        lead = "\n" if above is None else _between(above, chunk)
        if at < self._end:
            below = self._chunks[at]
            self._chunks[at] = below._replace(before=_between(chunk, below))
        elif at == len(self._chunks):
            self._chunks.append(Chunk("rule", "", "\n"))
        elif not self._chunks[at].before:
            self._chunks[at] = self._chunks[at]._replace(before="\n")
        self._chunks.insert(at, chunk._replace(before=lead))
        self._said.add(coverage.of_text("", chunk.text))
        self._added = chunk


def _between(above: Chunk, below: Chunk) -> str:
    """Return what to put between two pieces: list items and labelled parts stand on lines that follow each other."""
    close = above.kind == below.kind == "item" or bool(above.label and below.label)
    return "\n" if close else "\n\n"
