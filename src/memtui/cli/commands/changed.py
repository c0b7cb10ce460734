"""`memtui keep` and `memtui take-back`: decide about memories that somebody else wrote."""

import argparse

from memtui.cli import memories, parser
from memtui.cli.bulk import BulkResult
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base.errors import NotFoundError, UsageError
from memtui.core.review import changed
from memtui.core.settings import config
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


def _chosen(ctx: Context, args: argparse.Namespace, bulk: BulkResult) -> "list[Changed]":
    """Return what the arguments name, in this project first; `bulk` gets what can't be found. Raises UsageError,
    NotFoundError, ConflictError."""
    ctx.must_have_home()
    if bool(args.names) == bool(args.all):
        raise UsageError("Give one or more names, or --all.", "`memtui inbox --kind changed` lists them.")
    ctx.take_in()
    ctx.look()  # so that what was written just now can be decided, too: the inbox lists it
    here = ctx.changed(every=args.all_projects)
    if args.all:
        if not here:
            raise _gate_off(ctx) or NotFoundError(NOTHING)
        return here
    found = {item.key: item for item in bulk.find(args.names, lambda name: _find(ctx, here, name))}
    return list(found.values())


def _find(ctx: Context, here: "list[Changed]", name: str) -> "Changed":
    """Find one of those that wait, `here` first. Raises NotFoundError, ConflictError."""
    try:
        return changed.find(here, name)
    except NotFoundError:
        every = ctx.changed(every=True)
    try:
        return changed.find(every, name)
    except NotFoundError as error:
        try:
            memories.find(ctx, name)
        except NotFoundError as unknown:
            if close := changed.similar(here, name):
                unknown.hint = f"Did you mean {' or '.join(each.ref for each in close)}?"
            raise unknown from None
        raise _gate_off(ctx) or error from None


def _gate_off(ctx: Context) -> NotFoundError | None:
    """Return the error that says that nothing is listed because the gate is off; None if it is not."""
    if ctx.setting("gate") != "off":
        return None
    own = config.is_own(ctx.settings(), ctx.project_root, "gate")
    return NotFoundError(*words.gate_off(ctx.count_hidden(), own=own))


def keep(ctx: Context, args: argparse.Namespace) -> Result:
    """Mark what somebody else wrote as seen; a name that is wrong does not stop the others."""
    bulk = BulkResult()
    items = _chosen(ctx, args, bulk)
    changed.keep(ctx.store().journal, ctx.versions, items)
    untrusted = changed.untrusted(ctx.root, items)
    data: dict[str, object] = {"kept": [item.key for item in items]}
    data["untrusted"] = [item.key for item in untrusted]

    def text(out: Output) -> None:
        out.print(line(words.done("keep", items)))
        if untrusted:
            out.say(f"note: {line(words.not_trusted(untrusted))}: memtui trust")
        out.say("memtui undo undoes it.")

    return bulk.result(data, text)


def take_back(ctx: Context, args: argparse.Namespace) -> Result:
    """Restore what the person saw last, as one step of undo; one that fails does not stop the others."""
    bulk = BulkResult()
    items = _chosen(ctx, args, bulk)
    outcome = changed.take_back(ctx.store(), ctx.versions, items)
    if len(items) == 1 and outcome.failed and not bulk.failed:
        raise outcome.failed[0][1]
    done = [item for item, _ in outcome.done]
    bulk.failed += words.failures(outcome.failed)

    def text(out: Output) -> None:
        if done:
            out.print(line(words.done("take back", done)))
            out.say("memtui undo undoes it.")

    data: dict[str, object] = {"taken_back": [item.key for item in done]}
    return bulk.result(data, text)
