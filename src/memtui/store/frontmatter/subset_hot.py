"""A reader for the part of YAML that frontmatter uses, as PyYAML's BaseLoader reads it. Hook path: no imports.

Not in it: anchors, aliases, tags, `?` keys, indentation indicators, odd characters between brackets."""

DEPTH_LIMIT = 20
LOOSE_DEPTH = 3  # of what is not quite YAML
# What makes the client put a value in quotes, if the whole is not YAML; `: ` does as well.
QUOTED = "{}[]*&#!|>%@`"
INDICATORS = "-?:,[]{}#&*!|>'\"%@`"
FENCES = ("---", "...")
KEY_LIMIT = 1000  # PyYAML gives up on a simple key of 1024 characters
ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}
# A reason with which a block is no YAML either: PyYAML, which takes long to load, is not asked.
AFTER_QUOTE = "text after a closing quote"


class NotInSubsetError(ValueError):
    """A text that is not in the subset. `line` counts from 0 in the text given to `load`."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def load(text: str) -> "dict[str, object]":
    """Read a block mapping whose lines end with `\\n`; an empty text gives an empty dict. Raises NotInSubsetError."""
    odd = odd_character(text)
    if odd:
        line = text.count("\n", 0, text.index(odd))
        raise NotInSubsetError(f"a character that YAML does not allow: U+{ord(odd):04X}", line)
    reader = _SubsetReader(text)
    first = reader.peek()
    if first is None:
        return {}
    result = reader.mapping(indent_of(first), 0)
    if reader.peek() is not None:
        reader.fail("the indentation does not fit")
    return result


def indent_of(line: str) -> int:
    """Count the leading blanks, without tabs."""
    return len(line) - len(line.lstrip(" "))


def is_filler(line: str) -> bool:
    """Tell whether a line is blank or holds only a comment."""
    text = line.strip(" \r\n")
    return not text or text[0] == "#"


def split_key(line: str, start: int = 0) -> "tuple[str, int] | None":
    """Return the key of a `key: value` line from column `start`, and the column after its colon; None for others."""
    if start >= len(line):
        return None
    first = line[start]
    if first in "'\"":
        end = line.find(first, start + 1)
        key = line[start + 1 : end]
        colon = line.find(":", end + 1)
        if end < 0 or colon < 0 or "\\" in key or line[end + 1 : colon].strip(" "):
            return None
    else:
        colon = line.find(":", start)
        key = line[start:colon].rstrip(" ")
        if colon < 0 or first in INDICATORS or first.isspace() or "#" in key or "\t" in key:
            return None
    if len(key) > KEY_LIMIT or line[colon + 1 : colon + 2] not in ("", " ", "\r", "\n"):
        return None
    return key, colon + 1


def odd_character(text: str) -> str:
    """Return the first character that YAML does not allow, or reads as a line break besides `\\n`; empty if none."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return ""
    for char in dict.fromkeys(text):
        code = ord(char)
        fine = 32 <= code <= 126 or 0xA0 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code > 0xFFFF
        if not (fine or char in "\n\t") or char in "\u2028\u2029\ufeff":
            return char
    return ""


def unescape(text: str) -> "str | None":
    """Resolve the escapes of a text between double quotes; None if one is unknown."""
    if "\\" not in text:
        return text
    out = []
    at = 0
    while True:
        slash = text.find("\\", at)
        if slash < 0:
            out.append(text[at:])
            break
        out.append(text[at:slash])
        code = text[slash + 1 : slash + 2]
        at = slash + 2
        if code in HEX_ESCAPES:
            digits = text[at : at + HEX_ESCAPES[code]]
            at += HEX_ESCAPES[code]
            if len(digits) != HEX_ESCAPES[code] or digits.strip("0123456789abcdefABCDEF") or int(digits, 16) > 0x10FFFF:
                return None
            out.append(chr(int(digits, 16)))
        elif code in ESCAPES and code:
            out.append(ESCAPES[code])
        else:
            return None
    # Halves of a surrogate pair become one character; a lone half can't be written to a file.
    return "".join(out).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def closing(line: str, quote: str, at: int) -> int:
    """Return where a quoted text ends in this line; -1 if it goes on."""
    while True:
        end = line.find(quote, at)
        if quote == '"':
            slash = line.find("\\", at, end if end >= 0 else len(line))
            if slash >= 0:
                at = slash + 2
                continue
        elif end >= 0 and line[end + 1 : end + 2] == quote:
            at = end + 2
            continue
        return end


class _SubsetReader:
    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        if not self.lines[-1]:
            self.lines.pop()
        self.at = 0

    def fail(self, reason: str, line: int = -1) -> "None":
        raise NotInSubsetError(reason, self.at if line < 0 else line)

    def peek(self) -> "str | None":
        """Return the next line that is neither blank nor a comment; None at the end."""
        lines = self.lines
        while self.at < len(lines):
            text = lines[self.at].strip(" \r\n")
            if text and text[0] != "#":
                return lines[self.at]
            self.at += 1
        return None

    def mapping(self, indent: int, depth: int) -> "dict[str, object]":
        result: "dict[str, object]" = {}
        if depth > DEPTH_LIMIT:
            self.fail("nested too deeply")
        while (line := self.peek()) is not None:
            here = len(line) - len(line.lstrip(" "))
            if here < indent:
                break
            split = split_key(line, here)
            if here > indent:
                self.fail("the indentation does not fit")
            if split is None or line.startswith("..."):
                self.fail("a tab in the indentation" if line[here] == "\t" else "not a `key: value` line")
                break
            self.at += 1
            result[split[0]] = self.value(line[split[1] :].strip(" "), indent, depth, in_list=False)
        return result

    def value(self, rest: str, indent: int, depth: int, in_list: bool) -> "object":
        """Read the value after `key:` or `- ` at column `indent`; `self.at` is the line below."""
        if rest and rest[0] != "#":
            return self.scalar(rest, indent)
        line = self.peek()
        if line is None:
            return ""
        here = indent_of(line)
        if line[here : here + 2] in ("-", "- ") and (here > indent or (here == indent and not in_list)):
            return self.sequence(here, depth)
        if here <= indent:
            return ""
        if split_key(line, here):
            return self.mapping(here, depth + 1)
        if line[here] in "|>":
            self.fail("a block scalar on a line of its own")
        self.at += 1
        return self.scalar(line[here:].rstrip(" "), indent)

    def sequence(self, indent: int, depth: int) -> "list[object]":
        result: "list[object]" = []
        while (line := self.peek()) is not None:
            here = indent_of(line)
            if here > indent:
                self.fail("the indentation does not fit")
            if here < indent or line[here : here + 2] not in ("-", "- "):
                break
            rest = line[here + 1 :].strip(" ")
            column = len(line.rstrip(" ")) - len(rest)
            if split_key(line, column):
                self.lines[self.at] = " " * column + line[column:]
                result.append(self.mapping(column, depth + 1))
                continue
            self.at += 1
            result.append(self.value(rest, indent, depth, in_list=True))
        return result

    def scalar(self, rest: str, indent: int) -> "object":
        first = rest[0]
        if first in "|>":
            return self.block(rest, indent)
        if first in "'\"":
            return self.quoted(rest)
        if first in "[{":
            return self.flow(rest)
        if first in "&*!%@`,]}\t#" or (first in "-?:" and rest[1:2] in ("", " ", "\t")):
            self.fail(f"a value that starts with `{first}`", self.at - 1)
        return self.plain(rest, indent)

    def end_of_value(self, tail: str, reason: str) -> None:
        if tail.strip(" ") and not (tail[0] == " " and tail.lstrip(" ")[0] == "#"):
            self.fail(reason, self.at - 1)

    def plain_line(self, text: str, line: int) -> "tuple[str, bool]":
        if not (":" in text or "#" in text or "\t" in text):  # as in most
            return text.rstrip(" "), False
        comment = text.find(" #")
        if comment >= 0:
            text = text[:comment]
        text = text.rstrip(" \t")
        if ": " in text or ":\t" in text or text.endswith(":"):
            self.fail("`: ` inside an unquoted value", line)
        if "\t#" in text or text[:1] == "\t":
            self.fail("a tab where YAML wants a blank", line)
        return text, comment >= 0

    def plain(self, rest: str, indent: int) -> str:
        text, commented = self.plain_line(rest, self.at - 1)
        parts, lines = [text], self.lines
        while not commented:
            below = self.at
            while below < len(lines) and not lines[below].strip(" "):
                below += 1
            if below == len(lines):
                break
            line = lines[below]
            here = len(line) - len(line.lstrip(" "))
            if here <= indent or line[here] == "#":
                break
            text, commented = self.plain_line(line[here:], below)
            parts.append("\n" * (below - self.at) or " ")
            parts.append(text)
            self.at = below + 1
        return "".join(parts)

    def quoted(self, rest: str) -> str:
        quote = rest[0]
        start = self.at - 1
        line, begin = rest, 1
        parts: list[str] = []
        blanks = -1  # of the lines so far; -1 on the first
        while True:
            end = closing(line, quote, begin)
            piece = line[begin:end] if end >= 0 else line[begin:].rstrip(" \t")
            if blanks >= 0:
                piece = piece.lstrip(" \t")
            if end < 0 and quote == '"' and piece.endswith("\\"):
                self.fail("an escaped line break", start)
            if piece or end >= 0 or blanks < 0:
                if blanks >= 0:
                    parts.append("\n" * blanks or " ")
                blanks = 0
                whole = piece.replace("''", "'") if quote == "'" else unescape(piece)
                if whole is None:
                    self.fail("an unknown escape in double quotes", start)
                parts.append(whole or "")
            else:
                blanks += 1
            if end >= 0:
                if line[end + 1 : end + 2] == "#":
                    self.fail("a comment without a blank before it", self.at - 1)
                self.end_of_value(line[end + 1 :], AFTER_QUOTE)
                return "".join(parts)
            if self.at == len(self.lines) or self.lines[self.at][:3] in FENCES:
                self.fail("a quote that is never closed", start)
            line, begin = self.lines[self.at], 0
            self.at += 1

    def block(self, rest: str, indent: int) -> str:
        """Read a `|` or `>` scalar, as PyYAML's scan_block_scalar does."""
        header, _, comment = rest.partition(" ")
        if header[1:] not in ("", "+", "-") or (comment.strip(" ") and comment.lstrip(" ")[0] != "#"):
            self.fail("a block scalar with an indentation indicator", self.at - 1)
        column, deepest = -1, 0
        for line in self.lines[self.at :]:
            if line.strip(" "):
                column = indent_of(line)
                break
            deepest = max(deepest, len(line))
        if column <= indent:
            column = indent + 1
        if deepest > column:
            self.fail("a blank line deeper than its block scalar")
        parts: list[str] = []
        before, blank = "", 0
        while self.at < len(self.lines) and (indent_of(line := self.lines[self.at]) >= column or not line.strip(" ")):
            self.at += 1
            text = line[column:]
            if not text:
                blank += 1
                continue
            folded = header[0] == ">" and before and before[0] not in " \t" and text[0] not in " \t"
            parts += ["\n" * blank or " " if folded else "\n" * (blank + bool(before)), text]
            before, blank = text, 0
        end = "" if header[1:] == "-" or not before else "\n"
        return "".join(parts) + end + ("\n" * blank if header[1:] == "+" else "")

    def flow(self, text: str) -> "object":
        """Read a list or mapping between brackets, which may go on in the lines below."""
        self.text = text
        collection, at = self.collection(0, 0)
        self.end_of_value(self.text[at:], "text after a closing bracket")
        return collection

    def collection(self, at: int, depth: int) -> "tuple[object, int]":
        """Return the list or mapping at a place in the text between brackets, and where it ends."""
        if depth > DEPTH_LIMIT:
            self.fail("nested too deeply", self.at - 1)
        is_mapping = self.text[at] == "{"
        end = "}" if is_mapping else "]"
        items: "list[object]" = []
        fields: "dict[str, object]" = {}
        at = self.next_in_flow(at + 1)
        while self.text[at] != end:
            key = ""
            if is_mapping:
                key, at = self.flow_scalar(at, ":")
                if len(key) > KEY_LIMIT or self.text[at + 1 : at + 2] not in (" ", ""):
                    self.fail("a key between brackets that is not plain", self.at - 1)
                at = self.next_in_flow(at + 1)
            is_nested = self.text[at] in "[{"
            item, at = self.collection(at, depth + 1) if is_nested else self.flow_scalar(at, "," + end)
            at = self.next_in_flow(at)
            if self.text[at] not in ("," + end):
                self.fail("a value between brackets that is not plain", self.at - 1)
            at = self.next_in_flow(at + 1) if self.text[at] == "," else at
            fields[key] = item
            items.append(item)
        return (fields if is_mapping else items), at + 1

    def next_in_flow(self, at: int) -> int:
        """Return where the text between brackets goes on, behind blanks, maybe in the next line."""
        while self.text[at : at + 1] in (" ", ""):
            if at >= len(self.text):
                if self.at == len(self.lines) or is_filler(self.lines[self.at]) or self.lines[self.at][:3] in FENCES:
                    self.fail("a bracket that is never closed", self.at - 1)
                self.text += " " + self.lines[self.at].strip(" ")
                self.at += 1
            at += 1
        return at

    def flow_scalar(self, at: int, ends: str) -> "tuple[str, int]":
        """Return the scalar at a place in the text between brackets, before one of some marks, and where it ends."""
        text = self.text
        quote = text[at] if text[at] in "'\"" else ""
        if quote:
            end = closing(text, quote, at + 1) + 1
            piece = text[at + 1 : end - 1]
            item = piece.replace("''", "'") if quote == "'" else unescape(piece)
        else:
            end = next((n for n in range(at, len(text)) if text[n] in ends), len(text))
            piece = text[at:end].rstrip(" ")
            odd = not piece or piece[0] in INDICATORS or ": " in piece + " "
            item = None if odd or any(char in piece for char in "[]{},?#\t\"'") else piece
        while end and text[end : end + 1] == " ":
            end += 1
        if not end or item is None or text[end : end + 1] not in list(ends):
            self.fail("a value between brackets that is not plain", self.at - 1)
        return item or "", end


def client_quoted(block: str) -> str:
    """Return a block that is no YAML as the client reads it then: quotes around odd values, blanks for tabs."""
    lines = []
    for line in block.split("\n"):
        text = line.rstrip("\r")
        inner = text.lstrip("\t")
        key, colon, value = inner.partition(":")
        plain = value.lstrip(" \t")
        is_key = key.isascii() and key.replace("_", "").replace("-", "").isalpha()
        if colon and plain and value[0] in " \t" and is_key and inner == text:
            is_quoted = plain[0] in "'\"" and plain[-1] == plain[0]
            inner = f"{key}: {plain}" if value[0] == "\t" else inner
            if not is_quoted and (": " in plain or any(char in QUOTED for char in plain)):
                escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
                inner = f'{key}: "{escaped}"'
        lines.append("  " * (len(text) - len(text.lstrip("\t"))) + inner + line[len(text) :])
    return "\n".join(lines)


def read_loosely(block: str, depth: int = 0) -> "dict[str, object]":
    """Read the fields of a block as YAML, else as the client does, else each by itself. Never raises."""
    for text in (block, client_quoted(block)):
        try:
            return load(text)
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
            fields.update(load("\n".join(lines[start:end]) + "\n"))
            continue
        except NotInSubsetError:
            pass
        key, column = split_key(lines[start], indent) or ("", 0)
        head = lines[start][column:].strip()
        below = [line for line in lines[start + 1 : end] if not is_filler(line)]
        deeper = indent_of(below[0]) if below else 0
        if depth < LOOSE_DEPTH and not head and deeper > indent and split_key(below[0], deeper):
            fields[key] = read_loosely("\n".join(below) + "\n", depth + 1)
        else:
            fields[key] = " ".join([head, *[line.strip() for line in below]]).strip()
    return fields
