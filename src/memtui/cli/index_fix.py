"""What is shown and asked before the lines of MEMORY.md are fixed."""

from memtui.cli import diff
from memtui.cli.context import Context
from memtui.cli.output import line
from memtui.core.health.index_report import Report


def ask(ctx: Context, todo: "list[Report]", *, yes: bool) -> None:
    """Show what would be written and ask whether it shall be, where somebody is there to answer; --fix says it already.
    Raises MemtuiError for no."""
    show(ctx, todo)
    if ctx.can_ask and not ctx.out.json and not yes:
        names = ", ".join(f"MEMORY.md of {line(each.scope.label)}" for each in todo)
        ctx.confirm(f"Write {names}?", "Nothing was written.")


def show(ctx: Context, todo: "list[Report]") -> None:
    """Print what would be written, unless the answer is JSON, which holds it."""
    for each in [] if ctx.out.json else todo:
        ctx.out.heading(line(each.scope.label), line(ctx.tilde(each.scope.index_path)))
        diff.show(ctx.out, each.index.raw, each.fixed)


def text(each: Report) -> str:
    """Write the diff of an index for --json."""
    return "\n".join(diff.lines(each.index.raw, each.fixed))
