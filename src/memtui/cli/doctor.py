"""`memtui doctor`: everything that a person could have wrong, and how to mend it."""

import argparse
import sys

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, safe
from memtui.core.doctor import NOTE, OK, PROBLEM, Finding
from memtui.core.errors import EXIT_FINDINGS
from memtui.core.words import many
from memtui.hooks import checkup
from memtui.tui import actions

MARKS = {OK: ("✓", "green"), NOTE: ("·", "dim"), PROBLEM: ("!", "yellow")}


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    parser.command(
        commands,
        "doctor",
        run,
        "check everything, and say how to mend it",
        "memtui doctor\nmemtui doctor --json",
        "Changes nothing. Exit code 5 where something wants mending.",
    )


def run(ctx: Context, _: argparse.Namespace) -> Result:
    """Check everything."""
    ctx.must_have_home()

    found = checkup.check(ctx.env, ctx.cwd, ctx.now(), actions=actions.defaults())
    problems = [each for each in found if each.level == PROBLEM]
    data = {
        "findings": [{"area": f.area, "level": f.level, "message": f.message, "remedy": f.remedy} for f in found],
        "problems": len(problems),
        "python": sys.executable,
    }
    return Result(data, lambda out: _print(out, found), EXIT_FINDINGS if problems else 0)


def _print(out: Output, found: "list[Finding]") -> None:
    problems = 0
    for area, title in checkup.TITLES.items():
        mine = [each for each in found if each.area == area]
        for each in mine:
            mark, style = MARKS[each.level]
            problems += each.level == PROBLEM
            words = f"{title}: {each.message}" if each.message else title
            first, *rest = out.wrapped(words, 2)
            out.print(out.style(mark, style) + " " + first)
            for each_line in rest:
                out.print("  " + each_line)
            if each.remedy:
                out.print("    → " + safe(each.remedy))
    out.print()
    if problems:
        out.print(out.style(f"{many(problems, 'thing')} to mend.", "yellow"))
    else:
        out.print(out.style("All well.", "green"))
