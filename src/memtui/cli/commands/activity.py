"""`memtui activity`: what sessions got, why, and whether it arrived."""

import argparse
import itertools
import os
import time

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import sessions
from memtui.cli.show.deliveries import find, print_headers, print_row, receipt, receipts_of, table
from memtui.core.base import ids, when
from memtui.core.base.errors import NotFoundError, UsageError
from memtui.core.base.phrasing import ago, many
from memtui.core.base.short_ids import short_id
from memtui.core.client import transcript
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts
from memtui.core.deliveries.earlier import NOTHING_MOVED
from memtui.core.deliveries.filter import LOST, Filter
from memtui.core.deliveries.reading import Reading
from memtui.core.deliveries.record import RECALL, Delivery, Item, session_kind, titles
from memtui.core.health import retention
from memtui.core.memories import moved, scopes
from memtui.present import unheard
from memtui.present.deliveries import GLYPHS, KIND_WORD, MEANINGS, counted, reason, recalls

LIMIT = 20
MOST_LOOKED_UP = 5000  # newest deliveries that are read where a filter needs each one's receipt
POLL_SECONDS = 0.5


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "activity",
        run,
        "what sessions got, why, and whether it arrived",
        "memtui activity\nmemtui activity 7XAD\nmemtui activity --sessions --live\n"
        "memtui activity --kind notes --outcome lost --since 2d\nmemtui activity --memory prefer-pnpm",
        "All projects, newest first; --project DIR for one. The first or last 4 characters of an ID are enough.",
    )
    found.add_argument("id", nargs="?", metavar="ID", help="one delivery with its exact text, or one session")
    found.add_argument("--sessions", action="store_true", help="list the sessions, and what each got")
    found.add_argument("--live", action="store_true", help="with --sessions: only those that run now")
    found.add_argument("--session", metavar="ID", help="only this session, by a beginning of its id")
    found.add_argument(
        "--kind",
        type=lambda given: KIND_WORD.get(given, given),
        choices=list(KIND_WORD.values()),
        metavar="KIND",
        help="only with such an item: " + ", ".join(KIND_WORD.values()) + " (memories that the agent opened or wrote)",
    )
    found.add_argument(
        "--memory", metavar="NAME|PATH", help="only what brought this memory, or used it; also one that is gone"
    )
    found.add_argument(
        "--outcome",
        choices=sorted([*GLYPHS, LOST]),
        metavar="WORD",
        help=", ".join(GLYPHS) + "; lost: any that did not arrive",
    )
    found.add_argument(
        "--text", metavar="WORDS", help="only with these words in the delivered text, which is not kept for ever"
    )
    found.add_argument("--since", metavar="WHEN", help=f"not older than WHEN: {when.BACK}")
    found.add_argument("--until", metavar="WHEN", help="older than WHEN, in the same form; a day counts whole")
    found.add_argument("--limit", type=parser.count, metavar="N", help=f"rows, default: {LIMIT}, 0: all")
    found.add_argument("--follow", action="store_true", help="wait for new ones (with --json: one answer per line)")
    found.add_argument(
        "--all",
        action="store_true",
        help=f"look through the whole log, not only its newest {delivery_log.WINDOW_BYTES >> 20} MB",
    )


def _filter(ctx: Context, args: argparse.Namespace) -> Filter:
    since, until = _moment(ctx, "--since", args.since), _moment(ctx, "--until", args.until, day=when.NEXT)
    if since is not None and until is not None and since >= until:
        raise UsageError(f"--since {args.since} is not before --until {args.until}.", "Nothing is between them.")
    return Filter(
        session=args.session or "",
        project=ctx.project_wanted,
        kind=next((kind for kind, word in KIND_WORD.items() if word == args.kind), ""),
        memory=_memory(ctx, args.memory) if args.memory else "",
        outcome=args.outcome or "",
        text=args.text or "",
        since=since,
        until=until,
    )


def _moment(ctx: Context, option: str, words: "str | None", *, day: "tuple[int, int]" = when.START) -> "float | None":
    """Return a limit in seconds since the epoch; None where there is none (`never`). A day alone is its `day`."""
    found = when.read(words, ctx.now(), ahead=False, day=day) if words else None
    if words and found is None:
        raise UsageError(f"{option}: “{words}” is not a time.", f"Use one of: {when.BACK}.")
    return None if found == when.NEVER else found


def _memory(ctx: Context, ref: str) -> str:
    """Return how the log names a memory: its path; for a memory that is gone, its name or path as given."""
    try:
        return scopes.find(ctx.env, ctx.cwd, ref).path
    except NotFoundError:
        return os.path.abspath(os.path.join(ctx.cwd, ref)) if "/" in ref else ref.rpartition(":")[2]


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List deliveries or sessions, or show one."""
    ctx.must_have_home()
    wanted = _filter(ctx, args)
    if (args.id or args.sessions) and (wanted.but(project="") or args.follow):
        raise UsageError("An ID and --sessions take no filter and no --follow.", "See `memtui activity --help`.")
    if args.live and not args.sessions:
        raise UsageError("--live goes with --sessions.", "memtui activity --sessions --live")
    if args.id:
        return _one(ctx, args.id, args.limit)
    if args.sessions:
        return sessions.listing(ctx, args)
    limit = LIMIT if args.limit is None else args.limit
    proofs = receipts_of(ctx)
    most, looked = (0, 0) if args.all else (delivery_log.WINDOW_BYTES, MOST_LOOKED_UP)
    earlier = moved.load(ctx.root) if wanted.memory else NOTHING_MOVED
    reading = Reading(ctx.root, wanted, proofs, earlier=earlier, most=most, looked=looked, follow=args.follow)
    found = list(itertools.islice(reading.read(), limit or None))
    proofs.look(found)
    if args.follow:
        _follow(ctx, reading, found)
    data = {
        "deliveries": [{**each.record, "outcome": proofs.known.get(each.id, receipts.UNKNOWN)} for each in found],
        "skipped_lines": reading.skipped,
        "whole_log": not reading.cut,
    }
    return Result(data, lambda out: _print(ctx, out, reading, found))


def _print(ctx: Context, out: Output, reading: Reading, found: "list[Delivery]") -> None:
    if found:
        table(ctx, out, found, reading.proofs.known)
    elif reading.wanted:
        out.print("No matches.")
        out.print("  All there are: memtui activity --limit 0")
    else:
        out.print("Nothing was delivered yet.")
        out.print(f"  {unheard.at_prompt(ctx.unheard())}")
        out.print('  Write a note: memtui note "…"')
    if reading.cut:
        part = f"{MOST_LOOKED_UP:,} deliveries" if reading.wanted.outcome else f"{delivery_log.WINDOW_BYTES >> 20} MB"
        out.print(f"Only the newest {part} of the log were read; for all of it: --all")
    if reading.skipped:
        out.print(f"{many(reading.skipped, 'line')} of the log could not be read.")


def _follow(ctx: Context, reading: Reading, found: "list[Delivery]") -> None:
    """Print deliveries found so far, then new ones, until interrupted."""
    out, proofs = ctx.out, reading.proofs
    if not out.json:
        print_headers(out)
    for each in reversed(found):
        print_row(ctx, out, each, proofs.of(each))
    if not out.json:
        out.say("Waiting for deliveries; Ctrl-C ends.")
    reading.wanted = reading.wanted.but(outcome="")  # a new delivery has no outcome yet
    while True:
        out.stdout.flush()
        time.sleep(POLL_SECONDS)
        fresh = reading.fresh()
        if fresh is None:  # the log was rewritten: follow it from its present end
            reading = Reading(ctx.root, reading.wanted, proofs, earlier=reading.earlier)
        for each in reversed(fresh or []):
            print_row(ctx, out, each, proofs.of(each))


def _one(ctx: Context, ref: str, rows: "int | None") -> Result:
    """Show one delivery or session. Lists write ids of sessions in small letters: those are tried first for such."""
    ways = [lambda: sessions.one(ctx, ref, rows), lambda: _delivery(ctx, ref)]
    try:
        return ways[0 if ref == ref.lower() else 1]()
    except NotFoundError as error:
        try:
            return ways[1 if ref == ref.lower() else 0]()
        except NotFoundError as other:
            telling = next((each for each in (error, other) if "lists them" not in each.hint), None)
            hint = "`memtui activity` lists deliveries, `memtui activity --sessions` sessions."
            raise telling or NotFoundError(f"There is no delivery or session “{ref}”.", hint) from None


def _delivery(ctx: Context, ref: str) -> Result:
    """Show one delivery. Raises NotFoundError, ConflictError."""
    found = find(ctx, ref)
    outcome = receipts_of(ctx).of(found)
    path = transcript.path_of(found.record, ctx.config_dir)
    data = {**found.record, "outcome": outcome, "meaning": MEANINGS[outcome], "transcript_found": path}
    return Result(data, lambda out: _print_one(ctx, out, found, outcome, path))


def _print_one(ctx: Context, out: Output, found: Delivery, outcome: str, path: "str | None") -> None:
    kind = session_kind(found.entrypoint)
    out.heading(f"Delivery {line(found.id)}", _when(found, ctx.now()))
    facts = [
        ("receipt", out.style(*receipt(outcome)) + f" ({MEANINGS[outcome]})"),
        ("event", line(found.event) + (f", tool {line(found.tool)}" if found.tool else "")),
        ("session", line(found.session + (f" ({kind.replace('person', 'interactive')})" if kind else ""))),
        ("project", line(found.project_root or found.project)),
        ("transcript", line(path or "gone")),
        ("size", f"{found.chars} characters, in {'?' if found.ms is None else found.ms} ms"),
    ]
    if found.agent:
        facts.append(("agent", line(found.agent)))
    out.facts(facts)
    out.print()
    given = [item for item in found.items if not item.left_out]
    left_out = [item for item in found.items if item.left_out]
    _print_items(ctx, out, "Pieces", given, titles(found.text, given))
    _print_items(ctx, out, "Left out", left_out, [""] * len(left_out))
    if found.text:
        out.heading("Text", "exactly as the hook gave it")
        out.exact(safe(found.text))
    elif found.folded:
        days = retention.limits(ctx.root).days
        out.heading("Text", f"{found.chars:,} characters")
        out.print(f"  text removed: it is more than {many(days, 'day')} old" if days else "  text removed: it was old")


def _when(found: Delivery, now: float) -> str:
    """Say when a delivery was: how long ago, and in local time."""
    there = f", {time.strftime('%Y-%m-%d %H:%M', time.localtime(found.time))}" if found.time else ""
    return ago(found.time or None, now) + there


def _came(ctx: Context, item: Item) -> str:
    """Say what came so far of recalling an item's memory, as far as the newest part of the log tells."""
    return recalls(ctx.usage.recalled(item.path)) if item.kind == RECALL and not item.left_out else ""


def _print_items(ctx: Context, out: Output, title: str, items: "list[Item]", names: "list[str]") -> None:
    if not items:
        return
    out.heading(title, str(len(items)))
    cells = [
        [
            counted(each.kind, 1).partition(" ")[2],
            _short(each.id) or ("" if each.count is None else str(each.count)),
            line(each.scope),
            str(each.chars or ""),
            line(each.left_out or reason(each.reason)),
        ]
        for each in items
    ]
    notes = [
        _came(ctx, each) or (line(name) if name != each.id else "") for each, name in zip(items, names, strict=True)
    ]
    out.table(["KIND", "ID", "SCOPE", "SIZE", "WHY"], cells, flex=(4, 1), right=(3,), indent="  ", notes=notes)
    out.print()


def _short(name: str) -> str:
    """Shorten an id to its end, which names it in other commands; leave a name whole."""
    text = line(name)
    return short_id(text) if ids.id_time(text) is not None else text
