"""Installations: `installs.json`, the settings files that memtui wrote to, and what it made; `backups/`, copies."""

import json
import os
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from memtui.base import fs, ids, paths
from memtui.base.errors import MemtuiError
from memtui.hooks.install.settings_merge import Groups, Made

if TYPE_CHECKING:
    from memtui.store.journal.own_files import EntryEdit

BACKUPS_KEPT = 10  # per settings file


@dataclass
class Record:
    """One settings file, and what the installation made in it: our `groups` by event, `created` and `replaced` as in
    `merge.Made`, `made_dirs`; `python`: in which a worker starts commands."""

    scope: str
    real_path: str
    projects: list[str]
    interpreter: str
    launcher: str
    version: str
    time: str
    existed: bool
    groups: Groups
    created: list[list[str]] | None = field(default_factory=list)
    replaced: list[tuple[list[str], str]] = field(default_factory=list)
    made_dirs: list[str] = field(default_factory=list)
    python: str = ""

    def made(self) -> Made:
        """Return the containers that the installation made, for `merge`."""
        created = None if self.created is None else [tuple(path) for path in self.created]
        return Made(created, [(tuple(path), source) for path, source in self.replaced])  # type: ignore[arg-type]


def installs_path(root: str) -> str:
    return root + "/installs.json"


def load(root: str) -> dict[str, Record]:
    """Read the records by the path of their settings file. Raises MemtuiError if the list can't be read."""
    try:
        names = {item.name for item in fields(Record)}
        rows = _whole(root).get("files", {}).items()
        return {name: Record(**{key: row[key] for key in row if key in names}) for name, row in rows}
    except (TypeError, AttributeError) as error:
        raise _damaged(root, error) from error


def _whole(root: str) -> dict[str, Any]:
    path = installs_path(root)
    try:
        data = fs.read_or_empty(path)
        value: dict[str, Any] = json.loads(data) if data.strip() else {}
        value.get("files", {}).items()
    except OSError as error:
        raise MemtuiError(f"Can't read {path}: {error.strerror}.", "Check its owner and mode.") from error
    except (ValueError, AttributeError, RecursionError) as error:
        raise _damaged(root, error) from error
    return value


def _damaged(root: str, error: Exception) -> MemtuiError:
    path = installs_path(root)
    hint = f"Move {path} away: `memtui setup hooks --remove` then takes out what it recognises as memtui's."
    return MemtuiError(f"{path} is damaged: {error}.", hint)


def edit(root: str, name: str, after: Record | None) -> "EntryEdit":
    """Make the change of a record (None: removed, the last one with the file). Raises MemtuiError."""
    from memtui.store.journal.own_files import EntryEdit

    before = {key: row for key, row in _whole(root).get("files", {}).items() if key == name}
    new = {} if after is None else {name: json.loads(json.dumps(asdict(after)))}
    return EntryEdit(installs_path(root), before, new, "files")


def find(records: dict[str, Record], settings_path: str, real_path: str) -> tuple[str, Record | None]:
    """Return the key and the record of a settings file, also if it was recorded by another path to the same file."""
    if settings_path in records:
        return settings_path, records[settings_path]
    for name, record in records.items():
        if record.real_path == real_path:
            return name, record
    return settings_path, None


def backup(root: str, settings_path: str, data: bytes) -> str:
    """Write a copy of a settings file; return its path relative to the root. Raises OSError."""
    name = f"backups/{ids.new_id()}-{_short(settings_path)}.json"
    fs.write_atomic(f"{root}/{name}", data)
    return name


def _short(settings_path: str) -> str:
    """Return a short name for a settings file, for its backups."""
    return paths.slug(settings_path)[-60:].strip("-") + "-" + ids.content_hash(os.fsencode(settings_path))[:6]


def tidy(root: str, settings_path: str) -> None:
    """Remove the oldest backups of a settings file beyond `BACKUPS_KEPT`. Raises OSError."""
    ending = f"-{_short(settings_path)}.json"
    names = sorted(name for name in os.listdir(root + "/backups") if name.endswith(ending))
    for name in names[:-BACKUPS_KEPT]:
        fs.unlink(f"{root}/backups/{name}")
