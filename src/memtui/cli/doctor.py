"""`memtui doctor`: everything that a person could have wrong, and how to mend it."""

import argparse
import shutil
import subprocess
import sys

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, safe
from memtui.core import doctor, inbox
from memtui.core.doctor import NOTE, OK, PROBLEM, Finding
from memtui.core.errors import EXIT_FINDINGS, MemtuiError
from memtui.core.words import many
from memtui.hooks import fit

CLIENT_SECONDS = 10
OLDEST_CLIENT = (2, 0)
TITLES = {
    "hooks": "hooks in Claude Code's settings",
    "client": "Claude Code",
    "root": "memtui's own files",
    "config": "settings",
    "errors": "errors of hooks and workers",
    "inbox": "inboxes",
    "memories": "memories and their index",
    "trust": "trust in the project's memories",
    "journal": "the journal of changes",
    "log": "the delivery log",
}
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

    def fits(entry: inbox.Entry, scope: str, directory: str) -> bool:
        return fit.over(ctx.settings(), ctx.now(), entry, scope, directory) <= 0

    found = [*_hooks(ctx), *_client(ctx), *doctor.check(ctx.env, ctx.cwd, ctx.now(), fits)]
    problems = [each for each in found if each.level == PROBLEM]
    data = {
        "findings": [{"area": f.area, "level": f.level, "message": f.message, "remedy": f.remedy} for f in found],
        "problems": len(problems),
        "python": sys.executable,
    }
    return Result(data, lambda out: _print(out, found), EXIT_FINDINGS if problems else 0)


def _hooks(ctx: Context) -> "list[Finding]":
    from memtui.hooks import status

    try:
        found = status.status(ctx.env, ctx.cwd)
    except (MemtuiError, OSError) as error:
        return [Finding("hooks", PROBLEM, f"can't be looked at: {error}", "memtui hooks status")]
    problems = [Finding("hooks", PROBLEM, problem, "memtui hooks status") for problem in found.problems]
    if not found.installed:
        problems.append(Finding("hooks", PROBLEM, "not installed: no session is served", "memtui hooks install"))
    if problems:
        return problems
    places = sorted({entry.source for entry in found.entries})
    return [Finding("hooks", OK, f"{many(len(found.entries), 'hook')} ({', '.join(places)})")]


def _client(ctx: Context) -> "list[Finding]":
    path = shutil.which("claude", path=ctx.env.get("PATH"))
    if path is None:
        return [Finding("client", NOTE, "`claude` is not on the PATH, so its version is not known")]
    try:
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=CLIENT_SECONDS,
            check=True,
            env=ctx.env,
        )
        word = done.stdout.decode("utf-8", "replace").split()[0]
        version = tuple(int(part) for part in word.split(".")[:2])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return [
            Finding(
                "client", PROBLEM, f"{path} does not tell its version", "Run `claude --version` and mend what it says."
            )
        ]
    if version < OLDEST_CLIENT:
        return [Finding("client", PROBLEM, f"{path} is {word}: too old for these hooks", "Update Claude Code.")]
    return [Finding("client", OK, f"{word} at {path}")]


def _print(out: Output, found: "list[Finding]") -> None:
    problems = 0
    for area, title in TITLES.items():
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
