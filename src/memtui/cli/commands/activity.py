"""`memtui activity`: what sessions got, why, and whether it arrived; the sessions, and what one got."""

import argparse
import itertools
import os
import time
from collections import Counter

from memtui.base import clock, dates, ids, short_ids
from memtui.base.errors import NotFoundError, UsageError
from memtui.base.phrasing import age, ago, cut, many
from memtui.base.short_ids import short_id
from memtui.cli import entries, parser
from memtui.cli.context import Context
from memtui.cli.memories import RECALLS
from memtui.cli.output import Output, Result, line, picked, safe, styled
from memtui.client import projects
from memtui.client.transcripts import transcript
from memtui.deliver import log as delivery_log
from memtui.deliver import receipts
from memtui.deliver import sessions as core
from memtui.deliver.filter import LOST, Filter
from memtui.deliver.log_queries import Reading, Receipts
from memtui.deliver.record import NOTHING_MOVED, RECALL, Delivery, Item, session_kind
from memtui.deliver.record import titles as names_in
from memtui.store import scopes
from memtui.store.versions import moves
from memtui.views import deliveries, notes
from memtui.views.deliveries import (
    EVENTS,
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
ID_LENGTH = 26  # characters of a ULID
TITLE_MOST = 140  # characters of a title, without the last word that would be cut
MOST_LOOKED_UP = 5000  # newest deliveries that are read where a filter needs each one's receipt
WINDOW = f"{delivery_log.WINDOW_BYTES >> 20} MB"
OF_PART = f"newest {WINDOW} of the log"

# By the word for an outcome that the list shows: the outcome; of LOST, which there are several of, the last.
OUTCOME_OF = {word: outcome for outcome, (_, word, _) in OUTCOMES.items()}
OUTCOME_WORDS = [*(word for word in OUTCOME_OF if word != LOST), LOST]
KIND_OPTIONS = [*KIND_WORD.values()]


def _filter(ctx: Context, args: argparse.Namespace) -> Filter:
    since = dates.read(args.since, ctx.now(), ahead=False) if args.since else None
    if args.since and since is None:
        raise UsageError(f"--since: “{args.since}” is not a time.", f"Use one of: {dates.BACK}.")
    return Filter(
        session=args.id or args.session or "",
        project="" if args.all_projects or args.session or args.id else ctx.slug,
        kind=next((kind for kind, word in KIND_WORD.items() if word == args.kind), ""),
        memory=_memory(ctx, args.memory) if args.memory else "",
        outcome=args.outcome if args.outcome == LOST else OUTCOME_OF.get(args.outcome, args.outcome or ""),
        text=args.text or "",
        since=None if since == dates.NEVER else since,
    )


def _memory(ctx: Context, ref: str) -> str:
    """Return how the log names a memory: its path; for a memory that is gone, its name or path as given."""
    try:
        return scopes.find(ctx.env, ctx.cwd, ref).path
    except NotFoundError:
        return os.path.abspath(os.path.join(ctx.cwd, ref)) if "/" in ref else ref.rpartition(":")[2]


@parser.command(
    f"""\
activity: what sessions got, why, and whether it arrived
  memtui activity
  memtui activity 7XAD
  memtui activity --sessions --live --all-projects
  memtui activity --kind notes --outcome lost --since 2d
  memtui activity --memory prefer-pnpm
Of this project, newest first. The first or last 4 characters of an ID are enough.
[ID] | one delivery with its exact text, or one session
--all-projects | of all projects
--sessions | list the sessions, and what each got
--live | with --sessions: only those that run now
--session ID | only this session, by a beginning of its id
--kind KIND | only with such a piece: {", ".join(KIND_OPTIONS)} (memories that the agent opened or wrote)
--memory NAME|PATH | only what brought this memory, or used it; also one gone
--outcome WORD | as the list says it: {", ".join(OUTCOME_WORDS)}; of what is lost also {", ".join(receipts.LOST)}
--text WORDS | only with these words in the text, which is not kept for ever
--since WHEN | not older than WHEN: {dates.BACK}
--limit N | rows, default: {LIMIT}; 0: all, of the whole log""",
    {
        "kind": {"type": lambda word: KIND_WORD.get(word, word), "choices": KIND_OPTIONS},
        "outcome": {"choices": [*OUTCOME_WORDS, *receipts.LOST]},
    },
)
def run(ctx: Context, args: argparse.Namespace) -> Result:
    criteria = _filter(ctx, args)
    if (args.id or args.sessions) and criteria.but(project="", session=""):
        raise UsageError("An ID and --sessions take no filter.", "See `memtui activity --help`.")
    if args.live and not args.sessions:
        raise UsageError("--live goes with --sessions.", "memtui activity --sessions --live")
    proofs = Receipts(ctx.env, ctx.now, transcript.Finder(ctx.config_dir))
    if args.id and not _begins_session(ctx, args.id):
        return _delivery(ctx, args.id, proofs)
    limit = LIMIT if args.limit is None else args.limit
    if args.sessions:
        return _sessions(ctx, args, limit, proofs)
    most, looked = (delivery_log.WINDOW_BYTES, MOST_LOOKED_UP) if limit else (0, 0)
    earlier = moves.load(ctx.root) if criteria.memory else NOTHING_MOVED
    reading = Reading(ctx.root, criteria, proofs, earlier=earlier, most=most, looked=looked, follow=False)
    rows = list(itertools.islice(reading.read(), limit or None))
    if args.session and not rows and not _begins_session(ctx, args.session):
        hint = "`memtui activity --sessions --all-projects` lists them."
        raise NotFoundError(f"There is no session “{args.session}”.", hint)
    proofs.look(rows)
    data = {
        "deliveries": [{**row.record, "outcome": proofs.known.get(row.id, receipts.UNKNOWN)} for row in rows],
        "skipped_lines": reading.skipped,
        "whole_log": not reading.cut,
    }

    names = projects.names_of_roots(ctx.env, {row.root for row in rows})
    cells = [
        [
            (short_id(row.id), "cyan"),
            age(row.time or None, ctx.now()),
            RECEIPTS[proofs.known.get(row.id, receipts.UNKNOWN)],
            f"{line(row.session)[:8]} {line(session_kind(row.entrypoint))}".rstrip(),
            line(names[row.root]),
            line(EVENTS.get(row.event, row.event)),
            line(in_short(row.contents)),
        ]
        for row in rows
    ]
    headers = ["ID", "AGE", "RECEIPT", "SESSION", "PROJECT", "EVENT", "WHAT"]
    part = f"newest {MOST_LOOKED_UP:,} deliveries of the log" if criteria.outcome else OF_PART
    return Result(
        data,
        (lambda out: out.table(headers, cells, flex=(6, 5, 4), right=(1,))) if rows else _nothing(ctx, args, criteria),
        f"Only the {part} were read; for all of it: --limit 0" if reading.cut else "",
        f"{many(reading.skipped, 'line')} of the log could not be read." if reading.skipped else "",
    )


def _nothing(ctx: Context, args: argparse.Namespace, criteria: Filter) -> str:
    if criteria.but(project=""):
        lost = entries.lost(ctx, every=args.all_projects) if criteria.outcome == LOST else ""
        return "No matches.\n  Of all projects, and of the whole log: --all-projects --limit 0" + f"\n  {lost}" * bool(
            lost
        )
    where, others = ("here ", "\n  Other projects: memtui activity --all-projects") if criteria else ("", "")
    ways = f'{notes.at_prompt(ctx.unheard())}\n  Write a note: memtui note "…"' + others
    return f"Nothing was delivered {where}yet.\n  {ways}"


def _begins_session(ctx: Context, ref: str) -> bool:
    """Return whether the id of a session begins so. Lists write these in small letters."""
    if len(ref) < short_ids.MIN_REF or ref != ref.lower():
        return False
    logged = (delivery.session for delivery in core.deliveries(ctx.root, ref))
    return any(name.startswith(ref) for name in itertools.chain(core.states(ctx.root), logged))


def _find(ctx: Context, ref: str) -> Delivery:
    """Find a delivery by its id, or a unique beginning or end. Raises NotFoundError, ConflictError."""
    prefix = ref.strip().lstrip("…").upper()
    matching: dict[str, Delivery] = {}
    for delivery in map(Delivery, delivery_log.newest_first(ctx.root, needle=prefix.encode("utf-8", "replace"))):
        if short_ids.is_short_for(prefix, delivery.id):
            if len(matching) <= short_ids.SEVERAL:
                matching.setdefault(delivery.id, delivery)
            if (len(prefix) == ID_LENGTH and delivery.id == prefix) or len(matching) > short_ids.SEVERAL:
                break
    try:
        return matching[short_ids.match(ref, matching, "delivery")]
    except NotFoundError as error:
        hint = error.hint or "`memtui activity` lists deliveries, `memtui activity --sessions` sessions."
        unknown = NotFoundError(f"There is no delivery or session “{ref}”.", hint)
        raise (entries.misnamed(ctx, ref) or unknown) from None


def _delivery(ctx: Context, ref: str, proofs: Receipts) -> Result:
    delivery = _find(ctx, ref)
    outcome, path = proofs.of(delivery), transcript.path_of(delivery.record, ctx.config_dir)
    data = {**delivery.record, "outcome": outcome, "meaning": MEANINGS[outcome], "transcript_found": path}

    def text(out: Output) -> None:
        local = f", {time.strftime('%Y-%m-%d %H:%M', time.localtime(delivery.time))}" if delivery.time else ""
        out.heading(f"Delivery {line(delivery.id)}", ago(delivery.time or None, ctx.now()) + local)
        kind = session_kind(delivery.entrypoint).replace("person", "interactive")
        facts = [
            ("receipt", styled(*RECEIPTS[outcome]) + f" ({MEANINGS[outcome]})"),
            ("event", line(delivery.event) + (f", tool {line(delivery.tool)}" if delivery.tool else "")),
            ("session", line(delivery.session + (f" ({kind})" if kind else ""))),
            ("project", line(delivery.project_root or delivery.project)),
            ("transcript", line(path or "gone")),
            ("size", f"{delivery.chars} characters, in {'?' if delivery.ms is None else delivery.ms} ms"),
            ("agent", line(delivery.agent)),
        ]
        out.facts((name, value) for name, value in facts if value)
        out.print()
        brought = [item for item in delivery.items if not item.left_out]
        left_out = [item for item in delivery.items if item.left_out]
        _print_items(ctx, out, "Pieces", brought, names_in(delivery.text, brought))
        _print_items(ctx, out, "Left out", left_out, [""] * len(left_out))
        if delivery.text:
            out.heading("Text", "exactly as the hook gave it")
            out.exact(safe(delivery.text))
        elif delivery.folded:
            out.heading("Text", f"{delivery.chars:,} characters")
            out.print("  text removed: its memory was deleted for good")

    return Result(data, text)


def _print_items(ctx: Context, out: Output, title: str, items: "list[Item]", names: "list[str]") -> None:
    if not items:
        return
    out.heading(title, str(len(items)))
    cells, notes = [], []
    for item, name in zip(items, names, strict=True):
        key = line(item.id)
        key = short_id(key) if ids.id_time(key) is not None else key  # of an id the end; a name stays whole
        kind, count = counted(item.kind, 1).partition(" ")[2], "" if item.count is None else str(item.count)
        why = line(item.left_out or reason(item.reason))
        cells.append([kind, key or count, line(item.scope), str(item.chars or ""), why])
        uses = recalls(ctx.usage.recalled(item.path)) if item.kind == RECALL and not item.left_out else ""
        notes.append(uses or (line(name) if name != item.id else ""))
    out.table(["KIND", "ID", "SCOPE", "SIZE", "WHY"], cells, flex=(4, 1), right=(3,), indent="  ", notes=notes)
    out.print()


def _sessions(ctx: Context, args: argparse.Namespace, limit: int, proofs: Receipts) -> Result:
    skipped, clients = delivery_log.Skipped(), core.served(ctx.root)
    records = delivery_log.newest_first(ctx.root, skipped, most=delivery_log.WINDOW_BYTES if limit else 0)
    rows = [row for row in core.collect(ctx.root, records) if args.all_projects or row.slug == ctx.slug]
    for row in rows:
        row.look(clients, ctx.now())
    rows = sorted(
        (row for row in rows if row.live or not args.live), key=lambda row: (not row.live, -(row.last or 0.0))
    )
    finder, session_rows = transcript.Finder(ctx.config_dir), rows[: limit or None]
    for row in session_rows:
        proofs.look(row.proofs)
        row.outcomes = Counter(proofs.known[proof.id] for proof in row.proofs if proof.id in proofs.known)
        row.look_up(finder)
    more = len(rows) - len(session_rows)
    data = {"sessions": [_data(row) for row in session_rows], "more": more, "whole_log": not skipped.older}

    if not session_rows:
        here = "" if args.all_projects else " here"
        words = f"No session is live{here}." if args.live else f"No session was seen{here} yet."
        others = "Other projects: memtui activity --sessions --all-projects"
        return Result(data, f"{words}\n  {'Are the hooks installed? memtui setup' if args.all_projects else others}")
    rest = f"and {more:,} more: --limit 0" if more else ""
    older = f"Counted in the {OF_PART}; for all of it: --limit 0" if skipped.older else ""
    slugs = {row.project for row in session_rows if not row.project.startswith("/")}
    paths_by_slug = projects.paths_of(ctx.env, slugs) if slugs else {}
    names = projects.names_of_roots(ctx.env, {row.project for row in session_rows}, paths_by_slug)
    cells = [
        [
            deliveries.LIVE if row.live else "",
            (line(row.id)[:8], "cyan"),
            age(row.last, ctx.now()),
            f"{row.deliveries:,}",
            deliveries.arrived(row),
            ", ".join(words for words, _ in deliveries.besides(row)),
            line(names[row.project]),
        ]
        for row in session_rows
    ]
    notes = [cut(line(deliveries.session_title(row)), TITLE_MOST) for row in session_rows]
    headers = ["", "SESSION", "SEEN", "SENT", "ARRIVED", "", "PROJECT"]
    return Result(
        data,
        lambda out: out.table(headers, cells, flex=(6, 5), right=(2, 3, 4), notes=notes),
        *(rest, older, "What one session got: memtui activity ID"),
    )


def _data(row: core.Session) -> "dict[str, object]":
    started, last = (None if at is None else clock.iso(at) for at in (row.started, row.last))
    return {
        **picked(row, "id project cwd mode kind live title branch transcript deliveries uses characters"),
        "started": started,
        "last": last,
        "receipts": picked(row.counts, "settled arrived previewed lost waiting unknown"),
        "recalls": picked(row.recalls, RECALLS),
    }
