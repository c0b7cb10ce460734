"""Tell by its content what a source is, and read it."""

import os

from memtui.core.base import fs, paths
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import size
from memtui.transfer import claude_mem, markdown
from memtui.transfer.incoming import MAX_FILE, SourceContent, UnreadableSourceError, unreadable

KNOWN = "memtui imports files and folders of Markdown, CLAUDE.md, and claude-mem databases."
# Beginnings of archives: ZIP, gzip, xz, bzip2, zstd, 7z and RAR; a tar archive has its mark later.
ARCHIVES = (
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"\xfd7zXZ\0",
    b"BZh",
    b"\x28\xb5\x2f\xfd",
    b"7z\xbc\xaf",
    b"Rar!",
)
TAR, TAR_AT = b"ustar", 257
NO_TEXT = (".csv", ".tsv", ".json", ".pdf")  # endings of files that are no notes, though some are text


def read(path: str, *, project: str = "", config_dir: str = "") -> SourceContent:
    """Read a source; `project`: of a database. Raises UnreadableSourceError, UsageError for an empty path."""
    if not path.strip():
        raise UsageError("No file or folder is named.", KNOWN)
    path = os.path.abspath(path)
    if not os.path.exists(path):
        if os.path.lexists(path):
            target = os.path.realpath(path)
            hint = "Name what it should lead to."
            raise UnreadableSourceError(f"{path} is a link to {target}, and there is nothing.", hint)
        raise UnreadableSourceError(f"There is no file or folder {path}.", KNOWN)
    if os.path.isdir(path):
        database = f"{path}/{claude_mem.FILE}"
        source = claude_mem.read(database, project) if os.path.isfile(database) else markdown.read_folder(path)
        if source.kind == markdown.KIND and not source.memories and not source.skipped:
            raise UnreadableSourceError(f"There are no Markdown files in {path}.", KNOWN)
        return source
    try:
        data, modified = fs.read_bytes(path, MAX_FILE + 1), os.stat(path).st_mtime
    except OSError as error:
        raise unreadable(path, error) from error
    if data.startswith(claude_mem.MAGIC):
        return claude_mem.read(path, project)
    if data.startswith(ARCHIVES) or data.startswith(TAR, TAR_AT):
        raise UnreadableSourceError(f"{path} is an archive.", "Unpack it, and import the folder.")
    if len(data) > MAX_FILE:
        raise UnreadableSourceError(f"{path} is larger than {size(MAX_FILE)}.", "Import a part of it.")
    if not data.strip():
        raise UnreadableSourceError(f"{path} is empty.", KNOWN)
    if markdown.is_binary(data) or path.lower().endswith(NO_TEXT):
        what = "a binary file" if markdown.is_binary(data) else "no Markdown"
        raise UnreadableSourceError(f"{path} is {what}.", KNOWN)
    scope = "global" if config_dir and paths.inside(config_dir, path) else ""
    return markdown.read_file(path, data, scope, modified)
