"""Find the memories and scopes that arguments name, and say what was done to them. It imports little, for `list`."""

import os
from contextlib import suppress

from memtui.base import findings
from memtui.base.errors import EXIT_FAILED, MemtuiError, NotFoundError
from memtui.base.phrasing_hot import it, many
from memtui.base.short_ids import short_id
from memtui.cli.context import Context
from memtui.cli.output import Printer, Result, line, narrate, picked, safe, styled
from memtui.store import scopes
from memtui.store.memory import Memory
from memtui.store.scopes import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from memtui.store.status import Row
    from memtui.store.store import Store
    from memtui.store.versions.trash import TrashItem

    Done = TypeVar("Done")

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
    from memtui.client import locate_hot
    from memtui.store import references

    labels = [target]
    for name in names:
        with suppress(MemtuiError):
            labels.append(find(ctx, name).scope_label)
    if any(label.partition(":")[0] == locate_hot.TEAM for label in labels):
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
    """Return the memories of a scope with their status, and how their rules were kept."""
    from memtui.store.status import of_scope

    rows = of_scope(ctx.root, scope, ctx.usage)
    for row in rows:
        row.held = ctx.held.get(row.memory.path, ())
    return rows


def written(ctx: Context, verb: str, memory: Memory) -> str:
    other = scopes.of_memory(ctx.env, ctx.cwd, memory) if memory.scope_label.startswith("auto:") else None
    ref = f"{other.shown}:{memory.stem}" if other is not None else memory.ref
    return f"{verb}  {styled(line(ref), 'bold')}  {line(ctx.tilde(memory.path))}"


def undo(count: int = 1) -> "Printer":
    """Return what says how to undo a change of so many things."""
    return narrate(f"To undo {it(count)}: memtui undo" * bool(count))


def data_of(memory: Memory) -> "dict[str, object]":
    return picked(memory, "name path type description") | {"scope": memory.scope_label}


def status_data(row: "Row") -> "dict[str, object]":
    from memtui.base import clock_hot
    from memtui.views import rules

    memory = row.memory
    return {
        **data_of(memory),
        **picked(memory, "size broken"),
        **picked(row, "deliveries last_delivery"),
        "file": row.file or os.path.basename(memory.path),
        "changed": clock_hot.iso_seconds(memory.changed_at) if memory.changed_at else None,
        "flags": [findings.flag(finding) for finding in row.flags],
        "check": dict(row.check) or None,
        "uses": row.used,
        **picked(row.recalls, RECALLS),
        "rules": list(map(str, rules.rules_of(memory))),
        **{name: row.sum_held(name) for name in rules.SUMS},
    }


class MemoryTriggers:
    """What is kept about finding a memory: its lines, and the prompts it is muted for."""

    def __init__(self, ctx: Context, memory: Memory) -> None:
        from memtui.store import triggers

        self.now = ctx.now()
        store = ctx.store()
        scope, file = triggers.place_of(store, memory)
        self.lines = triggers.of_memory(ctx.root, scope.directory, file, memory)
        self.muted = triggers.muted_prompts(ctx.root, scope.directory, file)

    def data(self) -> "dict[str, object]":
        from memtui.base.clock_hot import iso_seconds as time

        return {
            "triggers": [
                {**trigger._asdict(), "number": number, "time": time(trigger.time) if trigger.time else None}
                for number, trigger in enumerate(self.lines, 1)
            ],
            "muted": [{"prompt": muted_prompt.text, "time": time(muted_prompt.time)} for muted_prompt in self.muted],
        }

    def facts(self) -> "list[tuple[str, str]]":
        """Return them for a person: titles and lines. The numbers are those that --no-trigger takes."""
        from memtui.views.memories import trigger_origin

        lines = [f"{n}  {row.text}  ({trigger_origin(row, self.now)})" for n, row in enumerate(self.lines, 1)]
        parts = (("triggers", lines), ("muted for", [row.text for row in self.muted]))
        return [("" if at else title, row) for title, every in parts for at, row in enumerate(every)]


class BulkResult:
    """A change for several things; `failed` has what --json shows of each failure, `code` is that of no failure."""

    def __init__(self) -> None:
        self.failed: list[dict[str, str]] = []
        self.code = 0

    def run(self, store: "Store", names: "Sequence[str]", change: "Callable[[str], Done]") -> "list[Done]":
        """Make the change for each name, as one step of undo; return the results. Raises MemtuiError if all failed."""
        outcome = store.each(names, change)
        if len(names) == 1 and outcome.failed:
            raise outcome.failed[0][1]
        self.failed = [{"name": name, "message": e.message, "hint": e.hint} for name, e in outcome.failed]
        if self.failed and not outcome.done:
            messages = [f"{row['name']}: {row['message']} {row['hint']}".rstrip() for row in self.failed]
            raise MemtuiError("\n".join([f"None of these {len(names)} could be changed.", *messages]))
        return [result for _, result in outcome.done]

    def result(self, data: "dict[str, object]", *text: "str | Printer") -> Result:
        failures = []
        for row in self.failed:
            failures.append(narrate(f"memtui: {line(row['name'])}: {safe(row['message'])}"))
            failures.append(narrate(f"  {safe(row['hint'])}" if row["hint"] else ""))
        if self.failed:
            failures.append(narrate(many(len(self.failed), "of these was", "of these were") + " left alone."))
        code = EXIT_FAILED if self.failed else self.code
        return Result({**data, "failed": self.failed}, *text, *failures, code=code)
