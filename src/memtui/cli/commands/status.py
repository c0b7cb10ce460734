"""`memtui status`: how things stand, and what to do next. `memtui` alone runs it where there is no terminal."""

import argparse
import os
import time
from contextlib import suppress

from memtui.base import findings, fs_hot, paths_hot
from memtui.base.errors import MemtuiError, UsageError
from memtui.base.finding import PROBLEM, Finding
from memtui.base.phrasing_hot import ago, it, many
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Result, line, styled
from memtui.client import locate_hot
from memtui.client.transcripts import transcript_hot
from memtui.deliver import log_hot
from memtui.deliver.log_queries import Receipts
from memtui.deliver.record import Delivery
from memtui.hooks.install import agents, checkup
from memtui.hooks.install import status as hook_status
from memtui.inbox import format_hot
from memtui.learn.backfill import progress
from memtui.rules import counts as rule_counts
from memtui.settings import config_hot
from memtui.store import scopes, trust_hot
from memtui.tidy.checks import doctor
from memtui.tidy.waiting_proposals import UndecidedSet
from memtui.views import rules as rules_words
from memtui.views import setup as setup_words
from memtui.views.deliveries import RECEIPTS, what

COUNT_SECONDS = 3.0  # looking for what can be done about memories ends after so many seconds


@parser.command("status")
def run(ctx: Context, args: argparse.Namespace) -> Result:
    if args.paths:
        return _paths(ctx, args.paths)
    counts: dict[str, int] = {}
    for scope in scopes.discover(ctx.env, ctx.cwd):
        if scope.kind != "instructions":
            counts[scope.kind] = counts.get(scope.kind, 0) + len(scopes.files(scope))
    unread: list[Finding] = []
    waiting, changed = ctx.counts(unread), 0
    with suppress(MemtuiError, OSError):
        ctx.look()
        changed = len(ctx.changed())
    last = next((row for row in map(Delivery, log_hot.newest_first(ctx.root)) if row.injected), None)
    outcome = Receipts(ctx.env, ctx.now, transcript_hot.Finder(ctx.config_dir)).of(last) if last else None
    try:  # but for those of Claude Code itself, which has to be started for them
        problems = [row for row in checkup.check(ctx.env, ctx.cwd, ctx.now(), client=[]) if row.level == PROBLEM]
    except (MemtuiError, OSError):
        problems = []
    earlier = progress.unread(ctx.root, ctx.env)
    hooks, rules = None, rules_words.total(rule_counts.held_by_path(ctx.root))
    with suppress(MemtuiError, OSError):
        hooks = hook_status.status(ctx.env, ctx.cwd)
    decisions, plan = _decisions(ctx, waiting)
    failing = [name for row in plan.left if row.cause == "memories.verify" for name in row.memories]
    steps = _steps(ctx, hooks, decisions, problems, plan.rejected, earlier)
    data = {
        "project": ctx.project_root,
        "mode": ctx.setting("mode"),
        "memories": counts,
        "failing": failing,
        "to_decide": decisions,
        "waiting": waiting,
        "earlier_sessions": earlier,
        "changed": changed,
        "problems": findings.problems(problems),
        "unread": [findings.unread_row(finding) for finding in unread],
        "last_delivery": {"id": last.id, "time": last.logged, "outcome": outcome} if last else None,
        "next": [{"command": command, "why": why} for command, why in steps],
    }
    memories = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
    waits = ", ".join(many(number, format_hot.NOUNS[kind]) for kind, number in waiting.items() if number)
    more = (decisions or 0) - waiting["updates"] - waiting["items"]
    waits = ", ".join(filter(None, (waits, f"{more:,}{' more' * bool(waits)} to decide" * (more > 0))))
    nothing = "nothing waits here" * (not decisions)
    state, installed = setup_words.state(hooks, agents.hooked(ctx.root))
    lines = [
        f"hooks: {styled(state, 'green' if installed else 'red')}",
        f"memories: {memories}" if memories else "no memories",
        f"rules: {rules}" * bool(rules),
        styled(f"! {many(len(failing), 'memory', 'memories')} whose own check fails", "red") * bool(failing),
        f"waiting: {waits}" if waits else nothing,
        f"{many(changed, 'memory', 'memories')} changed by others since you saw {it(changed)}" * bool(changed),
    ]
    if last is not None and outcome is not None:
        receipt, when = styled(*RECEIPTS[outcome]), ago(last.time or None, ctx.now())
        where = "" if last.root == ctx.project_root else f" in {line(ctx.tilde(last.root))}"
        lines.append(f"last delivery {when}{where}: {line(what(last.contents))}, {receipt}")
    lines += [styled(f"! {line(findings.with_remedy(finding))}", "yellow") for finding in unread]
    return Result(
        data,
        lambda out: out.heading("memtui", f"mode {ctx.setting('mode')}  ·  {line(ctx.tilde(ctx.project_root))}"),
        *(f"  {other}" for other in filter(None, lines)),
        lambda out: out.section() if steps else None,
        lambda out: out.table(["", ""], [[(way, "bold"), why] for way, why in steps], indent="  ", whole=True),
        "\nAll commands: memtui --help",
    )


def _decisions(ctx: Context, waiting: "dict[str, int]") -> "tuple[int | None, UndecidedSet]":
    """Count what waits for a decision, None if that takes too long; and return what was planned."""
    end = time.monotonic() + COUNT_SECONDS
    with suppress(MemtuiError, OSError):
        plan = ctx.undecided(lambda: time.monotonic() < end)
        count = waiting["updates"] + waiting["items"] + ctx.count_decisions(plan).total()
        return count if time.monotonic() < end else None, plan
    return None, UndecidedSet((), (), frozenset())


def _steps(
    ctx: Context,
    hooks: "hook_status.Status | None",
    decisions: "int | None",
    problems: "list[Finding]",
    rejected: "frozenset[str]",
    earlier: int,
) -> "list[tuple[str, str]]":
    """Return commands to run next, each with its reason, most pressing first."""
    missing = hooks and not hooks.installed and not agents.hooked(ctx.root)
    of_hooks = (
        (hooks is None, "memtui doctor", "the settings can't be read"),
        (hooks and hooks.unreadable, "memtui setup", "Claude Code skips a settings file: sessions get nothing"),
        (missing, "memtui setup hooks", "the hooks are not installed: sessions get nothing"),
        (hooks and hooks.problems, "memtui setup", "something keeps the hooks from running"),
    )
    off = doctor.mode_off(ctx.settings(), ctx.project_root)
    count = "what waits for a decision" if decisions is None else f"{decisions:,} to decide"
    fixes: dict[str, list[str]] = {}
    for problem in findings.by_cause(problems):
        if findings.fix_of(problem.finding) == "lint" and problem.finding.data.get("path") not in rejected:
            fixes.setdefault(problem.remedy.partition(", or ")[0], []).append(problem.sentence.rstrip("."))
    to_fix = any(finding.area not in {"hooks", "trust"} for finding in problems)  # these have their own steps
    others = (
        (off, findings.remedy(off) if off else "", "the mode is off here: sessions get nothing"),
        (earlier, "memtui import sessions", f"reads your {many(earlier, 'earlier session')} for drafts"),
        (decisions != 0, "memtui inbox", f"{count}: yes or no?"),
        *((True, command, "; ".join(sentences)) for command, sentences in fixes.items()),
        (to_fix, "memtui doctor", f"{many(findings.problems(problems), 'problem')} to fix"),
    )
    pressing, rest = ([(command, why) for is_so, command, why in rows if is_so] for rows in (of_hooks, others))
    return [*pressing[:1], *rest]


def _paths(ctx: Context, name: "str | bool") -> Result:
    root, claude = ctx.root, ctx.config_dir
    own = paths_hot.inbox_dir(root, ctx.slug)
    every = {
        "project": ctx.project_root,
        "inbox": own,
        "guidance": f"{own}/{format_hot.FILES['guidance']}",
        "pending_updates": f"{own}/{format_hot.FILES['updates']}",
        "pending_items": f"{own}/{format_hot.FILES['items']}",
        "global_inbox": paths_hot.inbox_dir(root, None),
        "project_memory": locate_hot.project_dir(ctx.env, ctx.cwd)[0],
        "auto_memory": locate_hot.auto_dir(ctx.env, ctx.cwd),
        "global_memory": locate_hot.global_dir(ctx.env),
        "transcripts": f"{claude}/projects/{paths_hot.slug(ctx.cwd)}",
        "root": root,
        "config": config_hot.file_path(root),
        "deliveries": log_hot.log_path(root, ctx.now()),
        "errors": f"{root}/log/errors.jsonl",
        "sessions": f"{root}/sessions",
        "trust": trust_hot.path(root),
        "journal": f"{root}/journal.jsonl",
        "trash": f"{root}/trash",
        "claude": claude,
        "settings": f"{claude}/settings.json",
    }
    if isinstance(name, str):
        if name not in every:
            raise UsageError(f"There is no path “{name}”.", "`memtui status --paths` lists them.")
        path = every[name]
        if name in {"guidance", "pending_updates", "pending_items"}:
            fs_hot.makedirs(os.path.dirname(path))  # so that `>> "$(memtui status --paths guidance)"` works at once
        return Result({name: path}, lambda out: out.exact(path))
    absent = {path: "  (not there yet)" for path in every.values() if not os.path.lexists(path)}
    rows = [[(place, "dim"), line(path) + absent.get(path, "")] for place, path in every.items()]
    return Result(every, lambda out: out.table(["", ""], rows, flex=(), indent="  "))
