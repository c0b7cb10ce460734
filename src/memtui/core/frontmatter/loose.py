"""A reader for frontmatter that is not quite YAML, field by field. Hook path: it imports only `subset`."""

from memtui.core.frontmatter import subset
from memtui.core.frontmatter.subset import NotInSubsetError, indent_of, is_filler, split_key

DEPTH_LIMIT = 3
# What makes the client put a value in quotes, if the whole is not YAML; `: ` does as well.
QUOTED = "{}[]*&#!|>%@`"


def quoted(block: str) -> str:
    """Return a block that is not YAML as the client reads it in its second attempt: with quotes around the values of
    its top level that have special characters, and blanks for tabs in the indentation. Line ends stay."""
    lines = []
    for line in block.split("\n"):
        text = line.rstrip("\r")
        inner = text.lstrip("\t")
        key, colon, value = inner.partition(":")
        plain = value.strip(" \t")
        is_key = key.isascii() and key.replace("_", "").replace("-", "").isalpha()
        if colon and plain and value[0] in " \t" and is_key and inner == text:
            is_quoted = plain[0] in "'\"" and plain[-1] == plain[0]
            if not is_quoted and (": " in plain or any(char in QUOTED for char in plain)):
                escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
                inner = f'{key}: "{escaped}"'
        lines.append("  " * (len(text) - len(text.lstrip("\t"))) + inner + line[len(text) :])
    return "\n".join(lines)


def read(block: str, depth: int = 0) -> "dict[str, object]":
    """Read the fields of a block whose lines end with `\\n`: as YAML if possible, else as the client does, else each
    field separately, and a field that is not YAML as its plain text. Never raises."""
    for text in (block, quoted(block)):
        try:
            return subset.load(text)
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
