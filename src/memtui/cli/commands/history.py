"""`memtui history`: the versions of a memory, who wrote each, and the way back to it; and the trash."""

import argparse
import os

from memtui.base import clock
from memtui.base.errors import MemtuiError, NotFoundError, UsageError
from memtui.base.phrasing import age, size
from memtui.base.shell import shell_word
from memtui.base.short_ids import short_id
from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, difference, line, narrate, picked, safe
from memtui.store import history, references, scopes
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.versions.versions import GONE, Version, Versions
from memtui.store.versions.writers import Occasions
from memtui.views import versions as present


@parser.command(
    """\
history: versions of a memory, the trash, and the way back
  memtui history prefer-pnpm
  memtui history prefer-pnpm --diff 3
  memtui history prefer-pnpm --restore 2
  memtui history
  memtui history prefer-npm prefer-tabs --restore
memtui keeps all versions that it has seen: yours, those of Claude or an editor, and of deleted memories. Without NAME
it lists the trash.
names=[NAME|ID...] |
/ --diff N | what version N changed
/ --show N | the whole text of version N
/ --restore [N] | make version N the present text, or without N restore what is in the trash; memtui undo undoes it""",
)
def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List the trash or restore from it; list the versions of a memory, or show or restore one."""
    if args.restore is True:
        return _from_trash(ctx, args.names)
    number = next((each for each in (args.diff, args.show, args.restore) if each is not None), None)
    if not args.names:
        if number is not None:
            raise UsageError("Name the memory.", "memtui history NAME --diff 3")
        return _trash(ctx)
    if len(args.names) > 1:
        raise UsageError("Name one memory.", "Several only come back from the trash: --restore without a number.")
    name = args.names[0]
    versions = Versions(ctx.root, ctx.now)
    memory, scope, lineage = _known(ctx, versions, name)
    if versions.problem is not None:
        if not lineage:
            raise versions.problem
        ctx.out.say(f"! The newest version can't be kept: {line(versions.problem.message)}")
    if not lineage or scope is None:
        hint = "memtui keeps those of all memories that it can read, but not of CLAUDE.md and rules."
        raise NotFoundError(f"There are no versions of {line(name)}.", hint)
    if memory is None and (heir := history.became(versions, lineage[-1])):
        now = present.ref(heir.directory, heir.file, history.scopes_of(ctx.env, ctx.cwd, [heir]))
        raise NotFoundError(f"{line(name)} became {line(now)}.", f"memtui history {shell_word(now)}")
    every = history.scopes_of(ctx.env, ctx.cwd, lineage)
    chosen = history.numbered(lineage, number) if number is not None else None
    newest = lineage[-1]
    if chosen is not None and args.restore is not None:
        return _restored(ctx, versions, scope, memory, chosen, newest.file)
    path, trash = os.path.realpath(newest.path), ctx.store().trash() if memory is None else []
    trashed = next((item.id for item in trash if item.path == path), "")
    last = f"It is in the trash: memtui history {short_id(trashed)} --restore" if trashed else ""
    rows = history.rows(lineage)
    occasions = Occasions(ctx.env)
    data: dict[str, object] = {}
    data["versions"] = [_data(n, row, newest, occasions, every) for n, row in enumerate(rows, 1)]

    def text(out: Output) -> None:
        cells, notes = [], []
        for number, row in reversed(list(enumerate(rows, 1))):
            version, occasion = row.version, occasions.of(row.version.writer)
            what = size(version.size) if version.digest != GONE else "deleted"
            who = line(present.told(version, newest, occasion.title, every))
            unseen = "not seen yet" if history.waits(lineage, version) else ""
            cells.append([str(number), age(row.time, ctx.now()), what, who, unseen])
            notes.append(line(present.prompted(occasion.prompt)))
        out.table(["VERSION", "AGE", "SIZE", "WRITTEN BY", ""], cells, flex=[3], right=[0, 1, 2], notes=notes)

    if chosen is None:
        way = "No other version is known yet: memtui keeps each new one from now on."
        if len(lineage) > 1:
            way = f"What the newest changed: memtui history --diff {len(lineage)} {shell_word(name)}"
        return Result(data, text, narrate(last), narrate(way))
    content = versions.content(chosen)
    if args.show is not None:
        data["text"] = content.decode("utf-8", "backslashreplace")
        return Result(data, safe(content.decode("utf-8", "replace")).rstrip("\n"))
    before = versions.content(lineage[lineage.index(chosen) - 1]) if chosen != lineage[0] else b""
    data["diff"] = "\n".join(difference(before, content))
    return Result(data, lambda out: out.diff_lines(difference(before, content), "  "))


def _trash(ctx: Context) -> Result:
    items = ctx.store().trash()
    data = [
        {"id": item.id, "time": item.time, "path": item.path, "scope": item.scope_label, "name": item.memory.name}
        for item in items
    ]
    if not items:
        return Result({"trash": data}, "The trash is empty.")
    others = any(item.scope_label.startswith("auto:") for item in items)
    labels = {scope.label: scope.shown for scope in scopes.discover(ctx.env, ctx.cwd, all_projects=others)}
    rows = [
        [
            (short_id(item.id), "cyan"),
            age(clock.parse(item.time), ctx.now()),
            (line(item.memory.stem), "bold"),
            line(labels.get(item.scope_label, item.scope_label)),
            line(item.memory.description),
        ]
        for item in items
    ]
    return Result(
        {"trash": data},
        lambda out: out.table(["ID", "AGE", "NAME", "SCOPE", "DESCRIPTION"], rows, flex=(4, 2), right=(1,)),
        "Restore: memtui history ID --restore   Delete for good: memtui rm --purge ID",
    )


def _from_trash(ctx: Context, names: "list[str]") -> Result:
    """Restore memories, the last trashed first, so that lines of the index find their places again."""
    if not names:
        raise UsageError("Name what to restore.", "`memtui history` lists the trash.")
    store = ctx.store()
    items = store.trash()
    bulk = memories.BulkResult()

    def position(name: str) -> int:
        try:
            return items.index(memories.trashed(items, name))
        except MemtuiError:
            return len(items)

    mems = bulk.run(store, sorted(names, key=position), lambda name: store.restore(memories.trashed(items, name).id))
    restored: list[dict[str, object]] = [memories.data_of(memory) for memory in mems]
    words = [memories.written(ctx, "restored", memory) for memory in mems]
    data = {**(restored[0] if len(names) == 1 else {}), "restored": restored}
    return bulk.result(data, *words, memories.undo(len(mems)))


def _known(ctx: Context, versions: Versions, name: str) -> "tuple[Memory | None, Scope | None, list[Version]]":
    """Find a memory, also one that is gone (None), with its scope and its versions. Raises as `memories.find`."""
    try:
        memory = memories.find(ctx, name)
    except NotFoundError:
        every = scopes.discover(ctx.env, ctx.cwd)
        versions_of_name = history.of_deleted(history.looked(versions, every), every, name)
        if not versions_of_name:
            raise  # says what there is instead
        return (
            None,
            next(place for place in every if place.directory == versions_of_name[-1].directory),
            versions_of_name,
        )
    scope = scopes.of_memory(ctx.env, ctx.cwd, memory)
    if scope is None:
        return memory, None, []
    return memory, scope, history.of_memory(history.looked(versions, [scope]), scope, memory)


def _data(
    number: int, row: history.HistoryRow, newest: Version, occasions: Occasions, every: "list[Scope]"
) -> "dict[str, object]":
    version, occasion = row.version, occasions.of(row.version.writer)
    return {
        **picked(version, "time size seen"),
        "number": number,
        "name": references.stem(version.file),
        "written": clock.iso(row.time),
        "by": version.writer.by,
        "did": version.op or None,
        "was": present.ref(version.directory, version.file, every) if version.path != newest.path else None,
        "session": version.writer.session or None,
        "title": occasion.title or None,
        "prompt": version.writer.prompt or None,
        "prompt_text": occasion.prompt or None,
        "deleted": version.digest == GONE,
    }


def _restored(
    ctx: Context, versions: Versions, scope: Scope, mem: "Memory | None", version: Version, file: str
) -> Result:
    memory = history.restore(ctx.store(), versions, scope, mem, version, file)
    history.taken_in(versions, [scope])
    after = narrate("That is the present text already.") if memory is mem else memories.undo()
    words = memories.written(ctx, "unchanged" if memory is mem else "restored", memory)
    return Result(memories.data_of(memory), words, after)
