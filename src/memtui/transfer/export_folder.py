"""Export memories: the files of a scope as a folder, byte for byte."""

import os
import shutil
from dataclasses import dataclass, field

from memtui.base import fs_hot, ids_hot
from memtui.base.errors import ConflictError, NotFoundError, UsageError
from memtui.base.phrasing_hot import size
from memtui.base.storage import storage_error
from memtui.client import locate_hot
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
    """The files of a scope to write, by path; `skipped`: left out; `secrets`: memories that seem to hold one."""

    scope: str
    files: dict[str, bytes] = field(default_factory=dict, repr=False)
    skipped: list[LeftOut] = field(default_factory=list)
    secrets: list[LeftOut] = field(default_factory=list)

    @property
    def memories(self) -> int:
        return sum(name != locate_hot.INDEX_NAME for name in self.files)


def collect(scope: Scope) -> Export:
    """Read a scope's memories with MEMORY.md. Raises NotFoundError, UsageError for one without any to export."""
    if scope.kind == "instructions":
        raise UsageError(f"The scope “{scope.label}” has no memories, but instructions.", "Copy these files.")
    if scope.is_shared:
        raise UsageError(f"The scope “{scope.label}” is your team's.", "It comes to each machine by itself.")
    export = Export(scope.shown)
    for name, problem in [*scopes.files(scope), (locate_hot.INDEX_NAME, "")]:
        data, why = (None, problem) if problem else _read(f"{scope.directory}/{name}")
        if data is None:
            export.skipped += [LeftOut(name, why)] if why else []
            continue
        export.files[name] = data
        kinds = redact.kinds_in(data.decode("utf-8", "replace")[:MAX_SEARCHED])
        if kinds and name != locate_hot.INDEX_NAME:
            export.secrets.append(LeftOut(name, redact.described(kinds)))
    if not export.files:
        raise NotFoundError(f"There are no memories to export in {scope.shown}.", NOTHING)
    return export


def _read(path: str) -> tuple[bytes | None, str]:
    """Return the content of a file, or why it is left out; neither if it is gone."""
    try:
        data = fs_hot.read_bytes(path, MAX_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except OSError as error:
        return None, f"can't be read: {error.strerror or error}"
    return (data, "") if len(data) <= MAX_FILE else (None, f"is larger than {size(MAX_FILE)}")


def default_name(label: str) -> str:
    """Return the name of the folder for a scope: its label in letters that every file system allows."""
    name = "".join(char if char.isalnum() or char in "-_@." else "-" for char in label).strip("-.")
    return f"memtui-{name or 'scope'}"


def write(export: Export, path: str) -> None:
    """Write an export to a new path or empty folder, private. Raises ConflictError, MemtuiError."""
    path = os.path.abspath(path)
    if os.path.lexists(path) and (not os.path.isdir(path) or os.listdir(path)):
        raise ConflictError(f"{path} is there already.", TAKEN)
    temporary = f"{path}.{ids_hot.new_id()}"
    try:
        for name, data in export.files.items():
            fs_hot.makedirs(os.path.dirname(f"{temporary}/{name}"))
            fs_hot.append(f"{temporary}/{name}", data, durable=True)  # the folder is renamed as a whole
        if os.path.isdir(path):
            os.rmdir(path)
        os.rename(temporary, path)
    except OSError as error:
        raise storage_error(error, path) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
