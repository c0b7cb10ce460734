"""memtui's own archives: the memories of scopes byte for byte, with MEMORY.md and what memtui keeps beside them.

docs/file-formats.md describes the format. The same files give the same bytes, whenever and wherever they are exported.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memtui.core.base import clock
from memtui.core.base.errors import NotFoundError
from memtui.core.journal.changes import beside_edit
from memtui.core.journal.changes.beside_edit import BesideRows
from memtui.core.memories import beside, memory, triggers
from memtui.core.places import locate
from memtui.transfer import identity
from memtui.transfer.identity import ProjectIdentity
from memtui.transfer.incoming import Incoming, LeftOut, SourceContent, UnreadableSourceError, is_binary, tags_of
from memtui.transfer.trees import SourceFiles, why_not

KIND = "memtui"
MANIFEST = "memtui.json"
FORMAT, VERSION = "memtui memories", 1
MEMORIES = "memories"
DAMAGED = "is not as it was exported: it was changed or damaged since"
BINARY = "is no text in UTF-8, and no draft; --restore brings it back as it is"
AGAIN = "Export it again, or copy it again."


@dataclass
class ArchivedScope:
    """A scope in an archive. `files`: memories by path, and MEMORY.md if it had one; `modified`: their times, in
    seconds since the epoch; `rows`: what was beside them, by kind; `project`: the project that it is of, if any."""

    label: str
    project: ProjectIdentity = identity.NONE
    files: dict[str, bytes] = field(default_factory=dict, repr=False)
    modified: dict[str, float] = field(default_factory=dict, repr=False)
    rows: dict[str, BesideRows] = field(default_factory=dict, repr=False)

    @property
    def memories(self) -> list[str]:
        """The paths of its memories, without the index."""
        return [name for name in self.files if name != locate.INDEX_NAME]


@dataclass
class Archive:
    """The scopes of an archive, and the version of memtui that made it."""

    made_by: str
    scopes: list[ArchivedScope] = field(default_factory=list)
    skipped: list[LeftOut] = field(default_factory=list)


def rooted(tree: SourceFiles) -> SourceFiles | None:
    """Return the part of a source that is an archive of memtui: all of it, or the one folder in it; None if none is."""
    if tree.has(MANIFEST):
        return tree
    tops = [name.removesuffix("/" + MANIFEST) for name in tree.files if name.endswith("/" + MANIFEST)]
    return tree.below(tops[0]) if len(tops) == 1 and "/" not in tops[0] else None


def contents(scopes: list[ArchivedScope], version: str) -> dict[str, bytes]:
    """Return the files of an archive, by path, the manifest first. `version`: of memtui."""
    found: dict[str, bytes] = {}
    rows = []
    used: set[str] = set()
    for scope in scopes:
        directory = directory_of(scope.label, used)
        used.add(directory)
        files = {}
        for name, data in sorted(scope.files.items()):
            found[f"{directory}/{MEMORIES}/{name}"] = data
            files[name] = {"sha256": hashlib.sha256(data).hexdigest()}
            if name in scope.modified:
                files[name]["modified"] = clock.iso_seconds(scope.modified[name])
        of_project: dict[str, object] = {}
        if scope.project:
            of_project = {"project": scope.project.name, "of": scope.project.hashes}
        rows.append({"scope": scope.label, **of_project, "directory": directory, "files": files})
        for kind, by_file in sorted(scope.rows.items()):
            lines = [
                json.dumps({"file": name, **json.loads(row)}, ensure_ascii=False, sort_keys=True)
                for name in sorted(by_file)
                for row in by_file[name]
            ]
            if lines:
                found[f"{directory}/{kind}.jsonl"] = ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")
    manifest = {"format": FORMAT, "v": VERSION, "memtui": version, "scopes": rows}
    return {MANIFEST: (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode(), **found}


def directory_of(label: str, used: Collection[str]) -> str:
    """Return the directory of a scope in an archive: its label in letters that every file system allows."""
    name = "".join(char if char.isalnum() or char in "-_@." else "-" for char in label).strip("-.") or "scope"
    found, number = name, 2
    while found in used:
        found, number = f"{name}-{number}", number + 1
    return found


def read(tree: SourceFiles) -> Archive:
    """Read an archive. A file that is not as the manifest has it is left out. Raises UnreadableSourceError."""
    found, manifest = Archive(""), _manifest(tree)
    found.made_by = str(manifest.get("memtui") or "")
    for row in _rows(manifest.get("scopes")):
        directory, label, files = str(row.get("directory") or ""), str(row.get("scope") or ""), row.get("files")
        if not label or why_not(directory) or "/" in directory or not isinstance(files, dict):
            raise _damaged(tree, "a scope in its manifest has no name, directory or files")
        scope = ArchivedScope(label, _project(label, row))
        for name, facts in files.items():
            where = f"{directory}/{MEMORIES}/{name}"
            why = why_not(name) or _no_memory(name)
            data = tree.read(where) if not why and tree.has(where) else None
            if not why and data is None:
                why = "is missing in the archive"
            elif data is not None and (
                not isinstance(facts, dict) or hashlib.sha256(data).hexdigest() != facts.get("sha256")
            ):
                why = DAMAGED
            if why or data is None:
                found.skipped.append(LeftOut(f"{label}:{name}", why))
                continue
            scope.files[name] = data
            time = clock.parse(facts.get("modified"))
            if time is not None:
                scope.modified[name] = time
        for kind in beside.KINDS:
            where = f"{directory}/{kind}.jsonl"
            data = tree.read(where) if tree.has(where) else None
            rows = beside_edit.parse(data) if data else {}
            scope.rows[kind] = {name: each for name, each in rows.items() if name in scope.files}
        found.scopes.append(scope)
    return found


def _project(label: str, row: dict[str, object]) -> ProjectIdentity:
    """Return the project that a scope is of. Before it had hashes, the auto memory of another one had its name only in
    the label."""
    kind, _, name = label.partition(":")
    return identity.of_row(row.get("project") or (name if kind == "auto" and "of" not in row else ""), row.get("of"))


def only(given: Archive, labels: Sequence[str]) -> Archive:
    """Return an archive with the scopes of these labels, or all without any. Raises NotFoundError."""
    there = {each.label: each for each in given.scopes}
    for label in labels:
        if label not in there:
            raise NotFoundError(f"There is no scope “{label}” in the archive.", f"It has {', '.join(there) or 'none'}.")
    return replace(given, scopes=[each for each in given.scopes if not labels or each.label in labels])


def _no_memory(name: str) -> str:
    """Return why a path can't be that of a memory or the index; empty if it can."""
    last = name.rpartition("/")[2]
    if name == locate.INDEX_NAME:
        return ""
    hidden = any(part.startswith(".") for part in name.split("/"))
    return "is no name of a memory" if hidden or not locate.is_memory_name(last) else ""


def _manifest(tree: SourceFiles) -> Mapping[str, object]:
    data = tree.read(MANIFEST) or b""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _damaged(tree, f"its manifest can't be read: {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise _damaged(tree, f"{MANIFEST} in it is no manifest of memtui")
    version = found.get("v")
    if not isinstance(version, int) or version > VERSION:
        raise UnreadableSourceError(
            f"{tree.shown} was made by a newer memtui ({found.get('memtui')}).", "Update memtui here, then import it."
        )
    return found


def _damaged(tree: SourceFiles, why: str) -> UnreadableSourceError:
    return UnreadableSourceError(f"{tree.shown} is a damaged archive of memtui: {why}.", AGAIN)


def _rows(given: object) -> list[dict[str, object]]:
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def as_found(given: Archive) -> SourceContent:
    """Return the memories of an archive for drafts, each with its scope."""
    names = ", ".join(each.label for each in given.scopes)
    found = SourceContent(
        KIND, f"an archive of memtui {given.made_by} ({names or 'empty'})", skipped=list(given.skipped)
    )
    for scope in given.scopes:
        for name in scope.memories:
            if is_binary(scope.files[name]):
                found.skipped.append(LeftOut(f"{scope.label}:{name}", BINARY))
            else:
                found.add(_incoming(scope, name))
    return found


def _incoming(scope: ArchivedScope, name: str) -> Incoming:
    made = memory.from_bytes(name, scope.label, scope.files[name])
    fields = made.fields if made.broken is None else {}
    time = scope.modified.get(name)
    kept = triggers.kept(scope.rows.get(beside.TRIGGERS, {}).get(name, []), time or 0.0)
    return Incoming(
        f"{scope.label}:{name}",
        made.stem,
        made.description,
        made.body.strip("\n"),
        type=made.type,
        scope=scope.label,
        project=scope.project,
        created=memory.text_of(fields, "created"),
        modified=made.modified or ("" if time is None else clock.iso_seconds(time)),
        tags=tags_of(fields),
        triggers=(*triggers.in_frontmatter(fields), *(each.text for each in kept)),
        session=made.origin_session,
        aliases=tuple(dict.fromkeys((made.stem, made.name))),
    )
