"""What a session is about, in the person's own first words."""

from memtui.core import transcript
from memtui.core.conversation import spoken

LOOKED_AT = 60
LONGEST_LINE = 1 << 18


def _may_hold(line: bytes) -> bool:
    return len(line) < LONGEST_LINE and b'"user"' in line


def first_words(path: str) -> str:
    """The first line that the person typed in a session; empty where its transcript tells of none."""
    try:
        for number, record in enumerate(transcript.Reader(path, keep=_may_hold)):
            if number >= LOOKED_AT:
                break
            if record.get("type") != "user" or record.get("isMeta") or record.get("isSidechain"):
                continue
            message = record.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            texts = (
                [content]
                if isinstance(content, str)
                else [transcript.text_of(block.get("text")) for block in transcript.blocks(record)]
            )
            for text in texts:
                words = spoken(text)
                if words:
                    return words.split("\n")[0]
    except OSError:
        pass
    return ""
