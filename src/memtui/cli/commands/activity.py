"""`memtui activity`: what sessions got, why, and whether it arrived; the sessions, and what one got."""

import argparse
import itertools
import sys
import time
from typing import Any

from memtui.base import clock_hot, dates, ids_hot, paths_hot, short_ids
from memtui.base.errors import NotFoundError, UsageError
from memtui.base.phrasing_hot import age, ago, many
from memtui.base.short_ids import short_id
from memtui.cli import entries, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe, styled
from memtui.client import projects
from memtui.client.agents import agents_hot
from memtui.client.transcripts import transcript_hot
from memtui.deliver import log_hot, receipts_hot
from memtui.deliver import sessions as core
from memtui.deliver.filter import LOST, Filter
from memtui.deliver.log_queries import Reading, Receipts
from memtui.deliver.record import RECALL, Delivery, Item, session_kind
from memtui.deliver.record import titles as names_in
from memtui.models.subconscious import block_files_hot, runs, trace
from memtui.views import models, notes, rules
from memtui.views.deliveries import EVENTS, KIND_WORD, MEANINGS, OUTCOMES, RECEIPTS, counted, in_short, reason, recalls

LIMIT = 20  # deliveries or sessions in a list
ID_LENGTH = 26  # characters of a ULID
MOST_LOOKED_UP = 5000  # newest deliveries that are read where a filter needs each one's receipt

# By the word for an outcome that the list shows: the outcome; of LOST, which there are several of, the last.
OUTCOME_OF = {word: outcome for outcome, (_, word, _) in OUTCOMES.items()}
OUTCOME_WORDS = [*(word for word in OUTCOME_OF if word != LOST), LOST]
KIND_OPTIONS = [*KIND_WORD.values()]


def _filter(ctx: Context, args: argparse.Namespace) -> Filter:
    since = dates.read(args.since, ctx.now(), ahead=False) if args.since else None
    if args.since and since is None:
        raise UsageError(f"--since: “{args.since}” is not a time.", f"Use one of: {dates.BACK}.")
    return Filter(
        session=args.id or "",
        project="" if args.all_projects or args.id else ctx.slug,
        kind=next((kind for kind, word in KIND_WORD.items() if word == args.kind), ""),
        outcome=args.outcome if args.outcome == LOST else OUTCOME_OF.get(args.outcome, args.outcome or ""),
        text=args.text or "",
        since=None if since == dates.NEVER else since,
    )


@parser.command(
    "activity",
    {
        "kind": {"type": lambda word: KIND_WORD.get(word, word), "choices": KIND_OPTIONS},
        "outcome": {"choices": [*OUTCOME_WORDS, *receipts_hot.LOST]},
    },
    kinds=", ".join(KIND_OPTIONS),
    outcomes=", ".join(OUTCOME_WORDS),
    lost=", ".join(receipts_hot.LOST),
    back=dates.BACK,
    limit=LIMIT,
)
def run(ctx: Context, args: argparse.Namespace) -> Result:
    criteria = _filter(ctx, args)
    if args.id and criteria.but(project="", session=""):
        raise UsageError("An ID takes no filter.", "See `memtui activity --help`.")
    if args.broken:
        return _broken(ctx, args, criteria)
    proofs = Receipts(ctx.env, ctx.now, transcript_hot.Finder(ctx.config_dir))
    if args.id and not _begins_session(ctx, args.id):
        mine = [answer for answer in _answers(ctx, Filter()) if short_ids.is_short_for(args.id.upper(), answer["id"])]
        return _answer(ctx, mine[0]) if len(mine) == 1 else _delivery(ctx, args.id, proofs)
    limit = LIMIT if args.limit is None else args.limit
    most, looked = (log_hot.WINDOW_BYTES, MOST_LOOKED_UP) if limit else (0, 0)
    reading = Reading(ctx.root, criteria, proofs, most=most, looked=looked, follow=False)
    rows = list(itertools.islice(reading.read(), limit or None))
    proofs.look(rows)
    answers = _answers(ctx, criteria)
    data: dict[str, object] = {
        "deliveries": [{**row.record, "outcome": proofs.known.get(row.id, receipts_hot.UNKNOWN)} for row in rows],
        "answers": answers,
        "skipped_lines": reading.skipped,
        "whole_log": not reading.cut,
    }
    data["runs"] = jobs = _runs(ctx, criteria, limit)

    names = projects.names_of_roots(ctx.env, {row.root for row in rows} | {answer["project"] for answer in answers})
    cells = [
        [
            (short_id(answer["id"]), "cyan"),
            age(clock_hot.parse(answer["time"]), ctx.now()),
            ("○ waiting", "cyan"),
            line(answer["session"])[:8],
            line(names[answer["project"]]),
            "answer",
            line(models.answer(answer["question"], answer["text"])),
        ]
        for answer in answers
    ]
    agents = {row.id: agents_hot.name_of(str(row.record.get("transcript") or "")) for row in rows}
    if len(set(agents.values())) < 2:
        agents = dict.fromkeys(agents, "")
    cells += [
        [
            (short_id(row.id), "cyan"),
            age(row.time or None, ctx.now()),
            RECEIPTS[proofs.known.get(row.id, receipts_hot.UNKNOWN)],
            " ".join(filter(None, (line(row.session)[:8], line(session_kind(row.entrypoint)), agents[row.id]))),
            line(names[row.root]),
            line(EVENTS.get(row.event, row.event)),
            line(in_short(row.contents)),
        ]
        for row in rows
    ]
    headers = ["ID", "AGE", "RECEIPT", "SESSION", "PROJECT", "EVENT", "WHAT"]
    part = f"{MOST_LOOKED_UP:,} deliveries" if criteria.outcome else f"{log_hot.WINDOW_BYTES >> 20} MB"
    return Result(
        data,
        (lambda out: out.table(headers, cells, flex=(6, 5, 4), right=(1,))) if cells else _nothing(ctx, criteria),
        f"Only the newest {part} of the log were read; for all of it: --limit 0" if reading.cut else "",
        f"{many(reading.skipped, 'line')} of the log could not be read." if reading.skipped else "",
        f"A model read {many(len(jobs), 'turn')}: memtui model log --runs" if jobs else "",
    )


def _broken(ctx: Context, args: argparse.Namespace, criteria: Filter) -> Result:
    """List the moments at which sessions broke a rule, newest first."""
    if args.kind or args.outcome:
        raise UsageError("--broken goes without --kind and --outcome.", "See `memtui activity --help`.")
    from memtui.rules import counts

    places, words, limit = counts.places_of_breaks(ctx.root), criteria.text.casefold().split(), args.limit
    breaks = [
        row
        for row in rules.breaks(ctx.held)
        if row.moment.session.startswith(criteria.session)
        and criteria.project in {"", paths_hot.project_key(places.get(row.moment.session, ""))}
        and row.moment.time >= (criteria.since or 0.0)
        and all(word in row.searched.casefold() for word in words)
    ][: (LIMIT if limit is None else limit) or None]
    moments = [(row, row.moment, age(row.moment.time, ctx.now())) for row in breaks]
    cells = [
        [when, at.session[:8], (line(row.memory), "bold"), line(row.rule), line(at.line)] for row, at, when in moments
    ]
    headers = ["AGE", "SESSION", "MEMORY", "RULE", "WHAT"]
    text = (lambda out: out.table(headers, cells, flex=(4, 3), right=(0,))) if cells else "No rule was broken."
    return Result({"broken": [row.data() for row in breaks]}, text)


def _answers(ctx: Context, criteria: Filter) -> list[dict[str, Any]]:
    """Return the answers of the model that no session got yet, newest first, if the filter allows answers."""
    if criteria.but(project="", session="", kind="") or criteria.kind not in {"", "guidance"}:
        return []
    seen_ids = block_files_hot.seen_answers(ctx.root)
    return [
        {"id": answer.id, "time": clock_hot.iso(run.time), "session": run.session}
        | {"project": paths_hot.project_root(run.cwd), "question": answer.reply}
        | {"text": answer.text, "seen": answer.id in seen_ids}
        for run in runs.newest_first(ctx.root, session=criteria.session)
        if criteria.project in {"", run.project} and ctx.now() - run.time < runs.EXPIRES
        for answer in run.answers
        if runs.waits(ctx.root, run, answer)
    ]


def _runs(ctx: Context, criteria: Filter, limit: int) -> list[dict[str, object]]:
    """Return the times when a model read sessions that the filter is about."""
    if criteria.but(project="", session="", since=None):
        return []
    jobs = runs.newest_first(ctx.root, limit or sys.maxsize, criteria.session)
    jobs = [run for run in jobs if criteria.project in {"", run.project} and run.time >= (criteria.since or 0.0)]
    return [trace.run_data(ctx.root, run) for run in jobs]


def _nothing(ctx: Context, criteria: Filter) -> str:
    if criteria.but(project=""):
        return "No matches.\n  Of all projects, and of the whole log: --all-projects --limit 0"
    where, others = ("here ", "\n  Other projects: memtui activity --all-projects") if criteria else ("", "")
    ways = f'{notes.at_prompt(ctx.unheard())}\n  Write a note: memtui note "…"' + others
    return f"Nothing was delivered {where}yet.\n  {ways}"


def _begins_session(ctx: Context, ref: str) -> bool:
    if len(ref) < short_ids.MIN_REF or ref != ref.lower():
        return False
    logged = (delivery.session for delivery in core.deliveries(ctx.root, ref))
    return any(name.startswith(ref) for name in itertools.chain(core.states(ctx.root), logged))


def _find(ctx: Context, ref: str) -> Delivery:
    """Find a delivery by its id, or a unique beginning or end. Raises NotFoundError, ConflictError."""
    prefix = ref.strip().lstrip("…").upper()
    matching: dict[str, Delivery] = {}
    for delivery in map(Delivery, log_hot.newest_first(ctx.root, needle=prefix.encode("utf-8", "replace"))):
        if short_ids.is_short_for(prefix, delivery.id):
            if len(matching) <= short_ids.SEVERAL:
                matching.setdefault(delivery.id, delivery)
            if (len(prefix) == ID_LENGTH and delivery.id == prefix) or len(matching) > short_ids.SEVERAL:
                break
    try:
        return matching[short_ids.match(ref, matching, "delivery")]
    except NotFoundError as error:
        hint = error.hint or "`memtui activity` lists deliveries, with their sessions."
        unknown = NotFoundError(f"There is no delivery or session “{ref}”.", hint)
        raise (entries.misnamed(ctx, ref) or unknown) from None


def _answer(ctx: Context, answer: "dict[str, Any]") -> Result:
    """Show an answer of the model, which the person has seen then."""

    def text(out: Output) -> None:
        out.heading(f"Answer {line(answer['id'])}", ago(clock_hot.parse(answer["time"]), ctx.now()))
        out.facts([("question", line(answer["question"])), ("session", line(answer["session"]))], whole=("question",))
        out.print()
        out.exact(safe(answer["text"]))
        out.print("The session gets it with its next prompt.")
        runs.see(ctx.root, [answer["id"]], ctx.now())

    return Result(answer, text)


def _delivery(ctx: Context, ref: str, proofs: Receipts) -> Result:
    delivery = _find(ctx, ref)
    outcome, path = proofs.of(delivery), transcript_hot.path_of(delivery.record, ctx.config_dir)
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
        key = short_id(key) if ids_hot.id_time(key) is not None else key  # of an id the end; a name stays whole
        kind, count = counted(item.kind, 1).partition(" ")[2], "" if item.count is None else str(item.count)
        why = line(item.left_out or reason(item.reason))
        cells.append([kind, key or count, line(item.scope), str(item.chars or ""), why])
        uses = recalls(ctx.usage.recalled(item.path)) if item.kind == RECALL and not item.left_out else ""
        notes.append(uses or (line(name) if name != item.id else ""))
    out.table(["KIND", "ID", "SCOPE", "SIZE", "WHY"], cells, flex=(4, 1), right=(3,), indent="  ", notes=notes)
    out.print()
