"""`memtui sync`: the same memories on all of a person's machines, and in a team."""

import argparse
import os
from collections.abc import Callable, Iterator

from memtui.base.errors import MemtuiError, NotFoundError
from memtui.base.phrasing_hot import ago, many
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, narrate, safe, styled
from memtui.client import locate_hot
from memtui.sync import quick, state
from memtui.views.words import TABLES

NOT_SET_UP = "Sync is not set up.", "Set it up with an empty git repository of yours: memtui sync setup URL"
NO_TEAM = "Set one up: memtui sync setup URL --team NAME"
NOTHING_ELSE = "Nothing else to sync: what travels is the same on all machines that synced."
PROPOSE = "Propose a memory to the team: memtui mv NAME --scope team:{team}"


def _states(ctx: Context, team: str = "") -> list[state.SyncState]:
    """Return what is set up, or that of a `team`. Raises MemtuiError for nothing."""
    names = state.names(ctx.root)
    if team and team not in names:
        others = ", ".join(filter(None, names))
        raise NotFoundError(f"There is no team {line(team)} here.", f"There are: {others}." if others else NO_TEAM)
    loaded = [own for name in ([team] if team else names) if (own := state.load(ctx.root, name)) is not None]
    if not loaded:
        raise MemtuiError(*NOT_SET_UP)
    return loaded


@parser.command("sync")
def run(ctx: Context, args: argparse.Namespace) -> Result:
    rows: list[dict[str, object]] = []
    words: list[str | Callable[[Output], None]] = []
    for own in sorted(_states(ctx), key=lambda own: not own.team):  # what a team wrote may be accepted elsewhere
        rows.append({"team": own.team, "url": own.url, "dry_run": args.dry_run, "error": ""})
        try:
            outcome = _outcome(ctx, own, dry_run=args.dry_run)
        except MemtuiError as error:
            if len(state.names(ctx.root)) == 1:
                raise
            rows[-1]["error"] = error.message
            words.append(styled(f"! {_whose(own)}: {safe(error.message)} {safe(error.hint)}", "yellow"))
            continue
        rows[-1] |= outcome._asdict()
        words += _lines(ctx, own, outcome, dry_run=args.dry_run)
    nothing = state.SyncOutcome([], [], [], {})._asdict() | {"dry_run": args.dry_run}
    own_row = nothing if rows[-1]["team"] else rows[-1]
    return Result({**own_row, "teams": [row for row in rows if row["team"]]}, *words)


def _outcome(ctx: Context, own: state.SyncState, *, dry_run: bool) -> state.SyncOutcome:
    if not dry_run and not own.withheld and quick.is_done(ctx.env, ctx.now(), team=own.team):
        return state.SyncOutcome([], [], [], {})
    from memtui.sync import sync  # reads memories

    return sync.run(ctx.env, own, ctx.now(), dry_run=dry_run)


def _whose(own: state.SyncState) -> str:
    return f"team {line(own.team)}" if own.team else "your machines"


def _lines(
    ctx: Context, own: state.SyncState, outcome: state.SyncOutcome, *, dry_run: bool
) -> "Iterator[str | Callable[[Output], None]]":
    verb, other = ("would come", "would go") if dry_run else ("came", "went")
    for arrow, paths in (("↓", outcome.came), ("↑", outcome.went)):
        for path in paths:
            sign, note = ("✗", " is deleted") if path in outcome.deleted else ("", "")
            yield f"{styled(arrow + sign, 'green')} {line(path.replace('team/', own.team + ': ', 1))}{note}"
    yield from _beside(ctx, outcome)
    if not (outcome.came or outcome.went):
        nothing = NOTHING_ELSE if outcome.withheld or outcome.conflicts else quick.NOTHING
        yield f"Nothing to sync with the {_whose(own)}." if own.team else nothing
    else:
        whose = f" of the {_whose(own)}" if own.team else ""
        yield f"{many(len(outcome.came), 'file')}{whose} {verb}, {len(outcome.went)} {other}."
    if outcome.waiting:
        yield narrate(f"{many(outcome.waiting, 'waits', 'wait')} in the Inbox: memtui inbox --kind trust")
    elif outcome.came and not dry_run:
        yield narrate("Accept what came in the Inbox: memtui" if own.team else "Undo what came: memtui undo")


def _beside(ctx: Context, outcome: state.SyncOutcome) -> "Iterator[str | Callable[[Output], None]]":
    """Yield what a sync has to say beside the files: what waits for a decision, and what stays here."""
    for words in outcome.conflicts:
        yield styled("! " + safe(words), "yellow")
    for path, reason in outcome.withheld.items():
        yield narrate(f"stays here: {ctx.tilde(path)}: {reason}")
    if outcome.absent:
        names = line(", ".join(outcome.absent))
        yield narrate(f"Not here: {names}. Its memories come with the first sync after a session in a clone of it.")


@parser.command("sync setup")
def set_up(ctx: Context, args: argparse.Namespace) -> Result:
    team = args.team or ""

    def agree() -> None:
        if args.yes:
            return
        for what, words in TABLES["team travels" if team else "travels"].items():
            ctx.out.print(f"{what}: {words.format(team=line(team))}")
        question = f"{'Sync' if team else 'Send them'} {'with' if team else 'to'} {line(args.url)}?"
        ctx.confirm(question, "Nothing was sent.")

    from memtui.sync import membership, sync

    folder = os.path.join(ctx.cwd, args.url)
    own = membership.join(ctx.root, folder if os.path.isdir(folder) else args.url, args.name or "", team, agree)
    outcome = sync.run(ctx.env, own, ctx.now())
    words = f"This machine is {line(own.name)}. {many(len(outcome.came), 'file')} came, {len(outcome.went)} went."
    data = {"url": own.url, "name": own.name, "team": team, **outcome._asdict()}
    return Result(data, words, *_beside(ctx, outcome), narrate(PROPOSE.format(team=line(team))) if team else "")


@parser.command("sync status")
def status(ctx: Context, _: argparse.Namespace) -> Result:
    rows, errors, data = [], [], []
    for own in _states(ctx):
        facts, about = _status_of(ctx, own)
        rows += facts
        data.append(about)
        errors += [styled(f"! {_whose(own)}: {safe(own.error)}", "yellow")] * bool(own.error)
    own_row = data[0] if not data[0]["team"] else {}
    return Result({**own_row, "teams": [row for row in data if row["team"]]}, lambda out: out.facts(rows), *errors)


def _status_of(ctx: Context, own: state.SyncState) -> tuple[list[tuple[str, str]], dict[str, object]]:
    from memtui.store import trust_hot
    from memtui.sync import sync
    from memtui.views import setup

    every = sync.machines(ctx.env, ctx.root, own)
    rows = [("team", line(own.team))] * bool(own.team)
    rows += [("with", line(own.url)), ("last", ago(own.time, ctx.now()) if own.time else "never")]
    labels = ("this one" if row.ahead is not None else "machine" for row in every)
    rows += zip(labels, (line(setup.machine(row, ctx.now())) for row in every), strict=True)
    asked, words = len(own.asked), " that two machines changed"
    if own.team:
        trust = trust_hot.status(ctx.root, state.folder(ctx.root, own.team) + "/memory")
        asked, words = len(trust.new) + len(trust.changed), " to accept"
    rows += [("waiting", f"{many(asked, 'text')}{words}, in the Inbox")] * bool(asked)
    data = {"team": own.team, "url": own.url, "name": own.name, "time": own.time, "error": own.error, "asked": asked}
    return rows, {**data, "machines": [row._asdict() for row in every]}


@parser.command("sync leave")
def leave(ctx: Context, args: argparse.Namespace) -> Result:
    from memtui.sync import membership

    team = args.team or ""
    is_left = f"{locate_hot.TEAM}:{team}" in dict(locate_hot.team_dirs(ctx.root)) and team not in state.names(ctx.root)
    own = state.SyncState("", "", "", team=team) if is_left else _states(ctx, team)[0]
    if own.team != team:
        raise MemtuiError(*NOT_SET_UP)
    membership.leave(ctx.root, team)
    stay = f"Its memories stay there; those of the {_whose(own)} left this machine." if team else "Its memories stay."
    words = f"This machine no longer syncs with {line(own.url) or _whose(own)}. {stay}"
    return Result({"url": own.url, "team": team}, words)
