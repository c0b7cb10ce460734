"""Export memories: the files of scopes as a folder, byte for byte."""

import itertools
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field

from memtui.base import fs, ids
from memtui.base.errors import ConflictError, NotFoundError, UsageError
from memtui.base.phrasing import size
from memtui.base.storage import storage_error
from memtui.client import locate
from memtui.redact import redact
from memtui.store import scopes
from memtui.store.scopes import Scope
from memtui.transfer.markdown import MAX_FILE, LeftOut

# Characters of a memory that are searched for secrets.
MAX_SEARCHED = 200_000
NOTHING = "`memtui list` shows what there is."
TAKEN = "Give another path with --to, or remove it first."


@dataclass
class Export:
    """Files to write, by scope and path; `skipped`: left out; `secrets`: memories that seem to hold one."""

    files: dict[str, dict[str, bytes]] = field(default_factory=dict, repr=False)
    skipped: list[LeftOut] = field(default_factory=list)
    secrets: list[LeftOut] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        return {label: sum(name != locate.INDEX_NAME for name in files) for label, files in self.files.items()}

    @property
    def memories(self) -> int:
        return sum(self.counts.values())


def collect(places: Sequence[Scope]) -> Export:
    """Read scopes' memories with MEMORY.md. Raises NotFoundError, UsageError for scopes without any to export."""
    export = Export()
    for scope in places:
        if scope.kind == "instructions":
            raise UsageError(f"The scope “{scope.label}” has no memories, but instructions.", "Copy these files.")
        if scope.is_shared:
            raise UsageError(f"The scope “{scope.label}” is your team's.", "Claude Code fetches it on each machine.")
        label = _label(scope, export.files)
        files: dict[str, bytes] = {}
        for name, problem in [*scopes.files(scope), (locate.INDEX_NAME, "")]:
            data, why = (None, problem) if problem else _read(f"{scope.directory}/{name}")
            if data is None:
                export.skipped += [LeftOut(f"{label}:{name}", why)] if why else []
                continue
            files[name] = data
            kinds = redact.kinds_in(data.decode("utf-8", "replace")[:MAX_SEARCHED])
            if kinds and name != locate.INDEX_NAME:
                export.secrets.append(LeftOut(f"{label}:{name}", redact.described(kinds)))
        if files:
            export.files[label] = files
    if not export.files:
        labels = ", ".join(scope.shown for scope in places)
        raise NotFoundError(f"There are no memories to export in {labels}.", NOTHING)
    return export


def _read(path: str) -> tuple[bytes | None, str]:
    """Return the content of a file, or why it is left out; neither if it is gone."""
    try:
        data = fs.read_bytes(path, MAX_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except OSError as error:
        return None, f"can't be read: {error.strerror or error}"
    return (data, "") if len(data) <= MAX_FILE else (None, f"is larger than {size(MAX_FILE)}")


def _label(scope: Scope, files_by_label: dict[str, dict[str, bytes]]) -> str:
    """Return what an export calls a scope: its label, or another project's name, never its path."""
    name = os.path.basename(scope.root_path or (scope.slug or "").rpartition("-")[2]) or "project"
    label = f"auto:{name}" if scope.project else scope.label
    folders = set(map(folder_name, files_by_label))
    numbers = (f"{label}-{number}" for number in itertools.count(2))
    return next(candidate for candidate in itertools.chain([label], numbers) if folder_name(candidate) not in folders)


def folder_name(label: str) -> str:
    """Return the name of the folder of a scope: its label in letters that every file system allows."""
    return "".join(char if char.isalnum() or char in "-_@." else "-" for char in label).strip("-.") or "scope"


def default_name(label: str) -> str:
    """Return the name of the folder that an export of a scope is written to where a person gives none."""
    return f"memtui-{folder_name(label)}"


def write(export: Export, path: str) -> None:
    """Write an export to a new path or empty folder, private. Raises ConflictError, MemtuiError."""
    path = os.path.abspath(path)
    if os.path.lexists(path) and (not os.path.isdir(path) or os.listdir(path)):
        raise ConflictError(f"{path} is there already.", TAKEN)
    temporary = f"{path}.{ids.new_id()}"
    try:
        for label, files in export.files.items():
            below = f"{temporary}/{folder_name(label)}" if len(export.files) > 1 else temporary
            for name, data in files.items():
                fs.makedirs(os.path.dirname(f"{below}/{name}"))
                fs.append(f"{below}/{name}", data, durable=True)  # the folder is renamed as a whole
        if os.path.isdir(path):
            os.rmdir(path)
        os.rename(temporary, path)
    except OSError as error:
        raise storage_error(error, path) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
