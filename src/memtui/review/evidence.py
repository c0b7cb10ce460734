"""What helps a person to decide about a draft: its conversation, similar memories, and rejected drafts like it."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from memtui.base import paths_hot
from memtui.client.agents import programs
from memtui.client.transcripts import prompts, speaker, transcript_hot
from memtui.client.transcripts.conversation import normalised
from memtui.client.transcripts.speaker import argument, on_plan, own_words, refusal
from memtui.review.waiting_entries import Waiting
from memtui.rules.proposal_evidence import ProposedRule
from memtui.store.memory import Memory

# The messages shown before and after the evidence, and the most characters of each.
BEFORE, AFTER = 3, 3
TEXT_LIMIT = 1200
# Bytes. A longer line holds a file's content and is not parsed.
LONG_LINE = 1 << 20
# What stands in a line that may be somebody's message.
_TURNS = (b"assistant", b'"user"', b"queued_command")


@dataclass(frozen=True)
class Utterance:
    """One message. `who`: agent, you, or tool (`text` is its name and first argument); `hit`: the evidence itself."""

    who: str
    text: str
    time: str
    hit: bool = False


def around(path: str, uuid: str = "", words: str = "") -> list[Utterance]:
    """List the messages around the record `uuid`, else around the person's first with `words`. Raises OSError."""
    folded = normalised(words)[:200]
    earlier: deque[Utterance] = deque(maxlen=BEFORE)
    tools: dict[str, str] = {}  # call -> name
    utterances: list[Utterance] = []
    size = 0
    is_turn = lambda line: len(line) < LONG_LINE and any(word in line for word in _TURNS)
    for record in transcript_hot.Reader(path, keep=is_turn):
        if record.get("isMeta") or any(record.get(mark) for mark in speaker.ASIDE):
            continue
        for utterance in _utterances(record, tools):
            if utterances:
                utterances.append(utterance)
                if len(utterances) == size:
                    return utterances
                continue
            hit = bool(uuid) and transcript_hot.text_of(record.get("uuid")) == uuid
            if not hit and folded and utterance.who == "you":
                words_here = normalised(utterance.text)
                hit = words_here.startswith(folded) or (len(words_here) > 20 and folded.startswith(words_here))
            if hit:
                utterances = [*earlier, replace(utterance, hit=True)]
                size = len(utterances) + AFTER
            else:
                earlier.append(utterance)
    return utterances


def _utterances(record: dict[str, object], tools: dict[str, str]) -> list[Utterance]:
    kind = record.get("type")
    time = transcript_hot.text_of(record.get("timestamp"))
    if kind == "user" and "planContent" in record:
        text = "\n".join(transcript_hot.text_of(block.get("text")) for block in transcript_hot.blocks(record))
        words = on_plan(record, text)[0]
        return [Utterance("you", words[:TEXT_LIMIT], time)] if words else []
    if kind == "attachment":
        queued = transcript_hot.attachment(record)
        is_sent = queued.get("type") == "queued_command" and speaker.is_person(record)
        text = own_words(speaker.queued_text(queued)) if is_sent else ""
        return [Utterance("you", text[:TEXT_LIMIT], time)] if text else []
    if kind not in {"user", "assistant"}:
        return []
    utterances = []
    theirs = kind == "user" and ("toolUseResult" in record or speaker.is_person(record))
    for block in transcript_hot.blocks(record):
        text = ""
        who = "agent" if kind == "assistant" else "you"
        if block.get("type") == "text":
            text = transcript_hot.text_of(block.get("text"))
            text = (own_words(text) if theirs else "") if who == "you" else text.strip()
        elif block.get("type") == "tool_use":
            name = transcript_hot.text_of(block.get("name"))
            who, text = "tool", f"{name} {argument(block.get('input'))[:120]}".strip()
            tools[transcript_hot.text_of(block.get("id"))] = name
        elif block.get("type") == "tool_result":
            tool = tools.get(transcript_hot.text_of(block.get("tool_use_id")), "")
            text = refusal(record, block, tool)
            if not text and tool == speaker.ASK_TOOL:
                typed = speaker.typed_answers(transcript_hot.result_text(block), record.get("toolUseResult"), None)
                text = "\n".join(words for words, _ in typed)
        if text:
            utterances.append(Utterance(who, text[:TEXT_LIMIT], time))
    return utterances


class Similar(NamedTuple):
    """A memory and how similar it is to a draft, from 0 to 1."""

    memory: Memory
    score: float


@dataclass
class Evidence:
    """What was said around an entry's evidence, its session's title, what is similar, and a draft's rules."""

    utterances: list[Utterance] = field(default_factory=list)
    title: str = ""
    similar: Sequence[Similar] = ()
    problem: str = ""
    rules: Sequence[ProposedRule] = ()


def evidence_of(env: dict[str, str], item: Waiting, similar: Sequence[Similar] = ()) -> Evidence:
    """Find the evidence of a pending update or item in its session's transcript."""
    evidence = Evidence(similar=similar)
    fields = item.entry.fields
    session_id = fields.get("session", "")
    path = transcript_hot.find(paths_hot.config_dir(env), session_id) or programs.session_file(env, session_id)
    if path:
        quotes = [line.partition(": ")[2] for line in item.evidence if line.startswith("> you: ")]
        try:
            evidence.title = prompts.about(path).title
            if item.kind == "updates":
                evidence.utterances = around(path, fields.get("evidence", ""), quotes[-1] if quotes else "")
        except OSError as error:
            evidence.problem = f"The transcript can't be read: {error.strerror}."
        if item.evidence and not evidence.utterances and not evidence.problem:
            evidence.problem = "The quoted words are no longer in the session's transcript."
    elif fields.get("session"):
        evidence.problem = "The session's transcript is gone."
    elif item.evidence:
        evidence.problem = "The draft does not say which session it comes from."
    return evidence
