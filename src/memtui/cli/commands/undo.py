"""`memtui undo` and `redo`: take changes back, and make them again."""

import argparse

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import clock, matching
from memtui.core.base.errors import EXIT_FAILED, MemtuiError
from memtui.core.base.phrasing import age, ago, many
from memtui.core.journal.ledger import Transaction, Turned
from memtui.core.memories.store import Store

HISTORY = 20
DONE = {"undo": "undone", "redo": "done again"}
WILL = {"undo": "Take back", "redo": "Make again"}
WRITERS = {"cli": "by a command", "tui": "in the control room"}
ASKS = (
    "What was changed here and now, by a command in this terminal in the last ten minutes, goes at once; it asks first"
    " about what is older, or was changed elsewhere: in the control room, in another terminal, by a script. Where"
    " nobody can answer it refuses, unless --yes or the ID says so."
)


def register(commands: "parser.Commands") -> None:
    """Add the commands."""
    found = parser.command(
        commands,
        "undo",
        undo,
        "take back the last change",
        "memtui undo\nmemtui undo --list\nmemtui undo 4B7XAD\nmemtui undo --yes",
        f"Works across restarts; a file that was changed since is left alone. {ASKS}",
    )
    found.add_argument("id", nargs="?", metavar="ID", help="an older change, see --list")
    _options(found)
    found = parser.command(
        commands,
        "redo",
        redo,
        "make the change undone last again",
        "memtui redo\nmemtui redo --list",
        "It asks as undo does, about what was taken back elsewhere or earlier.",
    )
    _options(found)


def _options(found: "parser.Parser") -> None:
    found.add_argument("--list", action="store_true", help="list the changes, newest first")
    found.add_argument("--yes", action="store_true", help="don't ask")


def _as_row(each: Transaction) -> "dict[str, object]":
    keys = ("id", "time", "op", "by", "summary", "paths", "of", "state")
    return {key: getattr(each, key) for key in keys}


def _history(ctx: Context, store: Store) -> Result:
    ledger = store.journal.ledger()
    every = [each for each in store.history() if each.op not in {"undo", "redo"} and each.state != "intent"]
    undoable = set(ledger.undoable)
    rows = [{**_as_row(each), "undoable": each.id in undoable} for each in every]

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
    return _turn(ctx, args, "undo", args.id)


def redo(ctx: Context, args: argparse.Namespace) -> Result:
    """Make the change undone last again."""
    return _turn(ctx, args, "redo", None)


def _turn(ctx: Context, args: argparse.Namespace, op: str, ref: "str | None") -> Result:
    store = ctx.store()
    if args.list:
        return _history(ctx, store)
    journal = store.journal
    ledger = journal.ledger()
    key = None if ref is None else matching.match(ref, ledger.transactions, "change")
    found = ledger.to_turn(op, key)
    if key is None and not args.yes and not journal.own(found[0]):
        _ask(ctx, op, found)
    turned = journal.turn(op, key, top=found[0].id)
    failed = [{**_as_row(each), "error": error.message} for each, error in turned.failed]
    data = {**_as_row(turned.as_one()), "count": len(turned.done), "failed": failed}
    return Result(data, lambda out: _print(out, turned), EXIT_FAILED if failed else 0)


def _ask(ctx: Context, op: str, found: "list[Transaction]") -> None:
    """Name what was not done here and now. Raises MemtuiError unless a person says yes to it."""
    first = found[0]
    last = first.latest
    more = f" and {many(len(found) - 1, 'other change')} made with it" if len(found) > 1 else ""
    when = ago(clock.parse(last.time), ctx.now())
    what = f"“{line(first.summary)}”{more}, {when} {WRITERS.get(last.by, 'by ' + line(last.by))}"
    named = f"memtui undo {first.id[-6:]}" if op == "undo" and len(found) == 1 else f"memtui {op} --yes"
    try:
        ctx.confirm(f"{WILL[op]} {what}?", "Nothing was changed.")
    except MemtuiError as error:
        if not error.hint:
            raise  # somebody was asked
        words = f"{op} would {WILL[op].lower()} {what}: nothing was changed."
        raise MemtuiError(words, f"To do that: {named}") from None


def _print(out: Output, turned: Turned) -> None:
    again = "   (memtui redo makes it again)" if turned.op == "undo" else ""
    out.print(f"{DONE[turned.op]}: {line(turned.as_one().summary)}{again}")
    for each, error in turned.failed:
        out.print(f"left alone: {line(each.summary)}: {line(error.message)}")
