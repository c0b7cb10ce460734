"""Words for ChangeSets in both user interfaces: what a proposal does and drops, why it can't be made, what is saved."""

import os
from collections.abc import Sequence

from memtui.consolidate.applying import DONE
from memtui.consolidate.changeset import Proposal, is_index
from memtui.consolidate.composing import FileDiff, Reason, Refused, Savings
from memtui.consolidate.coverage import Coverage, How
from memtui.core.base.phrasing import many, size, some

DECISIONS = {"open": "", "accepted": "accepted", "edited": "accepted, edited", "rejected": "rejected"}
COVERED: tuple[tuple[How, str], ...] = (
    ("dropped", "dropped"),
    ("reworded", "in other words"),
    ("kept", "as they were"),
)
REFUSED: dict[Reason, str] = {
    "stale": "out of date",
    "overlap": "overlaps another change",
    "untrusted": "not trusted",
    "forbidden": "not allowed",
}


def name(path: str) -> str:
    """Name a file: a memory by its stem, an index as MEMORY.md."""
    return os.path.basename(path) if is_index(path) else os.path.basename(path).removesuffix(".md")


def title(found: Proposal) -> str:
    """Say what a proposal does: `merge pnpm-only into prefer-pnpm`, `archive old-freeze`, `fix MEMORY.md`."""
    gone, written = [name(each) for each in found.gone], [name(each.path) for each in found.written]
    if found.kind == "merge":
        return f"merge {' and '.join(gone)} into {written[0]}"
    if found.kind == "split":
        read = {each.path for each in found.inputs}
        whole = [*gone, *(name(each.path) for each in found.written if each.path in read)]
        return f"split {some(whole)} into {some(written)}"
    if found.kind == "move":
        return f"move {gone[0]} to {found.written[0].path}"
    if found.kind in {"archive", "delete"}:
        return f"{'archive' if found.kind == 'archive' else 'remove'} {some(gone)}"
    return f"{'fix' if found.kind == 'relink' else found.kind} {some(written)}"


def dropped(found: Coverage) -> list[str]:
    """List the statements that a proposal drops, each with the memory that has it."""
    return [f"“{each.statement.text}” ({name(each.statement.path)})" for each in found.dropped]


def covered(found: Coverage) -> str:
    """Say how many statements are dropped, in other words, or as they were."""
    counts = [(len(found.of(how)), words) for how, words in COVERED]
    told = [f"{count} {words}" for count, words in counts if count]
    return "Statements: " + ", ".join(told) + "." if told else ""


def following(found: Sequence[FileDiff]) -> str:
    """Name the files whose links or lines follow: `Links and lines follow in MEMORY.md, review.`"""
    names = [name(each.path) for each in found if each.repaired]
    return f"Links and lines follow in {some(names)}." if names else ""


def saved(found: Savings) -> str:
    """Say what is saved: `Saves 2 memories, 1.2 kB, 3 lines of MEMORY.md (about 40 tokens)`; empty if nothing is."""
    tokens = f" (about {found.index_tokens} tokens of each session)" if found.index_tokens > 0 else ""
    told = [
        many(found.memories, "memory", "memories") if found.memories > 0 else "",
        size(found.bytes) if found.bytes > 0 else "",
        many(found.index_lines, "line") + f" of MEMORY.md{tokens}" if found.index_lines > 0 else "",
    ]
    said = [each for each in told if each]
    return f"Saves {', '.join(said)}." if said else ""


def made(found: Sequence[Proposal]) -> str:
    """Say what was done: `3 changes made: 2 merged, 1 archived.`"""
    counts = [(sum(each.kind == kind for each in found), word) for kind, word in DONE.items()]
    return f"{many(len(found), 'change')} made: {', '.join(f'{count} {word}' for count, word in counts if count)}."


def refused(found: Refused) -> str:
    """Say that a proposal was not made, and why."""
    return f"Not made ({REFUSED[found.reason]}): {title(found.proposal)}. {found.error.message}"
