"""`memtui learned`: what your decisions on drafts have taught, and the way to forget it."""

import argparse

from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result
from memtui.core.base.phrasing import many
from memtui.core.review import taught
from memtui.core.review.taught import Taught

WORDS = {"approved": "approved", "edited": "approved after an edit", "rejected": "rejected", "never": "never again"}


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "learned",
        run,
        "show what your decisions on drafts taught",
        "memtui learned\nmemtui learned --reset",
        "What you approve and reject moves the scores of later drafts, for you and for each project, after the next"
        " turn; a draft that you rewrote before you approved it counts less. Numbers are kept, no words. Messages of"
        " others, which memtui ships as numbers, are never judged worse by more than 2 in 100. Undone decisions"
        " don't count; `memtui config set extract_learn false` stops it.",
    )
    found.add_argument("--reset", action="store_true", help="forget it; memtui undo undoes that")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Show it, or forget it."""
    ctx.must_have_home()
    if args.reset:
        changed = taught.forget(ctx.root, ctx.journal())

        def told(out: Output) -> None:
            out.print("Forgotten: drafts are judged as memtui ships it." if changed else "Nothing was learned yet.")
            memories.say_undo(out, int(changed))

        return Result({"reset": changed}, told)
    found = taught.look(ctx.root, ctx.journal())
    return Result(found.data(), lambda out: _print(out, found))


def _print(out: Output, found: Taught) -> None:
    waits = many(found.waiting, "decision waits; it counts", "decisions wait; they count") + " after the next turn"
    if not found.total:
        if found.waiting:
            out.print(f"Nothing was learned yet: {waits}.")
        else:
            out.print("Nothing was learned yet: approve or reject drafts (memtui inbox).")
        return
    counts = ", ".join(f"{count} {WORDS.get(name, name)}" for name, count in sorted(found.counts.items()))
    rows = [("decisions", f"{found.total}: {counts}")]
    rows += [("waiting", waits)] if found.waiting else []
    rows += [("projects", str(found.projects))] if found.projects else []
    rows += [("now", f"memtui {found.judged}")] if found.judged else []
    if found.halved:
        rows.append(("held back", "your decisions count less than they could, so that it judges others no worse"))
    out.facts(rows)
    out.say("Forget it: memtui learned --reset")
