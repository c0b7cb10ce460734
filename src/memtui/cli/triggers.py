"""The lines by which a memory is found, in other words than its own: for `memtui edit` and `memtui show`."""

import argparse

from memtui.base import clock
from memtui.base.errors import NotFoundError
from memtui.base.phrasing import many
from memtui.base.shell import shell_word
from memtui.cli import memories, secret
from memtui.cli.context import Context
from memtui.cli.output import Result, line, narrate, styled
from memtui.store import triggers
from memtui.store.memory import Memory
from memtui.views import triggers as words


class MemoryTriggers:
    """What is kept about finding a memory: its lines, and the prompts it is muted for."""

    def __init__(self, ctx: Context, memory: Memory) -> None:
        self.now = ctx.now()
        store = ctx.store()
        scope, file = triggers.place_of(store, memory)
        self.lines = triggers.of_memory(ctx.root, scope.directory, file, memory, self.now)
        self.muted = triggers.muted_prompts(ctx.root, scope.directory, file)

    def data(self) -> "dict[str, object]":
        time = clock.iso_seconds
        return {
            "triggers": [
                {**trigger._asdict(), "number": number, "time": time(trigger.time) if trigger.time else None}
                for number, trigger in enumerate(self.lines, 1)
            ],
            "muted": [{"prompt": muted_prompt.text, "time": time(muted_prompt.time)} for muted_prompt in self.muted],
        }

    def facts(self) -> "list[tuple[str, str]]":
        """Return them for a person: titles and lines. The numbers are those that --no-trigger takes."""
        lines = [f"{n}  {row.text}  ({words.origin(row, self.now)})" for n, row in enumerate(self.lines, 1)]
        parts = (("triggers", lines), ("muted for", [row.text for row in self.muted]))
        return [("" if at else title, row) for title, every in parts for at, row in enumerate(every)]


def change(ctx: Context, memory: Memory, args: argparse.Namespace) -> Result:
    """Add and remove lines of a memory, as one step of undo."""
    from memtui.redact import redact

    store, lines = ctx.store(), [text.text for text in MemoryTriggers(ctx, memory).lines]
    hint = f"It has {many(len(lines), 'trigger')}: memtui show {shell_word(memory.ref)}"
    removed = [_meant(lines, text, f"{memory.stem} has no trigger", hint) for text in args.no_trigger]
    _, kinds = secret.checked(ctx, "\n".join(args.trigger), yes=args.yes, declined="Nothing was changed.")
    added = [redact.redact(text)[0] for text in args.trigger] if kinds else args.trigger
    changed = triggers.change(store, memory, added, removed)
    after = memories.find(ctx, memory.path)
    now = MemoryTriggers(ctx, after)
    facts = [(title, line(text)) for title, text in now.facts()]
    ways = [narrate(f"removed: {line(', '.join(removed))}" if removed else ""), memories.undo()]
    return Result(
        {**memories.data_of(after), **now.data(), "changed": changed},
        styled(line(after.ref), "bold"),
        lambda out: out.facts(facts),
        *(ways if changed else [narrate("Nothing changed.")]),
    )


def _meant(lines: "list[str]", word: str, problem: str, hint: str) -> str:
    """Return the text that a number or a text names. Raises NotFoundError."""
    if word.isascii() and word.isdecimal() and 0 < int(word) <= len(lines):
        return lines[int(word) - 1]
    folded = triggers.one_line(word).casefold()
    for trigger in lines:
        if trigger.casefold() == folded:
            return trigger
    raise NotFoundError(f"{problem} “{line(word)}”.", hint)
