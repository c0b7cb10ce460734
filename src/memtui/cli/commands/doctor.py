"""`memtui doctor`: check everything that can be wrong, and say how to fix it, or fix it."""

import argparse
import sys

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import clock
from memtui.core.base.errors import EXIT_FAILED, EXIT_FINDINGS, MemtuiError, UsageError
from memtui.core.base.finding import NOTE, OK, PROBLEM, Finding
from memtui.core.base.phrasing import age, ago, many
from memtui.core.deliveries import error_log
from memtui.core.health import findings, fixes, retention
from memtui.core.health.fixes import AT_ONCE, DECIDED
from memtui.core.inbox.reconcile import Reconciled
from memtui.core.memories.store import Store
from memtui.hooks.installer import checkup
from memtui.present import fixes as words

MARKS = {OK: ("✓", "green"), NOTE: ("·", "dim"), PROBLEM: ("!", "red")}
# Where problems wait that are not of the set-up, and what lists them.
ELSEWHERE = {
    "inbox": "with memories: `memtui check` lists all, the Inbox those that you did not hide or reject",
    "trust": "with trust: `memtui trust --list` lists all, the Inbox those that you did not hide or reject",
    "activity": "with notes that wait: in Activity, and by `memtui note --list`",
}
UNDO = "memtui undo"  # undoes all that one call fixed


def register(commands: "parser.Commands") -> None:
    command = parser.command(
        commands,
        "doctor",
        run,
        "what is wrong with the installation, and the fix",
        "memtui doctor\nmemtui doctor --errors\nmemtui doctor --fix\n"
        "memtui doctor --fix errors --json\nmemtui doctor --clean --dry-run",
        "It changes nothing without --fix or --clean. The exit code is 5 if there is something to fix.",
    )
    only = command.add_mutually_exclusive_group()
    only.add_argument(
        "--errors", action="store_true", help="only list errors of hooks and workers, and where in memtui they happened"
    )
    only.add_argument(
        "--fix",
        nargs="?",
        const="all",
        choices=("all", *AT_ONCE, *DECIDED),
        metavar="WHAT",
        help="first fix what needs no decision, everything or only WHAT: errors (set their log aside), files (make them"
        " readable for you only), notes (find out whether they arrived); or,"
        " only if you name it, projects (give this project what may be of it or of another)",
    )
    only.add_argument(
        "--clean",
        action="store_true",
        help="delete for good what was kept long enough; a worker does so once a day. It can't be undone",
    )
    command.add_argument("--dry-run", action="store_true", help="with --clean: only show what would be deleted")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Fix what is asked for, then check everything; or only list errors, or delete what was kept long enough."""
    ctx.must_have_home()
    if args.errors or args.fix or args.clean:
        ctx.must_own()
    if args.dry_run and not args.clean:
        raise UsageError("--dry-run goes with --clean.", "Without --fix nothing is changed anyway.")
    if args.clean:
        return _clean(ctx, dry=args.dry_run)
    return _logged(ctx) if args.errors else _check(ctx, args)


def _check(ctx: Context, args: argparse.Namespace) -> Result:
    fixed = []
    if args.fix:
        store = ctx.store()
        with store.journal.together():
            fixed = [_fix(store, what) for what in (AT_ONCE if args.fix == "all" else (args.fix,))]
    found = checkup.check(ctx.env, ctx.cwd, ctx.now())
    problems = findings.problems(found)
    data = {
        "findings": [findings.as_row(each) for each in found],
        "problems": problems,
        "notes": findings.notes(found),
        "python": sys.executable,
        "fixed": fixed,
    }
    failed = any(each["error"] for each in fixed)
    code = EXIT_FAILED if failed else EXIT_FINDINGS if problems else 0
    return Result(data, lambda out: _print(out, found, fixed), code)


def _logged(ctx: Context) -> Result:
    """List the errors that hooks and workers logged, newest first."""
    rows = list(error_log.newest_first(ctx.root))
    now = ctx.now()

    def text(out: Output) -> None:
        for row in rows:
            head = f"{line(str(row.get('where')))}: {line(str(row.get('error')))}"
            out.print(f"{age(clock.parse(row.get('time')), now):>4}  {out.style(head, 'bold')}")
            out.paragraph(str(row.get("message")), "      ")
            trace = row.get("trace")
            for frame in trace if isinstance(trace, list) else []:
                out.print("      " + out.style(line(str(frame)), "dim"))
        if not rows:
            out.print("No errors.")
        else:
            out.say(f"{many(len(rows), 'error')}; memtui doctor --fix errors sets their log aside")

    return Result({"errors": rows, "path": ctx.root + "/log/errors.jsonl"}, text)


def _fix(store: Store, what: str) -> "dict[str, object]":
    """Fix one thing; return what was changed, in words and as data, and the command that takes it back, if any."""
    row: dict[str, object] = {"what": what, "changed": [], "message": "", "undo": None, "error": None}
    try:
        done = fixes.fix(store, what)
    except (MemtuiError, OSError) as error:
        message = error.message + " " + error.hint if isinstance(error, MemtuiError) else str(error)
        return {**row, "message": message, "error": message}
    changed = [
        {"delivery": each.delivery_id, "outcome": each.outcome, "returned": each.returned}
        if isinstance(each, Reconciled)
        else each
        for each in done.changed
    ]
    undo = UNDO if done.changed and done.undoable else None
    return {**row, "changed": changed, "message": words.words(done), "undo": undo}


def _print(out: Output, found: "list[Finding]", fixed: "list[dict[str, object]]") -> None:
    for done in fixed:
        mark, style = ("!", "red") if done["error"] else ("✓", "green") if done["changed"] else ("·", "dim")
        out.print(f"{out.style(mark, style)} {done['what']}: {line(str(done['message']))}")
        if done["undo"]:
            out.print(f"    → undo it: {line(str(done['undo']))}")
    if fixed:
        out.print()
    # Dreams are of a model: nothing is said of them until one is set.
    shown = {each.area for each in found} - ({"dream"} if any(each.code == "llm.off" for each in found) else set())
    for area, title in findings.AREAS.items():
        for each in found if area in shown else []:
            if each.area != area or (each.level != OK and findings.place(each) in ELSEWHERE):
                continue
            mark, style = MARKS[each.level]
            message = findings.message(each)
            out.finding(mark, style, f"{title}: {message}" if message else title, findings.remedy(each))
    for place, where in ELSEWHERE.items():
        # trust is apart, for `memtui check` does not count it
        here = (each for each in found if ("trust" if each.code == "trust.waiting" else findings.place(each)) == place)
        if count := findings.problems(here):
            out.print(f"{out.style('!', 'red')} {many(count, 'problem')} {where}")
    out.print()
    problems, notes = findings.problems(found), findings.notes(findings.of_setup(found))
    known = f" {notes} worth knowing." if notes else ""
    if problems:
        out.print(out.style(f"{many(problems, 'problem')} to fix.", "red") + known)
    else:
        out.print(out.style("All good.", "green") + known)


def _clean(ctx: Context, *, dry: bool) -> Result:
    """Remove what is due, or if `dry` only report it."""
    keep = retention.limits(ctx.root)
    found = fixes.due(ctx.store()) if dry else fixes.collect(ctx.store())
    rows = words.due(found, keep, dry=dry)

    def text(out: Output) -> None:
        out.facts([(kind, line(said)) for kind, said in rows])
        for each in found.busy:
            out.print("  " + out.style(f"! {line(each)}", "yellow"))
        if not rows:
            out.print(f"Nothing {'else was' if found.busy else 'is'} old enough to be deleted.")
        elif dry:
            out.print("Nothing was deleted. `memtui doctor --clean` deletes it for good; this can't be undone.")
        else:
            out.print("Deleted for good.")
        if found.oldest:
            oldest = ago(clock.parse(found.oldest), ctx.now())
            out.print(f"The oldest change kept was made {oldest}: memtui undo --list")

    data = {"dry_run": dry, "kept": vars(keep), **found.data()}
    return Result(data, text, EXIT_FAILED if found.busy else 0)
