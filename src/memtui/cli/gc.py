"""`memtui gc`: what is kept no longer goes. A worker does the same once a day."""

import argparse
import os

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core import clock, retention
from memtui.core.changes import storage_error
from memtui.core.errors import EXIT_FAILED
from memtui.core.finding import some
from memtui.core.retention import Due, Limits
from memtui.core.words import ago, many, size

# A worker has no hurry; a person waits for a month of a gigabyte to be written anew.
WAIT_SECONDS = 10.0


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "gc",
        run,
        "remove for good what is kept no longer",
        "memtui gc --dry-run\nmemtui gc",
        "Old changes, the contents that only they held, the texts of old deliveries, trust in texts that are gone,"
        " files of writers that were killed. No undo brings any of it back. While sessions run it is done once a day;"
        " `memtui config list` says how long things are kept.",
    )
    found.add_argument("--dry-run", action="store_true", help="only say what would go")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Remove what is due, or say what is."""
    ctx.must_have_home()
    keep = retention.limits(ctx.root)
    try:
        if args.dry_run:
            found = retention.due(ctx.root, ctx.now())
        else:
            found = retention.collect(ctx.root, ctx.now(), wait=WAIT_SECONDS)
    except OSError as error:
        raise storage_error(error, str(error.filename or ctx.root)) from error
    kept = {
        "undo_days": keep.undo_days,
        "undo_changes": keep.undo_changes,
        "texts_days": keep.texts_days,
        "trust_days": keep.trust_days,
    }
    data = {"dry_run": args.dry_run, "kept": kept, **found.data()}
    code = EXIT_FAILED if found.busy else 0
    return Result(data, lambda out: _print(ctx, out, found, keep, dry=args.dry_run), code)


def _print(ctx: Context, out: Output, found: Due, keep: Limits, *, dry: bool) -> None:
    rows = [(what, words) for what, words in _rows(found, keep, dry=dry) if words]
    for what, words in rows:
        first, *rest = out.wrapped(words, 12)
        out.print(f"  {out.style(f'{what:<9}', 'bold')} {first}")
        for each in rest:
            out.print(" " * 12 + each)
    for each in found.busy:
        out.print("  " + out.style(f"! {line(each)}", "yellow"))
    if not rows:
        out.print("Nothing is due." if not found.busy else "Nothing else was due.")
    elif dry:
        out.print("Nothing was removed. `memtui gc` does it, for good: no undo brings it back.")
    else:
        out.print("That is gone for good.")
    if found.oldest:
        out.print(f"The oldest change kept is of {ago(clock.parse(found.oldest), ctx.now())}: memtui undo --list")


def _rows(found: Due, keep: Limits, *, dry: bool) -> "list[tuple[str, str]]":
    can = "can't be undone then" if dry else "can't be undone any more"
    limits = [f"older than {many(keep.undo_days, 'day')}"] if keep.undo_days else []
    limits += [f"beyond the newest {keep.undo_changes:,}"] if keep.undo_changes else []
    changes = f"{many(found.changes, 'change')} {' or '.join(limits)}: they {can}" if found.changes else ""
    restored = "can't be restored then" if dry else "can't be restored any more"
    number = many(len(found.deleted), "deleted memory", "deleted memories")
    deleted = f"{number} {restored}: {some([line(name) for name in found.deleted])}" if found.deleted else ""
    contents = f"{many(found.images, 'old content')} in the trash, {size(found.image_bytes)}" if found.images else ""
    names = some([os.path.basename(path) for path in found.months])
    less = f"{size(max(0, found.text_bytes))} {'of logs to be written anew' if dry else 'less'}"
    ago_words = f"more than {many(keep.texts_days, 'day')} ago"
    texts = f"the texts of what was delivered {ago_words}: {names} ({less}); the records stay"
    trusted = [f"{many(found.trusted, 'trusted text')} that no memory has had for {many(keep.trust_days, 'day')}"]
    trusted += (
        [f"{many(len(found.directories), 'repository', 'repositories')} that are gone"] if found.directories else []
    )
    files = f"{many(len(found.temporary), 'file')} of writers that were killed" if found.temporary else ""
    return [
        ("undo", changes),
        ("trash", deleted),
        ("contents", contents),
        ("texts", texts if found.months else ""),
        ("trust", ", ".join(trusted) if found.trusted or found.directories else ""),
        ("files", files),
    ]
