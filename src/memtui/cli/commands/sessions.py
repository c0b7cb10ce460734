"""`memtui sessions`: the sessions that run or ran, and what each got."""

import argparse
from collections import Counter

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.cli.show.deliveries import receipt, receipts_of
from memtui.core.base import short_ids
from memtui.core.base.errors import NotFoundError
from memtui.core.base.phrasing import age, ago, cut, many, short
from memtui.core.base.shell import shell_word
from memtui.core.base.short_ids import short_id
from memtui.core.client import projects, serving, titles, transcript
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries.record import Delivery
from memtui.core.deliveries.session_list import SessionList, SessionRow, row_of
from memtui.core.deliveries.sessions import Session, deliveries, meant, states
from memtui.core.review.waiting import Waiting, guidance_for
from memtui.present import sessions
from memtui.present.deliveries import EVENTS, in_short, recalls

LIMIT = 20  # sessions in the list
ROWS = 200  # deliveries of one session
WINDOW_MB = delivery_log.WINDOW_BYTES >> 20
TITLE_MOST = 140  # characters of a title, without the last word that would be cut


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "sessions",
        run,
        "list the sessions, live ones first, and what each got",
        "memtui sessions\nmemtui sessions --live --all-projects\nmemtui sessions 5f0c",
        f"Counts cover the newest {WINDOW_MB} MB of the log; with --all, the whole log.",
    )
    found.add_argument("--all-projects", action="store_true", help="the sessions of all projects")
    found.add_argument("--live", action="store_true", help="only those that run now")
    found.add_argument("--limit", type=parser.count, default=LIMIT, metavar="N", help=f"default: {LIMIT}, 0: all")
    found.add_argument("--all", action="store_true", help="count the whole log, even if it takes long")
    actions = parser.actions(found, shows=True)
    each = parser.command(
        actions,
        "show",
        show,
        "show one session, and what it got; `show` may be omitted",
        "memtui sessions show 5f0c\nmemtui sessions 5f0c --rows 0",
    )
    each.add_argument("id", metavar="ID")
    each.add_argument(
        "--rows",
        type=parser.count,
        default=ROWS,
        metavar="N",
        help=f"how many of its newest deliveries to list, default: {ROWS}, 0: all",
    )


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List the sessions."""
    ctx.must_have_home()
    listed = SessionList(ctx.env, ctx.now, receipts_of(ctx), most=0 if args.all else delivery_log.WINDOW_BYTES)
    listed.count()
    every = [row for row in listed.rows() if row.live or not args.live]
    mine = every if args.all_projects else [row for row in every if row.slug == ctx.slug]
    shown = mine[: args.limit] if args.limit > 0 else mine
    listed.look_up(row.id for row in shown)
    found = {row.id: row for row in listed.rows()}
    shown = [found[row.id] for row in shown]
    elsewhere = len(every) - len(mine)
    data = {
        "sessions": [row.data for row in shown],
        "more": len(mine) - len(shown),
        "elsewhere": elsewhere,
        "whole_log": not listed.older,
    }
    more = len(mine) - len(shown)
    return Result(data, lambda out: _print(ctx, out, args, shown, more, elsewhere, older=listed.older))


def _print(
    ctx: Context,
    out: Output,
    args: argparse.Namespace,
    shown: "list[SessionRow]",
    more: int,
    elsewhere: int,
    *,
    older: bool,
) -> None:
    words = "memtui sessions" + " --live" * args.live
    others = many(elsewhere, "session", "sessions")
    if not shown:
        out.print("No session is live." if args.live else "No session was seen yet.")
        if elsewhere:
            out.print(f"  {others} of other projects: {words} --all-projects")
        elif not args.live:
            out.print("  Are the hooks installed? memtui hooks status")
        return
    named = _names(ctx, shown)
    rows = [
        [
            sessions.LIVE if row.live else "",
            (line(row.id)[:8], "cyan"),
            age(row.last, ctx.now()),
            f"{row.deliveries:,}",
            sessions.arrived(row),
            ", ".join(each for each, _ in sessions.besides(row)),
            line(named[row.project]),
        ]
        for row in shown
    ]
    headers = ["", "SESSION", "SEEN", "SENT", "ARRIVED", "", "PROJECT"]
    out.table(headers, rows, flex=(6, 5), right=(2, 3, 4), notes=[_title(row) for row in shown])
    if more:
        out.print(f"and {more:,} more: {words}{' --all-projects' * args.all_projects} --limit 0")
    if elsewhere:
        out.print(f"{others} of other projects: {words} --all-projects")
    if older:
        every = " --all-projects" * args.all_projects
        out.print(f"Counted in the newest {WINDOW_MB} MB of the log; for all of it: memtui sessions --all{every}")
    out.print("What one session got: memtui sessions ID")


def _title(row: SessionRow) -> str:
    return cut(line(sessions.title(row)), TITLE_MOST)


def _names(ctx: Context, rows: "list[SessionRow]") -> "dict[str, str]":
    slugs = {row.project for row in rows if not row.project.startswith("/")}
    known = projects.paths_of(ctx.env, slugs) if slugs else {}
    return projects.names_of_roots(ctx.env, {row.project for row in rows}, known)


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
        if len(found) > short_ids.SEVERAL:
            break
        found.setdefault(each.session, SessionDetails(Session(each.session))).note(each, proofs.of(each), rows)
    return found


def show(ctx: Context, args: argparse.Namespace) -> Result:
    """Show one session."""
    ctx.must_have_home()
    every = _read(ctx, args.id.strip().lstrip("…"), args.rows)
    try:
        found = every[short_ids.match(args.id, every, "session")]
    except NotFoundError as error:
        raise NotFoundError(error.message, error.hint or "`memtui sessions --all-projects` lists them.") from None
    row = _row(ctx, found)
    mine = guidance_for(ctx.root, row.id, row.slug, personal=row.kind != "script", now=ctx.now())
    data = {
        **row.data,
        "sums": {**found.session.sums, "outcomes": dict(found.counts)},
        "state": found.session.state,
        "waiting": [{"id": each.id, "text": each.text} for each in mine],
        "records": [{**each.record, "outcome": outcome} for each, outcome in found.newest],
        "more": found.more,
    }
    return Result(data, lambda out: _print_one(ctx, out, row, found, mine))


def _row(ctx: Context, found: SessionDetails) -> SessionRow:
    path = transcript.path_of({"transcript": found.session.transcript, "session_id": found.session.id}, ctx.config_dir)
    row = row_of(found.session, titles.about(path), found.counts, serving.served(ctx.root), ctx.now())
    return row.looked_at(path or "")


def _print_one(ctx: Context, out: Output, row: SessionRow, details: SessionDetails, waiting: "list[Waiting]") -> None:
    now, sums = ctx.now(), details.session.sums
    for piece in out.wrapped(_title(row)):
        out.heading(piece)
    size = f"{short(row.characters)} characters, about {row.tokens:,} tokens"
    facts = [
        ("session", f"{line(row.id)}, {'live' if row.live else 'past'}"),
        ("project", line(_names(ctx, [row])[row.project])),
        ("directory", line(row.cwd)),
        ("branch", line(row.branch)),
        ("run by", f"a {row.kind}" if row.kind else ""),
        ("started", ago(row.started, now)),
        ("last seen", ago(row.last, now)),
        ("mode", line(row.mode)),
        ("delivered", f"{many(sums['deliveries'], 'time')}, {size}"),
        ("receipts", ", ".join(each for each, _ in sessions.told(row))),
        ("recalled", recalls(row.recalls).removeprefix("recalled ")),
        ("in hooks", f"{sums['ms']:,} ms"),
        ("resume", line(sessions.resume(row, ctx.cwd)) or "not possible, its transcript is gone"),
    ]
    out.facts(((name, value) for name, value in facts if value), whole=("directory", "resume"))
    out.print()
    if waiting:
        out.heading("Waits for it")
        for each in waiting:
            out.paragraph(line(sessions.beginning(each.text)), "  ")
        if not all(map(sessions.is_own, waiting)):
            out.paragraph(sessions.SHARED)
        out.print()
    cells = [
        [
            (short_id(each.id), "cyan"),
            age(each.time or None, now),
            receipt(outcome),
            line(EVENTS.get(each.event, each.event)),
            line(in_short(each.contents)),
        ]
        for each, outcome in details.newest
    ]
    if not cells:
        out.print("It got nothing.")
        return
    out.table(["ID", "AGE", "RECEIPT", "EVENT", "WHAT"], cells, flex=(4,), right=(1,))
    if details.more:
        out.print(f"and {details.more:,} older: memtui sessions --rows 0 {shell_word(row.id[:8])}")
    out.print("The exact text: memtui deliveries show ID")
