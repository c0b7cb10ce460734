"""Whispers: what the subconscious has to say to a session. A whisper is a note of guidance for this one session, so it
is delivered once, before the next prompt or, urgent, before the next tool, with a receipt (core/inbox/claims.py)."""

import os
from dataclasses import dataclass
from itertools import islice

from memtui.core.base import clock, paths
from memtui.core.deliveries.record import Note, find_note
from memtui.core.inbox import file as inbox_file
from memtui.core.inbox import format as inbox_format
from memtui.core.inbox.deliverable import WHISPER
from memtui.subconscious import lines, places

SENDER = "subconscious"
# Characters of a whisper; seconds after which it is not delivered any more.
MOST, EXPIRES = 1200, clock.DAY
# Whispers back to which one is looked for that a killed process may have sent.
TRIM_BYTES, AGAIN = 2 << 20, 50


@dataclass(frozen=True)
class Whisper:
    """A message to a session. `time`: seconds since the epoch; `reply`: the words that it answers, empty if it was not
    asked; `because`: the words in the session that it is about."""

    id: str
    time: float
    session: str
    project: str
    run: str
    text: str
    urgent: bool = False
    reply: str = ""
    because: str = ""

    def data(self) -> dict[str, object]:
        """Return it as the log and --json have it."""
        return lines.data_of(self)


def path(root: str) -> str:
    """Return the file with all whispers."""
    return places.home(root) + "/whispers.jsonl"


def send(root: str, whisper: Whisper) -> bool:
    """Put a whisper into the inbox of its project; False if it was sent already, by a process that was killed then.
    Raises OSError."""
    if any(each.id == whisper.id for each in newest_first(root, AGAIN)):
        if waits(root, whisper) or find_note(root, whisper.id) is not None:
            return False
    else:
        lines.append(root, path(root), whisper, TRIM_BYTES)
    fields = {
        "id": whisper.id,
        "time": clock.iso_seconds(whisper.time),
        "from": SENDER,
        "kind": WHISPER,
        "for": "session:" + whisper.session,
        "expires": clock.iso_seconds(whisper.time + EXPIRES),
    }
    if whisper.urgent:
        fields["urgent"] = "yes"
    inbox_file.add_entry(paths.inbox_dir(root, whisper.project), "guidance", fields, whisper.text)
    return True


def newest_first(root: str, limit: int = 100, session: str = "") -> list[Whisper]:
    """Return the whispers, newest first; those to a `session` (by the beginning of its id) if given."""
    rows = (each for each in lines.newest_first(path(root), Whisper) if each.session.startswith(session))
    return list(islice(rows, limit))


def delivered(root: str, whisper: Whisper) -> Note | None:
    """Return the newest delivery of a whisper; None if it was not delivered. Raises MemtuiError."""
    return find_note(root, whisper.id)


def waits(root: str, whisper: Whisper) -> bool:
    """Tell whether a whisper is still in the inbox, or taken by a hook whose delivery is not settled."""
    directory = paths.inbox_dir(root, whisper.project)
    files = [f"{directory}/{inbox_format.FILES['guidance']}"]
    try:
        with os.scandir(f"{directory}/{inbox_format.CLAIMED}") as entries:
            files += [each.path for each in entries if each.name.endswith(".md")]
    except OSError:
        pass
    for file in files:
        try:
            if any(each.id == whisper.id for each in inbox_format.read(file)):
                return True
        except OSError:
            continue
    return False
