"""Changes that can be undone, as several commands list them."""

from memtui.cli.context import Context
from memtui.cli.output import Output, line
from memtui.core.base import clock
from memtui.core.base.phrasing import age
from memtui.core.base.short_ids import short_id
from memtui.core.journal.ledger import Transaction
from memtui.present.changes import STATES, place


def as_row(each: Transaction) -> "dict[str, object]":
    """Return a change for JSON."""
    keys = ("id", "time", "op", "by", "summary", "paths", "of", "state")
    return {key: getattr(each, key) for key in keys}


def table(ctx: Context, out: Output, found: "list[Transaction]") -> None:
    """Print changes, each with the id that `memtui undo` takes, when and where it was made, and its state."""
    cells = [
        [
            (short_id(each.id), "cyan"),
            age(clock.parse(each.time), ctx.now()),
            line(place(each, "cli")),
            STATES.get(each.state, line(each.state)),
            line(each.summary),
        ]
        for each in found
    ]
    out.table(["ID", "AGE", "BY", "STATE", "CHANGE"], cells, right=(1,))
