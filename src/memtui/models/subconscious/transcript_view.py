"""What is new in a session's transcript, as the subconscious reads it: who said what, what the agent thought and the
client summed up, with the beginnings of tool calls and their answers. What a tool printed, or a file holds, may tell
the model what to do: a change of a block and a whisper must quote what was said, and none repeats what nobody said."""

import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from memtui.base import fastjson_hot, visible_hot
from memtui.client.transcripts import speaker, transcript_hot
from memtui.client.transcripts.conversation import Conversation
from memtui.deliver import receipts_hot
from memtui.redact.redact import redact

PERSON, AGENT, TOOL, THOUGHT, SUMMARY = "person", "agent", "tool", "thought", "summary"
LEAST_FIRST = ((TOOL,), (THOUGHT, SUMMARY), (PERSON, AGENT))  # what goes first where not all has room, the oldest first
# How the line of a tool's output begins; others say how a tool was called.
ANSWERED = "answered: "
HIDDEN = (*speaker.ASIDE, "isMeta", "isApiErrorMessage")
ANSWER, ALL = 500, 60_000  # characters of a tool's call or answer, and of all that is read at once
MENTIONS, MENTION = 10, 1000  # mentions of one reading, the newest, and characters of one
# The rest of a paragraph addresses the subconscious, up to the next mention; no address and no name of a package does.
_NAME = r"(?<![\w@./-])@memtui(?![\w/@\\]|[-.]\w)"
_MENTION = re.compile(rf"{_NAME}[^\S\n]*[,:–—-]*(?P<words>(?:(?!\n[^\S\n]*\n|{_NAME})[\s\S])*)", re.IGNORECASE)
_CODE = re.compile(r"```[\s\S]*?(?:```|\Z)|`[^`\n]*`")
# Words and characters of a quotation, at least; those of a person's whole message, which may be as short as "Use pnpm."
QUOTE_WORDS, QUOTE_CHARS = 3, 12
MESSAGE_WORDS, MESSAGE_CHARS = 2, 8
RUN_WORDS, SENTENCE_WORDS = 4, 3  # words in a row by which a text repeats a tool or a file; of a whole sentence
# Scripts that put no blanks between words: two characters count as a word.
DENSE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_DENSE = re.compile(f"[{DENSE}]")
# Marks of a shell are between words, too.
_TOKEN = re.compile(f"[{DENSE}]|[^\\s|;&`$(){DENSE}]+")
_SENTENCE = re.compile(r"[.!?。！？]+(?:\s|\Z)|[。！？]|\n")
_ADDRESS = re.compile(r"^(?:[a-z][a-z0-9+.-]*://|www\.)", re.IGNORECASE)
_ENDS = ".,;:!?()[]{}<>\"'`*_“”„‘’«»。、，！？：；（）「」"


@dataclass(frozen=True)
class Mention:
    """Words that address the subconscious, `@memtui …`. `who`: PERSON or AGENT."""

    who: str
    words: str


@dataclass
class Heard:
    """What was heard: `lines` of (who, text), oldest first; how many were `left_out`; `mentions`; `in_midst`: not from
    the start; `size`: characters of the lines."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    left_out: int = 0
    mentions: deque[Mention] = field(default_factory=lambda: deque(maxlen=MENTIONS))
    in_midst: bool = False
    size: int = 0

    def add(self, who: str, text: str) -> None:
        """Add a message; some go at once if there are far too many."""
        self.lines.append((who, text))
        self.size += len(text)
        if self.size > 2 * ALL:
            self.trim()

    def trim(self) -> None:
        """Leave out what has no room."""
        for kinds in LEAST_FIRST:
            lines = []
            for who, text in self.lines:
                if self.size > ALL and who in kinds:
                    self.size -= len(text)
                    self.left_out += 1
                else:
                    lines.append((who, text))
            self.lines = lines

    def said(self, who: str) -> list[str]:
        """Return the messages of PERSON or AGENT."""
        return [text for each, text in self.lines if each == who]

    def printed(self) -> list[str]:
        """Return what tools printed, and thoughts and summaries, which may repeat it, as far as it is heard."""
        inner = {THOUGHT, SUMMARY}
        lines = [text for who, text in self.lines if who in inner or (who == TOOL and text.startswith(ANSWERED))]
        return [text.removeprefix(ANSWERED) for text in lines]


def listen(records: Iterable[dict[str, object]], conversation: Conversation) -> Heard:
    """Read records of a transcript. `conversation` goes on from where the reading before ended. Raises OSError."""
    other = Heard()
    for record in records:
        conversation.feed(record)
        for turn in conversation.turns:
            _hear(other, PERSON, conversation.own(turn).text, ALL)
        conversation.turns.clear()
        _hear(other, SUMMARY, _summary(record), ALL)
        message = record.get("message")
        synthetic = isinstance(message, dict) and message.get("model") == receipts_hot.SYNTHETIC
        if synthetic or any(record.get(key) for key in HIDDEN):
            continue
        if record.get("type") == "assistant":
            for block in transcript_hot.blocks(record):
                if block.get("type") == "text":
                    _hear(other, AGENT, transcript_hot.text_of(block.get("text")), ALL)
                elif block.get("type") == "thinking":
                    _hear(other, THOUGHT, transcript_hot.text_of(block.get("thinking")), ALL)
                elif block.get("type") == "tool_use":
                    called = fastjson_hot.dumps(block.get("input")) if isinstance(block.get("input"), dict) else ""
                    _hear(other, TOOL, f"called {transcript_hot.text_of(block.get('name'))} {called}", ANSWER)
        elif record.get("type") == "user":
            for block in transcript_hot.blocks(record):
                if block.get("type") == "tool_result":
                    _hear(other, TOOL, ANSWERED + transcript_hot.result_text(block), ANSWER)
    other.trim()
    return other


def _summary(record: dict[str, object]) -> str:
    """Return what the client summed up: before a compaction, or for a person who was away."""
    if record.get("isCompactSummary") and record.get("type") == "user" and not record.get("isSidechain"):
        return "\n".join(transcript_hot.text_of(block.get("text")) for block in transcript_hot.blocks(record))
    return transcript_hot.text_of(record.get("content")) if record.get("subtype") == "away_summary" else ""


def _hear(turn: Heard, who: str, text: str, limit: int) -> None:
    text = redact(visible_hot.clean(text[: 4 * limit]).strip())[0]  # cut first where it is huge, else after secrets
    if not text:
        return
    turn.add(who, text if len(text) <= limit else text[: limit - 1].rstrip() + "…")
    if who not in {PERSON, AGENT} or "@" not in text:
        return
    for match in _MENTION.finditer(_CODE.sub(lambda code: "\0" * len(code[0]), text)):
        words = visible_hot.one_line(text[match.start("words") : match.end("words")])
        if words:
            turn.mentions.append(Mention(who, words[:MENTION]))


class Sources:
    """What was said by `person` and `agent`, what may be repeated (`noted`), what tools or files brought."""

    def __init__(
        self, person: Sequence[str], agent: Sequence[str], noted: Iterable[str] = (), printed: Iterable[str] = ()
    ) -> None:
        both, noted_text = "\n".join([*person, *agent]), "\n".join(noted)
        self._person, self._both = _line("\n".join(person)), _line(both)
        self._messages = {_line(message) for message in person}
        self._of_person, self._of_both = _joined("\n".join([noted_text, *person])), _joined(f"{noted_text}\n{both}")
        self._printed = [_joined(message) for message in printed]
        self._read: list[str] = []

    def read(self, text: str) -> None:
        self._read.append(_joined(text))

    def quoted(self, quote: object, *, person: bool = False) -> bool:
        """Tell whether a quotation stands in what was said, by the `person` or at all, and is long enough to be one."""
        line = _line(str(quote or ""))
        words, chars = (MESSAGE_WORDS, MESSAGE_CHARS) if line in self._messages else (QUOTE_WORDS, QUOTE_CHARS)
        enough = _weight(_tokens(line)) >= words and len(line) + len(_DENSE.findall(line)) >= chars
        return enough and line in (self._person if person else self._both)

    def repeats(self, text: str, *, person: bool = False, files: bool = True) -> str:
        """Return words that nobody (with `person`: not the person) said and a tool, or a file, brought."""
        sources = self._of_person if person else self._of_both
        brought = [*self._printed, *(self._read if files else ())]
        for run in _runs(text):
            if f" {run} " not in sources and any(f" {run} " in text for text in brought):
                return run
        return ""


def _runs(text: str) -> Iterator[str]:
    """Yield the parts of a text that are looked for elsewhere."""
    for sentence in _SENTENCE.split(text):
        tokens = _tokens(sentence)
        yield from filter(_ADDRESS.match, tokens)
        if SENTENCE_WORDS <= _weight(tokens) < RUN_WORDS:
            yield " ".join(tokens)
        end, weight = 0, 0.0
        for begin, first in enumerate(tokens):
            while end < len(tokens) and weight < RUN_WORDS:
                weight += _weight(tokens[end : end + 1])
                end += 1
            if weight < RUN_WORDS:
                break
            yield " ".join(tokens[begin:end])
            weight -= _weight([first])


def _line(text: str) -> str:
    return visible_hot.one_line(visible_hot.clean(text))


def _tokens(text: str) -> list[str]:
    """Split a text into words as they are compared, folded and without marks; a dense script into characters."""
    folded = unicodedata.normalize("NFKC", visible_hot.clean(text)).casefold()
    return [token for raw in _TOKEN.findall(folded) if (token := raw.strip(_ENDS)).strip("-–—#=+~/\\^%@…")]


def _weight(tokens: Sequence[str]) -> float:
    return sum(0.5 if _DENSE.match(token) else 1.0 for token in tokens)


def _joined(text: str) -> str:
    return f" {' '.join(_tokens(text))} "
