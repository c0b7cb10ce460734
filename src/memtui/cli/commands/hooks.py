"""`memtui hooks`: install the hooks in Claude Code's settings, remove them, report what keeps them from running."""

import argparse
import contextlib

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import diff
from memtui.core.base.errors import EXIT_FINDINGS, MemtuiError
from memtui.core.health import findings
from memtui.hooks.installer import install
from memtui.hooks.installer.entries import STATUS_LINE
from memtui.present import hooks as hook_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.hooks.installer.status import Status


def register(commands: "parser.Commands") -> None:
    """Add the command and its actions."""
    found = parser.command(
        commands,
        "hooks",
        status,
        "install, remove or check the hooks",
        "memtui hooks install\nmemtui hooks install --status-line\nmemtui hooks status\nmemtui hooks uninstall",
        "It shows the diff of the settings file first, and makes a backup.",
    )
    found.set_defaults(action="status")
    actions = parser.actions(found)
    for name, summary in (("install", "add the hooks to a settings file"), ("uninstall", "remove the hooks")):
        each = parser.command(
            actions, name, change, summary, f"memtui hooks {name} --dry-run\nmemtui hooks {name} --scope local"
        )
        each.add_argument(
            "--scope",
            choices=install.SCOPES,
            default="user",
            help="whose settings: user (default, all projects), project (committed), local (this project, only you)",
        )
        each.add_argument(
            "--status-line",
            action="store_true",
            help="also show in Claude Code's status line what waits; an existing status line is kept"
            if name == "install"
            else "remove only the status line",
        )
        each.add_argument("--dry-run", action="store_true", help="only show the diff")
        each.add_argument("--yes", action="store_true", help="don't ask")
    parser.command(
        actions, "status", status, "show where the hooks are, and what keeps them from running", "memtui hooks status"
    )


def change(ctx: Context, args: argparse.Namespace) -> Result:
    """Install or uninstall the hooks."""
    ctx.must_have_home()
    path = install.settings_path(ctx.env, ctx.cwd, args.scope)
    plan = install.plan(path, args.action, env=ctx.env, scope=args.scope, status_line=args.status_line)
    if not ctx.out.json:
        _print_plan(ctx.out, plan)
    backup = None
    if not args.dry_run:
        if plan.changed and not args.yes:
            ctx.confirm(f"Write {line(plan.settings_path)}?", "Nothing was written.")
        backup = install.apply(plan, now=ctx.now)
        if plan.action == "install" and plan.changed:
            _take_in(ctx)
    not_served = ctx.not_served() if plan.action == "install" and not args.dry_run else []
    data = {
        "action": plan.action,
        "scope": plan.scope,
        "path": plan.settings_path,
        "changed": plan.changed,
        "written": plan.changed and not args.dry_run,
        "diff": plan.diff,
        "notes": hook_words.notes(plan),
        "to_paste": hook_words.to_paste(plan),
        "backup": backup,
        "not_served": [findings.message(each) for each in not_served],
    }

    def text(out: Output) -> None:
        for note in hook_words.notes(plan):
            out.say("note: " + safe(note))
        if pasted := hook_words.to_paste(plan):
            out.say(pasted, exact=True)
        if backup:
            out.say(f"backup: {line(backup)}")
        if plan.changed and not args.dry_run:
            out.print(f"{line(hook_words.done(plan))}   (undo: memtui undo)")
        if not_served:
            for words in hook_words.outcome(not_served):
                out.say(out.style("! " + safe(words), "yellow"))
        elif plan.changed and plan.action == "install" and not args.dry_run:
            out.say(f'{hook_words.SERVED} Try: memtui guide "hello from memtui"')

    return Result(data, text)


def _take_in(ctx: Context) -> None:
    """Take in the memories as they are: what the agent writes from now on is to be seen. If that fails, the next
    session's start does it."""
    with contextlib.suppress(MemtuiError):
        ctx.take_in()


def _print_plan(out: Output, plan: install.Plan) -> None:
    if not plan.changed:
        have = hook_words.unchanged(plan)
        out.print(f"{line(plan.settings_path)} {have}: nothing to change.")
        return
    diff.show_lines(out, plan.diff.splitlines())


def status(ctx: Context, _: argparse.Namespace) -> Result:
    """Report where the hooks are installed and what keeps them from running. Exit code 5 if there is a problem."""
    from memtui.hooks.installer import status as hook_status

    ctx.must_have_home()
    found = hook_status.status(ctx.env, ctx.cwd)
    data = {**hook_status.as_json(found), "installed": found.installed}
    code = EXIT_FINDINGS if found.problems or not found.installed else 0
    return Result(data, lambda out: _print(out, found), code)


def _print(out: Output, found: "Status") -> None:
    if found.unreadable:
        out.print("No hooks are found for this directory, but Claude Code skips a settings file.")
    elif not found.installed:
        out.print("No hooks are installed for this directory.")
        out.print("  Install them: memtui hooks install")
    places: dict[tuple[str, str], list[str]] = {}
    for entry in found.entries:
        places.setdefault((entry.source, entry.path), []).append(entry.event)
    for (source, path), events in places.items():
        out.heading(source, line(path))
        names = ["and the status line" if each == STATUS_LINE else each for each in events]
        out.paragraph(", ".join(names), "  ")
        mine = [entry for entry in found.entries if (entry.source, entry.path) == (source, path)]
        interpreters = sorted({entry.interpreter for entry in mine if entry.interpreter})
        launchers = sorted({entry.launcher for entry in mine if entry.launcher})
        out.facts(
            [*(("python", line(each)) for each in interpreters), *(("hooks", line(each)) for each in launchers)], 8
        )
    for problem in found.problems:
        out.print(out.style("! " + safe(findings.message(problem)), "yellow"))
    for each in found.notes:
        out.print(out.style("· " + safe(findings.message(each)), "dim"))
    if found.installed and not found.problems:
        out.print(out.style("✓ all good", "green"))
