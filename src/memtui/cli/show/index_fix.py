"""What a fix of MEMORY.md would write: shown, and asked about, before it is written."""

from memtui.cli.context import Context
from memtui.cli.output import line
from memtui.cli.show import diff
from memtui.core.health.index_report import Report
from memtui.present.fixes import below


def confirm(ctx: Context, reports: "list[Report]", *, yes: bool) -> None:
    """Show what would be written, and ask a person about it; without a terminal --fix counts as a yes.

    Raises MemtuiError for no.
    """
    show(ctx, reports)
    if ctx.can_ask and not ctx.out.json and not yes:
        names = ", ".join(f"MEMORY.md of {line(each.scope.shown)}" for each in reports)
        ctx.confirm(f"Write {names}?", "Nothing was written.")


def show(ctx: Context, reports: "list[Report]") -> None:
    """Print what would be written. With --json print nothing: the answer holds the diff."""
    for each in [] if ctx.out.json else reports:
        ctx.out.heading(line(each.scope.shown), line(ctx.tilde(each.scope.index_path)))
        diff.show(ctx.out, each.index.raw, each.fixed)
        if words := below(each):
            ctx.out.print(line(words))


def text(report: Report) -> str:
    """Return the diff of an index for --json."""
    return "\n".join(diff.lines(report.index.raw, report.fixed))
