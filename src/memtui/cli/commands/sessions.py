"""`memtui sessions`: the sessions that memtui served, and what each was given."""

import argparse
from collections import Counter

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.cli.show.deliveries import receipt, receipts_of
from memtui.core.base import clock, matching
from memtui.core.base.errors import NotFoundError
from memtui.core.base.matching import short_id
from memtui.core.base.phrasing import age, ago, short
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries.record import Delivery
from memtui.core.deliveries.sessions import Session, collect, deliveries, meant, states
from memtui.present.deliveries import what

LIMIT = 20  # sessions in the list
ROWS = 200  # deliveries of one session
WINDOW_MB = delivery_log.WINDOW_BYTES >> 20


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "sessions",
        run,
        "list the sessions that got something, and what",
        "memtui sessions\nmemtui sessions show 5f0c",
        f"All projects, newest first; --project DIR for one. Counts are of the newest {WINDOW_MB} MB of the log,"
        " with --all of all of it.",
    )
    found.add_argument("--limit", type=int, default=LIMIT, metavar="N", help=f"default: {LIMIT}, 0: all")
    found.add_argument("--all", action="store_true", help="count through the whole log, however long that takes")
    actions = parser.actions(found)
    each = parser.command(
        actions,
        "show",
        show,
        "show what one session got",
        "memtui sessions show 5f0c\nmemtui sessions show 5f0c --rows 0",
    )
    each.add_argument("id", metavar="ID")
    each.add_argument(
        "--rows", type=int, default=ROWS, metavar="N", help=f"so many of its newest deliveries, default: {ROWS}, 0: all"
    )


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List the sessions."""
    log = delivery_log.Skipped()
    records = delivery_log.newest_first(ctx.root, log, most=0 if args.all else delivery_log.WINDOW_BYTES)
    every = [each for each in collect(ctx.root, records) if not ctx.project_given or each.slug == ctx.slug]
    shown = every[: args.limit] if args.limit > 0 else every
    data = {"sessions": [_data(each) for each in shown], "whole_log": not log.older}
    return Result(data, lambda out: _print(ctx, out, shown, older=log.older))


def _data(each: Session) -> "dict[str, object]":
    return {
        "id": each.id,
        "project": each.project,
        "cwd": each.cwd,
        "mode": each.mode,
        "started": each.started or None,
        "last": each.last or None,
        "deliveries": each.deliveries,
        "uses": each.uses,
    }


def _print(ctx: Context, out: Output, shown: "list[Session]", *, older: bool) -> None:
    if not shown:
        out.print("No session was served yet.")
        out.print("  Are the hooks installed? memtui hooks status")
        return
    rows = [
        [
            (line(each.id)[:8], "cyan"),
            age(clock.parse(each.last), ctx.now()),
            str(each.deliveries),
            str(each.uses),
            line(each.mode) or "-",
            line(each.project.rstrip("/").rpartition("/")[2]),
        ]
        for each in shown
    ]
    out.table(["SESSION", "LAST", "DELIVERIES", "USES", "MODE", "PROJECT"], rows, right=(1, 2, 3))
    if older:
        out.print(f"Counted in the newest {WINDOW_MB} MB of the log; all of it: memtui sessions --all")
    out.print("What one got: memtui sessions show ID")


class SessionDetails:
    """A session with its newest deliveries and their outcomes; `counts` has the outcomes of all its deliveries."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.newest: list[tuple[Delivery, str]] = []
        self.counts: Counter[str] = Counter()

    def note(self, found: Delivery, outcome: str, rows: int) -> None:
        """Count a delivery, and keep it if there are fewer than `rows` (0: keep all)."""
        self.session.note(found)
        self.counts[outcome] += 1
        if rows <= 0 or len(self.newest) < rows:
            self.newest.append((found, outcome))

    @property
    def more(self) -> int:
        """Return how many older deliveries were not kept."""
        return self.counts.total() - len(self.newest)


def _read(ctx: Context, ref: str, rows: int) -> "dict[str, SessionDetails]":
    """Return the sessions that a reference may mean, by id. With too many it stops at the first."""
    found = {name: SessionDetails(each) for name, each in states(ctx.root).items() if meant(name, ref)}
    proofs = receipts_of(ctx)
    for each in deliveries(ctx.root, ref):
        if len(found) > matching.SEVERAL:
            break
        found.setdefault(each.session, SessionDetails(Session(each.session))).note(each, proofs.of(each), rows)
    return found


def show(ctx: Context, args: argparse.Namespace) -> Result:
    """Show one session."""
    ctx.must_have_home()
    every = _read(ctx, args.id.strip().lstrip("…"), args.rows)
    try:
        found = every[matching.match(args.id, every, "session")]
    except NotFoundError as error:
        raise NotFoundError(error.message, error.hint or "`memtui sessions` lists them.") from None
    data = {
        **_data(found.session),
        "sums": {**found.session.sums, "outcomes": dict(found.counts)},
        "state": found.session.state,
        "records": [{**each.record, "outcome": outcome} for each, outcome in found.newest],
        "more": found.more,
    }
    return Result(data, lambda out: _print_one(ctx, out, found))


def _print_one(ctx: Context, out: Output, details: SessionDetails) -> None:
    found, now = details.session, ctx.now()
    out.heading(f"Session {line(found.id)}", line(found.project))
    sums = found.sums
    facts = [
        ("started", ago(clock.parse(found.started), now)),
        ("directory", line(found.cwd)),
        ("mode", line(found.mode) or "-"),
        ("deliveries", f"{sums['deliveries']}, {short(sums['characters'])} characters, some {sums['tokens']:,} tokens"),
        ("in hooks", f"{sums['ms']:,} ms"),
    ]
    out.facts(facts)
    out.print()
    cells = [
        [
            (short_id(each.id), "cyan"),
            age(each.time or None, now),
            receipt(outcome),
            short(each.chars) if each.chars else "-",
            line(each.event),
            line(what(each.contents)),
        ]
        for each, outcome in details.newest
    ]
    if not cells:
        out.print("It got nothing.")
        return
    out.table(["ID", "AGE", "RECEIPT", "CHARS", "EVENT", "WHAT"], cells, right=(1, 3))
    if details.more:
        out.print(f"and {details.more:,} older: memtui sessions show {line(found.id)[:8]} --rows 0")
    out.print("The exact text: memtui deliveries show ID")
