"""What a source holds, and what Markdown gives: notes, memories, sections of a CLAUDE.md, other text of a MEMORY.md."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memtui.base import clock_hot, fs_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.base.phrasing_hot import cut, many, size
from memtui.client import locate_hot
from memtui.store import links, memory, triggers
from memtui.store.frontmatter import prose_hot
from memtui.store.index import index, index_state
from memtui.store.memory import Memory

KIND, INSTRUCTIONS = "markdown", "claude-md"
INSTRUCTION_FILES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "copilot-instructions.md")
TITLE = re.compile(r"\A\s*# +(.+?)[ \t#]*\n")
HEADING = re.compile(r"^ {0,3}(?P<level>#{1,6})[ \t]+(?P<title>.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
# Fields of a frontmatter with the time of a note, in this order.
CREATED, MODIFIED = ("created", "created_at", "date"), ("modified", "updated", "updated_at", "last_modified")
# A line that imports a file, which Claude Code follows.
IMPORT = re.compile(r"\s*(?:[-*+]\s+)?@([^\s\\]*[./](?:[^\s\\]|\\ )*)\s*")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
NOT_FOLLOWED = "is imported from there: it is not followed, import that file itself"
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
    """One memory of a source: `where` it is there, its times as in a file."""

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
    return UnreadableSourceError(f"{path} can't be read: {error.strerror or error}.", "Look at its owner and mode.")


def described(heading: str, body: str) -> str:
    """Return a one-line description of a section: its heading, and its first sentence."""
    words = prose_hot.first_sentence(body, MAX_DESCRIPTION)
    return cut(": ".join(dict.fromkeys(filter(None, (heading, words)))), MAX_DESCRIPTION)


def words_of(value: object) -> tuple[str, ...]:
    """Return the words of a field that is a list or a text with commas, each once."""
    rows = value.strip("[] ").split(",") if isinstance(value, str) else value if isinstance(value, Sequence) else []
    words = [" ".join(str(row).split()).lstrip("#") for row in rows if isinstance(row, (str, int, float))]
    return tuple(dict.fromkeys(filter(None, words)))


def read_folder(path: str) -> SourceContent:
    """Return the notes of a folder, without hidden files and links that leave it. Raises UnreadableSourceError."""
    top = path.rstrip("/") or "/"
    directories: list[str] = []
    try:
        rows = locate_hot.walk(top, directories, most=MAX_FILES)
    except locate_hot.TooManyError:
        message = f"{path} has more than {MAX_FILES:,} files or folders."
        raise UnreadableSourceError(message, "Import one of the folders in it.") from None
    except OSError as error:
        raise unreadable(path, error) from error
    for index_path in (f"{directory}/{locate_hot.INDEX_NAME}" for directory in directories):
        if os.path.isfile(index_path) and paths_hot.inside(top, index_path):
            rows.append((index_path[len(top.rstrip("/")) + 1 :], ""))
    names = [name for name, problem in rows if not problem]
    number = sum(map(locate_hot.is_memory_name, map(os.path.basename, names))) or len(names)
    content = SourceContent(path, KIND, f"a folder of Markdown notes ({many(number, 'file')})")
    for name, problem in sorted(rows):
        data, modified, why = b"", 0.0, problem.replace(locate_hot.LEAVES, "is a link that leads out of the folder")
        if not why:
            try:
                data, modified = fs_hot.read_bytes(f"{top}/{name}", MAX_FILE + 1), os.stat(f"{top}/{name}").st_mtime
            except OSError as error:
                why = f"can't be read: {error.strerror or error}"
        if len(data) > MAX_FILE:
            why = f"is larger than {size(MAX_FILE)}"
        elif is_binary(data):
            why = "is no text in UTF-8"
        if why:
            content.skipped.append(LeftOut(name, why))
        else:
            _add(content, data, name, "", clock_hot.iso_seconds(modified))
    return content


def read_file(path: str, data: bytes, scope: str, modified: float) -> SourceContent:
    """Return what one file gives. `modified`: its own time, in seconds since the epoch."""
    name = os.path.basename(path)
    is_instructions = name in INSTRUCTION_FILES
    title = "instructions, a section at a time" if is_instructions else "a Markdown file"
    content = SourceContent(path, INSTRUCTIONS if is_instructions else KIND, title)
    _add(content, data, name, scope, clock_hot.iso_seconds(modified))
    return content


def is_binary(data: bytes) -> bool:
    """Return whether a file is no text in UTF-8, of which no draft can be made."""
    try:
        return "\0" in data.decode("utf-8")
    except UnicodeDecodeError:
        return True


def _add(content: SourceContent, data: bytes, name: str, scope: str, modified: str) -> None:
    note, base = memory.from_bytes(name, "", data), os.path.basename(name)
    if base == locate_hot.INDEX_NAME:
        for each in index_state.passages(index.parse_index(data)):
            about, where = described(each.title, each.plain), f"{name}:{each.lines[0]}"
            content.add(Incoming(where, each.title or about, about, each.plain, "feedback", scope, modified=modified))
    elif base in INSTRUCTION_FILES:
        _add_sections(content, note.body.removeprefix("\ufeff").replace("\r\n", "\n"), name, scope, modified)
    else:
        content.add(_note(note, name, scope, modified))


def _note(note: Memory, name: str, scope: str, modified: str) -> Incoming:
    fields: Mapping[str, object] = note.fields  # of a broken one, what could be read
    body, own = note.body, TITLE.match(note.body)
    heading = " ".join(own[1].split()) if own else ""
    title = " ".join(memory.text_of(note.fields, "title").split()) or heading
    if own and heading == title:
        body = body[own.end() :]
    given, whole = fields.get("name"), name.removesuffix(".md")
    stem, aliases = whole.rpartition("/")[2], words_of(fields.get("aliases"))
    about = " ".join(memory.text_of(note.fields, "description", "summary").split())
    nested = fields.get("metadata")
    places = [place for place in (nested, fields) if isinstance(place, dict)]
    tags = [word for place in reversed(places) for key in ("tags", "tag") for word in words_of(place.get(key))]
    return Incoming(
        name,
        given if isinstance(given, str) and any(map(str.isalnum, given)) else stem,
        about or described(title, body),
        body.strip("\n"),
        type=(note.type if fields else "") or "reference",
        scope=scope,
        created=_date(places, CREATED),
        modified=_date(places, MODIFIED) or modified,
        tags=tuple(dict.fromkeys(tags)),
        triggers=(*(trigger.strip("[] ") for trigger in triggers.in_frontmatter(fields)), *aliases),
        session=note.origin_session,
    )


def _date(places: list[dict[str, object]], keys: tuple[str, ...]) -> str:
    values = (str(place[key]) for place in places for key in keys if place.get(key) is not None)
    return next((value for value in values if clock_hot.parse(value) is not None), "")


def _add_sections(content: SourceContent, text: str, where: str, scope: str, modified: str) -> None:
    """Add the sections of instructions without comments; lines that import a file are named, and not followed."""
    plain = links.masked(text)
    for match in reversed(list(COMMENT.finditer(plain))):
        text = text[: match.start()] + text[match.end() :]
    for headings, own, number in _sections(text):
        lines = []
        for line, outside in zip(own.split("\n"), links.masked(own).split("\n"), strict=True):
            if imported := IMPORT.fullmatch(outside):
                content.skipped.append(LeftOut(f"{where}: @{imported[1]}", NOT_FOLLOWED))
            else:
                lines.append(line)
        body = "\n".join(lines).strip("\n").rstrip()
        if not body.strip():
            continue
        about, place = described(" › ".join(headings[1:] or headings), body), f"{where}:{number}"
        name = headings[-1] if headings and headings[-1] else described("", body)
        content.add(Incoming(place, name, about, body, "feedback", scope, modified=modified))


def _sections(text: str) -> list[tuple[list[str], str, int]]:
    """List the sections of a text: their headings, outermost first, the text without those below, its first line."""
    sections: list[tuple[list[str], str, int]] = []
    above: list[tuple[int, str]] = []
    lines: list[str] = []
    begin = 1
    plain = links.masked(text, filter(lambda span: span.block, links.spans(text))).split("\n")
    for number, line in enumerate(text.split("\n"), 1):
        match = HEADING.match(line)
        if match and HEADING.match(plain[number - 1]):
            sections.append(([title for _, title in above], "\n".join(lines), begin))
            level = len(match["level"])
            above = [heading for heading in above if heading[0] < level] + [(level, match["title"])]
            lines, begin = [], number
        else:
            lines.append(line)
    return [*sections, ([title for _, title in above], "\n".join(lines), begin)]
