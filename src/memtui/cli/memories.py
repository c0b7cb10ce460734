"""What commands about memories share: which memories and scopes their words mean, and how they tell of a memory."""

from memtui.cli.context import Context
from memtui.cli.output import Output, line
from memtui.core.base.errors import NotFoundError
from memtui.core.memories import scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import Usage


def find(ctx: Context, ref: str) -> Memory:
    """The memory that a reference means. Raises NotFoundError, ConflictError."""
    ctx.must_have_home()
    return scopes.find(ctx.env, ctx.cwd, ref)


def chosen(ctx: Context, label: "str | None", all_projects: bool = False) -> "list[Scope]":
    """The scopes to look at: all, or those of a label or kind. Raises NotFoundError with the labels there are."""
    ctx.must_have_home()
    every = scopes.discover(ctx.env, ctx.cwd, all_projects=all_projects)
    if label is None:
        return every
    found = [s for s in every if label in {s.label, s.kind, *s.aliases}]
    if not found:
        raise NotFoundError(
            f"There is no scope “{label}” here.", "There are: " + ", ".join(s.label for s in every) + "."
        )
    return found


def usage(ctx: Context) -> Usage:
    """The counts of the delivery log, read once a run."""
    found = ctx.kept.get("usage")
    if not isinstance(found, Usage):
        found = ctx.kept["usage"] = Usage(ctx.root)
    return found


def print_written(ctx: Context, out: Output, verb: str, ref: str, path: str) -> None:
    """Say what was written, as `scope:name`, and where."""
    out.print(f"{verb}  {out.style(line(ref), 'bold')}  {line(ctx.tilde(path))}")


def data_of(found: Memory) -> "dict[str, object]":
    """A memory for --json."""
    return {
        "name": found.name,
        "scope": found.scope_label,
        "path": found.path,
        "type": found.type,
        "description": found.description,
    }
