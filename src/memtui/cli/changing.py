"""`memtui rm`, `mv`, `cp`, `restore`, `undo`, `redo`: where memories are, and how to take a change back."""

import argparse

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.editing import as_data, written
from memtui.cli.memories import find
from memtui.cli.output import Output, Result, line
from memtui.core import clock, review
from memtui.core.errors import NotFoundError, UsageError
from memtui.core.history import Transaction
from memtui.core.store import Store
from memtui.core.trash import TrashItem
from memtui.core.words import age, many

HISTORY = 20


def register(commands: "parser.Commands") -> None:
    """Add the commands."""
    found = parser.command(
        commands,
        "rm",
        rm,
        "move memories to the trash",
        "memtui rm prefer-npm\nmemtui rm --purge old-secret",
        "`memtui undo` or `memtui restore` brings them back.",
    )
    found.add_argument("names", nargs="+", metavar="NAME", help="a memory, or with --purge also an id of the trash")
    found.add_argument("--purge", action="store_true", help="for good, with every trace in the trash; asks first")
    found.add_argument("--yes", action="store_true", help="don't ask")

    found = parser.command(
        commands,
        "mv",
        mv,
        "rename a memory, or move it to another scope",
        "memtui mv prefer-pnpm use-pnpm\nmemtui mv prefer-pnpm --to global",
        "Links to it and its line in MEMORY.md follow.",
    )
    found.add_argument("name", metavar="NAME")
    found.add_argument("new_name", nargs="?", metavar="NEWNAME")
    found.add_argument("--to", metavar="SCOPE", help="project, global, auto, agent:NAME")

    found = parser.command(
        commands,
        "cp",
        cp,
        "copy a memory to another scope or name",
        "memtui cp prefer-pnpm --to global\nmemtui cp release-steps release-steps-v2",
    )
    found.add_argument("name", metavar="NAME")
    found.add_argument("new_name", nargs="?", metavar="NEWNAME")
    found.add_argument("--to", metavar="SCOPE", help="project, global, auto, agent:NAME")

    found = parser.command(
        commands,
        "restore",
        restore,
        "bring a memory back from the trash, or list the trash",
        "memtui restore\nmemtui restore prefer-npm",
    )
    found.add_argument("name", nargs="?", metavar="ID|NAME", help="without it the trash is listed")

    found = parser.command(
        commands,
        "undo",
        undo,
        "take back the last change",
        "memtui undo\nmemtui undo --list",
        "Works across restarts; a file that was changed since is left alone.",
    )
    found.add_argument("id", nargs="?", metavar="ID", help="an older change, see --list")
    found.add_argument("--list", action="store_true", help="list the changes, newest first")

    found = parser.command(
        commands, "redo", redo, "make the change undone last again", "memtui redo\nmemtui redo --list"
    )
    found.add_argument("--list", action="store_true", help="list the changes, newest first")


def _trash_item(store: Store, ref: str) -> TrashItem:
    """The deleted memory that an id or a name means; the one deleted last of that name. Raises NotFoundError."""
    items = store.trash()
    for item in items:
        if ref in {item.memory.stem, item.memory.name, f"{item.scope_label}:{item.memory.stem}"}:
            return item
    try:
        found = review.match(ref, [item.id for item in items], "deleted memory")
    except NotFoundError as error:
        raise NotFoundError(error.message, "`memtui restore` lists the trash.") from None
    return next(item for item in items if item.id == found)


def rm(ctx: Context, args: argparse.Namespace) -> Result:
    """Move memories to the trash, or remove them for good."""
    store = ctx.store()
    if args.purge:
        return _purge(ctx, store, args)
    found = [find(ctx, name) for name in args.names]
    with store.together():
        rows = [{**as_data(each), "trash_id": store.delete(each)} for each in found]

    def text(out: Output) -> None:
        for each in found:
            written(ctx, out, "in the trash", each)
        out.say("memtui undo brings it back.")

    return Result({"deleted": rows}, text)


def _purge(ctx: Context, store: Store, args: argparse.Namespace) -> Result:
    names = []
    for name in args.names:
        try:
            memory = find(ctx, name)
            label, delete = f"{memory.scope_label}:{memory.stem}", True
        except NotFoundError:
            item = _trash_item(store, name)
            label, delete = f"{item.scope_label}:{item.memory.stem}", False
        if not args.yes:
            ctx.confirm(f"Remove {line(label)} for good? Nothing brings it back.", f"{label} was kept.")
        store.purge(store.delete(memory) if delete else item.id)
        names.append(label)
    return Result({"purged": names}, lambda out: out.print(f"gone for good: {line(', '.join(names))}"))


def mv(ctx: Context, args: argparse.Namespace) -> Result:
    """Rename or move a memory."""
    store = ctx.store()
    found = find(ctx, args.name)
    if args.to:
        made = store.move(found, store.scope(args.to), args.new_name)
    elif args.new_name:
        made = store.rename(found, args.new_name)
    else:
        raise UsageError("Say a NEWNAME, or --to SCOPE.")
    was = {"name": found.name, "scope": found.scope_label, "path": found.path}
    return Result({**as_data(made), "was": was}, lambda out: written(ctx, out, "now", made))


def cp(ctx: Context, args: argparse.Namespace) -> Result:
    """Copy a memory."""
    if not (args.to or args.new_name):
        raise UsageError("Say a NEWNAME, or --to SCOPE.")
    store = ctx.store()
    found = find(ctx, args.name)
    made = store.copy(found, store.scope(args.to or found.scope_label), args.new_name)
    return Result(as_data(made), lambda out: written(ctx, out, "copied to", made))


def restore(ctx: Context, args: argparse.Namespace) -> Result:
    """Bring a memory back, or list the trash."""
    store = ctx.store()
    if args.name is None:
        items = store.trash()
        rows = [
            {"id": i.id, "time": i.time, "path": i.path, "scope": i.scope_label, "name": i.memory.name} for i in items
        ]
        return Result({"trash": rows}, lambda out: _print_trash(ctx, out, items))
    made = store.restore(_trash_item(store, args.name).id)
    return Result(as_data(made), lambda out: written(ctx, out, "restored", made))


def _print_trash(ctx: Context, out: Output, items: "list[TrashItem]") -> None:
    if not items:
        out.print("The trash is empty.")
        return
    rows = [
        [
            (item.id[-6:], "cyan"),
            age(clock.parse(item.time), ctx.now()),
            (line(item.memory.stem), "bold"),
            line(item.scope_label),
            line(item.memory.description),
        ]
        for item in items
    ]
    out.table(["ID", "AGE", "NAME", "SCOPE", "DESCRIPTION"], rows, flex=(4, 2), right=(1,))
    out.print("Bring back: memtui restore ID   For good: memtui rm --purge ID")


def _as_row(each: Transaction) -> "dict[str, object]":
    keys = ("id", "time", "op", "by", "summary", "paths", "of", "state")
    return {key: getattr(each, key) for key in keys}


def _history(ctx: Context, store: Store) -> Result:
    ledger = store.journal.ledger()
    every = [each for each in store.history() if each.op not in {"undo", "redo"} and each.state != "intent"]
    rows = [{**_as_row(each), "undoable": each.id in ledger.undoable} for each in every]

    def text(out: Output) -> None:
        if not every:
            out.print("Nothing was changed yet.")
            return
        cells = [
            [(e.id[-6:], "cyan"), age(clock.parse(e.time), ctx.now()), line(e.by), e.state, line(e.summary)]
            for e in every[:HISTORY]
        ]
        out.table(["ID", "AGE", "BY", "STATE", "CHANGE"], cells, right=(1,))
        if len(every) > HISTORY:
            out.print(f"… and {many(len(every) - HISTORY, 'older change')}")

    return Result({"history": rows, "skipped": ledger.skipped}, text)


def undo(ctx: Context, args: argparse.Namespace) -> Result:
    """Take back the last change, or the one named."""
    store = ctx.store()
    if args.list:
        return _history(ctx, store)
    which = None
    if args.id is not None:
        which = review.match(args.id, store.journal.ledger().transactions, "change")
    done = store.undo(which)
    return Result(_as_row(done), lambda out: out.print(f"undone: {line(done.summary)}   (memtui redo makes it again)"))


def redo(ctx: Context, args: argparse.Namespace) -> Result:
    """Make the change undone last again."""
    store = ctx.store()
    if args.list:
        return _history(ctx, store)
    done = store.redo()
    return Result(_as_row(done), lambda out: out.print(f"done again: {line(done.summary)}"))
