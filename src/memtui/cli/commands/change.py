"""`memtui rm` and `mv`: remove, move and copy memories."""

import argparse
from contextlib import suppress
from functools import partial

from memtui.base.errors import MemtuiError, NotFoundError, UsageError
from memtui.base.phrasing import many
from memtui.base.shell import shell_word
from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Result, line, narrate
from memtui.store import references, scopes
from memtui.store.journal import acts
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.store import Store
from memtui.views.memories import counted, must_ask


@parser.command("""\
rm: remove memories: they go to the trash
  memtui rm prefer-npm meeting-notes
  memtui rm --purge old-secret
`memtui undo` or `memtui history NAME --restore` restores them.
names=NAME... | a memory, or with --purge also an id of the trash
--purge | delete for good, also from the trash; asks first
--yes | don't ask""")
def rm(ctx: Context, args: argparse.Namespace) -> Result:
    """Remove memories, which go to the trash, or delete them for good."""
    store = ctx.store()
    memories.ask_others(ctx, store, args.names, yes=args.yes)
    if args.purge:
        return _purge(ctx, store, args)
    # A name without a scope is never another project's.
    labels = ["project"] * len(args.names)
    if len(args.names) > 1 and any(":" in name or "/" in name for name in args.names):
        labels = []
        for name in args.names:
            with suppress(MemtuiError):  # reported when it is removed
                labels.append(memories.find(ctx, name).scope_label)
    if not args.yes and must_ask(labels):
        ctx.confirm(f"Remove {counted(labels)}? They go to the trash.", "Nothing was removed.")

    def remove(name: str) -> "tuple[Memory, str]":
        memory = memories.find(ctx, name)
        return memory, store.delete(memory)

    bulk = memories.BulkResult()
    pairs = bulk.run(store, args.names, remove)
    words = [memories.written(ctx, acts.done("delete"), memory) for memory, _ in pairs]
    data = [{**memories.data_of(memory), "trash_id": key} for memory, key in pairs]
    return bulk.result({"deleted": data}, *words, memories.undo(len(pairs)))


def _purge(ctx: Context, store: Store, args: argparse.Namespace) -> Result:
    remaining, bulk = 0, memories.BulkResult()

    def purge(name: str) -> str:
        nonlocal remaining
        try:
            memory = memories.find(ctx, name)
            label, remove = memory.ref, partial(store.erase, memory)
        except NotFoundError:
            item = memories.trashed(store.trash(), name)
            label, remove = item.memory.ref, partial(store.purge, item.id)
        if not args.yes:
            ctx.confirm(f"Delete {line(label)} for good? This can't be undone.", f"{label} was kept.")
        remaining += remove()
        return label

    names = bulk.run(store, args.names, purge)
    keep = many(remaining, "other change keeps", "other changes keep")
    until = "until `memtui doctor --clean` deletes what is older than keep_days"
    return bulk.result(
        {"purged": names, "lines_left": remaining},
        f"{acts.done('purge')}: {line(', '.join(names))}",
        narrate(f"{keep} a line of it for undo, {until}." if remaining else ""),
        narrate("What sessions got of it stands in Claude Code's transcripts until Claude Code deletes these."),
    )


def _new_name(ctx: Context, args: argparse.Namespace) -> "str | None":
    """Return the new name of a memory, None if it keeps its own; of SCOPE:NEWNAME the scope becomes `args.scope`."""
    if args.scope:
        return None
    every = [label for scope in scopes.discover(ctx.env, ctx.cwd) for label in (scope.label, *scope.aliases)]
    last = str(args.names[-1])
    label, _, rest = last.rpartition(":")
    scope = next((candidate for candidate in (label, label.lower()) if rest and candidate in every), None)
    is_scope, kind = last.lower() in every, last.lower().partition(":")[0]
    # A word for a scope is unlikely to be meant as a name.
    if len(args.names) > 1 and scope is None and (is_scope or (kind in scopes.KINDS and kind not in every)):
        names, copy = " ".join(map(shell_word, args.names[:-1])), " --copy" * args.copy
        hint = f"To put it there: memtui mv{copy} --scope {shell_word(last.lower())} {names}"
        raise UsageError(f"“{last}” is a scope, not a new name.", hint if is_scope else "memtui list names the scopes.")
    if len(args.names) != 2:
        raise UsageError("Give a NEWNAME, or --scope SCOPE.", "To move several, use --scope.")
    del args.names[-1]
    args.scope = scope
    return rest if scope is not None else last


@parser.command("""\
mv: rename memories, or move or copy them to a scope
  memtui mv prefer-pnpm use-pnpm
  memtui mv prefer-pnpm release-steps --scope global
  memtui mv release-steps release-steps-v2 --copy
Links to it and its line in MEMORY.md are updated.
--copy | copy, and leave the memory where it is
names=NAME... | NAME NEWNAME, NAME SCOPE:NEWNAME, or with --scope memories, NAME…
--scope SCOPE | project, global, auto, agent:NAME
--yes | don't ask before a change that others will get""")
def mv(ctx: Context, args: argparse.Namespace) -> Result:
    """Rename a memory, or move or copy some; the fields of a single one are at the top of the answer, too."""
    name = _new_name(ctx, args)
    store = ctx.store()
    copied_only = args.copy and args.scope
    memories.ask_others(ctx, store, [] if copied_only else args.names, args.scope or "", yes=args.yes)
    target = store.scope(args.scope) if args.scope else None
    if target is not None and name is not None and not args.copy:
        here = memories.find(ctx, args.names[0]).scope_label == target.label
        target = None if here else target

    def change(ref: str) -> "tuple[Memory, Memory]":
        memory = memories.find(ctx, ref)
        if args.copy:
            to = target or store.scope(memory.scope_label)
            return memory, store.copy(_trusted(store, memory, to), to, name)
        if target is not None:
            return memory, store.move(_trusted(store, memory, target), target, name)
        return memory, store.rename(memory, name or memory.stem)

    bulk = memories.BulkResult()
    pairs = bulk.run(store, args.names, change)
    rows: list[dict[str, object]] = [
        {**memories.data_of(mem), "was": {"name": other.name, "scope": other.scope_label, "path": other.path}}
        for other, mem in pairs
    ]
    words = [memories.written(ctx, "copied to" if args.copy else "now", memory) for _, memory in pairs]
    data = {**(rows[0] if len(args.names) == 1 else {}), "made": rows}
    return bulk.result(data, *words, memories.undo(len(pairs)))


def _trusted(store: Store, memory: Memory, target: Scope) -> Memory:
    """Return the memory. Raises MemtuiError for an untrusted one that would get into a scope where none needs trust."""
    if not target.needs_trust and not store.is_trusted(memory):
        raise references.not_trusted(memory.stem, shared=store.scope(memory.scope_label).is_shared)
    return memory
