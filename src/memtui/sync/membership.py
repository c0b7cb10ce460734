"""Begin and end syncing with a remote: the state of a sync, and the id and name of this machine."""

import os
import platform
import re
import shutil
from collections.abc import Callable
from itertools import count

from memtui.base import fastjson_hot, fs_hot, ids_hot
from memtui.base.errors import MemtuiError
from memtui.base.storage import storing
from memtui.client import locate_hot
from memtui.store.journal.changes import FileChange
from memtui.store.journal.journal import Journal
from memtui.sync.state import LEFT, MACHINES, SyncState, check_rows, folder, load, repository, save

MACHINE = re.compile("[a-z0-9]{8}")
TEAM_NAME = re.compile("[a-z0-9][a-z0-9-]{0,31}")
SYNC_SECONDS = 20.0  # that a sync may still take which runs when a person sets another one up


def join(root: str, url: str, name: str = "", team: str = "", agree: Callable[[], None] = lambda: None) -> SyncState:
    """Set sync up with a remote, whose address and content are looked at before `agree`, which may raise; with a
    team's, if it is named. Raises MemtuiError."""
    if url.startswith("-") or "::" in url:
        raise MemtuiError(f"{url!r} is no address of a git repository.", "Use ssh, https, or a folder's path.")
    if team and not TEAM_NAME.fullmatch(team):
        raise MemtuiError(f"{team!r} is no name for a team.", "Use up to 32 letters from a to z, digits and dashes.")
    before = load(root, team)
    if team and before is not None and before.url != url:
        way = f"Give another name, or leave that one first: memtui sync leave --team {team}"
        raise MemtuiError(f"There is a team {team} already, at {before.url}.", way)
    state = SyncState(url, _machine(root), name, team=team)
    repo = repository(root, state)
    try:
        repo.make()
        if team:
            state = state._replace(author=repo.git("config", "--global", "user.name", check=False).decode().strip())
        commit = repo.fetch()
        rows = repo.tree(commit, MACHINES + "/")
        check_rows(url, [*rows.values()], is_empty=not commit, team=team)
        card = fastjson_hot.loads_dict(rows.pop(f"{MACHINES}/{state.machine}.json", b""))
        last = before or load(root, team, LEFT)  # it was rolled back, or moved, or this machine left it
        if last is not None and commit and (base := repo.common(last.base, commit)):
            state = last._replace(url=url, name=name, base=base, is_back=last.is_back or before is None)
            state = state._replace(pending="", sent=[], seen="", error="")
        own = load(root)
        default = fastjson_hot.text(card, "name") or platform.node().partition(".")[0] or "machine"
        names = {str(fastjson_hot.loads_dict(row).get("name")) for row in rows.values()}
        state = state._replace(name=_name(name, own.name if own is not None else default, names))
        agree()
    except MemtuiError:
        if before is None:
            leave(root, team)
        raise
    if team:
        with storing(folder(root, team)):
            fs_hot.makedirs(folder(root, team) + "/memory")
    lock = root + "/run/sync.lock"
    with storing(lock), fs_hot.Lock(lock, SYNC_SECONDS):  # a sync that runs saves its own state at its end
        save(root, state)
    return state


def _machine(root: str) -> str:
    """Return the id of this machine, the same in each sync that it sets up. Raises MemtuiError."""
    path = root + "/sync/machine"
    with storing(path):
        name = fs_hot.read_or_empty(path).decode("ascii", "replace")
        if not MACHINE.fullmatch(name):
            own = load(root)
            name = own.machine if own is not None else ids_hot.new_id()[-8:].lower()
            fs_hot.write_atomic(path, name.encode())
    return name


def _name(name: str, usual: str, others: set[str]) -> str:
    """Return a name for this machine that no other has: the person's, else the usual one. Raises MemtuiError."""
    if name in others:
        raise MemtuiError(f"Another machine is called {name}.", "Give this one another name: --name NAME")
    names = (name or usual if number == 1 else f"{usual}-{number}" for number in count(1))
    return next(name for name in names if name not in others)


def leave(root: str, team: str = "") -> None:
    """Forget the remote; one's own memories stay, a team's go here in one step of undo. Raises MemtuiError."""
    top = folder(root, team)
    if team:
        with storing(top):  # first, so that no sync takes what goes here from the team
            fs_hot.unlink(top + "/state.json")
        paths = [f"{top}/memory/{file}" for file, problem in locate_hot.walk(top + "/memory") if not problem]
        paths += [path for path in [f"{top}/memory/{locate_hot.INDEX_NAME}"] if os.path.isfile(path)]
        files = [FileChange(path, fs_hot.read_bytes(path), None) for path in paths if not os.path.islink(path)]
        if files:
            Journal(root, "cli").run("sync", files, f"leave the team {team}")
    own = None if team else load(root)
    if own is not None:  # what was asked here may be decided elsewhere before it joins again
        with storing(top):
            fs_hot.write_atomic(top + LEFT, fastjson_hot.dumps(own._replace(url="")._asdict()).encode())
    for path in [top] if team else [f"{top}/{name}" for name in ("state.json", "time", "repo.git")]:
        with storing(path):
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                fs_hot.unlink(path)
