"""What a machine knows of its syncs, `sync/own/state.json` and `teams/NAME/state.json`, and what a sync says."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.base.storage import storing
from memtui.client import locate_hot
from memtui.sync.repository import Remote

LEFT = "/left.json"  # there, of the person's own: its state when this machine left
WRITERS = "/writers.json"  # in the folder of a sync: who changed each file last
MACHINES, FORMAT = "machines", 1  # where the rows of machines are in the tree, and how new it is


class SyncState(NamedTuple):
    """What this machine knows of its syncs: `base` is the commit that it and the remote began with last; `pending`:
    those of the memories here that were about to be pushed, and may have been if the process was killed; `taking`: the
    commit that is written here; `asked`: ids of drafts about texts that both changed, by the conflict's name; `time`:
    of the last sync that worked, `error`: of the last that did not; `read`: when the memories here were read last, from
    the files and directories (True) `watched`, and `seen`: their stamp then (sync/quick.py); `sent`: ids of notes that
    go with `pending`; `machines`: the names of all by their ids; `tops`: of the projects that were here, with their
    directories; `adopted`: hashes of what is accepted here as it was on another machine; `drafts`: ids of the shared
    ones that were here; `withheld`: how many files were not sent; `approved`: hashes of drafts that were approved here;
    `team`: whose memories these are, empty for the person's own, with the name of the `author`."""

    url: str
    machine: str
    name: str
    base: str = ""
    pending: str = ""
    taking: str = ""
    time: float = 0.0
    error: str = ""
    asked: dict[str, str] = {}  # noqa: RUF012  never changed in place
    read: float = 0.0
    watched: dict[str, bool] = {}  # noqa: RUF012
    seen: str = ""
    sent: list[str] = []  # noqa: RUF012
    machines: dict[str, str] = {}  # noqa: RUF012
    tops: dict[str, str] = {}  # noqa: RUF012
    adopted: list[str] = []  # noqa: RUF012
    drafts: list[str] = []  # noqa: RUF012
    withheld: int = 0
    approved: list[str] = []  # noqa: RUF012
    team: str = ""
    author: str = ""
    is_back: bool = False  # joined again, and not synced since


class SyncOutcome(NamedTuple):
    """What a sync did: paths that came and went, in the tree's terms, `deleted`: those of them that are gone;
    `conflicts`: sentences; `withheld`: files that stay here, with the reason; `absent`: addresses of the projects that
    are not here; `waiting`: how many of those that came a person has to accept."""

    came: list[str]
    went: list[str]
    conflicts: list[str]
    withheld: dict[str, str]
    absent: tuple[str, ...] = ()
    waiting: int = 0
    deleted: tuple[str, ...] = ()


def folder(root: str, team: str = "") -> str:
    return f"{root}{locate_hot.TEAMS}/{team}" if team else root + "/sync/own"


def names(root: str) -> list[str]:
    """List what is set up on this machine: the person's own sync (empty), and teams by name."""
    teams = ["", *sorted(paths_hot.names_in(root + locate_hot.TEAMS))]
    return [team for team in teams if os.path.lexists(folder(root, team) + "/state.json")]


def load(root: str, team: str = "", name: str = "/state.json") -> SyncState | None:
    """Return the state of the sync that is set up; None if none is. Raises MemtuiError."""
    path = folder(root, team) + name
    with storing(path):
        data = fs_hot.read_or_empty(path)
        times = fs_hot.read_or_empty(folder(root, team) + "/time")
    if not data.strip():
        return None
    row: Any = fastjson_hot.loads_dict(data)
    if isinstance(row.get("tops"), list):  # as memtui wrote it before
        row["tops"] = dict.fromkeys(row["tops"], "")
    try:
        state = SyncState(**{key: row[key] for key in SyncState._fields if key in row})
        return state._replace(time=max(state.time, float(times or 0)))
    except (ValueError, TypeError) as error:
        way = "Move it away, and set sync up again: memtui sync setup URL"
        raise MemtuiError(f"{path} is damaged.", way) from error


def save(root: str, state: SyncState) -> None:
    path = folder(root, state.team) + "/state.json"
    with storing(path):
        fs_hot.write_atomic(path, fastjson_hot.dumps(state._asdict()).encode() + b"\n")


def repository(root: str, state: SyncState, env: Mapping[str, str] = os.environ) -> Remote:
    return Remote(folder(root, state.team) + "/repo.git", state.url, env)


def check_rows(url: str, data: list[bytes], *, is_empty: bool, team: str) -> None:
    """Raise MemtuiError if the rows of a remote's machines are of no store of memtui, a newer one, or another kind."""
    every: list[Any] = [*map(fastjson_hot.loads_dict, data)]
    rows = [row for row in every if isinstance(row.get("format"), int)]
    if not (rows or is_empty):
        raise MemtuiError(f"{url} has a branch memtui, but no memories of memtui.", "Give an empty repository.")
    if any(row["format"] > FORMAT for row in rows):
        raise MemtuiError(f"{url} was written by a newer memtui.", "Update memtui on this machine first.")
    if any(bool(row.get("team")) != bool(team) for row in rows):
        what, way = ("a person's own memories", "without --team") if team else ("a team's memories", "with --team NAME")
        raise MemtuiError(f"{url} has {what}.", f"Set it up {way}, or give an empty repository.")


def number(data: bytes, key: str) -> int:
    """Return a number of a machine's row; 0 if it has none."""
    number = fastjson_hot.loads_dict(data).get(key)
    return number if isinstance(number, int) else 0
