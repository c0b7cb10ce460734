"""How both user interfaces say who wrote a version of a memory."""

from memtui.core.base.short_ids import short_id
from memtui.core.memories.versions import AGENT, FIRST, GONE, PERSON, Version, Writer


def writer(version: Version, title: str = "", other: Writer | None = None) -> str:
    """Say who wrote a version, or that `other` did; `title` is that of the agent's session."""
    what = other or version.writer
    if what.by == AGENT:
        return f"Claude in “{title}”" if title else f"Claude in session {short_id(what.session)}"
    if what.by == FIRST:
        return "there at memtui's first look"
    if what.by == PERSON:
        return "you, with memtui"
    return "deleted by someone else" if version.digest == GONE else "someone else: an editor or a program"


def name(version: Version) -> str:
    """Say what the memory was called: the name of its file."""
    return version.file.rpartition("/")[2].removesuffix(".md")


def prompted(words: str, most: int = 200) -> str:
    """Say which prompt a version came from; empty if that is not known."""
    words = " ".join(words.split())
    return f"You said: “{words[:most]}{' …' if len(words) > most else ''}”" if words else ""
