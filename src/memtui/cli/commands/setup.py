"""`memtui setup`: hooks, status line, plugin, completions; and `doctor`: what is wrong with them, and the fixes."""

import argparse
import contextlib
import sys
from collections.abc import Iterator

from memtui.base import clock_hot, findings, installer
from memtui.base.errors import EXIT_FAILED, EXIT_FINDINGS, MemtuiError, UsageError
from memtui.base.finding import NOTE, OK, PROBLEM, Finding
from memtui.base.phrasing_hot import age, many
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, narrate, picked, safe, styled
from memtui.client.agents import agents_hot, programs
from memtui.client.agents.program import PROGRAM, Program
from memtui.deliver import error_log_hot
from memtui.hooks.install import agents, checkup
from memtui.hooks.install import installation as install
from memtui.hooks.install import status as hook_status
from memtui.hooks.install.entries import STATUS_LINE
from memtui.inbox.reconciliation_hot import Reconciled
from memtui.store.store import Store
from memtui.sync import driver
from memtui.tidy.checks import fixes
from memtui.tidy.checks.fixes import AT_ONCE, DECIDED
from memtui.views import setup as setup_words
from memtui.views.words import TABLES

PLUGIN = ("claude plugin marketplace add PATH-OR-URL", "claude plugin install memtui@memtui")
SHELLS = ("bash", "zsh", "fish")
MARKS = {OK: ("✓", "green"), NOTE: ("·", "dim"), PROBLEM: ("!", "red")}
ELSEWHERE = TABLES["problems elsewhere"]
UNDO = "memtui undo"  # undoes all that one call fixed
EVERY = "all"  # the name of no agent


@parser.command("setup")
def status(ctx: Context, _: argparse.Namespace) -> Result:
    """Report where the hooks are installed and what keeps them from running. Exit code 5 if there is a problem."""
    report = hook_status.status(ctx.env, ctx.cwd)
    data = {**hook_status.as_json(report), "installed": report.installed}
    others = agents.other_agents(ctx.env)
    state, installed = setup_words.state(report, [other.program.title for other in others if other.has_hooks])
    missing = not installed and not report.unreadable

    events_by_place: dict[tuple[str, str], set[str]] = {}
    for entry in report.entries:
        events_by_place.setdefault((entry.source, entry.path), set()).add(entry.event)
    more = {place: ", and the status line" * (STATUS_LINE in events) for place, events in events_by_place.items()}
    rows = [(source, line(path) + words) for (source, path), words in more.items()]
    data["agents"] = [
        picked(other, "path state remedy")
        | picked(other.program, "name title")
        | {"notes": other.program.notes(ctx.env) if other.has_hooks else []}
        for other in others
    ]
    return Result(
        data,
        f"hooks: {styled(state, 'green' if installed else 'red')}",
        "  Install them: memtui setup hooks" * missing,
        lambda out: out.facts(rows),
        *(styled("! " + safe(findings.message(problem)), "yellow") for problem in report.problems),
        *(styled("· " + safe(findings.message(note)), "dim") for note in report.notes),
        *(row for other, facts in zip(others, data["agents"], strict=True) for row in _agent(other, facts["notes"])),
        code=EXIT_FINDINGS if report.problems or not (report.installed or any(row.has_hooks for row in others)) else 0,
    )


def _agent(agent: agents.AgentSetup, notes: list[str]) -> Iterator[str]:
    """Yield what there is to say of another agent of this machine."""
    is_ready = agent.state == agents.READY
    mark = "✓" if is_ready else "!" if agent.has_hooks else "·"
    yield f"{agent.program.title}: " + styled(f"{mark} {safe(agent.words)}", "green" if is_ready else "")
    yield from (styled("  ! " + safe(note), "yellow") for note in notes)


@parser.command("setup statusline")
@parser.command("setup hooks", agents="|".join((*agents_hot.NAMES, EVERY)), names=", ".join(agents_hot.NAMES))
def change(ctx: Context, args: argparse.Namespace) -> Result:
    name = getattr(args, "agent", agents_hot.NAMES[0])
    if name != EVERY:
        return _change(ctx, args, programs.load(name))
    results, rows = [], []
    for program in programs.every():
        if program.is_present(ctx.env):
            if not ctx.out.json:
                ctx.out.heading(program.title)
            try:
                results.append(_change(ctx, args, program))
            except MemtuiError as error:  # each has a question of its own
                ctx.out.say(f"{program.title}: {error.message} {error.hint or ''}".rstrip())
                rows.append({"agent": program.name, "error": error.message})
    absent = ", ".join(program.title for program in programs.every() if not program.is_present(ctx.env))
    texts = [text for result in results for text in result.text]
    nowhere = narrate(f"Not on this machine: {absent}." if absent else "")
    return Result([*(result.data for result in results), *rows], *texts, nowhere, code=EXIT_FAILED if rows else 0)


def _change(ctx: Context, args: argparse.Namespace, program: Program) -> Result:
    path = install.settings_path(ctx.env, ctx.cwd, args.scope)
    if program is not PROGRAM:
        if args.scope != "user":
            raise UsageError(f"The hooks of {program.title} go into the user's settings alone.", "Leave out --scope.")
        path = program.hooks_file(ctx.env)
    action: install.Action = "uninstall" if args.remove else "install"
    has_line = args.action == "statusline"
    plan = install.plan(path, action, env=ctx.env, scope=args.scope, status_line=has_line, program=program)
    if not ctx.out.json and plan.changed:
        for heading, events in setup_words.effects(plan):
            ctx.out.heading(heading)
            ctx.out.facts([(event, setup_words.DOES[event]) for event in events], 18)
        ctx.out.diff_lines(plan.diff.splitlines())
    elif not ctx.out.json:
        ctx.out.print(f"{line(plan.settings_path)} {setup_words.unchanged(plan)}: nothing to change.")
    backup, is_applied, added = None, plan.changed and not args.dry_run, action == "install"
    own_notes = program.notes(ctx.env) if added else []
    if added and program is not PROGRAM and not program.is_present(ctx.env):
        own_notes.insert(0, f"{program.title} is not on this machine.")
    for note in own_notes if not ctx.out.json else ():  # before the question
        ctx.out.say("note: " + safe(note))
    if not args.dry_run:
        if plan.changed and not args.yes:
            what = ", ".join(heading for heading, _ in setup_words.effects(plan))
            ctx.confirm(f"{what}. Write {line(plan.settings_path)}?", "Nothing was written.")
        backup = install.apply(plan, now=ctx.now)
    if is_applied and added:
        # What the agent writes from now on is to be seen. If that fails, the next session's start does it.
        with contextlib.suppress(MemtuiError):
            ctx.take_in()
    not_served = ctx.not_served() if added and not args.dry_run and program is PROGRAM else []
    notes, to_paste = setup_words.notes(plan), setup_words.to_paste(plan)
    now_true = program.notes(ctx.env) if is_applied and added else []  # whether the agent can load what was written
    notes += [words for words in now_true if words not in own_notes]
    data = {**picked(plan, "action scope changed diff"), "agent": program.name, "path": plan.settings_path}
    data |= {"written": is_applied, "notes": own_notes + notes, "to_paste": to_paste, "backup": backup}
    data["not_served"] = [findings.message(finding) for finding in not_served]
    served = [styled("! " + safe(words), "yellow") for words in setup_words.outcome(not_served)] if not_served else []
    others = agents.hooked(ctx.root) if is_applied and args.remove and not has_line and args.agent != EVERY else []
    still = f"{', '.join(others)} still run memtui: memtui setup hooks --remove --agent all" if others else ""
    trust = program.trust(ctx.env) if added and program is not PROGRAM and not args.dry_run else ""
    if trust:
        served = [styled(f"! {safe(program.title)}: {safe(trust)}", "yellow")]
    elif is_applied and added and not served:
        served = [f'{setup_words.served(program)} Try: memtui note "hello from memtui"']
    return Result(
        data,
        *(narrate("note: " + safe(note)) for note in notes),
        narrate(to_paste, exact=True),
        narrate(f"backup: {line(backup)}" if backup else ""),
        f"{line(setup_words.done(plan))}   (undo: memtui undo)" if is_applied else "",
        *map(narrate, (*served, still)),
    )


@parser.command("setup plugin")
def plugin(_: Context, __: argparse.Namespace) -> Result:
    about = (
        "The plugin brings the hooks alone, without the TUI; with it `memtui setup hooks` is not needed."
        " PATH-OR-URL is that of memtui's repository:"
    )
    return Result({"commands": list(PLUGIN)}, about, *(f"  {command}" for command in PLUGIN))


@parser.command("setup merge-driver")
def merge_driver(ctx: Context, args: argparse.Namespace) -> Result:
    plan = driver.plan(ctx.cwd, remove=args.remove)
    changed = plan.changed
    if not ctx.out.json:
        ctx.out.diff_lines(plan.diff)
    if changed and not args.dry_run:
        if not args.yes:
            ctx.confirm(f"Write {' and '.join(line(path) for path, _, _ in changed)}?", "Nothing was written.")
        driver.apply(plan, ctx.root, remove=args.remove, now=ctx.now)
    state = "is not set up" if args.remove else "is set up"
    words = f"The merge driver {state} in this repository" + ("" if changed else " already") + "."
    written = bool(changed) and not args.dry_run
    data = {"changed": bool(changed), "written": written, "paths": [path for path, _, _ in changed], "diff": plan.diff}
    return Result(data, f"{words}   (undo: memtui undo)" if written else "" if changed else words)


@parser.command("setup completions", {"shell": {"choices": SHELLS}}, shells=", ".join(SHELLS))
def complete(_: Context, args: argparse.Namespace) -> Result:
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        hint = f"Install it beside memtui: {installer.adding('argcomplete')}"
        raise MemtuiError("Completions need the package argcomplete.", hint) from None
    script = shellcode(["memtui"], shell=args.shell).strip("\n")
    return Result({"shell": args.shell, "script": script}, lambda out: out.exact(script))


@parser.command("doctor", {"fix": {"choices": ("all", *AT_ONCE, *DECIDED)}})
def doctor(ctx: Context, args: argparse.Namespace) -> Result:
    if args.errors or args.fix:
        ctx.must_own()
    return _logged(ctx) if args.errors else _check(ctx, args)


def _check(ctx: Context, args: argparse.Namespace) -> Result:
    fixed = []
    if args.fix:
        store = ctx.store()
        with store.journal.together():
            fixed = [_fix(store, what) for what in (AT_ONCE if args.fix in {True, "all"} else (args.fix,))]
    reports = checkup.check(ctx.env, ctx.cwd, ctx.now())
    problems = findings.problems(reports)
    data = {"findings": list(map(findings.as_row, reports)), "problems": problems, "notes": findings.notes(reports)}
    data |= {"python": sys.executable, "fixed": fixed}
    code = EXIT_FAILED if any(repair["error"] for repair in fixed) else EXIT_FINDINGS if problems else 0
    return Result(data, lambda out: _print_findings(out, reports, fixed), code=code)


def _logged(ctx: Context) -> Result:
    rows, lines = list(error_log_hot.newest_first(ctx.root)), []
    for row in rows:
        head = f"{line(str(row.get('where')))}: {line(str(row.get('error')))}"
        lines.append(f"{age(clock_hot.parse(row.get('time')), ctx.now()):>4}  {styled(head, 'bold')}")
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


def _print_findings(out: Output, reports: "list[Finding]", fixed: "list[dict[str, object]]") -> None:
    for repair in fixed:
        mark = MARKS[PROBLEM if repair["error"] else OK if repair["changed"] else NOTE]
        undo = f"undo it: {repair['undo']}" if repair["undo"] else ""
        out.finding(*mark, f"{repair['what']}: {line(str(repair['message']))}", undo)
    if fixed:
        out.print()
    for area, title in findings.AREAS.items():
        for finding in reports:
            if finding.area != area or (finding.level != OK and findings.place(finding) in ELSEWHERE):
                continue
            message = findings.message(finding)
            out.finding(*MARKS[finding.level], f"{title}: {message}" if message else title, findings.remedy(finding))
    for place, where in ELSEWHERE.items():
        if count := findings.problems(row for row in reports if findings.place(row) == place):
            out.print(f"{styled('!', 'red')} {many(count, 'problem')} {where}")
    out.print()
    problems, notes = findings.problems(reports), findings.notes(findings.of_setup(reports))
    words = styled(f"{many(problems, 'problem')} to fix.", "red") if problems else styled("All good.", "green")
    out.print(words + f" {notes} worth knowing." * bool(notes))
