"""`memtui history`: the versions of a memory, who wrote each, what it changed, and the way back to it."""

import argparse

from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import diff
from memtui.core.base import clock
from memtui.core.base.errors import NotFoundError
from memtui.core.base.phrasing import age, size
from memtui.core.memories import history, scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.versions import GONE, Version, Versions
from memtui.present import versions as present


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "history",
        run,
        "list the versions of a memory, and restore one",
        "memtui history prefer-pnpm\nmemtui history prefer-pnpm --diff 3\nmemtui history prefer-pnpm --restore 2",
        "memtui keeps all versions that it has seen: yours, those of Claude or an editor, and of deleted memories.",
    )
    found.add_argument("name", metavar="NAME")
    only = found.add_mutually_exclusive_group()
    only.add_argument("--diff", type=int, metavar="N", help="what version N changed")
    only.add_argument("--show", type=int, metavar="N", help="the whole text of version N")
    only.add_argument("--restore", type=int, metavar="N", help="make version N the present text; memtui undo undoes it")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List the versions, or show or restore one."""
    ctx.must_have_home()
    every = scopes.discover(ctx.env, ctx.cwd)
    try:
        found: Memory | None = memories.find(ctx, args.name)
    except NotFoundError:
        found = None
    if found is not None:
        scope = scopes.of_memory(ctx.env, ctx.cwd, found)
        versions = history.taken_in(ctx.root, [scope] if scope is not None else [])
        known = history.of_memory(versions, scope, found) if scope is not None else []
    else:
        versions = history.taken_in(ctx.root, every)
        known = history.of_deleted(versions, every, args.name)
        if not known:
            memories.find(ctx, args.name)  # says what there is instead
        scope = next((each for each in every if known and each.directory == known[-1].directory), None)
    number = args.diff or args.show or args.restore
    chosen = history.numbered(known, number) if number is not None else None
    if chosen is not None and args.restore is not None and scope is not None:
        return _restored(ctx, versions, scope, found, chosen)
    data: dict[str, object] = {"versions": [_data(at, each) for at, each in enumerate(known, 1)]}
    if chosen is None:
        return Result(data, lambda out: _print(ctx, out, known))
    content = versions.content(chosen)
    if args.show is not None:
        data["text"] = content.decode("utf-8", "backslashreplace")
        return Result(data, lambda out: out.print(safe(content.decode("utf-8", "replace")).rstrip("\n")))
    before = versions.content(known[number - 2]) if number > 1 else b""
    data["diff"] = "\n".join(diff.lines(before, content))
    return Result(data, lambda out: diff.show(out, before, content))


def _data(number: int, version: Version) -> "dict[str, object]":
    return {
        "number": number,
        "time": version.time,
        "by": version.writer.by,
        "session": version.writer.session or None,
        "prompt": version.writer.prompt or None,
        "size": version.size,
        "deleted": version.digest == GONE,
        "seen": version.seen,
    }


def _restored(ctx: Context, versions: Versions, scope: Scope, found: "Memory | None", version: Version) -> Result:
    memory = history.restore(ctx.store(), versions, scope, found, version)
    versions.take_in(scope.directory, lambda _: version.writer)
    return Result(memories.data_of(memory), lambda out: memories.print_written(ctx, out, "restored", memory))


def _print(ctx: Context, out: Output, known: "list[Version]") -> None:
    now = ctx.now()
    rows = []
    for number, version in reversed(list(enumerate(known, 1))):
        when = age(clock.parse(version.time), now)
        what = "deleted" if version.digest == GONE else size(version.size)
        rows.append([str(number), when, what, line(present.writer(version)), "" if version.seen else "not seen yet"])
    out.table(["VERSION", "AGE", "SIZE", "WRITTEN BY", ""], rows, flex=[3], right=[0, 1, 2])
    if len(known) > 1:
        out.say(f"memtui history NAME --diff {len(known)} shows what the newest changed.")
