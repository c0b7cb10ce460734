"""Find the memories and scopes that arguments name, and say what was done to them. It imports little, for `list`."""

import os
from contextlib import suppress

from memtui.base import findings
from memtui.base.errors import MemtuiError, NotFoundError
from memtui.base.phrasing import it
from memtui.base.short_ids import short_id
from memtui.cli.context import Context
from memtui.cli.output import line, narrate, picked, styled
from memtui.store import scopes
from memtui.store.memory import TYPES, Memory
from memtui.store.scopes import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.cli.output import Printer
    from memtui.store.status import Row
    from memtui.store.store import Store
    from memtui.store.versions.trash import TrashItem

RECALLS = "recalled opened corrected tokens"  # what --json has of recalls
CREATE = '  Create a memory: memtui new use-pnpm --type feedback --description "Use pnpm" --body "…"'
NONE_HERE = f"No memories here.\n{CREATE}\n  Other projects: memtui list --all-projects"


def find(ctx: Context, ref: str) -> Memory:
    """Find a memory by its name, file, scope:name or path. Raises NotFoundError, ConflictError."""
    try:
        return scopes.find(ctx.env, ctx.cwd, ref)
    except NotFoundError as error:
        with suppress(MemtuiError, OSError):
            removed = trashed(ctx.store().trash(), ref)
            error.hint = f"It is in the trash: memtui history {short_id(removed.id)} --restore"
        if error.hint == scopes.ALL_LISTED:
            from memtui.cli import entries

            raise (entries.misnamed(ctx, ref) or error) from None
        raise


def trashed(items: "list[TrashItem]", ref: str) -> "TrashItem":
    """Find a removed memory by its id or name; of several with that name the one removed last. Raises NotFoundError."""
    from memtui.base import short_ids

    for item in items:
        if {ref, ref.removesuffix(".md")} & {item.memory.stem, item.memory.name, item.memory.ref, item.memory.path}:
            return item
    try:
        key = short_ids.match(ref, [item.id for item in items], "removed memory")
    except NotFoundError as error:
        raise NotFoundError(error.message, "`memtui history` lists the trash.") from None
    return next(item for item in items if item.id == key)


def ask_others(ctx: Context, store: "Store", names: "list[str]", target: str = "", *, yes: bool) -> None:
    """Ask before memories that a team shares change, or come to the scope `target`. Raises MemtuiError for no."""
    from memtui.client import locate
    from memtui.store import references

    labels = [target]
    for name in names:
        with suppress(MemtuiError):
            labels.append(find(ctx, name).scope_label)
    if any(label.partition(":")[0] == locate.TEAM for label in labels):
        if not yes:
            ctx.confirm(f"{references.SHARED} Go on?", "Nothing was changed: others would have got it.")
        store.shared = True


def chosen_scopes(ctx: Context, label: "str | None", all_projects: bool = False) -> "list[Scope]":
    """Return all scopes, or those of a label or kind. Raises NotFoundError, which names the labels there are."""
    other = label is not None and label.startswith("auto:")
    every = scopes.discover(ctx.env, ctx.cwd, all_projects=all_projects or other)
    if label is None:
        return every
    chosen = [s for s in every if label in {s.label, s.kind, *s.aliases}]
    if not chosen:
        names = ", ".join(s.shown for s in every)
        raise NotFoundError(f"There is no scope “{label}” here.", f"There are: {names}.")
    return chosen


def rows_of(ctx: Context, scope: Scope) -> "list[Row]":
    """Return the memories of a scope with their status; links may lead to the scopes that apply beside it."""
    from memtui.store.status import of_scope

    here = scopes.discover(ctx.env, ctx.cwd)
    beside = [place for place in here if place.kind == "global"] if scope.project else here
    return of_scope(ctx.root, scope, ctx.usage, others=beside)


def written(ctx: Context, verb: str, memory: Memory) -> str:
    """Return the line that says what was done to a memory, and its path."""
    other = scopes.of_memory(ctx.env, ctx.cwd, memory) if memory.scope_label.startswith("auto:") else None
    ref = f"{other.shown}:{memory.stem}" if other is not None else memory.ref
    return f"{verb}  {styled(line(ref), 'bold')}  {line(ctx.tilde(memory.path))}"


def say_unusual(ctx: Context, kind: "str | None") -> None:
    """Warn of a type that is none of the usual ones: it may be meant, or mistyped."""
    if kind and kind not in TYPES:
        ctx.out.say(line(f"! “{kind}” is none of the usual types: {', '.join(TYPES)}."))


def undo(count: int = 1) -> "Printer":
    """Return what says how to undo a change of so many things."""
    return narrate(f"To undo {it(count)}: memtui undo" * bool(count))


def data_of(memory: Memory) -> "dict[str, object]":
    """Return a memory for --json."""
    return picked(memory, "name path type description") | {"scope": memory.scope_label}


def status_data(row: "Row") -> "dict[str, object]":
    """Return a memory with its status for --json."""
    from memtui.base import clock

    memory = row.memory
    return {
        **data_of(memory),
        **picked(memory, "size broken"),
        **picked(row, "deliveries last_delivery"),
        "file": row.file or os.path.basename(memory.path),
        "changed": clock.iso_seconds(memory.changed_at) if memory.changed_at else None,
        "flags": [findings.flag(finding) for finding in row.flags],
        "uses": row.used,
        **picked(row.recalls, RECALLS),
    }
