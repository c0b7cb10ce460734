"""The memories of this machine as the tree that travels: global ones, and those that Claude Code keeps of each project
that has a git remote, by that remote and never by a path."""

import os
from itertools import product
from typing import NamedTuple

from memtui.base import fs_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.base.storage import storage_error, storing
from memtui.client import locate_hot, projects
from memtui.inbox import format_hot
from memtui.redact.redact import kinds_in
from memtui.settings import config_hot
from memtui.store import sidecars, trust_hot
from memtui.store.journal.changes import Change, FileChange
from memtui.sync import notes, quick, rows
from memtui.sync.moves import Moves, top_of
from memtui.sync.repository import MAX_BYTES, Tree, is_safe, on_any_disk
from memtui.sync.state import SyncState

GLOBAL, TEAM = "global", "team"
NO_MOVES = Moves()


class LocalTree(NamedTuple):
    """What this machine has: `tree` by the paths that travel, `places`: the directory of each top, `withheld`: files
    that stay here, with the reason; `watched` tells with the stamp `seen` whether it is so still (sync/quick.py);
    `inboxes`: where the drafts of each top are; `moves`: the projects whose tops have another name now."""

    tree: Tree
    places: dict[str, str]
    withheld: dict[str, str]
    watched: dict[str, bool]
    seen: str
    inboxes: dict[str, str]
    moves: Moves


def places(env: dict[str, str], watched: dict[str, bool], team: str = "", moves: Moves = NO_MOVES) -> dict[str, str]:
    """Return the directories that travel, by the top of their paths; adds what decides on them to `watched`."""
    if team:
        root = paths_hot.root(env)
        directories = {TEAM: f"{root}{locate_hot.TEAMS}/{team}/memory"}
        watched.update({directories[TEAM]: True, trust_hot.path(root): False})
        return directories
    directories = {GLOBAL: locate_hot.global_dir(env)}
    directories |= {top: locate_hot.auto_dir(env, root) for top, root in roots(env, watched, moves).items()}
    watched.update(dict.fromkeys(directories.values(), True))
    root = paths_hot.root(env)
    watched |= {trust_hot.path(root): False, config_hot.file_path(root): False}  # what is asked about, and accepted
    watched |= {directory: True for _, directory in locate_hot.team_dirs(root)}  # and what may be accepted elsewhere
    return directories


def roots(env: dict[str, str], watched: dict[str, bool], moves: Moves = NO_MOVES) -> dict[str, str]:
    """Return the roots of projects with a git remote, by their tops; adds what decides on them to `watched`."""
    roots_by_top: dict[str, str] = {}
    clients = paths_hot.config_dir(env) + "/projects"
    watched[clients] = False
    clones = []
    for root in filter(None, projects.paths_of(env, sorted(projects.directories(clients))).values()):
        remote = projects.remote(root)
        watched[f"{root}/.git/config"] = False
        top = "projects/" + remote.replace("/", "+").casefold()  # hosts take you/shop for You/Shop
        if remote and is_safe(f"{top}/x.md"):
            clones.append((moves.follow(top) != top, moves.follow(top), root))
    for _, top, root in sorted(clones, key=lambda clone: clone[0]):  # first those that have the name themselves
        roots_by_top.setdefault(top, root)
    return roots_by_top


def read(env: dict[str, str], team: str, base: Tree, moves: Moves = NO_MOVES) -> LocalTree:
    """Read the memories that travel: the person's own, or those of a team, of which only what the person wrote or
    accepted is sent, beside what it has. What went with `base` is known to hold no secret. Raises MemtuiError."""
    tree: Tree = {}
    withheld: dict[str, str] = {}
    watched: dict[str, bool] = {}
    directories = places(env, watched, team, moves)
    root = paths_hot.root(env)
    if not team:
        kinds = notes.INBOX, notes.DRAFTS, format_hot.REJECTED
        inboxes = (f"{directory}/{kind}" for directory, kind in product(notes.inboxes(root).values(), kinds))
        watched |= {f"{root}/{kind}": True for kind in rows.KINDS} | dict.fromkeys(inboxes, False)
    seen = quick.stamp(watched)  # before anything is read
    for top, directory in directories.items():
        trust = trust_hot.load(paths_hot.root(env), directory) if team else trust_hot.Trust(True, {})
        with storing(directory):
            files = [file for file, problem in locate_hot.walk(directory) if not problem]
        twins: dict[str, str] = {}
        for file in sorted([*files, locate_hot.INDEX_NAME], key=lambda file: f"{top}/{file}" not in base):
            path, name = f"{directory}/{file}", f"{top}/{file}"
            if file == locate_hot.INDEX_NAME and not os.path.isfile(path):
                continue
            try:
                data = fs_hot.read_bytes(path, follow=False)
            except FileNotFoundError:  # removed meanwhile
                continue
            except OSError as error:
                if os.path.islink(path):
                    continue
                raise storage_error(error, path) from error
            reason = "" if is_safe(name) else "its name can't travel"
            reason = reason or ("it has over 1 MB" if len(data) > MAX_BYTES else "")
            if (twin := twins.setdefault(on_any_disk(file), file)) != file:
                reason = reason or f"on some disks it is {twin}"
            is_new = data != base.get(name)
            if is_new and file != locate_hot.INDEX_NAME and not trust.allows(data):
                reason = reason or "it is not trusted"
            if is_new and not reason and (secrets := kinds_in(data.decode("utf-8", "replace"))):
                reason = f"it may hold a secret ({secrets[0]})"
            if reason:
                withheld[path] = reason
            else:
                tree[name] = data
    if not team:
        others = [own for own in projects.with_memory(env) if own.directory not in directories.values()]
        clone = "another clone of it is synced"
        alone = "a project without a git remote, by which it travels: git remote add"
        unknown = "it travels by its project's git remote, which a session of Claude Code there shows"
        for other in others:
            reason = (clone if projects.remote(other.path) else alone) if other.path else unknown
            withheld[other.path or other.directory] = reason
    for kind, (top, directory) in () if team else product(rows.KINDS, directories.items()):
        name = rows.path(kind, top)
        before = base.get(name, b"")
        present = rows.of_place(root, kind, directory, before)
        own = {key: row for key, row in present.items() if f"{top}/{key[0]}" in tree}
        # Those of a memory that stays here as it is stay there as they are.
        own |= {key: row for key, row in rows.parse(before).items() if f"{directory}/{key[0]}" in withheld}
        if own:
            tree[name] = rows.render(own)
    places_of_drafts = {} if team else {GLOBAL: paths_hot.inbox_dir(root, None)}
    for top, path in ({} if team else roots(env, {}, moves)).items():
        places_of_drafts[top] = paths_hot.inbox_dir(root, paths_hot.project_key(path))
    for top, inbox in places_of_drafts.items():
        with storing(inbox):
            if rejected := rows.of_inbox(inbox):
                tree[rows.path(rows.REJECTIONS, top)] = rows.render(rejected)
    return LocalTree(tree, directories, withheld, watched, seen, places_of_drafts, moves)


def changes(root: str, local: LocalTree, merged: Tree) -> list[Change]:
    """Return what makes this machine's memories those of a merged tree; of projects that are not here nothing. Raises
    MemtuiError for a file that would be written through a link."""
    changes_here: list[Change] = []
    inside: dict[str, bool] = {}
    for path in sorted({*local.tree, *merged}):
        (top, name), before, after = rows.split(path), local.tree.get(path), merged.get(path)
        if top not in local.places or before == after:
            continue
        directory = local.places[top]
        file = f"{directory}/{name}"
        is_ours = name == locate_hot.INDEX_NAME or locate_hot.is_memory_name(name.rpartition("/")[2])
        if file in local.withheld or not is_ours:
            continue
        above = os.path.dirname(file)
        if above not in inside:
            inside[above] = above == directory or paths_hot.inside(directory, above)
        if not inside[above] or os.path.islink(file):
            raise MemtuiError(f"{file} is behind a link that leaves its directory.", "Move it into the directory.")
        changes_here.append(FileChange(file, before, after, None if before else fs_hot.FILE_MODE))
    for kind, (top, directory) in product(rows.KINDS, local.places.items()):
        ours, after_rows = (rows.parse(tree.get(rows.path(kind, top), b"")) for tree in (local.tree, merged))
        present = sidecars.rows(root, kind, directory)
        for name in sorted({name for name, _ in {*ours, *after_rows}}):
            if f"{top}/{name}" in local.tree or f"{top}/{name}" in merged:
                stay = {text: row for text, row in present.get(name, {}).items() if (name, text) not in ours}
                come = {text: _without_file(row) for (of, text), row in after_rows.items() if of == name}
                changes_here += sidecars.edit(root, kind, directory, name, stay | come)
    for top, inbox in local.inboxes.items():
        ours_data, merged_data = (tree.get(rows.path(rows.REJECTIONS, top), b"") for tree in (local.tree, merged))
        with storing(inbox):
            changes_here += rows.rejection_edits(inbox, ours_data, merged_data)
    return changes_here


def late(state: SyncState, here: LocalTree, base: Tree) -> set[str]:
    """Return the files of the last sync's tree, as they are called now, that belong to a project which this machine did
    not have then, or elsewhere, or whose directory is gone, as of a disk that is not there: nobody deleted them. Nor is
    what went while this machine was away deleted for all."""
    paths: set[str] = set()
    absent = {directory for directory in here.places.values() if not os.path.isdir(directory)}
    for path in base if state.tops else ():
        new = here.moves.path(path)
        directory, before = here.places.get(top_of(new), ""), state.tops.get(top_of(path), "elsewhere")
        is_absent = directory in absent or (state.is_back and new not in here.tree)
        if directory and ((is_absent and path.endswith(".md")) or before not in {directory, ""}):
            paths.add(new)
    return paths


def file_of(here: LocalTree, path: str) -> str:
    """Return the file on this machine of a path in the tree; empty if its project is not here."""
    top, name = rows.split(path)
    return f"{here.places[top]}/{name}" if top in here.places else ""


def _without_file(row: dict[str, object]) -> dict[str, object]:
    return {key: field for key, field in row.items() if key != "file"}
