"""`memtui rm` and `mv`: trash, move and copy memories."""

import argparse
from collections.abc import Callable
from functools import partial

from memtui.cli import memories, parser
from memtui.cli.bulk import BulkResult
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base.errors import MemtuiError, NotFoundError, UsageError
from memtui.core.base.phrasing import many
from memtui.core.base.shell import shell_word
from memtui.core.memories import references, scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.store import Store
from memtui.present.memories import counted, must_ask


def register(commands: "parser.Commands") -> None:
    found = parser.command(
        commands,
        "rm",
        rm,
        "move memories to the trash",
        "memtui rm prefer-npm meeting-notes\nmemtui rm --purge old-secret",
        "`memtui undo` or `memtui history NAME --restore` restores them.",
    )
    found.add_argument("names", nargs="+", metavar="NAME", help="a memory, or with --purge also an id of the trash")
    found.add_argument("--purge", action="store_true", help="delete for good, also from the trash; asks first")
    found.add_argument("--yes", action="store_true", help="don't ask")

    found = parser.command(
        commands,
        "mv",
        mv,
        "rename memories, or move or copy them to a scope",
        "memtui mv prefer-pnpm use-pnpm\nmemtui mv prefer-pnpm release-steps --to global\n"
        "memtui mv release-steps release-steps-v2 --copy",
        "Links to it and its line in MEMORY.md are updated.",
    )
    found.add_argument("--copy", action="store_true", help="copy, and leave the memory where it is")
    found.add_argument(
        "names", nargs="+", metavar="NAME", help="NAME NEWNAME, NAME SCOPE:NEWNAME, or with --to memories, NAME…"
    )
    found.add_argument("--to", "--scope", metavar="SCOPE", help="project, global, auto, agent:NAME")
    found.add_argument("--name", metavar="NEWNAME", help="the new name; it may be the name of a scope")
    found.add_argument("--yes", action="store_true", help="don't ask before a change that others will get")


def rm(ctx: Context, args: argparse.Namespace) -> Result:
    """Move memories to the trash, or delete them for good."""
    store = ctx.store()
    memories.ask_others(ctx, store, args.names, yes=args.yes)
    if args.purge:
        return _purge(ctx, store, args)

    if not args.yes:
        _ask(ctx, args.names)

    def trash(name: str) -> "tuple[Memory, str]":
        found = memories.find(ctx, name)
        return found, store.delete(found)

    bulk = BulkResult()
    done = bulk.run(store, args.names, trash)

    def text(out: Output) -> None:
        for found, _ in done:
            memories.print_written(ctx, out, "trashed", found)
        out.say(f"memtui undo restores {'it' if len(done) == 1 else 'them'}.")

    return bulk.result({"deleted": [{**memories.data_of(found), "trash_id": key} for found, key in done]}, text)


def _ask(ctx: Context, names: "list[str]") -> None:
    """Ask before many memories, or those of several projects, are trashed. Raises MemtuiError for no."""
    labels = ["project"] * len(names)  # a name without a scope is never another project's
    if len(names) > 1 and any(":" in name or "/" in name for name in names):
        labels = []
        for name in names:
            try:
                labels.append(memories.find(ctx, name).scope_label)
            except MemtuiError:
                continue  # reported when it is trashed
    if must_ask(labels):
        ctx.confirm(f"Move {counted(labels)} to the trash?", "Nothing was moved to the trash.")


def _purge(ctx: Context, store: Store, args: argparse.Namespace) -> Result:
    left, bulk = 0, BulkResult()

    def purge(name: str) -> str:
        nonlocal left
        try:
            found = memories.find(ctx, name)
            label, remove = found.ref, partial(store.erase, found)
        except NotFoundError:
            item = memories.trashed(store.trash(), name)
            label, remove = item.memory.ref, partial(store.purge, item.id)
        if not args.yes:
            ctx.confirm(f"Delete {line(label)} for good? This can't be undone.", f"{label} was kept.")
        left += remove()
        return label

    names = bulk.run(store, args.names, purge)

    def text(out: Output) -> None:
        out.print(f"deleted for good: {line(', '.join(names))}")
        if left:
            keep = many(left, "other change keeps", "other changes keep")
            out.say(
                f"{keep} a line of it for undo, until `memtui doctor --clean` deletes what is older than keep_days."
            )
        out.say("What sessions got of it stands in Claude Code's transcripts until Claude Code deletes these.")

    return bulk.result({"purged": names, "lines_left": left}, text)


def _new_name(ctx: Context, args: argparse.Namespace) -> "str | None":
    """Return the new name of a memory, None if it keeps its own: --name, or without --to the second argument. If that
    is SCOPE:NEWNAME, as lists name a memory, its scope becomes `args.to`."""
    if args.name:
        if len(args.names) > 1:
            raise UsageError("--name works on one memory only.", "Leave it out for the others.")
        return str(args.name)
    if args.to:
        return None
    if len(args.names) > 1:
        _check_not_scope(ctx, args)
    if len(args.names) != 2:
        raise UsageError("Give a NEWNAME, or --to SCOPE.", "To move several, use --to.")
    name = str(args.names.pop())
    label, _, rest = name.rpartition(":")
    args.to = next((each for each in (label, label.lower()) if rest and each in _labels(ctx)), None)
    return rest if args.to else name


def _labels(ctx: Context) -> "list[str]":
    return [label for scope in scopes.discover(ctx.env, ctx.cwd) for label in (scope.label, *scope.aliases)]


def _check_not_scope(ctx: Context, args: argparse.Namespace) -> None:
    """Raise UsageError if the last argument is a scope: it is unlikely to be meant as a name."""
    *names, last = args.names
    scope, labels = last.lower(), _labels(ctx)
    kind, _, _ = scope.partition(":")
    if scope not in labels and (kind not in scopes.KINDS or kind in labels):
        return  # no scope, or SCOPE:NEWNAME
    name, copy = " ".join(map(shell_word, names)), " --copy" * args.copy
    hint = f"To put it there: memtui mv{copy} --to {shell_word(scope)} {name}" if scope in labels else ""
    hint = hint or "memtui list names the scopes."
    if len(names) == 1 and ":" not in last:
        hint += f"   To use that name: memtui mv{copy} --name {shell_word(last)} {name}"
    raise UsageError(f"“{last}” is a scope, not a new name.", hint)


def _place(
    ctx: Context,
    args: argparse.Namespace,
    store: Store,
    verb: str,
    change: "Callable[[Memory], Memory]",
) -> Result:
    """Move, rename or copy each memory. In the answer `made` has all; a single memory's fields are at the top too."""

    def change_named(name: str) -> "tuple[Memory, Memory]":
        found = memories.find(ctx, name)
        return found, change(found)

    bulk = BulkResult()
    done = bulk.run(store, args.names, change_named)
    rows: list[dict[str, object]] = [
        {**memories.data_of(made), "was": {"name": found.name, "scope": found.scope_label, "path": found.path}}
        for found, made in done
    ]
    data: dict[str, object] = {**(rows[0] if len(args.names) == 1 else {}), "made": rows}

    def text(out: Output) -> None:
        for _, made in done:
            memories.print_written(ctx, out, verb, made)
        memories.say_undo(out, len(done))

    return bulk.result(data, text)


def _trusted(store: Store, found: Memory, target: scopes.Scope) -> Memory:
    """Return the memory. Raises MemtuiError for an untrusted one that would get into a scope where none needs trust."""
    if not target.needs_trust and not store.is_trusted(found):
        raise references.not_trusted(found.stem, shared=store.scope(found.scope_label).is_shared)
    return found


def mv(ctx: Context, args: argparse.Namespace) -> Result:
    """Rename a memory, or move or copy some."""
    name = _new_name(ctx, args)
    if args.copy:
        return _copy(ctx, args, name)
    store = ctx.store()
    memories.ask_others(ctx, store, args.names, args.to or "", yes=args.yes)
    if args.to:
        scope = store.scope(args.to)
        if name is not None and memories.find(ctx, args.names[0]).scope_label == scope.label:
            return _place(ctx, args, store, "now", lambda found: store.rename(found, name))
        return _place(ctx, args, store, "now", lambda found: store.move(_trusted(store, found, scope), scope, name))
    return _place(ctx, args, store, "now", lambda found: store.rename(found, name or found.stem))


def _copy(ctx: Context, args: argparse.Namespace, name: "str | None") -> Result:
    store = ctx.store()
    scope = store.scope(args.to) if args.to else None
    memories.ask_others(ctx, store, [] if args.to else args.names, args.to or "", yes=args.yes)

    def copy(found: Memory) -> Memory:
        target = scope or store.scope(found.scope_label)
        return store.copy(_trusted(store, found, target), target, name)

    return _place(ctx, args, store, "copied to", copy)
