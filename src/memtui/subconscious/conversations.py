"""The conversation of the subconscious about one session: what it noted after each turn, and how far it has read.

The state of a session (`sessions/<id>.json`) is replaced as a whole: with the answer of a run before this is acted on,
and without it after that. So a killed process loses no answer, and acts on none twice.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from memtui.core.base import clock, fastjson, fs
from memtui.subconscious import lines, places

VERSION = 1
# Bytes of the state.
STATE_BYTES = 4 << 20
# How often a mention is told of, and the seconds for which it waits.
TELLINGS, WAITING_SECONDS = 3, clock.DAY
# What an entry is about: what it noted, changed in blocks, whispered, was asked and replied, looked at, was refused.
NOTED, CHANGED, WHISPERED, ASKED, REPLIED = "noted", "changed", "whispered", "asked", "replied"
LOOKED, REFUSED = "looked", "refused"


@dataclass(frozen=True)
class Remark:
    """What the subconscious noted, said or did at a `time` (seconds since the epoch). `kind`: NOTED, WHISPERED, …"""

    time: float
    run: str
    kind: str
    text: str

    def data(self) -> dict[str, object]:
        """Return it as the file and --json have it."""
        return lines.data_of(self)


def load(root: str, session: str) -> dict[str, Any]:
    """Read the state of a session: `path`, `offset` and `mark` of its transcript (core/client/cursor.py),
    `conversation` (core/client/conversation.py), `mentions` that wait, `answer`, one that is not acted on yet, and
    `in_vain`, how often what comes next was sent without one; `{}` if there is none."""
    try:
        state = fastjson.loads_dict(fs.read_bytes(places.session(root, session, "json"), STATE_BYTES))
    except OSError:
        return {}
    return dict(state) if state.get("v") == VERSION else {}


def mentions(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the mentions of a state that were not replied to, each with `id`, `who`, `words`, `time` and `told`."""
    given = state.get("mentions")
    found = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    return [each for each in found if all(isinstance(each.get(key), str) for key in ("id", "who", "words"))]


def waits(mention: Mapping[str, object], now: float) -> bool:
    """Tell whether a mention still waits for a reply: it was not told of often enough in vain, nor long ago."""
    told, since = mention.get("told"), clock.parse(mention.get("time")) or 0.0
    return (told if isinstance(told, int) else 0) < TELLINGS and now - since < WAITING_SECONDS


def save(root: str, session: str, state: Mapping[str, object]) -> None:
    """Replace the state of a session. Raises OSError."""
    fs.write_atomic(places.session(root, session, "json"), fastjson.dumps({**state, "v": VERSION}).encode())


def add(root: str, session: str, entries: Sequence[Remark]) -> None:
    """Add entries to a conversation, which is kept whole. Raises OSError."""
    if entries:
        fs.append(places.session(root, session, "jsonl"), b"".join(map(lines.line_of, entries)))


def last(root: str, session: str, limit: int = sys.maxsize) -> list[Remark]:
    """Return the last entries of a conversation, oldest first, or all; lines that can't be read are skipped."""
    return list(islice(lines.newest_first(places.session(root, session, "jsonl"), Remark), limit))[::-1]
