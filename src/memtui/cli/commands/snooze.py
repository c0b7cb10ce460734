"""`memtui snooze`: hide drafts until a time."""

import argparse

from memtui.cli import entries, parser
from memtui.cli.bulk import BulkResult
from memtui.cli.context import Context
from memtui.cli.output import Output, Result
from memtui.core.base import clock
from memtui.core.base.short_ids import short_id
from memtui.core.review import snoozing
from memtui.present import dates, drafts


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "snooze",
        run,
        "hide drafts until a time",
        "memtui snooze 7XAD --until friday\nmemtui snooze --all --until 2w\nmemtui snooze 7XAD --until now",
        "Until then they are not listed, not counted and not delivered. `memtui inbox --snoozed` lists them.",
    )
    entries.add_draft_arguments(found)
    found.add_argument("--until", required=True, metavar="WHEN", help=snoozing.TAKEN)


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Snooze drafts as one step of undo, or bring them back."""
    now = ctx.now()
    until = snoozing.moment(args.until, now)
    bulk = BulkResult("draft", "drafts")
    items = entries.drafts(ctx, args, bulk, snoozed=until is None)
    done = ctx.review().snooze(items, until)
    data: dict[str, object] = {
        "snoozed": [item.id for item in items],
        "until": None if until is None else clock.iso_seconds(until),
        "transaction": done,
    }

    def text(out: Output) -> None:
        for item in items if len(items) > 1 or not out.tty else ():  # of one the sentence below says all
            state = "back" if until is None else f"until {dates.day_and_time(until, now)}"
            out.print(f"{state}  {short_id(item.id)}  {drafts.title(item)}")
        out.say(f"{drafts.snoozed(items, until, now)} memtui undo undoes it.")

    return bulk.result(data, text)
