"""`memtui undo`: undo changes, or redo them."""

import argparse
from collections import Counter

from memtui.base import clock, short_ids
from memtui.base.errors import EXIT_FAILED, MemtuiError, NotFoundError, UsageError
from memtui.base.phrasing import age, many
from memtui.base.short_ids import short_id
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.store.journal import acts
from memtui.store.journal import undo as undoing
from memtui.store.journal.journal import Journal
from memtui.store.journal.ledger import Transaction
from memtui.views.changes import PLACES, STATES, asked_about, place, reason, undone_as_one, worded

HISTORY = 20  # changes that --list prints by default; --json has all of them then
ASKS = (  # the part of --help on what is asked about
    "A change that was made in this terminal in the last ten minutes is undone at once. It asks first about a change"
    " that is older, or was made elsewhere: in the TUI, in another terminal, by a script; and if memories were deleted"
    " for good since, which can't be undone. Without a terminal to ask on it refuses, unless --yes or the ID is given."
    " A note that a script wrote is not among the changes: `note --withdraw ID` withdraws it."
)


def register(commands: "parser.Commands") -> None:
    command = parser.command(
        commands,
        "undo",
        run,
        "undo the last change, or redo it",
        "memtui undo\nmemtui undo --list\nmemtui undo 4B7XAD\nmemtui undo --redo",
        f"It works across restarts. A file that has changed since is not touched. {ASKS}",
    )
    command.add_argument("id", nargs="?", metavar="ID", help="an older change, see --list")
    command.add_argument("--redo", action="store_true", help="make the change again that was undone last")
    command.add_argument("--list", action="store_true", help="list the changes, newest first")
    command.add_argument(
        "--limit",
        type=parser.count,
        metavar="N",
        help=f"changes that --list shows, default: {HISTORY}, 0: all",
    )
    command.add_argument("--yes", action="store_true", help="don't ask")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Undo the last change, or the one named; or redo the one that was undone last."""
    if args.redo and args.id:
        raise UsageError("--redo takes no ID.", "It redoes the change that was undone last.")
    if args.redo and args.list:
        raise UsageError("--list does not go with --redo.", "memtui undo --list lists what was undone, too.")
    if args.limit is not None and not args.list:
        raise UsageError("--limit goes with --list.", "memtui undo --list --limit N")
    op: undoing.Op = "redo" if args.redo else "undo"
    ctx.must_have_home()
    journal = ctx.journal()
    if args.list:
        return _history(ctx, journal, args.limit)
    try:
        key = None if args.id is None else short_ids.match(args.id, journal.ledger().transactions, "change")
        undone = undoing.attempt(journal, op, key, sure=lambda elsewhere: args.yes or _ask(ctx, elsewhere))
    except NotFoundError as error:
        raise NotFoundError(error.message, error.hint or "`memtui undo --list` lists the changes.") from None
    ctx.versions.note()
    assert isinstance(undone, undoing.Undone)  # a no has raised in `_ask`
    as_one = undone_as_one(journal, undone)
    failed = [{**_as_row(transaction), "error": reason(transaction, error)} for transaction, error in undone.failed]

    def text(out: Output) -> None:
        again = "   (memtui undo --redo redoes it)" if op == "undo" else ""
        out.print(f"{acts.done(op)}: {line(as_one.summary)}{again}")
        for row in failed:
            out.print(f"left alone: {line(str(row['summary']))}: {line(str(row['error']))}")

    data = {**_as_row(as_one), "count": len(undone.done), "failed": failed}
    return Result(data, text, EXIT_FAILED if failed else 0)


def _history(ctx: Context, journal: Journal, limit: "int | None") -> Result:
    """List the changes, newest first."""
    ledger = journal.ledger()
    every = [worded(journal, transaction) for transaction in ledger.changes()]
    transactions = every[: HISTORY if limit is None else limit or None]
    undoable = {key for key in ledger.undoable if not undoing.was_delivered(journal, ledger.transactions[key])}
    steps = Counter(transaction.group for transaction in every if transaction.group)
    rows = [{**_as_row(each), "undoable": each.id in undoable} for each in (every if limit is None else transactions)]

    def text(out: Output) -> None:
        if not every:
            out.print("Nothing was changed yet.")
            return
        cells = [
            [
                (short_id(each.id), "cyan"),
                age(clock.parse(each.time), ctx.now()),
                line(place(each, "cli")),
                STATES.get(each.state, line(each.state)),
                line(each.summary) + (f" (1 of {size} in a step)" if (size := steps[each.group]) > 1 else ""),
            ]
            for each in transactions
        ]
        out.table(["ID", "AGE", "FROM", "STATE", "CHANGE"], cells, right=(1,))
        if len(every) > len(transactions):
            out.print(f"and {many(len(every) - len(transactions), 'older change')}: memtui undo --list --limit 0")

    return Result({"history": rows, "skipped": ledger.skipped}, text)


def _as_row(transaction: Transaction) -> "dict[str, object]":
    return {key: getattr(transaction, key) for key in ("id", "time", "op", "by", "summary", "paths", "of", "state")}


def _ask(ctx: Context, elsewhere: undoing.Elsewhere) -> bool:
    """Ask about changes that were not made here and now; return True. Raises MemtuiError unless a person says yes."""
    op, question = elsewhere.op, line(asked_about(elsewhere, ctx.now(), PLACES["cli"]))
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
