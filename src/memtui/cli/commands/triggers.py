"""`memtui triggers`: the lines by which a memory is found, in other words than its own."""

import argparse
import sys

from memtui.cli import memories, parser, secret
from memtui.cli.context import Context
from memtui.cli.editor import EditedFile
from memtui.cli.output import Output, Result, line
from memtui.core.base import clock
from memtui.core.base.errors import NotFoundError, UsageError
from memtui.core.base.phrasing import age, many
from memtui.core.base.shell import shell_word
from memtui.core.memories import muting, scopes, triggers
from memtui.core.memories.memory import Memory
from memtui.core.memories.muting import MutedPrompt
from memtui.core.memories.store import Store
from memtui.core.memories.triggers import Trigger
from memtui.present import triggers as present

HEAD = "# When would one need {}? A line each, in other words than its own. Lines with # are left out.\n"


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "triggers",
        run,
        "lines on when a memory is needed, which find it",
        'memtui triggers release-steps\nmemtui triggers release-steps --add "put it live" --add "go to production"\n'
        "memtui triggers release-steps --remove 2",
        "A trigger says in other words than the memory's own when one would need it. Without NAME: all that have some.",
    )
    found.add_argument("names", nargs="*", metavar="NAME")
    found.add_argument("--add", action="append", default=[], metavar="TEXT", help="add a line; can be repeated")
    found.add_argument(
        "--remove", action="append", default=[], metavar="N|TEXT", help="remove a line, by its number or its text"
    )
    found.add_argument(
        "--mute", action="append", default=[], metavar="PROMPT", help="never recall it for prompts like this one"
    )
    found.add_argument(
        "--unmute", action="append", default=[], metavar="N|PROMPT", help="take back --mute, by number or text"
    )
    found.add_argument(
        "--forget", action="append", default=[], metavar="N|PATH", help="forget a path that was learned from use"
    )
    found.add_argument("--edit", action="store_true", help="edit the lines in your editor")
    found.add_argument(
        "--write", action="store_true", help="let the model write lines (memtui llm says which), shown before they stay"
    )
    found.add_argument("--all", action="store_true", help="with --write: all memories here that have none of a model")
    found.add_argument("--dry-run", action="store_true", help="with --write: only say what it would cost")
    found.add_argument("--yes", action="store_true", help="don't ask: of --write, and to keep secrets in a line")
    found.add_argument("--unattended", action="store_true", help=argparse.SUPPRESS)


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List the triggers of a memory, or of all; change those of one; let a model write some."""
    if args.write:
        from memtui.cli.show import trigger_writing

        if _changes(args) or bool(args.names) == args.all:
            raise UsageError("--write takes names of memories, or --all, and no other change.", "Call triggers twice.")
        return trigger_writing.write(ctx, args)
    if args.all or args.dry_run:
        raise UsageError("--all and --dry-run go with --write.", "memtui triggers lists all.")
    if not args.names:
        if _changes(args):
            raise UsageError("Name the memory whose triggers to change.", "See `memtui list`.")
        return _every(ctx)
    if len(args.names) > 1:
        raise UsageError("Name one memory.", "A line belongs to one of them.")
    found = memories.find(ctx, args.names[0])
    if args.edit and (args.add or args.remove):
        raise UsageError("--edit can't be combined with --add or --remove.", "Your editor has all of the lines.")
    if not _changes(args):
        return _listed(ctx, found, changed=None)
    store = ctx.store()
    with store.journal.together():
        changed = _mute(store, found, args)
        if args.forget:
            known = [each.text for each in triggers.paths_of(store, found)]
            gone = [_meant(known, each, f"{found.stem} has no learned path", "") for each in args.forget]
            changed = triggers.forget_paths(store, found, gone) or changed
        if args.add or args.remove or args.edit:
            changed = _change(ctx, store, found, args) or changed
    return _listed(ctx, memories.find(ctx, found.path), changed=changed)


def _changes(args: argparse.Namespace) -> bool:
    return bool(args.add or args.remove or args.edit or args.mute or args.unmute or args.forget)


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
    """Change the lines of a memory; return whether that changed anything."""
    before = _of(ctx, found)
    if args.edit:
        add, remove = _edited(ctx, found, before, yes=args.yes)
    else:
        add, remove = args.add, [_named(before, each, found) for each in args.remove]
        _, kinds = secret.checked(ctx, "\n".join(add), yes=args.yes, declined="Nothing was changed.")
        if kinds:
            add = [_redacted(each) for each in add]
    return triggers.change(store, found, add, remove)


def _redacted(text: str) -> str:
    from memtui.core.redaction import redact

    return redact.redact(text)[0]


def _of(ctx: Context, found: Memory) -> "list[Trigger]":
    scope, file = triggers.place_of(ctx.store(), found)
    return triggers.of_memory(ctx.root, scope.directory, file, found, ctx.now())


def _named(known: "list[Trigger]", word: str, found: Memory) -> str:
    hint = f"It has {many(len(known), 'trigger')}: memtui triggers {shell_word(found.ref)}"
    return _meant([each.text for each in known], word, f"{found.stem} has no trigger", hint)


def _meant(known: "list[str]", word: str, problem: str, hint: str) -> str:
    """Return the text that a number or a text names. Raises NotFoundError."""
    if word.isascii() and word.isdecimal() and 0 < int(word) <= len(known):
        return known[int(word) - 1]
    wanted = triggers.one_line(word).casefold()
    for each in known:
        if each.casefold() == wanted:
            return each
    raise NotFoundError(f"{problem} “{line(word)}”.", hint)


def _edited(ctx: Context, found: Memory, before: "list[Trigger]", *, yes: bool) -> "tuple[list[str], list[str]]":
    """Let the person edit the lines; return those to add and those to remove."""
    if not sys.stdin.isatty() and not (ctx.env.get("EDITOR") or ctx.env.get("VISUAL")):
        raise UsageError("There is no terminal to edit on.", "Use --add and --remove.")
    data = (HEAD.format(found.stem) + "".join(f"{each.text}\n" for each in before)).encode()
    with EditedFile(ctx, found.stem, data) as draft:
        after = secret.checked_bytes(ctx, draft.edit(), yes=yes, declined="Nothing was changed.", before=data)
    rows = [row.strip() for row in after.decode("utf-8", "replace").split("\n")]
    wanted = [row for row in rows if row and not row.startswith("#")]
    known = {each.text for each in before}
    return [row for row in wanted if row not in known], [text for text in known if text not in wanted]


def _row(each: Trigger, number: int) -> "dict[str, object]":
    when = clock.iso_seconds(each.time) if each.time else None
    row: dict[str, object] = {"number": number, "text": each.text, "origin": each.origin, "time": when}
    return {**row, "uses": each.uses} if each.origin == "use" else row


def _listed(ctx: Context, found: Memory, *, changed: "bool | None") -> Result:
    known = _of(ctx, found)
    data: dict[str, object] = {
        **memories.data_of(found),
        "triggers": [_row(each, number) for number, each in enumerate(known, 1)],
    }
    muted = _muted(ctx.store(), found)
    data["muted"] = [
        {"number": number, "prompt": each.text, "time": clock.iso_seconds(each.time)}
        for number, each in enumerate(muted, 1)
    ]
    learned = triggers.paths_of(ctx.store(), found)
    data["learned_paths"] = [
        {"number": number, "path": each.text, "uses": each.uses, "time": clock.iso_seconds(each.time)}
        for number, each in enumerate(learned, 1)
    ]
    if changed is not None:
        data["changed"] = changed

    def text(out: Output) -> None:
        out.heading(line(found.ref), many(len(known), "trigger"))
        for number, each in enumerate(known, 1):
            out.print(f"  {number}  {line(each.text)}  {out.style(present.origin(each, ctx.now()), 'dim')}")
        if not known:
            out.print("  No triggers. Say when one would need it, in other words than its own:")
            out.print(f'  memtui triggers {shell_word(found.ref)} --add "…"')
        if muted:
            out.print("Never recalled for prompts like")
        for number, prompt in enumerate(muted, 1):
            out.print(f"  {number}  {line(prompt.text)}  {out.style(age(prompt.time, ctx.now()), 'dim')}")
        if learned:
            out.print("Learned from use: it is about these files, which were changed after it was opened")
        for number, path in enumerate(learned, 1):
            times = f"{path.uses:.1f}×, {age(path.time, ctx.now())}"
            out.print(f"  {number}  {line(path.text)}  {out.style(times, 'dim')}")
        if changed is False:
            out.say("Nothing changed.")
        elif changed:
            memories.say_undo(out)

    return Result(data, text)


def _every(ctx: Context) -> Result:
    """List the memories that have triggers, with how many."""
    ctx.must_have_home()
    rows: list[tuple[Memory, list[Trigger]]] = []
    for scope in scopes.discover(ctx.env, ctx.cwd):
        known = triggers.lines_of(ctx.root, scope.directory, ctx.now())
        for found in scopes.memories(scope):
            own = [Trigger(each, "file") for each in triggers.in_frontmatter(found.fields)]
            beside = known.get(found.path.removeprefix(scope.directory + "/"), [])
            if own or beside:
                rows.append((found, own + beside))
    data = [
        {**memories.data_of(found), "triggers": [_row(each, number) for number, each in enumerate(known, 1)]}
        for found, known in rows
    ]

    def text(out: Output) -> None:
        cells = [
            [(str(len(known)), ""), (line(found.ref), "bold"), line("; ".join(each.text for each in known))]
            for found, known in rows
        ]
        if cells:
            out.table(["LINES", "NAME", "TRIGGERS"], cells, flex=(2, 1), right=(0,))
        else:
            out.print("No memory has triggers.")
            out.print('  Add one: memtui triggers NAME --add "when one would need it"')

    return Result({"memories": data}, text)
