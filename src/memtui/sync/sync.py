"""One sync of this machine: fetch, merge over what both began with, push, write what came. Nothing is lost if it ends
anywhere: what was pushed is merged again with the memories here the next time, and comes out the same."""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any, NamedTuple

import memtui
from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot, paths_hot
from memtui.base.errors import ConflictError, MemtuiError
from memtui.base.phrasing_hot import many
from memtui.base.storage import storing
from memtui.client import locate_hot
from memtui.inbox import drafts, file_hot, format_hot
from memtui.store import memory, trust_hot
from memtui.store.index import index as memory_index
from memtui.store.journal import ledger
from memtui.store.journal.changes import Change
from memtui.store.journal.journal import Journal
from memtui.sync import incoming, moves, notes, quick, rows, shared_drafts, trees
from memtui.sync import local as local_files
from memtui.sync.local import GLOBAL, LocalTree
from memtui.sync.merge import Conflict
from memtui.sync.repository import AS_ON, THERE, FileWriter, RejectedError, Remote, Tree
from memtui.sync.state import (
    FORMAT,
    MACHINES,
    WRITERS,
    SyncOutcome,
    SyncState,
    check_rows,
    folder,
    load,
    number,
    repository,
    save,
)

TRIES = 5  # pushes that other machines may come before
CONFLICTS = "conflicts"
FILES = (".md", ".jsonl")  # of which a sync says that they came or went
BOTH = "changed on both sides; one text stands, the other waits in the Inbox."


def _row(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, sort_keys=True).encode() + b"\n"


def run(env: dict[str, str], state: SyncState, now: float, *, by: str = "cli", dry_run: bool = False) -> SyncOutcome:
    """Sync once. Raises MemtuiError; the memories here are then as they were, or as merged."""
    root = paths_hot.root(env)
    try:
        with fs_hot.Lock(root + "/run/sync.lock", 0.0):
            outcome, after = _run_locked(env, root, load(root, state.team) or state, now, by, dry_run)
            if not dry_run:
                save(root, after)
    except fs_hot.LockTimeoutError as error:
        raise MemtuiError("Another sync is under way.", "Try again in a moment.") from error
    except MemtuiError as error:
        with suppress(MemtuiError):  # of a full disk
            save(root, (load(root, state.team) or state)._replace(error=error.message))
        raise
    return outcome


class Exchange(NamedTuple):
    """What a fetch, a merge and a push came to: the trees of the last sync, of this machine, of the remote and of both,
    the commit of the last of these, the names of machines by id, the texts that do not stand, the notes that went."""

    state: SyncState
    here: LocalTree
    base: Tree
    ours: Tree
    theirs: Tree
    tree: Tree
    commit: str
    names: dict[str, str]
    conflicts: list[Conflict]
    other: Tree
    stands: Callable[[str], bool]
    sent: set[str]

    def changed(self, side: Tree) -> list[str]:
        """Return the memories that the merged tree changes on a side."""
        paths = {*self.tree, *side}
        return sorted(path for path in paths if self.tree.get(path) != side.get(path) and path.endswith(FILES))


def _run_locked(
    env: dict[str, str], root: str, state: SyncState, now: float, by: str, dry_run: bool, offline: bool = False
) -> tuple[SyncOutcome, SyncState]:
    repo = repository(root, state)
    repo.make()
    journal = Journal(root, by, lambda: now)
    if not offline:  # which only looks, also while another process writes
        with journal.locked():
            pass  # what a killed sync wrote in part is reverted before it is read
    if state.taking:  # and what it wrote as a whole is what both begin with now
        records = (t.record for t in journal.ledger().all() if t.state == "done")
        if any(record.get("commit") == state.taking for record in records):
            state = state._replace(base=state.taking, pending="", sent=[], taking="")
    asks = not state.team and incoming.is_on(root)
    came_before = {} if state.team else incoming.load(root)
    digests = incoming.accepted(root) if asks or came_before else {}
    ours_of = partial(incoming.as_accepted, files=came_before, digests=digests)
    exchange = _exchange(env, root, repo, state, by, now, ours_of, asks=asks, dry_run=dry_run, offline=offline)
    came_before = {exchange.here.moves.path(path): file for path, file in came_before.items()}
    after, waiting, sentences = state, 0, _sentences(exchange.conflicts)
    if not dry_run:
        notes.remove(root, exchange.sent)
        wanted, files = exchange.tree, dict[str, incoming.WaitingFile]()
        adopted = set(state.adopted)
        others: set[str] = set() if state.team else incoming.of_others(exchange.tree, _accepted_path(state)) - adopted
        if asks:
            decided = {*digests, *others}
            writers = repo.writers(exchange.state.base, exchange.commit)
            wanted, files = incoming.divide(exchange.here, exchange.tree, came_before, decided, writers)
            files |= incoming.letters(exchange.here, exchange.tree, state.machine, came_before, digests)
            waiting = sum(file.digest not in decided for file in files.values())
        if files != came_before:
            incoming.save(root, files)
        changes, used = incoming.adoption(root, others - digests.keys(), files)
        if changes := changes + local_files.changes(root, exchange.here, wanted):
            save(root, (load(root, state.team) or exchange.state)._replace(taking=exchange.commit))
            _write(journal, state.team, changes, exchange.commit)
        with storing(root):
            present = shared_drafts.take_in(root, exchange.here.inboxes, exchange.tree, state.drafts)
        questions = _ask_conflicts(root, exchange, leaves=not asks)
        new = (
            fastjson_hot.loads_dict(exchange.tree[f"{CONFLICTS}/{key}.json"]) for key in questions.keys() - state.asked
        )
        sentences = sentences or sorted(f"{row['path']}: {BOTH}" for row in new)  # merged on another machine
        _note_writers(repo, exchange.here, folder(root, state.team) + WRITERS, exchange.state, exchange.commit)
        after = exchange.state._replace(
            base=exchange.commit, pending="", taking="", time=now, error="", asked=questions, sent=[],
            machines=exchange.names, tops=exchange.here.places, adopted=sorted(adopted | used), drafts=present,
            withheld=len(exchange.here.withheld), read=now, watched=exchange.here.watched, seen=exchange.here.seen,
            is_back=False,
        )  # fmt: skip
    absent = {path.split("/")[1].replace("+", "/") for path in exchange.tree if path.startswith("projects/")}
    absent -= {top.partition("/")[2].replace("+", "/") for top in exchange.here.places}
    came, went = exchange.changed(exchange.ours), exchange.changed(exchange.theirs)
    came = [path for path in came if state.team or moves.top_of(path) in exchange.here.places]
    deleted = tuple(path for path in came + went if path not in exchange.tree)
    rest = sentences, exchange.here.withheld, tuple(sorted(absent)), waiting, deleted
    return SyncOutcome(came, went, *rest), after


def _exchange(
    env: dict[str, str], root: str, repo: Remote, state: SyncState, by: str, now: float,
    ours_of: Callable[[Tree, Tree, moves.Moves], Tree], *, asks: bool, dry_run: bool, offline: bool,
) -> Exchange:  # fmt: skip
    """Fetch, merge and push, again as long as other machines push before. `ours_of`: what this machine sends, by its
    tree, the base and what moved. Raises MemtuiError."""
    row, sent = f"{MACHINES}/{state.machine}.json", set(state.sent)
    for _ in range(TRIES):
        remote_head = state.base if offline else repo.fetch(state.base)
        pending = state.pending.split()[::-1] if remote_head else []
        if landed := next((commit for commit in pending if repo.is_ancestor(commit, remote_head)), ""):
            if landed == pending[0]:
                notes.remove(root, sent)
            state = state._replace(base=landed, pending="", sent=[])
        elif state.base not in {"", remote_head} and not (remote_head and repo.is_ancestor(state.base, remote_head)):
            way = "Nothing was changed. If that was meant, set it up again: memtui sync setup URL"
            raise MemtuiError(f"{state.url} was rolled back, or is another one.", way)
        trees_there = [base_there := repo.tree(state.base)]
        trees_there += [base_there if remote_head == state.base else repo.tree(remote_head)]
        project_moves = moves.read(() if state.team else trees_there)
        new = project_moves.find_new(state.tops, {} if state.team else local_files.places(env, {}), trees_there[1])
        project_moves = moves.Moves({**project_moves, **new})
        base, theirs = map(project_moves.tree, trees_there)
        cards = [data for path, data in theirs.items() if path.startswith(MACHINES + "/")]
        check_rows(state.url, cards, is_empty=not remote_head, team=state.team)
        here = local_files.read(env, state.team, base, project_moves)
        if not state.team:
            state = state._replace(approved=incoming.approved(root, here, base, state.approved))
        late = local_files.late(state, here, trees_there[0])
        ours = ours_of(_own_tree(root, state, here, base, late, now), base, project_moves) | new.files()
        # What a project holds that came to this machine now is new to it, and nothing of it was deleted here.
        base_here = {path: data for path, data in base.items() if ours.get(path) == data or path not in late}
        counter = number(ours[row], "counter")
        writers = cache(partial(repo.writers, state.base, remote_head))
        stands = partial(trees.ours_stands, ours, theirs, counter, writers)
        merged = trees.merge(base_here, ours, theirs, stands)
        other = _asked(base_here, ours, theirs, merged, stands, state.name, writers)
        tree = merged.tree if state.team else merged.tree | other
        tree[row] = ours[row]  # also of a machine that was set up again
        newest = max((number(card, "counter") for card in cards), default=0)
        sent_at, at = (max(number(ours[row], key) for key in pair) for pair in (("time", "told"), ("seen", "counter")))
        is_due = newest > at and abs(now - sent_at) >= clock_hot.DAY
        if remote_head != state.base and (ours[row] != theirs.get(row) or is_due):  # it says what it takes in now
            tree[row] = _row({**fastjson_hot.loads_dict(ours[row]), "seen": newest, "told": int(now)})
        names = {path[len(MACHINES) + 1 : -5]: _name(tree[path]) for path in tree if path.startswith(MACHINES + "/")}
        roots = {} if state.team else local_files.roots(env, {}, project_moves)
        keys = {top: paths_hot.project_key(place) for top, place in roots.items()}
        if not state.team:
            tops = {key: top for top, key in keys.items()}
            letters = notes.outgoing(root, {**names, state.machine: ""}, tops, state.name)
            sent = {path.rpartition("/")[2].removesuffix(".json") for path in letters}
            tree |= letters
        exchange = Exchange(
            state, here, trees_there[0], ours, trees_there[1], tree, remote_head,
            names, merged.conflicts, other, stands, sent,
        )  # fmt: skip
        if dry_run:
            return exchange
        # A team writes no notes; where all is asked about, those for this machine stay where they are.
        top = "" if state.team or asks else f"{notes.TOP}/{state.machine}/"
        mine = {path: data for path, data in tree.items() if top and path.startswith(top)}
        with storing(root):
            notes.take_in(root, mine, state.machine, keys)
        tree = {path: data for path, data in tree.items() if path not in mine}
        try:
            commit = _push(root, repo, exchange._replace(tree=tree), counter, by)
            return exchange._replace(tree=tree, commit=commit)
        except RejectedError as error:
            rejection = error
    raise rejection


def _push(root: str, repo: Remote, exchange: Exchange, counter: int, by: str) -> str:
    """Commit and push what this machine has and what both have; return the commit. Raises RejectedError if late."""
    state, remote_head = exchange.state, exchange.commit
    ours, theirs, tree = exchange.ours, exchange.theirs, exchange.tree
    if tree == theirs:
        return remote_head
    changed = sum(tree.get(path) != theirs.get(path) for path in {*tree, *theirs})
    message = f"{changed} changes from {state.name}\n\nMemtui-Machine: {state.machine}\nMemtui-By: {by}\n"
    message += f"Memtui-Version: {memtui.__version__}\n"
    words = f"{AS_ON}{state.name}\n\nMemtui-Author: {state.author}\nMemtui-Counter: {counter}\n"
    own = commit = repo.commit(ours, [state.base] if state.base else [], words, exchange.base)
    # One of before may arrive still: a git that was cut off from us goes on.
    save(root, state._replace(pending=" ".join([*state.pending.split(), own][-9:]), sent=sorted(exchange.sent)))
    if tree != ours or remote_head != state.base:
        parents = [remote_head, own] if remote_head else [own]
        commit = repo.commit(tree, parents, message, theirs if remote_head else ours)
    repo.push(commit)
    return commit


def _write(journal: Journal, team: str, changes: list[Change], commit: str) -> None:
    whose = f"the team {team}" if team else "other machines"
    words = f"take in {many(len(changes), 'change')} from {whose}"
    try:
        journal.run(ledger.FROM_TEAM if team else "sync", changes, words, commit=commit)
    except ConflictError as error:
        raise MemtuiError("A memory changed during the sync.", "Sync again: nothing is lost.") from error


def _ask_conflicts(root: str, exchange: Exchange, *, leaves: bool) -> dict[str, str]:
    """Leave the person's words that do not stand as drafts; return what is asked."""
    state, here, tree = exchange.state, exchange.here, exchange.tree
    if not state.team:
        return _ask(root, state, here, tree, leaves=leaves)
    for text in map(json.loads, exchange.other.values()):
        if not exchange.stands(text["path"]):  # what others of a team wrote is never a draft
            _leave(root, here, tree, text, state.team)
    return {}


def _note_writers(repo: Remote, here: LocalTree, path: str, state: SyncState, commit: str) -> None:
    """Note who wrote each file last, for the Inbox and lists: by its path in a team's tree, or of the person's own."""
    if commit != state.base:
        writers = repo.writers(state.base, commit)
        own = writers if state.team else {local_files.file_of(here, name): writer for name, writer in writers.items()}
        fs_hot.write_cache(path, fastjson_hot.dumps({**fs_hot.read_table(path), **own}).encode())


def _own_tree(root: str, state: SyncState, here: LocalTree, base: Tree, late: set[str], now: float) -> Tree:
    """Return the tree of this machine: its memories, what is of projects that are not here, and its own row."""
    names = {f"{CONFLICTS}/{key}.json": entry for key, entry in state.asked.items()}
    drafts_here = [f"{directory}/{notes.DRAFTS}" for directory in notes.inboxes(root).values()]
    waiting = {entry.id for path in drafts_here for entry in format_hot.read(path)}
    is_unread = any(map(format_hot.is_too_long, drafts_here))  # then nobody knows what was decided
    withheld = {path for path in base if local_files.file_of(here, path) in here.withheld}
    own_rows = rows.paths(here.places)
    others = withheld | late | {path for path in base if not (path in own_rows or local_files.file_of(here, path))}
    rest = {path: data for path, data in base.items() if path in others}
    rest = {path: data for path, data in rest.items() if is_unread or path not in names or names[path] in waiting}
    rest.pop(_accepted_path(state), None)
    if state.team:  # what the person never accepted is not theirs to remove for all
        trust = trust_hot.load(root, here.places[local_files.TEAM])
        theirs = [path for path, data in base.items() if local_files.file_of(here, path) and not trust.allows(data)]
        rest |= {path: base[path] for path in theirs if locate_hot.is_memory_name(path.rpartition("/")[2])}
    row = {"name": state.name, "version": memtui.__version__, "format": FORMAT} | ({"team": True} if state.team else {})
    own = f"{MACHINES}/{state.machine}.json"
    tree = {**shared_drafts.outgoing(root, here.inboxes, rest, state), **here.tree}
    if not state.team and (accepted := incoming.own_row(root, state.adopted, state.approved)):
        tree[_accepted_path(state)] = accepted
    changed = sum(tree.get(path) != base.get(path) for path in {*tree, *base} - {own})
    counters = {path: number(data, "counter") for path, data in base.items() if path.startswith(MACHINES + "/")}
    row["counter"] = max(counters.values(), default=0) + changed if changed else counters.get(own, 0)
    row["time"] = int(now) if changed else number(base.get(own, b""), "time")
    row |= {key: number(base.get(own, b""), key) for key in ("seen", "told")}
    return {**tree, own: _row(row)}


def _accepted_path(state: SyncState) -> str:
    return f"{incoming.ACCEPTED}/{state.machine}.json"


def _asked(
    base: Tree, ours: Tree, theirs: Tree, merged: trees.TreeMerge, stands: Callable[[str], bool], name: str,
    writers: Callable[[], Mapping[str, FileWriter]],
) -> Tree:  # fmt: skip
    """Return a file for each memory that both sides changed in two ways, with the version that does not stand."""
    lost = [one for one in merged.conflicts if one.other]
    others = trees.merge(base, ours, theirs, stands, lambda path: not stands(path)).tree if lost else {}
    paths = {path for one in lost if (path := _memory_of(one)) in others and _says(others[path], one)}
    paths |= {one.where.partition(": ")[0] for one in lost if not _says(others.get(_memory_of(one), b""), one)}
    files: Tree = {}
    for path in sorted(paths):
        if path in merged.tree and path in others and others[path] != merged.tree[path] and path.endswith(".md"):
            last = writers() if stands(path) else {}  # the other side may have it by another name
            newest = max(last.values(), key=lambda writer: writer.counter, default=None)
            machine = writer.machine if (writer := last.get(path, newest)) else name
            row = {"path": path, "other": others[path].decode("utf-8", "replace"), "from": machine}
            data = json.dumps(row, sort_keys=True, ensure_ascii=False).encode() + b"\n"
            files[f"{CONFLICTS}/{ids_hot.digest(data)[:16]}.json"] = data
    return files


def _says(data: bytes, conflict: Conflict) -> bool:
    """Tell whether a text says what one side lost: any of its own, and of its line in MEMORY.md the words behind it."""
    if _memory_of(conflict) == conflict.where.partition(": ")[0]:
        return True
    entries = memory_index.parse_index(conflict.other.encode("utf-8", "surrogateescape")).entries
    return all(entry.hook.rstrip("….").encode("utf-8", "surrogateescape") in data for entry in entries)


def _ask(root: str, state: SyncState, here: LocalTree, tree: Tree, *, leaves: bool) -> dict[str, str]:
    """Leave a draft for each new conflict, if `leaves`, withdraw those decided elsewhere; return all that are asked."""
    names = {path[len(CONFLICTS) + 1 : -5]: data for path, data in tree.items() if path.startswith(CONFLICTS + "/")}
    asked = {key: entry for key, entry in state.asked.items() if key in names}
    notes.remove(root, {entry for key, entry in state.asked.items() if key not in names}, notes.DRAFTS)
    for key, data in names.items():
        entry_id = _leave(root, here, tree, fastjson_hot.loads_dict(data)) if leaves and key not in asked else ""
        asked |= {key: entry_id} if entry_id else {}
    return asked


def _leave(root: str, here: LocalTree, tree: Tree, row: dict[str, Any], team: str = "") -> str:
    """Leave the version that does not stand as a draft for its memory; return its id, empty if that is not here."""
    path = str(row.get("path"))
    file = local_files.file_of(here, path)
    if not file or path not in tree:
        return ""
    top, name = rows.split(path)
    label = GLOBAL if top == GLOBAL else f"auto:{os.path.basename(os.path.dirname(here.places[top]))}"
    label = f"{locate_hot.TEAM}:{team}" if team else label
    other = memory.from_bytes(file, label, str(row.get("other")).encode("utf-8", "replace"))
    fields = {
        "from": f"machine:{row.get('from')}", "kind": drafts.REWRITE, "name": other.stem, "type": other.type,
        "scope": label, "replaces": name, "base": ids_hot.digest(tree[path]),
    }  # fmt: skip
    inbox = here.inboxes.get(top) or paths_hot.inbox_dir(root, None)
    text = "\n\n".join(filter(None, (other.description, other.body.strip()))) or other.stem
    for entry in format_hot.read(f"{inbox}/{notes.DRAFTS}"):
        if entry.text == text and entry.fields.get("base") == fields["base"]:  # asked before this machine left
            return entry.id
    return file_hot.add_entry(inbox, "updates", {k: v for k, v in fields.items() if v}, text)


def _sentences(conflicts: list[Conflict]) -> list[str]:
    """Say what did not fit, once for each memory; the line of a memory in MEMORY.md is its own."""
    sentences: dict[str, str] = {}
    for conflict in sorted(conflicts, key=lambda conflict: bool(conflict.other)):
        deleted = "deleted on one side, changed on the other; it stands."
        one = "renamed on both sides; it" if conflict.stands else "new on both sides; the other one"
        words = f"{one} is {conflict.beside} now." if conflict.beside else deleted
        sentences[_memory_of(conflict)] = BOTH if conflict.other else words
    return [f"{path}: {words}" for path, words in sentences.items()]


def _memory_of(conflict: Conflict) -> str:
    """Return the path of the memory that a conflict is about, also of one in a line of MEMORY.md."""
    path, _, key = conflict.where.partition(": ")
    return f"{os.path.dirname(path)}/{key}" if key and path.endswith("/" + locate_hot.INDEX_NAME) else path


class MachineRow(NamedTuple):
    """A machine: when it sent a change last, by its own clock (0: not known); `ahead`: files here that were not sent
    yet; `behind`: changes of others that it may lack; `withheld`: files that stay there. None: only it knows.
    `is_syncing`: whether this machine is at it just now, which tells its figures at the end."""

    name: str
    version: str
    time: int
    ahead: int | None
    behind: int
    withheld: int | None
    is_syncing: bool = False


def machines(env: dict[str, str], root: str, state: SyncState) -> list[MachineRow]:
    """List the machines that ever synced with the remote, this one first. Raises MemtuiError."""
    is_syncing = quick.is_syncing(root)
    repo, own = repository(root, state, env), f"{MACHINES}/{state.machine}.json"
    cards = repo.tree(state.base, MACHINES + "/")
    fetched = repo.tree(THERE, MACHINES + "/") if not is_syncing and repo.has(THERE) else {}
    newest = max((number(card, "counter") for card in [*cards.values(), *fetched.values()]), default=0)
    behind = {path: newest - max(number(card, "counter"), number(card, "seen")) for path, card in cards.items()}
    behind[own] = newest - max((number(card, "counter") for card in cards.values()), default=0)
    is_sent = is_syncing or not cards or (state.seen and state.seen == quick.stamp(state.watched))
    ahead = 0 if is_sent else len(_run_locked(env, root, state, state.time, "", dry_run=True, offline=True)[0].went)
    rows = []
    for path, card in sorted(cards.items(), key=lambda item: (item[0] != own, _name(item[1]))):
        version = fastjson_hot.text(fastjson_hot.loads_dict(card), "version")
        is_own = path == own
        facts = (ahead, behind[path], state.withheld, is_syncing) if is_own else (None, behind[path], None)
        rows.append(MachineRow(_name(card), version, number(card, "time"), *facts))
    return rows


def _name(card: bytes) -> str:
    return fastjson_hot.text(fastjson_hot.loads_dict(card), "name")
