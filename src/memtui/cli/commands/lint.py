"""`memtui lint`: find what is wrong with memories, also in CI and before a commit, and fix what needs no decision."""

import argparse
import os

from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import diff
from memtui.consolidate import lint, lint_fixes
from memtui.consolidate.lint import LintInput
from memtui.consolidate.lint_fixes import FileFix
from memtui.core.base import paths
from memtui.core.base.errors import EXIT_FINDINGS, NotFoundError, UsageError
from memtui.core.base.finding import PROBLEM, Finding
from memtui.core.base.phrasing import many
from memtui.core.base.shell import shell_word
from memtui.core.health import findings
from memtui.core.memories import apart, scopes
from memtui.core.memories.scopes import Scope

FORMATS = ("text", "github")
UNDO = "memtui undo undoes it."


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "lint",
        run,
        "find what is wrong with memories, worst first, and fix it",
        "memtui lint\nmemtui lint --fix\nmemtui lint .claude/memory --format github\n"
        "memtui lint --apart prefer-pnpm auto:package-manager",
        "Without PATH it checks all memories of the current directory's scopes. A PATH needs no installed hooks, and "
        "nothing is written without --fix. The exit code is 5 if there is something to fix. In a line that tells of "
        "the past or forbids something, what the code spans name is not looked for in the project, but for "
        "“Run `x` …”, “See `x`” and “without `x`”: docs/cli.md says more.",
    )
    found.add_argument("path", nargs="?", metavar="PATH", help="a directory of memories, or a project that has some")
    found.add_argument("--fix", action="store_true", help="fix what needs no decision; of your own memories one undo")
    found.add_argument("--format", choices=FORMATS, default="text", help="text, or github for annotations in its CI")
    found.add_argument("--yes", action="store_true", help="with --fix: don't ask on a terminal")
    pair = found.add_mutually_exclusive_group()
    pair.add_argument(
        "--apart", nargs=2, metavar=("NAME", "OTHER"), help="two memories are different: never name them as alike again"
    )
    pair.add_argument("--compare", nargs=2, metavar=("NAME", "OTHER"), help="take back --apart")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Keep two memories apart, or check and fix."""
    if args.apart or args.compare:
        if args.path or args.fix:
            raise UsageError("--apart and --compare take no PATH and no --fix.", "Call lint twice.")
        return _keep(ctx, *(args.apart or args.compare), kept=bool(args.apart))
    if ctx.out.json and args.format == "github":
        raise UsageError("--format github and --json can't be combined.", "Choose one of them.")
    if args.path is None:
        ctx.must_have_home()
        ctx.must_own()
    subject = _subject(ctx, args.path)
    found = lint.check(subject)
    if args.path is not None:
        _must_hold_memories(ctx, args, subject)
    planned = lint_fixes.plan_all(subject, found)
    fixed: list[FileFix] = []
    undo = False
    if args.fix:
        fixed = [each for _, fixes in planned for each in fixes]
        _confirm(ctx, fixed, yes=args.yes)
        # What is checked without a path are the person's own memories, also before memtui keeps anything.
        own = subject.own if args.path is None or _has_home(ctx) else {}
        undo = _make(ctx, own, [(scope, fixes) for scope, fixes in planned if fixes])
    if fixed:
        subject = _subject(ctx, args.path)
        found = lint.check(subject)
        planned = lint_fixes.plan_all(subject, found)
    remedies = Remedies(subject, "memtui lint --fix" + ("" if args.path is None else f" {shell_word(args.path)}"))
    problems = findings.problems(found)
    data = {
        "findings": [_row(each, remedies) for each in found],
        "problems": problems,
        "notes": findings.notes(found),
        "scopes": [{"scope": each.label, "path": each.directory} for each in subject.scopes],
        "fixed": [{"path": each.path, "diff": "\n".join(diff.lines(each.before or b"", each.after))} for each in fixed],
        "undo": "memtui undo" if undo else None,
    }

    def text(out: Output) -> None:
        if args.format == "github":
            for each in found:
                out.exact(annotation(each, remedies, ctx.cwd))
        else:
            _print(ctx, out, found, remedies)
            _print_count(out, subject, found, remedies.fix, planned)
        if fixed:
            out.say(f"Fixed {many(len(fixed), 'file')}." + (f" {UNDO}" if undo else ""))

    return Result(data, text, EXIT_FINDINGS if problems else 0)


class Remedies:
    """What to do about the findings on a subject, with commands that work on it: `fix` is the one that fixes what needs
    no decision."""

    def __init__(self, subject: LintInput, fix: str) -> None:
        self.fix = fix
        self.own = {each.shown: each for each in subject.own.values()}

    def of(self, found: Finding) -> str:
        """Return what to do about a finding; empty if there is nothing to do, or no command that does it."""
        if lint_fixes.fixable(found):
            return self.fix
        remedy = findings.remedy(found)
        own = self.own.get(str(found.data.get("scope")))
        if own is None:  # names of memories in other commands mean those of the person's own scopes
            return "" if "memtui " in remedy else remedy
        if own.is_shared:
            name = f"{own.shown}:{found.data.get('memory')}"
            return f"Others will get the change: memtui edit {shell_word(name)}" if "memory" in found.data else ""
        # `memtui index` writes no lines for memories that are not trusted.
        return remedy if own.trusted or findings.fix_of(found) != "index" else ""


def _must_hold_memories(ctx: Context, args: argparse.Namespace, subject: LintInput) -> None:
    """Raise NotFoundError for a PATH without any memories: in CI nobody would notice a mistyped one."""
    if subject.memories or any(each.problem or os.path.exists(each.index_path) for each in subject.scopes):
        return
    where = "this directory" if args.path == "." else args.path
    error = NotFoundError(f"There are no memories in {where}.", "Give a directory of memories, or a project.")
    if args.format == "github":
        ctx.out.exact(f"::error title=memtui lint::{_escaped(f'{error.message} {error.hint}')}")
    raise error


def _subject(ctx: Context, path: "str | None") -> LintInput:
    if path is None:
        return lint.here(ctx.env, ctx.cwd, ctx.root, ctx.now(), ctx.usage, apart.load(ctx.root))
    try:
        root, known = ctx.root, scopes.discover(ctx.env, ctx.cwd)
    except UsageError:
        return lint.at(path, ctx.cwd, ctx.now())  # no home
    return lint.at(path, ctx.cwd, ctx.now(), root, apart.load(root), known)


def _confirm(ctx: Context, fixed: "list[FileFix]", *, yes: bool) -> None:
    """Show what would be written, and ask a person about it; without a terminal --fix counts as a yes."""
    for each in [] if ctx.out.json else fixed:
        ctx.out.heading(line(each.scope.shown), line(ctx.tilde(each.path)))
        diff.show(ctx.out, each.before or b"", each.after)
    if fixed and ctx.can_ask and not ctx.out.json and not yes:
        ctx.confirm(f"Write {many(len(fixed), 'file')}?", "Nothing was written.")


def _make(ctx: Context, own: "dict[str, Scope]", planned: "list[tuple[Scope, list[FileFix]]]") -> bool:
    """Make fixes, those of the person's `own` scopes, by label, as one step of undo. Return whether there is one."""
    mine = [(own[scope.label], fixes) for scope, fixes in planned if scope.label in own]
    if mine:
        ctx.must_own()
        store = ctx.store()
        with store.journal.together():
            for scope, fixes in mine:
                lint_fixes.make_journaled(store, scope, fixes)
    for scope, fixes in planned:
        if scope.label not in own:
            lint_fixes.make(fixes)
    return bool(mine)


def _has_home(ctx: Context) -> bool:
    """Tell whether memtui keeps anything on this machine; where it does not, as in CI, nothing is begun."""
    try:
        return os.path.isdir(ctx.root)
    except UsageError:
        return False


def _keep(ctx: Context, one: str, other: str, *, kept: bool) -> Result:
    ctx.must_have_home()
    ctx.must_own()
    first, second = memories.find(ctx, one), memories.find(ctx, other)
    changed = apart.keep(ctx.store().journal, first, second, apart=kept)
    data = {"apart": kept, "changed": changed, "memories": [first.path, second.path]}
    what = "are kept apart" if kept else "are compared again"
    words = f"{first.ref} and {second.ref} {what}" + (f"; {UNDO}" if changed else " already.")
    return Result(data, lambda out: out.print(line(words)))


def _row(found: Finding, told: Remedies) -> "dict[str, object]":
    path, number = lint.place(found)
    where = {"path": path or None, "line": number or None, "fixable": lint_fixes.fixable(found)}
    return {**findings.as_row(found), "remedy": told.of(found), **where, "data": dict(found.data)}


def annotation(found: Finding, told: Remedies, cwd: str) -> str:
    """Return a finding as a workflow command of GitHub, which shows it beside the line in a pull request, if the file
    is below the working directory."""
    path, number = lint.place(found)
    level = "error" if found.level == PROBLEM else "notice"
    inside = paths.inside(cwd, path) if path else False
    where = {"file": os.path.relpath(path, cwd) if inside else "", "line": str(number) if number and inside else ""}
    where["title"] = f"memtui {found.code}"
    given = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in where.items() if value)
    said = f"{findings.message(found)} {told.of(found)}".strip()
    return f"::{level} {given}::{_escaped(said)}"


def _escaped(text: str, more: str = "") -> str:
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def _print(ctx: Context, out: Output, found: "list[Finding]", told: Remedies) -> None:
    for each in found:
        path, number = lint.place(each)
        mark, style = ("!", "yellow") if each.level == PROBLEM else ("·", "dim")
        first, *rest = out.wrapped(findings.message(each), 2)
        out.print(out.style(mark, style) + " " + first)
        for piece in rest:
            out.print("  " + piece)
        shown = os.path.relpath(path, ctx.cwd) if path.startswith(ctx.cwd + "/") else ctx.tilde(path)
        where = f"{shown}:{number}" if number else shown
        out.exact("    " + out.style(safe(f"{where}  {each.code}"), "dim"))
        if remedy := told.of(each):
            first, *rest = [safe(remedy)] if remedy == told.fix else out.wrapped_advice(remedy, 6)
            out.exact("    → " + first)
            for piece in rest:
                out.exact("      " + piece)
    if found:
        out.print()


def _print_count(
    out: Output, subject: LintInput, found: "list[Finding]", fix: str, planned: "list[tuple[Scope, list[FileFix]]]"
) -> None:
    """Print how many problems there are, and how many of them `fix` fixes with what is `planned`."""
    count = many(len(subject.memories), "memory", "memories")
    problems, notes = findings.problems(found), findings.notes(found)
    known = f" {notes} worth knowing." if notes else ""
    if not problems:
        out.print(out.style(f"{count}: nothing to fix.", "green") + known)
        return
    out.print(out.style(f"{count}: {many(problems, 'problem')} to fix.", "yellow") + known)
    able = lint_fixes.fixed_by(found, planned)
    if not able:
        return
    fixed, left = findings.problems(able), lint_fixes.left(found, planned)
    which = [f"{fixed} of the problems"] * bool(fixed)
    which += [f"{number} of what is worth knowing" for number in (findings.notes(able),) if number]
    rest = f"; {many(left, 'problem is', 'problems are')} left for you" if left else ""
    out.say(f"{line(fix)} fixes {' and '.join(which)}{rest}.")
