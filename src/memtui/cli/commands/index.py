"""`memtui index`: the size of MEMORY.md, what is cut off, and lines that are missing or point nowhere."""

import argparse

from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.cli.show import index_fix
from memtui.core.base.errors import UsageError
from memtui.core.base.finding import PROBLEM
from memtui.core.base.phrasing import many
from memtui.core.base.shell import shell_word
from memtui.core.frontmatter import conflict_markers
from memtui.core.health import findings, fixes
from memtui.core.health.index_report import Report, reports
from memtui.core.memories import index as memory_index
from memtui.core.memories.index import IndexEntry

METER = 20  # columns
FULL, NEARLY = 1.0, 0.8  # shares that the client loads: above them the meter is red, yellow


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "index",
        run,
        "show how full MEMORY.md is, and what is wrong with it",
        "memtui index\nmemtui index --scope auto --fix",
        f"The client loads {memory_index.MAX_LINES} lines or {memory_index.MAX_UNITS:,} characters of it.",
    )
    found.add_argument("--scope", help="only this scope")
    found.add_argument(
        "--all-projects", action="store_true", help="also Claude Code's own memory of all other projects"
    )
    found.add_argument(
        "--fix",
        action="store_true",
        help="show a diff, then add missing lines and remove those that point nowhere; it asks first on a terminal",
    )
    found.add_argument(
        "--keep", choices=conflict_markers.SIDES, help="resolve git's conflict markers: keep this version, or both"
    )
    found.add_argument("--dry-run", action="store_true", help="with --fix: only show the diff")
    found.add_argument("--yes", action="store_true", help="with --fix: don't ask on a terminal")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Report on the indexes, or fix them."""
    if args.keep:
        return _resolve(ctx, args)
    found = reports(ctx.root, memories.chosen_scopes(ctx, args.scope, args.all_projects))
    if args.fix:
        return _fix(ctx, args, found)
    return Result({"indexes": [each.data() for each in found]}, lambda out: _print(ctx, out, found))


def _resolve(ctx: Context, args: argparse.Namespace) -> Result:
    """Resolve the conflict in the MEMORY.md of one scope."""
    if args.fix or not args.scope:
        raise UsageError("--keep is for one MEMORY.md.", "Say which: memtui index --scope auto --keep ours")
    store = ctx.store()
    path = fixes.resolve_index(store, store.scope(args.scope), args.keep)

    def text(out: Output) -> None:
        out.print(f"resolved  {line(ctx.tilde(path))}")
        memories.say_undo(out)

    return Result({"path": path, "kept": args.keep}, text)


def meter(share: float) -> str:
    """Draw how full something is: `███░░░ 48%`."""
    filled = min(METER, round(share * METER))
    return "█" * filled + "░" * (METER - filled) + f" {share:.0%}"


def _print(ctx: Context, out: Output, found: "list[Report]") -> None:
    if not found:
        out.print("There is no MEMORY.md here yet; the first memory creates it.")
        return
    for each in found:
        budget = each.budget
        style = "red" if budget.share > FULL else "yellow" if budget.share > NEARLY else "green"
        out.section()
        out.heading(line(each.scope.shown), line(ctx.tilde(each.scope.index_path)))
        out.print(
            f"  {out.style(meter(budget.share), style)}  {budget.lines} of {budget.max_lines} lines, "
            f"{budget.units:,} of {budget.max_units:,} characters"
        )
        for found_here in each.state.findings():
            mark = "!" if found_here.level == PROBLEM else "·"
            first, *rest = out.wrapped(f"{mark} {findings.message(found_here)}", 4)
            out.print("  " + out.style(first, "yellow" if mark == "!" else "dim"))
            for piece in rest:
                out.print("    " + out.style(piece, "yellow" if mark == "!" else "dim"))
            for entry in _entries(each, found_here.code):
                out.print(f"      line {entry.line:>4}  {line(entry.title)}  {line(entry.target)}")
        if each.untrusted:
            out.print("  " + out.style(f"· {_untrusted(each)}", "dim"))
        if each.fixable:
            out.print(f"  Fix: memtui index --scope {shell_word(each.scope.shown)} --fix")


def _untrusted(report: Report) -> str:
    number = len(report.untrusted)
    verb = "gets" if number == 1 else "get"
    return f"{many(number, 'memory is', 'memories are')} not trusted, and {verb} no line here: memtui trust"


def _entries(report: Report, code: str) -> list[IndexEntry]:
    """Return the lines of MEMORY.md that a finding is about."""
    if code == "memories.cut":
        return list(report.budget.below)
    own = {"memories.dangling": True, "memories.mention": False}.get(code)
    return [entry for entry in report.dangling if entry.leads == own]


def _fix(ctx: Context, args: argparse.Namespace, found: "list[Report]") -> Result:
    todo = [each for each in found if each.fixable]
    rows = [
        {
            "scope": each.scope.label,
            "path": each.scope.index_path,
            "added": len(each.missing),
            "below": each.left_below,
            "removed": len([entry for entry in each.dangling if entry.leads]),
            "diff": index_fix.text(each),
        }
        for each in todo
    ]
    if args.dry_run:
        index_fix.show(ctx, todo)
    elif todo:
        index_fix.confirm(ctx, todo, yes=args.yes)
        fixes.index(ctx.store(), todo)

    def text(out: Output) -> None:
        if not todo:
            out.print("Nothing to fix.")
        elif not args.dry_run:
            out.say(f"{many(len(todo), 'index', 'indexes')} fixed; memtui undo undoes it.")
        for each in found:
            if each.untrusted:
                out.say(f"{line(each.scope.shown)}: {_untrusted(each)}")

    return Result({"dry_run": args.dry_run, "fixed": rows}, text)
