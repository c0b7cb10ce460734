"""A reader for frontmatter that is not quite YAML, field by field. Hook path: it imports only `subset`."""

from memtui.core.frontmatter import subset
from memtui.core.frontmatter.subset import NotInSubsetError, indent_of, is_filler, split_key

DEPTH_LIMIT = 3


def read(block: str, depth: int = 0) -> "dict[str, object]":
    """Read the fields of a block whose lines end with `\\n`: as YAML if possible, else each field separately, and a
    field that is not YAML as its plain text. Never raises."""
    try:
        return subset.load(block)
    except NotInSubsetError:
        pass
    # The client reads a tab in the indentation as two blanks.
    lines = ["  " * (len(line) - len(line.lstrip("\t"))) + line.lstrip("\t") for line in block.split("\n")]
    keyed = [n for n, line in enumerate(lines) if not is_filler(line) and split_key(line, indent_of(line))]
    indent = min((indent_of(lines[n]) for n in keyed), default=0)
    starts = [n for n in keyed if indent_of(lines[n]) == indent]
    fields: "dict[str, object]" = {}
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        try:
            fields.update(subset.load("\n".join(lines[start:end]) + "\n"))
            continue
        except NotInSubsetError:
            pass
        key, column = split_key(lines[start], indent) or ("", 0)
        head = lines[start][column:].strip()
        below = [line for line in lines[start + 1 : end] if not is_filler(line)]
        deeper = indent_of(below[0]) if below else 0
        if depth < DEPTH_LIMIT and not head and deeper > indent and split_key(below[0], deeper):
            fields[key] = read("\n".join(below) + "\n", depth + 1)
        else:
            fields[key] = " ".join([head, *[line.strip() for line in below]]).strip()
    return fields
