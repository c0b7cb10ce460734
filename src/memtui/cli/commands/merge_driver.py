"""`memtui merge-driver`, which git calls once `memtui setup merge-driver` set it up."""

import argparse

from memtui.base.errors import EXIT_FAILED
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Result, line, safe
from memtui.sync import driver


@parser.command("merge-driver")
def run(_: Context, args: argparse.Namespace) -> Result:
    merged = driver.merge_files(args.base, args.ours, args.theirs, args.name)
    lines = []
    for conflict in merged.conflicts:
        other = f"the other side has: {line(conflict.other)}" if conflict.other else "the other side deleted it"
        lines.append(f"{line(conflict.where)}: “{line(conflict.stands)}” stands; {other}")
    data = {"conflicts": [conflict._asdict() for conflict in merged.conflicts]}
    return Result(data, *map(safe, lines), code=EXIT_FAILED if merged.conflicts else 0)
