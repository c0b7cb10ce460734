"""Keep references in step by line edits: a memory's line in MEMORY.md, and the links that name it."""

import os
from collections.abc import Collection

from memtui.base import fs_hot, paths_hot
from memtui.base.errors import MemtuiError, UsageError
from memtui.base.shell import shell_word
from memtui.base.storage import read_or_none, storing
from memtui.store import links, memory, scopes
from memtui.store.frontmatter import document
from memtui.store.index import index as memory_index
from memtui.store.index import index_lines
from memtui.store.memory import Memory
from memtui.store.scopes import Scope

# File systems allow 255 bytes; a temporary file's name takes 30 of them.
NAME_BYTES = 200
FORBIDDEN = set('/\\<>:"|?*#[]')


def check_name(name: str) -> str:
    """Return the stem of a new memory's file. Raises UsageError for a name that a file or a link can't have."""
    stem = name.strip().removesuffix(".md")
    if not stem:
        raise UsageError("A memory needs a name.", "Use short words with dashes, like prefer-pnpm.")
    if stem.startswith("."):
        problem = "starts with a dot"
    elif not stem.isprintable() or FORBIDDEN & set(stem):
        problem = "has one of " + " ".join(sorted(FORBIDDEN)) + " or a control character in it"
    elif stem.upper() == "MEMORY":
        problem = "is the name of the index"
    elif len(stem.encode("utf-8", "replace")) > NAME_BYTES:
        problem = f"is longer than {NAME_BYTES} bytes"
    else:
        return stem
    label = stem if len(stem) <= 60 else stem[:60] + "…"
    hint = "Use short words with dashes, like prefer-pnpm."
    raise UsageError(f"“{label}” {problem}, so it can't be a memory's name.", hint)


def file_stem(name: str) -> str:
    """Return the stem of a new memory's file: its name if plain, else a slug. Raises as `check_name`."""
    stem = check_name(name)
    is_plain = stem == stem.lower() and all(char.isalnum() or char in "-_." for char in stem)
    return stem if is_plain else memory.slugify(stem)


def is_name(name: str) -> bool:
    try:
        return bool(check_name(name)) and not name.startswith("-")
    except UsageError:
        return False


# Said before anything changes in what a team shares.
SHARED = "Your team shares these memories: others will get this change."


def writable(scope: Scope, *, shared: bool = False) -> None:
    """Raise MemtuiError for a scope that is read-only or has a problem, or that others share unless `shared`."""
    if scope.problem:
        raise MemtuiError(f"{scope.directory} {scope.problem}", "memtui neither reads nor writes there.")
    if scope.is_shared:
        if shared:
            return
        raise MemtuiError(SHARED, "memtui new, edit, mv, cp and rm ask first, or take --yes, as memtui approve does.")
    if not scope.writable:
        raise MemtuiError(f"The scope “{scope.label}” is read-only.", "Change these files in an editor.")


def real_path(scope: Scope, path: str) -> str:
    """Return a path of a scope with symlinks resolved. Raises MemtuiError if it leaves the scope."""
    if not paths_hot.inside(scope.directory, path):
        hint = "memtui neither reads nor writes there. Remove the symlink."
        raise MemtuiError(f"{path} is outside of its scope", hint)
    return paths_hot.resolve(path) or path


def relative(scope: Scope, path: str) -> str:
    """Return a path relative to the scope's directory, as the index has it. Raises MemtuiError for one outside."""
    file = path.removeprefix(scope.directory.rstrip("/") + "/")
    if file == path:
        raise MemtuiError(f"{path} is not in the scope “{scope.label}”", "See `memtui list`.")
    return file


def content(mem: Memory) -> bytes:
    """Return a memory's whole content, also of a file too large to be shown. Raises MemtuiError."""
    if len(mem.raw) <= memory.MAX_BYTES:
        return mem.raw
    with storing(mem.path):
        return fs_hot.read_bytes(mem.path)


def with_line(root: str, scope: Scope, data: bytes, file: str, title: str, hook: str, kind: str) -> bytes:
    """Return a MEMORY.md with a line for a new memory; one that it begins gets lines of the others, too."""
    others = [] if data else scopes.indexed(root, scope)
    if 0 < len(others) < memory_index.MAX_LINES:
        for mem in scopes.memories(scope):
            if relative(scope, mem.path) in others:
                data = index_lines.add_line(data, relative(scope, mem.path), mem.name, mem.description, kind=mem.type)
    if not scope.index_loaded:
        return index_lines.add_line(data, file, title, hook, kind=kind)
    return index_lines.place_line(data, file, title, hook, kind=kind, agent=scope.kind == "agent", first=True)


def not_trusted(stem: str, team: str = "") -> MemtuiError:
    """Return the error that a memory must be trusted before sessions get it; `team`: the scope where it is shared."""
    return MemtuiError(
        f"{stem} is not trusted: {'it is shared by a team' if team else 'it came with the repository'}.",
        f"Read it, and trust it first: memtui trust {shell_word(f'{team}:{stem}' if team else stem)}",
    )


def file_mode(scope: Scope) -> int | None:
    """Return the permission bits of a new file of a scope: in a repository as the umask allows, else None (private)."""
    if not scope.needs_trust and not scope.label.endswith(("@project", ":project")):
        return None
    mask = os.umask(0o077)  # the only way to read it; a file another thread makes meanwhile is just more private
    os.umask(mask)
    return 0o666 & ~mask


def index_entry(scope: Scope, file: str) -> memory_index.IndexEntry | None:
    """Return a memory's own line in the index; None if it has none."""
    try:
        data = read_or_none(real_path(scope, scope.index_path)) or b""
    except (OSError, MemtuiError):
        return None
    return next((entry for entry in memory_index.parse_index(data).entries if entry.is_for(file)), None)


def stem(file: str) -> str:
    """Return what a memory is called by its file: the name without directory and ending."""
    return file.rpartition("/")[2].removesuffix(".md")


def relink(data: bytes, source: str, path: str, names: Collection[str], new: str | None) -> bytes:
    """Let the links of the file `source` to a memory, by a path and some names, have the name `new`; None: be words."""
    if b"[[" not in data and b"](" not in data:
        return data
    doc = document.parse(data)
    if doc.broken is not None:
        return data
    rest = links.renamed(doc.rest, lambda link: links.leads_to(link.target, source, path, names), new)
    tail = doc.rest.encode("utf-8", "surrogateescape")
    return data[: len(data) - len(tail)] + rest.encode("utf-8", "surrogateescape")


def set_name(data: bytes, new: str) -> bytes:
    """Set a file's `name` field, if it has one. A file without valid frontmatter is returned unchanged."""
    doc = document.parse(data)
    if doc.broken is not None or not doc.has_frontmatter or "name" not in doc.fields:
        return data
    return doc.with_field(("name",), new).raw
