"""`memtui keep` and `memtui take-back`: decide about memories that somebody else wrote."""

import argparse

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.core.base.errors import EXIT_FAILED, NotFoundError, UsageError
from memtui.core.review import changed
from memtui.present import changed as words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.core.review.changed import Changed

NOTHING = "Nobody else has changed a memory since you saw it."


def register(commands: "parser.Commands") -> None:
    """Add the commands."""
    kept = parser.command(
        commands,
        "keep",
        keep,
        "keep what somebody else wrote: it counts as seen",
        "memtui keep prefer-pnpm\nmemtui keep --all",
        "`memtui inbox` lists what Claude, an editor or a program wrote since you last saw it.",
    )
    taken = parser.command(
        commands,
        "take-back",
        take_back,
        "take back what somebody else wrote",
        "memtui take-back prefer-pnpm",
        "What you saw last is restored: a new memory goes to the trash, a deleted one comes back."
        " `memtui undo` undoes it.",
    )
    for found in (kept, taken):
        found.add_argument("names", nargs="*", metavar="NAME", help="memories, see `memtui inbox --kind changed`")
        found.add_argument("--all", action="store_true", help="all of this project and the global ones")
        found.add_argument("--all-projects", action="store_true", help="with --all: all of all projects")


def _chosen(ctx: Context, args: argparse.Namespace) -> "list[Changed]":
    """Return what the arguments name, in this project first. Raises UsageError, NotFoundError."""
    ctx.must_have_home()
    if bool(args.names) == bool(args.all):
        raise UsageError("Give one or more names, or --all.", "`memtui inbox --kind changed` lists them.")
    ctx.take_in()
    here = ctx.changed(every=args.all_projects)
    if args.all:
        if not here:
            raise NotFoundError(NOTHING)
        return here
    found: dict[str, Changed] = {}
    for name in args.names:
        try:
            item = changed.find(here, name)
        except NotFoundError:
            item = changed.find(ctx.changed(every=True), name)
        found[item.key] = item
    return list(found.values())


def keep(ctx: Context, args: argparse.Namespace) -> Result:
    """Mark what somebody else wrote as seen."""
    items = _chosen(ctx, args)
    changed.keep(ctx.store().journal, ctx.versions, items)
    untrusted = changed.untrusted(ctx.root, items)
    data = {"kept": [item.key for item in items], "untrusted": [item.key for item in untrusted]}

    def text(out: Output) -> None:
        out.print(line(words.done("keep", items)))
        if untrusted:
            out.say(f"note: {line(words.not_trusted(untrusted))}: memtui trust")
        out.say("memtui undo undoes it.")

    return Result(data, text)


def take_back(ctx: Context, args: argparse.Namespace) -> Result:
    """Restore what the person saw last, as one step of undo; one that fails does not stop the others."""
    items = _chosen(ctx, args)
    outcome = changed.take_back(ctx.store(), ctx.versions, items)
    if len(items) == 1 and outcome.failed:
        raise outcome.failed[0][1]
    done = [item for item, _ in outcome.done]
    failed = words.failures(outcome.failed)

    def text(out: Output) -> None:
        for row in failed:
            out.say(f"memtui: {line(row['name'])}: {safe(row['message'])}")
        if done:
            out.print(line(words.done("take back", done, len(failed))))
            out.say("memtui undo undoes it.")

    return Result({"taken_back": [item.key for item in done], "failed": failed}, text, EXIT_FAILED if failed else 0)
