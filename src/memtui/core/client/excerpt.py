"""A piece of a transcript around what a draft or a memory came from: who said what, before and after."""

from collections import deque
from dataclasses import dataclass, replace

from memtui.core.client import transcript
from memtui.core.client.conversation import from_person, normalised, refusal, spoken

BEFORE, AFTER = 3, 3
TEXT_LIMIT = 1200
# A line that holds a file's content is not looked into for words.
LONG_LINE = 1 << 20


@dataclass(frozen=True)
class Said:
    """One utterance. `who`: agent, you, or tool (its name, with what it was given); `hit`: the evidence itself."""

    who: str
    text: str
    time: str
    hit: bool = False


def around(path: str, uuid: str = "", words: str = "", before: int = BEFORE, after: int = AFTER) -> list[Said]:
    """What was said around the record `uuid`, or else around the first of the person's words that begin with `words`.

    Empty where neither is found. Raises OSError for a transcript that can't be read.
    """
    wanted = normalised(words)[:200]
    held: deque[Said] = deque(maxlen=before)
    tools: dict[str, str] = {}  # call -> name
    found: list[Said] = []
    for record in transcript.Reader(path, keep=_is_turn):
        if record.get("isSidechain") or record.get("isMeta") or record.get("isCompactSummary"):
            continue
        for said in _said(record, tools):
            if found:
                found.append(said)
                if len(found) > before + after:
                    return found
                continue
            hit = bool(uuid) and transcript.text_of(record.get("uuid")) == uuid
            if not hit and wanted and said.who == "you":
                theirs = normalised(said.text)
                hit = theirs.startswith(wanted) or (len(theirs) > 20 and wanted.startswith(theirs))
            if hit:
                found = [*held, replace(said, hit=True)]
                before = len(held)
            else:
                held.append(said)
    return found


def _is_turn(line: bytes) -> bool:
    return len(line) < LONG_LINE and (b"assistant" in line or b'"user"' in line or b"enqueue" in line)


def _said(record: dict[str, object], tools: dict[str, str]) -> list[Said]:
    kind = record.get("type")
    if kind != "assistant" and not from_person(record):
        return []
    time = transcript.text_of(record.get("timestamp"))
    if kind == "queue-operation":
        text = spoken(transcript.text_of(record.get("content")))
        return [Said("you", text[:TEXT_LIMIT], time)] if text and record.get("operation") == "enqueue" else []
    if kind not in {"user", "assistant"}:
        return []
    found = []
    for block in transcript.blocks(record):
        text = ""
        who = "agent" if kind == "assistant" else "you"
        if block.get("type") == "text":
            text = transcript.text_of(block.get("text"))
            text = spoken(text) if who == "you" else text.strip()
        elif block.get("type") == "tool_use":
            who, text = "tool", _call(block)
            tools[transcript.text_of(block.get("id"))] = transcript.text_of(block.get("name"))
        elif block.get("type") == "tool_result":
            text = refusal(record, block, tools.get(transcript.text_of(block.get("tool_use_id")), ""))
        if text:
            found.append(Said(who, text[:TEXT_LIMIT], time))
    return found


def _call(block: dict[str, object]) -> str:
    """A tool's name and the first text it was given."""
    given = block.get("input")
    texts = [value for value in given.values() if isinstance(value, str)] if isinstance(given, dict) else []
    first = " ".join(transcript.text_of(texts[0]).split())[:120] if texts else ""
    return f"{transcript.text_of(block.get('name'))} {first}".strip()
