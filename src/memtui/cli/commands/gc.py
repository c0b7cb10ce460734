"""`memtui gc`: remove what was kept long enough. A worker does the same once a day."""

import argparse

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import clock
from memtui.core.base.errors import EXIT_FAILED
from memtui.core.base.phrasing import ago
from memtui.core.health import fixes, retention
from memtui.core.health.retention import Due, Limits
from memtui.present.fixes import due as due_words


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "gc",
        run,
        "delete old data for good",
        "memtui gc --dry-run\nmemtui gc",
        "It deletes old changes and their contents, the texts of old deliveries, trust in texts that are gone,"
        " old versions of memories, and temporary files of killed processes. None of it can be undone. memtui also does"
        " this once a day; `memtui config list` shows how long data is kept.",
    )
    found.add_argument("--dry-run", action="store_true", help="only show what would be deleted")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Remove what is due, or with --dry-run only report it."""
    ctx.must_have_home()
    keep = retention.limits(ctx.root)
    found = fixes.due(ctx.store()) if args.dry_run else fixes.collect(ctx.store())
    data = {"dry_run": args.dry_run, "kept": vars(keep), **found.data()}
    code = EXIT_FAILED if found.busy else 0
    return Result(data, lambda out: _print(ctx, out, found, keep, dry=args.dry_run), code)


def _print(ctx: Context, out: Output, found: Due, keep: Limits, *, dry: bool) -> None:
    rows = due_words(found, keep, dry=dry)
    for kind, words in rows:
        first, *rest = out.wrapped(line(words), 12)
        out.print(f"  {out.style(f'{kind:<9}', 'bold')} {first}")
        for each in rest:
            out.print(" " * 12 + each)
    for each in found.busy:
        out.print("  " + out.style(f"! {line(each)}", "yellow"))
    if not rows:
        out.print(
            "Nothing is old enough to be deleted." if not found.busy else "Nothing else was old enough to be deleted."
        )
    elif dry:
        out.print("Nothing was deleted. `memtui gc` deletes it for good; this can't be undone.")
    else:
        out.print("Deleted for good.")
    if found.oldest:
        out.print(f"The oldest change kept was made {ago(clock.parse(found.oldest), ctx.now())}: memtui undo --list")
