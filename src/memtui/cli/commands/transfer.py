"""`memtui import` and `memtui export`: memories from elsewhere as drafts, and memories as files."""

import argparse
import os

from memtui.backfill import begun
from memtui.cli import memories, parser, past_sessions
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import when
from memtui.core.base.errors import NotFoundError, UsageError
from memtui.core.base.shell import shell_word
from memtui.core.base.short_ids import short_id
from memtui.transfer import limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.core.memories.memory import Memory
    from memtui.transfer.importing import ImportPlan
    from memtui.transfer.recognising import ImportSource

SESSIONS = "sessions"  # what is imported then is no file
KINDS = ("claude-mem", "claude-md", "markdown")
NOT_EXPORTED = ("instructions", "team")  # kinds of scopes
FIRST = 10  # drafts that are listed


def register(commands: "parser.Commands") -> None:
    found = parser.command(
        commands,
        "import",
        import_,
        "drafts from files, or from past sessions",
        "memtui import sessions --dry-run\nmemtui import sessions --since 30d --project .\n"
        "memtui import CLAUDE.md\nmemtui import ~/.claude-mem --dry-run\nmemtui import notes/ --scope global",
        "PATH is a Markdown file, a folder of them (also one that `memtui export` wrote), a CLAUDE.md, or a claude-mem"
        " database; memtui tells by its content which. All of it waits in the inbox until you approve it, without"
        " secrets, and without what is known already. `sessions` reads"
        " the transcripts of all projects that are on disk, or those of --project, for what you said that is most worth"
        " keeping, without a model; again, it reads only what is new; interrupted, it keeps what it has read.",
    )
    found.add_argument("path", metavar="PATH|sessions", help="a file or a folder (./sessions for one of that name)")
    found.add_argument("--since", metavar="WHEN", help=f"with sessions: what was said since then: {when.BACK}")
    found.add_argument("--from", dest="kind", choices=KINDS, metavar="KIND", help="what it is: " + ", ".join(KINDS))
    found.add_argument("--scope", help="where to: project, global, auto, agent:NAME")
    limit = f"the most drafts at once (default: {limits.MOST}, of sessions {begun.MOST}; 0: all)"
    found.add_argument("--limit", type=parser.count, metavar="N", help=limit)
    found.add_argument("--again", action="store_true", help="also what you decided on after an earlier import")
    found.add_argument("--dry-run", action="store_true", help="show what would be written")
    found = parser.command(
        commands,
        "export",
        export,
        "memories as files: a scope, or one memory",
        "memtui export global\nmemtui export prefer-pnpm\nmemtui export --all --to everything",
        "A scope becomes a folder of its memories and its MEMORY.md, byte for byte; --all gives each scope a folder in"
        " it; a memory becomes a file. `memtui import PATH` makes drafts of them again.",
    )
    found.add_argument("scope", nargs="?", metavar="SCOPE|NAME", help="global, project, auto, agent:NAME, or a memory")
    found.add_argument("--all", action="store_true", help="all scopes, and the auto memory of every project")
    found.add_argument("--to", metavar="PATH", help="where to (default: memtui-SCOPE or NAME.md here)")


def import_(ctx: Context, args: argparse.Namespace) -> Result:
    from memtui.transfer import importing, recognising

    if args.path == SESSIONS:
        if args.kind or args.scope or args.again:
            raise UsageError(
                "sessions takes only --since, --limit and --dry-run.", "A folder: memtui import ./sessions"
            )
        return past_sessions.run(ctx, args)
    if args.since:
        raise UsageError("--since is for past sessions.", f"memtui import sessions --since {shell_word(args.since)}")
    ctx.must_have_home()
    project = "" if args.scope else os.path.basename(ctx.project_root)
    source = recognising.read(args.path, args.kind or "", project=project, config_dir=ctx.config_dir)
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
        "known": plan.known,
        "decided": plan.decided,
        "left": plan.left,
        "skipped": source.found.skipped,
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


def _print_skipped(out: Output, lines: "list[str]") -> None:
    if lines:
        out.print("Left out:")
        for each in lines:
            out.paragraph(each, "  ")


def export(ctx: Context, args: argparse.Namespace) -> Result:
    """Export scopes to a folder, or a memory to a file."""
    from memtui.present import transfers
    from memtui.transfer import exporting

    ctx.must_have_home()
    if bool(args.scope) == args.all:
        labels = ", ".join(scope.shown for scope in memories.chosen_scopes(ctx, None) if scope.kind not in NOT_EXPORTED)
        raise UsageError("Give a SCOPE or a NAME, or --all.", f"There are the scopes {labels}.")
    memory = None if args.all else _memory(ctx, args.scope)
    if memory is not None:
        exported = exporting.collect_one(memory)
        path = os.path.abspath(args.to or os.path.basename(memory.path))
        exporting.write_one(exported, path)
    else:
        wanted = memories.chosen_scopes(ctx, args.scope, all_projects=args.all)
        if args.all:
            wanted = [scope for scope in wanted if scope.kind not in NOT_EXPORTED]
        exported = exporting.collect(wanted)
        path = os.path.abspath(args.to or exporting.default_name(args.scope or "all"))
        exporting.write(exported, path)
    data = {
        "path": path,
        "scopes": [{"scope": label, "memories": count} for label, count in exported.counts.items()],
        "memories": exported.memories,
        "skipped": exported.skipped,
        "others": exported.others,
        "secrets": [{"memory": part.where, "kinds": part.why} for part in exported.secrets],
    }

    def text(out: Output) -> None:
        out.paragraph(transfers.exported(exported))
        out.exact(f"wrote  {line(ctx.tilde(path))}")
        for sentence in transfers.beside(exported):
            out.paragraph(sentence)
        _print_skipped(out, transfers.skipped(exported.skipped))
        out.say(transfers.elsewhere(exported, os.path.basename(path)))

    return Result(data, text)


def _memory(ctx: Context, word: str) -> "Memory | None":
    """Return the memory that a word names, None if it names a scope or nothing."""
    if any(word in {scope.label, scope.shown} for scope in ctx.store().scopes()):
        return None
    try:
        return ctx.store().find(word)
    except NotFoundError:
        return None
