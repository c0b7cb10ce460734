"""`memtui import` and `memtui export`: memories from elsewhere as drafts, and memories as files."""

import argparse
import os

from memtui.base import dates
from memtui.base.errors import UsageError
from memtui.base.phrasing_hot import many, size
from memtui.base.shell import shell_word
from memtui.base.short_ids import short_id
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Result, line, narrate, picked
from memtui.client.agents import programs
from memtui.client.agents.program import PROGRAM
from memtui.learn.backfill import progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.learn.backfill.past_sessions import BackfillReading

SESSIONS = "sessions"  # what is imported then is no file
FIRST = 10  # drafts, and parts that were left out, that are listed
LISTED = "`{}` lists them, `memtui approve ID` makes one a memory, `memtui undo` undoes it all."


@parser.command("import", back=dates.BACK, most=progress.MOST)
def import_(ctx: Context, args: argparse.Namespace) -> Result:
    from memtui.transfer import import_plan
    from memtui.views import drafts

    if args.path == SESSIONS:
        if args.scope:
            raise UsageError("sessions takes no --scope.", "A folder: memtui import ./sessions")
        return _sessions(ctx, args)
    if args.since:
        raise UsageError("--since is for past sessions.", f"memtui import sessions --since {shell_word(args.since)}")
    project = "" if args.scope else os.path.basename(ctx.project_root)
    source = import_plan.read(args.path, project=project, config_dir=ctx.config_dir)
    store, most = ctx.store(), import_plan.MOST if args.limit is None else args.limit
    plan = import_plan.plan(store, source, scope=args.scope or "", most=most)
    transaction_id = "" if args.dry_run else plan.write(store, os.path.basename(source.path))
    data: dict[str, object] = {"path": source.path, "kind": source.kind, "what": source.said, "dry_run": args.dry_run}
    data["drafts"] = [
        {"id": draft.id, "name": draft.name, "scope": draft.scope, "source": draft.incoming.where}
        | picked(draft.incoming, "type description")
        for draft in plan.drafts
    ]
    data |= picked(plan, "known decided left secrets")
    data |= {"skipped": source.skipped, "notes": source.notes, "transaction": transaction_id or None}

    headers, more = ["ID" if transaction_id else "", "SCOPE", "NAME", "DESCRIPTION"], len(plan.drafts) - FIRST
    first = plan.drafts[:FIRST]
    ids = [(short_id(draft.id) if transaction_id else "", "cyan") for draft in first]
    facts = [map(line, (draft.scope, draft.name, draft.incoming.description)) for draft in first]
    rows = [[key, *words] for key, words in zip(ids, facts, strict=True)]
    return Result(
        data,
        lambda out: out.heading(line(ctx.tilde(source.path)), line(source.said)),
        lambda out: out.table(headers, rows, indent="  "),
        f"  and {more:,} more" if more > 0 else "",
        *drafts.imported(plan, is_done=bool(transaction_id)),
        *_left_out(drafts.skipped(source.skipped)),
        narrate(LISTED.format("memtui inbox") if transaction_id else ""),
    )


def _sessions(ctx: Context, args: argparse.Namespace) -> Result:
    from memtui.learn.backfill import past_sessions, ranking
    from memtui.views import drafts

    since = dates.read(args.since, ctx.now(), ahead=False) if args.since else 0.0
    if since is None or since == dates.NEVER or since > ctx.now():
        why = "is still to come" if since is not None and since > ctx.now() else "is not a time"
        raise UsageError(f"--since: “{args.since}” {why}.", f"Use one of: {dates.BACK}.")
    project = ctx.project_root if ctx.project_given else ""

    def show(at: "BackfillReading") -> bool:
        share = f"{size(at.bytes)} of {size(at.all_bytes)}, {at.files} of {at.all_files} files, {at.drafts} found"
        return ctx.out.progress(share)

    dry, most = args.dry_run, progress.MOST if args.limit is None else args.limit
    try:
        reading = past_sessions.read(ctx.env, since=since, project=project, dry=dry, go_on=show)
    except KeyboardInterrupt:
        outcome = "Nothing was kept." if dry else "What was read is kept: the next run goes on from there."
        ctx.out.say(f"Stopped. {outcome}")
        raise
    finally:
        ctx.out.progress("")
    store = ctx.store()
    offer = ranking.plan(store, reading.candidates, most=most, since=since, project=project)
    transaction_id = "" if dry else offer.write(store)
    data: dict[str, object] = {"dry_run": dry, "files": reading.files, "bytes": reading.bytes}
    data["drafts"] = [
        picked(draft.candidate.draft, "name kind scope description durable")
        | {"id": draft.id, "score": draft.candidate.worth, "folded": draft.folded}
        | picked(draft.candidate, "project confidence")
        | {"seen": draft.candidate.said, "time": draft.candidate.newest}
        for draft in offer.drafts
    ]
    data |= picked(offer, "known one_offs left")
    data |= {"skipped": reading.skipped, "transaction": transaction_id or None}
    skipped = [f"{line(ctx.tilde(part.where))}: {line(part.why)}" for part in reading.skipped]
    skipped = skipped[:FIRST] + [f"and {len(skipped) - FIRST:,} more"] * (len(skipped) > FIRST)
    elsewhere = any(draft.candidate.project not in {"", ctx.project_root} for draft in offer.drafts)
    inbox = "memtui inbox --kind drafts --all-projects" if elsewhere else "memtui inbox"

    rows = [
        [
            (short_id(new.id) if transaction_id else "", "cyan"),
            " · ".join(drafts.odds(new.candidate.confidence, new.candidate.draft.durable, new.candidate.said)),
            line("global" if new.candidate.draft.scope == "global" else ctx.tilde(new.candidate.project)),
            line(new.candidate.draft.description),
        ]
        for new in offer.drafts
    ]
    headers = ["ID" if transaction_id else "", "HOW SURE", "WHERE", "DRAFT"]
    details = [f"{offer.known:,} known already, waiting or decided on"] if offer.known else []
    verb = "Added" if transaction_id else "Would add"
    added = f"{verb} {many(len(rows), 'draft')}" if rows else "No new draft was found"
    summary = f"Read {size(reading.bytes)} in {many(reading.files, 'transcript')}."
    return Result(
        data,
        summary if reading.bytes else _nothing(ctx, reading),
        lambda out: out.table(headers, rows, indent="  "),
        "; ".join([added, *offer.more_words, *details]) + ".",
        *_left_out(skipped),
        narrate(LISTED.format(inbox) if transaction_id else ""),
    )


def _nothing(ctx: Context, reading: "BackfillReading") -> str:
    if reading.there:
        return "No transcript is new since the last time."
    present = [program for program in programs.every() if program is PROGRAM or program.is_present(ctx.env)]
    places = line(", ".join(ctx.tilde(program.home(ctx.env)) for program in present))
    return f"No transcript could be read in {places}." if reading.skipped else f"No transcript is in {places}."


def _left_out(lines: "list[str]") -> "list[str]":
    return ["Left out:" * bool(lines), *(f"  {other}" for other in lines)]


@parser.command("export")
def export(ctx: Context, args: argparse.Namespace) -> Result:
    from memtui.store import scopes
    from memtui.transfer import export_folder
    from memtui.views import drafts

    exported = export_folder.collect(scopes.named(ctx.env, ctx.cwd, args.scope))
    path = os.path.abspath(args.to or export_folder.default_name(args.scope))
    export_folder.write(exported, path)
    secrets = [{"memory": part.where, "kinds": part.why} for part in exported.secrets]
    data = {"path": path, **picked(exported, "scope memories skipped"), "secrets": secrets}
    return Result(
        data,
        drafts.exported(exported),
        lambda out: out.exact(f"wrote  {line(ctx.tilde(path))}"),
        *drafts.beside(exported),
        *_left_out(drafts.skipped(exported.skipped)),
        narrate(drafts.elsewhere(exported, os.path.basename(path))),
    )
