"""`memtui consolidate`: propose merges, fixes and removals of memories, or have a model propose some."""

import argparse
import sys
from collections import Counter

from memtui.base.errors import EXIT_FAILED, MemtuiError, UsageError
from memtui.base.phrasing import many, some
from memtui.base.short_ids import short_id
from memtui.cli import memories, parser, proposals
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, narrate, styled
from memtui.deliver import error_log
from memtui.models.model import LanguageModel
from memtui.store import scopes
from memtui.tidy import changeset, coverage, gates, waiting_proposals
from memtui.tidy.changeset import Proposal
from memtui.tidy.dream import MOST_CHARACTERS, Dream, DreamOutcome, Why, WhyNot
from memtui.views import changesets, models

REVIEW = "See them: memtui consolidate   Approve one: memtui approve ID   Reject one: memtui reject ID"
WHY_NOT: dict[WhyNot, str] = {
    "read_only": "in a scope that memtui can't change",
    "broken": "can't be read",
    "empty": "empty",
    "long": f"longer than {MOST_CHARACTERS:,} characters",
    "untrusted": "not trusted",
    "secret": "may contain a secret",
}
WHYS: dict[Why, str] = {
    "stranger": "named a memory that was not asked about together",
    "twice": "named a memory that another change has already",
    "incomplete": "left out what it needs",
    "budget": "would have removed more than a run may",
    "same": "would have changed nothing",
    "redacted": "would have lost a text that no model sees",
    "impossible": "can't be made",
}


@parser.command("""\
consolidate: propose merges, fixes and removals of memories
  memtui consolidate
  memtui approve 3f2a9c
  memtui consolidate --all
  memtui consolidate --ask-model --dry-run
Nothing is written before you approve it. --ask-model says first what it costs, and needs `llm_backend` (docs/faq.md
says what is sent).
--ask-model | let the model propose, too
--all | make all that is proposed; it shows them and asks first
--scope SCOPE... | only changes to files of this scope; can be repeated
--yes | don't ask
with --ask-model:
--dry-run | only say what would be asked, and what it would cost
--unattended |""")
def run(ctx: Context, args: argparse.Namespace) -> Result:
    if args.ask_model:
        if args.all:
            raise UsageError("--ask-model makes nothing.", "Look at what it proposes first: memtui consolidate")
        try:
            return _dream(ctx, args)
        except MemtuiError as error:
            if args.unattended:  # nobody sees it
                error_log.add(ctx.root, "dream", error)
            raise
    if args.dry_run or args.unattended:
        raise UsageError("--dry-run goes with --ask-model.", "See `memtui consolidate --help`.")
    store = ctx.store()
    if args.all and (plans := proposals.read(ctx, store, args.scope)):
        data, text, code = proposals.approve(ctx, store, plans, yes=args.yes)
        merged = any(proposal.kind == "merge" for proposal in plans)
        more = narrate("What was merged may overlap more memories now: memtui consolidate" if merged else "")
        return Result(data, *text, more, memories.undo(len(plans) if data["undo"] else 0), code=code)
    return proposals.listing(ctx, args.scope)


def _dream(ctx: Context, args: argparse.Namespace) -> Result:
    own = [scope for scope in scopes.discover(ctx.env, ctx.cwd) if scope.writable and scope.exists]
    places = [scopes.named(ctx.env, ctx.cwd, label) for label in args.scope or []]
    within = places or [scope for scope in own if scope.kind != "instructions"]
    dream = Dream(ctx.store(), within, LanguageModel(ctx.env, ctx.root, ctx.cwd, now=ctx.now))
    cost = dream.estimate()
    money = f"up to {models.dollars(cost.cost)}" if cost.cost is not None else "at a price that is not known"
    asking = f"{many(len(dream.batches), 'request')} to {line(dream.by)}, about {cost.tokens:,} tokens, {money}."
    data: dict[str, object] = {
        "by": dream.by,
        "memories": dream.count,
        "requests": len(dream.batches),
        "estimate": {"tokens": cost.tokens, "cost": cost.cost},
        "not_looked_at": [{"path": memory.path, "why": why} for memory, why in dream.not_looked_at],
    }
    if args.dry_run:
        names: dict[WhyNot, list[str]] = {}
        for memory, why in dream.not_looked_at:
            names.setdefault(why, []).append(memory.stem)
        lines = [f"· not counted, {WHY_NOT[why]}: {line(some(stems))}" for why, stems in names.items()]
        counted = many(dream.count, "memory", "memories")
        asked = f"{counted}: {asking if dream.batches else 'none needs a look.'}"
        return Result(data, *(styled(text, "dim") for text in lines), asked)
    if dream.batches and not args.yes and not args.unattended:
        ctx.confirm(f"{asking} Ask?", "No model was asked.")

    def progress(number: int) -> None:
        if sys.stderr.isatty():
            ctx.out.say(f"{number} of {len(dream.batches)} …")

    with gates.held(ctx.root, ctx.now()):
        outcome = dream.run(progress)
        plans, usage = outcome.proposals, outcome.used
        path = waiting_proposals.save(ctx.root, plans, ctx.now()) if plans else None
    waiting = 0 if plans else waiting_proposals.waiting(ctx.root)
    data |= {
        "path": path,
        "waiting": waiting,
        "proposals": [{**proposals.brief(proposal), "reason": _reason(proposal)} for proposal in plans],
        "left_out": [{"action": d.action, "memories": list(d.memories), "why": d.why} for d in outcome.dropped],
        "failed": [error.message for error in outcome.errors],
        "used": {"tokens": usage.tokens, "cost": usage.cost},
    }
    return Result(
        data,
        lambda out: _print(out, outcome),
        f"Used: {usage.tokens:,} tokens, {models.dollars(usage.cost)}." if outcome.asked else "",
        f"{many(waiting, 'proposal waits', 'proposals wait')} already." if waiting else "",
        narrate(REVIEW if plans or waiting else ""),
        code=EXIT_FAILED if outcome.errors else 0,
    )


def _reason(proposal: Proposal) -> str:
    return proposal.reason or ", ".join(dict.fromkeys(evidence.code for evidence in proposal.evidence))


def _print(out: Output, outcome: DreamOutcome) -> None:
    plans = outcome.proposals
    for proposal in plans:
        out.heading(f"{short_id(proposal.id)}  {line(changeset.title(proposal))}")
        if reason := _reason(proposal):
            out.paragraph(line(reason), "  ")
        out.parts([*changesets.statements(coverage.of_proposal(proposal)), *changesets.additions(proposal)])
    if not plans:
        out.print("Nothing new to propose.")
    for why, number in Counter(dropped.why for dropped in outcome.dropped).most_common():
        out.print(styled(f"· {many(number, 'change')} left out: {WHYS[why]}", "dim"))
    for error in outcome.errors:
        out.print(styled(f"! {line(f'{error.message} {error.hint}'.strip())}", "yellow"))
    if plans:
        out.print(f"{many(len(plans), 'proposal')}, nothing is changed yet.")
