"""What a source holds, before anything is written: the memories it gives, and what of it was left out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memtui.base.errors import MemtuiError
from memtui.base.phrasing import cut
from memtui.store.frontmatter import prose

# A longer text is no draft: nobody would review it, and the inbox has room for a megabyte in all.
MAX_TEXT = 100_000
MAX_DESCRIPTION = 200
# A folder holds no more files than this, and no longer one, in bytes.
MAX_FILES = 20_000
MAX_FILE = 16 << 20


class LeftOut(NamedTuple):
    """A part of a source that was left out: where it is, and why."""

    where: str
    why: str


@dataclass(frozen=True)
class Incoming:
    """One memory of a source: `where` it is there, its times as in a file, the `aliases` by which others link to it."""

    where: str
    name: str
    description: str
    body: str
    type: str = ""
    scope: str = ""
    created: str = ""
    modified: str = ""
    tags: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    session: str = ""
    aliases: tuple[str, ...] = ()


@dataclass
class SourceContent:
    """What a path gives: `kind` for its drafts' sender, `said` in words; `notes` for the person."""

    path: str
    kind: str
    said: str
    memories: list[Incoming] = field(default_factory=list)
    skipped: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, memory: Incoming) -> None:
        """Add a memory, unless it says nothing or is too long for a draft."""
        if not memory.body.strip() and not memory.description.strip():
            self.skipped.append(LeftOut(memory.where, "is empty"))
        elif len(memory.body) > MAX_TEXT:
            why = f"is longer than {MAX_TEXT // 1000:,} thousand characters: split it, or copy it"
            self.skipped.append(LeftOut(memory.where, why))
        else:
            self.memories.append(memory)


class UnreadableSourceError(MemtuiError):
    """A source that can't be read, or is none: what is wrong with it, and what to do."""


def unreadable(path: str, error: OSError) -> UnreadableSourceError:
    """Return the error that a source can't be read."""
    return UnreadableSourceError(f"{path} can't be read: {error.strerror or error}.", "Look at its owner and mode.")


def described(heading: str, body: str) -> str:
    """Return a one-line description of a section: its heading, and its first sentence."""
    words = prose.first_sentence(body, MAX_DESCRIPTION)
    return cut(": ".join(dict.fromkeys(filter(None, (heading, words)))), MAX_DESCRIPTION)


def words_of(value: object) -> tuple[str, ...]:
    """Return the words of a field that is a list or a text with commas, each once."""
    rows = value.strip("[] ").split(",") if isinstance(value, str) else value if isinstance(value, Sequence) else []
    words = [" ".join(str(row).split()).lstrip("#") for row in rows if isinstance(row, (str, int, float))]
    return tuple(dict.fromkeys(filter(None, words)))
