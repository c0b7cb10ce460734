"""Files and folders of Markdown: notes as in Obsidian, with or without frontmatter, and memories. Of a MEMORY.md only
what stands beside the lines of memories is taken."""

import os
import re
from collections.abc import Mapping

from memtui.core.base import clock
from memtui.core.base.phrasing import many
from memtui.core.memories import index, index_state, memory, triggers
from memtui.core.memories.memory import Memory
from memtui.core.places import locate
from memtui.transfer import claude_md
from memtui.transfer.incoming import (
    Incoming,
    LeftOut,
    SourceContent,
    described,
    is_binary,
    tags_of,
    words_of,
)
from memtui.transfer.trees import SourceFiles

KIND = "markdown"
TITLE = re.compile(r"\A\s*# +(.+?)[ \t#]*\n")
# Fields of a frontmatter with the time of a note, in this order.
CREATED, MODIFIED = ("created", "created_at", "date"), ("modified", "updated", "updated_at", "last_modified")


def read(tree: SourceFiles) -> SourceContent:
    """Return the notes of a folder; a CLAUDE.md among them by its sections."""
    number = many(sum(map(locate.is_memory_name, map(os.path.basename, tree.names))) or len(tree.names), "file")
    content = SourceContent(KIND, f"a folder of Markdown notes ({number})")
    for name in tree.names:
        data = tree.read(name)
        if data is not None:
            add(content, data, name, modified=tree.modified(name))
    content.skipped[:0] = tree.skipped
    return content


def add(found: SourceContent, data: bytes, name: str, *, scope: str = "", modified: float | None = None) -> None:
    """Add one file to what was found. `modified`: the file's own time, where its frontmatter has none."""
    made = memory.from_bytes(name, "", data)
    time = "" if modified is None else clock.iso_seconds(modified)
    if is_binary(data):
        found.skipped.append(LeftOut(name, "is no text in UTF-8"))
    elif os.path.basename(name) == locate.INDEX_NAME:
        _add_index(found, data, name, scope, time)
    elif claude_md.is_instructions(name):
        claude_md.add(found, made.body, name, scope=scope, modified=time)
    else:
        found.add(_note(made, name, scope, time))


def _add_index(found: SourceContent, data: bytes, name: str, scope: str, modified: str) -> None:
    """Add the text of a MEMORY.md that belongs to no memory, a section or rule at a time."""
    for each in index_state.passages(index.parse_index(data)):
        about = described(each.title, each.plain)
        found.add(
            Incoming(
                f"{name}:{each.lines[0]}",
                each.title or about,
                about,
                each.plain,
                type="feedback",
                scope=scope,
                modified=modified,
            )
        )


def _note(made: Memory, name: str, scope: str, modified: str) -> Incoming:
    fields: Mapping[str, object] = made.fields  # of a broken one, what could be read
    body = made.body
    title = " ".join(memory.text_of(made.fields, "title").split())
    own = TITLE.match(body)
    if own and not title:
        title = " ".join(own[1].split())
    if own and " ".join(own[1].split()) == title:
        body = body[own.end() :]
    given = fields.get("name")
    whole = name.removesuffix(".md")
    stem = whole.rpartition("/")[2]
    permalink = memory.text_of(dict(fields), "permalink")
    described_as = memory.text_of(dict(fields), "description", "summary")
    typed = made.type if fields else ""
    return Incoming(
        name,
        given if isinstance(given, str) and any(map(str.isalnum, given)) else stem,
        " ".join(described_as.split()) or described(title, body),
        body.strip("\n"),
        type=typed or "reference",
        scope=scope,
        created=_date(fields, CREATED),
        modified=_date(fields, MODIFIED) or modified,
        tags=tags_of(fields),
        triggers=(*(each.strip("[] ") for each in triggers.in_frontmatter(fields)), *words_of(fields.get("aliases"))),
        session=made.origin_session,
        aliases=tuple(
            dict.fromkeys(
                filter(None, (stem, title, permalink, whole, str(given or ""), *words_of(fields.get("aliases"))))
            )
        ),
    )


def _date(fields: Mapping[str, object], keys: tuple[str, ...]) -> str:
    nested = fields.get("metadata")
    for place in (nested, fields):
        for key in keys:
            value = place.get(key) if isinstance(place, dict) else None
            if value is not None and clock.parse(str(value)) is not None:
                return str(value)
    return ""
