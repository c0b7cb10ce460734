"""`memtui recall --replay`: which memories the last prompts of a project would get, now or with other memories."""

import argparse
import os

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import fs
from memtui.core.base.errors import NotFoundError, UsageError
from memtui.core.base.phrasing import age, cut, many
from memtui.core.base.storage import file_error
from memtui.core.memories import memory, references, scopes
from memtui.core.places import locate
from memtui.present import replay as present
from memtui.recall.replaying import ReplayedPrompt, StoreChange
from memtui.recalling import Recalling

# Characters of a prompt that are shown.
PROMPT = 200


def add_options(found: argparse.ArgumentParser) -> None:
    """Add the options to the command."""
    found.add_argument(
        "--replay",
        type=parser.count,
        metavar="N",
        help="instead of TEXT: the last N prompts that you typed in this project, beside what they brought then",
    )
    found.add_argument(
        "--with",
        dest="with_files",
        action="append",
        metavar="FILE",
        default=[],
        help="with --replay: as if the memory of its name were this file, or there were a new one",
    )
    found.add_argument(
        "--without", nargs="+", metavar="NAME", default=[], help="with --replay: as if these memories were not there"
    )


def wanted(args: argparse.Namespace) -> bool:
    """Return whether prompts are to be replayed. Raises UsageError for options that need that."""
    if args.replay is None:
        if args.with_files or args.without:
            raise UsageError("--with and --without only work with --replay.", "Such as: --replay 20 --without NAME")
        return False
    if args.text:
        raise UsageError("--replay takes prompts from your transcripts: leave out the text.")
    if args.session or args.explain:
        raise UsageError("--replay can't be combined with --session or --explain.")
    if args.replay < 1:
        raise UsageError("--replay 0: give the number of prompts, at least 1.")
    return True


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Replay the last prompts."""
    recalling = Recalling(ctx)
    changes = [_with(ctx, file) for file in args.with_files] + [_without(ctx, name) for name in args.without]
    _must_be_recalled(recalling, changes)
    problem = ""
    try:
        recalling.bring_up_to_date()
    except OSError as error:  # what there is of an index may still do
        problem = f"The index can't be brought up to date: {file_error(error).message}"
    try:
        found = recalling.replay(recalling.prompts(args.replay), changes)
    except OSError as error:
        raise file_error(error) from error
    data = {
        "changes": [{"path": each.path, "scope": each.scope, "gone": each.data is None} for each in changes],
        "prompts": [present.data(each) for each in found],
        "differ": sum(bool(each.gained or each.lost) for each in found) if changes else None,
        "problem": problem or None,
    }
    return Result(data, lambda out: _print(ctx, out, args, changes, found, problem))


def _with(ctx: Context, path: str) -> StoreChange:
    """Return the change that a file stands for. Raises MemtuiError."""
    full = os.path.abspath(os.path.join(ctx.cwd, path))
    try:
        data = fs.read_bytes(full, memory.MAX_BYTES)
    except OSError as error:
        raise file_error(error) from error
    name = os.path.basename(full)
    if not locate.is_memory_name(name):
        raise UsageError(f"{path} is no file of a memory.", "Its name ends with .md, and is not MEMORY.md.")
    try:
        there = scopes.find(ctx.env, ctx.cwd, name)
    except NotFoundError:
        scope = scopes.home(ctx.store().scopes())
        return StoreChange(scope.label, scope.directory, name, data)
    scope = ctx.store().scope(there.scope_label)
    return StoreChange(scope.label, scope.directory, references.relative(scope, there.path), data)


def _without(ctx: Context, name: str) -> StoreChange:
    there = scopes.find(ctx.env, ctx.cwd, name)
    scope = ctx.store().scope(there.scope_label)
    return StoreChange(scope.label, scope.directory, references.relative(scope, there.path), None)


def _must_be_recalled(recalling: Recalling, changes: "list[StoreChange]") -> None:
    """Raise UsageError for a memory that no prompt here recalls, as it is of an agent or of your instructions."""
    known = {directory for _, directory in recalling.places()}
    for each in changes:
        if each.directory not in known:
            raise UsageError(f"No prompt here recalls memories of {each.scope}: {each.file}.")


def _print(
    ctx: Context,
    out: Output,
    args: argparse.Namespace,
    changes: "list[StoreChange]",
    found: "list[ReplayedPrompt]",
    problem: str,
) -> None:
    if problem:
        out.say(f"! {line(problem)}")
    if not found:
        out.print("No prompt that you typed in this project is in a transcript on this machine.")
        out.print('  Try one: memtui recall "how do we release?"')
        return
    out.heading(present.headline(found, changed=bool(changes)), present.facts(found, changed=bool(changes)))
    shown = [each for each in found if args.all or not changes or each.gained or each.lost]
    for each in shown:
        _print_prompt(ctx, out, each, changed=bool(changes))
    if len(shown) < len(found):
        out.print(f"{many(len(found) - len(shown), 'prompt')} would get the same as now: --all lists all")


def _print_prompt(ctx: Context, out: Output, each: ReplayedPrompt, *, changed: bool) -> None:
    when = age(each.prompt.time or None, ctx.now())
    out.beside(f"  {when:>4}  ", 8, [f"“{cut(line(each.prompt.text), PROMPT)}”"], "bold")
    rows = present.rows(each, changed=changed)
    for mark, style, words in rows:
        out.exact("        " + out.style(f"{mark} {line(words)}", style))
    if not rows:
        out.exact("        " + out.style(present.nothing(each), "dim"))
