"""`memtui model`: which model memtui may ask, the log of what it was asked, what it noted and learned."""

import argparse
from itertools import islice

from memtui.cli import memories, parser, secret, sentences, subconscious
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base.phrasing import age, many
from memtui.core.review import taught
from memtui.core.review.taught import Taught
from memtui.core.settings import config
from memtui.llm import log
from memtui.llm.call import ModelUsage
from memtui.llm.choice import ModelChoice, choose
from memtui.llm.log import LoggedCall
from memtui.present import models
from memtui.subconscious import control, places

LIMIT = 30
WORDS = {"approved": "approved", "edited": "approved after an edit", "rejected": "rejected", "never": "never again"}


def register(commands: "parser.Commands") -> None:
    found = parser.command(
        commands,
        "model",
        run,
        "language models: which, what they did and cost",
        "memtui model\nmemtui model log\nmemtui config set llm_backend auto",
        "No model is asked unless the setting llm_backend says so: `api`, `claude`, or `auto`, which takes what is"
        " there. docs/faq.md says what is sent then.",
    )
    actions = parser.actions(found)
    parser.command(actions, "status", run, "show which model memtui may ask, and what it used", "memtui model status")
    each = parser.command(
        actions, "log", log_of, "list the calls of models, newest first", "memtui model log\nmemtui model log --runs"
    )
    each.add_argument("--runs", action="store_true", help="the sessions that a model read in the background")
    parser.add_limit(each, LIMIT)
    each = parser.command(
        actions,
        "learned",
        learned,
        "show what your decisions on drafts taught",
        "memtui model learned\nmemtui model learned --reset",
        "Numbers are kept, no words; `memtui config set extract_learn false` stops it.",
    )
    each.add_argument("--reset", action="store_true", help="forget it; memtui undo undoes that")
    each = parser.command(
        actions,
        "sentences",
        sentences.run,
        "compare prompts with memories by a sentence model",
        "memtui model sentences\nmemtui model sentences on\nmemtui model sentences off",
        sentences.HELP,
    )
    each.add_argument("what", nargs="?", choices=("on", "off"), help="default: show whether it is on")
    each = parser.command(
        actions,
        "blocks",
        subconscious.blocks,
        "list the model's blocks of notes, print one, or change it",
        'memtui model blocks\nmemtui model blocks guidance --text "Ask before a migration."',
        f"At most {places.MOST:,} characters; `memtui undo` undoes it. {subconscious.NAMES}",
    )
    each.add_argument("block", metavar="BLOCK", nargs="?")
    each.add_argument("--text", metavar="TEXT", help="the new text; - reads it from standard input")
    each.add_argument("--yes", action="store_true", help=secret.YES_HELP)
    parser.command(actions, "stop", subconscious.stop, "stop reading sessions, until `start`", "memtui model stop")
    parser.command(actions, "start", subconscious.start, "let it read sessions again", "memtui model start")


def run(ctx: Context, _: argparse.Namespace) -> Result:
    """Show what is chosen, and what was used of the budget of the day."""
    ctx.must_have_home()
    choice, used = choose(ctx.env, config.load(ctx.root)), log.used_today(ctx.root, ctx.now())
    reading = control.look(ctx.env, ctx.root, ctx.project_root, ctx.now())
    data = {
        "backend": choice.backend or None,
        "model": choice.model,
        "reason": None if choice.backend else choice.why,
        "today": {"tokens": used.tokens, "cost": used.cost},
        "daily_tokens": choice.daily_tokens,
        "daily_dollars": choice.daily_dollars,
        "reads_along": subconscious.state_data(reading),
    }

    def text(out: Output) -> None:
        by = f"{line(choice.model)} by {models.BACKENDS[choice.backend]}" if choice.backend else "none"
        why = [] if choice.backend else [("why", choice.why), ("to do", choice.hint)]
        today = models.of_budget(used, choice.daily_tokens, choice.daily_dollars)
        out.facts([("model", by), *why, ("today", today)], whole=("to do",))
        out.print("Every call: memtui model log")
        if reading.powers.mode != "off" or reading.stopped is not None:
            subconscious.print_state(ctx, out, reading)

    return Result(data, text)


def log_of(ctx: Context, args: argparse.Namespace) -> Result:
    if args.runs:
        return subconscious.list_runs(ctx, args.limit)
    ctx.must_have_home()
    every = log.newest_first(ctx.root)
    shown = list(islice(every, args.limit or None))
    more = next(every, None) is not None
    choice, used = choose(ctx.env, config.load(ctx.root)), log.used_today(ctx.root, ctx.now())
    today = {"tokens": used.tokens, "cost": used.cost}
    data = {"calls": [each.data() for each in shown], "more": more, "today": today}
    return Result(data, lambda out: _print_calls(ctx, out, shown, choice, used, more=more))


def _print_calls(
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
    if retried := sum(each.attempts > 1 for each in shown):
        out.print(f"{many(retried, 'call')} needed more than one attempt.")


def learned(ctx: Context, args: argparse.Namespace) -> Result:
    """Show what decisions taught, or forget it."""
    ctx.must_have_home()
    if not args.reset:
        found = taught.look(ctx.root, ctx.journal())
        return Result(found.data(), lambda out: _print_learned(out, found))
    changed = taught.forget(ctx.root, ctx.journal())

    def text(out: Output) -> None:
        out.print("Forgotten: drafts are judged as memtui ships it." if changed else "Nothing was learned yet.")
        memories.say_undo(out, int(changed))

    return Result({"reset": changed}, text)


def _print_learned(out: Output, found: Taught) -> None:
    waits = f"{many(found.waiting, 'decision')} not applied yet: after the next turn" if found.waiting else ""
    if not found.total:
        out.print(f"Nothing was learned yet: {waits or 'approve or reject drafts (memtui inbox)'}.")
        return
    counts = ", ".join(f"{count} {WORDS.get(name, name)}" for name, count in sorted(found.counts.items()))
    held = "your decisions count less than they could, so that it judges others no worse" if found.halved else ""
    rows = [
        ("decisions", f"{found.total}: {counts}"),
        ("waiting", waits),
        ("projects", str(found.projects or "")),
        ("now", found.judged),
        ("held back", held),
    ]
    out.facts([row for row in rows if row[1]])
    out.say("Forget it: memtui model learned --reset")
