"""Mute a memory for prompts like one, and take that back: each a step of undo. `mutes` has the check for hooks."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from memtui.core.base import clock, fastjson
from memtui.core.base.errors import UsageError
from memtui.core.journal import own_files
from memtui.core.memories import beside, mutes, triggers
from memtui.core.memories.memory import Memory
from memtui.core.memories.store import Store
from memtui.core.redaction.redact import redact

MOST = 40  # prompts for which one memory can be muted


class MutedPrompt(NamedTuple):
    """A prompt like which a memory is not recalled, as it is shown, and when it was muted (seconds since the epoch)."""

    text: str
    time: float


def of_file(root: str, directory: str, file: str) -> list[MutedPrompt]:
    """List the prompts for which a memory is muted, oldest first. Never raises."""
    rows = map(fastjson.loads_dict, beside.rows(root, beside.MUTES, directory).get(file, []))
    return [MutedPrompt(str(row["text"]), clock.parse(str(row.get("time"))) or 0.0) for row in rows]


def for_prompt(root: str, directory: str, file: str, terms: Sequence[str]) -> list[str]:
    """List the prompts for which a memory is muted that are like one with these terms, as they are shown."""
    known, asked = mutes.Mutes(root), set(terms)
    rows = map(fastjson.loads_dict, beside.rows(root, beside.MUTES, directory).get(file, []))
    prompts = [(str(row["text"]), row.get("terms")) for row in rows]
    return [text for text, its in prompts if isinstance(its, list) and known.are_close(asked, frozenset(map(str, its)))]


def mute(store: Store, found: Memory, prompt: str, terms_of: Callable[[str], Sequence[str]]) -> bool:
    """Never recall a memory for prompts like one again; `terms_of` is `recall/words.py` `terms`. Return False if it is
    muted for that one already. Raises UsageError, MemtuiError."""
    scope, file = triggers.place_of(store, found)
    prompt = redact(prompt)[0]
    text, terms = triggers.one_line(prompt), terms_of(prompt)
    if not text or not terms:
        raise UsageError("The prompt can't be empty.", "Give the prompt for which it is not wanted.")
    rows = beside.rows(store.root, beside.MUTES, scope.directory).get(file, [])
    if text in map(own_files.text_of, rows):
        return False
    if len(rows) >= MOST:
        raise UsageError(f"A memory can be muted for {MOST} prompts at most.", "Unmute some of them first.")
    after = [*rows, mutes.row(text, terms, clock.iso(store.journal.now()))]
    edits = beside.edit(store.root, beside.MUTES, scope.directory, file, after)
    store.journal.run("mute", edits, f"mute {scope.label}:{found.stem} for prompts like “{text[:60]}”")
    return True


def unmute(store: Store, found: Memory, texts: Sequence[str]) -> bool:
    """Recall a memory again for prompts like some, given as they are shown. Return whether that changed anything."""
    scope, file = triggers.place_of(store, found)
    rows = beside.rows(store.root, beside.MUTES, scope.directory).get(file, [])
    after = [row for row in rows if own_files.text_of(row) not in texts]
    edits = beside.edit(store.root, beside.MUTES, scope.directory, file, after)
    if edits:
        store.journal.run("unmute", edits, f"unmute {scope.label}:{found.stem}")
    return bool(edits)
