"""Words for a note whose addressee is not known here."""

from memtui.core.review.addressees import Stranger
from memtui.present.safe_text import line

SHORT = 8  # characters of a session's id


def why(found: Stranger) -> str:
    """Say why nobody may get a note: `No session “zzzz” is known yet; the note waits for it.`"""
    name = line(found.name, 60)
    if found.project:
        return f"Session {name[:SHORT]} belongs to {line(found.project, 200)}, and gets no notes of this project."
    if found.kind == "agent":
        return f"Nothing was delivered to an agent “{name}” yet; the note waits for one."
    return f"No session “{name}” is known yet; the note waits for it."


def meant(found: Stranger) -> str:
    """Name the known ones that are like it: `Did you mean session:d2f7b8c9?`; empty if none is."""
    names = [line(each, 60)[:SHORT] if found.kind == "session" else line(each, 60) for each in found.near]
    return f"Did you mean {' or '.join(f'{found.kind}:{name}' for name in names)}?" if names else ""
