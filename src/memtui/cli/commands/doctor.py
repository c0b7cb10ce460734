"""`memtui doctor`: check everything that can be wrong, and say how to fix it, or fix it."""

import argparse
import sys

from memtui.base import clock, findings
from memtui.base.errors import EXIT_FAILED, EXIT_FINDINGS, MemtuiError, UsageError
from memtui.base.finding import NOTE, OK, PROBLEM, Finding
from memtui.base.phrasing import age, ago, many
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, narrate, safe, styled
from memtui.deliver import error_log
from memtui.hooks.install import checkup
from memtui.inbox.reconciliation import Reconciled
from memtui.store.store import Store
from memtui.tidy.checks import fixes, retention
from memtui.tidy.checks.fixes import AT_ONCE, DECIDED
from memtui.views import setup as setup_words

MARKS = {OK: ("✓", "green"), NOTE: ("·", "dim"), PROBLEM: ("!", "red")}
# Where problems wait that are not of the set-up, and what lists them.
ELSEWHERE = {
    "inbox": "with memories: `memtui check` lists all, the Inbox those that you did not hide or reject",
    "trust": "with trust: `memtui trust --list` lists all, the Inbox those that you did not hide or reject",
    "activity": "with notes that wait: in Activity, and by `memtui note --list`",
}
UNDO = "memtui undo"  # undoes all that one call fixed


@parser.command(
    """\
doctor: what is wrong with the installation, and the fix
  memtui doctor
  memtui doctor --errors
  memtui doctor --fix
  memtui doctor --fix errors --json
  memtui doctor --clean --dry-run
It changes nothing without --fix or --clean. The exit code is 5 if there is something to fix.
/ --errors | only list errors of hooks and workers, and where in memtui they happened
/ --fix [WHAT] | first fix what needs no decision, everything or only WHAT: errors (set their log aside), files (make
    them readable for you only), notes (find out whether they arrived); or, only if you name it, projects (give this
    project what may be of it or of another)
/ --clean | delete for good what was kept long enough; a worker does so once a day. It can't be undone
--dry-run | with --clean: only show what would be deleted""",
    {"fix": {"choices": ("all", *AT_ONCE, *DECIDED)}},
)
def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Fix what is asked for, then check everything; or only list errors, or delete what was kept long enough."""
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
            fixed = [_fix(store, what) for what in (AT_ONCE if args.fix in {True, "all"} else (args.fix,))]
    reports = checkup.check(ctx.env, ctx.cwd, ctx.now())
    problems = findings.problems(reports)
    data = {
        "findings": [findings.as_row(repair) for repair in reports],
        "problems": problems,
        "notes": findings.notes(reports),
        "python": sys.executable,
        "fixed": fixed,
    }
    failed = any(repair["error"] for repair in fixed)
    code = EXIT_FAILED if failed else EXIT_FINDINGS if problems else 0
    return Result(data, lambda out: _print(out, reports, fixed), code=code)


def _logged(ctx: Context) -> Result:
    """List the errors that hooks and workers logged, newest first."""
    rows, lines = list(error_log.newest_first(ctx.root)), []
    for row in rows:
        head = f"{line(str(row.get('where')))}: {line(str(row.get('error')))}"
        lines.append(f"{age(clock.parse(row.get('time')), ctx.now()):>4}  {styled(head, 'bold')}")
        lines.append("      " + safe(str(row.get("message"))).replace("\n", "\n      "))
        trace = row.get("trace")
        frames = trace if isinstance(trace, list) else []
        lines += ["      " + styled(line(str(frame)), "dim") for frame in frames]
    aside = narrate(f"{many(len(rows), 'error')}; memtui doctor --fix errors sets their log aside")
    data = {"errors": rows, "path": ctx.root + "/log/errors.jsonl"}
    return Result(data, *lines, aside) if rows else Result(data, "No errors.")


def _fix(store: Store, what: str) -> "dict[str, object]":
    """Fix one thing; return what was changed, in words and as data, and the command that takes it back, if any."""
    row: dict[str, object] = {"what": what, "changed": [], "message": "", "undo": None, "error": None}
    try:
        outcome = fixes.fix(store, what)
    except (MemtuiError, OSError) as error:
        message = error.message + " " + error.hint if isinstance(error, MemtuiError) else str(error)
        return {**row, "message": message, "error": message}
    changed = [
        {"delivery": repair.delivery_id, "outcome": repair.outcome, "returned": repair.returned}
        if isinstance(repair, Reconciled)
        else repair
        for repair in outcome.changed
    ]
    undo = UNDO if outcome.changed and outcome.undoable else None
    return {**row, "changed": changed, "message": setup_words.fixed(outcome), "undo": undo}


def _print(out: Output, reports: "list[Finding]", fixed: "list[dict[str, object]]") -> None:
    for repair in fixed:
        mark = MARKS[PROBLEM if repair["error"] else OK if repair["changed"] else NOTE]
        undo = f"undo it: {repair['undo']}" if repair["undo"] else ""
        out.finding(*mark, f"{repair['what']}: {line(str(repair['message']))}", undo)
    if fixed:
        out.print()
    # Dreams are of a model: nothing is said of them until one is set.
    areas = {each.area for each in reports} - ({"dream"} if any(each.code == "llm.off" for each in reports) else set())
    for area, title in findings.AREAS.items():
        for finding in reports if area in areas else []:
            if finding.area != area or (finding.level != OK and findings.place(finding) in ELSEWHERE):
                continue
            message = findings.message(finding)
            out.finding(*MARKS[finding.level], f"{title}: {message}" if message else title, findings.remedy(finding))
    for place, where in ELSEWHERE.items():
        # trust is apart, for `memtui check` does not count it
        here = (
            each for each in reports if ("trust" if each.code == "trust.waiting" else findings.place(each)) == place
        )
        if count := findings.problems(here):
            out.print(f"{styled('!', 'red')} {many(count, 'problem')} {where}")
    out.print()
    problems, notes = findings.problems(reports), findings.notes(findings.of_setup(reports))
    words = styled(f"{many(problems, 'problem')} to fix.", "red") if problems else styled("All good.", "green")
    out.print(words + f" {notes} worth knowing." * bool(notes))


def _clean(ctx: Context, *, dry: bool) -> Result:
    """Remove what is due, or if `dry` only report it."""
    keep = retention.limits(ctx.root)
    due = retention.due(ctx.root, ctx.now()) if dry else fixes.collect(ctx.store())
    rows = setup_words.due(due, keep, dry=dry)
    outcome = "Deleted for good."
    if not rows:
        outcome = f"Nothing {'else was' if due.busy else 'is'} old enough to be deleted."
    elif dry:
        outcome = "Nothing was deleted. `memtui doctor --clean` deletes it for good; this can't be undone."
    oldest = ago(clock.parse(due.oldest), ctx.now()) if due.oldest else ""
    return Result(
        {"dry_run": dry, "kept": vars(keep), **vars(due)},
        lambda out: out.facts([(kind, line(value)) for kind, value in rows]),
        *("  " + styled(f"! {line(path)}", "yellow") for path in due.busy),
        outcome,
        f"The oldest change kept was made {oldest}: memtui undo --list" if oldest else "",
        code=EXIT_FAILED if due.busy else 0,
    )
