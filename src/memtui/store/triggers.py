"""The triggers of a memory, of its frontmatter, typed or of a draft, and its muted prompts."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from memtui.base import clock_hot, word_lists
from memtui.base.errors import MemtuiError, UsageError
from memtui.base.phrasing_hot import cut
from memtui.redact.redact import redact
from memtui.store import memory, mutes_hot, references, scopes, sidecars
from memtui.store.frontmatter import document
from memtui.store.journal.own_files import BesideEdit, Entries
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.store import Store

# Where a line comes from: the memory's own frontmatter (file), or beside it.
Origin = Literal["file", "person", "draft"]
# Those beside it, the most telling first.
BESIDE: tuple[Origin, ...] = ("person", "draft")
# The origin of a line that a person removed, so that no draft brings it again.
REMOVED = "removed"
FIELD = "triggers"
LONGEST = 300  # characters of a line
MOST = 20  # lines of a memory, all origins together
MOST_REMOVED = 40
# A word that more than this share of the memories has, where there are several, is one of most prompts.
OFTEN, SEVERAL = 0.2, 20
LEFT_OUT = "left out: it would fire with most prompts"
_WORDS = word_lists.sets(__file__.removesuffix("triggers.py") + "work_words.txt")
_WORD = re.compile(r"[^\W_]+")
MOST_MUTED = 40  # prompts for which one memory can be muted


class Trigger(NamedTuple):
    """A line: its origin, and when it came (0: not known)."""

    text: str
    origin: Origin
    time: float = 0.0


def lines_of(root: str, directory: str) -> dict[str, list[Trigger]]:
    """Return the lines beside the memories of a directory, by file, not those in frontmatter. Never raises."""
    rows_by_file = sidecars.rows(root, sidecars.TRIGGERS, directory)
    return {file: lines for file, rows in rows_by_file.items() if (lines := kept(rows))}


def in_frontmatter(fields: Mapping[str, object]) -> list[str]:
    """Return the lines of a memory's frontmatter: `triggers:`, a list or a text with a line each."""
    nested = fields.get("metadata")
    value = fields.get(FIELD, nested.get(FIELD) if isinstance(nested, dict) else None)
    rows = value.split("\n") if isinstance(value, str) else value if isinstance(value, list) else []
    return [line for row in rows if isinstance(row, (str, int, float)) and (line := one_line(str(row)))][:MOST]


def kept(rows: Entries) -> list[Trigger]:
    """Return the triggers of rows in their order, of too many the MOST most wanted."""
    lines = alive(rows)
    wanted = sorted(lines, key=lambda trigger: BESIDE.index(trigger.origin))[:MOST]
    return [trigger for trigger in lines if trigger in wanted]


def alive(rows: Entries) -> list[Trigger]:
    """Return what `kept` does, however many there are."""
    return [trigger for trigger in map(_parse, rows.values()) if trigger is not None]


def _parse(fields: Mapping[str, Any]) -> Trigger | None:
    text, origin = one_line(str(fields["text"])), fields.get("origin")
    if not text or origin not in BESIDE:
        return None
    return Trigger(text, origin, clock_hot.parse(str(fields.get("time"))) or 0.0)


def as_row(trigger: Trigger) -> dict[str, Any]:
    """Return a line as it is kept beside a memory."""
    return {"text": trigger.text, "origin": trigger.origin, "time": clock_hot.iso(trigger.time)}


def one_line(text: str) -> str:
    """Return text as a line: clean, with single spaces, cut at a word after LONGEST characters."""
    return cut(memory.one_line(text[: 8 * LONGEST]), LONGEST)


def place_of(store: Store, memory: Memory) -> tuple[Scope, str]:
    scope = store.scope(memory.scope_label)
    return scope, references.relative(scope, memory.path)


def of_memory(root: str, directory: str, file: str, memory: Memory) -> list[Trigger]:
    """Return all lines of a memory, those of its frontmatter first."""
    own = [Trigger(text, "file") for text in in_frontmatter(memory.fields)]
    rows = sidecars.rows(root, sidecars.TRIGGERS, directory).get(file, {})
    texts = {trigger.text.casefold() for trigger in own}
    return own + [trigger for trigger in kept(rows) if trigger.text.casefold() not in texts]


def after_adding(rows: Entries, texts: Iterable[str], origin: Origin, now: float) -> Entries:
    """Return rows with lines of an origin added, but for known and removed ones; a person's replaces others."""
    result = dict(rows)
    for text in filter(None, map(one_line, texts)):
        same = [known for known in result if known.casefold() == text.casefold()]
        if same and (origin != "person" or result[same[0]].get("origin") == "person"):
            continue
        row = as_row(Trigger(text, origin, now))
        # In the place of the old one.
        result = {text if key in same else key: row if key in same else old for key, old in result.items()}
        result[text] = row
    return result


def after_removing(rows: Entries, texts: Iterable[str], now: float) -> Entries:
    """Return rows without some lines. Of one that somebody else wrote it is kept that a person removed it."""
    gone = {one_line(text).casefold() for text in texts}
    result = dict(rows)
    for key, fields in rows.items():
        trigger = _parse(fields)
        if trigger is not None and trigger.text.casefold() in gone:
            del result[key]
            if trigger.origin != "person":
                mark = {"origin": REMOVED, "was": trigger.origin, "time": clock_hot.iso(now)}
                result[trigger.text] = {"text": trigger.text, **mark}
    marks = [key for key, fields in result.items() if fields.get("origin") == REMOVED]
    return {key: fields for key, fields in result.items() if key not in marks[:-MOST_REMOVED]}


def change(store: Store, memory: Memory, add: Sequence[str] = (), remove: Sequence[str] = ()) -> bool:
    """Add and remove lines, as one undo step; return whether anything changed. Raises UsageError, MemtuiError."""
    scope, file = place_of(store, memory)
    now = store.journal.now()
    add = [checked(phrase, partial(scopes.memories, scope)) for phrase in add]
    removed = {one_line(phrase).casefold() for phrase in remove}
    own = in_frontmatter(memory.fields)
    rows = sidecars.rows(store.root, sidecars.TRIGGERS, scope.directory).get(file, {})
    after = after_removing(rows, remove, now)
    fields = [phrase for phrase in own if phrase.casefold() not in removed]
    if own:
        texts = {phrase.casefold() for phrase in fields}
        fields += [phrase for phrase in dict.fromkeys(add) if phrase.casefold() not in texts]
    else:
        after = after_adding(after, add, "person", now)
    if add:
        check_number(len(fields) + len(alive(after)))
    edits = sidecars.edit(store.root, sidecars.TRIGGERS, scope.directory, file, after)
    if fields == own:
        if edits:
            store.journal.run(FIELD, edits, f"{_verb(add, remove)} {scope.label}:{memory.stem}")
        return bool(edits)
    if memory.broken is not None:
        raise MemtuiError(f"{memory.path} is broken: {memory.broken}.", "Fix it in an editor first.")
    doc = document.parse(references.content(memory))
    path = (FIELD,) if FIELD in doc.fields else ("metadata", FIELD)
    data = (doc.with_field(path, fields) if fields else doc.without_field(path)).raw
    store.edit(memory, data, op=FIELD, verb=_verb(add, remove), extra=edits, keep_time=True)
    return True


# Prompts for which a person does not want a memory; `mutes` has the check for hooks


class MutedPrompt(NamedTuple):
    """A prompt like which a memory is not recalled, as it is shown, and when it was muted (seconds since the epoch)."""

    text: str
    time: float


def _mutes(root: str, directory: str, file: str) -> dict[str, Any]:
    return sidecars.rows(root, sidecars.MUTES, directory).get(file, {})


def muted_prompts(root: str, directory: str, file: str) -> list[MutedPrompt]:
    """List the prompts for which a memory is muted, oldest first. Never raises."""
    rows = _mutes(root, directory, file)
    return [MutedPrompt(text, clock_hot.parse(str(row.get("time"))) or 0.0) for text, row in rows.items()]


def muted_like(root: str, directory: str, file: str, terms: Sequence[str], common: frozenset[str]) -> list[str]:
    """List the prompts, as shown, for which a memory is muted and which are like one with these terms."""
    all_mutes, prompt_terms = mutes_hot.Mutes(root, common), set(terms)
    of_prompts = {text: row.get("terms") for text, row in _mutes(root, directory, file).items()}
    return [
        text
        for text, its in of_prompts.items()
        if isinstance(its, list) and (not its or all_mutes.are_close(prompt_terms, frozenset(map(str, its))))
    ]


def mute_edits(store: Store, directory: str, file: str) -> list[BesideEdit]:
    row = mutes_hot.row(mutes_hot.EVERY, (), clock_hot.iso(store.journal.now()))
    after = {**_mutes(store.root, directory, file), mutes_hot.EVERY: row}
    return sidecars.edit(store.root, sidecars.MUTES, directory, file, after)


def mute(store: Store, memory: Memory, prompt: str, terms_of: Callable[[str], Sequence[str]]) -> bool:
    """Never recall a memory for prompts like one; False if it is muted already. Raises UsageError, MemtuiError."""
    scope, file = place_of(store, memory)
    prompt = redact(prompt)[0]
    text, terms = one_line(prompt), terms_of(prompt)
    if not text or not terms:
        raise UsageError("The prompt can't be empty.", "Give the prompt for which it is not wanted.")
    rows = _mutes(store.root, scope.directory, file)
    if text in rows:
        return False
    if len(rows) >= MOST_MUTED:
        raise UsageError(f"A memory can be muted for {MOST_MUTED} prompts at most.", "Unmute some of them first.")
    after = {**rows, text: mutes_hot.row(text, terms, clock_hot.iso(store.journal.now()))}
    edits = sidecars.edit(store.root, sidecars.MUTES, scope.directory, file, after)
    store.journal.run("mute", edits, f"mute {scope.label}:{memory.stem}")
    return True


def unmute(store: Store, memory: Memory, texts: Sequence[str]) -> bool:
    """Recall a memory again for prompts like some, given as they are shown. Return whether that changed anything."""
    scope, file = place_of(store, memory)
    after = {text: row for text, row in _mutes(store.root, scope.directory, file).items() if text not in texts}
    edits = sidecars.edit(store.root, sidecars.MUTES, scope.directory, file, after)
    if edits:
        store.journal.run("unmute", edits, f"unmute {scope.label}:{memory.stem}")
    return bool(edits)


def is_everywhere(text: str, memories: Callable[[], Iterable[Memory]] = tuple) -> bool:
    """Return whether a line would fire with most prompts: it has no telling word, or one of many `memories`."""
    telling = [word for word in _WORD.findall(text.casefold()) if word not in _WORDS["filler"] | _WORDS["smalltalk"]]
    if len(telling) != 1:
        return not telling
    if not _WORDS["work"].isdisjoint({telling[0], telling[0].removesuffix("s")}):
        return True
    texts = [f"{mem.name}\n{mem.description}\n{mem.body}".casefold() for mem in memories()]
    number = sum(telling[0] in _WORD.findall(text) for text in texts)
    return len(texts) >= SEVERAL and number > OFTEN * len(texts)


def checked(text: str, memories: Callable[[], Iterable[Memory]] = tuple) -> str:
    """Return a line that a person typed as it is kept. Raises UsageError for one that is long, empty or everywhere."""
    line = memory.one_line(text)
    if not any(map(str.isalnum, line)):
        raise UsageError("A trigger needs a word.", "Say in a few words when one would need the memory.")
    if len(line) > LONGEST:
        raise UsageError(f"A trigger can have {LONGEST} characters at most.", "Make two of it.")
    if is_everywhere(line, memories):
        raise UsageError(f"“{line}” alone would fire with most prompts.", "Add a second word.")
    return line


def check_number(lines: int) -> None:
    """Raise UsageError if a memory would have too many lines."""
    if lines > MOST:
        raise UsageError(f"A memory can have {MOST} triggers at most.", "Remove some of them first.")


def _verb(add: Sequence[str], remove: Sequence[str]) -> str:
    return "change triggers of" if add and remove else "add triggers to" if add else "remove triggers of"
