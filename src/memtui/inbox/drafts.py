"""Drafts of an inbox: their text and its evidence, those that a person rejected, and whether two say the same rule."""

from collections.abc import Iterable, Sequence

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot
from memtui.base.similarity import SAME_DRAFT, rule_of, similarity
from memtui.client.transcripts.conversation import normalised
from memtui.inbox import format_hot
from memtui.inbox.format_hot import EVIDENCE
from memtui.redact import redact

# The kinds of drafts that are made of a refused write (worker/gate_drafts.py): of a new memory, and of another text.
WRITES = WRITE, REWRITE = "write", "rewrite"
# Bytes of the file that are read; characters that are kept of a draft's first line.
MOST_REJECTED, DESCRIPTION = 4 << 20, 600


def rejected_path(directory: str) -> str:
    return f"{directory}/{format_hot.REJECTED}"


def rejected_line(entry_id: str, text: str, now: float, *, never: bool) -> str:
    """Return the line that lists what a rejected draft says, without secrets."""
    words = redact.redact(text)[0].strip()
    row = {"v": 1, "hash": ids_hot.content_hash(normalised(words)), "text": words[:DESCRIPTION], "never": never}
    row |= {"time": clock_hot.iso_seconds(now), "id": entry_id}
    return fastjson_hot.dumps(row) + "\n"


def is_never(row: dict[str, object]) -> bool:
    """Tell whether a line says that something must never be drafted again."""
    return row.get("never") is True


def rejected(directory: str, *, never: bool = False) -> list[str]:
    """Read the first lines of an inbox's rejected drafts, with `never` of those rejected for good, oldest first."""
    lines = _rejected_rows(directory)
    return [text for row in lines if isinstance(text := row.get("text"), str) and (is_never(row) or not never)]


def rejections(directory: str, *, never: bool = False) -> dict[object, str]:
    """Return when drafts of an inbox were rejected, for good with `never`, else not, by the hash of what they say."""
    return {row.get("hash"): str(row.get("time", "")) for row in _rejected_rows(directory) if is_never(row) == never}


def _rejected_rows(directory: str) -> list[dict[str, object]]:
    try:
        data = fs_hot.read_or_empty(rejected_path(directory))[-MOST_REJECTED:]
    except OSError:
        return []
    return [*map(fastjson_hot.loads_dict, data.splitlines())]


def without_old(data: bytes, before: float) -> tuple[bytes, int]:
    """Return a file without drafts rejected before a time (not for good), and how many these are."""
    lines = data.splitlines(keepends=True)
    rows = ((line, fastjson_hot.loads_dict(line)) for line in lines)
    recent = [line for line, row in rows if is_never(row) or (clock_hot.parse(row.get("time")) or before) >= before]
    return b"".join(recent), len(lines) - len(recent)


# How a quote begins. One in the text itself gets a backslash, so that it is not taken for evidence.
QUOTE = "> "


def join_evidence(text: str, evidence: Sequence[str]) -> str:
    lines = ["\\" + line if line.lstrip("\\").startswith(QUOTE) else line for line in text.split("\n")]
    return "\n".join([*lines, "", *evidence] if evidence else lines)


def split_evidence(whole: str) -> tuple[str, list[str]]:
    """Split an entry's text into what it says and its evidence. The inverse of `join_evidence`."""
    lines = whole.rstrip().split("\n")
    end = len(lines)
    while end and lines[end - 1].startswith(EVIDENCE):
        end -= 1
    text = [line[1:] if line.startswith("\\") and line.lstrip("\\").startswith(QUOTE) else line for line in lines[:end]]
    return "\n".join(text).strip(), lines[end:]


def statement(entry: format_hot.Entry) -> str:
    """Return what a draft says in a line: its first one, or what it adds to a memory."""
    return entry.fields.get("adds") or split_evidence(entry.text)[0].partition("\n")[0]


# Left free in an inbox file, of which only MAX_BYTES are read, for what sessions leave there.
KEPT_FREE = format_hot.MAX_BYTES // 4
MOST_READ = 4 << 20  # bytes of a list beside an inbox that are read


def room(directory: str) -> int:
    """Return how many bytes of drafts an inbox takes; 0 or less if it is full, or can't be read."""
    try:
        length = len(fs_hot.read_or_empty(f"{directory}/{format_hot.FILES['updates']}"))
    except OSError:
        return 0
    return format_hot.MAX_BYTES - KEPT_FREE - length


def lines_of(path: str) -> list[dict[str, object]]:
    """Return the objects of a JSON Lines file beside an inbox. Raises OSError."""
    return [row for row in map(fastjson_hot.loads_dict, fs_hot.read_or_empty(path, MOST_READ).split(b"\n")) if row]


def rows(path: str) -> list[dict[str, object]]:
    """Return what `lines_of` does; nothing if the file can't be read."""
    try:
        return lines_of(path)
    except OSError:
        return []


def first_same(text: str, others: Iterable[str]) -> int | None:
    """Return which of the `others` says the same rule as a text, the first; None if none does."""
    rule = rule_of(text)
    same = (similarity(rule, rule_of(other)).says_same(SAME_DRAFT) for other in others)
    return next((at for at, is_same in enumerate(same) if is_same), None)
