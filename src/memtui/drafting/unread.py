"""The turns of a session that a model was to read and has not read yet: they wait for the next ones of the session, so
that a service that is down loses none. What was sent in vain some times is given up."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from memtui.core.base import fs, session_state
from memtui.core.client import transcript
from memtui.core.client.conversation import Turn
from memtui.core.redaction.redact import redacted

PART = "unread"
# How often a turn is sent in vain; turns that wait, and their characters, the newest.
IN_VAIN, MOST, CHARS = 3, 60, 40_000
LOCK_SECONDS = 5.0
NAMES = ("text", "channel", "uuid", "session", "time", "agent", "request")


class UnreadTurns:
    """The turns of a session that wait."""

    def __init__(self, root: str, session: str) -> None:
        self.root, self.session = root, session

    def reading(self) -> fs.Lock:
        """Return the lock of whoever has a model read what waits: nothing is sent twice at once."""
        return fs.Lock(f"{self.root}/run/worker-drafting-{session_state.safe(self.session)}.lock", 0.0)

    def all(self) -> list[Turn]:
        """Return the turns that wait, oldest first. Raises OSError."""
        with self._locked():
            return [_turn(row) for row in self._rows()]

    def add(self, turns: Sequence[Turn]) -> None:
        """Let turns wait, too. Raises OSError."""
        with self._locked():
            rows = self._rows()
            known = {_turn(row) for row in rows}
            rows += [{**_row(turn), "sent": 0} for turn in turns if _turn(_row(turn)) not in known]
            kept: list[dict[str, object]] = []
            room = CHARS
            for row in reversed(rows[-MOST:]):
                room -= len(str(row.get("text"))) + len(str(row.get("agent")))
                if room < 0 and kept:
                    break
                kept.insert(0, row)
            self._save(kept)

    def done(self, turns: Sequence[Turn]) -> None:
        """Let turns wait no more: they were read. Raises OSError."""
        with self._locked():
            self._save([row for row in self._rows() if _turn(row) not in turns])

    def sent_in_vain(self, turns: Sequence[Turn]) -> None:
        """Note that turns were sent and not read; for the last time, they wait no more. Raises OSError."""
        with self._locked():
            rows = [
                {**row, "sent": session_state.number(row, "sent") + 1} if _turn(row) in turns else row
                for row in self._rows()
            ]
            self._save([row for row in rows if session_state.number(row, "sent") < IN_VAIN])

    def _locked(self) -> fs.Lock:
        return fs.Lock(f"{self.root}/run/worker-unread-{session_state.safe(self.session)}.lock", LOCK_SECONDS)

    def _rows(self) -> list[dict[str, object]]:
        rows = session_state.load(self.root, self.session, PART).get("turns")
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    def _save(self, rows: list[dict[str, object]]) -> None:
        path = session_state.path(self.root, self.session, PART)
        if rows:
            session_state.save(self.root, self.session, {"turns": rows}, PART)
        else:
            try:
                fs.unlink(path)
            except FileNotFoundError:
                pass


def _row(turn: Turn) -> dict[str, object]:
    found = asdict(turn)
    return {name: redacted(found[name]) for name in NAMES}


def _turn(row: Mapping[str, object]) -> Turn:
    return Turn(**{name: transcript.text_of(row.get(name)) for name in NAMES})  # type: ignore[arg-type]


def turns_of(rows: object) -> list[Turn]:
    """Return the turns of rows of JSON."""
    return [_turn(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
