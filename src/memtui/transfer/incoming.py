"""What a source holds, before anything is written: the memories it gives, and what of it was left out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import cut
from memtui.core.frontmatter import prose

# A longer text is no draft: nobody would review it, and the inbox has room for a megabyte in all.
MAX_TEXT = 100_000
MAX_DESCRIPTION = 200
HEADING = re.compile(r"^ {0,3}(?P<level>#{1,6})[ \t]+(?P<title>.+?)[ \t]*#*[ \t]*$", re.MULTILINE)


class LeftOut(NamedTuple):
    """A part of a source that was left out: where it is, and why."""

    where: str
    why: str


@dataclass(frozen=True)
class Incoming:
    """One memory of a source. `where` names its place there; `scope` is empty where the source does not say.
    `created` and `modified` as in a file (RFC 3339 or a day). `aliases`: the names by which others in the source link
    to it."""

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
    """What a source gives: `kind` as `--from` has it, `said` in words; `notes` are for the person, a line each."""

    kind: str
    said: str
    memories: list[Incoming] = field(default_factory=list)
    skipped: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, made: Incoming) -> None:
        """Add a memory, unless it says nothing or is too long for a draft."""
        if not made.body.strip() and not made.description.strip():
            self.skipped.append(LeftOut(made.where, "is empty"))
        elif len(made.body) > MAX_TEXT:
            self.skipped.append(
                LeftOut(made.where, f"is longer than {MAX_TEXT // 1000:,} thousand characters: split it, or copy it")
            )
        else:
            self.memories.append(made)


class UnreadableSourceError(MemtuiError):
    """A source that can't be read, or is none: what is wrong with it, and what to do."""


def is_binary(data: bytes) -> bool:
    """Whether a file is no text in UTF-8, of which no draft can be made."""
    try:
        return "\0" in data.decode("utf-8")
    except UnicodeDecodeError:
        return True


def first_words(body: str) -> str:
    """Return a description for a text that has none: its first sentence, cut."""
    return described("", body)


def described(heading: str, body: str) -> str:
    """Return a one-line description of a section: its heading, and its first sentence."""
    words = prose.first_sentence(body, MAX_DESCRIPTION)
    return cut(": ".join(dict.fromkeys(filter(None, (heading, words)))), MAX_DESCRIPTION)


def words_of(given: object) -> tuple[str, ...]:
    """Return the words of a field that is a list or a text with commas, each once."""
    rows = given.strip("[] ").split(",") if isinstance(given, str) else given if isinstance(given, Sequence) else []
    found = [" ".join(str(each).split()).lstrip("#") for each in rows if isinstance(each, (str, int, float))]
    return tuple(dict.fromkeys(filter(None, found)))


def tags_of(fields: Mapping[str, object]) -> tuple[str, ...]:
    """Return the tags in a frontmatter: `tags` or `tag`, there or below `metadata`."""
    nested = fields.get("metadata")
    places = (fields, nested) if isinstance(nested, dict) else (fields,)
    found = [word for place in places for key in ("tags", "tag") for word in words_of(place.get(key))]
    return tuple(dict.fromkeys(found))
