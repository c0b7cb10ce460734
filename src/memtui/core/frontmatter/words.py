"""The words of YAML that its reader and the line editor of frontmatter share: keys, fillers, escapes. No imports."""

INDICATORS = "-?:,[]{}#&*!|>'\"%@`"
KEY_LIMIT = 1000  # PyYAML gives up on a simple key of 1024 characters
ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}


class NotInSubsetError(ValueError):
    """`reason` in words; `line` counts from 0 in the text given to `load`."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def indent_of(line: str) -> int:
    """The number of leading blanks; tabs do not count."""
    return len(line) - len(line.lstrip(" "))


def is_filler(line: str) -> bool:
    """A blank line, or one that holds only a comment."""
    text = line.strip(" \r\n")
    return not text or text[0] == "#"


def split_key(line: str, start: int = 0) -> "tuple[str, int] | None":
    """The key of a `key: value` line from column `start`, and the column after its colon; None for other lines."""
    if start >= len(line):
        return None
    first = line[start]
    if first in "'\"":
        end = line.find(first, start + 1)
        key = line[start + 1 : end]
        if end < 0 or "\\" in key or line[end + 1 : end + 2] == first:
            return None
        colon = end + 1
        while line[colon : colon + 1] == " ":
            colon += 1
        if line[colon : colon + 1] != ":":
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
    """The first character that YAML does not allow or takes for a line break besides `\\n`; empty if there is none."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return ""
    for char in set(text):
        code = ord(char)
        fine = (
            32 <= code <= 126 or char in "\n\t" or 0xA0 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code > 0xFFFF
        )
        if not fine or char in "\u2028\u2029\ufeff":
            return char
    return ""


def unescape(text: str) -> "str | None":
    """The text between double quotes with its escapes resolved; None where one is not known."""
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
