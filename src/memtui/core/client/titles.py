"""The title of a session: the person's own first words."""

from memtui.core.base import fastjson, fs
from memtui.core.client import transcript
from memtui.core.client.conversation import from_person, own_words

# The beginning of a transcript that is read: the client's own records and attached files can come first.
HEAD_BYTES = 1 << 20


def first_words(path: str | None) -> str:
    """Return the first line that the person typed in a session; empty if there is no transcript, or none in its first
    HEAD_BYTES."""
    try:
        data = fs.read_bytes(path or "", HEAD_BYTES)
    except OSError:
        return ""
    for line in data.split(b"\n"):
        words = _words(fastjson.loads_dict(line)) if b'"user"' in line else ""
        if words:
            return words.split("\n")[0]
    return ""


def _words(record: dict[str, object]) -> str:
    if record.get("type") != "user" or record.get("isMeta") or record.get("isSidechain") or not from_person(record):
        return ""
    texts = [own_words(transcript.text_of(block.get("text"))) for block in transcript.blocks(record)]
    return next((text for text in texts if text), "")
