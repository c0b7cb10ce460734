"""How sessions are said and drawn: whether they are live, what arrived of what they got, how to resume them."""

import os

from memtui.base.shell import shell_word
from memtui.deliver.sessions import SessionRow
from memtui.views.deliveries import sums

LIVE = ("●", "green")
# In front of a note that waits for a session.
WAITING = "○"


def title(row: SessionRow) -> str:
    """Return what a session is about, in words also where nobody knows."""
    if row.title or not row.looked_up:
        return row.title
    return "no prompt yet" if row.live or row.transcript else "its transcript is gone"


def arrived(row: SessionRow) -> str:
    """Return how many deliveries arrived of those whose outcome is settled: `8 of 10`; empty if none is."""
    return f"{row.counts.arrived:,} of {row.counts.settled:,}" if row.counts.settled else ""


def besides(row: SessionRow) -> list[tuple[str, str]]:
    """Return in words, each with its style, what is to be said beside what arrived, as `present.deliveries.sums`."""
    return sums(row.counts)[1 if row.counts.settled else 0 :]


def told(row: SessionRow) -> list[tuple[str, str]]:
    """Return in words, each with its style, what became of the deliveries to a session."""
    if not row.deliveries:
        return [("got nothing yet", "dim")]
    return sums(row.counts) or [("receipts are looked up …", "dim")]


def is_gone(row: SessionRow) -> bool:
    """Whether a session can't be resumed any more, as its transcript is gone."""
    return row.looked_up and not row.transcript and not row.live


def resume(row: SessionRow, cwd: str) -> str:
    """Return the shell command that resumes a session, empty if it can't be. `cwd`: the directory that it is for."""
    if is_gone(row):
        return ""
    command = f"claude --resume {shell_word(row.id)}"  # the id is from files
    directory = row.cwd or (row.project if row.project.startswith("/") else "")
    if not directory or os.path.realpath(directory) == cwd:
        return command
    return f"cd {shell_word(directory)} && {command}"
