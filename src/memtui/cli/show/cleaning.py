"""`memtui doctor --clean`: remove what was kept long enough. A worker does the same once a day."""

from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import clock
from memtui.core.base.errors import EXIT_FAILED
from memtui.core.base.phrasing import ago
from memtui.core.health import fixes, retention
from memtui.core.health.retention import Due, Limits
from memtui.present.fixes import due as due_words


def run(ctx: Context, *, dry: bool) -> Result:
    """Remove what is due, or if `dry` only report it."""
    keep = retention.limits(ctx.root)
    found = fixes.due(ctx.store()) if dry else fixes.collect(ctx.store())
    data = {"dry_run": dry, "kept": vars(keep), **found.data()}
    code = EXIT_FAILED if found.busy else 0
    return Result(data, lambda out: _print(ctx, out, found, keep, dry=dry), code)


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
        out.print("Nothing was deleted. `memtui doctor --clean` deletes it for good; this can't be undone.")
    else:
        out.print("Deleted for good.")
    if found.oldest:
        out.print(f"The oldest change kept was made {ago(clock.parse(found.oldest), ctx.now())}: memtui undo --list")
