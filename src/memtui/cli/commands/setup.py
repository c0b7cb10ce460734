"""`memtui setup`: install or remove hooks and status line, see what keeps hooks from running, print completions."""

import argparse
import contextlib

from memtui.base import findings
from memtui.base.errors import EXIT_FINDINGS, MemtuiError
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, narrate, safe, styled
from memtui.hooks.install import installation as install
from memtui.hooks.install import status as hook_status
from memtui.hooks.install.entries import STATUS_LINE
from memtui.views import setup as setup_words

PLUGIN = ("claude plugin marketplace add PATH-OR-URL", "claude plugin install memtui@memtui")
SHELLS = ("bash", "zsh", "fish")
# What hooks and the status line share: the name, the summary, and what else the help says.
CHANGE = """\
setup {0}: {1}
  memtui setup {0}
  memtui setup {0} --dry-run
  memtui setup {0} --remove
It shows the diff of the settings file first, and makes a backup.{2}
--remove | remove instead
--scope user|project|local=user | whose settings: user (default, all projects), project (committed), local (this
    project, only you)
--dry-run | only show the diff
--yes | don't ask"""
CHANGE_HOOKS = CHANGE.format("hooks", "add the hooks to a settings file, or remove them", "")
CHANGE_LINE = CHANGE.format(
    "statusline",
    "add the hooks and a line of what waits in Claude Code's status line, or remove that line",
    " A status line of your own is kept.",
)


@parser.command("""\
setup: hooks, status line, plugin, completions
  memtui setup
  memtui setup hooks
  memtui setup statusline
  memtui setup hooks --remove
Without an action it shows where the hooks are, and what keeps them from running.""")
def status(ctx: Context, _: argparse.Namespace) -> Result:
    """Report where the hooks are installed and what keeps them from running. Exit code 5 if there is a problem."""
    report = hook_status.status(ctx.env, ctx.cwd)
    data = {**hook_status.as_json(report), "installed": report.installed}
    state, installed = setup_words.state(report)
    missing = not installed and not report.unreadable

    def text(out: Output) -> None:
        for source, path in dict.fromkeys((entry.source, entry.path) for entry in report.entries):
            mine = [entry for entry in report.entries if (entry.source, entry.path) == (source, path)]
            out.heading(source, line(path))
            out.paragraph(
                ", ".join("and the status line" if hook.event == STATUS_LINE else hook.event for hook in mine), "  "
            )
            pythons = [("python", program) for program in sorted({entry.interpreter for entry in mine})]
            launchers = [("hooks", program) for program in sorted({entry.launcher for entry in mine})]
            out.facts([(name, line(program)) for name, program in (*pythons, *launchers) if program], 8)

    return Result(
        data,
        f"hooks: {styled(state, 'green' if installed else 'red')}",
        "  Install them: memtui setup hooks" * missing,
        text,
        *(styled("! " + safe(findings.message(problem)), "yellow") for problem in report.problems),
        *(styled("· " + safe(findings.message(note)), "dim") for note in report.notes),
        code=EXIT_FINDINGS if report.problems or not report.installed else 0,
    )


@parser.command(CHANGE_LINE)
@parser.command(CHANGE_HOOKS)
def change(ctx: Context, args: argparse.Namespace) -> Result:
    """Install or uninstall the hooks."""
    path = install.settings_path(ctx.env, ctx.cwd, args.scope)
    action: install.Action = "uninstall" if args.remove else "install"
    plan = install.plan(path, action, env=ctx.env, scope=args.scope, status_line=args.action == "statusline")
    if not ctx.out.json and plan.changed:
        for heading, events in setup_words.effects(plan):
            ctx.out.heading(heading)
            ctx.out.facts([(event, setup_words.DOES[event]) for event in events], 18)
        ctx.out.diff_lines(plan.diff.splitlines())
    elif not ctx.out.json:
        ctx.out.print(f"{line(plan.settings_path)} {setup_words.unchanged(plan)}: nothing to change.")
    backup, is_applied, added = None, plan.changed and not args.dry_run, action == "install"
    if not args.dry_run:
        if plan.changed and not args.yes:
            ctx.confirm(f"Write {line(plan.settings_path)}?", "Nothing was written.")
        backup = install.apply(plan, now=ctx.now)
    if is_applied and added:
        # What the agent writes from now on is to be seen. If that fails, the next session's start does it.
        with contextlib.suppress(MemtuiError):
            ctx.take_in()
    not_served = ctx.not_served() if added and not args.dry_run else []
    notes, to_paste = setup_words.notes(plan), setup_words.to_paste(plan)
    data = {"action": plan.action, "scope": plan.scope, "path": plan.settings_path, "changed": plan.changed}
    data |= {"written": is_applied, "diff": plan.diff, "notes": notes, "to_paste": to_paste, "backup": backup}
    data["not_served"] = [findings.message(finding) for finding in not_served]
    served = [styled("! " + safe(words), "yellow") for words in setup_words.outcome(not_served)] if not_served else []
    if is_applied and added and not served:
        served = [f'{setup_words.SERVED} Try: memtui note "hello from memtui"']
    return Result(
        data,
        *(narrate("note: " + safe(note)) for note in notes),
        narrate(to_paste, exact=True),
        narrate(f"backup: {line(backup)}" if backup else ""),
        f"{line(setup_words.done(plan))}   (undo: memtui undo)" if is_applied else "",
        *map(narrate, served),
    )


@parser.command("""\
setup plugin: say how to add memtui as a plugin of Claude Code
  memtui setup plugin""")
def plugin(_: Context, __: argparse.Namespace) -> Result:
    """Print the commands of the client that add the plugin."""
    about = (
        "The plugin brings the hooks alone, without the TUI; with it `memtui setup hooks` is not needed."
        " PATH-OR-URL is that of memtui's repository:"
    )
    return Result({"commands": list(PLUGIN)}, about, *(f"  {command}" for command in PLUGIN))


@parser.command(
    f"""\
setup completions: print completions for a shell
  memtui setup completions bash >> ~/.bash_completion
  memtui setup completions zsh > "${{fpath[1]}}/_memtui"
  memtui setup completions fish > ~/.config/fish/completions/memtui.fish
It needs the package argcomplete beside memtui: pip install argcomplete.
SHELL | {", ".join(SHELLS)}""",
    {"shell": {"choices": SHELLS}},
)
def complete(_: Context, args: argparse.Namespace) -> Result:
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        raise MemtuiError(
            "Completions need the package argcomplete.",
            "Install it beside memtui: pip install argcomplete (pipx inject memtui argcomplete)",
        ) from None
    script = shellcode(["memtui"], shell=args.shell).strip("\n")
    return Result({"shell": args.shell, "script": script}, lambda out: out.exact(script))
