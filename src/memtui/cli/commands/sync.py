"""`memtui sync`: the same memories on all of a person's machines."""

import argparse
import os
from collections.abc import Callable, Iterator

from memtui.base.errors import MemtuiError
from memtui.base.phrasing_hot import ago, many
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, narrate, safe, styled
from memtui.sync import quick, state

NOT_SET_UP = "Sync is not set up.", "Set it up with an empty git repository of yours: memtui sync setup URL"
TRAVELS = (
    "What travels: global memories and the project memories that Claude Code keeps, with their MEMORY.md.",
    "What stays: logs, sessions, notes, drafts, settings, trust, and each file that may hold a secret.",
)


def _state(ctx: Context) -> state.SyncState:
    if (own := state.load(ctx.root)) is None:
        raise MemtuiError(*NOT_SET_UP)
    return own


@parser.command("""\
sync: keep memories the same on all your machines, over git
  memtui sync
  memtui sync --dry-run
  memtui sync setup git@example.org:you/memories.git
It fetches what your other machines pushed, merges it with the memories here, and pushes. What comes in is one step of
undo; where two machines changed one thing, one text stands and the other waits in the Inbox of both. Sessions do it by
themselves at their start and after each turn.
--dry-run | only say what would come and go""")
def run(ctx: Context, args: argparse.Namespace) -> Result:
    own = _state(ctx)
    if not args.dry_run and quick.is_done(ctx.env, ctx.now()):
        outcome = state.SyncOutcome([], [], [], {})
    else:
        from memtui.sync import sync  # reads memories

        outcome = sync.run(ctx.env, own, ctx.now(), dry_run=args.dry_run)
    data = {**outcome._asdict(), "url": own.url, "dry_run": args.dry_run}
    verb = "would come" if args.dry_run else "came"
    other = "would go" if args.dry_run else "went"
    nothing = not (outcome.came or outcome.went)
    return Result(
        data,
        *(f"{styled('↓', 'green')} {line(path)}" for path in outcome.came),
        *(f"{styled('↑', 'green')} {line(path)}" for path in outcome.went),
        *_beside(ctx, outcome),
        "Nothing to sync: all machines that synced have the same memories." * nothing,
        f"{many(len(outcome.came), 'file')} {verb}, {len(outcome.went)} {other}." * (not nothing),
        narrate("Undo what came: memtui undo") if outcome.came and not args.dry_run else "",
    )


def _beside(ctx: Context, outcome: state.SyncOutcome) -> "Iterator[str | Callable[[Output], None]]":
    """Yield what a sync has to say beside the files: what waits for a decision, and what stays here."""
    for words in outcome.conflicts:
        yield styled("! " + safe(words), "yellow")
    for path, reason in outcome.withheld.items():
        yield narrate(f"stays here: {ctx.tilde(path)}: {reason}")


@parser.command("""\
sync setup: sync with a git repository, and for the first time
  memtui sync setup git@example.org:you/memories.git
  memtui sync setup /media/stick/memories.git --name laptop
The repository must be empty, or one that memtui syncs with. ssh, https and folders work, with the keys and helpers
that git uses.
URL | the address of the repository
--name NAME | what this machine is called on the others: its host name by default
--yes | don't ask""")
def set_up(ctx: Context, args: argparse.Namespace) -> Result:
    if not args.yes:
        for words in TRAVELS:
            ctx.out.print(words)
        ctx.confirm(f"Send them to {line(args.url)}?", "Nothing was sent.")
    from memtui.sync import sync

    folder = os.path.join(ctx.cwd, args.url)
    own = sync.set_up(ctx.root, folder if os.path.isdir(folder) else args.url, args.name or "")
    outcome = sync.run(ctx.env, own, ctx.now())
    words = f"This machine is {line(own.name)}. {many(len(outcome.came), 'file')} came, {len(outcome.went)} went."
    return Result({"url": own.url, "name": own.name, **outcome._asdict()}, words, *_beside(ctx, outcome))


@parser.command("""\
sync status: with what this machine syncs, when it did, and which machines do
  memtui sync status
  memtui sync status --json""")
def status(ctx: Context, _: argparse.Namespace) -> Result:
    from memtui.sync import sync

    own = _state(ctx)
    names = sync.machines(ctx.root, own) if own.base else []
    rows = [("with", line(own.url)), ("last", ago(own.time, ctx.now()) if own.time else "never")]
    rows += [
        ("machine" if number else "this one", f"{line(name)}  memtui {line(version)}")
        for number, (name, version) in enumerate(names)
    ]
    rows += [("waiting", many(len(own.asked), "text") + " that two machines changed, in the Inbox")] * bool(own.asked)
    error = styled("! " + safe(own.error), "yellow") if own.error else ""
    data = {"url": own.url, "name": own.name, "time": own.time, "error": own.error, "asked": len(own.asked)}
    data["machines"] = [{"name": name, "version": version} for name, version in names]
    return Result(data, lambda out: out.facts(rows), error)


@parser.command("""\
sync leave: stop syncing; the memories stay, here and there
  memtui sync leave""")
def leave(ctx: Context, _: argparse.Namespace) -> Result:
    from memtui.sync import sync

    own = _state(ctx)
    sync.leave(ctx.root)
    return Result({"url": own.url}, f"This machine no longer syncs with {line(own.url)}. Its memories stay.")
