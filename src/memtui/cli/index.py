"""`memtui index`: what MEMORY.md costs, what falls below its cut, and lines that point nowhere or are missing."""

import argparse

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.editing import show_diff
from memtui.cli.memories import chosen, tilde
from memtui.cli.output import Output, Result, line
from memtui.core import changes, index_budget, memory_index, scopes, upkeep
from memtui.core.index_budget import Budget
from memtui.core.scopes import Scope
from memtui.core.survey import index_of
from memtui.core.words import many

METER = 20
FULL, NEARLY = 1.0, 0.8


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "index",
        run,
        "show what MEMORY.md costs and what is wrong with it",
        "memtui index\nmemtui index --scope auto --fix",
        f"The client loads {index_budget.MAX_LINES} lines or {index_budget.MAX_UNITS:,} characters of it.",
    )
    found.add_argument("--scope", help="only this scope")
    found.add_argument("--all-projects", action="store_true", help="also the native memory of all other projects")
    found.add_argument("--fix", action="store_true", help="add missing lines and remove those that point nowhere")
    found.add_argument("--dry-run", action="store_true", help="with --fix: only show the diff")


class Report:
    """The index of one scope: its budget, links to missing files, memories without a line, and its mended content."""

    def __init__(self, scope: Scope, index: memory_index.Index) -> None:
        self.scope = scope
        self.index = index
        self.budget: Budget = index_budget.budget(index.raw, agent=scope.kind == "agent")
        files = [name for name, problem in scopes.files(scope) if not problem]
        self.dangling = memory_index.dangling(index, files)
        self.missing = memory_index.missing(index, files)
        self.fixed = self._fixed()

    def _fixed(self) -> bytes:
        data = self.index.raw
        for entry in self.dangling:
            if entry.leads:
                data = memory_index.remove_line(data, entry.target)
        about = {each.path: each for each in scopes.memories(self.scope)} if self.missing else {}
        for name in self.missing:
            found = about[f"{self.scope.directory}/{name}"]
            data = memory_index.add_line(data, name, found.name, found.description, kind=found.type)
        return data

    def data(self) -> "dict[str, object]":
        """The report for --json."""
        found = self.budget
        return {
            "scope": self.scope.label,
            "path": self.scope.index_path,
            "lines": found.lines,
            "max_lines": found.max_lines,
            "characters": found.units,
            "max_characters": found.max_units,
            "bytes": found.bytes,
            "share": round(found.share, 3),
            "cut_line": found.cut_line,
            "below": [{"line": e.line, "title": e.title, "target": e.target} for e in found.below],
            "dangling": [{"line": e.line, "title": e.title, "target": e.target, "own": e.leads} for e in self.dangling],
            "missing": self.missing,
            "fixable": self.fixed != self.index.raw,
        }


def reports(every: "list[Scope]") -> "list[Report]":
    """The indexes of some scopes; a scope without a memory needs none."""
    found = []
    for scope in every:
        if scope.kind == "instructions" or scope.problem or not scope.exists:
            continue
        index = index_of(scope)
        if index is None:
            index = memory_index.parse_index(b"")
        report = Report(scope, index)
        if report.index.raw or report.missing:
            found.append(report)
    return found


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Report on the indexes, or mend them."""
    found = reports(chosen(ctx, args.scope, args.all_projects))
    if args.fix:
        return _fix(ctx, args, found)
    return Result({"indexes": [each.data() for each in found]}, lambda out: _print(ctx, out, found))


def meter(share: float) -> str:
    """A bar of how full something is: `███░░░ 48%`."""
    filled = min(METER, round(share * METER))
    return "█" * filled + "░" * (METER - filled) + f" {share:.0%}"


def _print(ctx: Context, out: Output, found: "list[Report]") -> None:
    if not found:
        out.print("There is no MEMORY.md here yet; the first memory makes one.")
        return
    for each in found:
        budget = each.budget
        style = "red" if budget.share > FULL else "yellow" if budget.share > NEARLY else "green"
        out.heading(line(each.scope.label), line(tilde(ctx, each.scope.index_path)))
        out.print(
            f"  {out.style(meter(budget.share), style)}  {budget.lines} of {budget.max_lines} lines, "
            f"{budget.units:,} of {budget.max_units:,} characters"
        )
        if budget.cut_line is not None:
            out.print("  " + out.style(f"! cut at line {budget.cut_line}: what follows is not loaded", "yellow"))
            for entry in budget.below:
                out.print(f"      line {entry.line:>4}  {line(entry.title)}  {line(entry.target)}")
        for entry in each.dangling:
            note = "" if entry.leads else "  (a mention: mend it by hand)"
            out.print(
                "  "
                + out.style(f"! line {entry.line} points to {line(entry.target)}, which is not there{note}", "yellow")
            )
        for name in each.missing:
            out.print("  " + out.style(f"! {line(name)} has no line", "yellow"))
        if each.fixed != each.index.raw:
            out.print(f"  Mend: memtui index --scope {line(each.scope.label)} --fix")
        out.print()


def _fix(ctx: Context, args: argparse.Namespace, found: "list[Report]") -> Result:
    todo = [each for each in found if each.fixed != each.index.raw and each.scope.writable]
    rows = []
    for each in todo:
        added = len(each.missing)
        removed = len([entry for entry in each.dangling if entry.leads])
        rows.append({"scope": each.scope.label, "path": each.scope.index_path, "added": added, "removed": removed})
    if not args.dry_run and todo:
        store = ctx.store()
        edits: list[changes.Change] = []
        for each in todo:
            path = upkeep.real_path(each.scope, each.scope.index_path)
            edits += changes.text_edits(path, each.index.raw, each.fixed)
        store.transaction("index", edits, "mend " + ", ".join(f"MEMORY.md of {each.scope.label}" for each in todo))

    def text(out: Output) -> None:
        for each in todo:
            out.heading(line(each.scope.label), line(tilde(ctx, each.scope.index_path)))
            show_diff(out, each.index.raw, each.fixed)
        if not todo:
            out.print("Nothing to mend.")
        elif not args.dry_run:
            out.say(f"{many(len(todo), 'index', 'indexes')} mended; memtui undo takes it back.")

    return Result({"dry_run": args.dry_run, "fixed": rows}, text)
