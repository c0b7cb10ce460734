"""`memtui check` and `consolidate`: what is wrong with memories, the fixes, and what is proposed about them."""

import argparse
import os
import sys
from collections.abc import Sequence

from memtui.base import findings
from memtui.base.errors import EXIT_FAILED, EXIT_FINDINGS, MemtuiError, NotFoundError, UsageError
from memtui.base.finding import PROBLEM, Finding
from memtui.base.findings import Problem
from memtui.base.phrasing_hot import many
from memtui.base.shell import shell_word
from memtui.base.short_ids import short_id
from memtui.cli import decisions, memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, narrate, safe, styled
from memtui.deliver import error_log_hot
from memtui.models.model import LanguageModel
from memtui.store import scopes, sidecars
from memtui.store.index.index_state import IndexState, states
from memtui.store.scopes import Scope
from memtui.tidy import changeset, gates, waiting_proposals
from memtui.tidy.changeset import Proposal
from memtui.tidy.checks import doctor, lint, lint_fixes
from memtui.tidy.checks.lint import LintInput
from memtui.tidy.dream import MOST_CHARACTERS, Dream, DreamOutcome
from memtui.views import changesets, models
from memtui.views.parts import TextDifference

UNDO = "memtui undo undoes it."
PLACES = 5  # of a problem that are printed
FULL, NEARLY = 1.0, 0.8  # shares that the client loads: above them a line is red, yellow
REJECTED = "You rejected the fix. To have it again: memtui undo --list"
REVIEW = "See them: memtui consolidate   Approve one: memtui approve ID   Reject one: memtui reject ID"
# What a model does not get to see.
PASSED_OVER = "not asked about: broken, empty, over {most:,} characters, untrusted, with a secret, or read-only"


@parser.command("check")
def run(ctx: Context, args: argparse.Namespace) -> Result:
    if args.path is None:
        ctx.must_have_home()
        ctx.must_own()
    if args.apart:
        if args.path or args.fix:
            raise UsageError("--apart takes no PATH and no --fix.", "Call check twice.")
        first, second = (memories.find(ctx, name) for name in args.apart)
        changed = sidecars.keep_apart(ctx.store().journal, first, second)
        words = f"{first.ref} and {second.ref} are kept apart" + (f"; {UNDO}" if changed else " already.")
        return Result({"changed": changed, "memories": [first.path, second.path]}, line(words))
    for name in args.codes or ():
        if not any(_has_code(code, [name]) for code in findings.REGISTRY):
            families = ", ".join(dict.fromkeys(code.partition(".")[0] for code in findings.REGISTRY))
            hint = f"Codes begin with {families}; `memtui check --json` has those of what is wrong."
            raise UsageError(f"No finding has the code “{line(name)}”.", hint)
    if args.dry_run and not args.fix:
        raise UsageError("--dry-run goes with --fix.", "Without --fix nothing is written.")
    if args.path is not None and args.scope:
        raise UsageError("--scope is for your own memories, not for a PATH.", "Give the directory of the scope.")
    chosen = memories.chosen_scopes(ctx, args.scope) if args.scope else []
    labels = {scope.shown for scope in chosen}
    may_be_rejected = not args.path and bool(waiting_proposals.rejected(ctx.root))

    def look() -> "tuple[LintInput, list[Finding], list[Proposal]]":
        subject = _subject(ctx, args.path, chosen)
        try:
            reports = lint.check(subject, lambda: ctx.out.progress("Checking the memories … Ctrl-C stops it."))
        finally:
            ctx.out.progress("")
        reports = [finding for finding in reports if not labels or str(finding.data.get("scope")) in labels]
        if args.path is None:
            reports += doctor.trust(ctx.root, chosen or subject.scopes)
            reports.sort(key=lambda finding: finding.level != PROBLEM)
        reports = [finding for finding in reports if not args.codes or _has_code(finding.code, args.codes)]
        return subject, reports, lint_fixes.plan(subject, reports) if args.fix or may_be_rejected else []

    subject, reports, planned = look()
    if args.path is not None:
        _must_hold_memories(args.path, subject)
    is_rejected = waiting_proposals.rejections(ctx.root) if may_be_rejected else lambda _: False
    rejected = {fix.files[0].path for fix in planned if is_rejected(fix)}
    if rejected and args.fix:
        ctx.out.say(f"{many(len(rejected), 'file')} left out. {REJECTED}")
    fixed = [fix for fix in planned if fix.files[0].path not in rejected] if args.fix else []
    fixed, undo = _fix(ctx, args, subject, fixed) if fixed else ([], False)
    if fixed and not args.dry_run:
        subject, reports, _ = look()
    fix = "memtui check --fix" + ("" if args.path is None else f" {shell_word(args.path)}")
    remedies = Remedies(subject, fix, rejected)
    causes = findings.by_cause(reports, remedies.fixable, remedies.of)
    to_fix = sum(problem.level == PROBLEM for problem in causes)
    here = [scope for scope in subject.scopes if args.path is None and (not labels or scope.shown in labels)]
    indexes = states(ctx.root, here) if here else []
    diffs = [(file, TextDifference(file.before, file.after).lines) for fix in fixed for file in fix.files]
    data = {
        "indexes": [index_state.data() for index_state in indexes],
        "findings": [_row(finding, remedies) for finding in reports],
        "causes": [
            {"code": problem.cause, "level": problem.level, "message": problem.sentence, "memories": problem.memories}
            | {"action": problem.action, "remedy": problem.remedy, "places": len(problem.parts)}
            for problem in causes
        ],
        "problems": to_fix,
        "notes": len(causes) - to_fix,
        "scopes": [{"scope": scope.label, "path": scope.directory} for scope in subject.scopes],
        "fixed": [{"path": file.path, "diff": "\n".join(diff)} for file, diff in diffs],
        "undo": "memtui undo" if undo else None,
    }

    def text(out: Output) -> None:
        _print(ctx, out, causes, remedies.fix)
        _print_indexes(out, indexes)
        labels = {scope.label for scope in chosen}
        count = sum(not labels or memory.scope_label in labels for memory in subject.memories.values())
        _print_count(out, count, causes, remedies.fix)

    return Result(data, text, code=EXIT_FINDINGS if to_fix else 0)


def _has_code(code: str, begun: Sequence[str]) -> bool:
    """Return whether a code is, or begins with the words of, one of those that a person typed."""
    return any(code == name or code.startswith((f"{name}.", f"{name}_")) for name in begun)


def _subject(ctx: Context, path: "str | None", chosen: "list[Scope]") -> LintInput:
    if path is None:
        own = lint.here(ctx.env, ctx.cwd, ctx.root, ctx.now(), ctx.usage, sidecars.kept_apart(ctx.root))
        return own.with_scopes(scope for scope in chosen if scope.kind != "instructions")
    try:
        root, places = ctx.root, scopes.discover(ctx.env, ctx.cwd)
    except UsageError:
        return lint.at(path, ctx.cwd, ctx.now())  # no home
    return lint.at(path, ctx.cwd, ctx.now(), root, sidecars.kept_apart(root), places)


def _must_hold_memories(path: str, subject: LintInput) -> None:
    """Raise NotFoundError for a PATH without any memories: in CI nobody would notice a mistyped one."""
    if subject.memories or any(scope.problem or os.path.exists(scope.index_path) for scope in subject.scopes):
        return
    where = "this directory" if path == "." else path
    raise NotFoundError(f"There are no memories in {where}.", "Give a directory of memories, or a project.")


def _fix(
    ctx: Context, args: argparse.Namespace, subject: LintInput, fixes: "list[Proposal]"
) -> "tuple[list[Proposal], bool]":
    """Show fixes, ask, and make them; return those made, and whether an undo undoes any. Raises MemtuiError for no."""
    for fix in [] if ctx.out.json else fixes:
        (file,) = fix.files
        ctx.out.heading(line(subject.scope_of(file.path).shown), line(ctx.tilde(file.path)))
        ctx.out.paragraph(fix.reason, "  ")
        ctx.out.diff_lines(TextDifference(file.before, file.after).lines, "  ")
    if args.dry_run:
        return fixes, False
    if not args.yes:
        ctx.confirm(f"Write {many(len(fixes), 'file')}?", "Nothing was written.")
    # What is checked without a path are the person's own memories, also before memtui keeps anything.
    own = subject.own if args.path is None or _has_home(ctx) else {}
    mine = [fix for fix in fixes if subject.scope_of(fix.files[0].path).label in own]
    written, undo = list[Proposal](), False
    if mine:
        ctx.must_own()
        applied = changeset.apply(ctx.store(), mine)
        written, undo = [*applied.made], bool(applied.transaction)
    written += lint_fixes.make(fix for fix in fixes if fix not in mine)
    some = "" if len(written) == len(fixes) else f"{len(written)} of "
    late = " The others changed meanwhile: check again." if some else ""
    ctx.out.say(f"Fixed {some}{many(len(fixes), 'file')}.{late}" + (f" {UNDO}" if undo else ""))
    return written, undo


def _has_home(ctx: Context) -> bool:
    """Tell whether memtui keeps anything on this machine; where it does not, as in CI, nothing is begun."""
    try:
        return os.path.isdir(ctx.root)
    except UsageError:
        return False


class Remedies:
    """What to do about findings on a subject. The command `fix` fixes all but the files that are `rejected`."""

    def __init__(self, subject: LintInput, fix: str, rejected: set[str]) -> None:
        self.fix, self.rejected = fix, rejected
        self.own = {scope.shown: scope for scope in subject.own.values()}

    def fixable(self, finding: Finding) -> bool:
        """Return whether `fix` fixes a finding: a fix that the person rejected is left out."""
        return lint_fixes.fixable(finding) and finding.data.get("path") not in self.rejected

    def of(self, finding: Finding) -> str:
        """Return what to do about a finding; empty if there is nothing to do, or no command that does it."""
        if lint_fixes.fixable(finding):
            return self.fix if self.fixable(finding) else REJECTED
        remedy = lint_fixes.to_type(finding)
        own = self.own.get(str(finding.data.get("scope")))
        if own is None:  # names of memories in other commands mean those of the person's own scopes
            return "" if "memtui " in remedy else remedy
        if own.is_shared:
            name = f"{own.shown}:{finding.data.get('memory')}"
            return f"Others will get the change: memtui edit {shell_word(name)}" if "memory" in finding.data else ""
        return remedy


def _row(finding: Finding, remedies: Remedies) -> "dict[str, object]":
    path, number = lint.place(finding)
    where = {"path": path or None, "line": number or None, "fixable": remedies.fixable(finding)}
    return {**findings.as_row(finding), "remedy": remedies.of(finding), **where, "data": dict(finding.data)}


def _print(ctx: Context, out: Output, causes: "list[Problem]", fix: str) -> None:
    for problem in causes:
        mark, style = ("!", "red") if problem.level == PROBLEM else ("·", "dim")
        out.finding(mark, style, problem.sentence)
        places = []
        for part in problem.parts:
            path, number = lint.place(part)
            label = os.path.relpath(path, ctx.cwd) if path.startswith(ctx.cwd + "/") else ctx.tilde(path)
            places.append(f"{label}:{number}" if number else label)
        places = list(dict.fromkeys(places))
        for number, where in enumerate(places[:PLACES]):
            # a path is never wrapped; the code stands below it where both have no room
            out.phrases([(safe(where), "dim"), *([] if number else [(problem.cause, "dim")])], "    ")
        if len(places) > PLACES:
            out.exact("    " + styled(f"and {len(places) - PLACES} more", "dim"))
        out.remedy(problem.remedy, whole=problem.remedy == fix)
    if causes:
        out.print()


def _print_indexes(out: Output, indexes: "list[IndexState]") -> None:
    """Print how full each MEMORY.md is."""
    for index in indexes:
        budget, name = index.budget, f"MEMORY.md of {line(index.scope.shown)}"
        style = "red" if budget.share > FULL else "yellow" if budget.share > NEARLY else "dim"
        full = f"{budget.lines} of {budget.max_lines} lines, {budget.units:,} of {budget.max_units:,} characters"
        if index.scope.index_loaded:
            out.paragraph(styled(f"{name}: {budget.share:.0%}, {full}", style))
        else:
            size = f"{many(budget.lines, 'line')}, {budget.units:,} characters"
            out.paragraph(styled(f"{name}: {size}; Claude Code does not load it, so it has no limit", "dim"))
    if indexes:
        out.print()


def _print_count(out: Output, memories: int, causes: "list[Problem]", fix: str) -> None:
    count = many(memories, "memory", "memories")
    to_fix = [problem for problem in causes if problem.level == PROBLEM]
    notes = f" {len(causes) - len(to_fix)} worth knowing." if len(causes) > len(to_fix) else ""
    if not to_fix:
        out.print(styled(f"{count}: nothing to fix.", "green") + notes)
        return
    out.print(styled(f"{count}: {many(len(to_fix), 'problem')} to fix.", "red") + notes)
    if able := sum(problem.action == "fix" for problem in causes):
        out.say(f"{line(fix)} fixes {able} of what is listed.")


@parser.command("consolidate")
def consolidate(ctx: Context, args: argparse.Namespace) -> Result:
    if args.ask_model:
        if args.all:
            raise UsageError("--ask-model makes nothing.", "Look at what it proposes first: memtui consolidate")
        try:
            return _dream(ctx, args)
        except MemtuiError as error:
            if args.unattended:  # nobody sees it
                error_log_hot.add(ctx.root, "dream", error)
            raise
    if args.dry_run or args.unattended:
        raise UsageError("--dry-run goes with --ask-model.", "See `memtui consolidate --help`.")
    store = ctx.store()
    if args.all and (plans := decisions.read_proposals(ctx, store, args.scope)):
        data, text, code = decisions.make_proposals(ctx, store, plans, yes=args.yes)
        merged = any(proposal.kind == "merge" for proposal in plans)
        more = narrate("What was merged may overlap more memories now: memtui consolidate" if merged else "")
        return Result(data, *text, more, memories.undo(len(plans) if data["undo"] else 0), code=code)
    return decisions.list_proposals(ctx, args.scope)


def _dream(ctx: Context, args: argparse.Namespace) -> Result:
    own = [scope for scope in scopes.discover(ctx.env, ctx.cwd) if scope.writable and scope.exists]
    places = [scopes.named(ctx.env, ctx.cwd, label) for label in args.scope or []]
    within = places or [scope for scope in own if scope.kind != "instructions"]
    if isinstance(args.unattended, str):  # the parts whose gates are open
        within = [scope for scope in within if gates.part_of(scope) in args.unattended.split(",")]
    dream = Dream(ctx.store(), within, LanguageModel(ctx.env, ctx.root, ctx.cwd, now=ctx.now))
    cost = dream.estimate()
    money = f"up to {models.dollars(cost.cost)}" if cost.cost is not None else "at a price that is not known"
    asking = f"{many(len(dream.batches), 'request')} to {line(dream.by)}, about {cost.tokens:,} tokens, {money}."
    data: dict[str, object] = {"by": dream.by, "memories": dream.count, "requests": len(dream.batches)}
    data |= {"estimate": {"tokens": cost.tokens, "cost": cost.cost}, "passed_over": dream.passed_over}
    if args.dry_run:
        others = f"· {dream.passed_over} more {PASSED_OVER.format(most=MOST_CHARACTERS)}" if dream.passed_over else ""
        counted = many(dream.count, "memory", "memories")
        return Result(data, narrate(others), f"{counted}: {asking if dream.batches else 'none needs a look.'}")
    if dream.batches and not args.yes and not args.unattended:
        ctx.confirm(f"{asking} Ask?", "No model was asked.")

    def progress(number: int) -> None:
        if sys.stderr.isatty():
            ctx.out.say(f"{number} of {len(dream.batches)} …")

    with gates.held(ctx.root, map(gates.part_of, within), ctx.now()) as note_end:
        outcome = dream.run(progress)
        note_end(outcome.errors)
        plans, usage = outcome.proposals, outcome.used
        path = waiting_proposals.save(ctx.root, plans, ctx.now()) if plans else None
    waiting = 0 if plans else waiting_proposals.waiting(ctx.root)
    data |= {
        "path": path,
        "waiting": waiting,
        "proposals": [{**decisions.brief_data(proposal), "reason": _reason(proposal)} for proposal in plans],
        "left_out": outcome.dropped,
        "failed": [error.message for error in outcome.errors],
        "used": {"tokens": usage.tokens, "cost": usage.cost},
    }
    return Result(
        data,
        lambda out: _print_dream(out, outcome),
        f"Used: {usage.tokens:,} tokens, {models.dollars(usage.cost)}." if outcome.asked else "",
        f"{many(waiting, 'proposal waits', 'proposals wait')} already." if waiting else "",
        narrate(REVIEW if plans or waiting else ""),
        code=EXIT_FAILED if outcome.errors else 0,
    )


def _reason(proposal: Proposal) -> str:
    return proposal.reason or ", ".join(dict.fromkeys(evidence.code for evidence in proposal.evidence))


def _print_dream(out: Output, outcome: DreamOutcome) -> None:
    plans = outcome.proposals
    for proposal in plans:
        out.heading(f"{short_id(proposal.id)}  {line(changeset.title(proposal))}")
        if reason := _reason(proposal):
            out.paragraph(line(reason), "  ")
        out.parts([*changesets.statements(changeset.covered(proposal)), *changesets.additions(proposal)])
    if not plans:
        out.print("Nothing new to propose.")
    if outcome.dropped:
        out.print(styled(f"· {many(outcome.dropped, 'change')} left out: the model may not make such", "dim"))
    for error in outcome.errors:
        out.print(styled(f"! {line(f'{error.message} {error.hint}'.strip())}", "yellow"))
    if plans:
        out.print(f"{many(len(plans), 'proposal')}, nothing is changed yet.")
