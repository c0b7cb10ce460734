"""What is new in a session's transcript, as the subconscious reads it: who said what, without what hooks and the client
put in, with the beginnings of what tools were called with and answered."""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from memtui.core.base import fastjson, visible
from memtui.core.client import speaker, transcript
from memtui.core.client.conversation import Conversation
from memtui.core.deliveries import receipts
from memtui.core.redaction.redact import redact

PERSON, AGENT, TOOL = "person", "agent", "tool"
# How the line of a tool's output begins; others say how a tool was called.
ANSWERED = "answered: "
HIDDEN = (*speaker.ASIDE, "isMeta", "isApiErrorMessage")
# Characters of one message and of one tool's answer, and of all that is read at once: the newest.
MESSAGE, ANSWER, ALL = 4000, 500, 24_000
# Mentions of one reading, the newest, and characters of one.
MENTIONS, MENTION = 10, 1000
# The rest of a paragraph addresses the subconscious, up to the next mention; no address and no name of a package does.
_NAME = r"(?<![\w@./-])@memtui(?![\w/@\\]|[-.]\w)"
_MENTION = re.compile(rf"{_NAME}[^\S\n]*[,:–—-]*(?P<words>(?:(?!\n[^\S\n]*\n|{_NAME})[\s\S])*)", re.IGNORECASE)
_CODE = re.compile(r"```[\s\S]*?(?:```|\Z)|`[^`\n]*`")


@dataclass(frozen=True)
class Mention:
    """Words that address the subconscious, `@memtui …`. `who`: PERSON or AGENT."""

    who: str
    words: str


@dataclass
class Heard:
    """What was heard: `lines` of (who, text), oldest first; `left_out`: how many older ones there was no room for;
    `mentions`: what addresses the subconscious; `in_midst`: whether the session began before what is read at all."""

    lines: deque[tuple[str, str]] = field(default_factory=deque)
    left_out: int = 0
    mentions: deque[Mention] = field(default_factory=lambda: deque(maxlen=MENTIONS))
    in_midst: bool = False
    _size: int = 0

    def add(self, who: str, text: str) -> None:
        """Add a message; the oldest go if there are too many."""
        self.lines.append((who, text))
        self._size += len(text)
        while self._size > ALL and len(self.lines) > 1:
            self._size -= len(self.lines.popleft()[1])
            self.left_out += 1

    def said(self, who: str) -> list[str]:
        """Return the messages of PERSON or AGENT."""
        return [text for each, text in self.lines if each == who]

    def printed(self) -> list[str]:
        """Return what tools printed, as far as it is heard."""
        return [text.removeprefix(ANSWERED) for who, text in self.lines if who == TOOL and text.startswith(ANSWERED)]


def listen(records: Iterable[dict[str, object]], conversation: Conversation) -> Heard:
    """Read records of a transcript. `conversation` goes on from where the reading before ended. Raises OSError."""
    heard = Heard()
    for record in records:
        conversation.feed(record)
        for turn in conversation.turns:
            _hear(heard, PERSON, conversation.own(turn).text, MESSAGE)
        conversation.turns.clear()
        message = record.get("message")
        synthetic = isinstance(message, dict) and message.get("model") == receipts.SYNTHETIC
        if synthetic or any(record.get(key) for key in HIDDEN):
            continue
        if record.get("type") == "assistant":
            for block in transcript.blocks(record):
                if block.get("type") == "text":
                    _hear(heard, AGENT, transcript.text_of(block.get("text")), MESSAGE)
                elif block.get("type") == "tool_use":
                    called = fastjson.dumps(block.get("input")) if isinstance(block.get("input"), dict) else ""
                    _hear(heard, TOOL, f"called {transcript.text_of(block.get('name'))} {called}", ANSWER)
        elif record.get("type") == "user":
            for block in transcript.blocks(record):
                if block.get("type") == "tool_result":
                    _hear(heard, TOOL, ANSWERED + transcript.result_text(block), ANSWER)
    return heard


def _hear(heard: Heard, who: str, text: str, limit: int) -> None:
    text = redact(visible.clean(text[: 4 * limit]).strip())[0]  # cut first where it is huge, else after secrets
    if not text:
        return
    heard.add(who, text if len(text) <= limit else text[: limit - 1].rstrip() + "…")
    if who == TOOL or "@" not in text:
        return
    for found in _MENTION.finditer(_CODE.sub(lambda code: "\0" * len(code[0]), text)):
        words = visible.one_line(text[found.start("words") : found.end("words")])
        if words:
            heard.mentions.append(Mention(who, words[:MENTION]))
