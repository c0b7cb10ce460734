"""`memtui consolidate --ask-model`: propose fewer, truer memories, by a model if one may be asked. It changes no
memory."""

import argparse
import sys

from memtui.cli import entries
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.cli.show import proposals
from memtui.consolidate import changeset, coverage, gates, proposed
from memtui.consolidate.dream import Dream, DreamOutcome
from memtui.core.base.errors import EXIT_FAILED, MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.base.short_ids import short_id
from memtui.core.deliveries import error_log
from memtui.core.memories import scopes
from memtui.core.memories.scopes import Scope
from memtui.core.settings import config
from memtui.llm.call import ModelUsage
from memtui.llm.choice import ModelChoice, choose
from memtui.llm.model import LanguageModel, Progress
from memtui.present import dreams, models

NO_MODEL = "No model was found (llm_backend is auto: memtui model says what is missing), so what check finds is taken."
REVIEW = "See them: memtui consolidate   Make one: memtui approve ID   Not again: memtui reject ID"


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Dream; unattended, nobody sees an error, so it is logged."""
    ctx.must_have_home()
    if not args.unattended:
        return _dreamt(ctx, args)
    try:
        return _dreamt(ctx, args)
    except MemtuiError as error:
        error_log.add(ctx.root, "dream", error)
        raise


def _dreamt(ctx: Context, args: argparse.Namespace) -> Result:
    within = [scopes.named(ctx.env, ctx.cwd, label) for label in args.scope or []] or _writable(ctx)
    choice = choose(ctx.env, config.load(ctx.root))
    model = _model(ctx, choice, unattended=args.unattended)
    dream = Dream(ctx.store(), within, model, args.remove, again=args.again)
    cost = dream.estimate()
    data: dict[str, object] = {
        "by": dream.by,
        "memories": dream.count,
        "requests": len(dream.batches),
        "estimate": {"tokens": cost.tokens, "cost": cost.cost},
        "not_looked_at": [{"path": each.path, "why": why} for each, why in dream.not_looked_at],
    }
    none_found = choice.none_found
    if args.dry_run:
        return Result(data, lambda out: _print_estimate(out, dream, cost, none_found=none_found))
    if dream.batches and not args.yes and not args.unattended:
        ctx.confirm(f"{asking(dream, cost)} Ask?", "No model was asked.")
    with gates.held(ctx.root, ctx.now()):
        outcome = dream.run(_progress(ctx))
        path = proposed.save(ctx.root, outcome.found, ctx.now()) if outcome.found.proposals else None
    failed = [*outcome.failed, *([outcome.stopped] if outcome.stopped is not None else [])]
    waiting = [] if outcome.found.proposals else entries.proposals(ctx)
    data |= {
        "path": path,
        "waiting": [{"path": each.path, "by": each.by, "open": each.open} for each in waiting],
        "proposals": [
            {"id": each.id, "kind": each.kind, "what": changeset.title(each), "reason": dreams.reason(each)}
            for each in outcome.found.proposals
        ],
        "left_out": [{"action": d.action, "memories": list(d.memories), "why": d.why} for d in outcome.dropped],
        "failed": [each.message for each in failed],
        "used": {"tokens": outcome.used.tokens, "cost": outcome.used.cost},
    }

    def text(out: Output) -> None:
        if none_found:
            out.print(NO_MODEL)
        _print(out, outcome)
        if outcome.asked:
            out.print(f"Used: {outcome.used.tokens:,} tokens, {models.dollars(outcome.used.cost)}.")
        for each in waiting:
            wait = "waits" if each.open == 1 else "wait"
            out.print(f"{many(each.open, 'proposal')} {wait} already.")
            out.say(REVIEW)

    return Result(data, text, EXIT_FAILED if failed else 0)


def asking(dream: Dream, cost: ModelUsage) -> str:
    """Say what the requests cost: `2 requests to haiku, about 900 tokens, up to $0.01.`"""
    money = f"up to {models.dollars(cost.cost)}" if cost.cost is not None else "at a price that is not known"
    return f"{many(len(dream.batches), 'request')} to {line(dream.by)}, about {cost.tokens:,} tokens, {money}."


def _progress(ctx: Context) -> Progress:
    """Return what says on a terminal how many of the requests were made."""

    def say(done: int, total: int) -> None:
        if done < total:
            ctx.out.say(f"{done + 1} of {total} …")

    return say if sys.stderr.isatty() else lambda *_: None


def _writable(ctx: Context) -> list[Scope]:
    found = scopes.discover(ctx.env, ctx.cwd)
    return [each for each in found if each.writable and each.exists and each.kind != "instructions"]


def _model(ctx: Context, choice: ModelChoice, *, unattended: bool) -> LanguageModel | None:
    """Return the model; None if none may be asked, the one that would be taken is not there, or unattended none can
    be."""
    if not choice.backend and (unattended or choice.off or choice.none_found):
        return None
    return LanguageModel(ctx.env, ctx.root, ctx.cwd, now=ctx.now)


def _print_estimate(out: Output, dream: Dream, cost: ModelUsage, *, none_found: bool) -> None:
    for words in dreams.not_looked_at(dream.not_looked_at):
        out.print(out.style(f"· {line(words)}", "dim"))
    if none_found:
        out.print(NO_MODEL)
    counted = many(dream.count, "memory", "memories")
    if dream.model is None:
        out.print(f"{counted}; no model would be asked (see memtui model): it proposes what check finds.")
    else:
        out.print(f"{counted}: {asking(dream, cost) if dream.batches else 'none needs a look.'}")


def _print(out: Output, outcome: DreamOutcome) -> None:
    for each in outcome.found.proposals:
        out.heading(f"{short_id(each.id)}  {line(changeset.title(each))}")
        if reason := dreams.reason(each):
            out.paragraph(line(reason), "  ")
        proposals.print_statements(out, each, coverage.of_proposal(each))
    if not outcome.found.proposals:
        out.print("Nothing new to propose.")
    for words in dreams.left_out(outcome.dropped):
        out.print(out.style(f"· {words}", "dim"))
    for error in outcome.failed:
        out.print(out.style(f"! {line(error.message)}", "yellow"))
    if outcome.stopped is not None:
        out.print(out.style(f"! {line(outcome.stopped.message)} {line(outcome.stopped.hint)}", "yellow"))
    if outcome.found.proposals:
        out.print(f"{many(len(outcome.found.proposals), 'proposal')}, nothing is changed yet.")
        out.say(REVIEW)
