"""Frontmatter that is not quite YAML: what a person plainly meant is still read, field by field, and flagged.

Imports nothing, so that a hook can afford it.
"""

from memtui.core.frontmatter import subset as yaml_subset
from memtui.core.frontmatter.words import NotInSubsetError, indent_of, is_filler, split_key

DEPTH_LIMIT = 3


def read(block: str) -> "tuple[dict[str, object], str, int]":
    """Fields, why they could not be read strictly (empty: they could), and on which line, counted from 0.

    Lines end with `\\n`. Fields outside the subset are given as they are written.
    """
    try:
        return yaml_subset.load(block), "", 0
    except NotInSubsetError as error:
        return loose(block.split("\n")), error.reason, error.line


def entry_starts(lines: "list[str]", indent: int) -> "list[int]":
    """The numbers of the lines that begin a field at this indentation."""
    return [
        n
        for n, line in enumerate(lines)
        if indent_of(line) == indent and not is_filler(line) and split_key(line, indent)
    ]


def loose(lines: "list[str]", depth: int = 0) -> "dict[str, object]":
    """Each field for itself: strictly where that works, else the text that stands there."""
    # The client reads a tab in the indentation as two blanks.
    spaced = [
        line.lstrip("\t").rjust(len(line.lstrip("\t")) + 2 * (len(line) - len(line.lstrip("\t")))) for line in lines
    ]
    keyed = [here for line in spaced if not is_filler(line) and split_key(line, here := indent_of(line))]
    indent = min(keyed, default=0)
    starts = entry_starts(spaced, indent)
    fields: "dict[str, object]" = {}
    for start, end in zip(starts, [*starts[1:], len(spaced)], strict=False):
        entry = spaced[start:end]
        try:
            fields.update(yaml_subset.load("\n".join(entry) + "\n"))
            continue
        except NotInSubsetError:
            pass
        found = split_key(entry[0], indent)
        if found is None:
            continue
        key, column = found
        head = entry[0][column:].strip()
        below = [line for line in entry[1:] if not is_filler(line)]
        if (
            depth < DEPTH_LIMIT
            and not head
            and below
            and indent_of(below[0]) > indent
            and split_key(below[0], indent_of(below[0]))
        ):
            fields[key] = loose(below, depth + 1)
        else:
            fields[key] = " ".join([head, *[line.strip() for line in below]]).strip()
    return fields
