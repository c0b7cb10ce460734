"""The lines by which a memory is found, in other words than its own: for `memtui edit` and `memtui show`."""

import argparse

from memtui.cli import memories, secret
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import clock
from memtui.core.base.errors import NotFoundError
from memtui.core.base.phrasing import age, many
from memtui.core.base.shell import shell_word
from memtui.core.memories import muting, triggers
from memtui.core.memories.memory import Memory
from memtui.core.memories.muting import MutedPrompt
from memtui.core.memories.store import Store
from memtui.core.memories.triggers import Trigger
from memtui.present import triggers as present

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.cli.parser import Parser


def add_options(found: "Parser") -> None:
    """Add the options of `memtui edit` that change the triggers of a memory."""
    found.add_argument(
        "--trigger",
        action="append",
        default=[],
        metavar="TEXT",
        help="a line on when one would need it, in other words than its own, by which it is found",
    )
    found.add_argument(
        "--no-trigger",
        action="append",
        default=[],
        metavar="N|TEXT",
        help="remove a trigger, or a path that was learned from use, by its number or its text: `memtui show`",
    )
    found.add_argument(
        "--mute", action="append", default=[], metavar="PROMPT", help="never recall it for prompts like this one"
    )
    found.add_argument(
        "--unmute", action="append", default=[], metavar="N|PROMPT", help="take back --mute, by number or text"
    )


def given(args: argparse.Namespace) -> bool:
    """Return whether a command line changes triggers."""
    return bool(args.trigger or args.no_trigger or args.mute or args.unmute)


def change(ctx: Context, found: Memory, args: argparse.Namespace) -> Result:
    """Change the triggers of a memory and the prompts that it is muted for, as one step of undo."""
    store = ctx.store()
    with store.journal.together():
        changed = _mute(store, found, args)
        if args.trigger or args.no_trigger:
            changed = _change(ctx, store, found, args) or changed
    return _listed(ctx, memories.find(ctx, found.path), changed=changed)


def _mute(store: Store, found: Memory, args: argparse.Namespace) -> bool:
    from memtui.recall import words

    known = [each.text for each in _muted(store, found)]
    again = [_meant(known, each, f"{found.stem} is not muted for", "") for each in args.unmute]
    changed = muting.unmute(store, found, again)
    for prompt in args.mute:
        changed = muting.mute(store, found, prompt, words.terms) or changed
    return changed


def _muted(store: Store, found: Memory) -> "list[MutedPrompt]":
    scope, file = triggers.place_of(store, found)
    return muting.of_file(store.root, scope.directory, file)


def _change(ctx: Context, store: Store, found: Memory, args: argparse.Namespace) -> bool:
    """Add and remove lines and learned paths of a memory; return whether that changed anything."""
    lines = [each.text for each in _of(ctx, found)]
    learned = [each.text for each in triggers.paths_of(store, found)]
    hint = f"It has {many(len(lines), 'trigger')}: memtui show {shell_word(found.ref)}"
    gone = [_meant(lines + learned, each, f"{found.stem} has no trigger", hint) for each in args.no_trigger]
    add = args.trigger
    _, kinds = secret.checked(ctx, "\n".join(add), yes=args.yes, declined="Nothing was changed.")
    if kinds:
        add = [_redacted(each) for each in add]
    forgotten = [each for each in gone if each in learned and each not in lines]
    changed = triggers.forget_paths(store, found, forgotten) if forgotten else False
    return triggers.change(store, found, add, [each for each in gone if each in lines]) or changed


def _redacted(text: str) -> str:
    from memtui.core.redaction import redact

    return redact.redact(text)[0]


def _of(ctx: Context, found: Memory) -> "list[Trigger]":
    scope, file = triggers.place_of(ctx.store(), found)
    return triggers.of_memory(ctx.root, scope.directory, file, found, ctx.now())


def _meant(known: "list[str]", word: str, problem: str, hint: str) -> str:
    """Return the text that a number or a text names. Raises NotFoundError."""
    if word.isascii() and word.isdecimal() and 0 < int(word) <= len(known):
        return known[int(word) - 1]
    wanted = triggers.one_line(word).casefold()
    for each in known:
        if each.casefold() == wanted:
            return each
    raise NotFoundError(f"{problem} “{line(word)}”.", hint)


def _row(each: Trigger, number: int) -> "dict[str, object]":
    when = clock.iso_seconds(each.time) if each.time else None
    row: dict[str, object] = {"number": number, "text": each.text, "origin": each.origin, "time": when}
    return {**row, "uses": each.uses} if each.origin == "use" else row


def data_of(ctx: Context, found: Memory) -> "dict[str, object]":
    """Return the triggers of a memory, the prompts that it is muted for, and the paths learned from use, for --json."""
    store = ctx.store()
    return {
        "triggers": [_row(each, number) for number, each in enumerate(_of(ctx, found), 1)],
        "muted": [
            {"number": number, "prompt": each.text, "time": clock.iso_seconds(each.time)}
            for number, each in enumerate(_muted(store, found), 1)
        ],
        "learned_paths": [
            {"number": number, "path": each.text, "uses": each.uses, "time": clock.iso_seconds(each.time)}
            for number, each in enumerate(triggers.paths_of(store, found), len(_of(ctx, found)) + 1)
        ],
    }


def facts(ctx: Context, found: Memory) -> "list[tuple[str, str]]":
    """Return the same for a person: titles and lines. The numbers are those that --no-trigger and --unmute take."""
    store, now = ctx.store(), ctx.now()
    lines = _of(ctx, found)
    rows = [
        ("triggers", [f"{number}  {each.text}  ({present.origin(each, now)})" for number, each in enumerate(lines, 1)])
    ]
    muted = _muted(store, found)
    rows.append(("muted for", [f"{number}  {each.text}" for number, each in enumerate(muted, 1)]))
    learned = triggers.paths_of(store, found)
    times = [f"{each.text}  ({each.uses:.1f}×, {age(each.time, now)})" for each in learned]
    rows.append(("is about", [f"{number}  {words}" for number, words in enumerate(times, len(lines) + 1)]))
    return [("" if at else title, words) for title, every in rows for at, words in enumerate(every)]


def _listed(ctx: Context, found: Memory, *, changed: bool) -> Result:
    data = {**memories.data_of(found), **data_of(ctx, found), "changed": changed}

    def text(out: Output) -> None:
        out.heading(line(found.ref))
        out.facts([(title, line(words)) for title, words in facts(ctx, found)])
        if changed:
            memories.say_undo(out)
        else:
            out.say("Nothing changed.")

    return Result(data, text)
