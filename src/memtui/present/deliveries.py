"""Words and glyphs for deliveries: their contents, events, sessions and outcomes."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from memtui.core.base.phrasing import many
from memtui.core.deliveries import receipts
from memtui.present import colours

if TYPE_CHECKING:
    from memtui.core.deliveries.memory_counts import RecallCounts, ReceiptCounts
    from memtui.core.deliveries.record import ItemCounts

COLOURS = {
    receipts.ARRIVED: colours.GOOD,
    receipts.PREVIEWED: colours.WARNING,
    receipts.TIMED_OUT: colours.PROBLEM,
    receipts.FAILED: colours.PROBLEM,
    receipts.DROPPED: colours.PROBLEM,
    receipts.BROKEN_OFF: colours.PROBLEM,
    receipts.UNKNOWN: colours.QUIET,
    receipts.WAITING: colours.UNDER_WAY,
    receipts.NOTHING: colours.QUIET,
}
# outcome -> glyph, colour
GLYPHS = {outcome: (glyph, COLOURS[outcome]) for outcome, glyph in receipts.GLYPHS.items()}
# The words for outcomes where these are not words enough.
WORDS = {receipts.WAITING: "on the way"}
MEANINGS = {
    receipts.ARRIVED: "it is in the session's transcript",
    receipts.PREVIEWED: "too large: only a preview arrived",
    receipts.TIMED_OUT: "the client gave up on the hook, nothing arrived",
    receipts.FAILED: "the hook failed or left no trace, nothing arrived",
    receipts.DROPPED: "withdrawn or interrupted before the agent answered",
    receipts.BROKEN_OFF: "the session ended before the agent answered",
    receipts.UNKNOWN: "the transcript is missing or does not show it",
    receipts.WAITING: "the turn has not finished",
    receipts.NOTHING: "a memory was opened, written or corrected; nothing was delivered",
}
# Why a line of an index was delivered.
INDEX_LINE = "its line in the list of memories"
# Hook events, short enough for a column of seven characters.
EVENTS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "tool",
    "PostToolUse": "use",
    "PreCompact": "compact",
    "Stop": "stop",
    "SessionEnd": "end",
}
# Kinds of contents, for help and filters.
KINDS = {
    "guidance": "notes",
    "index": "index lines of memories",
    "memory": "whole memories",
    "recall": "memories recalled for a prompt",
    "pending-update": "drafts",
    "pending-item": "todos",
    "block": "blocks of the subconscious",
    "use": "memories the agent read or wrote",
    "corrected": "memories corrected again after they were recalled",
}
# What `memtui activity --kind` takes, by kind.
KIND_WORD = {
    **{kind: kind for kind in KINDS},
    "guidance": "notes",
    "pending-update": "drafts",
    "pending-item": "items",
    "block": "blocks",
}
# One and several of a kind, where these are not the kind and an s.
NOUNS = {
    "guidance": ("note", "notes"),
    "index": ("index line", "index lines"),
    "memory": ("memory", "memories"),
    "recall": ("recalled memory", "recalled memories"),
    "corrected": ("correction", "corrections"),
    "use": ("use", "uses"),
    "pending-update": ("draft", "drafts"),
    "pending-item": ("todo", "todos"),
    "block": ("block", "blocks"),
}
# The words of the rows of a list for events and kinds, in lower case.
LABELS = {
    **EVENTS,
    **{kind: " ".join(words) for kind, words in NOUNS.items()},
    "index": "index",
    "use": "agent",
    "corrected": "corrected again",
}


def what(contents: "ItemCounts") -> str:
    """Describe the contents of a delivery: `2 notes, index of 14, 3 left out`."""
    words = []
    for kind, count in contents.counts:
        if kind == "use":
            words.append(f"agent {contents.used[0] or 'used'} {contents.used[1]}")
        elif kind == "index":
            words.append(f"index of {count}")
        else:
            words.append(counted(kind, count))
    if contents.left_out:
        words.append(f"{contents.left_out} left out")
    return ", ".join(words) or "nothing"


def counted(kind: str, count: int) -> str:
    """Say how many items of a kind there are: `2 drafts`."""
    return many(count, *NOUNS.get(kind, (kind.replace("-", " "),)))


def brought(contents: "ItemCounts") -> tuple[str, str]:
    """Describe the contents of a delivery by their titles: (`2 drafts`, `Ask before a migration, Use uv, …`); of a
    single note only its first words."""
    counts = dict(contents.counts)
    titles, total = contents.titles, sum(counts.values())
    if "use" in counts or not titles:
        return what(contents), ""
    single = counts == {"guidance": 1} and not contents.left_out
    return "" if single else what(contents), ", ".join(titles) + (", …" if total > len(titles) else "")


def in_short(contents: "ItemCounts") -> str:
    """Describe the contents of a delivery on one line, by their titles: `2 drafts · Ask before a migration, Use uv`."""
    return " · ".join(filter(None, brought(contents)))


def outcomes(counts: "ReceiptCounts") -> list[tuple[int, str, str]]:
    """Return what became of some deliveries, as (how many, in a word, outcome); what is none is left out."""
    every = (
        (counts.arrived, "arrived", receipts.ARRIVED),
        (counts.previewed, "cut short", receipts.PREVIEWED),
        (counts.lost, "lost", receipts.FAILED),
        (counts.waiting, "on the way", receipts.WAITING),
        (counts.unknown, "not known", receipts.UNKNOWN),
    )
    return [each for each in every if each[0]]


def sums(counts: "ReceiptCounts") -> list[tuple[str, str]]:
    """Say what became of some deliveries: `✓ arrived 8 of 10` (of the settled ones), `✗ 2 lost`, `… 2 on the way`, each
    with its style; what is none is not said."""
    words = []
    if counts.settled:
        glyph, style = GLYPHS[receipts.ARRIVED]
        arrived = f"arrived {counts.arrived:,} of {counts.settled:,}"
        all_arrived = counts.arrived == counts.settled
        words.append((f"{glyph} {arrived}" if counts.arrived else arrived, style if all_arrived else ""))
    for count, word, outcome in outcomes(counts):
        if outcome != receipts.ARRIVED:
            glyph, style = GLYPHS[outcome]
            words.append((f"{glyph} {count:,} {word}", style))
    return words


def waited(times: Iterable[float], what: str) -> str:
    """Say how long `what` waited for a hook, of its times in milliseconds: `half of the prompts under 3 ms, 95% under
    40 ms`."""
    from memtui.core.deliveries.statistics import percentile  # not needed for the first paint

    half, most = (math.floor(percentile(times, share)) + 1 for share in (0.5, 0.95))
    return f"half of the {what} under {half} ms" + (f", 95% under {most} ms" if most > half else "")


def recalls(counts: "RecallCounts") -> str:
    """Say what came of recalling a memory: `recalled 5×, opened 3×, corrected again 1×, about 500 tokens`; empty where
    there is nothing to tell."""
    words = [f"recalled {counts.recalled:,}×"] if counts.recalled else []
    words += [f"opened {counts.opened:,}×" if counts.opened else "not opened"] if counts.recalled else []
    words += [f"corrected again {counts.corrected:,}×"] if counts.corrected else []
    words += [f"about {counts.tokens:,} tokens"] if counts.tokens else []
    return ", ".join(words)


def reason(recorded: str) -> str:
    """Say why something was delivered, for the words of its record, which has `index, TYPE` for a line of an index."""
    return INDEX_LINE if recorded.startswith("index, ") else recorded


def session_words(session: str, entrypoint: str, title: str = "") -> str:
    """Name a session by its title, else its id, and how it runs: `“fix the build” (interactive, 1f0c2b3d)`."""
    from memtui.core.deliveries.record import session_kind

    kind = session_kind(entrypoint).replace("person", "interactive")
    facts = ", ".join(filter(None, (kind, session[:8] if title else "")))
    return (f"“{title}”" if title else f"session {session[:8]}") + (f" ({facts})" if facts else "")
