"""Whether earlier sessions were read, and whether there are any: every start of the TUI asks it."""

import os
from collections.abc import Iterator

from memtui.base import paths_hot

# What a backfill keeps: how far it has read, and what it found.
STATE = "run/backfill.json"
# Drafts that one backfill offers, unless a person asks for more.
MOST = 20


def was_done(root: str) -> bool:
    """Return whether transcripts were read before."""
    return os.path.lexists(f"{root}/{STATE}")


def unread(root: str, config_dir: str) -> int:
    """Return how many sessions have a transcript, if none was ever read for drafts; 0 otherwise."""
    return 0 if was_done(root) else sum(1 for _ in transcripts(config_dir))


def transcripts(config_dir: str) -> Iterator[str]:
    """Yield the paths of the transcripts of all sessions, not those of subagents."""
    for project in paths_hot.names_in(config_dir + "/projects"):
        for name in paths_hot.names_in(f"{config_dir}/projects/{project}"):
            if name.endswith(".jsonl") and not name.startswith("agent-"):
                yield f"{config_dir}/projects/{project}/{name}"
