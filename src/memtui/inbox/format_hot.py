"""The format of inbox files (docs/file-formats.md): entries between two comments; text outside is one, too."""

import posix

from memtui.base import clock_hot, fs_hot, ids_hot

# The files and the directory in the directory of an inbox.
FILES = {"guidance": "guidance.md", "updates": "pending-updates.md", "items": "pending-items.md"}
NOUNS = {"guidance": "note", "updates": "draft", "items": "todo"}
LOCK_NAME = ".lock"
CLAIMED = "claimed"
REJECTED = "rejected.jsonl"  # the words that a person rejected for good, which are not extracted again
# How a line of evidence in a pending update begins (drafts.py).
EVIDENCE = ("> agent: ", "> you: ")
OPEN, CLOSE, END = "<!-- memtui", "<!-- /memtui -->", "-->"
NO_ENTRY = f"{OPEN} {END}\n{CLOSE}\n"  # an empty entry, which keeps the text before it apart from the text behind it
MAX_BYTES = 1 << 20  # a longer inbox file is not read: something that is no note, such as a log, was written to it
# A draft below this probability of being worth keeping for good that was met only once is likely a one-off.
LASTING = 0.2
DOUBTFUL = 0.6  # the confidence from which one does whose likelihood to last nobody has scored
# Sessions get a draft before a person has reviewed it from this probability to last on, if it is as sure as this.
DELIVERED, DELIVERED_SURE = 0.3, 0.75
IMPORTED = "imported"  # the kind of a draft that was imported
# Kinds of drafts that nobody scores, and that no session gets before a person did.
HELD = frozenset({IMPORTED, "write", "rewrite"})
BULLETS = ("- ", "* ", "+ ")


class Entry:
    """One entry: `raw` is its source, `start` its offset in characters. Hand-written: no `fields`, a hash as `id`."""

    __slots__ = ("fields", "id", "raw", "start", "text")

    def __init__(self, entry_id: str, fields: "dict[str, str]", text: str, raw: str, start: int) -> None:
        self.id, self.fields, self.text, self.raw, self.start = entry_id, fields, text, raw, start

    def flag(self, name: str) -> bool:
        return self.fields.get(name, "").lower() in {"yes", "true", "1"}

    def count(self, name: str, default: int = 0) -> int:
        """Return a field that holds a whole number; `default` if it does not."""
        value = self.fields.get(name, "")
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else default

    def time(self) -> "float | None":
        """Return when it was written, in seconds since the epoch; None if neither its fields nor its id say."""
        return clock_hot.parse(self.fields.get("time")) or ids_hot.id_time(self.id)

    def expired(self, now: float) -> bool:
        """Whether its `expires` lies in the past; False if that can't be parsed."""
        expires = clock_hot.parse(self.fields.get("expires"))
        return expires is not None and expires <= now

    def fraction(self, name: str) -> "float | None":
        """Return a field that holds a number from 0 to 1; None if it does not."""
        try:
            number = float(self.fields.get(name, ""))
        except ValueError:
            return None
        return number if 0 <= number <= 1 else None

    def one_off(self) -> bool:
        """Whether it is a draft met once and hardly worth keeping: by its chance to last, else its confidence."""
        if self.count("seen", 1) > 1:
            return False
        if self.flag("unlikely"):
            return True
        lasting, sure = self.fraction("durable"), self.fraction("confidence")
        return lasting < LASTING if lasting is not None else sure is not None and sure < DOUBTFUL

    def for_sessions(self) -> bool:
        """Whether sessions get it unreviewed, if it is a draft: both scores say so, or a person or script wrote it."""
        lasting, sure = self.fraction("durable"), self.fraction("confidence")
        if "machine" in self.fields or (lasting is None and sure is None):
            return "machine" not in self.fields and self.fields.get("kind") not in HELD
        least = DELIVERED if self.count("seen", 1) == 1 else LASTING
        return (sure or 0.0) >= DELIVERED_SURE and (lasting or 0.0) >= least

    def snoozed(self, now: float) -> bool:
        """Whether its `until` lies in the future, so that it waits unseen; False if that can't be parsed."""
        until = clock_hot.parse(self.fields.get("until"))
        return until is not None and until > now


def scope_of(directory: str) -> str:
    """Return the scope of the inbox at `directory`: project or global."""
    return "global" if directory.endswith("/global") else "project"


def decode(data: bytes) -> str:
    """Return the text of an inbox file; bytes that are not UTF-8 survive a round trip, as surrogates."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text, as the inverse of `decode`; surrogates that never were bytes become `?`."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def parse_fields(line: str) -> "dict[str, str]":
    """Parse the fields of a first line without its comment marks: `key=value key="two words"`; drop other words."""
    fields: dict[str, str] = {}
    line = line.replace("\t", " ")
    at, size = 0, len(line)
    while at < size:
        if line[at] == " ":
            at += 1
            continue
        equals = line.find("=", at)
        blank = line.find(" ", at)
        if equals < 0:
            break
        if 0 <= blank < equals:
            at = blank
            continue
        key = line[at:equals]
        at = equals + 1
        if at < size and line[at] == '"':
            value, at = _quoted(line, at + 1)
        else:
            blank = line.find(" ", at)
            blank = size if blank < 0 else blank
            value, at = line[at:blank], blank
        fields[key] = value
    return fields


def _quoted(line: str, at: int) -> "tuple[str, int]":
    parts = []
    while at < len(line) and line[at] != '"':
        if line[at] == "\\" and at + 1 < len(line):
            at += 1
        parts.append(line[at])
        at += 1
    return "".join(parts), at + 1


def render_fields(fields: "dict[str, str]") -> str:
    """Render fields, the inverse of `parse_fields`. Line ends, control characters and `-->` become blanks."""
    words = []
    for key, raw in fields.items():
        value = "".join([c if c.isprintable() else " " for c in raw])
        while END in value:
            value = value.replace(END, " ")
        if not value or " " in value or '"' in value or "\\" in value:
            value = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        words.append(key + "=" + value)
    return " ".join(words)


def _escape(line: str, step: int) -> str:
    """Add (step 1) or remove (step -1) the backslash that keeps a line of text from being read as one of our marks."""
    if not line.startswith("<!--"):
        return line
    rest = line[4:]
    bare = rest.lstrip("\\")
    if not bare.startswith((" memtui", " /memtui")):
        return line
    return "<!--" + "\\" * max(0, len(rest) - len(bare) + step) + bare


def render(fields: "dict[str, str]", text: str) -> str:
    """Render an entry as in the file, with its final line feed."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    return f"{OPEN} {render_fields(fields)} {END}\n" + "\n".join([_escape(line, 1) for line in lines]) + f"\n{CLOSE}\n"


def standalone(entry: Entry) -> str:
    """Return an entry's source such that it stays the same entry whatever is written before or behind it."""
    if entry.fields.get("id") and entry.raw.rstrip("\r\n").rpartition("\n")[2].rstrip() == CLOSE:
        return entry.raw if entry.raw.endswith("\n") else entry.raw + "\n"
    return render({**entry.fields, "id": entry.id}, entry.text)


def _is_open(line: str) -> bool:
    return line.startswith(OPEN + " ") and line.rstrip().endswith(END)


def parse(source: str, items: bool = False) -> "list[Entry]":
    """Parse the entries of an inbox file in order; `items`: loose text is split into list items. Never raises."""
    entries: list[Entry] = []
    at = loose = 0
    begin = -1  # offset of the open entry's first line, or -1
    fields: dict[str, str] = {}
    lines: list[str] = []

    def close(end: int) -> None:
        text = "\n".join([_escape(line, -1) for line in lines]).strip("\n")
        raw = source[begin:end]
        if text.strip():
            entries.append(Entry(fields.get("id") or "h" + ids_hot.content_hash(text), fields, text, raw, begin))

    for line in source.split("\n"):
        following = at + len(line) + 1
        bare = line.rstrip("\r") if at else line.rstrip("\r").removeprefix("\ufeff")
        if _is_open(bare):
            if begin >= 0:
                close(at)
            else:
                entries.extend(_loose(source, loose, at, items))
            begin, lines = at, []
            fields = parse_fields(bare.rstrip()[len(OPEN) : -len(END)])
        elif begin >= 0 and bare.rstrip() == CLOSE:
            close(min(following, len(source)))
            begin, loose = -1, min(following, len(source))
        elif begin >= 0:
            lines.append(bare)
        at = following
    if begin >= 0:
        close(len(source))
    else:
        entries.extend(_loose(source, loose, len(source), items))
    return entries


def _loose(source: str, start: int, end: int, items: bool) -> "list[Entry]":
    chunk = source[start:end]
    if not chunk.replace("\ufeff", "").strip():
        return []
    if not items:
        text = chunk.replace("\r\n", "\n").strip("\ufeff \t\r\n")
        return [Entry("h" + ids_hot.content_hash(text), {}, text, chunk, start)]
    entries: list[Entry] = []
    at = start
    open_ended = False  # whether an indented line goes on with the last item
    for line in chunk.split("\n"):
        size = min(len(line) + 1, end - at)
        text = line.strip().strip("\ufeff").strip()
        if line[:1] in {" ", "\t"} and text and open_ended and not text.startswith(BULLETS):
            last = entries[-1]
            last.text += "\n" + text
            last.raw = source[last.start : at + size]
            last.id = "h" + ids_hot.content_hash(last.text)
        elif text.startswith(("#", "<!--")):
            open_ended = False
        elif text.rstrip("-*+"):
            state: dict[str, str] = {}
            if text.startswith(BULLETS):
                text = text[2:].lstrip()
            if text[:3] in {"[ ]", "[x]", "[X]"}:
                state = {} if text[1] == " " else {"state": "done"}
                text = text[3:].lstrip()
            open_ended = bool(text)
            if text:
                entries.append(Entry("h" + ids_hot.content_hash(text), state, text, source[at : at + size], at))
        at += len(line) + 1
    return entries


def read(path: str, items: bool = False) -> "list[Entry]":
    """Read the entries of an inbox file, as `source` reads it."""
    return parse(source(path), items)


def source(path: str) -> str:
    """Read an inbox file; empty if it is missing, or too long. Raises OSError for a file that can't be read."""
    try:
        fd = fs_hot.open_regular(path, ours=True)
    except FileNotFoundError:
        return ""
    try:
        data = posix.pread(fd, MAX_BYTES + 1, 0)
    finally:
        posix.close(fd)
    return decode(data) if len(data) <= MAX_BYTES else ""


def is_too_long(path: str) -> bool:
    """Whether an inbox file is over MAX_BYTES, so that nothing in it is read."""
    try:
        stat = posix.stat(path)
    except OSError:
        return False
    return stat.st_size > MAX_BYTES and stat.st_mode & fs_hot.S_IFMT == fs_hot.S_IFREG


def is_unfinished(source: str) -> bool:
    """Whether the last entry of a text lacks its end mark, so that it ends where the next one begins."""
    end = len(source)
    while end > 0:
        begin = source.rfind("\n", 0, end) + 1
        line = source[begin:end].rstrip()
        if _is_open(line) or line == CLOSE:
            return line != CLOSE
        end = begin - 1
    return False
