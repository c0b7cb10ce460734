"""`memtui doctor`: everything that a person could have wrong, and how to mend it."""

import argparse
import sys

from memtui import actions
from memtui.cli import diff, parser
from memtui.cli.commands.index import ask_fix, show_fix
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.core.base import clock
from memtui.core.base.errors import EXIT_FAILED, EXIT_FINDINGS, MemtuiError, UsageError
from memtui.core.base.phrasing import age, many
from memtui.core.deliveries import error_log
from memtui.core.health import fixes
from memtui.core.health.findings import NOTE, OK, PROBLEM, Finding
from memtui.core.inbox import reconcile
from memtui.core.memories import index_report, scopes
from memtui.core.memories.store import Store
from memtui.hooks.installer import checkup

MARKS = {OK: ("✓", "green"), NOTE: ("·", "dim"), PROBLEM: ("!", "yellow")}
# All that one call mends is one step.
UNDO = "memtui undo"
FIXES = ("files", "errors", "guidance", "index")


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "doctor",
        run,
        "check everything, and say how to mend it",
        "memtui doctor\nmemtui doctor --errors\nmemtui doctor --fix\nmemtui doctor --fix errors --json",
        "Changes nothing without --fix. Exit code 5 where something wants mending.",
    )
    found.add_argument(
        "--errors", action="store_true", help="only list what went wrong in hooks and workers, and where in memtui"
    )
    found.add_argument(
        "--fix",
        nargs="?",
        const="all",
        choices=("all", *FIXES),
        metavar="WHAT",
        help="first mend what needs no decision, all of it or one: errors (set their log aside), files (readable for"
        " you alone), guidance (settle what is unproven), index (lines of MEMORY.md, after showing the diff)",
    )
    found.add_argument("--yes", action="store_true", help="with --fix: don't ask")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Mend what is asked for, then check everything."""
    ctx.must_have_home()
    if args.errors or args.fix:
        ctx.must_own()
    if args.errors:
        if args.fix:
            raise UsageError("--errors and --fix go alone.", "`memtui doctor --fix errors` sets them aside.")
        return _logged(ctx)
    fixed = []
    if args.fix:
        store = ctx.store()
        with store.together():
            fixed = [_fix(ctx, store, what, yes=args.yes) for what in (FIXES if args.fix == "all" else (args.fix,))]
    found = checkup.check(ctx.env, ctx.cwd, ctx.now(), actions=actions.defaults())
    problems = [each for each in found if each.level == PROBLEM]
    data = {
        "findings": [{"area": f.area, "level": f.level, "message": f.message, "remedy": f.remedy} for f in found],
        "problems": len(problems),
        "python": sys.executable,
        "fixed": fixed,
    }
    failed = any(each["error"] for each in fixed)
    code = EXIT_FAILED if failed else EXIT_FINDINGS if problems else 0
    return Result(data, lambda out: _print(out, found, fixed), code)


def _logged(ctx: Context) -> Result:
    """The errors that hooks and workers noted while they failed open, newest first."""
    rows = list(error_log.newest_first(ctx.root))
    now = ctx.now()

    def text(out: Output) -> None:
        for row in rows:
            head = f"{line(str(row.get('where')))}: {line(str(row.get('error')))}"
            out.print(f"{age(clock.parse(row.get('time')), now):>4}  {out.style(head, 'bold')}")
            out.paragraph(safe(str(row.get("message"))), "      ")
            trace = row.get("trace")
            for place in trace if isinstance(trace, list) else []:
                out.print("      " + out.style(line(str(place)), "dim"))
        if not rows:
            out.print("No errors.")
        else:
            out.say(f"{many(len(rows), 'error')}; memtui doctor --fix errors sets their log aside")

    return Result({"errors": rows, "path": ctx.root + "/log/errors.jsonl"}, text)


def _fix(ctx: Context, store: Store, what: str, *, yes: bool) -> "dict[str, object]":
    """What was mended, in words and as data; `undo` is the command that takes it back, if one does."""
    row: dict[str, object] = {"what": what, "changed": [], "message": "", "undo": None, "error": None}
    try:
        if what == "index":
            return {**row, **_index(ctx, store, yes=yes)}
        mend = {"errors": _errors, "files": _files, "guidance": _guidance}[what]
        return {**row, **mend(ctx, store)}
    except (MemtuiError, OSError) as error:
        message = error.message + " " + error.hint if isinstance(error, MemtuiError) else str(error)
        return {**row, "message": message, "error": message}


def _errors(_: Context, store: Store) -> "dict[str, object]":
    path = fixes.set_errors_aside(store.journal)
    if path is None:
        return {"message": "errors: there are none"}
    return {"changed": [path], "message": f"errors: set aside, in {path}", "undo": UNDO}


def _files(_: Context, store: Store) -> "dict[str, object]":
    changed, undoable = fixes.close(store.journal)
    if not changed:
        return {"message": "files: all are yours alone"}
    words = many(len(changed), "file or directory is", "files and directories are")
    return {"changed": changed, "message": f"files: {words} yours alone now", "undo": UNDO if undoable else None}


def _guidance(ctx: Context, _: Store) -> "dict[str, object]":
    settled = reconcile.settle(ctx.env, ctx.root, now=ctx.now())
    rows = [{"delivery": s.delivery_id, "outcome": s.outcome, "returned": s.returned} for s in settled]
    back = sum(len(each.returned) for each in settled)
    words = f"{many(len(rows), 'delivery', 'deliveries')} settled, {many(back, 'note')} back in the inbox"
    return {"changed": rows, "message": f"guidance: {words if rows else 'nothing can be settled'}"}


def _index(ctx: Context, store: Store, *, yes: bool) -> "dict[str, object]":
    todo = [each for each in index_report.reports(ctx.root, scopes.discover(ctx.env, ctx.cwd)) if each.fixable]
    if not todo:
        return {"message": "index: there is nothing to mend"}
    show_fix(ctx, todo)
    ask_fix(ctx, todo, yes=yes)
    index_report.mend(store, todo)
    names = ", ".join(each.scope.label for each in todo)
    return {
        "changed": [each.scope.index_path for each in todo],
        "message": f"index: mended MEMORY.md of {names}",
        "undo": UNDO,
        "diff": "\n".join(piece for each in todo for piece in diff.lines(each.index.raw, each.fixed)),
    }


def _print(out: Output, found: "list[Finding]", fixed: "list[dict[str, object]]") -> None:
    for done in fixed:
        mark, style = ("!", "red") if done["error"] else ("✓", "green") if done["changed"] else ("·", "dim")
        out.print(out.style(mark, style) + " " + line(str(done["message"])))
        if done["undo"]:
            out.print(f"    → back: {line(str(done['undo']))}")
    if fixed:
        out.print()
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
