"""`memtui llm`: which model memtui may ask, and the log of what it was asked."""

import argparse
from itertools import islice

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base.phrasing import age, many
from memtui.core.settings import config
from memtui.llm import log
from memtui.llm.choice import ModelChoice, choose
from memtui.llm.log import LoggedCall
from memtui.llm.usage import ModelUsage
from memtui.present import models

LIMIT = 30


def register(commands: "parser.Commands") -> None:
    """Add the command and its action."""
    found = parser.command(
        commands,
        "llm",
        run,
        "show which model memtui may ask, and what it used",
        "memtui llm\nmemtui llm log\nmemtui config set llm_backend auto",
        "No model is asked unless the setting llm_backend says so: `api` (ANTHROPIC_API_KEY), `claude` (the client,"
        " for a subscription), or `auto`, which takes what is there. " + models.SENT,
    )
    below = parser.actions(found)
    each = parser.command(
        below, "log", calls, "list the calls of models, newest first", "memtui llm log\nmemtui llm log --limit 0 --json"
    )
    each.add_argument("--limit", type=parser.count, default=LIMIT, metavar="N", help=f"default: {LIMIT}, 0: all")


def run(ctx: Context, _: argparse.Namespace) -> Result:
    """Show what is chosen, and what was used of the budget of the day."""
    ctx.must_have_home()
    choice = choose(ctx.env, config.load(ctx.root))
    used = log.used_today(ctx.root, ctx.now())
    why = "" if choice.backend else choice.why
    data = {
        "backend": choice.backend or None,
        "model": choice.model,
        "reason": why or None,
        "today": {"tokens": used.tokens, "cost": used.cost},
        "daily_tokens": choice.daily_tokens,
        "daily_dollars": choice.daily_dollars,
    }
    return Result(data, lambda out: _print(out, choice, used))


def _print(out: Output, choice: ModelChoice, used: ModelUsage) -> None:
    out.facts(
        [
            ("model", f"{line(choice.model)} by {models.BACKENDS[choice.backend]}" if choice.backend else "none"),
            *([] if choice.backend else [("why", choice.why), ("to do", choice.hint)]),
            ("today", models.of_budget(used, choice.daily_tokens, choice.daily_dollars)),
        ],
        whole=("to do",),
    )
    out.print("Every call: memtui llm log")


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
        out.print("and more: memtui llm log --limit 0")
    out.print(f"Today: {models.of_budget(used, choice.daily_tokens, choice.daily_dollars)}.")
    retried = sum(each.attempts > 1 for each in shown)
    if retried:
        out.print(f"{many(retried, 'call')} needed more than one attempt.")
