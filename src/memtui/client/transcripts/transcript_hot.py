"""Session transcripts of the client: JSON Lines, read with all the damage that real files have: torn lines, glued
objects, `//` comments, NUL bytes, other agents' formats, single lines of megabytes. What can't be read is skipped, and
nothing is read twice: a reader continues from a byte offset. Hook path: only a line that needs it imports `json`."""

import posix

from memtui.base import clock_hot, fastjson_hot, fs_hot, paths_hot, session_state_hot
from memtui.client.agents import agents_hot

CHUNK = 1 << 20
LOOK_BYTES = 1 << 16
# Bytes. A longer line loses its images; one that is too long even then is skipped: a prompt can hold several of 5 MB.
LONG_LINE, MAX_LINE = 4 << 20, 16 << 20
# A block of that many bytes within one string is an image's, and of it only so many at its ends are kept.
BLOCK, BLOCK_ENDS = 1 << 16, 8
# Later beginnings of a record that are tried in a line whose first part is torn.
SALVAGE_TRIES = 4
RECORD_STARTS = ('{"type"', '{"parentUuid"', '{"uuid"', '{"id"', '{"timestamp"')
# `recent_start`: bytes before the end where the search begins, and how far apart the times of neighbours may be.
RECENT_BYTES = 1 << 19
RECENT_MARGIN_SECONDS = 300.0
BLANKS = b" \t\r\n\0"
# Records that wait for their parent in `in_order`.
WAITING_MOST = 8
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from json import JSONDecoder

    from memtui.client.agents.agent_hot import Agent


class Reader:
    """The records of a transcript from a byte offset on, as an iterable of dicts. `offset`: behind the last complete
    line, where the next reading begins. Lines for whose bytes `keep` is false are not parsed. At most `limit` bytes are
    read; `whole`: that reached the end of the file. Iterating raises OSError; a FIFO or device is refused."""

    def __init__(
        self, path: str, start: int = 0, keep: "Callable[[bytes], bool] | None" = None, limit: "int | None" = None
    ) -> None:
        self.path = path
        self.offset = start
        self.whole = False
        self._limit = limit
        self._keep = keep

    def __iter__(self) -> "Iterator[dict[str, object]]":
        agent = agents_hot.of_session(self.path)
        return self._lines() if agent is None else self._translated(agent)

    def _translated(self, agent: "Agent") -> "Iterator[dict[str, object]]":
        keep, self._keep = self._keep, None
        translate = agent.translator_of(self.path)
        rows = agent.rows(self.path, self.offset, self._limit)
        for raw, offset in ((record, self.offset) for record in self._lines()) if rows is None else rows:
            self.offset = offset
            for record in translate(raw, offset):
                if keep is None or keep(fastjson_hot.dumps(record).encode()):
                    yield record
        if rows is not None:
            self.whole = self._limit is None or self.offset >= agent.status(self.path)[0]

    def _lines(self) -> "Iterator[dict[str, object]]":
        fd = fs_hot.open_regular(self.path, ours=True)
        try:
            yield from self._read(fd)
        finally:
            posix.close(fd)

    def _read(self, fd: int) -> "Iterator[dict[str, object]]":
        at = self.offset
        pieces: list[bytes] = []
        size = 0
        dropped = False
        end_at = -1 if self._limit is None else at + self._limit
        while chunk := posix.pread(fd, CHUNK if end_at < 0 else min(CHUNK, end_at - at), at):
            begin = 0
            while (end := chunk.find(b"\n", begin)) >= 0:
                line = chunk[begin:end]
                if size or dropped:
                    line = b"" if dropped else b"".join([*pieces, line])
                    pieces, size, dropped = [], 0, False
                begin = end + 1
                self.offset = at + begin
                yield from self._records(line)
            if not dropped:
                pieces.append(chunk[begin:])
                size += len(chunk) - begin
            if size > LONG_LINE:
                pieces = [_without_images(b"".join(pieces))]
                size = len(pieces[0])
                dropped = size > MAX_LINE
            if dropped:
                pieces, size = [], 0
            at += len(chunk)
        if at == end_at and posix.pread(fd, 1, at):
            return
        self.whole = True
        # A last line without a line feed is complete if it parses: only its own end closes a JSON object.
        line = b"".join(pieces)
        record = _parse_one(line)
        records = [record] if record is not None else _parse_glued(line)
        if records:
            self.offset = at
            if self._keep is None or self._keep(line):
                yield from records

    def _records(self, line: bytes) -> "list[dict[str, object]]":
        line = line.strip(BLANKS)
        if not line or line.startswith(b"//") or (self._keep is not None and not self._keep(line)):
            return []
        return parse_line(line)


def in_order(records: "Iterable[dict[str, object]]") -> "Iterator[dict[str, object]]":
    """Yield the records of a transcript, each behind its parent: the client may write an answer before its prompt."""
    uuids = {""}
    waiting: list[dict[str, object]] = []
    sorting = True
    for record in records:
        waiting.append(record)
        while sorting and (ready := next((each for each in waiting if text_of(each.get("parentUuid")) in uuids), None)):
            waiting.remove(ready)
            uuids.add(text_of(ready.get("uuid")))
            yield ready
        if not sorting or len(waiting) > WAITING_MOST:
            sorting = False
            yield from waiting
            waiting.clear()
    yield from waiting


def _without_images(line: bytes) -> bytes:
    """Return a long line without the insides of plain blocks: it stays the same JSON, with shorter strings."""
    pieces = []
    for block in [line[at : at + BLOCK] for at in range(0, len(line), BLOCK)]:
        is_image = len(block) == BLOCK and block.isascii() and b'"' not in block and b"\\" not in block
        pieces.append(block[:BLOCK_ENDS] + block[-BLOCK_ENDS:] if is_image else block)
    return b"".join(pieces)


def line_start(path: str, at: int) -> int:
    """Return where the line of the byte `at` begins, behind whose torn start a record may stand; the next line's
    beginning if that is over LOOK_BYTES before. Raises OSError."""
    agent = agents_hot.of_session(path)
    if at <= 0 or (agent is not None and not agent.has_lines):
        return max(0, at)
    fd = fs_hot.open_regular(path)
    try:
        begin = max(0, at - LOOK_BYTES)
        before = posix.pread(fd, at - begin, begin)
        if len(before) == at - begin and (begin == 0 or b"\n" in before):
            return begin + before.rfind(b"\n") + 1
        while chunk := posix.pread(fd, LOOK_BYTES, at):
            end = chunk.find(b"\n")
            if end >= 0:
                return at + end + 1
            at += len(chunk)
        return at
    finally:
        posix.close(fd)


def tail_start(path: str, size: int) -> int:
    """Return the offset of a record near a transcript's end, with about `size` bytes behind it. Raises OSError."""
    agent = agents_hot.of_session(path)
    if agent is not None and not agent.has_lines:
        return agent.tail(path, size)
    return line_start(path, agents_hot.status(path)[0] - size)


def holds(path: str, needle: bytes, end: int, limit: "int | None" = None) -> bool:
    """Tell whether a file holds `needle` in the `limit` bytes (None: any number) before `end`. Raises OSError."""
    fd = fs_hot.open_regular(path)
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


def parse_line(line: bytes) -> "list[dict[str, object]]":
    """Read the records of a line: one, several that are glued, or the one behind a torn beginning."""
    record = _parse_one(line)
    return _parse_many(line) if record is None else [record]


def _parse_one(line: bytes) -> "dict[str, object] | None":
    line = line.strip(BLANKS)
    if not line.endswith(b"}"):
        return None
    try:
        value = fastjson_hot.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _parse_glued(line: bytes) -> "list[dict[str, object]]":
    """Read the objects of a last line that has several, and is complete; none if it is torn."""
    line = line.strip(BLANKS)
    if not (line.startswith(b"{") and line.endswith(b"}")):
        return []
    import json

    text = line.decode("utf-8", "replace")
    records, at = _parse_run(text, json.JSONDecoder(strict=False))
    return records if at == len(text) else []


def _parse_run(text: str, decoder: "JSONDecoder") -> "tuple[list[dict[str, object]], int]":
    """Read the objects that stand one after another at the beginning of a text, and say where they end."""
    records: list[dict[str, object]] = []
    at = 0
    while text.startswith("{", at):
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        records.append(value)
        while text[at : at + 1] in {" ", "\t", ","}:
            at += 1
    return records, at


def _parse_many(line: bytes) -> "list[dict[str, object]]":
    """Read the objects of a line that is not one JSON object: glued ones, raw control characters, a torn beginning."""
    if b"{" not in line:
        return []
    import json

    decoder = json.JSONDecoder(strict=False)
    text = line.replace(b"\0", b"").decode("utf-8", "replace").strip("\ufeff \t\r\n")
    records, at = _parse_run(text, decoder)
    if text[at : at + 1] in {"}", "]", '"'}:
        records = records[:-1]  # it stands within an object that begins in a line before
    # A record after a torn one reaches to the end of the line; an object inside the torn one does not.
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
                return [*records, value]
        at = 0
    return records


def text_of(value: "object") -> str:
    """Return a field as text: lone surrogates, which no file could hold, become `?`; a value of another type, empty."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def blocks(record: "dict[str, object]") -> "list[dict[str, object]]":
    """Return the content blocks of a user or assistant record; a plain string is one `text` block."""
    content = fastjson_hot.table(record, "message").get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def result_text(block: "dict[str, object]") -> str:
    """Return the text of a `tool_result` block, whose content is a string or a list of blocks."""
    content = block.get("content")
    if isinstance(content, list):
        return "\n".join([text_of(part.get("text")) for part in content if isinstance(part, dict)])
    return text_of(content)


def attachment(record: "dict[str, object]") -> "dict[str, object]":
    """Return the attachment of a record; `{}` for a record of another kind."""
    return fastjson_hot.table(record, "attachment") if record.get("type") == "attachment" else {}


def attachment_texts(found: "dict[str, object]") -> "list[str]":
    """List the texts that an attachment gave the model: `content` is one string, or a list with one text per hook."""
    content = found.get("content")
    if isinstance(content, str):
        return [text_of(content)]
    return [text_of(part) for part in content if isinstance(part, str)] if isinstance(content, list) else []


def recent_start(path: str, seconds: float, limit: "int | None" = None) -> "int | None":
    """Return an offset from which a transcript holds all since `seconds`; None if over `limit`, 0 if unreadable."""
    try:
        tail = RECENT_BYTES
        while (limit is None or tail <= limit) and (begin := tail_start(path, tail)):
            for record in Reader(path, begin):
                time = clock_hot.parse(record.get("timestamp"))
                if time is not None:
                    if time < seconds - RECENT_MARGIN_SECONDS:
                        return begin
                    break
            tail *= 4
        return 0 if limit is None or not tail_start(path, limit) else None
    except OSError:
        return 0


def in_directory(directory: str) -> "list[tuple[float, str]]":
    """List the transcripts in a directory, with the time of their last change; none if it can't be read."""
    try:
        with posix.scandir(directory) as entries:
            files = [entry for entry in entries if entry.name.endswith(".jsonl") and entry.is_file()]
            return [(entry.stat().st_mtime, entry.path) for entry in files]
    except OSError:
        return []


def path_of(record: "dict[str, object]", config_dir: str, finder: "Finder | None" = None) -> "str | None":
    """Return the path of a delivery's transcript, a subagent's own with `agent_id`, wherever it is now."""
    named = text_of(record.get("transcript"))
    path: str | None = named if named.startswith("/") and agents_hot.exists(named) else None
    agent_of_session = agents_hot.of_session(named) if path is None and named else None
    if agent_of_session is not None:
        return next((place for place in agent_of_session.places(named) if agents_hot.exists(place)), None)
    if path is None:
        session = text_of(record.get("session_id"))
        path = finder.find(session) if finder is not None else find(config_dir, session)
    agent = text_of(record.get("agent_id"))
    if path and agent and session_state_hot.safe(agent) == agent:
        own = f"{path.removesuffix('.jsonl')}/subagents/agent-{agent}.jsonl"
        beside = f"{paths_hot.parent(path)}/agent-{agent}.jsonl"  # where older clients kept it
        return own if _is_file(own) else beside if _is_file(beside) else path
    return path


def find(config_dir: str, session_id: str) -> "str | None":
    """Return the newest `<config>/projects/*/<session id>.jsonl`; None if there is none, or the id leads elsewhere."""
    if not session_id or session_state_hot.safe(session_id) != session_id:
        return None
    base = config_dir + "/projects"
    newest: tuple[float, str] | None = None
    for name in paths_hot.names_in(base):
        path = f"{base}/{name}/{session_id}.jsonl"
        try:
            changed = posix.stat(path).st_mtime
        except OSError:
            continue
        if newest is None or changed > newest[0]:
            newest = (changed, path)
    return newest[1] if newest else None


class Finder:
    """The search for the transcripts of many sessions among thousands of projects: all directories are listed once."""

    def __init__(self, config_dir: str) -> None:
        self._config = config_dir
        self._all: dict[str, str] | None = None

    def find(self, session_id: str) -> "str | None":
        """Return the path of a session's transcript, as the function `find` does."""
        if self._all is None:
            self._all = {}
            base = self._config + "/projects"
            for directory in paths_hot.names_in(base):
                for name in paths_hot.names_in(f"{base}/{directory}"):
                    if name.endswith(".jsonl"):
                        key = name.removesuffix(".jsonl")
                        self._all[key] = "" if key in self._all else f"{base}/{directory}/{name}"
        path = self._all.get(session_id)
        # Empty: there are several, of which `find` knows the newest.
        return find(self._config, session_id) if path == "" else path


def _is_file(path: str) -> bool:
    try:
        return posix.stat(path).st_mode & fs_hot.S_IFMT == fs_hot.S_IFREG
    except OSError:
        return False
