"""Tell by its content what a source is, and read it."""

import os
from typing import NamedTuple

from memtui.core.base import fs, paths
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import size
from memtui.transfer import claude_md, claude_mem, markdown, trees
from memtui.transfer.incoming import SourceContent, UnreadableSourceError

KNOWN = "memtui imports files and folders of Markdown, CLAUDE.md, and claude-mem databases."
# claude-mem's own directory holds its database.
DATABASE = "claude-mem.db"
LOOK = "Look at its owner and mode."
UNPACK = "Unpack it, and import the folder."
# What files of other formats have at a place, and what they are.
HEAD = 512
OTHERS = (
    (0, b"%PDF-", "a PDF"),
    (0, b"PK\x03\x04", "a ZIP archive"),
    (0, b"PK\x05\x06", "an empty ZIP archive"),
    (0, b"\x1f\x8b", "an archive in gzip"),
    (257, b"ustar", "a tar archive"),
    (0, b"\xfd7zXZ\0", "an archive in xz"),
    (0, b"BZh", "an archive in bzip2"),
    (0, b"\x28\xb5\x2f\xfd", "an archive in zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!", "a RAR archive"),
)
OTHER_ENDINGS = {".csv": "a table", ".tsv": "a table", ".json": "JSON", ".af": "an agent file of Letta"}


class ImportSource(NamedTuple):
    """A source that was read."""

    path: str
    found: SourceContent


def read(path: str, kind: str = "", *, project: str = "", config_dir: str = "") -> ImportSource:
    """Read a source of a kind, or of the one that its content shows. `project`: the name of the project that rows of
    a database must be of, '' for all. A CLAUDE.md below `config_dir` is the person's own. Raises
    UnreadableSourceError, UsageError for an empty path."""
    if not path.strip():
        raise UsageError("No file or folder is named.", KNOWN)
    path = os.path.abspath(path)
    if not os.path.lexists(path):
        raise UnreadableSourceError(f"There is no file or folder {path}.", KNOWN)
    if not os.path.exists(path):
        target = os.path.realpath(path)
        raise UnreadableSourceError(
            f"{path} is a link to {target}, and there is nothing.", "Name what it should lead to."
        )
    if os.path.isdir(path):
        return _folder(path, kind, project)
    try:
        head = fs.read_bytes(path, HEAD)
    except OSError as error:
        raise UnreadableSourceError(f"{path} can't be read: {error.strerror or error}.", LOOK) from error
    if not head.strip():
        raise UnreadableSourceError(f"{path} is empty.", KNOWN)
    other = _other_format(head, path)
    if other:
        raise UnreadableSourceError(
            f"{path} is {other}, which memtui does not read.", UNPACK if "archive" in other else KNOWN
        )
    if not head.startswith(claude_mem.MAGIC) and kind != claude_mem.KIND:
        return _text(path, kind, config_dir)
    if kind not in {"", claude_mem.KIND}:
        raise UnreadableSourceError(f"{path} is a database of claude-mem.", "Leave out --from.")
    if not head.startswith(claude_mem.MAGIC):
        raise UnreadableSourceError(f"{path} is no SQLite database.", f"It is in ~/.claude-mem/{DATABASE}.")
    return ImportSource(path, claude_mem.read(path, project))


def _other_format(head: bytes, path: str) -> str:
    """Return what a file of another format is; empty if it is none that memtui knows of."""
    ending = OTHER_ENDINGS.get(os.path.splitext(path)[1].lower(), "")
    return ending or next((what for at, mark, what in OTHERS if head.startswith(mark, at)), "")


def _folder(path: str, kind: str, project: str) -> ImportSource:
    database = f"{path}/{DATABASE}"
    if os.path.isfile(database) and kind in {"", claude_mem.KIND}:
        return ImportSource(database, claude_mem.read(database, project))
    if kind == claude_mem.KIND:
        raise UnreadableSourceError(f"There is no {DATABASE} in {path}.", "Leave out --from.")
    files = trees.folder(path)
    if not files.names:
        raise UnreadableSourceError(f"There are no Markdown files in {path}.", KNOWN)
    return ImportSource(path, markdown.read(files))


def _text(path: str, kind: str, config_dir: str) -> ImportSource:
    try:
        data = fs.read_bytes(path, trees.MAX_FILE + 1)
        time = os.stat(path).st_mtime
    except OSError as error:
        raise UnreadableSourceError(f"{path} can't be read: {error.strerror or error}.", LOOK) from error
    if len(data) > trees.MAX_FILE:
        raise UnreadableSourceError(f"{path} is larger than {size(trees.MAX_FILE)}.", "Import a part of it.")
    name = os.path.basename(path)
    text = _decoded(path, data)
    scope = "global" if config_dir and paths.inside(config_dir, path) else ""
    if kind == claude_md.KIND or (not kind and claude_md.is_instructions(name)):
        content = SourceContent(claude_md.KIND, "instructions, a section at a time")
        claude_md.add(content, text.removeprefix("\ufeff").replace("\r\n", "\n"), name, scope=scope)
    else:
        content = SourceContent(markdown.KIND, "a Markdown file")
        markdown.add(content, data, name, scope=scope, modified=time)
    return ImportSource(path, content)


def _decoded(path: str, data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UnreadableSourceError(f"{path} is a binary file that memtui does not know.", KNOWN)
    return text
