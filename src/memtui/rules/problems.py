"""What is wrong with the rules in a memory's frontmatter, with the lines where it stands."""

from memtui.base.errors import MemtuiError
from memtui.rules import rule_hot
from memtui.store.frontmatter import document, edit
from memtui.store.memory import Memory


def problems_of(memory: Memory) -> list[tuple[int, str]]:
    """List the entries that are no rules, as (line of the file, what is wrong and what would be right)."""
    problems = rule_hot.parse_all(memory.fields)[1]
    if not problems:
        return []
    doc = document.parse(memory.raw)
    first = doc.head.count("\n") + 1
    parents = () if {"rules", "forbids"} & memory.fields.keys() else ("metadata",)
    rows = []
    for field, number, words in problems:
        try:
            line = edit.line_of(doc.quoted or doc.block, (*parents, field, str(number)))
        except MemtuiError:
            line = 0
        rows.append((first + line, words))
    return rows
