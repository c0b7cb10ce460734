"""Memories that prompts bring again and again, and that the agent neither opens nor follows, by the delivery log and
the transcripts. What was delivered before a memory changed says nothing about it."""

import os
import re
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from memtui.base import clock_hot, fastjson_hot, fs_hot, visible_hot
from memtui.base.finding import Finding, note
from memtui.base.phrasing_hot import cut
from memtui.client.transcripts import speaker, transcript_hot
from memtui.deliver import receipts_hot
from memtui.recall import words_hot
from memtui.redact.redact import redacted
from memtui.store import mutes_hot, sidecars
from memtui.store.memory import Memory, is_pinned
from memtui.tidy.checks.check import Check, Checked, about

# How often, and in how many sessions, a prompt must have brought a memory.
BROUGHT, SESSIONS = 12, 5
# The agent followed a memory of which it says this part of the telling words, of those that the prompt does not have.
SHARE = 0.6
# Bytes of a transcript behind a delivery that are read for the turn; prompts that are shown, and characters of one.
TURN_BYTES, LISTED, PROMPT = 1 << 18, 12, 100
# Code that tells something: no plain word.
_CODE = re.compile(r"(?<!`)`(?![A-Za-z]+`)([^`\n]{3,80})`(?!`)")


class PromptedTurn(NamedTuple):
    """A prompt that brought a memory, and what the agent said and did until the next one."""

    prompt: str
    words: str


def unused(checked: Checked) -> Iterator[Finding]:
    """Find them in a scope; not those that are pinned, muted, corrected, or that a person gave triggers."""
    usage, directory = checked.usage, checked.scope.directory
    if usage is None or not any(len(counts.prompts) >= BROUGHT for counts in usage.memories.values()):
        return
    triggers = sidecars.rows(checked.root, sidecars.TRIGGERS, directory)
    for memory in checked.memories:
        path = memory.path if memory.path in usage.memories else os.path.realpath(memory.path)
        counts, file = usage.memories.get(path), memory.path.removeprefix(directory + "/")
        if counts is None or counts.uses or len(counts.prompts) < BROUGHT or usage.recalled(path).corrected:
            continue
        own = (row for row in triggers.get(file, {}).values() if row.get("origin") == "person")
        if is_pinned(memory.fields) or any(own) or mutes_hot.is_muted(checked.root, directory, file):
            continue
        prompts = _in_vain(memory, counts.prompts)
        sessions = len({session for session, _ in prompts})
        if len(prompts) >= BROUGHT and sessions >= SESSIONS:
            lines = [line for _, line in prompts[:LISTED]]
            facts = {"count": len(prompts), "sessions": sessions, "directory": directory, "prompts": lines}
            yield about(note("memories.unused", **facts), checked.scope, memory)


def _in_vain(memory: Memory, records: list[dict[str, object]]) -> list[tuple[str, str]]:
    """Return the prompts that brought a memory as it is now, each as session and line; none if it was followed once."""
    prompts = []
    for record in records:
        seconds, path = clock_hot.parse(record.get("time")) or 0.0, transcript_hot.text_of(record.get("transcript"))
        if seconds <= memory.mtime or record.get("outcome") in receipts_hot.LOST or not path.startswith("/"):
            continue
        turn = _turn(path, receipts_hot.size_of(record) or 0, fs_hot.stamp(path))
        takes_up = is_followed(memory, turn) if turn is not None else None
        if takes_up:
            return []
        if turn is not None and takes_up is not None:
            session, day = str(record.get("session_id")), time.strftime("%Y-%m-%d", time.localtime(seconds))
            prompt = cut(visible_hot.one_line(redacted(turn.prompt)), PROMPT)
            prompts.append((session, f"{day}, session {session[:8]}: “{prompt}”"))
    return prompts


@lru_cache(1 << 10)  # asked again with each plan
def _turn(path: str, start: int, _stamp: int) -> PromptedTurn | None:
    """Return the turn that begins in a transcript behind a byte, by the file's stamp; None if it can't be read."""
    prompt, texts = "", list[str]()
    try:
        for record in transcript_hot.Reader(path, start, limit=TURN_BYTES):
            words = speaker.own_words(speaker.prompt_text(record))
            if words and prompt:
                break
            prompt = prompt or words
            blocks = transcript_hot.blocks(record) if prompt and record.get("type") == "assistant" else ()
            texts += [str(block.get("text") or fastjson_hot.dumps(block.get("input"))) for block in blocks]
    except OSError:
        return None
    return PromptedTurn(prompt, "\n".join(texts)) if prompt and texts else None


def is_followed(memory: Memory, turn: PromptedTurn) -> bool | None:
    """Return whether the agent named code of a memory, or said its telling words; None if the prompt has them."""
    code = {part for part in _CODE.findall(f"{memory.description}\n{memory.body}") if part not in turn.prompt}
    telling = {*words_hot.terms(memory.description)} - words_hot.COMMON - {*words_hot.terms(turn.prompt)}
    if not (code or telling):
        return None
    shared = telling.intersection(words_hot.terms(turn.words))
    return any(part in turn.words for part in code) or len(shared) >= max(1, int(SHARE * len(telling)))


CHECKS = (Check(("memories.unused",), of_scope=unused),)
