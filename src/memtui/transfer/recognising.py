"""Tell by its content what a source is, and read it."""

import os
from typing import NamedTuple

from memtui.core.base import fs, paths
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import size
from memtui.transfer import archive, claude_md, claude_mem, letta, markdown, trees
from memtui.transfer.archive import Archive
from memtui.transfer.incoming import SourceContent, UnreadableSourceError
from memtui.transfer.trees import SourceFiles

KINDS = (archive.KIND, letta.KIND, claude_mem.KIND, markdown.BASIC_MEMORY, claude_md.KIND, markdown.KIND)
KNOWN = (
    "memtui imports its own exports, Letta agent files (.af), claude-mem databases, notes of basic-memory, CLAUDE.md, "
    "and files and folders of Markdown."
)
# An agent file holds the messages as well.
MAX_JSON = 64 << 20
MAX_TEXT_FILE = trees.MAX_FILE
# claude-mem's own directory holds its database.
DATABASE = "claude-mem.db"
LOOK = "Look at its owner and mode."
REPACK = "Pack it as .zip or .tar.gz, or unpack it and import the folder."
# What files of other formats have at a place, and what they are.
HEAD = 512
OTHERS = (
    (0, b"%PDF-", "a PDF"),
    (257, b"ustar", "a tar archive without gzip"),
    (0, b"\xfd7zXZ\0", "an archive in xz"),
    (0, b"BZh", "an archive in bzip2"),
    (0, b"\x28\xb5\x2f\xfd", "an archive in zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!", "a RAR archive"),
)
TABLE_ENDINGS = (".csv", ".tsv")


class ImportSource(NamedTuple):
    """A source that was read. `archive`: set for one of memtui's own, which can be restored."""

    path: str
    found: SourceContent
    archive: Archive | None = None


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
            f"{path} is {other}, which memtui does not read.", REPACK if "archive" in other else KNOWN
        )
    if trees.is_packed(head):
        return _tree(path, trees.packed(path), kind)
    if head.startswith(claude_mem.MAGIC) or kind == claude_mem.KIND:
        _must_be(kind, claude_mem.KIND, path)
        if not head.startswith(claude_mem.MAGIC):
            raise UnreadableSourceError(f"{path} is no SQLite database.", f"It is in ~/.claude-mem/{DATABASE}.")
        return ImportSource(path, claude_mem.read(path, project))
    return _text(path, kind, config_dir)


def _other_format(head: bytes, path: str) -> str:
    """Return what a file of another format is; empty if it is none that memtui knows of."""
    if path.lower().endswith(TABLE_ENDINGS):
        return "a table"
    return next((what for at, mark, what in OTHERS if head.startswith(mark, at)), "")


def _must_be(given: str, kind: str, path: str) -> None:
    if given and given != kind:
        raise UnreadableSourceError(f"{path} is not what --from {given} is for, but for {kind}.", "Leave out --from.")


def _folder(path: str, kind: str, project: str) -> ImportSource:
    if os.path.isfile(f"{path}/{DATABASE}") and kind in {"", claude_mem.KIND}:
        return ImportSource(f"{path}/{DATABASE}", claude_mem.read(f"{path}/{DATABASE}", project))
    return _tree(path, trees.folder(path), kind)


def _tree(path: str, tree: SourceFiles, kind: str) -> ImportSource:
    own = archive.rooted(tree)
    if own is not None and kind in {"", archive.KIND}:
        found = archive.read(own)
        return ImportSource(path, archive.as_found(found), found)
    if kind and kind not in {markdown.KIND, markdown.BASIC_MEMORY, claude_md.KIND}:
        what = "no archive of memtui" if kind == archive.KIND else "a folder or an archive of files"
        raise UnreadableSourceError(f"{path} is {what}.", "Leave out --from.")
    if not tree.names:
        raise UnreadableSourceError(f"There are no Markdown files in {path}.", KNOWN)
    wanted = kind if kind in {markdown.KIND, markdown.BASIC_MEMORY} else markdown.kind_of(tree)
    return ImportSource(path, markdown.read(tree, wanted))


def _text(path: str, kind: str, config_dir: str) -> ImportSource:
    most = MAX_JSON if kind in {"", letta.KIND} else MAX_TEXT_FILE
    try:
        data = fs.read_bytes(path, most + 1)
        time = os.stat(path).st_mtime
    except OSError as error:
        raise UnreadableSourceError(f"{path} can't be read: {error.strerror or error}.", LOOK) from error
    if len(data) > most:
        raise UnreadableSourceError(f"{path} is larger than {size(most)}.", "Import a part of it.")
    name = os.path.basename(path)
    text = _decoded(path, data)
    if (
        kind == letta.KIND
        or (not kind and text.lstrip()[:1] in {"{", "["})
        or (not kind and name.endswith((".af", ".json")))
    ):
        return ImportSource(path, letta.read(_json(path, text), name))
    scope = "global" if config_dir and paths.inside(config_dir, path) else ""
    if kind == claude_md.KIND or (not kind and claude_md.is_instructions(name)):
        found = SourceContent(claude_md.KIND, "instructions, a section at a time")
        claude_md.add(found, text.removeprefix("\ufeff").replace("\r\n", "\n"), name, scope=scope)
        return ImportSource(path, found)
    if len(data) > MAX_TEXT_FILE:
        raise UnreadableSourceError(f"{path} is larger than {size(MAX_TEXT_FILE)}.", "Split it into notes.")
    which = kind if kind in {markdown.KIND, markdown.BASIC_MEMORY} else _note_kind(data)
    if kind == archive.KIND:
        raise UnreadableSourceError(f"{path} is no archive of memtui.", "Leave out --from.")
    found = SourceContent(which, "a note of basic-memory" if which == markdown.BASIC_MEMORY else "a Markdown file")
    markdown.add(found, data, name, which, scope=scope, modified=time)
    return ImportSource(path, found)


def _note_kind(data: bytes) -> str:
    return markdown.BASIC_MEMORY if markdown.is_basic_memory(data) else markdown.KIND


def _decoded(path: str, data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UnreadableSourceError(f"{path} is a binary file that memtui does not know.", KNOWN)
    return text


def _json(path: str, text: str) -> object:
    try:
        return letta.parsed(text.removeprefix("\ufeff"))
    except UnreadableSourceError as error:
        raise UnreadableSourceError(f"{path}: {error.message}", error.hint) from error
