"""`memtui sessions`: which sessions memtui served, and what each one got."""

import argparse
import itertools

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import clock, matching
from memtui.core.base.errors import NotFoundError
from memtui.core.base.phrasing import age, ago, short
from memtui.core.client import transcript
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts
from memtui.core.deliveries.record import GLYPHS, Record, text_of, what
from memtui.core.deliveries.sessions import Session, collect, fits, states, told

LIMIT = 20
ROWS = 200
BATCH = 100
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
    every = [each for each in collect(ctx.root, records) if not ctx.given or each.slug() == ctx.slug]
    shown = every[: args.limit] if args.limit > 0 else every
    data = {"sessions": [each.data() for each in shown], "whole_log": not log.older}
    return Result(data, lambda out: _print(ctx, out, shown, older=log.older))


def _print(ctx: Context, out: Output, shown: "list[Session]", *, older: bool) -> None:
    if not shown:
        out.print("No session was served yet.")
        out.print("  Are the hooks installed? memtui hooks status")
        return
    rows = []
    for each in shown:
        data = each.data()
        last = age(clock.parse(each.last), ctx.now())
        where = each.project.rstrip("/").rpartition("/")[2]
        rows.append(
            [
                (line(each.id)[:8], "cyan"),
                last,
                str(data["deliveries"]),
                str(data["uses"]),
                str(data["mode"]) or "-",
                line(where),
            ]
        )
    out.table(["SESSION", "LAST", "DELIVERIES", "USES", "MODE", "PROJECT"], rows, right=(1, 2, 3))
    if older:
        out.print(f"Counted in the newest {WINDOW_MB} MB of the log; all of it: memtui sessions --all")
    out.print("What one got: memtui sessions show ID")


class Shown:
    """A session, its newest `records` with their outcomes (`told`, by delivery), and the outcomes of all, counted."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.records: list[Record] = []
        self.told: dict[str, str] = {}
        self.counts: dict[str, int] = {}

    def note(self, record: Record, outcome: str, rows: int) -> None:
        """Take in a record; so many are kept, with 0 all."""
        self.session.note(record)
        self.counts[outcome] = self.counts.get(outcome, 0) + 1
        if rows <= 0 or len(self.records) < rows:
            self.records.append(record)
            self.told[text_of(record, "id")] = outcome

    @property
    def more(self) -> int:
        """How many older records there are."""
        return sum(self.counts.values()) - len(self.records)


def _read(ctx: Context, ref: str, rows: int) -> "dict[str, Shown]":
    """The sessions that a reference may mean, by id; of too many only the first."""
    found = {name: Shown(each) for name, each in states(ctx.root).items() if fits(name, ref)}
    views: dict[str, receipts.TranscriptView] = {}
    finder = transcript.Finder(ctx.config_dir)
    every = told(ctx.root, ref)
    while len(found) <= matching.SEVERAL and (batch := list(itertools.islice(every, BATCH))):
        known = receipts.outcomes(batch, ctx.env, ctx.now(), views, finder)
        for record in batch:
            name = text_of(record, "session_id")
            outcome = known.get(text_of(record, "id"), receipts.UNKNOWN)
            found.setdefault(name, Shown(Session(name))).note(record, outcome, rows)
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
        **found.session.data(),
        "sums": {**found.session.sums, "outcomes": found.counts},
        "state": found.session.state,
        "records": [{**record, "outcome": found.told[text_of(record, "id")]} for record in found.records],
        "more": found.more,
    }
    return Result(data, lambda out: _print_one(ctx, out, found))


def _print_one(ctx: Context, out: Output, shown: Shown) -> None:
    found, records, outcomes, more = shown.session, shown.records, shown.told, shown.more
    now = ctx.now()
    data = found.data()
    out.heading(f"Session {line(found.id)}", line(found.project))
    sums = found.sums
    started = clock.parse(data["started"])
    for key, value in (
        ("started", ago(started, now)),
        ("directory", line(str(data["cwd"]))),
        ("mode", str(data["mode"]) or "-"),
        ("deliveries", f"{sums['deliveries']}, {short(sums['characters'])} characters, some {sums['tokens']:,} tokens"),
        ("in hooks", f"{sums['ms']:,} ms"),
    ):
        out.print(f"  {out.style(f'{key:<12}', 'dim')}{value}")
    out.print()
    cells = []
    for record in records:
        glyph, style = GLYPHS[outcomes.get(text_of(record, "id"), receipts.UNKNOWN)]
        outcome = outcomes.get(text_of(record, "id"), receipts.UNKNOWN)
        when = age(clock.parse(record.get("time")), now)
        name = (text_of(record, "id")[-6:], "cyan")
        chars = record.get("chars")
        length = short(chars) if isinstance(chars, int) and chars else "-"
        told_as = (f"{glyph} {outcome}", style)
        cells.append([name, when, told_as, length, line(text_of(record, "event")), line(what(record))])
    if cells:
        out.table(["ID", "AGE", "RECEIPT", "CHARS", "EVENT", "WHAT"], cells, right=(1, 3))
        if more:
            out.print(f"and {more:,} older: memtui sessions show {line(found.id)[:8]} --rows 0")
        out.print("The exact text: memtui deliveries show ID")
    else:
        out.print("It got nothing.")
