"""What `memtui model triggers`, and a dream after its proposals, do: say what it costs, let a model
write lines, show them, and keep them."""

import argparse
import sys

from memtui.cli import memories
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.consolidate import trigger_writing
from memtui.consolidate.trigger_writing import TriggerWriting, WrittenTriggers
from memtui.core.base.errors import EXIT_FAILED, MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.deliveries import error_log
from memtui.core.memories import scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.llm.model import LanguageModel, Progress
from memtui.llm.usage import ModelUsage
from memtui.present import dreams, models


def write(ctx: Context, args: argparse.Namespace) -> Result:
    """Let a model write the triggers of memories; unattended, nobody sees an error, so it is logged."""
    ctx.must_have_home()
    if not args.unattended:
        return _written(ctx, args)
    try:
        return _written(ctx, args)
    except MemtuiError as error:
        error_log.add(ctx.root, "triggers", error)
        raise


class DreamTriggers:
    """The triggers that a dream has written, of memories in its scopes that have none of a model: the newest at a time,
    `more` are left for later. Afterwards `kept` has the lines of each that got some, `errors` what failed, and `used`
    what the model used in all."""

    def __init__(self, ctx: Context, model: LanguageModel, within: list[Scope]) -> None:
        self._ctx, self._store = ctx, ctx.store()
        own = [each for each in within if each.writable and each.kind != "instructions"]
        found = [each for scope in own for each in scopes.memories(scope)]
        found, _ = trigger_writing.sendable(self._store, trigger_writing.without(self._store, found))
        self.wanted = found[: trigger_writing.UNATTENDED]
        self.more = len(found) - len(self.wanted)
        self.writing = TriggerWriting(model, self.wanted)
        self.cost = self.writing.estimate()
        self.kept: list[tuple[Memory, list[str]]] = []
        self.errors: list[MemtuiError] = []
        self.used = model.spent

    @property
    def sentence(self) -> str:
        """Say what will be asked, and what it will cost; empty if nothing."""
        return "Triggers of " + _sentence(self.writing, self.wanted, self.cost) if self.wanted else ""

    def data(self) -> dict[str, object]:
        cost = {"tokens": self.cost.tokens, "cost": self.cost.cost}
        return {"memories": len(self.wanted), "requests": len(self.writing.batches), **cost}

    def write(self) -> None:
        """Let the model write, and keep the lines as one step of undo. Raises MemtuiError."""
        done = self.writing.run(progress(self._ctx))
        self.errors = [*done.failed, *([done.stopped] if done.stopped is not None else [])]
        self.kept, self.used = trigger_writing.keep(self._store, done.lines), done.used

    def print(self, out: Output) -> None:
        for error in self.errors:
            out.print(out.style(f"! {line(error.message)} {line(error.hint)}", "yellow"))
        if self.kept:
            lines = many(sum(len(each) for _, each in self.kept), "trigger")
            of = many(len(self.kept), "memory", "memories")
            out.print(f"Wrote {lines} of {of}, by which recall finds them: memtui show NAME")
            memories.say_undo(out)
        if self.more:
            out.say(f"{many(self.more, 'memory has', 'memories have')} none yet: memtui model triggers --all")


def _written(ctx: Context, args: argparse.Namespace) -> Result:
    store = ctx.store()
    named = [memories.find(ctx, name) for name in args.names]
    model = LanguageModel(ctx.env, ctx.root, ctx.cwd, now=ctx.now)
    wanted = named or trigger_writing.without(store, _writable(ctx))
    wanted, left_out = trigger_writing.sendable(store, wanted)
    if args.unattended:
        wanted = wanted[: trigger_writing.UNATTENDED]
    writing = TriggerWriting(model, wanted)
    cost = writing.estimate()
    data: dict[str, object] = {
        "by": model.name,
        "memories": len(wanted),
        "requests": len(writing.batches),
        "estimate": {"tokens": cost.tokens, "cost": cost.cost},
        "not_looked_at": [{"path": each.path, "why": why} for each, why in left_out],
    }
    said = [f"· {line(words)}" for words in dreams.not_looked_at(left_out)]
    if args.dry_run or not wanted:
        return Result(data, lambda out: _print_estimate(out, said, _sentence(writing, wanted, cost), count=len(wanted)))
    if not args.yes and not args.unattended:
        ctx.confirm(f"{_sentence(writing, wanted, cost)} Ask?", "No model was asked.")
    done = writing.run(progress(ctx))
    if not args.yes and not args.unattended and done.lines:
        _print_lines(ctx.out, done.lines)
        ctx.confirm(f"Keep these lines of {many(len(done.lines), 'memory', 'memories')}?", "Nothing was kept.")
    kept = trigger_writing.keep(store, done.lines)
    data |= {
        "written": [{**memories.data_of(each), "triggers": lines} for each, lines in kept],
        "failed": [each.message for each in [*done.failed, *([done.stopped] if done.stopped else [])]],
        "used": {"tokens": done.used.tokens, "cost": done.used.cost},
    }
    code = EXIT_FAILED if done.stopped is not None or done.failed else 0
    return Result(data, lambda out: _print(out, said, done, kept, shown=not args.yes), code)


def _writable(ctx: Context) -> list[Memory]:
    found = [each for each in scopes.discover(ctx.env, ctx.cwd) if each.writable and each.kind != "instructions"]
    return [each for scope in found for each in scopes.memories(scope)]


def asking(count: int, model: str, cost: ModelUsage) -> str:
    """Say what so many requests to a model cost: `2 requests to haiku, about 900 tokens, up to $0.01.`"""
    money = f"up to {models.dollars(cost.cost)}" if cost.cost is not None else "at a price that is not known"
    return f"{many(count, 'request')} to {line(model)}, about {cost.tokens:,} tokens, {money}."


def _sentence(writing: TriggerWriting, wanted: list[Memory], cost: ModelUsage) -> str:
    counted = many(len(wanted), "memory", "memories")
    return f"{counted}: {asking(len(writing.batches), writing.model.name, cost)}"


def progress(ctx: Context) -> Progress:
    """Return what says on a terminal how many of the requests were made."""

    def say(done: int, total: int) -> None:
        if done < total:
            ctx.out.say(f"{done + 1} of {total} …")

    return say if sys.stderr.isatty() else lambda *_: None


def _print_estimate(out: Output, said: list[str], sentence: str, *, count: int) -> None:
    for words in said:
        out.print(out.style(words, "dim"))
    out.print(
        sentence if count else "Every memory here has lines of a model, or of its own file. Name one to write anew."
    )


def _print_lines(out: Output, found: list[tuple[Memory, list[str]]]) -> None:
    for each, lines in found:
        out.heading(line(each.ref))
        for words in lines:
            out.print(f"  {line(words)}")


def _print(
    out: Output, said: list[str], done: WrittenTriggers, kept: list[tuple[Memory, list[str]]], *, shown: bool
) -> None:
    if not shown:
        _print_lines(out, kept)
    for words in said:
        out.print(out.style(words, "dim"))
    for error in [*done.failed, *([done.stopped] if done.stopped is not None else [])]:
        out.print(out.style(f"! {line(error.message)} {line(error.hint)}", "yellow"))
    lines = sum(len(each) for _, each in kept)
    where = many(len(kept), "memory", "memories")
    out.print(f"Kept {many(lines, 'line')} of {where}." if kept else "No lines were kept.")
    out.print(f"Used: {done.used.tokens:,} tokens, {models.dollars(done.used.cost)}.")
    memories.say_undo(out, len(kept))
