"""`memtui rm`, `mv`, `history` and `undo`: remove, move and copy memories; their versions, the trash, the way back."""

import argparse
import os
from collections import Counter
from contextlib import suppress
from functools import partial

from memtui.base import clock_hot, short_ids
from memtui.base.errors import EXIT_FAILED, MemtuiError, NotFoundError, UsageError
from memtui.base.phrasing_hot import age, many, size
from memtui.base.shell import shell_word
from memtui.base.short_ids import short_id
from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, narrate, picked, safe
from memtui.store import history, references, scopes
from memtui.store.journal import acts
from memtui.store.journal import undo as undoing
from memtui.store.journal.journal import Journal
from memtui.store.journal.ledger import Transaction
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.store import Store
from memtui.store.versions.versions import GONE, Version, Versions
from memtui.store.versions.writers import Occasions
from memtui.views import changes
from memtui.views.changes import PLACES, STATES, asked_about, place, reason, undone_as_one
from memtui.views.parts import TextDifference

SYNCED = ("global", "auto")  # scopes that sync takes along
HISTORY = 20  # changes that --list prints; --json has all of them


@parser.command("rm")
def rm(ctx: Context, args: argparse.Namespace) -> Result:
    from memtui.views.memories import counted, must_ask  # history starts without it

    store = ctx.store()
    memories.ask_others(ctx, store, args.names, yes=args.yes)
    if args.purge:
        return _purge(ctx, store, args)
    labels = []
    for name in args.names if len(args.names) > 1 else ():
        with suppress(MemtuiError):  # reported when it is removed
            labels.append(memories.find(ctx, name).scope_label)
    if not args.yes and must_ask(labels):
        ctx.confirm(f"Remove {counted(labels)}? They go to the trash.", "Nothing was removed.")

    def remove(name: str) -> "tuple[Memory, str]":
        memory = memories.find(ctx, name)
        return memory, store.delete(memory)

    bulk = memories.BulkResult()
    pairs = bulk.run(store, args.names, remove)
    words = [memories.written(ctx, acts.done("delete"), memory) for memory, _ in pairs]
    data = [{**memories.data_of(memory), "trash_id": key} for memory, key in pairs]
    return bulk.result({"deleted": data}, *words, memories.undo(len(pairs)))


def _purge(ctx: Context, store: Store, args: argparse.Namespace) -> Result:
    remaining, bulk = 0, memories.BulkResult()

    def purge(name: str) -> str:
        nonlocal remaining
        try:
            memory = memories.find(ctx, name)
            label, remove = memory.ref, partial(store.erase, memory)
        except NotFoundError:
            item = memories.trashed(store.trash(), name)
            label, remove = item.memory.ref, partial(store.purge, item.id)
        if not args.yes:
            ctx.confirm(f"Delete {line(label)} for good? This can't be undone.", f"{label} was kept.")
        remaining += remove()
        return label

    names = bulk.run(store, args.names, purge)
    keep = many(remaining, "other change keeps", "other changes keep")
    until = "until it is older than keep_days"
    return bulk.result(
        {"purged": names, "lines_left": remaining},
        f"{acts.done('purge')}: {line(', '.join(names))}",
        narrate(f"{keep} a line of it for undo, {until}." if remaining else ""),
        narrate("What sessions got of it stands in Claude Code's transcripts until Claude Code deletes these."),
    )


def _new_name(args: argparse.Namespace) -> "str | None":
    if args.scope:
        return None
    if len(args.names) != 2:
        raise UsageError("Give a NEWNAME, or --scope SCOPE.", "To move several, use --scope.")
    name = str(args.names.pop())
    scope, colon, _ = name.rpartition(":")
    if colon:
        command = f"memtui mv {shell_word(args.names[0])} --scope {shell_word(scope)}"
        raise UsageError(f"A name has no scope: {name}.", f"To move it: {command}")
    return name


@parser.command("mv")
def mv(ctx: Context, args: argparse.Namespace) -> Result:
    """Rename a memory, or move or copy some; the fields of a single one are at the top of the answer, too."""
    name = _new_name(args)
    store = ctx.store()
    memories.ask_others(ctx, store, [] if args.copy and args.scope else args.names, args.scope or "", yes=args.yes)
    target = store.scope(args.scope) if args.scope else None

    def change(ref: str) -> "tuple[Memory, Memory]":
        memory = memories.find(ctx, ref)
        if args.copy:
            to = target or store.scope(memory.scope_label)
            return memory, store.copy(_trusted(store, memory, to), to, name)
        if target is not None:
            return memory, store.move(_trusted(store, memory, target), target)
        return memory, store.rename(memory, name or memory.stem)

    bulk = memories.BulkResult()
    pairs = bulk.run(store, args.names, change)
    rows: list[dict[str, object]] = [
        {**memories.data_of(mem), "was": {"name": other.name, "scope": other.scope_label, "path": other.path}}
        for other, mem in pairs
    ]
    beside = ""
    if target is not None and not args.copy and target.kind not in {*SYNCED, "team"}:
        from memtui.sync import state

        if "" in state.names(ctx.root) and any(other.scope_label.partition(":")[0] in SYNCED for other, _ in pairs):
            it = "it" if len(pairs) == 1 else "them"
            until = f", until git brings {it} there" if target.root_path or target.is_shared else ""
            beside = f"Your other machines lose {it} with the next sync{until}."
    words = [memories.written(ctx, "copied to" if args.copy else "now", memory) for _, memory in pairs]
    data = {**(rows[0] if len(args.names) == 1 else {}), "made": rows}
    return bulk.result(data, *words, narrate(beside), memories.undo(len(pairs)))


def _trusted(store: Store, memory: Memory, target: Scope) -> Memory:
    """Return the memory. Raises MemtuiError for an untrusted one that would get into a scope where none needs trust."""
    if not target.needs_trust and not store.is_trusted(memory):
        scope = store.scope(memory.scope_label)
        raise references.not_trusted(memory.stem, scope.label if scope.is_shared else "")
    return memory


@parser.command("history")
def history_of(ctx: Context, args: argparse.Namespace) -> Result:
    if args.restore is True:
        return _from_trash(ctx, args.names)
    number = next((each for each in (args.diff, args.show, args.restore) if each is not None), None)
    if not args.names:
        if number is not None:
            raise UsageError("Name the memory.", "memtui history NAME --diff 3")
        return _trash(ctx)
    if len(args.names) > 1:
        raise UsageError("Name one memory.", "Several only come back from the trash: --restore without a number.")
    name = args.names[0]
    versions = Versions(ctx.root, ctx.now)
    memory, scope, lineage = _known(ctx, versions, name)
    if versions.problem is not None:
        if not lineage:
            raise versions.problem
        ctx.out.say(f"! The newest version can't be kept: {line(versions.problem.message)}")
    if not lineage or scope is None:
        hint = "memtui keeps those of all memories that it can read, but not of CLAUDE.md and rules."
        raise NotFoundError(f"There are no versions of {line(name)}.", hint)
    if memory is None and (heir := history.became(versions, lineage[-1])):
        now = changes.ref(heir.directory, heir.file, history.scopes_of(ctx.env, ctx.cwd, [heir]))
        raise NotFoundError(f"{line(name)} became {line(now)}.", f"memtui history {shell_word(now)}")
    every = history.scopes_of(ctx.env, ctx.cwd, lineage)
    chosen = history.numbered(lineage, number) if number is not None else None
    newest = lineage[-1]
    if chosen is not None and args.restore is not None:
        restored = history.restore(ctx.store(), versions, scope, memory, chosen, newest.file)
        history.taken_in(versions, [scope])
        is_same = restored is memory
        words = memories.written(ctx, "unchanged" if is_same else "restored", restored)
        after = narrate("That is the present text already.") if is_same else memories.undo()
        return Result(memories.data_of(restored), words, after)
    path, trash = os.path.realpath(newest.path), ctx.store().trash() if memory is None else []
    trashed = next((item.id for item in trash if item.path == path), "")
    last = f"It is in the trash: memtui history {short_id(trashed)} --restore" if trashed else ""
    rows = history.rows(lineage)
    occasions = Occasions(ctx.env)
    data: dict[str, object] = {}
    data["versions"] = [_data(n, row, newest, occasions, every) for n, row in enumerate(rows, 1)]

    def text(out: Output) -> None:
        cells, notes = [], []
        for number, row in reversed(list(enumerate(rows, 1))):
            version, occasion = row.version, occasions.of(row.version.writer)
            what = size(version.size) if version.digest != GONE else "deleted"
            who = line(changes.told(version, newest, occasion.title, every))
            unseen = "not seen yet" if history.waits(lineage, version) else ""
            cells.append([str(number), age(row.time, ctx.now()), what, who, unseen])
            notes.append(line(changes.prompted(occasion.prompt)))
        out.table(["VERSION", "AGE", "SIZE", "WRITTEN BY", ""], cells, flex=[3], right=[0, 1, 2], notes=notes)

    if chosen is None:
        way = "No other version is known yet: memtui keeps each new one from now on."
        if len(lineage) > 1:
            way = f"What the newest changed: memtui history --diff {len(lineage)} {shell_word(name)}"
        return Result(data, text, narrate(last), narrate(way))
    content = versions.content(chosen)
    if args.show is not None:
        data["text"] = content.decode("utf-8", "backslashreplace")
        return Result(data, safe(content.decode("utf-8", "replace")).rstrip("\n"))
    before = versions.content(lineage[lineage.index(chosen) - 1]) if chosen != lineage[0] else b""
    data["diff"] = "\n".join(TextDifference(before, content).lines)
    return Result(data, lambda out: out.diff_lines(TextDifference(before, content).lines, "  "))


def _trash(ctx: Context) -> Result:
    items = ctx.store().trash()
    data = [{**picked(item, "id time path"), "scope": item.scope_label, "name": item.memory.name} for item in items]
    if not items:
        return Result({"trash": data}, "The trash is empty.")
    others = any(item.scope_label.startswith("auto:") for item in items)
    labels = {scope.label: scope.shown for scope in scopes.discover(ctx.env, ctx.cwd, all_projects=others)}
    rows = [
        [
            (short_id(item.id), "cyan"),
            age(clock_hot.parse(item.time), ctx.now()),
            (line(item.memory.stem), "bold"),
            line(labels.get(item.scope_label, item.scope_label)),
            line(item.memory.description),
        ]
        for item in items
    ]
    return Result(
        {"trash": data},
        lambda out: out.table(["ID", "AGE", "NAME", "SCOPE", "DESCRIPTION"], rows, flex=(4, 2), right=(1,)),
        "Restore: memtui history ID --restore   Delete for good: memtui rm --purge ID",
    )


def _from_trash(ctx: Context, names: "list[str]") -> Result:
    """Restore memories, the last trashed first, so that lines of the index find their places again."""
    if not names:
        raise UsageError("Name what to restore.", "`memtui history` lists the trash.")
    store = ctx.store()
    items = store.trash()
    bulk = memories.BulkResult()

    def position(name: str) -> int:
        try:
            return items.index(memories.trashed(items, name))
        except MemtuiError:
            return len(items)

    mems = bulk.run(store, sorted(names, key=position), lambda name: store.restore(memories.trashed(items, name).id))
    restored: list[dict[str, object]] = [memories.data_of(memory) for memory in mems]
    words = [memories.written(ctx, "restored", memory) for memory in mems]
    data = {**(restored[0] if len(names) == 1 else {}), "restored": restored}
    return bulk.result(data, *words, memories.undo(len(mems)))


def _known(ctx: Context, versions: Versions, name: str) -> "tuple[Memory | None, Scope | None, list[Version]]":
    """Find a memory, also one that is gone (None), with its scope and its versions. Raises as `memories.find`."""
    try:
        memory = memories.find(ctx, name)
    except NotFoundError:
        every = scopes.discover(ctx.env, ctx.cwd)
        versions_of_name = history.of_deleted(history.looked(versions, every), every, name)
        if not versions_of_name:
            raise  # says what there is instead
        directory = versions_of_name[-1].directory
        return None, next(place for place in every if place.directory == directory), versions_of_name
    scope = scopes.of_memory(ctx.env, ctx.cwd, memory)
    if scope is None:
        return memory, None, []
    return memory, scope, history.of_memory(history.looked(versions, [scope]), scope, memory)


def _data(
    number: int, row: history.HistoryRow, newest: Version, occasions: Occasions, every: "list[Scope]"
) -> "dict[str, object]":
    version, occasion = row.version, occasions.of(row.version.writer)
    return {
        **picked(version, "time size seen"),
        "number": number,
        "name": references.stem(version.file),
        "written": clock_hot.iso(row.time),
        "by": version.writer.by,
        "did": version.op or None,
        "was": changes.ref(version.directory, version.file, every) if version.path != newest.path else None,
        "session": version.writer.session or None,
        "title": occasion.title or None,
        "prompt": version.writer.prompt or None,
        "prompt_text": occasion.prompt or None,
        "deleted": version.digest == GONE,
    }


@parser.command("undo")
def undo(ctx: Context, args: argparse.Namespace) -> Result:
    op: undoing.Op = "redo" if args.redo else "undo"
    journal = ctx.journal()
    if args.list:
        return _list_changes(ctx, journal)
    try:
        every = journal.ledger().transactions
        names = [*every, *(change.group for change in every.values() if change.group)]
        key = None if args.id is None else short_ids.match(args.id, names, "change")
        if key is None and op == "undo" and not (args.yes or ctx.can_ask):
            _refuse_before_note(ctx, journal)
        undone = undoing.attempt(journal, op, key, sure=lambda elsewhere: args.yes or _ask(ctx, elsewhere))
    except NotFoundError as error:
        raise NotFoundError(error.message, error.hint or "`memtui undo --list` lists the changes.") from None
    ctx.versions.note()
    assert isinstance(undone, undoing.Undone)  # a no has raised in `_ask`
    as_one = undone_as_one(undone)
    failed = [{**_as_row(transaction), "error": reason(transaction, error)} for transaction, error in undone.failed]
    again = "   (memtui undo --redo redoes it)" if op == "undo" else ""
    words = f"{acts.done(op)}: {line(as_one.summary + ctx.elsewhere(as_one.paths))}{again}"
    rest = [f"left alone: {line(str(row['summary']))}: {line(str(row['error']))}" for row in failed]
    data = {**_as_row(as_one), "count": len(undone.done), "failed": failed}
    return Result(data, words, *rest, code=EXIT_FAILED if failed else 0)


def _refuse_before_note(ctx: Context, journal: Journal) -> None:
    """Raise MemtuiError if a note without a line in the journal waits here that is newer than the last change."""
    transaction = journal.ledger().next_step("undo")[0]
    changed_at = clock_hot.parse(transaction.latest.time) or 0.0
    own = [item for item in ctx.waiting(("guidance",)) if item.entry.fields.get("from") == "cli"]
    last = max(own, key=lambda item: item.entry.time() or 0.0, default=None)
    if last is None or (last.entry.time() or 0.0) <= changed_at or last.id in transaction.record.get("entries", ()):
        return
    raise MemtuiError(
        f"Not undone: the last change, “{line(transaction.summary)}”, is older than the note “{line(last.text)[:60]}”.",
        f"Withdraw that: memtui note --withdraw {short_id(last.id)}. Undo this: memtui undo {short_id(transaction.id)}",
    )


def _list_changes(ctx: Context, journal: Journal) -> Result:
    ledger = journal.ledger()
    every = ledger.changes()
    transactions = every[:HISTORY]
    undoable = {key for key in ledger.undoable if not undoing.was_delivered(journal, ledger.transactions[key])}
    steps = Counter(transaction.group for transaction in every if transaction.group)
    rows = [{**_as_row(step), "undoable": step.id in undoable} for step in every]
    cells = [
        [
            (short_id(change.id), "cyan"),
            age(clock_hot.parse(change.time), ctx.now()),
            line(place(change, "cli")),
            STATES.get(change.state, line(change.state)),
            line(change.summary) + (f" (1 of {size} in a step)" if (size := steps[change.group]) > 1 else ""),
        ]
        for change in transactions
    ]
    older = len(every) - len(transactions)
    return Result(
        {"history": rows, "skipped": ledger.skipped},
        (lambda out: out.table(["ID", "AGE", "FROM", "STATE", "CHANGE"], cells, right=(1,)))
        if every
        else "Nothing was changed yet.",
        f"and {many(older, 'older change')}: memtui undo --list --json" if older else "",
    )


def _as_row(transaction: Transaction) -> "dict[str, object]":
    return picked(transaction, "id time op by summary paths of state")


def _ask(ctx: Context, elsewhere: undoing.Elsewhere) -> bool:
    """Ask about changes that were not made here and now; return True. Raises MemtuiError unless a person says yes."""
    project = ctx.elsewhere(elsewhere.first.paths)
    op, question = elsewhere.op, line(asked_about(elsewhere, ctx.now(), PLACES["cli"], project))
    try:
        ctx.confirm(question, "Nothing was changed.")
    except MemtuiError as error:
        if not error.hint:
            raise  # a person said no
        command = f"memtui undo{' --redo' if op == 'redo' else ''} --yes"
        if op == "undo" and elsewhere.count == 1:
            command = f"memtui undo {short_id(elsewhere.first.id)}"
        words = f"Not {acts.done(op)}, as nobody can be asked: {question}"
        raise MemtuiError(words, f"To {op} it anyway: {command}") from None
    return True
