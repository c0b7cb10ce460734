"""Session transcripts of the client, read as they are found: JSON Lines with everything that goes wrong in them.

Real files hold torn lines, two objects glued together, `//` comments, NUL bytes, records without a type, other agents'
formats, and single lines of megabytes. What can't be read is skipped and counted, and nothing is read twice: a reader
goes on from a byte offset. A settling hook imports this, so `json` and `re` stay out until a line needs them.
"""

import posix

from memtui.core.base import clock, fastjson, fs, paths, session_state

CHUNK = 1 << 20
LOOK_BYTES = 1 << 16
# A longer line is passed over without being held in memory. The longest seen in the wild had 2.1 MB.
MAX_LINE = 16 << 20
# How many later beginnings of an object are tried in a line whose first part is torn.
SALVAGE_TRIES = 4
RECORD_STARTS = ('{"type"', '{"parentUuid"')
# How far from its end a transcript is looked at first, and how long before a moment its records may begin.
RECENT_BYTES = 1 << 19
RECENT_MARGIN_SECONDS = 300.0
# So many sessions are looked for one by one.
LOOKED_FOR = 8
BLANKS = b" \t\r\n\0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Reader:
    """The records of a transcript from a byte offset on, as an iterable of dicts.

    `offset` is where the next reading begins: behind the last complete line. `skipped` counts lines that hold no
    record, `torn` says that the file ends within a line (its writer is not done, or died). `keep` sees the bytes of a
    line and spares its parsing. At most `limit` bytes are read; `whole` says whether that came to the end of the file.
    Iterating raises OSError where the file can't be read; a FIFO or device is refused.
    """

    def __init__(
        self,
        path: str,
        start: int = 0,
        keep: "Callable[[bytes], bool] | None" = None,
        max_line: int = MAX_LINE,
        limit: "int | None" = None,
    ) -> None:
        self.path = path
        self.offset = start
        self.skipped = 0
        self.torn = False
        self.whole = False
        self._limit = limit
        self._keep = keep
        self._max_line = max_line

    def __iter__(self) -> "Iterator[dict[str, object]]":
        fd = fs.open_regular(self.path, ours=True)
        try:
            yield from self._read(fd)
        finally:
            posix.close(fd)

    def _read(self, fd: int) -> "Iterator[dict[str, object]]":
        at = self.offset
        pieces: list[bytes] = []
        held = 0
        dropped = False
        end_at = -1 if self._limit is None else at + self._limit
        while chunk := posix.pread(fd, CHUNK if end_at < 0 else min(CHUNK, end_at - at), at):
            begin = 0
            while (end := chunk.find(b"\n", begin)) >= 0:
                line = b"" if dropped else b"".join([*pieces, chunk[begin:end]])
                begin = end + 1
                self.offset = at + begin
                self.skipped += dropped
                pieces, held, dropped = [], 0, False
                yield from self._records(line)
            held += len(chunk) - begin
            if held > self._max_line:
                dropped, pieces = True, []
            elif not dropped:
                pieces.append(chunk[begin:])
            at += len(chunk)
        if at == end_at and posix.pread(fd, 1, at):
            return
        self.whole = True
        # A last line without a line feed is complete if it parses: only its own end closes a JSON object.
        line = b"".join(pieces)
        self.torn = dropped or bool(line.strip(BLANKS))
        if self.torn and not dropped:
            record = _parse_one(line)
            if record is not None:
                self.offset, self.torn = at, False
                if self._keep is None or self._keep(line):
                    yield record

    def _records(self, line: bytes) -> "Iterator[dict[str, object]]":
        line = line.strip(BLANKS)
        if not line or line.startswith(b"//") or (self._keep is not None and not self._keep(line)):
            return
        record = _parse_one(line)
        if record is not None:
            yield record
            return
        found = _parse_many(line)
        self.skipped += not found
        yield from found


def line_start(path: str, at: int) -> int:
    """The first byte of the first line that begins at a byte or behind it. Raises OSError."""
    if at <= 0:
        return 0
    fd = fs.open_regular(path)
    try:
        at -= 1
        while chunk := posix.pread(fd, LOOK_BYTES, at):
            end = chunk.find(b"\n")
            if end >= 0:
                return at + end + 1
            at += len(chunk)
        return at
    finally:
        posix.close(fd)


def holds(path: str, needle: bytes, end: int, limit: "int | None" = None) -> bool:
    """Whether some bytes stand in a file before byte `end`, at most `limit` bytes before it. Raises OSError."""
    fd = fs.open_regular(path)
    try:
        at, after = end, b""
        least = 0 if limit is None else max(0, end - limit)
        while at > least:
            begin = max(least, at - CHUNK)
            chunk = posix.pread(fd, at - begin, begin)
            if needle in chunk + after:
                return True
            at, after = begin, chunk[: len(needle)]
        return False
    finally:
        posix.close(fd)


def records(path: str, start: int = 0) -> "Iterator[tuple[int, dict[str, object]]]":
    """(offset behind the record's line, record) of each record from the byte `start` on. Raises OSError."""
    reader = Reader(path, start)
    for record in reader:
        yield reader.offset, record


def _parse_one(line: bytes) -> "dict[str, object] | None":
    line = line.strip(BLANKS)
    if not line.endswith(b"}"):
        return None
    try:
        value = fastjson.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _parse_many(line: bytes) -> "list[dict[str, object]]":
    """The objects of a line that is not one JSON object: glued ones, raw control characters, a torn beginning."""
    if b"{" not in line:
        return []
    import json

    decoder = json.JSONDecoder(strict=False)
    text = line.replace(b"\0", b"").decode("utf-8", "replace").strip("\ufeff \t\r\n")
    found: list[dict[str, object]] = []
    at = 0
    while text.startswith("{", at):
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        found.append(value)
        while text[at : at + 1] in {" ", "\t", ","}:
            at += 1
    # What follows a torn record reaches to the end of the line; an object inside the torn one does not.
    for mark in RECORD_STARTS if at < len(text) else ():
        for _ in range(SALVAGE_TRIES):
            at = text.find(mark, at + 1)
            if at < 0:
                break
            try:
                value, end = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                continue
            if end == len(text):
                return [*found, value]
        at = 0
    return found


def text_of(value: "object") -> str:
    """A field as text: lone surrogates, which no file could hold, become `?`; anything but a string is empty."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def blocks(record: "dict[str, object]") -> "list[dict[str, object]]":
    """The content blocks of a user or assistant record; a plain string is one `text` block."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def result_text(block: "dict[str, object]") -> str:
    """The text of a `tool_result` block, whose content is a string or a list of blocks."""
    content = block.get("content")
    if isinstance(content, list):
        return "\n".join([text_of(part.get("text")) for part in content if isinstance(part, dict)])
    return text_of(content)


def attachment(record: "dict[str, object]") -> "dict[str, object]":
    """The attachment of a record, `{}` for a record of another kind."""
    found = record.get("attachment") if record.get("type") == "attachment" else None
    return found if isinstance(found, dict) else {}


def attachment_texts(found: "dict[str, object]") -> "list[str]":
    """The texts an attachment put before the model: `content` is a list with one text a hook, or one string."""
    content = found.get("content")
    if isinstance(content, str):
        return [text_of(content)]
    return [text_of(part) for part in content if isinstance(part, str)] if isinstance(content, list) else []


def attachments(path: str, start: int = 0) -> "Iterator[dict[str, object]]":
    """The hook attachments of a transcript, each with its record's `timestamp`. Raises OSError."""
    for record in Reader(path, start, keep=lambda line: b"attachment" in line and b"hook_" in line):
        found = attachment(record)
        if text_of(found.get("type")).startswith("hook_"):
            yield {**found, "timestamp": record.get("timestamp")}


def cwd(path: str, limit: int = 200) -> "str | None":
    """The working directory that the first records of a transcript name. Raises OSError."""
    for number, record in enumerate(Reader(path)):
        found = text_of(record.get("cwd"))
        if found.startswith("/"):
            return found
        if number >= limit:
            break
    return None


def recent_start(path: str, seconds: float, limit: "int | None" = None) -> "int | None":
    """A byte from which a transcript holds everything written since `seconds` (of the epoch), or 0: what spares a hook
    the reading of 100 MB. Records are appended in the order of time but for moments, hence a margin. None if that would
    be more than `limit` bytes from the end."""
    try:
        size = posix.stat(path).st_size
        tail = RECENT_BYTES
        while tail < size and (limit is None or tail <= limit):
            begin = size - tail
            for record in Reader(path, line_start(path, begin)):
                told = clock.parse(record.get("timestamp"))
                if told is not None:
                    if told < seconds - RECENT_MARGIN_SECONDS:
                        return begin
                    break
            tail *= 4
    except OSError:
        return 0
    return 0 if limit is None or size <= limit else None


def path_of(record: "dict[str, object]", config_dir: str, finder: "Finder | None" = None) -> "str | None":
    """Where the transcript of a delivery is: as the client said, else wherever its session's file lies now.

    With `agent_id`: the subagent's own transcript, if there is one. `finder`: of who asks for many.
    """
    named = text_of(record.get("transcript"))
    path: str | None = named if named.startswith("/") and _is_file(named) else None
    wanted = text_of(record.get("session_id"))
    if path is None and wanted and session_state.safe(wanted) == wanted:
        path = finder.find(wanted) if finder else find(config_dir, wanted)
    agent = text_of(record.get("agent_id"))
    if path and agent and session_state.safe(agent) == agent:
        own = f"{path.removesuffix('.jsonl')}/subagents/agent-{agent}.jsonl"
        beside = f"{paths.parent(path)}/agent-{agent}.jsonl"  # where older clients kept it
        return own if _is_file(own) else beside if _is_file(beside) else path
    return path


def find(config_dir: str, session_id: str) -> "str | None":
    """The newest `<config>/projects/*/<session id>.jsonl`: a session that changed its directory has moved."""
    base = config_dir + "/projects"
    best: tuple[float, str] | None = None
    try:
        names = posix.listdir(base)
    except OSError:
        return None
    for name in names:
        path = f"{base}/{name}/{session_id}.jsonl"
        try:
            changed = posix.stat(path).st_mtime
        except OSError:
            continue
        if best is None or changed > best[0]:
            best = (changed, path)
    return best[1] if best else None


class Finder:
    """Finds the transcripts of many sessions among thousands of projects: a few are looked for one by one, for more all
    directories are read once."""

    def __init__(self, config_dir: str) -> None:
        self._config = config_dir
        self._asked = 0
        self._all: dict[str, str] | None = None

    def find(self, session_id: str) -> "str | None":
        """As `find`."""
        self._asked += 1
        if self._asked <= LOOKED_FOR:
            return find(self._config, session_id)
        if self._all is None:
            self._all = self._read()
        path = self._all.get(session_id)
        # Of several the newest counts: a name that is there once is sure.
        return find(self._config, session_id) if path == "" else path

    def _read(self) -> "dict[str, str]":
        found: dict[str, str] = {}
        base = self._config + "/projects"
        for directory in _listed(base):
            for name in _listed(f"{base}/{directory}"):
                if name.endswith(".jsonl"):
                    key = name.removesuffix(".jsonl")
                    found[key] = "" if key in found else f"{base}/{directory}/{name}"
        return found


def _listed(directory: str) -> "list[str]":
    try:
        return posix.listdir(directory)
    except OSError:
        return []


def _is_file(path: str) -> bool:
    try:
        return posix.stat(path).st_mode & 0o170000 == 0o100000
    except OSError:
        return False
