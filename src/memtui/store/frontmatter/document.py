"""The frontmatter of a Markdown file, read (PyYAML, if installed, beyond our subset) and changed without loss."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memtui.base.errors import MemtuiError
from memtui.store.frontmatter import edit, head_hot, subset_hot
from memtui.store.frontmatter.subset_hot import NotInSubsetError, indent_of, is_filler, split_key

FENCE = "---"
BLANK = " \t\r\n"
# The most characters of a block that PyYAML reads, which takes seconds per megabyte, and the most values in it.
PYYAML_LIMIT = 1 << 18
NODE_LIMIT = 10_000


@dataclass  # not frozen, which takes three times as long: thousands are made
class Document:
    """A Markdown file: `body` has `\\n` line ends, `notes` are warnings, `broken` is why it can't be read, or None."""

    raw: bytes
    bom: bool = False
    newline: str = "\n"
    has_frontmatter: bool = False
    fields: dict[str, object] = field(default_factory=dict)
    broken: str | None = None
    body: str = ""
    notes: tuple[str, ...] = ()
    # The file in four parts: up to and with the opening fence, the lines of the fields, the closing fence, the body.
    head: str = ""
    block: str = ""
    fence: str = ""
    rest: str = ""
    # The lines of the fields with quotes that they lack to be YAML, which a change of a field writes; empty for none.
    quoted: str = ""

    def get(self, path: Sequence[str]) -> object:
        """Return the value at a path such as `("metadata", "type")` or `("rules", "0", "enforce")`, None if none."""
        value: object = self.fields
        for key in path:
            value = _below(value, key)
        return value

    @property
    def lines_above(self) -> int:
        return self.head.count("\n") + self.block.count("\n") + 1 if self.fence else 0

    def with_field(self, path: Sequence[str], value: str | Sequence[str]) -> "Document":
        """Return a document with one field set; only its lines differ. Raises MemtuiError if that can't be."""
        self._must_be_sound()
        new: object = clean(value) if isinstance(value, str) else [clean(item) for item in value]
        old = self.get(path)
        if old == new:
            return self
        expected = copy.deepcopy(self.fields)
        _put(expected, path, new)
        return self._replaced(edit.set_field(self.quoted or self.block, path, old, new, self.newline), expected)

    def with_lines(self, lines: str, field: str, value: object) -> "Document":
        """Return a document with a new field as `lines`, at the end of its frontmatter. Raises as `with_field`."""
        self._must_be_sound()
        block = self.quoted or self.block
        block += "" if not block or block.endswith("\n") else self.newline
        return self._replaced(block + lines.replace("\n", self.newline), {**copy.deepcopy(self.fields), field: value})

    def without_field(self, path: Sequence[str]) -> "Document":
        """Return a document without one field, or a parent that would be left empty. Raises as `with_field`."""
        self._must_be_sound()
        if self.get(path) is None:
            return self
        expected = copy.deepcopy(self.fields)
        _drop(expected, path)
        return self._replaced(edit.drop_field(self.quoted or self.block, path), expected)

    def with_body(self, text: str) -> "Document":
        """Return a document with another body, in the file's line ends. Raises MemtuiError on a broken document."""
        self._must_be_sound()
        if text == self.body:
            return self
        body = clean(text).replace("\n", self.newline)
        fence = self.fence + self.newline if self.fence and not self.fence.endswith("\n") else self.fence
        head = self.head or ("\ufeff" if self.bom else "")
        return parse(_encode(head + self.block + fence + body))

    def _must_be_sound(self) -> None:
        if self.broken is not None:
            raise MemtuiError(f"the frontmatter is broken: {self.broken}", "fix it in an editor: it is never rewritten")

    def _replaced(self, block: str, expected: dict[str, object]) -> "Document":
        head, fence = self.head, self.fence
        if not self.has_frontmatter:
            head, fence = ("\ufeff" if self.bom else "") + FENCE + self.newline, FENCE + self.newline
            if self.rest and not self.rest.startswith(("\n", "\r\n")):
                fence += self.newline
        new = parse(_encode(head + block + fence + self.rest))
        if new.broken is not None or new.fields != expected or new.rest[-len(self.rest) :] != self.rest:
            raise edit.refusal()
        return new


def clean(text: str) -> str:
    """Return text that can be written to a file: lone surrogates become U+FFFD, line ends `\n`."""
    text = text.replace("\r\n", "\n")
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _below(value: object, key: str) -> object:
    """Return what a mapping has under a key, or a list at a place; None if it has nothing there."""
    if isinstance(value, list):
        return value[int(key)] if key.isdecimal() and int(key) < len(value) else None
    return value.get(key) if isinstance(value, dict) else None


def _put(fields: dict[str, object], path: Sequence[str], value: object) -> None:
    for at, key in enumerate(path[:-1]):
        below = fields.get(key)
        if isinstance(below, list) and isinstance(item := _below(below, path[at + 1]), dict):
            _put(item, path[at + 2 :], value)
            return
        if not isinstance(below, dict):
            if below not in (None, ""):
                raise MemtuiError(f"`{key}` has a value of its own", "change it in an editor")
            below = fields[key] = {}
        fields = below
    fields[path[-1]] = value


def _drop(fields: dict[str, object], path: Sequence[str]) -> None:
    below = fields[path[0]]
    if len(path) > 1 and isinstance(below, dict):
        _drop(below, path[1:])
    if len(path) == 1 or not below:
        del fields[path[0]]


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _shown(text: str) -> str:
    """Return text for a person: bytes that are not UTF-8 become U+FFFD."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _plain(value: object, budget: list[int]) -> object:
    """Copy the tree that PyYAML read. Raises ValueError if it is endless, huge, or has keys that are not text."""
    budget[0] -= 1
    if budget[0] < 0:
        raise ValueError("too many values")
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("a key that is not text")
        return {clean(key): _plain(below, budget) for key, below in value.items()}
    if isinstance(value, list):
        return [_plain(below, budget) for below in value]
    return clean(str(value))


def _pyyaml(block: str) -> tuple[dict[str, object] | None, bool]:
    """Return the fields that PyYAML reads, None if it can't, and whether the block may be YAML nevertheless."""
    if len(block) > PYYAML_LIMIT:
        return None, True
    try:
        import yaml
    except ImportError:
        return None, False
    try:
        value = _plain(yaml.load(block, yaml.BaseLoader), [NODE_LIMIT])  # noqa: S506  BaseLoader makes only text
    except yaml.YAMLError:
        return None, False
    except Exception:  # an overflow by a huge number or deep nesting
        return None, True
    return (value, True) if isinstance(value, dict) else (None, True)


def _read_fields(block: str, first_line: int) -> tuple[dict[str, object], str | None, bool]:
    """Read the fields of a block, why it is broken if it is, and whether quotes make it YAML."""
    block = block.replace("\r\n", "\n")
    try:
        return subset_hot.load(block), None, False
    except NotInSubsetError as error:
        broken = f"line {first_line + error.line}: {error.reason}"
        strict, may_be_yaml = (None, False) if error.reason == subset_hot.AFTER_QUOTE else _pyyaml(block)
    if strict is not None:
        return strict, None, False
    quoted = block if may_be_yaml else subset_hot.client_quoted(block)
    if quoted != block:
        try:
            return subset_hot.load(quoted), None, True
        except NotInSubsetError:
            if (strict := _pyyaml(quoted)[0]) is not None:
                return strict, None, True
    return subset_hot.read_loosely(_shown(block)), broken, False


def _notes(block: str, lines: Sequence[str], fields: Mapping[str, object]) -> tuple[str, ...]:
    notes, keys = [], set[str]()
    heads = {line.partition(":")[0].strip(" '\"") for line in lines}
    is_odd = len(heads) < len(lines) or " #" in block or FENCE in block
    for n, line in enumerate(lines if is_odd else (), 2):
        key, _ = (None if is_filler(line) else split_key(line)) or ("", 0)
        if key in keys:
            notes.append(f"line {n}: `{key}` appears twice; the last one is used")
        if key in ("name", "description") and line.count(" #") > str(fields.get(key)).count(" #"):
            notes.append(f"line {n}: what follows ` #` is a comment and not part of `{key}`")
        if FENCE in line:
            notes.append(f"line {n}: Claude Code takes `---` for the end of the frontmatter")
        if key:
            keys.add(key)
    if isinstance(fields.get("metadata"), dict) and "type" in fields and "type" in fields["metadata"]:  # type: ignore[operator]
        notes.append("`type` is at the top level and in `metadata`; the latter is used")
    return tuple(notes)


def _body(rest: str) -> str:
    return _shown(rest).replace("\r\n", "\n")


def parse(data: bytes) -> Document:
    """Parse a file of any content. Never raises; see `Document.broken`."""
    doc = _parse(data)
    line = head_hot.first_conflict(data)
    return replace(doc, broken=f"git's conflict markers are in it, from line {line} on") if line else doc


def _parse(data: bytes) -> Document:
    text = data.decode("utf-8", "surrogateescape")
    bom = text.startswith("\ufeff")
    start = 1 if bom else 0
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or "\0" in text:
        return Document(data, broken="not a text file in UTF-8", body=_body(text), rest=text)
    opened = start + len(text[start:]) - len(text[start:].lstrip(BLANK)) if text[start : start + 1] in BLANK else start
    lines, fence, rest_at = _split(text, opened)
    end = text.find("\n")
    newline = "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"
    if lines is None or not (fence or (opened == start and any(split_key(line) for line in lines))):
        return Document(data, bom, newline, body=_body(text[start:]), rest=text[start:])
    keyed = any(split_key(line, indent_of(line)) for line in lines if not is_filler(line))
    if not keyed and not all(is_filler(line) for line in lines):
        # A horizontal rule above some prose, and another one below.
        return Document(data, bom, newline, body=_body(text[start:]), rest=text[start:])
    head_end = text.index("\n", opened) + 1
    first_line = text.count("\n", 0, head_end) + 1
    block = "".join(lines)
    fields, broken, unquoted = _read_fields(block, first_line)
    if not fence:
        broken = "the frontmatter has no closing `---`"
    elif opened > start:
        broken = "there is something blank above the frontmatter: Claude Code does not see it"
    rest = text[rest_at:]
    notes = _notes(block, lines, fields)
    parts = (text[:head_end], block, fence, rest, subset_hot.client_quoted(block) if unquoted else "")
    return Document(data, bom, newline, True, fields, broken, _body(rest), notes, *parts)


def _split(text: str, opened: int) -> tuple[list[str] | None, str, int]:
    """Return the lines between the fences (None: no fence), the closing fence, and where the body starts."""
    at = text.find("\n", opened) + 1
    if not at or text[opened:at].rstrip(BLANK) != FENCE:
        return None, "", 0
    end = text.find(f"\n{FENCE}\n", at - 1)
    if end >= at and text.find(f"\n{FENCE}", at - 1) == end:  # as in most
        return [f"{line}\n" for line in text[at:end].split("\n")], f"{FENCE}\n", end + len(FENCE) + 2
    lines: list[str] = []
    blank_at = -1
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        line = text[at:end]
        at = end
        if line.startswith(FENCE) and line.rstrip(BLANK) == FENCE:
            return lines, line, at
        if blank_at < 0 and not line.strip(BLANK):
            blank_at = len(lines)
        lines.append(line)
    if blank_at < 0:
        return lines, "", len(text)
    return lines[:blank_at], "", len(text) - sum(map(len, lines[blank_at:]))
