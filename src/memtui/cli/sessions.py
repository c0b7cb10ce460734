"""`memtui sessions`: which sessions memtui served, and what each one got."""

import argparse

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core import clock, receipts, review
from memtui.core.errors import NotFoundError
from memtui.core.sessions import Session, collect, cost
from memtui.core.told import GLYPHS, text_of, what
from memtui.core.words import age, ago, short

LIMIT = 20


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "sessions",
        run,
        "list the sessions that got something, and what",
        "memtui sessions\nmemtui sessions show 5f0c",
        "All projects, newest first; --project DIR for one.",
    )
    found.add_argument("--limit", type=int, default=LIMIT, metavar="N", help=f"default: {LIMIT}, 0: all")
    actions = parser.actions(found)
    each = parser.command(actions, "show", show, "show what one session got", "memtui sessions show 5f0c")
    each.add_argument("id", metavar="ID")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List the sessions."""
    every = [each for each in collect(ctx.root) if not ctx.given or each.slug() == ctx.slug]
    shown = every[: args.limit] if args.limit > 0 else every
    return Result({"sessions": [each.data() for each in shown]}, lambda out: _print(ctx, out, shown))


def _print(ctx: Context, out: Output, shown: "list[Session]") -> None:
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
    out.print("What one got: memtui sessions show ID")


def show(ctx: Context, args: argparse.Namespace) -> Result:
    """Show one session."""
    ctx.must_have_home()
    every = {each.id: each for each in collect(ctx.root)}
    try:
        found = every[review.match(args.id, every, "session")]
    except NotFoundError as error:
        raise NotFoundError(error.message, error.hint or "`memtui sessions` lists them.") from None
    told = receipts.outcomes(found.records, ctx.env, ctx.now())
    rows = [{**record, "outcome": told.get(text_of(record, "id"), receipts.UNKNOWN)} for record in found.records]
    counts: dict[str, int] = {}
    for outcome in told.values():
        counts[outcome] = counts.get(outcome, 0) + 1
    data = {**found.data(), "sums": {**cost(found.records), "outcomes": counts}, "state": found.state, "records": rows}
    return Result(data, lambda out: _print_one(ctx, out, found, told))


def _print_one(ctx: Context, out: Output, found: Session, told: "dict[str, str]") -> None:
    now = ctx.now()
    data = found.data()
    out.heading(f"Session {line(found.id)}", line(found.project))
    sums = cost(found.records)
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
    for record in found.records:
        glyph, style = GLYPHS[told.get(text_of(record, "id"), receipts.UNKNOWN)]
        outcome = told.get(text_of(record, "id"), receipts.UNKNOWN)
        when = age(clock.parse(record.get("time")), now)
        name = (text_of(record, "id")[-6:], "cyan")
        chars = record.get("chars")
        length = short(chars) if isinstance(chars, int) and chars else "-"
        told_as = (f"{glyph} {outcome}", style)
        cells.append([name, when, told_as, length, line(text_of(record, "event")), line(what(record))])
    if cells:
        out.table(["ID", "AGE", "RECEIPT", "CHARS", "EVENT", "WHAT"], cells, right=(1, 3))
        out.print("The exact text: memtui deliveries show ID")
    else:
        out.print("It got nothing.")
