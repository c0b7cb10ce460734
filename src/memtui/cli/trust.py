"""`memtui trust`: which memories that came with a repository may be delivered."""

import argparse
import os

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.memories import tilde
from memtui.cli.output import Output, Result, line
from memtui.core import locate, trust
from memtui.core.errors import MemtuiError, NotFoundError
from memtui.core.memory import read_memory
from memtui.core.words import many


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "trust",
        run,
        "trust the memories that came with a repository",
        "memtui trust --list\nmemtui trust",
        "Memories in .claude/memory are delivered only as trusted, byte for byte; what memtui itself wrote there is.",
    )
    how = found.add_mutually_exclusive_group()
    how.add_argument("--list", action="store_true", help="only show what is trusted and what is not")
    how.add_argument("--always", action="store_true", help="also what they become, for a repository of your own")
    how.add_argument("--remove", action="store_true", help="trust nothing here any more")
    found.add_argument("--yes", action="store_true", help="don't ask")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Trust, list, or trust no more."""
    ctx.must_have_home()
    directory, exists = locate.project_dir(ctx.env, ctx.cwd)
    if not exists:
        if args.list:
            return Result({"directory": directory, "exists": False}, lambda out: out.print(_none(ctx, directory)))
        raise NotFoundError(_none(ctx, directory), "The project scope is made by: memtui new NAME --scope project")
    before = _status(ctx, directory)
    if args.list:
        return Result(_data(directory, before), lambda out: _print(ctx, out, directory, before))
    if args.remove:
        had = trust.untrust(ctx.root, directory)
        data = {**_data(directory, _status(ctx, directory)), "removed": had}
        word = "is no longer trusted" if had else "was not trusted"
        return Result(data, lambda out: out.print(f"{line(tilde(ctx, directory))} {word}."))
    open_ones = [*before.new, *before.changed]
    if not ctx.out.json:
        _print(ctx, ctx.out, directory, before)
    question = "Trust these memories, and whatever they become?" if args.always else "Trust these memories as they are?"
    if (open_ones or args.always) and not args.yes:
        ctx.confirm(question, "Nothing was trusted.")
    after = trust.trust(ctx.root, directory, always=args.always or before.always)
    data = {**_data(directory, after), "newly": open_ones}

    def text(out: Output) -> None:
        how = ", and whatever they become" if after.always else ""
        out.print(f"trusted: {many(len(after.trusted), 'memory', 'memories')}{how}")

    return Result(data, text)


def _none(ctx: Context, directory: str) -> str:
    return f"This project has no memories of its own: there is no {tilde(ctx, directory)}."


def _status(ctx: Context, directory: str) -> trust.Status:
    try:
        return trust.status(ctx.root, directory)
    except OSError as error:
        raise MemtuiError(f"{directory} can't be read: {error.strerror}.") from error


def _data(directory: str, found: trust.Status) -> "dict[str, object]":
    return {
        "directory": directory,
        "exists": True,
        "always": found.always,
        "trusted": found.trusted,
        "new": found.new,
        "changed": found.changed,
        "refused": found.refused,
    }


def _print(ctx: Context, out: Output, directory: str, found: trust.Status) -> None:
    always = "trusted whatever they become" if found.always else ""
    out.heading(line(tilde(ctx, directory)), always)
    rows = []
    for word, names, style in (
        ("trusted", found.trusted, "green"),
        ("new", found.new, "yellow"),
        ("changed", found.changed, "yellow"),
    ):
        for name in names:
            about = read_memory(os.path.join(directory, name)).description
            rows.append([(f"{'✓' if word == 'trusted' else '!'} {word}", style), (line(name), "bold"), line(about)])
    rows += [[("✗ refused", "red"), (line(name), "bold"), line(why)] for name, why in found.refused.items()]
    if rows:
        out.table(["TRUST", "MEMORY", "DESCRIPTION"], rows, flex=(2, 1), indent="  ")
    else:
        out.print("  no memories")
