"""Heads of memories that Claude Code reads otherwise than they are meant, and the bytes that it reads as meant.

It takes a first line `---` for the beginning of the frontmatter, the next `---` for its end, in mid-line too, and a
second block of frontmatter for text.
"""

import re
from collections.abc import Callable, Iterator

from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding, problem
from memtui.core.frontmatter import document
from memtui.core.frontmatter.document import FENCE, Document
from memtui.core.frontmatter.subset import split_key
from memtui.core.memories.memory import Memory, flat

DASHES = re.compile(r"-{3,}")
# What dashes may become a dash in: a name or a pattern would mean something else.
SPOKEN = {"description", "title"}
# A block with one of these is the head of a memory, and no text between rules.
OWN = {"name", "description", "title", "type", "metadata"}


def of_memory(memory: Memory, facts: dict[str, object]) -> Iterator[Finding]:
    """Find what is wrong with the head of a memory that is not broken. `facts` are those of every finding about it."""
    if memory.raw.removeprefix(b"\xef\xbb\xbf").startswith(b"---") and memory.raw.count(b"---") >= 2:
        doc = document.parse(memory.raw)
        for code, (is_so, fix) in CHECKS.items():
            if is_so(doc):
                yield problem(code, f"memory:{memory.path}", certain=fix(doc) is not None, **facts)


def fixed(data: bytes, codes: set[str]) -> bytes:
    """Return a file with its head as Claude Code reads it as meant, for the codes of some findings."""
    for code, (is_so, fix) in CHECKS.items():
        doc = document.parse(data)
        if code in codes and doc.broken is None and is_so(doc):
            data = fix(doc) or data
    return data


def _second(doc: Document) -> Document | None:
    """Return what follows the first block of frontmatter, if that is another block."""
    if not doc.has_frontmatter:
        return None
    second = document.parse(_encoded(doc.rest.lstrip("\r\n")))
    return second if second.has_frontmatter and second.fence and OWN & second.fields.keys() else None


def _joined(doc: Document) -> bytes | None:
    """Return a file with two blocks of frontmatter as one, with all keys of both; None if they contradict."""
    second = _second(doc)
    if second is None or second.broken is not None:
        return None
    blocks = doc.quoted or doc.block, second.quoted or second.block
    if not doc.fields.keys() & second.fields.keys():
        joined = document.parse(_encoded(doc.head + "".join(blocks) + doc.fence + second.rest))
    else:
        joined = document.parse(_encoded(doc.head + blocks[0] + doc.fence + second.rest))
        for key, _ in flat(second.fields):
            path = tuple(key.split("."))
            value, own = second.get(path), joined.get(path)
            if own not in (None, "", value) or not isinstance(value, (str, list)):
                return None
            try:
                joined = joined.with_field(path, value)
            except MemtuiError:
                return None
    whole = dict(flat(doc.fields)) | {key: value for key, value in flat(second.fields) if value}
    return joined.raw if joined.broken is None and dict(flat(joined.fields)) == whole else None


def _with_dash(doc: Document) -> bytes | None:
    """Return a file with a dash for each `---` in its description; None if there are others."""
    lines = []
    key = ""
    for line in doc.block.splitlines(keepends=True):
        pair = split_key(line)
        key = pair[0] if pair else key
        lines.append(DASHES.sub("—", line) if key in SPOKEN or line.lstrip().startswith("#") else line)
    block = "".join(lines)
    fixed = document.parse(_encoded(doc.head + block + doc.fence + doc.rest))
    return (
        fixed.raw if FENCE not in block and fixed.broken is None and fixed.fields.keys() == doc.fields.keys() else None
    )


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


CHECKS: dict[str, tuple[Callable[[Document], bool], Callable[[Document], bytes | None]]] = {
    "memories.two_heads": (lambda doc: _second(doc) is not None, _joined),
    "memories.cut_head": (lambda doc: doc.has_frontmatter and FENCE in doc.block, _with_dash),
    "memories.rule_head": (
        lambda doc: not doc.has_frontmatter and doc.rest.partition("\n")[0].strip() == FENCE and FENCE in doc.rest[3:],
        lambda doc: doc.raw.replace(b"---", b"***", 1),  # a rule that is no fence
    ),
}
