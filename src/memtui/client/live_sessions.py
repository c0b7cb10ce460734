"""Which sessions are live: a client that runs serves them now. Hooks note that in `run/client-PID` (hooks/forks.py)."""

import os
from collections.abc import Mapping

from memtui.base import fastjson, fs
from memtui.client import process

PREFIX = "client-"
NOTE_BYTES = 1 << 20


def served(root: str) -> dict[int, str]:
    """Return the session that each running client on this machine serves, by the client's process id."""
    sessions: dict[int, str] = {}
    try:
        names = os.listdir(root + "/run")
    except OSError:
        return sessions
    for name in names:
        number = name.removeprefix(PREFIX)
        if number == name or not (number.isascii() and number.isdigit()) or not process.alive(int(number)):
            continue
        try:
            note = fastjson.loads_dict(fs.read_bytes(f"{root}/run/{name}", NOTE_BYTES))
        except OSError:
            continue
        session, client = note.get("session_id"), note.get("client")
        # Older notes do not identify the process further.
        if isinstance(session, str) and (client is None or process.runs(client)):
            sessions[int(number)] = session
    return sessions


def live(session: str, client: object, clients: Mapping[int, str]) -> bool:
    """Tell whether a session is live. `client`: the process of its newest delivery; `clients`: as `served` returns."""
    if session in clients.values():
        return True
    # A session that began before the hooks were installed has no note; one whose client serves another now is over.
    return process.runs(client) and isinstance(client, list) and client[0] not in clients
