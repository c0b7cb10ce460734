"""Words and glyphs for deliveries: their contents, events, sessions and outcomes."""

import math
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from memtui.base.phrasing_hot import many
from memtui.base.shell import shell_word
from memtui.client.agents import programs
from memtui.deliver import receipts_hot
from memtui.views import glyphs
from memtui.views.words import TABLES

if TYPE_CHECKING:
    from memtui.deliver.record import ItemCounts
    from memtui.deliver.sessions import Session
    from memtui.deliver.statistics import RecallCounts, ReceiptCounts

OUTCOMES = {code: words.split(" | ") for code, words in TABLES["receipts"].items()}
GLYPHS = {outcome: (receipts_hot.GLYPHS[outcome], colour) for outcome, (colour, _, _) in OUTCOMES.items()}
MEANINGS = {outcome: meaning for outcome, (_, _, meaning) in OUTCOMES.items()}
WORDS = {receipts_hot.WAITING: "on the way"}  # the words for outcomes in queries where these are not words enough
# outcome -> glyph and word, colour
RECEIPTS = {code: (f"{receipts_hot.GLYPHS[code]} {word}", colour) for code, (colour, word, _) in OUTCOMES.items()}
# Why a line of an index was delivered.
INDEX_LINE = "its line in the list of memories"
EVENTS = TABLES["events"]
NOUNS = {kind: words.split(", ") for kind, words in TABLES["contents"].items()}  # one and several of each kind
# What `memtui activity --kind` takes, by kind.
_SAME_WORD = {"index", "memory", "recall", "use", "corrected"}
KIND_WORD = {kind: kind if kind in _SAME_WORD else NOUNS[kind][1] for kind in NOUNS}
# The words of the rows of a list for events and kinds, in lower case.
LABELS = EVENTS | {kind: " ".join(words) for kind, words in NOUNS.items()}
LABELS |= {"index": "index", "lost": "lost", "use": "agent", "corrected": "corrected again"}


def what(contents: "ItemCounts") -> str:
    """Describe the contents of a delivery: `2 notes, index of 14, 3 left out`."""
    words = []
    for kind, count in contents.counts:
        if kind == "use":
            words.append(f"agent {contents.used[0] or 'used'} {contents.used[1]}")
        else:
            words.append(f"index of {count}" if kind == "index" else counted(kind, count))
    if contents.left_out:
        words.append(f"{contents.left_out} left out")
    return ", ".join(words) or "nothing"


def counted(kind: str, count: int) -> str:
    """Say how many items of a kind there are: `2 drafts`."""
    return many(count, *NOUNS.get(kind, (kind.replace("-", " "),)))


def brought(contents: "ItemCounts") -> tuple[str, str]:
    """Describe the contents of a delivery by their titles: (`2 drafts`, `Ask before a migration, Use uv…`)."""
    counts = dict(contents.counts)
    titles, total = contents.titles, sum(counts.values())
    if "use" in counts or not titles:
        return what(contents), ""
    single = counts == {"guidance": 1} and not contents.left_out
    return "" if single else what(contents), ", ".join(titles) + ("…" if total > len(titles) else "")


def in_short(contents: "ItemCounts") -> str:
    """Describe the contents of a delivery on one line, by their titles: `2 drafts · Ask before a migration, Use uv`."""
    return " · ".join(filter(None, brought(contents)))


def outcomes(counts: "ReceiptCounts") -> list[tuple[int, str, str]]:
    """Return what became of some deliveries, as (how many, in a word, outcome); what is none is left out."""
    every = (
        (counts.arrived, receipts_hot.ARRIVED),
        (counts.previewed, receipts_hot.PREVIEWED),
        (counts.lost, receipts_hot.FAILED),
        (counts.waiting, receipts_hot.WAITING),
        (counts.unknown, receipts_hot.UNKNOWN),
    )
    return [(count, OUTCOMES[outcome][1], outcome) for count, outcome in every if count]


def sums(counts: "ReceiptCounts") -> list[tuple[str, str]]:
    """Say what became of some deliveries, each with its style: `✓ arrived 8 of 10`, `✗ 2 deliveries lost`."""
    words = []
    if counts.settled:
        glyph, style = GLYPHS[receipts_hot.ARRIVED]
        arrived = f"arrived {counts.arrived:,} of {counts.settled:,}"
        words.append((f"{glyph} " * bool(counts.arrived) + arrived, style if counts.arrived == counts.settled else ""))
    for count, word, outcome in outcomes(counts):
        if outcome != receipts_hot.ARRIVED:
            glyph, style = GLYPHS[outcome]
            number = many(count, "delivery", "deliveries") if outcome == receipts_hot.FAILED else f"{count:,}"
            words.append((f"{glyph} {number} {word}", style))
    return words


def limits(times: Iterable[float]) -> tuple[int, int]:
    """Return the milliseconds that half of some times, and 95% of them, are under."""
    from memtui.deliver.statistics import percentile  # not needed for the first paint

    half, most = (math.floor(percentile(times, share)) + 1 for share in (0.5, 0.95))
    return half, most


def recalls(counts: "RecallCounts") -> str:
    """Say what came of recalling a memory: `recalled 5×, opened 3×, corrected again 1×, about 500 tokens`."""
    words = [f"recalled {counts.recalled:,}×"] if counts.recalled else []
    words += [f"opened {counts.opened:,}×" if counts.opened else "not opened"] if counts.recalled else []
    words += [f"corrected again {counts.corrected:,}×"] if counts.corrected else []
    words += [f"about {counts.tokens:,} tokens"] if counts.tokens else []
    return ", ".join(words)


def reason(recorded: str) -> str:
    """Say why something was delivered, for the words of its record, which has `index, TYPE` for a line of an index."""
    return INDEX_LINE if recorded.startswith("index, ") else recorded


def legend(title: str = "Receipts") -> str:
    rows = ((GLYPHS[code][0], f"{word}: {meaning}") for code, (_, word, meaning) in OUTCOMES.items())
    return glyphs.section(title, rows)


def session_words(session: str, entrypoint: str, title: str = "") -> str:
    """Name a session by its title, else its id, and how it runs: `“fix the build” (interactive, 1f0c2b3d)`."""
    from memtui.deliver.record import session_kind

    kind = session_kind(entrypoint).replace("person", "interactive")
    facts = ", ".join(filter(None, (kind, session[:8] if title else "")))
    return (f"“{title}”" if title else f"session {session[:8]}") + (f" ({facts})" if facts else "")


LIVE = ("●", "green")


def session_title(row: "Session") -> str:
    """Return what a session is about, in words also where nobody knows."""
    if row.title or not row.looked_up:
        return row.title
    return "no prompt yet" if row.live or row.transcript else "its transcript is gone"


def session_sums(row: "Session") -> list[tuple[str, str]]:
    """Return in words, each with its style, what became of the deliveries to a session."""
    if not row.deliveries:
        return [("got nothing yet", "dim")]
    return sums(row.counts) or [("receipts are looked up …", "dim")]


def is_gone(row: "Session") -> bool:
    """Whether a session can't be resumed any more, as its transcript is gone."""
    return row.looked_up and not row.transcript and not row.live


def resume(row: "Session", cwd: str) -> str:
    """Return the shell command that resumes a session, empty if it can't be. `cwd`: the directory that it is for."""
    if is_gone(row):
        return ""
    command = programs.load(row.agent).resumes.format(shell_word(row.id))  # the id is from files
    directory = row.cwd or (row.project if row.project.startswith("/") else "")
    if not directory or os.path.realpath(directory) == cwd:
        return command
    return f"cd {shell_word(directory)} && {command}"
