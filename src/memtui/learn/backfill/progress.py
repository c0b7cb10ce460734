"""Whether earlier sessions were read, and whether there are any: every start of the TUI asks it."""

import os

from memtui.base import session_state_hot
from memtui.client.agents import agents_hot, programs

# What a backfill keeps: how far it has read, and what it found.
STATE = "run/backfill.json"
# Drafts that one backfill offers, unless a person asks for more.
MOST = 20


def was_done(root: str) -> bool:
    return os.path.lexists(f"{root}/{STATE}")


def unread(root: str, env: dict[str, str]) -> int:
    """Return how many sessions there are, of all agents, that no hook and no backfill ever read for drafts."""
    if was_done(root):
        return 0
    ids = map(agents_hot.session_id, programs.sessions(env))
    return sum(not os.path.lexists(session_state_hot.path(root, session, "cursor")) for session in ids)
