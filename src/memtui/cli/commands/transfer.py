"""`memtui import` and `memtui export`: memories from elsewhere as drafts, and memories to another machine."""

import argparse
import os

from memtui.backfill import limits as backfill_limits
from memtui.cli import memories, parser, past_sessions
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import when
from memtui.core.base.errors import UsageError
from memtui.core.base.shell import shell_word
from memtui.core.base.short_ids import short_id
from memtui.transfer import limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.transfer.importing import ImportPlan
    from memtui.transfer.recognising import ImportSource
    from memtui.transfer.restoring import RestorePlan

SESSIONS = "sessions"  # what is imported then is no file
KINDS = ("memtui", "letta", "claude-mem", "basic-memory", "claude-md", "markdown")
NOT_EXPORTED = ("instructions", "team")  # kinds of scopes
FIRST = 10  # drafts that are listed


def register(commands: "parser.Commands") -> None:
    """Add the commands."""
    found = parser.command(
        commands,
        "import",
        import_,
        "drafts from files, or from past sessions",
        "memtui import sessions --dry-run\nmemtui import sessions --since 30d --project .\n"
        "memtui import agent.af\nmemtui import ~/.claude-mem --dry-run\nmemtui import notes/ --scope global\n"
        "memtui import memtui-global.zip --restore",
        "PATH is a Letta agent file, a claude-mem database, notes of basic-memory, a CLAUDE.md, Markdown files, or an"
        " export of memtui; memtui tells by its content which. All of it waits in the inbox until you approve it,"
        " without secrets, and without what is known already. Only --restore writes memories at once. `sessions` reads"
        " the transcripts of all projects that are on disk, or those of --project, for what you said that is most worth"
        " keeping, without a model; again, it reads only what is new; interrupted, it keeps what it has read.",
    )
    found.add_argument(
        "path", metavar="PATH|sessions", help="a file, a folder (./sessions for one of that name), an archive"
    )
    found.add_argument("--since", metavar="WHEN", help=f"with sessions: what was said since then: {when.BACK}")
    found.add_argument("--from", dest="kind", choices=KINDS, metavar="KIND", help="what it is: " + ", ".join(KINDS))
    found.add_argument("--scope", help="where to: project, global, auto, agent:NAME")
    limit = f"the most drafts at once (default: {limits.MOST}, of sessions {backfill_limits.MOST}; 0: all)"
    only = "of an export, only this scope of it (can be given several times)"
    found.add_argument("--only", action="append", default=[], metavar="SCOPE", help=only)
    found.add_argument("--limit", type=parser.count, metavar="N", help=limit)
    found.add_argument("--again", action="store_true", help="also what you decided on after an earlier import")
    found.add_argument("--restore", action="store_true", help="write the memories of an export back as they were")
    found.add_argument("--dry-run", action="store_true", help="show what would be written")
    found.add_argument("--yes", action="store_true", help="restore without asking")
    found = parser.command(
        commands,
        "export",
        export,
        "memories of a scope, for another machine",
        "memtui export global\nmemtui export project --to shop.zip\nmemtui export --all --to everything.tar.gz",
        "PATH becomes a folder, or an archive if it ends in .zip or .tar.gz. `memtui import PATH --restore` brings the"
        " memories back byte for byte, with the index and their triggers.",
    )
    found.add_argument("scope", nargs="?", metavar="SCOPE", help="global, project, auto, agent:NAME")
    found.add_argument("--all", action="store_true", help="all scopes, and the auto memory of every project")
    found.add_argument("--to", metavar="PATH", help="where to (default: memtui-SCOPE.zip here)")


def import_(ctx: Context, args: argparse.Namespace) -> Result:
    """Import a source as drafts, or restore an archive."""
    from memtui.transfer import archive, importing, recognising

    if args.path == SESSIONS:
        if args.kind or args.scope or args.only or args.again or args.restore:
            raise UsageError(
                "sessions takes only --since, --limit and --dry-run.", "A folder: memtui import ./sessions"
            )
        return past_sessions.run(ctx, args)
    if args.since:
        raise UsageError("--since is for past sessions.", f"memtui import sessions --since {shell_word(args.since)}")
    ctx.must_have_home()
    project = "" if args.scope else os.path.basename(ctx.project_root)
    source = recognising.read(args.path, args.kind or "", project=project, config_dir=ctx.config_dir)
    if args.only and source.archive is None:
        raise UsageError(f"--only is for an export of memtui; this is {source.found.said}.", "Leave out --only.")
    if args.restore:
        return _restore(ctx, args, source)
    if source.archive is not None and args.only:
        source = source._replace(found=archive.as_found(archive.only(source.archive, args.only)))
    store = ctx.store()
    plan = importing.plan(
        store,
        source.found,
        scope=args.scope or "",
        most=limits.MOST if args.limit is None else args.limit,
        again=args.again,
    )
    done = "" if args.dry_run else plan.write(store, os.path.basename(source.path))
    data = {
        "path": source.path,
        "kind": source.found.kind,
        "what": source.found.said,
        "dry_run": args.dry_run,
        "drafts": [
            {
                "id": each.id,
                "name": each.name,
                "scope": each.scope,
                "type": each.given.type,
                "description": each.given.description,
                "source": each.given.where,
            }
            for each in plan.drafts
        ],
        "known": [each._asdict() for each in plan.known],
        "decided": plan.decided,
        "left": plan.left,
        "skipped": [each._asdict() for each in source.found.skipped],
        "secrets": dict(plan.secrets),
        "notes": source.found.notes,
        "transaction": done or None,
    }
    return Result(data, lambda out: _print(ctx, out, source, plan, done))


def _print(ctx: Context, out: Output, source: "ImportSource", plan: "ImportPlan", done: str) -> None:
    from memtui.present import transfers

    out.heading(line(ctx.tilde(source.path)), line(source.found.said))
    rows = [
        [(short_id(each.id) if done else "", "cyan"), line(each.scope), line(each.name), line(each.given.description)]
        for each in plan.drafts[:FIRST]
    ]
    if rows:
        out.table(["ID" if done else "", "SCOPE", "NAME", "DESCRIPTION"], rows, indent="  ")
        if len(plan.drafts) > FIRST:
            out.print(f"  and {len(plan.drafts) - FIRST:,} more")
    for each in transfers.imported(plan, done=bool(done)):
        out.paragraph(each)
    _print_skipped(out, transfers.skipped(source.found.skipped))
    if done:
        out.say("`memtui inbox` lists them, `memtui approve ID` makes one a memory; memtui undo takes them back.")
    elif source.archive is not None and source.archive.scopes:
        out.say(f"To write them back as they were: memtui import --restore {shell_word(source.path)}")


def _print_skipped(out: Output, lines: "list[str]") -> None:
    if lines:
        out.print("Left out:")
        for each in lines:
            out.paragraph(each, "  ")


def _restore(ctx: Context, args: argparse.Namespace, source: "ImportSource") -> Result:
    """Write the memories of an archive back, after a person saw what that does."""
    from memtui.present import transfers
    from memtui.transfer import restoring

    if source.archive is None:
        raise UsageError(
            f"--restore is for an export of memtui; this is {source.found.said}.",
            "Without --restore it is imported as drafts.",
        )
    store = ctx.store()
    plan = restoring.plan(store, source.archive, scope=args.scope or "", only=args.only)
    if plan.changes and not args.dry_run and not args.yes:
        if not ctx.out.json:
            skipped = transfers.skipped(plan.skipped)
            left = ["Left out:", *(f"  {each}" for each in skipped)] if skipped else []
            for each in [*transfers.restored(plan, done=False), *_listed(plan), *left]:
                ctx.out.say(each)
        ctx.confirm("Write them?", "Nothing was restored.")
    done = "" if args.dry_run else plan.write(store, os.path.basename(source.path))
    data = {
        "path": source.path,
        "kind": source.found.kind,
        "what": source.found.said,
        "dry_run": args.dry_run,
        "restored": plan.new,
        "same": plan.same,
        "conflicts": plan.conflicts,
        "skipped": [each._asdict() for each in plan.skipped],
        "notes": plan.notes,
        "transaction": done or None,
    }

    def text(out: Output) -> None:
        out.heading(line(ctx.tilde(source.path)), line(source.found.said))
        for each in transfers.restored(plan, done=bool(done)):
            out.paragraph(each)
        if args.dry_run:
            for each in _listed(plan):
                out.print(each)
        _print_skipped(out, transfers.skipped(plan.skipped))
        memories.say_undo(out, len(plan.new) if done else 0)

    return Result(data, text)


def _listed(plan: "RestorePlan") -> "list[str]":
    more = len(plan.new) - FIRST
    return [*(f"  + {line(each)}" for each in plan.new[:FIRST]), *([f"  and {more:,} more"] if more > 0 else [])]


def export(ctx: Context, args: argparse.Namespace) -> Result:
    """Export scopes to a folder or an archive."""
    from memtui.present import transfers
    from memtui.transfer import exporting

    ctx.must_have_home()
    if bool(args.scope) == args.all:
        labels = ", ".join(each.shown for each in memories.chosen_scopes(ctx, None) if each.kind not in NOT_EXPORTED)
        raise UsageError("Give a SCOPE, or --all.", f"There are: {labels}.")
    wanted = memories.chosen_scopes(ctx, args.scope, all_projects=args.all)
    if args.all:
        wanted = [each for each in wanted if each.kind not in NOT_EXPORTED]
    found = exporting.collect(ctx.env, wanted)
    path = os.path.abspath(args.to or exporting.default_name(args.scope or "all"))
    exporting.write(found, path)
    data = {
        "path": path,
        "scopes": [{"scope": each.label, "memories": len(each.memories)} for each in found.scopes],
        "memories": found.memories,
        "skipped": [each._asdict() for each in found.skipped],
        "others": found.others,
        "secrets": [{"memory": each.where, "kinds": each.why} for each in found.secrets],
    }

    def text(out: Output) -> None:
        out.paragraph(transfers.exported(found))
        out.exact(f"wrote  {line(ctx.tilde(path))}")
        for each in transfers.beside(found):
            out.paragraph(each)
        _print_skipped(out, transfers.skipped(found.skipped))
        out.say(f"On the other machine: memtui import --restore {shell_word(os.path.basename(path))}")

    return Result(data, text)
