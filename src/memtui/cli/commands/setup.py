"""`memtui setup`: the hooks, the status line and completions: install or remove them, and see what keeps hooks from
running."""

import argparse
import contextlib

from memtui.cli import completions, parser
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


PLUGIN = (
    "claude plugin marketplace add PATH-OR-URL",
    "claude plugin install memtui@memtui",
)


def register(commands: "parser.Commands") -> None:
    found = parser.command(
        commands,
        "setup",
        status,
        "hooks, status line, plugin, completions",
        "memtui setup\nmemtui setup hooks\nmemtui setup statusline\nmemtui setup hooks --remove",
        "Without an action it shows where the hooks are, and what keeps them from running.",
    )
    actions = parser.actions(found)
    for name, summary in (
        ("hooks", "add the hooks to a settings file, or remove them"),
        ("statusline", "add the hooks and a line of what waits in Claude Code's status line, or remove that line"),
    ):
        each = parser.command(
            actions,
            name,
            change,
            summary,
            "\n".join(f"memtui setup {name}{more}" for more in ("", " --dry-run", " --remove")),
            "It shows the diff of the settings file first, and makes a backup."
            + (" A status line of your own is kept." if name == "statusline" else ""),
        )
        each.add_argument("--remove", action="store_true", help="remove instead")
        each.add_argument(
            "--scope",
            choices=install.SCOPES,
            default="user",
            help="whose settings: user (default, all projects), project (committed), local (this project, only you)",
        )
        each.add_argument("--dry-run", action="store_true", help="only show the diff")
        each.add_argument("--yes", action="store_true", help="don't ask")
    parser.command(actions, "plugin", plugin, "say how to add memtui as a plugin of Claude Code", "memtui setup plugin")
    each = parser.command(
        actions,
        "completions",
        complete,
        "print completions for a shell",
        "memtui setup completions bash >> ~/.bash_completion\n"
        'memtui setup completions zsh > "${fpath[1]}/_memtui"\n'
        "memtui setup completions fish > ~/.config/fish/completions/memtui.fish",
    )
    each.add_argument("shell", choices=tuple(completions.SCRIPTS), metavar="SHELL", help=", ".join(completions.SCRIPTS))


def plugin(_: Context, __: argparse.Namespace) -> Result:
    """Print the commands of the client that add the plugin."""

    def text(out: Output) -> None:
        out.paragraph(
            "The plugin brings the hooks alone, without the TUI; with it `memtui setup hooks` is not needed."
            " PATH-OR-URL is that of memtui's repository:"
        )
        for each in PLUGIN:
            out.exact(f"  {each}")

    return Result({"commands": list(PLUGIN)}, text)


def complete(_: Context, args: argparse.Namespace) -> Result:
    script = completions.SCRIPTS[args.shell]
    return Result({"shell": args.shell, "script": script}, lambda out: out.exact(script.rstrip("\n")))


def change(ctx: Context, args: argparse.Namespace) -> Result:
    """Install or uninstall the hooks."""
    ctx.must_have_home()
    path = install.settings_path(ctx.env, ctx.cwd, args.scope)
    action: install.Action = "uninstall" if args.remove else "install"
    plan = install.plan(path, action, env=ctx.env, scope=args.scope, status_line=args.action == "statusline")
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
            out.say(f'{hook_words.SERVED} Try: memtui note "hello from memtui"')

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
        out.print("  Install them: memtui setup hooks")
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
