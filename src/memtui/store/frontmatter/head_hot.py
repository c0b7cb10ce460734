"""Name, description and type of a memory, for hooks: cut out of plain lines, else by the YAML reader; and whether git's
conflict markers are in it, but in fenced code. Look for MARK before calling `first_conflict` for many texts."""

FIRST_LINE_LIMIT = 300
WANTED = ("name", "description", "title", "type")
BLANK = " \t\r"
# First characters of a value that YAML does not read as plain text.
SPECIAL = "-?:,[]{}#&*!|>'\"%@`\t"
# What git writes around the two versions of a conflict.
MARK = b"<<<<<<<"
OURS, MIDDLE, THEIRS = "<<<<<<<", "=======", ">>>>>>>"


def first_line(body: str) -> str:
    """Return the first heading or sentence of a body, without marks, at most FIRST_LINE_LIMIT characters."""
    from memtui.store.frontmatter import prose_hot

    return prose_hot.first_sentence(body, FIRST_LINE_LIMIT, headings=True)


def summarise(data: bytes) -> "tuple[str, str, str]":
    """Return (name, description or title or first sentence, type) of a memory's beginning. Never raises."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    first, newline, rest = text.partition("\n")
    if "\0" in text[:4096]:
        return "", "", ""
    if first.rstrip(BLANK) != "---" or not newline:
        return "", first_line(text), ""
    fields = _simple_fields(rest)
    if fields is None:
        fields = _yaml_fields(rest)
    if fields is None:
        return "", first_line(text), ""
    return fields.get("name", ""), fields.get("description") or fields.get("title", ""), fields.get("type", "")


def _simple_fields(text: str) -> "dict[str, str] | None":
    """Read the WANTED fields if each is plain or simply quoted on one line; None if the YAML reader is needed."""
    fields: dict[str, str] = {}
    nested = parent = ""
    child = 0
    in_type = False
    at = 0
    keys = False
    while True:
        end = text.find("\n", at)
        if end < 0:
            break
        line = text[at:end].rstrip(BLANK)
        at = end + 1
        if line == "---":
            break
        if not line:
            if parent in WANTED:
                return None
            continue
        if line[0] in " -\t":
            if parent == "metadata" and line.lstrip(" ")[0] != "#":
                field = line.lstrip(" ")
                indent = len(line) - len(field)
                child = child or indent
                if indent < child or field[0] == "\t" or (indent > child and in_type):
                    return None
                if indent == child:
                    in_type = field.startswith("type:")
                    value = _value(field[5:]) if in_type else ""
                    # A key in an unusual form, or a value over several lines, which may look like fields.
                    odd = "type" in field[:6] and not in_type and not field.startswith("node_t")
                    if value is None or odd or _goes_on(field.partition(":")[2].strip(" ")):
                        return None
                    nested = value if in_type else nested
            elif parent in WANTED:
                return None
            continue
        key, colon, value_text = line.partition(":")
        if not colon or (value_text and value_text[0] != " "):
            if line[0] == "#":
                continue
            return None
        keys = True
        parent = key
        if key in WANTED:
            value = _value(value_text)
            if value is None:
                return None
            fields[key] = value
        elif key == "metadata":
            if value_text.strip(" "):
                return None
            nested, child, in_type = "", 0, False
        elif key[-1:] in " '\"" or _goes_on(value_text.strip(" ")):
            return None
    if nested:
        fields["type"] = nested
    return fields if keys else None


def _goes_on(text: str) -> bool:
    """Tell whether the value of another field may go on in the lines below, which may look like fields."""
    return text[:1] in ("'", '"', "[", "{") and text[-1:] != {"[": "]", "{": "}"}.get(text[0], text[0])


def _value(text: str) -> "str | None":
    """Read a scalar on one line; None if the YAML reader is needed."""
    text = text.strip(" ")
    if not text:
        return ""
    first = text[0]
    if first in "'\"":
        inner = text[1:-1]
        return None if len(text) < 2 or text[-1] != first or first in inner or "\\" in inner else inner
    if first in SPECIAL or " #" in text or "\t" in text:
        return None
    return text


def _yaml_fields(text: str) -> "dict[str, str] | None":
    """Read the WANTED fields with the YAML reader; None if there are no fields."""
    from memtui.store.frontmatter import subset_hot

    lines = []
    keyed = False
    for line in text.split("\n"):
        if line.rstrip(BLANK) == "---":
            break
        lines.append(line.removesuffix("\r"))
        keyed = keyed or subset_hot.split_key(line, subset_hot.indent_of(line)) is not None
    if not keyed:
        return None
    fields = subset_hot.read_loosely("\n".join(lines) + "\n")
    nested = fields.get("metadata")
    kind = nested.get("type") if isinstance(nested, dict) else ""
    fields["type"] = kind if isinstance(kind, str) and kind else fields.get("type")
    return {key: value for key in WANTED if isinstance(value := fields.get(key), str)}


class MarkedConflict:
    """A conflict by its first and last line (from 0), and the `names` of both versions."""

    __slots__ = ("end", "names", "start")

    def __init__(self, lines: "list[str]", start: int, end: int) -> None:
        self.start, self.end = start, end
        self.names = (lines[start][len(OURS) :].strip() or "ours", lines[end][len(THEIRS) :].strip() or "theirs")


def first_conflict(data: bytes) -> int:
    """Return the number, from 1, of the first line with a conflict; 0 if there is none."""
    if MARK not in data:
        return 0
    hunks = conflicts(data.decode("utf-8", "replace").split("\n"))
    return hunks[0].start + 1 if hunks else 0


def conflicts(lines: "list[str]") -> "list[MarkedConflict]":
    result: list[MarkedConflict] = []
    fence = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        conflict = _conflict(lines, at) if not fence and _is(line, OURS) else None
        if conflict is not None:
            result.append(conflict)
            at = conflict.end
        else:
            text = line.strip()
            if fence:
                fence = "" if text.startswith(fence) and not text.strip(fence[0]) else fence
            elif text.startswith(("```", "~~~")):
                fence = text[: len(text) - len(text.lstrip(text[0]))]
        at += 1
    return result


def _conflict(lines: "list[str]", start: int) -> "MarkedConflict | None":
    has_middle = False
    for at in range(start + 1, len(lines)):
        if _is(lines[at], OURS):
            return None
        if lines[at].rstrip() == MIDDLE:
            has_middle = True
        elif _is(lines[at], THEIRS) and has_middle:
            return MarkedConflict(lines, start, at)
    return None


def _is(line: str, mark: str) -> bool:
    return line.startswith(mark) and line[len(mark) : len(mark) + 1] in ("", " ", "\r", "\n")
