"""Whether earlier sessions were read, and whether there are any: what every start of the TUI asks, before it loads what
reads them."""

import os

# What a backfill keeps: how far it has read, and what it found.
STATE = "run/backfill.json"


def was_done(root: str) -> bool:
    """Return whether transcripts were read before."""
    return os.path.lexists(f"{root}/{STATE}")


def any_transcript(config_dir: str) -> bool:
    """Return whether there is a transcript of a session; False if that can't be looked at."""
    try:
        with os.scandir(config_dir + "/projects") as projects:
            return any(_has_transcript(each.path) for each in projects if each.is_dir())
    except OSError:
        return False


def unread(root: str, config_dir: str) -> int:
    """Return how many sessions have a transcript, if none was ever read for drafts; 0 otherwise."""
    if was_done(root):
        return 0
    try:
        with os.scandir(config_dir + "/projects") as projects:
            return sum(_transcripts_in(each.path) for each in projects if each.is_dir())
    except OSError:
        return 0


def _transcripts_in(directory: str) -> int:
    try:
        return sum(map(_is_transcript, os.listdir(directory)))
    except OSError:
        return 0


def _is_transcript(name: str) -> bool:
    return name.endswith(".jsonl") and not name.startswith("agent-")


def _has_transcript(directory: str) -> bool:
    try:
        with os.scandir(directory) as files:
            return any(_is_transcript(each.name) for each in files)
    except OSError:
        return False


# Drafts that one backfill offers, unless a person asks for more.
MOST = 20
