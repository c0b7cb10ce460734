"""`memtui deliveries` and `receipts`: what was put before the model, why, and whether it arrived."""

import argparse
import itertools
import os
import re
import time
from collections.abc import Iterator, Sequence

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, cut, line, safe
from memtui.core.base import clock, ids, matching
from memtui.core.base.errors import NotFoundError, UsageError
from memtui.core.base.phrasing import age, ago, many
from memtui.core.client import transcript
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts
from memtui.core.deliveries.reading import PLAIN
from memtui.core.deliveries.record import (
    GLYPHS,
    MEANINGS,
    Record,
    injected,
    is_folded,
    items_of,
    taker,
    text_of,
    what,
)
from memtui.core.health import retention
from memtui.core.memories import scopes

LIMIT = 20
STATS_DAYS = 14
# As many newest records are looked at where a filter needs each one's receipt.
SCANNED = 5000
BATCH = 100
POLL_SECONDS = 0.5
KINDS = ("guidance", "pending-update", "pending-item", "index", "memory", "whisper", "use")


def register(commands: "parser.Commands") -> None:
    """Add the commands."""
    found = parser.command(
        commands,
        "deliveries",
        run,
        "list what was delivered to sessions",
        "memtui deliveries\nmemtui deliveries --kind guidance --outcome failed --since 2d\n"
        "memtui deliveries --memory prefer-pnpm\nmemtui deliveries --stats --days 30\nmemtui deliveries show 7XAD",
        "All projects, newest first; --project DIR for one. IDs may be given by a beginning or end.",
    )
    found.add_argument("--session", metavar="ID", help="only this session, by a beginning of its id")
    found.add_argument(
        "--kind",
        choices=KINDS,
        metavar="KIND",
        help="only with such an item: " + ", ".join(KINDS) + " (memories that the agent opened or wrote)",
    )
    found.add_argument(
        "--memory", metavar="NAME|PATH", help="only what brought this memory, or used it; also one that is gone"
    )
    found.add_argument("--outcome", choices=sorted(GLYPHS), metavar="WORD", help=", ".join(GLYPHS))
    found.add_argument(
        "--text", metavar="WORDS", help="only with these words in the delivered text, which is not kept for ever"
    )
    found.add_argument("--since", metavar="WHEN", help="not older than 2h, 3d, 2026-11-01")
    found.add_argument("--limit", type=int, default=LIMIT, metavar="N", help=f"default: {LIMIT}, 0: all")
    found.add_argument("--follow", action="store_true", help="wait for further ones (with --json: one answer a line)")
    found.add_argument(
        "--stats", action="store_true", help="sums instead: by day, outcome and hook, memories most and never delivered"
    )
    found.add_argument("--days", type=int, metavar="N", help=f"so many days for --stats, default: {STATS_DAYS}")
    found.add_argument(
        "--all",
        action="store_true",
        help=f"look through the whole log, not only its newest {delivery_log.WINDOW_BYTES >> 20} MB, "
        "where that takes long",
    )
    actions = parser.actions(found)
    each = parser.command(
        actions, "show", show, "show one delivery: the exact text, why, and the receipt", "memtui deliveries show 7XAD"
    )
    each.add_argument("id", metavar="ID")

    found = parser.command(
        commands,
        "receipts",
        prove,
        "say whether deliveries arrived, by the sessions' transcripts",
        "memtui receipts\nmemtui receipts 7XAD 4QHW",
    )
    found.add_argument("ids", nargs="*", metavar="ID", help="default: the newest")
    found.add_argument("--limit", type=int, default=LIMIT, metavar="N", help=f"default: {LIMIT}")


def _filtered(ctx: Context, args: argparse.Namespace, skipped: delivery_log.Skipped) -> "Iterator[Record]":
    since = None
    if args.since:
        since = clock.parse_when(args.since, ctx.now(), ahead=False)
        if since is None:
            raise UsageError(f"--since {args.since}: neither a span nor a date.", "Say 2h, 3d or 2026-11-01.")
    if args.memory:
        args.names = _names(ctx, args.memory)
    needle = _needle(ctx, args)
    most = 0 if needle or args.all else delivery_log.WINDOW_BYTES
    fold = bool(needle) and bool(args.text)
    for record in delivery_log.newest_first(
        ctx.root, skipped, needle.lower() if fold else needle, most=most, fold=fold
    ):
        if since is not None and (clock.parse(record.get("time")) or 0.0) < since:
            # Appended in order but for clocks set back and hooks that overlap: a day beyond is surely older.
            if (clock.parse(record.get("time")) or 0.0) < since - 86400:
                return
            continue
        if _wanted(ctx, args, record):
            yield record


def _needle(ctx: Context, args: argparse.Namespace) -> bytes:
    """The longest of the words that a line of the log must hold as they stand, to be what is asked for."""
    words = [args.session or "", f'"{args.kind}"' if args.kind else "", ctx.slug if ctx.given else ""]
    if args.text:
        words.append(max(re.split(r"[^a-zA-Z0-9_. -]+", args.text), key=len))
    if args.memory:
        ends = {name.rpartition("/")[2].removesuffix(".md") for name in args.names}
        words.append(ends.pop() if len(ends) == 1 else "")
    fit = [word for word in words if PLAIN.issuperset(word.strip('"').encode("utf-8", "replace"))]
    return max(fit, key=len).encode()


def _names(ctx: Context, ref: str) -> "set[str]":
    """What the log may call a memory: its paths; of one that is not there any more, the name it had."""
    try:
        path = scopes.find(ctx.env, ctx.cwd, ref).path
    except NotFoundError:
        if "/" in ref:
            path = os.path.abspath(os.path.join(ctx.cwd, ref))
            return {path, os.path.realpath(path)}
        return {ref.rpartition(":")[2]}
    return {path, os.path.realpath(path)}


def _of_memory(item: Record, names: "set[str]") -> bool:
    if item.get("left_out") or item.get("kind") not in {"index", "memory", "use"}:
        return False
    path = text_of(item, "path")
    return path in names or text_of(item, "id") in names or path.rpartition("/")[2].removesuffix(".md") in names


def _wanted(ctx: Context, args: argparse.Namespace, record: Record) -> bool:
    items = items_of(record)
    kinds = {item.get("kind") for item in items}
    if args.kind is None and not args.memory and kinds == {"use"}:
        return False
    if args.memory and not any(_of_memory(item, args.names) for item in items):
        return False
    return (
        (not args.session or text_of(record, "session_id").startswith(args.session))
        and (not ctx.given or record.get("project") == ctx.slug)
        and (args.kind is None or args.kind in kinds)
        and (not args.text or args.text.lower() in text_of(record, "text").lower())
    )


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List deliveries, or what they add up to."""
    ctx.must_have_home()
    if args.stats:
        if any((args.session, args.kind, args.memory, args.outcome, args.text, args.since, args.follow)):
            raise UsageError("--stats counts everything: --days and --project alone go with it.")
        from memtui.cli.show import stats

        return stats.run(ctx, STATS_DAYS if args.days is None else args.days, whole=args.all)
    if args.days is not None:
        raise UsageError("--days goes with --stats.", f"Say --since {args.days}d.")
    skipped = delivery_log.Skipped()
    found = _filtered(ctx, args, skipped)
    limit = args.limit if args.limit > 0 else None
    if args.outcome:
        records, told = _with_outcome(ctx, itertools.islice(found, None if args.all else SCANNED), args.outcome, limit)
    else:
        records = list(itertools.islice(found, limit))
        told = receipts.outcomes(records, ctx.env, ctx.now())
    if args.follow:
        _follow(ctx, args, records, told)
    rows = [{**record, "outcome": told.get(text_of(record, "id"), receipts.UNKNOWN)} for record in records]
    data = {"deliveries": rows, "skipped_lines": skipped.count, "whole_log": not skipped.older}
    filtered = ctx.given or any((args.session, args.kind, args.memory, args.outcome, args.text, args.since))
    return Result(data, lambda out: _print(ctx, out, records, told, skipped, filtered=bool(filtered)))


def _with_outcome(
    ctx: Context, found: "Iterator[Record]", outcome: str, limit: "int | None"
) -> "tuple[list[Record], dict[str, str]]":
    """The first of some records that have an outcome, with it; looked at a few at a time."""
    records: list[Record] = []
    told: dict[str, str] = {}
    views: dict[str, receipts.TranscriptView] = {}
    finder = transcript.Finder(ctx.config_dir)
    while (limit is None or len(records) < limit) and (batch := list(itertools.islice(found, BATCH))):
        known = receipts.outcomes(batch, ctx.env, ctx.now(), views, finder)
        fit = [record for record in batch if known.get(text_of(record, "id")) == outcome]
        records += fit
        told.update((text_of(record, "id"), outcome) for record in fit)
    return records[:limit], told


def _cells(ctx: Context, record: Record, outcome: str) -> "list[Sequence[str]]":
    glyph, style = GLYPHS[outcome]
    where = text_of(record, "project_root").rstrip("/").rpartition("/")[2] or text_of(record, "project")[-20:]
    return [
        (text_of(record, "id")[-6:], "cyan"),
        age(clock.parse(record.get("time")), ctx.now()),
        (f"{glyph} {outcome}", style),
        f"{line(text_of(record, 'session_id'))[:8]} {line(taker(record))}".rstrip(),
        line(where),
        line(text_of(record, "event")),
        line(what(record)),
    ]


HEADERS = ("ID", "AGE", "RECEIPT", "SESSION", "PROJECT", "EVENT", "WHAT")
# Lines that come one by one stand below each other only in columns that are known before.
WIDTHS = (6, 4, 11, 15, 9, 16)


def _print(
    ctx: Context,
    out: Output,
    records: "list[Record]",
    told: "dict[str, str]",
    skipped: delivery_log.Skipped,
    *,
    filtered: bool,
) -> None:
    if records:
        rows = [_cells(ctx, record, told.get(text_of(record, "id"), receipts.UNKNOWN)) for record in records]
        out.table(HEADERS, rows, flex=(6, 5, 4), right=(1,))
    elif filtered:
        out.print("No delivery is like that.")
        out.print("  All there are: memtui deliveries --limit 0")
    else:
        out.print("Nothing was delivered yet.")
        out.print("  Are the hooks installed? memtui hooks status")
        out.print('  Leave something:         memtui guide "…"')
    if skipped.older:
        out.print(f"Only the newest {delivery_log.WINDOW_BYTES >> 20} MB of the log were looked at; all of it: --all")
    if skipped.count:
        out.print(f"{many(skipped.count, 'line')} of the log could not be read.")


def _follow(ctx: Context, args: argparse.Namespace, records: "list[Record]", told: "dict[str, str]") -> None:
    """Print what is there, then what comes, until interrupted."""
    out = ctx.out
    seen = {text_of(record, "id") for record in records}
    newest = max(seen, default="")
    for record in reversed(records):
        _emit(ctx, record, told.get(text_of(record, "id"), receipts.UNKNOWN))
    if not out.json:
        out.say("Waiting for deliveries; Ctrl-C ends.")
    out.stdout.flush()
    while True:
        time.sleep(POLL_SECONDS)
        fresh = []
        for record in delivery_log.newest_first(ctx.root):
            name = text_of(record, "id")
            if name in seen or name <= newest:
                break
            seen.add(name)
            if _wanted(ctx, args, record):
                fresh.append(record)
        newest = max(seen, default=newest)
        found = receipts.outcomes(fresh, ctx.env)
        for record in reversed(fresh):
            _emit(ctx, record, found.get(text_of(record, "id"), receipts.UNKNOWN))
        out.stdout.flush()


def _emit(ctx: Context, record: Record, outcome: str) -> None:
    out = ctx.out
    if out.json:
        out.envelope("deliveries", {**record, "outcome": outcome})
    else:
        cells = [(cell, "") if isinstance(cell, str) else cell for cell in _cells(ctx, record, outcome)]
        padded = [(cut(cell[0], width).ljust(width), cell[1]) for cell, width in zip(cells, WIDTHS, strict=False)]
        out.table([""] * len(HEADERS), [[*padded, cells[-1]]], flex=(6,))


def find(ctx: Context, ref: str) -> Record:
    """The record of a delivery by its id, or a unique beginning or end. Raises NotFoundError, ConflictError."""
    wanted = ref.strip().upper()
    needle = wanted.lstrip("…").encode("utf-8", "replace")
    whole = len(wanted) == 26
    found: dict[str, Record] = {}
    for record in delivery_log.newest_first(ctx.root, needle=needle):
        name = text_of(record, "id")
        if not name.startswith(needle.decode()) and not name.endswith(needle.decode()):
            continue
        if name not in found and len(found) <= matching.SEVERAL:
            found[name] = record
        if (whole and name == wanted) or len(found) > matching.SEVERAL:
            break
    try:
        return found[matching.match(ref, found, "delivery")]
    except NotFoundError as error:
        raise NotFoundError(error.message, error.hint or "`memtui deliveries` lists them.") from None


def show(ctx: Context, args: argparse.Namespace) -> Result:
    """Show one delivery."""
    ctx.must_have_home()
    record = find(ctx, args.id)
    outcome = receipts.outcomes([record], ctx.env, ctx.now())[text_of(record, "id")]
    path = transcript.path_of(record, ctx.config_dir)
    data = {**record, "outcome": outcome, "meaning": MEANINGS[outcome], "transcript_found": path}
    return Result(data, lambda out: _print_one(ctx, out, record, outcome, path))


def _print_one(ctx: Context, out: Output, record: Record, outcome: str, path: "str | None") -> None:
    glyph, style = GLYPHS[outcome]
    when = clock.parse(record.get("time"))
    out.heading(f"Delivery {line(text_of(record, 'id'))}", f"{ago(when, ctx.now())}, {line(text_of(record, 'time'))}")
    facts = [
        ("receipt", out.style(f"{glyph} {outcome}", style) + f" ({MEANINGS[outcome]})"),
        (
            "event",
            line(text_of(record, "event")) + (f", tool {line(text_of(record, 'tool'))}" if record.get("tool") else ""),
        ),
        ("session", line(text_of(record, "session_id") + (f", of a {kind}" if (kind := taker(record)) else ""))),
        ("project", line(text_of(record, "project_root") or text_of(record, "project"))),
        ("transcript", line(path or "gone")),
        ("size", f"{record.get('chars', 0)} characters, in {record.get('ms', '?')} ms"),
    ]
    if record.get("agent"):
        facts.append(("agent", line(text_of(record, "agent"))))
    for key, value in facts:
        out.print(f"  {out.style(f'{key:<12}', 'dim')}{value}")
    out.print()
    given = [item for item in items_of(record) if not item.get("left_out")]
    left = [item for item in items_of(record) if item.get("left_out")]
    for title, rows, key in (("Items", given, "reason"), ("Left out", left, "left_out")):
        if rows:
            out.heading(title, str(len(rows)))
            cells = [[_word(i.get(k, "")) for k in ("kind", "id", "scope", "chars", key)] for i in rows]
            out.table(["KIND", "ID", "SCOPE", "SIZE", "WHY"], cells, flex=(4, 1), right=(3,), indent="  ")
            out.print()
    if record.get("text"):
        out.heading("Text", "exactly as the model got it")
        out.print(safe(text_of(record, "text")))
    elif is_folded(record):
        chars, days = record.get("chars"), retention.limits(ctx.root).texts_days
        out.heading("Text", f"{chars:,} characters" if isinstance(chars, int) else "")
        out.print(f"  text removed: it is more than {many(days, 'day')} old" if days else "  text removed: it was old")


def _word(value: object) -> str:
    """A value of an item on one line; of an id its end, by which the other commands know it."""
    text = line(str(value))
    return text[-6:] if ids.id_time(text) is not None else text


def prove(ctx: Context, args: argparse.Namespace) -> Result:
    """Say whether deliveries arrived."""
    ctx.must_have_home()
    if args.ids:
        records = [find(ctx, ref) for ref in args.ids]
    else:
        given = (
            r
            for r in delivery_log.newest_first(ctx.root)
            if injected(r) and (not ctx.given or r.get("project") == ctx.slug)
        )
        records = list(itertools.islice(given, max(1, args.limit)))
    told = receipts.outcomes(records, ctx.env, ctx.now())
    counts: dict[str, int] = {}
    for outcome in told.values():
        counts[outcome] = counts.get(outcome, 0) + 1
    rows = [
        {"id": r.get("id"), "time": r.get("time"), "session_id": r.get("session_id"), "outcome": told[text_of(r, "id")]}
        for r in records
    ]

    def text(out: Output) -> None:
        if not records:
            out.print("Nothing was delivered yet.")
            return
        cells = [_cells(ctx, record, told[text_of(record, "id")]) for record in records]
        out.table(HEADERS, cells, flex=(6, 5, 4), right=(1,))
        out.print()
        for outcome, count in sorted(counts.items(), key=lambda pair: -pair[1]):
            glyph, style = GLYPHS[outcome]
            out.print(out.style(f"{glyph} {outcome}", style) + f": {count}  ({MEANINGS[outcome]})")

    return Result({"receipts": rows, "counts": counts}, text)
