"""What a session is about, in the person's own first words."""

import os
import stat

from memtui.core.base import fastjson
from memtui.core.client import transcript
from memtui.core.client.conversation import from_person, spoken

# The person speaks early; what comes before, the client's own records and attached files, can be long.
LOOKED_AT_BYTES = 1 << 20


def first_words(path: str | None) -> str:
    """Return the first line that the person typed in a session; empty if the transcript was not found, or holds none
    near its beginning."""
    try:
        fd = os.open(path or "", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return ""
        data = os.pread(fd, LOOKED_AT_BYTES, 0)
    except OSError:
        return ""
    finally:
        os.close(fd)
    for line in data.split(b"\n"):
        words = _words(fastjson.loads_dict(line)) if b'"user"' in line else ""
        if words:
            return words.split("\n")[0]
    return ""


def _words(record: dict[str, object]) -> str:
    if record.get("type") != "user" or record.get("isMeta") or record.get("isSidechain") or not from_person(record):
        return ""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return spoken(content)
    texts = [spoken(transcript.text_of(block.get("text"))) for block in transcript.blocks(record)]
    return next((text for text in texts if text), "")
