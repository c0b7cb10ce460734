"""Merge what two machines made of one tree of memories: renames first, then each file (sync/merge.py), then the index.

A tree is a mapping of paths, relative and with `/`, to contents."""

import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from memtui.base import ids_hot
from memtui.client.locate_hot import INDEX_NAME
from memtui.store.frontmatter import document
from memtui.store.index import index as memory_index
from memtui.store.index import index_lines
from memtui.sync import rows
from memtui.sync.merge import Conflict, merge_index, merge_memory
from memtui.sync.repository import FileWriter, Tree, on_any_disk

RENAMED = 0.6  # from this ratio of difflib on, the text of a file that is gone and of a new one make a rename
COMPARED = 4_000  # characters of a body that are compared for that
_NEW = "\ue000"  # in the name of a memory, during a merge, that took the place of another one; none travels with it
_Stands = Callable[[str], bool]


class TreeMerge(NamedTuple):
    """A merged tree, and what did not fit into it."""

    tree: Tree
    conflicts: list[Conflict]


def merge(
    base: Tree, ours: Tree, theirs: Tree, ours_stand: _Stands = lambda _: True, of_text: _Stands | None = None
) -> TreeMerge:
    """Merge two trees over the one that both began with. `ours_stand`: for a path, whose name and text stand in doubt;
    `of_text`: whose text, if not the same side's."""
    conflicts: list[Conflict] = []
    if theirs == base:
        return TreeMerge(dict(ours), conflicts)
    if not ours_stand(""):  # one order on both machines, so that each step does the same
        others = [(lambda path, one=one: not one(path)) if one else None for one in (ours_stand, of_text)]
        return merge(base, theirs, ours, others[0] or ours_stand, others[1])
    sides = [_apart(base, side) for side in (ours, theirs)]
    renames = [_renames(base, side) for side in sides]
    # One name stands if both found another: first where it is free, as another memory may leave it for the rest.
    winners = {path: 0 if ours_stand(path) else 1 for path in renames[0].keys() & renames[1].keys()}
    occupied = {path for path, winner in winners.items() if renames[winner][path] in sides[1 - winner]}
    for path in sorted(winners, key=lambda path: (path in occupied, path)):
        names, winner = (renames[0][path], renames[1][path]), winners[path]
        if names[0] != names[1]:
            conflicts.append(Conflict(path, names[winner], "", names[winner]))
            sides[1 - winner] = _renamed(sides[1 - winner], names[1 - winner], names[winner])
            renames[1 - winner][path] = names[winner]
    for number in (0, 1):  # a new file of the other side, of the name that one found
        for old, new in renames[number].items():
            if new in sides[1 - number] and renames[1 - number].get(old) != new:
                free = _free_name(new, map(on_any_disk, {*base, *sides[0], *sides[1]}))
                loser = 1 - number if ours_stand(new) == (number == 0) else number
                sides[loser] = _moved(sides[loser], {new: free})
                own = [old] if loser == number else [o for o, n in renames[loser].items() if n == new]
                renames[loser].update(dict.fromkeys(own, free))
    base = _moved(base, renames[0] | renames[1])
    ours, theirs = _moved(sides[0], renames[1]), _moved(sides[1], renames[0])
    before = {*base, *ours, *theirs}
    merges = _absorbed(base, ours), _absorbed(base, theirs)
    into: dict[str, str] = {}
    for old in sorted({**merges[0], **merges[1]}):  # of what one side merged, the other's changes go with it
        # The other side merged that, too, perhaps into this one.
        targets = {_end(into, side[old]) for side in merges if old in side} - {old}
        both = targets & ours.keys() & theirs.keys()
        new = min(both or targets, default="")
        for path in sorted({old, *(() if both else targets)} - {new}) if old in base and new else ():
            into[path] = new
            words = _description(base.get(path, b""))
            base, ours, theirs = (_with_body(side, path, new, base[new], words) for side in (base, ours, theirs))
    clashes: tuple[dict[str, str], dict[str, str]] = {}, {}
    occupied = {*map(on_any_disk, {*base, *ours, *theirs})}
    for path in sorted((ours.keys() & theirs.keys()) - base.keys()):
        if ours[path] != theirs[path] and _is_memory(path):
            free = clashes[ours_stand(path)][path] = _free_name(path, occupied)
            occupied.add(on_any_disk(free))
            conflicts.append(Conflict(path, "", "", free))
    ours, theirs = (
        _moved({**side, **{path: _with_name(side[path], path, new) for path, new in names.items()}}, names)
        for side, names in zip((ours, theirs), clashes, strict=True)
    )
    tree: Tree = {}
    for path in sorted({*base, *ours, *theirs}):
        merged = _file(path, (base.get(path), ours.get(path), theirs.get(path)), conflicts, of_text or ours_stand)
        if merged is not None:
            tree[path] = merged
    before |= {*base, *ours, *theirs}
    for path in [path for path in tree if os.path.basename(path) == INDEX_NAME]:
        beside = [name for name in before if name.startswith(path.removesuffix(INDEX_NAME))]
        if not any(all(tree.get(name, 0) == side.get(name, 1) for name in beside) for side in (ours, theirs)):
            tree[path] = _sound_index(path, tree, before, (ours, theirs))
    for path in sorted(path for path in before if _NEW in path):
        name = path.replace(_NEW, "")
        if path not in tree:
            rows.move(tree, path, name)
            continue
        name = name if name not in tree else _free_name(name, map(on_any_disk, tree))
        tree = _renamed(tree, path, name)
        conflicts = [one.renamed(path, name) for one in conflicts]
    twins: dict[str, str] = {}  # Ship.md and ship.md
    for path in sorted(tree, key=lambda path: (path not in base, path)):
        if twins.setdefault(on_any_disk(path), path) != path and _is_memory(path):
            tree = _moved(tree, {path: _free_name(path, map(on_any_disk, tree))})
    return TreeMerge(tree, [one for one in conflicts if _NEW not in one.where])  # such lines went with their memories


def ours_stands(
    ours: Tree, theirs: Tree, counter: int, writers: Callable[[], Mapping[str, FileWriter]], path: str
) -> bool:
    """Tell whose text stands where both changed one thing: that of the machine whose store changed more, by its counter
    then; else by a hash, of the first other file if both have the same. So each machine says the same, in any order of
    syncs, whatever its clock. `writers`: of what the other side changed."""
    last = writers()
    own = [last[path]] if path in last else last.values()  # else it has another name there
    counters = counter, max((writer.counter for writer in own), default=0)
    if ours.get(path) == theirs.get(path):
        path = min((name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)), default=path)
    hashes = (ids_hot.digest(tree.get(path, b"")) for tree in (ours, theirs))
    sides = list(zip(counters, hashes, strict=True))
    return sides[0] >= sides[1]


def _file(
    path: str, sides: tuple[bytes | None, bytes | None, bytes | None], conflicts: list[Conflict],
    ours_stand: Callable[[str], bool],
) -> bytes | None:  # fmt: skip
    """Merge one file, None where it is absent; adds to `conflicts`."""
    base, ours, theirs = sides
    if theirs in {ours, base}:
        return ours
    if base == ours:
        return theirs
    if path.endswith(".jsonl"):
        return rows.merge(base or b"", ours or b"", theirs or b"") or None
    if path.endswith(".json"):  # of memtui's own, which is no text to merge
        return ours if theirs is None or (ours is not None and ours_stand(path)) else theirs
    if ours is None or theirs is None:  # the other side changed what one deleted
        rest = ours or theirs or b""
        conflicts.append(Conflict(path, rest.decode("utf-8", "replace"), ""))
        return rest
    texts = base or b"", ours, theirs
    if os.path.basename(path) == INDEX_NAME:
        top = path.removesuffix(INDEX_NAME)
        merged = merge_index(*texts, path, ours_stand(path), lambda target: ours_stand(top + target))
    else:
        merged = merge_memory(*texts, path, ours_stand=ours_stand(path))
    conflicts += merged.conflicts
    return merged.data


def _apart(base: Tree, side: Tree) -> Tree:
    """Return a side in which a memory that took the place of another one has a name of its own: one that came from
    elsewhere, or whose old text went elsewhere. Any other one whose whole text is new was edited."""
    every = sorted(base.keys() | side.keys())
    changed = [path for path in every if base.get(path) != side.get(path) and _is_memory(path)]
    both = [path for path in changed if path in base and path in side]
    both = [path for path in both if not _ratio(_body(base[path]), _body(side[path]))]
    bodies = [[(path, _body(tree[path])) for path in changed if path in tree] for tree in (base, side) if both]
    replaced = [
        path
        for path in both
        for texts, text in zip(bodies, (_body(side[path]), _body(base[path])), strict=True)
        if text and any(_ratio(text, other) >= RENAMED for name, other in texts if name != path)
    ]
    return _moved(side, {path: path.removesuffix(".md") + _NEW + ".md" for path in replaced}) if replaced else side


def _renames(base: Mapping[str, bytes], side: Mapping[str, bytes]) -> dict[str, str]:
    """Return the new path of each memory that a side renamed or moved, by its old one: the one of the same name, else
    whose body is the same, else the most alike."""
    removed = [path for path in sorted(base.keys() - side.keys()) if _is_memory(path)]
    new = [path for path in sorted(side.keys() - base.keys()) if _is_memory(path)] if removed else []
    bodies = {path: _body(tree[path]) for tree, paths in ((base, removed), (side, new)) for path in paths}
    likeness = sorted(
        ((_ratio(bodies[old], bodies[path]), old, path) for old in removed for path in new),
        key=lambda row: (os.path.basename(row[1]) != os.path.basename(row[2]), -row[0], row[1:]),
    )
    renames: dict[str, str] = {}
    for ratio, old, path in likeness:
        if ratio >= RENAMED and old not in renames and path not in renames.values():
            renames[old] = path
    return renames


def _absorbed(base: Tree, side: Tree) -> dict[str, str]:
    """Return into which other memory a side merged each one that it removed: that which got most of its paragraphs."""
    removed = [path for path in sorted(base.keys() - side.keys()) if _is_memory(path)]
    changed = [path for path in sorted(base.keys() & side.keys()) if removed and base[path] != side[path]]
    places = {part: path for path in changed if _is_memory(path) for part in _parts(side[path]) - _parts(base[path])}
    absorbed: dict[str, str] = {}
    for path in removed if places else ():
        targets = [places[part] for part in _parts(base[path]) if part in places]
        if targets:
            absorbed[path] = max(sorted({*targets}), key=targets.count)
    return absorbed


def _parts(data: bytes) -> set[str]:
    return {text for part in document.parse(data).body.split("\n\n") if (text := part.strip())}


def _end(into: Mapping[str, str], path: str) -> str:
    """Return the memory in which another one is in the end, itself if it was merged into none."""
    while path in into:
        path = into[path]
    return path


def _with_body(tree: Tree, old: str, new: str, before: bytes, description: str) -> Tree:
    """Return a tree in which the body of one memory, if it has that, is at the end of another one, or instead of it
    where that is gone: then under the fields that it had `before`. A description that the side changed goes along."""
    if old not in tree:
        return tree
    body, words = document.parse(tree[old]).body, _description(tree[old])
    if words not in {"", description}:
        body = "\n" + words + "\n\n" + body.lstrip("\r\n")
    if new not in tree:
        moved = _moved(tree, {old: new})
        doc = document.parse(before)
        return moved if doc.broken else {**moved, new: doc.with_body(body).raw}
    text = body.strip("\r\n").encode("utf-8", "surrogateescape")
    rest = {path: data for path, data in tree.items() if path != old}
    return {**rest, new: tree[new].rstrip(b"\r\n") + b"\n\n" + text + b"\n"}


def _description(data: bytes) -> str:
    return str(document.parse(data).get(("description",)) or "").strip()


def _is_memory(path: str) -> bool:
    return path.endswith(".md") and os.path.basename(path) != INDEX_NAME


def _body(data: bytes) -> str:
    return document.parse(data).body.strip()[:COMPARED]


def _ratio(one: str, other: str) -> float:
    """Return how much two bodies share, from 0 to 1: by paragraphs, of which one makes a rename, else by words."""
    if one == other:
        return 1.0
    parts = [{part for part in text.split("\n\n") if part.strip()} for text in (one, other)]
    shared = len(parts[0] & parts[1]) / max(1, min(map(len, parts)))
    if shared:
        return max(RENAMED, shared)
    matcher = difflib.SequenceMatcher(None, one.split(), other.split(), autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= RENAMED and matcher.quick_ratio() >= RENAMED else 0.0


def _moved(tree: Tree, renames: Mapping[str, str]) -> Tree:
    """Return a tree with files at other paths, and their lines in the index with them."""
    moved, names = dict(tree), dict[str, dict[str, str]]()  # within a directory, by its index
    for old, new in renames.items():
        if old not in moved or new in moved:
            continue
        moved[new] = moved.pop(old)
        rows.move(moved, old, new)
        (directory, _, name), (new_directory, _, new_name) = old.rpartition("/"), new.rpartition("/")
        index, new_index = f"{directory}/{INDEX_NAME}", f"{new_directory}/{INDEX_NAME}"
        if index not in moved:
            continue
        if new_directory == directory:
            names.setdefault(index, {})[name] = new_name
            continue
        listing = memory_index.parse_index(index_lines.replace_target(moved[index], name, new_name))
        own = [listing.lines[entry.line - 1] for entry in listing.entries if entry.is_for(new_name)][:1]
        moved[index] = index_lines.remove_line(moved[index], name)
        if own and not any(e.is_for(new_name) for e in memory_index.parse_index(moved.get(new_index, b"")).entries):
            above = moved.get(new_index, b"")
            line = own[0].rstrip("\r\n").encode("utf-8", "surrogateescape") + b"\n"
            moved[new_index] = above + b"\n" * (above[-1:] not in {b"", b"\n"}) + line
    return moved | {index: index_lines.replace_targets(moved[index], renamed) for index, renamed in names.items()}


def _renamed(tree: Tree, path: str, new: str) -> Tree:
    """Return a tree with a memory at another path, whose name and title are those of it if they were of the old one."""
    if path not in tree or new in tree:
        return tree
    moved = _moved({**tree, path: _with_name(tree[path], path, new)}, {path: new})
    directory, _, name = new.rpartition("/")
    titles = map(_stem, (path, new))
    index = f"{directory}/{INDEX_NAME}"
    return moved | ({index: index_lines.replace_target(moved[index], name, name, *titles)} if index in moved else {})


def _with_name(data: bytes, path: str, new: str) -> bytes:
    """Return a memory's file with the name of its new path in the frontmatter, if it has that of the old one."""
    before, after = map(_stem, (path, new))
    doc = document.parse(data)
    return doc.with_field(("name",), after).raw if doc.get(("name",)) == before and not doc.broken else data


def _stem(path: str) -> str:
    return os.path.basename(path).removesuffix(".md").replace(_NEW, "")


def _free_name(path: str, names: Iterable[str]) -> str:
    stem, number, occupied = path.removesuffix(".md"), 2, names if isinstance(names, set) else {*names}
    while on_any_disk(f"{stem}-{number}.md") in occupied:
        number += 1
    return f"{stem}-{number}.md"


def _sound_index(path: str, tree: Tree, before: set[str], sides: tuple[Tree, Tree]) -> bytes:
    """Return an index without memories that are gone, and with a line of each that stands though a side deleted it."""
    directory, data = path.removesuffix(INDEX_NAME), tree[path]
    seen: set[str] = set()
    lines = []
    index = memory_index.parse_index(data)
    entries = {entry.line - 1: memory_index.normal(entry.target) for entry in index.lines_of_memories}
    for number, line in enumerate(index.lines):
        target = entries.get(number, "")
        gone = target and directory + target not in tree and directory + target in before
        if not gone and target not in seen:
            lines.append(line)
        seen |= {target} - {""}
    for side, other in (sides, sides[::-1]):
        listing = memory_index.parse_index(side.get(path, b""))
        for entry in listing.lines_of_memories:
            target = memory_index.normal(entry.target)
            if target not in seen and directory + target in tree and directory + target not in other:
                if lines and not lines[-1].endswith("\n"):
                    lines[-1] += index.newline
                lines.append(listing.lines[entry.line - 1].rstrip("\r\n") + index.newline)
                seen.add(target)
    return index_lines.joined_lines(index, lines)
