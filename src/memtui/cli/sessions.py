"""The sessions of `memtui activity`: those that run or ran, and what one got."""

import argparse
from collections import Counter

from memtui.cli.context import Context
from memtui.cli.deliveries import receipts_of, table
from memtui.cli.output import Output, Result, line
from memtui.core.base import short_ids
from memtui.core.base.errors import NotFoundError
from memtui.core.base.phrasing import age, ago, cut, many, short
from memtui.core.base.shell import shell_word
from memtui.core.client import projects, serving, transcript
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries.record import Delivery
from memtui.core.deliveries.sessions import (
    Session,
    SessionRow,
    collect,
    deliveries,
    look_up,
    meant,
    row_of,
    states,
)
from memtui.core.review.waiting import Waiting, guidance_for
from memtui.present import sessions
from memtui.present.deliveries import recalls

LIMIT = 20  # sessions in the list
ROWS = 200  # deliveries of one session
WINDOW = f"{delivery_log.WINDOW_BYTES >> 20} MB"
TITLE_MOST = 140  # characters of a title, without the last word that would be cut


def listing(ctx: Context, args: argparse.Namespace) -> Result:
    """List the sessions, live ones first."""
    limit = LIMIT if args.limit is None else args.limit
    seen, clients = delivery_log.Skipped(), serving.served(ctx.root)
    records = delivery_log.newest_first(ctx.root, seen, most=delivery_log.WINDOW_BYTES if limit else 0)
    by_id = {each.id: each for each in collect(ctx.root, records)}
    rows = [row_of(each, clients, ctx.now()) for each in by_id.values() if args.all or each.slug == ctx.slug]
    rows = [row for row in rows if row.live or not args.live]
    rows.sort(key=lambda row: (row.live, row.last or 0.0), reverse=True)
    proofs, finder = receipts_of(ctx), transcript.Finder(ctx.config_dir)
    shown = []
    for row in rows[: limit or None]:
        session = by_id[row.id]
        proofs.look(session.proofs)
        outcomes = Counter(proofs.known[each.id] for each in session.proofs if each.id in proofs.known)
        shown.append(look_up(row, session, finder, outcomes))
    more = len(rows) - len(shown)
    data = {"sessions": [row.data for row in shown], "more": more, "whole_log": not seen.older}
    return Result(data, lambda out: _print(ctx, out, args, shown, more, older=seen.older))


def _print(
    ctx: Context, out: Output, args: argparse.Namespace, shown: "list[SessionRow]", more: int, *, older: bool
) -> None:
    if not shown:
        here = "" if args.all else " here"
        out.print(f"No session is live{here}." if args.live else f"No session was seen{here} yet.")
        hooks, others = "Are the hooks installed? memtui setup", "Other projects: memtui activity --sessions --all"
        out.print(f"  {hooks if args.all else others}")
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
    if more:
        out.print(f"and {more:,} more: --limit 0")
    if older:
        out.print(f"Counted in the newest {WINDOW} of the log; for all of it: --limit 0")
    out.print("What one session got: memtui activity ID")


def _title(row: SessionRow) -> str:
    return cut(line(sessions.title(row)), TITLE_MOST)


def _names(ctx: Context, rows: "list[SessionRow]") -> "dict[str, str]":
    slugs = {row.project for row in rows if not row.project.startswith("/")}
    known = projects.paths_of(ctx.env, slugs) if slugs else {}
    return projects.names_of_roots(ctx.env, {row.project for row in rows}, known)


class SessionDetails:
    """A session with its newest deliveries and their outcomes by id; `counts` has the outcomes of all of them."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.newest: list[Delivery] = []
        self.outcomes: dict[str, str] = {}
        self.counts: Counter[str] = Counter()

    def note(self, found: Delivery, outcome: str, rows: int) -> None:
        """Count a delivery, and keep it if there are fewer than `rows` (0: keep all)."""
        self.session.note(found)
        self.counts[outcome] += 1
        if rows <= 0 or len(self.newest) < rows:
            self.newest.append(found)
            self.outcomes[found.id] = outcome

    @property
    def more(self) -> int:
        """How many older deliveries were not kept."""
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


def must_be_known(ctx: Context, begin: str) -> None:
    """Raise NotFoundError if no session's id begins so."""
    logged = (each.session for each in deliveries(ctx.root, begin))
    if not any(name.startswith(begin) for names in (states(ctx.root), logged) for name in names):
        raise NotFoundError(f"There is no session “{begin}”.", "`memtui activity --sessions --all` lists them.")


def one(ctx: Context, ref: str, rows: "int | None") -> Result:
    """Show one session, with its newest deliveries. Raises NotFoundError, ConflictError."""
    details = _read(ctx, ref.strip().lstrip("…"), ROWS if rows is None else rows)
    try:
        found = details[short_ids.match(ref, details, "session")]
    except NotFoundError as error:
        raise NotFoundError(error.message, error.hint or "`memtui activity --sessions` lists them.") from None
    row = row_of(found.session, serving.served(ctx.root), ctx.now())
    row = look_up(row, found.session, transcript.Finder(ctx.config_dir), found.counts)
    mine = guidance_for(ctx.root, row.id, row.slug, personal=row.kind != "script", now=ctx.now())
    data = {
        **row.data,
        "sums": {**found.session.sums, "outcomes": dict(found.counts)},
        "state": found.session.state,
        "waiting": [{"id": each.id, "text": each.text} for each in mine],
        "records": [{**each.record, "outcome": found.outcomes[each.id]} for each in found.newest],
        "more": found.more,
    }
    return Result(data, lambda out: _print_one(ctx, out, row, found, mine))


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
    if not details.newest:
        out.print("It got nothing.")
        return
    table(ctx, out, details.newest, details.outcomes, of_one=True)
    if details.more:
        out.print(f"and {details.more:,} older: memtui activity --limit 0 {shell_word(row.id[:8])}")
    out.print("The exact text: memtui activity ID")
