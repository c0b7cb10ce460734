"""Whether earlier sessions were read, and whether there are any: what every start of the TUI asks, before it loads what
reads them."""

import os
from collections.abc import Iterator

from memtui.core.base import paths

# What a backfill keeps: how far it has read, and what it found.
STATE = "run/backfill.json"
# Drafts that one backfill offers, unless a person asks for more.
MOST = 20


def was_done(root: str) -> bool:
    """Return whether transcripts were read before."""
    return os.path.lexists(f"{root}/{STATE}")


def any_transcript(config_dir: str) -> bool:
    """Return whether there is a transcript of a session; False if that can't be looked at."""
    return any(_transcripts(config_dir))


def unread(root: str, config_dir: str) -> int:
    """Return how many sessions have a transcript, if none was ever read for drafts; 0 otherwise."""
    return 0 if was_done(root) else sum(1 for _ in _transcripts(config_dir))


def _transcripts(config_dir: str) -> Iterator[str]:
    for project in paths.names_in(config_dir + "/projects"):
        for name in paths.names_in(f"{config_dir}/projects/{project}"):
            if name.endswith(".jsonl") and not name.startswith("agent-"):
                yield name
