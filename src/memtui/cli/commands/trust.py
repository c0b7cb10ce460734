"""`memtui trust`: say which memories that came with a repository may be delivered."""

import argparse
import os

from memtui.base.errors import MemtuiError, NotFoundError, UsageError
from memtui.base.phrasing_hot import many
from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, picked
from memtui.client import locate_hot
from memtui.store import scopes, trust_grants, trust_hot
from memtui.store.memory import read_memory
from memtui.views import changes


@parser.command("trust")
def run(ctx: Context, args: argparse.Namespace) -> Result:
    if args.names and (args.list or args.always):
        raise UsageError("--list and --always work on all memories of a repository.", "Leave the names out.")
    directory, exists, label = _directory(ctx, args)
    if not exists:
        words = f"This project has no memories of its own: there is no {ctx.tilde(directory)}."
        if args.list:
            return Result({"directory": directory, "exists": False}, words)
        raise NotFoundError(words, "Create one with: memtui new NAME --scope project")
    before = _status(ctx, directory)
    if args.list:
        return Result(_data(directory, before), lambda out: _print(ctx, out, directory, before))
    bulk = memories.BulkResult()
    names = bulk.run(ctx.store(), args.names, lambda name: _relative_path(ctx, directory, name, label)) or None
    if args.remove:
        had = trust_grants.revoke(ctx.root, directory, names, now=ctx.now)
        what = ", ".join(names) if names else ctx.tilde(directory)
        words = f"{'no longer trusted' if had else 'not trusted before'}: {line(what)}"
        data = {**_data(directory, _status(ctx, directory)), "removed": had}
        return bulk.result(data, words, memories.undo(bool(had)))
    return _grant(ctx, args, directory, before, names, bulk)


def _directory(ctx: Context, args: argparse.Namespace) -> "tuple[str, bool, str]":
    """Return the directory that is meant, whether it exists, and the label of its scope. Raises NotFoundError."""
    directory, exists = locate_hot.project_dir(ctx.env, ctx.cwd)
    team = f"{locate_hot.auto_dir(ctx.env, ctx.cwd)}/{locate_hot.TEAM}"
    prefixes = {name.rpartition(":")[0] for name in args.names} | {f"{locate_hot.TEAM}:{args.team}"}
    for label, mounted in locate_hot.team_dirs(ctx.root):
        if label in prefixes:
            return mounted, True, label
    if isinstance(args.team, str):
        raise NotFoundError(f"There is no team {args.team} here.", "`memtui sync status` lists your teams.")
    asks_for_all = not (args.names or args.list or args.always or args.remove)
    if asks_for_all and not args.team and not any(_waits(ctx, place) for place in (directory, team)):
        for label, mounted in locate_hot.team_dirs(ctx.root):
            if _waits(ctx, mounted):
                return mounted, True, label
    shared = args.team or any(name.startswith(locate_hot.TEAM + ":") for name in args.names)
    if not shared and not (asks_for_all and not (exists and _waits(ctx, directory)) and _waits(ctx, team)):
        return directory, exists, "project"
    if not os.path.isdir(team):
        raise NotFoundError(f"No team shares memories here: there is no {ctx.tilde(team)}.")
    return team, True, locate_hot.TEAM


def _grant(
    ctx: Context,
    args: argparse.Namespace,
    directory: str,
    before: trust_hot.TrustStatus,
    names: "list[str] | None",
    bulk: memories.BulkResult,
) -> Result:
    contents = trust_grants.read(directory, names)
    trusted = trust_hot.load(ctx.root, directory)
    untrusted = [name for name, text in contents.items() if not trusted.allows(text)]
    if names is None:
        contents = {name: contents[name] for name in untrusted}
    if not ctx.out.json:
        if names is None:
            _print(ctx, ctx.out, directory, before)
            ctx.out.print()
        for name in names or untrusted:
            earlier = trust_grants.earlier(ctx.root, trusted, name)
            ctx.out.parts(changes.describe_untrusted(name, contents.get(name, b""), earlier))
            ctx.out.print()
    how = ", and all later versions" if args.always else ""
    if (untrusted or args.always) and not args.yes:
        what = "this memory" if len(contents) == 1 else "these memories"
        now = " as it is now" if len(contents) == 1 else " as they are now"
        ctx.confirm(f"Trust {what}{how or now}?", "Nothing was trusted.")
    after = trust_grants.grant(ctx.root, directory, contents, args.always or None, now=ctx.now)
    words = "All are trusted already." if after.trusted else "There is no memory to trust."
    if untrusted:
        words = f"trusted: {many(len(untrusted), 'memory', 'memories')}{how}"
    elif how:
        words = "trusted: all later versions; the present ones are trusted already"
    return bulk.result({**_data(directory, after), "newly": untrusted}, words, memories.undo(bool(untrusted or how)))


def _relative_path(ctx: Context, directory: str, name: str, label: str) -> str:
    """Return the path of a memory below the directory, if it is there. Raises NotFoundError, ConflictError."""
    match = scopes.find(ctx.env, ctx.cwd, name if ":" in name or "/" in name else f"{label}:{name}")
    if not match.path.startswith(directory + "/"):
        words = f"{match.path} did not come with the repository."
        raise NotFoundError(words, "Only a repository's memories need trust.")
    return match.path.removeprefix(directory + "/")


def _status(ctx: Context, directory: str) -> trust_hot.TrustStatus:
    try:
        return trust_hot.status(ctx.root, directory)
    except OSError as error:
        raise MemtuiError(f"{directory} can't be read: {error.strerror}.") from error


def _waits(ctx: Context, directory: str) -> bool:
    trust_status = _status(ctx, directory)
    return bool(trust_status.new or trust_status.changed)


def _data(directory: str, status: trust_hot.TrustStatus) -> "dict[str, object]":
    return {"directory": directory, "exists": True, **picked(status, " ".join(status.__slots__))}


def _print(ctx: Context, out: Output, directory: str, status: trust_hot.TrustStatus) -> None:
    out.heading(line(ctx.tilde(directory)), "all later versions trusted" if status.always else "")
    rows = []
    by_mark = {"✓ trusted": status.trusted, "! new": status.new, "! changed": status.changed}
    for mark, names in by_mark.items():
        style = "yellow" if mark.startswith("!") else "green"
        about = ((name, read_memory(os.path.join(directory, name)).description) for name in names)
        rows += [[(mark, style), (line(name), "bold"), line(words)] for name, words in about]
    rows += [[("✗ refused", "red"), (line(name), "bold"), line(why)] for name, why in status.refused.items()]
    if rows:
        out.table(["TRUST", "MEMORY", "DESCRIPTION"], rows, flex=(2, 1), indent="  ")
    else:
        out.print("  no memories")
