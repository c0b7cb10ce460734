"""`memtui activity`: what sessions got, why, and whether it arrived."""

import argparse
import itertools
import os
import time
from collections.abc import Callable

from memtui.cli import parser, sessions
from memtui.cli.context import Context
from memtui.cli.deliveries import find, receipt, receipts_of, table
from memtui.cli.output import Output, Result, line, safe
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
from memtui.core.memories import moved, scopes
from memtui.present import unheard
from memtui.present.deliveries import GLYPHS, KIND_WORD, MEANINGS, counted, reason, recalls

LIMIT = 20
MOST_LOOKED_UP = 5000  # newest deliveries that are read where a filter needs each one's receipt
WINDOW = f"{delivery_log.WINDOW_BYTES >> 20} MB"


def register(commands: "parser.Commands") -> None:
    found = parser.command(
        commands,
        "activity",
        run,
        "what sessions got, why, and whether it arrived",
        "memtui activity\nmemtui activity 7XAD\nmemtui activity --sessions --live --all\n"
        "memtui activity --kind notes --outcome lost --since 2d\nmemtui activity --memory prefer-pnpm",
        "Of this project, newest first. The first or last 4 characters of an ID are enough.",
    )
    found.add_argument("id", nargs="?", metavar="ID", help="one delivery with its exact text, or one session")
    found.add_argument("--all", action="store_true", help="of all projects")
    found.add_argument("--sessions", action="store_true", help="list the sessions, and what each got")
    found.add_argument("--live", action="store_true", help="with --sessions: only those that run now")
    found.add_argument("--session", metavar="ID", help="only this session, by a beginning of its id")
    kinds = list(KIND_WORD.values())
    found.add_argument(
        "--kind",
        type=lambda word: KIND_WORD.get(word, word),
        choices=kinds,
        metavar="KIND",
        help="only with such a piece: " + ", ".join(kinds) + " (memories that the agent opened or wrote)",
    )
    found.add_argument("--memory", metavar="NAME|PATH", help="only what brought this memory, or used it; also one gone")
    outcomes = ", ".join(GLYPHS) + "; lost: any that did not arrive"
    found.add_argument("--outcome", choices=sorted([*GLYPHS, LOST]), metavar="WORD", help=outcomes)
    found.add_argument("--text", metavar="WORDS", help="only with these words in the text, which is not kept for ever")
    found.add_argument("--since", metavar="WHEN", help=f"not older than WHEN: {when.BACK}")
    found.add_argument(
        "--limit", type=parser.count, metavar="N", help=f"rows, default: {LIMIT}; 0: all, of the whole log"
    )


def _filter(ctx: Context, args: argparse.Namespace) -> Filter:
    since = when.read(args.since, ctx.now(), ahead=False) if args.since else None
    if args.since and since is None:
        raise UsageError(f"--since: “{args.since}” is not a time.", f"Use one of: {when.BACK}.")
    return Filter(
        session=args.session or "",
        project="" if args.all or args.session else ctx.slug,
        kind=next((kind for kind, word in KIND_WORD.items() if word == args.kind), ""),
        memory=_memory(ctx, args.memory) if args.memory else "",
        outcome=args.outcome or "",
        text=args.text or "",
        since=None if since == when.NEVER else since,
    )


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
    if (args.id or args.sessions) and wanted.but(project=""):
        raise UsageError("An ID and --sessions take no filter.", "See `memtui activity --help`.")
    if args.live and not args.sessions:
        raise UsageError("--live goes with --sessions.", "memtui activity --sessions --live")
    if args.id:
        return _one(ctx, args.id, args.limit)
    if args.sessions:
        return sessions.listing(ctx, args)
    limit = LIMIT if args.limit is None else args.limit
    proofs = receipts_of(ctx)
    most, looked = (delivery_log.WINDOW_BYTES, MOST_LOOKED_UP) if limit else (0, 0)
    earlier = moved.load(ctx.root) if wanted.memory else NOTHING_MOVED
    reading = Reading(ctx.root, wanted, proofs, earlier=earlier, most=most, looked=looked, follow=False)
    rows = list(itertools.islice(reading.read(), limit or None))
    if args.session and not rows:
        sessions.must_be_known(ctx, args.session)
    proofs.look(rows)
    data = {
        "deliveries": [{**each.record, "outcome": proofs.known.get(each.id, receipts.UNKNOWN)} for each in rows],
        "skipped_lines": reading.skipped,
        "whole_log": not reading.cut,
    }
    return Result(data, lambda out: _print(ctx, out, reading, rows))


def _print(ctx: Context, out: Output, reading: Reading, rows: "list[Delivery]") -> None:
    if rows:
        table(ctx, out, rows, reading.proofs.known)
    elif reading.wanted.but(project=""):
        out.print("No matches.")
        out.print("  Of all projects, and of the whole log: --all --limit 0")
    else:
        out.print("Nothing was delivered here yet." if reading.wanted else "Nothing was delivered yet.")
        out.print(f"  {unheard.at_prompt(ctx.unheard())}")
        out.print('  Write a note: memtui note "…"')
        if reading.wanted:
            out.print("  Other projects: memtui activity --all")
    if reading.cut:
        part = f"{MOST_LOOKED_UP:,} deliveries" if reading.wanted.outcome else WINDOW
        out.print(f"Only the newest {part} of the log were read; for all of it: --limit 0")
    if reading.skipped:
        out.print(f"{many(reading.skipped, 'line')} of the log could not be read.")


def _one(ctx: Context, ref: str, rows: "int | None") -> Result:
    """Show one delivery or session. Lists write ids of sessions in small letters: those are tried first for such."""
    ways: list[Callable[[], Result]] = [lambda: sessions.one(ctx, ref, rows), lambda: _delivery(ctx, ref)]
    errors = []
    for way in ways if ref == ref.lower() else reversed(ways):
        try:
            return way()
        except NotFoundError as error:
            errors.append(error)
    hint = "`memtui activity` lists deliveries, `memtui activity --sessions` sessions."
    unknown = NotFoundError(f"There is no delivery or session “{ref}”.", hint)
    raise next((each for each in errors if "lists them" not in each.hint), unknown)


def _delivery(ctx: Context, ref: str) -> Result:
    """Show one delivery. Raises NotFoundError, ConflictError."""
    found = find(ctx, ref)
    outcome = receipts_of(ctx).of(found)
    path = transcript.path_of(found.record, ctx.config_dir)
    data = {**found.record, "outcome": outcome, "meaning": MEANINGS[outcome], "transcript_found": path}
    return Result(data, lambda out: _print_one(ctx, out, found, outcome, path))


def _print_one(ctx: Context, out: Output, found: Delivery, outcome: str, path: "str | None") -> None:
    local = f", {time.strftime('%Y-%m-%d %H:%M', time.localtime(found.time))}" if found.time else ""
    out.heading(f"Delivery {line(found.id)}", ago(found.time or None, ctx.now()) + local)
    kind = session_kind(found.entrypoint).replace("person", "interactive")
    facts = [
        ("receipt", out.style(*receipt(outcome)) + f" ({MEANINGS[outcome]})"),
        ("event", line(found.event) + (f", tool {line(found.tool)}" if found.tool else "")),
        ("session", line(found.session + (f" ({kind})" if kind else ""))),
        ("project", line(found.project_root or found.project)),
        ("transcript", line(path or "gone")),
        ("size", f"{found.chars} characters, in {'?' if found.ms is None else found.ms} ms"),
        ("agent", line(found.agent)),
    ]
    out.facts((name, value) for name, value in facts if value)
    out.print()
    brought = [item for item in found.items if not item.left_out]
    left_out = [item for item in found.items if item.left_out]
    _print_items(ctx, out, "Pieces", brought, titles(found.text, brought))
    _print_items(ctx, out, "Left out", left_out, [""] * len(left_out))
    if found.text:
        out.heading("Text", "exactly as the hook gave it")
        out.exact(safe(found.text))
    elif found.folded:
        out.heading("Text", f"{found.chars:,} characters")
        out.print("  text removed: its memory was deleted for good")


def _print_items(ctx: Context, out: Output, title: str, items: "list[Item]", names: "list[str]") -> None:
    if not items:
        return
    out.heading(title, str(len(items)))
    cells, notes = [], []
    for each, name in zip(items, names, strict=True):
        key = line(each.id)
        key = short_id(key) if ids.id_time(key) is not None else key  # of an id the end; a name stays whole
        cells.append(
            [
                counted(each.kind, 1).partition(" ")[2],
                key or ("" if each.count is None else str(each.count)),
                line(each.scope),
                str(each.chars or ""),
                line(each.left_out or reason(each.reason)),
            ]
        )
        came = recalls(ctx.usage.recalled(each.path)) if each.kind == RECALL and not each.left_out else ""
        notes.append(came or (line(name) if name != each.id else ""))
    out.table(["KIND", "ID", "SCOPE", "SIZE", "WHY"], cells, flex=(4, 1), right=(3,), indent="  ", notes=notes)
    out.print()
