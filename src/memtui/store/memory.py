"""One memory: a Markdown file with frontmatter, parsed and written."""

import errno
import os
import re
import sys
import tempfile
import threading
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from memtui.base import clock_hot, fs_hot, paths_hot, visible_hot
from memtui.base.errors import MemtuiError, NotFoundError, UsageError
from memtui.store import links
from memtui.store.frontmatter import document, edit, head_hot

TYPES = ("user", "feedback", "project", "reference", "tool")
# Only the beginning of a larger file is shown, as a broken memory.
MAX_BYTES = 8 << 20
SLUG_LIMIT = 80
WINDOW = 1 << 16  # the bytes of a spool that are read at once
# The fields that are true or false, and how that is written.
SWITCHES = ("pinned", "pin")
TRUE, FALSE = {"true", "yes", "1", "on"}, {"false", "no", "0", "off"}
CODE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*?^ {0,3}(?P=fence)[`~]*[ \t]*$|.*)|`[^`\n]+`", re.DOTALL | re.MULTILINE
)


@dataclass(slots=True)  # not frozen, which takes three times as long: thousands are made
class Memory:
    """A memory file as read. `broken` says why it can't be changed; the other fields hold what could be read of it."""

    path: str
    scope_label: str
    name: str  # from the frontmatter, else the file's stem
    description: str  # from the frontmatter, else its title, else the first line of a file without frontmatter
    type: str
    fields: dict[str, object] = field(repr=False)
    body: str = field(repr=False)
    size: int  # bytes
    mtime: float  # seconds since the epoch
    broken: str | None = None
    has_frontmatter: bool = True
    links: tuple[str, ...] = ()  # what they name, as `links.targets`
    origin_session: str = ""
    modified: str = ""  # as written in the file, in any form; the file's own time is `mtime`
    notes: tuple[str, ...] = ()
    raw: bytes = field(default=b"", repr=False)
    pinned: bool = False
    checks: tuple[str, ...] = ()  # its own

    spool: "Spool | None" = field(default=None, init=False, repr=False, compare=False)  # has `raw` of a slim one
    number: int = field(default=0, init=False, repr=False, compare=False)  # there

    def slim(self, spool: "Spool | None" = None) -> None:
        """Hold body and fields no more: they are read from `raw` whenever they are asked for, that from a spool."""
        del self.body, self.fields
        if spool is not None:
            with suppress(OSError):  # without room on the disk it stays here
                self.spool, self.number = spool, spool.put(self.raw)
                del self.raw

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what a slim memory does not hold."""
            if name == "raw" and self.spool is not None:
                return self.spool.read(self.number)
            if name not in ("body", "fields"):
                raise AttributeError(name)
            return getattr(document.parse(self.raw[:MAX_BYTES]), name)

    @property
    def text(self) -> str:
        """What stands below the frontmatter: as `body`, but never parsed."""
        text = self.raw.decode("utf-8", "replace")
        return text.partition("\n---")[2] if self.has_frontmatter else text

    @property
    def stem(self) -> str:
        return os.path.basename(self.path).removesuffix(".md")

    @property
    def ref(self) -> str:
        """The reference that commands accept: `scope:stem`."""
        return f"{self.scope_label}:{self.stem}"

    def links_to(self, other: "Memory") -> bool:
        """Whether a link of it names another memory, by its name or its file."""
        return any(links.leads_to(link, self.path, other.path, (other.name, other.stem)) for link in self.links)

    @property
    def changed_at(self) -> float:
        """When it was last changed, in seconds since the epoch: by `modified`, else the file's time."""
        modified = clock_hot.parse(self.modified)
        return self.mtime if modified is None else modified


_shared_size = lru_cache(1 << 12)(int)  # of 100,000 memories many have the same


class Spool:
    """The bytes of many memories as they were read, in a file without a name on the disk. Threads may share it."""

    def __init__(self) -> None:
        root = paths_hot.root(dict(os.environ))  # /tmp may be memory, and any other disk less private than this one
        self._file = tempfile.TemporaryFile(dir=root if os.path.isdir(root) else None)  # noqa: SIM115
        self._ends, self._window = array("Q", [0]), (0, b"")
        self._lock = threading.Lock()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def put(self, data: bytes) -> int:
        """Add some bytes, and return the number to read them by. Raises OSError, as on a full disk."""
        with self._lock:
            start = self._ends[-1]
            if os.pwrite(self._file.fileno(), data, start) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._ends.append(start + len(data))
            return len(self._ends) - 2

    def read(self, number: int) -> bytes:
        """Return bytes by their number; those after them, which are mostly asked for next, are read at once."""
        start, end = self._ends[number : number + 2]
        first, window = self._window
        if not first <= start <= end <= first + len(window):
            first, window = self._window = start, os.pread(self._file.fileno(), max(end - start, WINDOW), start)
        return window[start - first : end - first]


class LinkTargets:
    """The memories of a scope, by what links can name. A file goes before another memory's name."""

    def __init__(self, memories: Iterable[Memory]) -> None:
        self._memories = list(memories)
        self._key = links.key_of(self._memories[0].path if self._memories else "")
        self._found: dict[str, Memory] = {}
        for memory in self._memories:
            self._found.setdefault(self._key(memory.stem), memory)
        for memory in self._memories:
            self._found.setdefault(self._key(memory.name), memory)

    def of(self, target: str, source: str) -> Memory | None:
        """Return the memory that a target leads to from the one with the path `source`; None if it leads to none."""
        key = self._key(target)
        memory = self._found.get(key) or self._found.get(key.removesuffix(".md"))
        if memory is None and "/" in target:
            return next((mem for mem in self._memories if links.leads_to(target, source, mem.path, ())), None)
        return memory


def text_of(fields: Mapping[str, object], *keys: str) -> str:
    """Return the first of these fields that is a text; but for name and description, `metadata` has it first."""
    nested = fields.get("metadata")
    for key in keys:
        for place in (nested, fields) if isinstance(nested, dict) and key not in ("name", "description") else (fields,):
            value = place.get(key)
            if isinstance(value, str) and value:
                return value
    return ""


def flat(fields: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the fields of a frontmatter in words, nested ones by their dotted path."""
    for key, value in fields.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def read_memory(path: str, scope_label: str = "") -> Memory:
    """Read one file. A file that can't be read or is not text gives a broken memory. Raises NotFoundError."""
    try:
        status = os.stat(path)
        data = fs_hot.read_bytes(path, MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(f"there is no memory {path}", "see `memtui list`") from None
    except OSError as error:
        return unreadable(path, scope_label, f"it can't be read: {error.strerror or error}")
    return from_bytes(path, scope_label, data, size=status.st_size, mtime=status.st_mtime)


def unreadable(path: str, scope_label: str, problem: str) -> Memory:
    """Return a memory for a file that can't or must not be read, so that lists show it; `broken` is the problem."""
    stem = os.path.basename(path).removesuffix(".md")
    return Memory(path, scope_label, stem, "", "", {}, "", 0, 0.0, broken=problem, has_frontmatter=False)


def from_bytes(path: str, scope_label: str, data: bytes, *, size: int = -1, mtime: float = 0.0) -> Memory:
    """Parse a memory from bytes; name, description and type as hooks read them: a person trusts what they send."""
    doc = document.parse(data[:MAX_BYTES])
    name, description, kind = head_hot.summarise(data[:MAX_BYTES])
    if head_hot.first_conflict(data[:MAX_BYTES]):
        name = description = ""  # of two versions nobody knows which holds
    broken = f"larger than {MAX_BYTES >> 20} MB" if len(data) > MAX_BYTES else doc.broken
    fields = doc.fields
    differing = [
        f"Sessions get `{key}` as written; YAML reads “{fields[key]}”"
        for key, text in (("name", name), ("description", description))
        if fields.get(key) and text and fields[key] != text
    ]
    return Memory(
        path=path,
        scope_label=scope_label,
        name=name or os.path.basename(path).removesuffix(".md"),
        description=description,
        type=sys.intern(kind),
        fields=fields,
        body=doc.body,
        raw=data,
        size=_shared_size(len(data) if size < 0 else size),
        mtime=mtime,
        broken=broken,
        has_frontmatter=doc.has_frontmatter,
        links=links.targets(doc.body),
        origin_session=text_of(fields, "originSessionId"),
        modified=text_of(fields, "modified", "updated"),
        notes=(*doc.notes, *differing),
        pinned=is_pinned(fields),
        checks=tuple(own_checks(fields)),
    )


def new_memory_bytes(name: str, description: str, kind: str, body: str) -> bytes:
    """Return the bytes of a new file in the client's own form, without NULs, which would make it a binary file."""
    fields: dict[str, object] = {"name": one_line(name), "description": one_line(description)}
    if kind:
        fields["metadata"] = {"type": one_line(kind)}
    text = document.clean(body).replace("\0", "").strip("\n")
    text = f"\n{text}\n" if text else ""
    return f"---\n{edit.field_lines(fields)}---\n{text}".encode()


def one_line(text: str) -> str:
    """Put text on one line, as it can be written to a file."""
    return visible_hot.one_line(document.clean(text))


def set_type(doc: document.Document, kind: str) -> document.Document:
    """Set the type where the file has it, else below `metadata`. Raises MemtuiError on a broken document."""
    kind = one_line(kind)
    if not kind:
        raise UsageError("A type can't be empty.", f"Use one of {', '.join(TYPES)}, or a word of your own.")
    metadata = doc.fields.get("metadata")
    nested = isinstance(metadata, dict) and "type" in metadata
    flat = "type" in doc.fields
    if flat:
        doc = doc.with_field(("type",), kind)
    if nested or not flat:
        doc = doc.with_field(("metadata", "type"), kind)
    return doc


def is_value(key: str, value: str) -> bool:
    """Tell whether a field takes a value: a switch only one that is true or false."""
    return key.rpartition(".")[2] not in SWITCHES or not value or value.strip().casefold() in TRUE | FALSE


def is_pinned(fields: Mapping[str, object]) -> bool:
    """Tell whether every session begins with a memory with these fields, and recall counts it more."""
    return text_of(fields, *SWITCHES).strip().casefold() in TRUE


def own_checks(fields: Mapping[str, object]) -> list[str]:
    """Return the checks that a memory brings, in its field `verify`: a text, or a list of texts."""
    nested = fields.get("metadata")
    value = fields.get("verify") or (nested.get("verify") if isinstance(nested, dict) else None)
    texts = [text.strip() for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
    return list(filter(None, texts))


def with_fields(memory: Memory, fields: Mapping[str, str]) -> bytes:
    """Return a file with fields changed; a description that is the body's beginning follows it. Raises MemtuiError."""
    if memory.broken is not None:
        hint = "Fix the whole file in an editor."
        raise MemtuiError(f"{memory.path}: the frontmatter can't be changed: {memory.broken}", hint)
    doc = document.parse(memory.raw)
    if "body" in fields and is_first_sentence(memory):
        fields = {"description": head_hot.first_line(fields["body"]) or memory.description, **fields}
    if not memory.has_frontmatter and any(value for key, value in fields.items() if key != "body"):
        body = fields.get("body")
        about = head_hot.first_line(memory.body if body is None else body)
        fields = {"name": memory.stem, "description": about, **fields}
        if body is not None:
            fields["body"] = "\n" + body.lstrip("\n")
    for key, value in fields.items():
        if not is_value(key, value):
            raise UsageError(f"{key} is true or false, not “{value}”.", "An empty value removes the field.")
        if key == "body":
            doc = doc.with_body(value)
        elif key == "type":
            doc = set_type(doc, value)
        elif value:
            doc = doc.with_field(tuple(key.split(".")), value)
        else:
            doc = doc.without_field(tuple(key.split(".")))
    return doc.raw


def is_first_sentence(memory: Memory) -> bool:
    """Tell whether the description in a memory's frontmatter is the first sentence of its body."""
    sentence = head_hot.first_line(memory.body).rstrip(".…")
    return bool(sentence) and str(memory.fields.get("description", "")).rstrip(".…") == sentence


def slugify(text: str) -> str:
    """Return a file's stem for a name: words in lower case with `-` between, never empty, never `memory`."""
    words = "".join(c if c.isalnum() else " " for c in document.clean(text).lower()).split()
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word
        if len(longer.encode()) > SLUG_LIMIT:
            break
        slug = longer
    slug = slug or "".join(words).encode()[:SLUG_LIMIT].decode("utf-8", "ignore")
    return "a-memory" if slug in ("", "memory") else slug
