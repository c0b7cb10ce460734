"""`memtui model`: which model memtui may ask, the log of what it was asked, what it noted and learned."""

import argparse
from itertools import islice

from memtui.cli import memories, parser, reading_along, sentences
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import age, many
from memtui.core.review import taught
from memtui.core.review.taught import Taught
from memtui.core.settings import config
from memtui.llm import log
from memtui.llm.choice import ModelChoice, choose
from memtui.llm.log import LoggedCall
from memtui.llm.usage import ModelUsage
from memtui.present import models

LIMIT = 30
WORDS = {"approved": "approved", "edited": "approved after an edit", "rejected": "rejected", "never": "never again"}


def register(commands: "parser.Commands") -> None:
    """Add the command and its actions."""
    found = parser.command(
        commands,
        "model",
        run,
        "language models: which, what they did and cost",
        "memtui model\nmemtui model log\nmemtui config set llm_backend auto\nmemtui model triggers --all",
        "No model is asked unless the setting llm_backend says so: `api` (ANTHROPIC_API_KEY), `claude` (the client,"
        " for a subscription), or `auto`, which takes what is there. " + models.SENT,
    )
    actions = parser.actions(found)
    parser.command(actions, "status", run, "show which model memtui may ask, and what it used", "memtui model status")
    each = parser.command(
        actions,
        "log",
        log_of,
        "list the calls of models, newest first, or what came of them",
        "memtui model log\nmemtui model log --limit 0 --json\nmemtui model log --runs",
    )
    which = each.add_mutually_exclusive_group()
    which.add_argument("--runs", action="store_true", help="the sessions that a model read in the background")
    which.add_argument("--notes", action="store_true", help="the notes that it left for sessions, and if they arrived")
    each.add_argument("--session", metavar="ID", default="", help="with --runs or --notes: only of this session")
    each.add_argument("--limit", type=parser.count, default=LIMIT, metavar="N", help=f"default: {LIMIT}, 0: all")
    each = parser.command(
        actions,
        "triggers",
        write_triggers,
        "let the model write triggers, by which memories are found",
        "memtui model triggers release-steps\nmemtui model triggers --all --dry-run",
        "It says first what that costs, and shows the lines before they stay.",
    )
    each.add_argument("names", nargs="*", metavar="NAME")
    each.add_argument("--all", action="store_true", help="all memories here that have none of a model")
    each.add_argument("--dry-run", action="store_true", help="only say what it would cost")
    each.add_argument("--yes", action="store_true", help="don't ask")
    each.add_argument("--unattended", action="store_true", help=argparse.SUPPRESS)
    each = parser.command(
        actions,
        "learned",
        learned,
        "show what your decisions on drafts taught",
        "memtui model learned\nmemtui model learned --reset",
        "What you approve and reject moves the scores of later drafts, for you and for each project, after the next"
        " turn; a draft that you rewrote before you approved it counts less. Numbers are kept, no words. Messages of"
        " others, which memtui ships as numbers, are never judged worse by more than 2 in 100. Undone decisions"
        " don't count; `memtui config set extract_learn false` stops it.",
    )
    each.add_argument("--reset", action="store_true", help="forget it; memtui undo undoes that")
    sentences.register(actions)
    reading_along.register(actions)


def log_of(ctx: Context, args: argparse.Namespace) -> Result:
    """List calls, runs or notes of models."""
    if args.runs:
        return reading_along.list_runs(ctx, args)
    if args.notes:
        return reading_along.list_whispers(ctx, args)
    if args.session:
        raise UsageError("--session goes with --runs or --notes.", "The list of calls is of all sessions.")
    return calls(ctx, args)


def write_triggers(ctx: Context, args: argparse.Namespace) -> Result:
    """Let the model write triggers."""
    from memtui.cli.show import trigger_writing

    if bool(args.names) == args.all:
        raise UsageError("Give names of memories, or --all.", "memtui model triggers --all --dry-run")
    return trigger_writing.write(ctx, args)


def run(ctx: Context, _: argparse.Namespace) -> Result:
    """Show what is chosen, and what was used of the budget of the day."""
    ctx.must_have_home()
    choice = choose(ctx.env, config.load(ctx.root))
    used = log.used_today(ctx.root, ctx.now())
    why = "" if choice.backend else choice.why
    reading, found = reading_along.state(ctx)
    data = {
        "backend": choice.backend or None,
        "model": choice.model,
        "reason": why or None,
        "today": {"tokens": used.tokens, "cost": used.cost},
        "daily_tokens": choice.daily_tokens,
        "daily_dollars": choice.daily_dollars,
        "reads_along": reading,
    }

    def text(out: Output) -> None:
        _print(out, choice, used)
        if found.powers.mode != "off" or found.stopped is not None:
            reading_along.print_state(ctx, out, found)

    return Result(data, text)


def _print(out: Output, choice: ModelChoice, used: ModelUsage) -> None:
    out.facts(
        [
            ("model", f"{line(choice.model)} by {models.BACKENDS[choice.backend]}" if choice.backend else "none"),
            *([] if choice.backend else [("why", choice.why), ("to do", choice.hint)]),
            ("today", models.of_budget(used, choice.daily_tokens, choice.daily_dollars)),
        ],
        whole=("to do",),
    )
    out.print("Every call: memtui model log")


def calls(ctx: Context, args: argparse.Namespace) -> Result:
    """List the calls."""
    ctx.must_have_home()
    every = log.newest_first(ctx.root)
    shown = list(islice(every, args.limit)) if args.limit else list(every)
    more = next(every, None) is not None
    choice, used = choose(ctx.env, config.load(ctx.root)), log.used_today(ctx.root, ctx.now())
    data = {
        "calls": [each.data() for each in shown],
        "more": more,
        "today": {"tokens": used.tokens, "cost": used.cost},
    }
    return Result(data, lambda out: _list(ctx, out, shown, choice, used, more=more))


def _list(
    ctx: Context, out: Output, shown: "list[LoggedCall]", choice: ModelChoice, used: ModelUsage, *, more: bool
) -> None:
    if not shown:
        out.print("No model was asked yet.")
        return
    rows = [
        [
            age(each.time, ctx.now()),
            line(each.purpose),
            (models.outcome(each.outcome), models.style(each.outcome)),
            f"{each.usage.input + each.usage.written:,}",
            f"{each.usage.cached:,}",
            f"{each.usage.output:,}",
            models.dollars(each.usage.cost),
            f"{each.seconds:.1f} s",
            line(each.backend),
            line(models.short_name(each.model)),
        ]
        for each in shown
    ]
    headers = ["AGE", "PURPOSE", "OUTCOME", "IN", "CACHED", "OUT", "COST", "TIME", "BY", "MODEL"]
    out.table(headers, rows, flex=(9, 1), right=(0, 3, 4, 5, 6, 7))
    if more:
        out.print("and more: memtui model log --limit 0")
    out.print(f"Today: {models.of_budget(used, choice.daily_tokens, choice.daily_dollars)}.")
    retried = sum(each.attempts > 1 for each in shown)
    if retried:
        out.print(f"{many(retried, 'call')} needed more than one attempt.")


def learned(ctx: Context, args: argparse.Namespace) -> Result:
    """Show what decisions taught, or forget it."""
    ctx.must_have_home()
    if args.reset:
        changed = taught.forget(ctx.root, ctx.journal())

        def told(out: Output) -> None:
            out.print("Forgotten: drafts are judged as memtui ships it." if changed else "Nothing was learned yet.")
            memories.say_undo(out, int(changed))

        return Result({"reset": changed}, told)
    found = taught.look(ctx.root, ctx.journal())
    return Result(found.data(), lambda out: _print_learned(out, found))


def _print_learned(out: Output, found: Taught) -> None:
    waits = f"{many(found.waiting, 'decision')} not applied yet: after the next turn"
    if not found.total:
        if found.waiting:
            out.print(f"Nothing was learned yet: {waits}.")
        else:
            out.print("Nothing was learned yet: approve or reject drafts (memtui inbox).")
        return
    counts = ", ".join(f"{count} {WORDS.get(name, name)}" for name, count in sorted(found.counts.items()))
    rows = [("decisions", f"{found.total}: {counts}")]
    rows += [("waiting", waits)] if found.waiting else []
    rows += [("projects", str(found.projects))] if found.projects else []
    rows += [("now", found.judged)] if found.judged else []
    if found.halved:
        rows.append(("held back", "your decisions count less than they could, so that it judges others no worse"))
    out.facts(rows)
    out.say("Forget it: memtui model learned --reset")
