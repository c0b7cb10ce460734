"""`memtui activity`: what sessions got, why, and whether it arrived; the sessions, and what one got."""

import argparse
import itertools
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from memtui.cli import entries, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.core.base import ids, short_ids, when
from memtui.core.base.errors import NotFoundError, UsageError
from memtui.core.base.phrasing import age, ago, cut, many, short
from memtui.core.base.shell import shell_word
from memtui.core.base.short_ids import short_id
from memtui.core.client import projects, serving, transcript
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts
from memtui.core.deliveries import sessions as core
from memtui.core.deliveries.earlier import NOTHING_MOVED
from memtui.core.deliveries.filter import LOST, Filter
from memtui.core.deliveries.reading import Reading, Receipts
from memtui.core.deliveries.record import RECALL, Delivery, Item, session_kind
from memtui.core.deliveries.record import titles as names_in
from memtui.core.memories import moved, scopes
from memtui.core.review.waiting import guidance_for
from memtui.present import sessions, unheard
from memtui.present.deliveries import (
    EVENTS,
    GLYPHS,
    KIND_WORD,
    MEANINGS,
    OUTCOMES,
    RECEIPTS,
    counted,
    in_short,
    reason,
    recalls,
)

LIMIT = 20  # deliveries or sessions in a list
ROWS = 200  # deliveries of one session
ID_LENGTH = 26  # characters of a ULID
TITLE_MOST = 140  # characters of a title, without the last word that would be cut
MOST_LOOKED_UP = 5000  # newest deliveries that are read where a filter needs each one's receipt
WINDOW = f"{delivery_log.WINDOW_BYTES >> 20} MB"
OF_PART = f"newest {WINDOW} of the log"


def register(commands: "parser.Commands") -> None:
    command = parser.command(
        commands,
        "activity",
        run,
        "what sessions got, why, and whether it arrived",
        "memtui activity\nmemtui activity 7XAD\nmemtui activity --sessions --live --all\n"
        "memtui activity --kind notes --outcome lost --since 2d\nmemtui activity --memory prefer-pnpm",
        "Of this project, newest first. The first or last 4 characters of an ID are enough.",
    )
    command.add_argument("id", nargs="?", metavar="ID", help="one delivery with its exact text, or one session")
    command.add_argument("--all", action="store_true", help="of all projects")
    command.add_argument("--sessions", action="store_true", help="list the sessions, and what each got")
    command.add_argument("--live", action="store_true", help="with --sessions: only those that run now")
    command.add_argument("--session", metavar="ID", help="only this session, by a beginning of its id")
    kinds = list(KIND_WORD.values())
    about = "only with such a piece: " + ", ".join(kinds) + " (memories that the agent opened or wrote)"
    command.add_argument(
        "--kind", type=lambda word: KIND_WORD.get(word, word), choices=kinds, metavar="KIND", help=about
    )
    command.add_argument(
        "--memory", metavar="NAME|PATH", help="only what brought this memory, or used it; also one gone"
    )
    words = {word: outcome for outcome, (_, word, _) in OUTCOMES.items() if word != LOST}
    command.add_argument(
        "--outcome",
        type=lambda word: words.get(word, word),
        choices=sorted({*words, *GLYPHS, LOST}),
        metavar="WORD",
        help=f"as the list says it: {', '.join([*words, LOST])}; of what is lost also {', '.join(receipts.LOST)}",
    )
    command.add_argument(
        "--text", metavar="WORDS", help="only with these words in the text, which is not kept for ever"
    )
    command.add_argument("--since", metavar="WHEN", help=f"not older than WHEN: {when.BACK}")
    limit = f"rows, default: {LIMIT}; 0: all, of the whole log"
    command.add_argument("--limit", type=parser.count, metavar="N", help=limit)


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
    proofs = Receipts(ctx.env, ctx.now, transcript.Finder(ctx.config_dir))
    if args.id:
        return _one(ctx, args.id, args.limit, proofs)
    limit = LIMIT if args.limit is None else args.limit
    if args.sessions:
        return _sessions(ctx, args, limit, proofs)
    most, looked = (delivery_log.WINDOW_BYTES, MOST_LOOKED_UP) if limit else (0, 0)
    earlier = moved.load(ctx.root) if wanted.memory else NOTHING_MOVED
    reading = Reading(ctx.root, wanted, proofs, earlier=earlier, most=most, looked=looked, follow=False)
    rows = list(itertools.islice(reading.read(), limit or None))
    if args.session and not rows:
        logged = (each.session for each in core.deliveries(ctx.root, args.session))
        if not any(name.startswith(args.session) for name in itertools.chain(core.states(ctx.root), logged)):
            hint = "`memtui activity --sessions --all` lists them."
            raise NotFoundError(f"There is no session “{args.session}”.", hint)
    proofs.look(rows)
    data = {
        "deliveries": [{**each.record, "outcome": proofs.known.get(each.id, receipts.UNKNOWN)} for each in rows],
        "skipped_lines": reading.skipped,
        "whole_log": not reading.cut,
    }

    def text(out: Output) -> None:
        if rows:
            _table(ctx, out, rows, proofs.known)
        elif wanted.but(project=""):
            out.print("No matches.\n  Of all projects, and of the whole log: --all --limit 0")
        else:
            out.print("Nothing was delivered here yet." if wanted else "Nothing was delivered yet.")
            out.print(f'  {unheard.at_prompt(ctx.unheard())}\n  Write a note: memtui note "…"')
            if wanted:
                out.print("  Other projects: memtui activity --all")
        if reading.cut:
            part = f"newest {MOST_LOOKED_UP:,} deliveries of the log" if wanted.outcome else OF_PART
            out.print(f"Only the {part} were read; for all of it: --limit 0")
        if reading.skipped:
            out.print(f"{many(reading.skipped, 'line')} of the log could not be read.")

    return Result(data, text)


def _table(
    ctx: Context, out: Output, rows: Sequence[Delivery], known: Mapping[str, str], *, of_one: bool = False
) -> None:
    """Print deliveries as a table, without columns of the session if they are `of_one`; `known`: outcomes by id."""
    named = projects.names_of_roots(ctx.env, {each.root for each in rows})
    cells: list[list[str | tuple[str, str]]] = []
    for each in rows:
        session = f"{line(each.session)[:8]} {line(session_kind(each.entrypoint))}".rstrip()
        of_session = [] if of_one else [session, line(named[each.root])]
        last = [line(EVENTS.get(each.event, each.event)), line(in_short(each.contents))]
        receipt, since = RECEIPTS[known.get(each.id, receipts.UNKNOWN)], age(each.time or None, ctx.now())
        cells.append([(short_id(each.id), "cyan"), since, receipt, *of_session, *last])
    headers = ["ID", "AGE", "RECEIPT", *([] if of_one else ["SESSION", "PROJECT"]), "EVENT", "WHAT"]
    out.table(headers, cells, flex=(4,) if of_one else (6, 5, 4), right=(1,))


def _one(ctx: Context, ref: str, rows: "int | None", proofs: Receipts) -> Result:
    """Show one delivery or session. Lists write ids of sessions in small letters: those are tried first for such."""
    errors = []
    for way in (_session, _delivery) if ref == ref.lower() else (_delivery, _session):
        try:
            return way(ctx, ref, rows, proofs)
        except NotFoundError as error:
            errors.append(error)
    hint = "`memtui activity` lists deliveries, `memtui activity --sessions` sessions."
    unknown = NotFoundError(f"There is no delivery or session “{ref}”.", hint)
    raise next((each for each in errors if each.hint), unknown)


def _find(ctx: Context, ref: str) -> Delivery:
    """Find a delivery by its id, or a unique beginning or end. Raises NotFoundError, ConflictError."""
    wanted = ref.strip().lstrip("…").upper()
    matching: dict[str, Delivery] = {}
    for each in map(Delivery.of, delivery_log.newest_first(ctx.root, needle=wanted.encode("utf-8", "replace"))):
        if short_ids.is_short_for(wanted, each.id):
            if len(matching) <= short_ids.SEVERAL:
                matching.setdefault(each.id, each)
            if (len(wanted) == ID_LENGTH and each.id == wanted) or len(matching) > short_ids.SEVERAL:
                break
    try:
        return matching[short_ids.match(ref, matching, "delivery")]
    except NotFoundError as error:
        raise (entries.misnamed(ctx, ref) or error) from None


def _delivery(ctx: Context, ref: str, _: "int | None", proofs: Receipts) -> Result:
    """Show one delivery. Raises NotFoundError, ConflictError."""
    found = _find(ctx, ref)
    outcome, path = proofs.of(found), transcript.path_of(found.record, ctx.config_dir)
    data = {**found.record, "outcome": outcome, "meaning": MEANINGS[outcome], "transcript_found": path}

    def text(out: Output) -> None:
        local = f", {time.strftime('%Y-%m-%d %H:%M', time.localtime(found.time))}" if found.time else ""
        out.heading(f"Delivery {line(found.id)}", ago(found.time or None, ctx.now()) + local)
        kind = session_kind(found.entrypoint).replace("person", "interactive")
        facts = [
            ("receipt", out.style(*RECEIPTS[outcome]) + f" ({MEANINGS[outcome]})"),
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
        _print_items(ctx, out, "Pieces", brought, names_in(found.text, brought))
        _print_items(ctx, out, "Left out", left_out, [""] * len(left_out))
        if found.text:
            out.heading("Text", "exactly as the hook gave it")
            out.exact(safe(found.text))
        elif found.folded:
            out.heading("Text", f"{found.chars:,} characters")
            out.print("  text removed: its memory was deleted for good")

    return Result(data, text)


def _print_items(ctx: Context, out: Output, title: str, items: "list[Item]", names: "list[str]") -> None:
    if not items:
        return
    out.heading(title, str(len(items)))
    cells, notes = [], []
    for each, name in zip(items, names, strict=True):
        key = line(each.id)
        key = short_id(key) if ids.id_time(key) is not None else key  # of an id the end; a name stays whole
        kind, count = counted(each.kind, 1).partition(" ")[2], "" if each.count is None else str(each.count)
        why = line(each.left_out or reason(each.reason))
        cells.append([kind, key or count, line(each.scope), str(each.chars or ""), why])
        came = recalls(ctx.usage.recalled(each.path)) if each.kind == RECALL and not each.left_out else ""
        notes.append(came or (line(name) if name != each.id else ""))
    out.table(["KIND", "ID", "SCOPE", "SIZE", "WHY"], cells, flex=(4, 1), right=(3,), indent="  ", notes=notes)
    out.print()


def _sessions(ctx: Context, args: argparse.Namespace, limit: int, proofs: Receipts) -> Result:
    """List the sessions, live ones first."""
    seen, clients = delivery_log.Skipped(), serving.served(ctx.root)
    records = delivery_log.newest_first(ctx.root, seen, most=delivery_log.WINDOW_BYTES if limit else 0)
    by_id = {each.id: each for each in core.collect(ctx.root, records)}
    rows = [core.row_of(each, clients, ctx.now()) for each in by_id.values() if args.all or each.slug == ctx.slug]
    rows = sorted(
        (row for row in rows if row.live or not args.live), key=lambda row: (not row.live, -(row.last or 0.0))
    )
    finder, shown = transcript.Finder(ctx.config_dir), []
    for row in rows[: limit or None]:
        session = by_id[row.id]
        proofs.look(session.proofs)
        outcomes = Counter(proofs.known[each.id] for each in session.proofs if each.id in proofs.known)
        shown.append(core.look_up(row, session, finder, outcomes))
    more = len(rows) - len(shown)
    data = {"sessions": [row.data for row in shown], "more": more, "whole_log": not seen.older}

    def text(out: Output) -> None:
        if not shown:
            here = "" if args.all else " here"
            out.print(f"No session is live{here}." if args.live else f"No session was seen{here} yet.")
            hooks, others = "Are the hooks installed? memtui setup", "Other projects: memtui activity --sessions --all"
            out.print(f"  {hooks if args.all else others}")
            return
        projects_ = _names(ctx, shown)
        cells = [
            [
                sessions.LIVE if row.live else "",
                (line(row.id)[:8], "cyan"),
                age(row.last, ctx.now()),
                f"{row.deliveries:,}",
                sessions.arrived(row),
                ", ".join(words for words, _ in sessions.besides(row)),
                line(projects_[row.project]),
            ]
            for row in shown
        ]
        headers = ["", "SESSION", "SEEN", "SENT", "ARRIVED", "", "PROJECT"]
        out.table(headers, cells, flex=(6, 5), right=(2, 3, 4), notes=[_title(row) for row in shown])
        if more:
            out.print(f"and {more:,} more: --limit 0")
        if seen.older:
            out.print(f"Counted in the {OF_PART}; for all of it: --limit 0")
        out.print("What one session got: memtui activity ID")

    return Result(data, text)


def _title(row: core.SessionRow) -> str:
    return cut(line(sessions.title(row)), TITLE_MOST)


def _names(ctx: Context, rows: "list[core.SessionRow]") -> "dict[str, str]":
    slugs = {row.project for row in rows if not row.project.startswith("/")}
    known = projects.paths_of(ctx.env, slugs) if slugs else {}
    return projects.names_of_roots(ctx.env, {row.project for row in rows}, known)


def _session(ctx: Context, ref: str, limit: "int | None", proofs: Receipts) -> Result:
    """Show one session, with its newest deliveries. Raises NotFoundError, ConflictError."""
    begin, rows = ref.strip().lstrip("…"), ROWS if limit is None else limit
    several = {name: each for name, each in core.states(ctx.root).items() if core.meant(name, begin)}
    newest: dict[str, list[tuple[Delivery, str]]] = {}
    counts: dict[str, Counter[str]] = {}
    for each in core.deliveries(ctx.root, begin):
        if len(several) > short_ids.SEVERAL:
            break
        several.setdefault(each.session, core.Session(each.session)).note(each)
        outcome, kept = proofs.of(each), newest.setdefault(each.session, [])
        counts.setdefault(each.session, Counter())[outcome] += 1
        if rows <= 0 or len(kept) < rows:
            kept.append((each, outcome))
    session = several[short_ids.match(ref, several, "session")]
    shown, outcomes = newest.get(session.id, []), counts.get(session.id, Counter())
    more = outcomes.total() - len(shown)
    row = core.row_of(session, serving.served(ctx.root), ctx.now())
    row = core.look_up(row, session, transcript.Finder(ctx.config_dir), outcomes)
    waiting = guidance_for(ctx.root, row.id, row.slug, personal=row.kind != "script", now=ctx.now())
    data = {
        **row.data,
        "sums": {**session.sums, "outcomes": dict(outcomes)},
        "state": session.state,
        "waiting": [{"id": each.id, "text": each.text} for each in waiting],
        "records": [{**each.record, "outcome": outcome} for each, outcome in shown],
        "more": more,
    }

    def text(out: Output) -> None:
        for piece in out.wrapped(_title(row)):
            out.heading(piece)
        sums = session.sums
        size = f"{short(row.characters)} characters, about {row.tokens:,} tokens"
        facts = [
            ("session", f"{line(row.id)}, {'live' if row.live else 'past'}"),
            ("project", line(_names(ctx, [row])[row.project])),
            ("directory", line(row.cwd)),
            ("branch", line(row.branch)),
            ("run by", f"a {row.kind}" if row.kind else ""),
            ("started", ago(row.started, ctx.now())),
            ("last seen", ago(row.last, ctx.now())),
            ("mode", line(row.mode)),
            ("delivered", f"{many(sums['deliveries'], 'time')}, {size}"),
            ("receipts", ", ".join(words for words, _ in sessions.told(row))),
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
        if not shown:
            out.print("It got nothing.")
            return
        _table(ctx, out, [each for each, _ in shown], {each.id: outcome for each, outcome in shown}, of_one=True)
        if more:
            out.print(f"and {more:,} older: memtui activity --limit 0 {shell_word(row.id[:8])}")
        out.print("The exact text: memtui activity ID")

    return Result(data, text)
