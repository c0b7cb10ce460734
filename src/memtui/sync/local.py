"""The memories of this machine as the tree that travels: global ones, and those that Claude Code keeps of each project
that has a git remote, by that remote and never by a path."""

import os
from typing import NamedTuple

from memtui.base import fs_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.base.storage import storing
from memtui.client import locate_hot, projects
from memtui.redact.redact import kinds_in
from memtui.store import trust_hot
from memtui.store.journal.changes import Change, FileChange
from memtui.sync import quick
from memtui.sync.repository import MAX_BYTES, is_safe
from memtui.sync.trees import Tree

GLOBAL, TEAM = "global", "team"


class LocalTree(NamedTuple):
    """What this machine has: `tree` by the paths that travel, `places`: the directory of each top, `withheld`: files
    that stay here, with the reason; `watched` tells with the stamp `seen` whether it is so still (sync/quick.py)."""

    tree: Tree
    places: dict[str, str]
    withheld: dict[str, str]
    watched: dict[str, bool]
    seen: str


def places(env: dict[str, str], watched: dict[str, bool], team: str = "") -> dict[str, str]:
    """Return the directories that travel, by the top of their paths; adds what decides on them to `watched`."""
    if team:
        root = paths_hot.root(env)
        directories = {TEAM: f"{root}{locate_hot.TEAMS}/{team}/memory"}
        watched.update({directories[TEAM]: True, trust_hot.path(root): False})
        return directories
    directories = {GLOBAL: locate_hot.global_dir(env)}
    clients = paths_hot.config_dir(env) + "/projects"
    watched[clients] = False
    for root in filter(None, projects.paths_of(env, sorted(projects.directories(clients))).values()):
        remote = projects.remote(root)
        watched[f"{root}/.git/config"] = False
        top = "projects/" + remote.replace("/", "+")
        if remote and is_safe(f"{top}/x.md") and top not in directories:
            directories[top] = locate_hot.auto_dir(env, root)
    watched.update(dict.fromkeys(directories.values(), True))
    return directories


def read(env: dict[str, str], team: str = "", base: Tree | None = None) -> LocalTree:
    """Read the memories that travel: the person's own, or those of a team, of which only what the person wrote or
    accepted is sent, beside what it has (`base`). Raises MemtuiError."""
    tree: Tree = {}
    withheld: dict[str, str] = {}
    watched: dict[str, bool] = {}
    directories = places(env, watched, team)
    seen = quick.stamp(watched)  # before anything is read
    for top, directory in directories.items():
        trust = trust_hot.load(paths_hot.root(env), directory) if team else trust_hot.Trust(True, {})
        with storing(directory):
            files = [file for file, problem in locate_hot.walk(directory) if not problem]
        for file in [*files, locate_hot.INDEX_NAME]:
            path = f"{directory}/{file}"
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            with storing(path):
                data = fs_hot.read_bytes(path)
            reason = "" if is_safe(f"{top}/{file}") else "its name can't travel"
            reason = reason or ("it has over 1 MB" if len(data) > MAX_BYTES else "")
            secrets = kinds_in(data.decode("utf-8", "replace"))
            reason = reason or (f"it may hold a secret ({secrets[0]})" if secrets else "")
            is_new = data != (base or {}).get(f"{top}/{file}") and file != locate_hot.INDEX_NAME
            if is_new and not trust.allows(data):
                reason = reason or "it is not trusted"
            if reason:
                withheld[path] = reason
            else:
                tree[f"{top}/{file}"] = data
    if not team:
        others = [own for own in projects.with_memory(env) if own.directory not in directories.values()]
        withheld |= {own.path or own.directory: "a project without a git remote" for own in others}
    return LocalTree(tree, directories, withheld, watched, seen)


def changes(local: LocalTree, merged: Tree) -> list[Change]:
    """Return what makes this machine's memories those of a merged tree; of projects that are not here nothing. Raises
    MemtuiError for a file that would be written through a link."""
    changes_here: list[Change] = []
    for path in sorted({*local.tree, *merged}):
        top = next((top for top in local.places if path.startswith(top + "/")), "")
        before, after = local.tree.get(path), merged.get(path)
        if not top or before == after:
            continue
        directory = local.places[top]
        name = path[len(top) + 1 :]
        file = f"{directory}/{name}"
        if file in local.withheld or not (
            name == locate_hot.INDEX_NAME or locate_hot.is_memory_name(name.rpartition("/")[2])
        ):
            continue
        if not paths_hot.inside(directory, file):
            raise MemtuiError(f"{file} is behind a link that leaves its directory.", "Move it into the directory.")
        changes_here.append(FileChange(file, before, after, None if before else fs_hot.FILE_MODE))
    return changes_here
