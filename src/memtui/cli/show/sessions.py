"""The sessions of `memtui activity`: those that run or ran, and what one got."""

import argparse
from collections import Counter

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
from memtui.core.deliveries.sessions import Session, SessionList, SessionRow, deliveries, meant, row_of, states
from memtui.core.review.waiting import Waiting, guidance_for
from memtui.present import sessions
from memtui.present.deliveries import EVENTS, in_short, recalls

LIMIT = 20  # sessions in the list
ROWS = 200  # deliveries of one session
WINDOW_MB = delivery_log.WINDOW_BYTES >> 20
TITLE_MOST = 140  # characters of a title, without the last word that would be cut


def listing(ctx: Context, args: argparse.Namespace) -> Result:
    """List the sessions, live ones first."""
    sessions_list = SessionList(ctx.env, ctx.now, receipts_of(ctx), most=0 if args.all else delivery_log.WINDOW_BYTES)
    sessions_list.count()
    rows = [row for row in sessions_list.rows() if row.live or not args.live]
    rows = [row for row in rows if not ctx.project_given or row.slug == ctx.slug]
    limit = LIMIT if args.limit is None else args.limit
    shown = rows[:limit] if limit > 0 else rows
    sessions_list.look_up(row.id for row in shown)
    by_id = {row.id: row for row in sessions_list.rows()}
    shown = [by_id[row.id] for row in shown]
    more = len(rows) - len(shown)
    data = {"sessions": [row.data for row in shown], "more": more, "whole_log": not sessions_list.older}
    return Result(data, lambda out: _print(ctx, out, args, shown, more, older=sessions_list.older))


def _print(
    ctx: Context, out: Output, args: argparse.Namespace, shown: "list[SessionRow]", more: int, *, older: bool
) -> None:
    if not shown:
        out.print("No session is live." if args.live else "No session was seen yet.")
        if not args.live:
            out.print("  Are the hooks installed? memtui setup")
        return
    named = _names(ctx, shown)
    rows = [
        [
            sessions.LIVE if row.live else "",
            (line(row.id)[:8], "cyan"),
            age(row.last, ctx.now()),
            f"{row.deliveries:,}",
            sessions.arrived(row),
            ", ".join(words for words, _ in sessions.besides(row)),
            line(named[row.project]),
        ]
        for row in shown
    ]
    headers = ["", "SESSION", "SEEN", "SENT", "ARRIVED", "", "PROJECT"]
    out.table(headers, rows, flex=(6, 5), right=(2, 3, 4), notes=[_title(row) for row in shown])
    command = f"memtui activity --sessions{' --live' * args.live}"
    if more:
        out.print(f"and {more:,} more: {command} --limit 0")
    if older:
        out.print(f"Counted in the newest {WINDOW_MB} MB of the log; for all of it: {command} --all")
    out.print("What one session got: memtui activity ID")


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


def one(ctx: Context, ref: str, rows: "int | None") -> Result:
    """Show one session, with its newest deliveries. Raises NotFoundError, ConflictError."""
    details = _read(ctx, ref.strip().lstrip("…"), ROWS if rows is None else rows)
    try:
        found = details[short_ids.match(ref, details, "session")]
    except NotFoundError as error:
        raise NotFoundError(error.message, error.hint or "`memtui activity --sessions` lists them.") from None
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
        out.print(f"and {details.more:,} older: memtui activity --limit 0 {shell_word(row.id[:8])}")
    out.print("The exact text: memtui activity ID")
