"""What the commands of the inbox share: which entries their words mean, and how an entry is told in JSON."""

import argparse

from memtui.cli.context import Context
from memtui.cli.output import safe
from memtui.core.base import clock
from memtui.core.base.errors import NotFoundError, UsageError
from memtui.core.base.finding import Finding
from memtui.core.health import findings
from memtui.core.review import waiting
from memtui.core.review.waiting import KINDS, Waiting
from memtui.present import undelivered

LIMIT = 200
KIND_WORDS = {"guidance": "guidance", "updates": "pending updates", "items": "pending items"}


TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.cli.parser import Parser


def entries(ctx: Context, kinds: "tuple[str, ...]" = KINDS, all_projects: bool = False) -> "list[Waiting]":
    """List what waits for this project and everywhere; with `all_projects` for all of them, this one first."""
    unread: list[Finding] = []
    found = ctx.waiting(kinds, every=all_projects, unread=unread)
    ctx.kept["unread"] = told = [findings.told(each) for each in unread]
    for each in told:
        ctx.out.say(f"! {safe(each['message'])}\n  {safe(each['hint'])}")
    return found


def pick(ctx: Context, refs: "list[str]", kinds: "tuple[str, ...]", what: str) -> "list[Waiting]":
    """The entries that some ids mean, of any project. Raises NotFoundError, saying so if one was delivered."""
    every = entries(ctx, kinds, all_projects=True)
    found: dict[str, Waiting] = {}
    for ref in refs:
        try:
            item = waiting.find(every, ref, what)
        except NotFoundError as error:
            gone = waiting.delivered(ctx.root, ref.strip().upper()) if kinds == ("guidance",) and len(ref) > 20 else ""
            if gone:
                raise NotFoundError(f"{ref} was delivered already.", f"See `memtui deliveries show {gone}`.") from None
            hint = error.hint or "`memtui inbox` lists what waits."
            raise NotFoundError(error.message, hint) from None
        found[item.key] = item
    return list(found.values())


def drafts(ctx: Context, args: argparse.Namespace) -> "list[Waiting]":
    """The pending updates that a command names, or all of this project and the global ones with --all."""
    if bool(args.ids) == bool(args.all):
        raise UsageError("Say which: one or more IDs, or --all.", "`memtui inbox` lists them.")
    found = entries(ctx, ("updates",)) if args.all else pick(ctx, args.ids, ("updates",), "pending update")
    if not found:
        raise NotFoundError(f"There are no {KIND_WORDS['updates']}.")
    return found


def name_drafts(parser: "Parser") -> None:
    """Add the options by which a command names pending updates."""
    parser.add_argument("ids", nargs="*", metavar="ID", help="pending updates, see `memtui inbox`")
    parser.add_argument("--all", action="store_true", help="all of this project and the global ones")


def first(items: "list[Waiting]", limit: int) -> "tuple[list[Waiting], dict[str, int]]":
    """The first entries of each kind, so many at most (0: all), and how many there are beyond them, by kind."""
    counts = dict.fromkeys(KINDS, 0)
    shown = []
    for item in items:
        counts[item.kind] += 1
        if limit <= 0 or counts[item.kind] <= limit:
            shown.append(item)
    return shown, {kind: max(0, count - limit) if limit > 0 else 0 for kind, count in counts.items()}


def as_data(ctx: Context, item: Waiting) -> "dict[str, object]":
    """An entry for --json."""
    return {
        "id": item.id,
        "kind": item.kind,
        "scope": item.scope,
        "project": item.slug,
        "path": item.path,
        "time": None if (seconds := item.entry.time()) is None else clock.iso_seconds(seconds),
        "session": item.entry.fields.get("session"),
        "fields": item.entry.fields,
        "text": item.text,
        "evidence": item.evidence,
        "state": states(ctx, item),
    }


def states(ctx: Context, item: Waiting) -> "list[str]":
    """Words on what keeps an entry from being delivered."""
    return undelivered.words(ctx.settings(), item, ctx.now())


def short(entry_id: str) -> str:
    """The end of an id, which is enough to name it: the beginnings of ids of one hour are alike."""
    return entry_id[-6:]
