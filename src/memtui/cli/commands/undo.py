"""`memtui undo`: undo changes, or redo them."""

import argparse
from collections import Counter

from memtui.base import clock, short_ids
from memtui.base.errors import EXIT_FAILED, MemtuiError, NotFoundError, UsageError
from memtui.base.phrasing import age, many
from memtui.base.short_ids import short_id
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Result, line, picked
from memtui.store.journal import acts
from memtui.store.journal import undo as undoing
from memtui.store.journal.journal import Journal
from memtui.store.journal.ledger import Transaction
from memtui.views.changes import PLACES, STATES, asked_about, place, reason, undone_as_one, worded

HISTORY = 20  # changes that --list prints by default; --json has all of them then


@parser.command(f"""\
undo: undo the last change, or redo it
  memtui undo
  memtui undo --list
  memtui undo 4B7XAD
  memtui undo --redo
It works across restarts. A file that has changed since is not touched. A change that was made in this terminal in the
last ten minutes is undone at once. It asks first about a change that is older, or was made elsewhere: in the TUI, in
another terminal, by a script; and if memories were deleted for good since, which can't be undone. Without a terminal to
ask on it refuses, unless --yes or the ID is given. A note that a script wrote is not among the changes: `note
--withdraw ID` withdraws it.
/ [ID] | an older change, see --list
/ --redo | make the change again that was undone last
/ --list | list the changes, newest first
--limit N | changes that --list shows, default: {HISTORY}, 0: all
--yes | don't ask""")
def run(ctx: Context, args: argparse.Namespace) -> Result:
    if args.limit is not None and not args.list:
        raise UsageError("--limit goes with --list.", "memtui undo --list --limit N")
    op: undoing.Op = "redo" if args.redo else "undo"
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
    again = "   (memtui undo --redo redoes it)" if op == "undo" else ""
    words = f"{acts.done(op)}: {line(as_one.summary)}{again}"
    rest = [f"left alone: {line(str(row['summary']))}: {line(str(row['error']))}" for row in failed]
    data = {**_as_row(as_one), "count": len(undone.done), "failed": failed}
    return Result(data, words, *rest, code=EXIT_FAILED if failed else 0)


def _history(ctx: Context, journal: Journal, limit: "int | None") -> Result:
    ledger = journal.ledger()
    every = [worded(journal, transaction) for transaction in ledger.changes()]
    transactions = every[: HISTORY if limit is None else limit or None]
    undoable = {key for key in ledger.undoable if not undoing.was_delivered(journal, ledger.transactions[key])}
    steps = Counter(transaction.group for transaction in every if transaction.group)
    rows = [{**_as_row(step), "undoable": step.id in undoable} for step in (every if limit is None else transactions)]
    cells = [
        [
            (short_id(change.id), "cyan"),
            age(clock.parse(change.time), ctx.now()),
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
        f"and {many(older, 'older change')}: memtui undo --list --limit 0" if older else "",
    )


def _as_row(transaction: Transaction) -> "dict[str, object]":
    return picked(transaction, "id time op by summary paths of state")


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
