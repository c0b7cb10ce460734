"""Whether earlier sessions were read, and whether there are any: every start of the TUI asks it."""

import os

from memtui.client.agents import programs

# What a backfill keeps: how far it has read, and what it found.
STATE = "run/backfill.json"
# Drafts that one backfill offers, unless a person asks for more.
MOST = 20


def was_done(root: str) -> bool:
    return os.path.lexists(f"{root}/{STATE}")


def unread(root: str, env: dict[str, str]) -> int:
    """Return how many sessions there are, of all agents, if none was ever read for drafts; 0 otherwise."""
    return 0 if was_done(root) else sum(1 for _ in programs.sessions(env))
