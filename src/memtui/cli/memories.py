"""What commands about memories share: find the memories and scopes that arguments name, and report on a memory."""

from memtui.cli.context import Context
from memtui.cli.output import Output, line
from memtui.core.base.errors import MemtuiError, NotFoundError
from memtui.core.base.short_ids import short_id
from memtui.core.memories import scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope


def find(ctx: Context, ref: str) -> Memory:
    """Find a memory by its name, file, scope:name or path. Raises NotFoundError, which says it if the memory is in the
    trash, ConflictError."""
    ctx.must_have_home()
    try:
        return scopes.find(ctx.env, ctx.cwd, ref)
    except NotFoundError as error:
        error.hint = _in_trash(ctx, ref) or error.hint
        raise


def _in_trash(ctx: Context, ref: str) -> str:
    """Say that a memory is in the trash, and how to restore it; empty if it is not there."""
    try:
        items = ctx.store().trash()
    except (MemtuiError, OSError):
        return ""
    names = {ref, ref.removesuffix(".md")}
    key = next((each.id for each in items if names & {each.memory.stem, each.memory.ref, each.memory.path}), "")
    return f"It is in the trash: memtui restore {short_id(key)}" if key else ""


def chosen_scopes(ctx: Context, label: "str | None", all_projects: bool = False) -> "list[Scope]":
    """Return all scopes, or those of a label or kind. Raises NotFoundError, which names the labels there are."""
    ctx.must_have_home()
    other = label is not None and label.startswith("auto:")
    every = scopes.discover(ctx.env, ctx.cwd, all_projects=all_projects or other)
    if label is None:
        return every
    found = [s for s in every if label in {s.label, s.kind, *s.aliases}]
    if not found:
        raise NotFoundError(
            f"There is no scope “{label}” here.", "There are: " + ", ".join(s.shown for s in every) + "."
        )
    return found


def print_written(ctx: Context, out: Output, verb: str, found: Memory) -> None:
    """Print what was done to a memory, and its path."""
    other = scopes.of_memory(ctx.env, ctx.cwd, found) if found.scope_label.startswith("auto:") else None
    ref = f"{other.shown}:{found.stem}" if other is not None else found.ref
    out.print(f"{verb}  {out.style(line(ref), 'bold')}  {line(ctx.tilde(found.path))}")


def say_undo(out: Output, count: int = 1) -> None:
    """Say that one undo takes back what was done to some memories."""
    if count:
        out.say(f"memtui undo takes {'it' if count == 1 else 'them'} back.")


def data_of(found: Memory) -> "dict[str, object]":
    """Return a memory for --json."""
    return {
        "name": found.name,
        "scope": found.scope_label,
        "path": found.path,
        "type": found.type,
        "description": found.description,
    }
