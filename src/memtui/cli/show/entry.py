"""One entry of an inbox, whole: what it says, where it comes from, and what it would become."""

from memtui.cli.context import Context
from memtui.cli.entries import as_data, pick, states
from memtui.cli.output import Output, Result, line
from memtui.cli.show import draft
from memtui.cli.show import entries as shown
from memtui.cli.show.changed import whole
from memtui.core.base.errors import NotFoundError
from memtui.core.base.phrasing import ago
from memtui.core.review import changed
from memtui.core.review.waiting import KINDS

TITLES = {"guidance": "Note", "updates": "Draft", "items": "Todo"}


def one(ctx: Context, ref: str) -> Result:
    """Show an entry by its id, or a memory that others changed by its name. Raises NotFoundError, ConflictError."""
    try:
        item = pick(ctx, ref, KINDS, "entry")
    except NotFoundError:
        ctx.look()
        try:
            found = changed.find(ctx.changed(every=True), ref)
        except NotFoundError:
            found = None
        if found is None:
            raise
        return whole(ctx, found)
    more = None if item.kind == "guidance" else draft.DraftDetails(ctx, item)

    def text(out: Output) -> None:
        now = ctx.now()
        out.heading(f"{TITLES[item.kind]} {line(item.id)}", ago(item.entry.time(), now))
        for state in states(ctx, item):
            out.print("  " + (state if item.kind == "items" else out.style(f"! {state}", "yellow")))
        place = shown.place(ctx, item, shown.homes_of(ctx, [item]))
        for fact in [place, *shown.details(item, now, shown.DraftTargets(ctx).of(item)), line(ctx.tilde(item.path))]:
            if fact:
                out.print("  " + out.style(fact, "dim"))
        out.print()
        out.paragraph(item.text)
        if more is not None:
            more.print(out)

    return Result({**as_data(ctx, item), **(more.data() if more else {})}, text)
