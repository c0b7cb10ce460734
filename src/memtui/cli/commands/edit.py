"""`memtui new` and `edit`: write a memory's text, fields and triggers, on the command line or in an editor."""

import argparse
import sys
from functools import partial

from memtui.base.errors import ConflictError, MemtuiError, NotFoundError, UsageError
from memtui.base.phrasing import many
from memtui.base.shell import shell_word
from memtui.base.short_ids import short_id
from memtui.cli import entries, memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Printer, Result, difference, line, narrate, styled
from memtui.redact import redact
from memtui.review.waiting_entries import KINDS, Waiting
from memtui.store import memory, references, scopes, triggers
from memtui.store.frontmatter import document
from memtui.store.frontmatter import head as memory_head
from memtui.store.journal import acts
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.store import Store
from memtui.views.editor import EditedFile

# How a command is written that a hook is to refuse.
AS_RUN = "write the program first, as in `npm install`, without its directory, quotes or sudo."
PLACEHOLDER = "What it is about, in one line"  # the description in a template
NOT_MADE, NOT_CHANGED = "No memory was created.", "Nothing was changed."


@parser.command(f"""\
new: create a memory
  memtui new prefer-pnpm --type feedback --description "Use pnpm, never npm"
  pbpaste | memtui new release-steps --type project --scope global --body -
Without --description and --body your editor opens on a template for the type.
NAME | also the name of the file
--type TYPE=feedback | user, feedback (default), project, reference, tool, …
--scope SCOPE | default: global for user; project if the repository has one; else auto
--description DESCRIPTION | the one line that the index shows; default: the first of the body
--body TEXT | the text; `-` reads standard input
{parser.KEEP_SECRETS}""")
def new(ctx: Context, args: argparse.Namespace) -> Result:
    store = ctx.store()
    scope = store.scope(args.scope) if args.scope else scopes.home(store.scopes(), args.type)
    stem = references.file_stem(args.name)
    redacted: list[str] = []
    if args.body is None and not args.description:
        if not sys.stdin.isatty():
            raise UsageError("There is no text.", "Give --description, --body TEXT, or --body - for standard input.")
        mem = _new_in_editor(ctx, store, scope, stem, args)
    else:
        body = parser.body_text(args.body) if args.body is not None else ""
        fields = {"body": body, "description": args.description or ""}
        fields, redacted = _checked(ctx, fields, yes=args.yes, declined=NOT_MADE)
        body = fields["body"]
        if not (body + fields["description"]).strip():
            raise UsageError("There is nothing to save yet.", "Give a text or a description.")
        description = fields["description"] or memory_head.first_line(body) or stem
        mem = store.create(scope, stem, description, args.type, body or description)
    memories.say_unusual(ctx, mem.type)
    words = memories.written(ctx, acts.done("create"), mem)
    return Result({**memories.data_of(mem), "redacted": redacted}, words, memories.undo(), *_refused(None, mem))


def _checked(ctx: Context, fields: "dict[str, str]", *, yes: bool, declined: str) -> "tuple[dict[str, str], list[str]]":
    """Return fields as they may be kept, and the kinds of secrets taken out of them."""
    _, redacted = ctx.checked("\n".join(fields.values()), yes=yes, declined=declined)
    return ({key: redact.redact(value)[0] for key, value in fields.items()} if redacted else fields), redacted


def _new_in_editor(ctx: Context, store: Store, scope: Scope, stem: str, args: argparse.Namespace) -> Memory:
    template = memory.TEMPLATES.get(args.type, "")
    data = memory.new_memory_bytes(stem, PLACEHOLDER, args.type, template)
    with EditedFile(ctx.env, stem, data, ctx.out.say) as draft:
        after = ctx.checked_bytes(draft.edit(), yes=args.yes, declined=NOT_MADE)
        if not draft.edited:
            raise MemtuiError("The template was not changed, so no memory was created.")
        doc = document.parse(after)
        if doc.broken is not None:
            raise MemtuiError(f"The frontmatter can't be read: {doc.broken}.", NOT_MADE)
        body, description = memory.without_template(doc.body), doc.fields.get("description")
        if description == PLACEHOLDER:
            description = memory_head.first_line(body)
            doc = doc.with_field(("description",), description) if description else doc.without_field(("description",))
        if body != doc.body or not body.strip():  # a description alone is the text, too
            body = body.strip("\n") if body.strip() else str(description or "")
            doc = doc.with_body(f"\n{body}\n" if body else "")
        if not doc.body.strip():
            draft.edited = False  # there is nothing to keep
            raise MemtuiError("Only the template was saved, so no memory was created.")
        name = doc.fields.get("name")
        return store.add(scope, references.check_name(name) if isinstance(name, str) and name else stem, doc.raw)


@parser.command(f"""\
edit: change text, fields or triggers of memories
  memtui edit prefer-pnpm
  memtui edit prefer-pnpm --set description='Use pnpm'
  memtui edit prefer-pnpm release-steps --type feedback
  memtui edit release-steps --trigger "put it live"
  memtui edit 7XAD --body 'Fix the upload test'
Without options your editor opens. If it exits with an error, the edit is discarded. With --body an ID of a draft, a
todo or a note works, too.
names=NAME|ID... |
--set KEY=VALUE... | a field; metadata.KEY for a nested one
--type TYPE | another type
--description DESCRIPTION | another description
--body TEXT | another text; `-` reads standard input
--trigger TEXT... | a line, in other words, by which it is found
--no-trigger N|TEXT... | remove one: memtui show
{parser.KEEP_SECRETS}""")
def edit(ctx: Context, args: argparse.Namespace) -> Result:
    store, only = ctx.store(), len(args.names) == 1
    if args.trigger or args.no_trigger:
        if not only or _fields(args):
            raise UsageError("Triggers are of one memory, and changed by themselves.", "Call edit twice.")
        return _change_triggers(ctx, memories.find(ctx, args.names[0]), args)
    if args.body is not None and only and (item := _entry(ctx, args.names[0])):
        return _edit_entry(ctx, args, item)
    memories.ask_others(ctx, store, args.names, yes=args.yes)
    fields = _fields(args)
    if fields:
        fields, redacted = _checked(ctx, fields, yes=args.yes, declined=NOT_CHANGED)
        memories.say_unusual(ctx, fields.get("type"))

        def change(name: str) -> "tuple[Memory, Memory]":
            memory = memories.find(ctx, name)
            return memory, store.edit(memory, fields)

        bulk = memories.BulkResult()
        pairs = bulk.run(store, args.names, change)
        rows = [_edited(*pair) for pair in pairs]
        data = {**(rows[0] if only else {}), "edited": rows, "redacted": redacted}
        return bulk.result(data, *_text(ctx, pairs))
    if not only:
        hint = "For several, use --type, --set, --description or --body."
        raise UsageError("Your editor can open only one memory.", hint)
    mem = memories.find(ctx, args.names[0])
    if not sys.stdin.isatty() and not (ctx.env.get("EDITOR") or ctx.env.get("VISUAL")):
        raise UsageError(
            "There is nothing to change.", "Use --set, --type, --description, --body, --trigger or --no-trigger."
        )
    references.writable(store.scope(mem.scope_label), shared=store.shared)
    with EditedFile(ctx.env, mem.stem, mem.raw, ctx.out.say) as draft:
        after = ctx.checked_bytes(draft.edit(), yes=args.yes, declined=NOT_CHANGED, before=mem.raw)
        try:
            memory = store.edit(mem, after, seen=True)
        except ConflictError as error:
            draft.keep = True
            hint = f"Your text is kept in {draft.path}; compare, then run memtui edit again."
            raise ConflictError(f"{mem.path} changed while you were editing.", hint) from error
    return Result(_edited(mem, memory), *_text(ctx, [(mem, memory)]))


def _change_triggers(ctx: Context, memory: Memory, args: argparse.Namespace) -> Result:
    from memtui.redact import redact

    store, lines = ctx.store(), [text.text for text in memories.MemoryTriggers(ctx, memory).lines]
    hint = f"It has {many(len(lines), 'trigger')}: memtui show {shell_word(memory.ref)}"
    removed = [_meant(lines, text, f"{memory.stem} has no trigger", hint) for text in args.no_trigger]
    _, kinds = ctx.checked("\n".join(args.trigger), yes=args.yes, declined="Nothing was changed.")
    added = [redact.redact(text)[0] for text in args.trigger] if kinds else args.trigger
    changed = triggers.change(store, memory, added, removed)
    after = memories.find(ctx, memory.path)
    now = memories.MemoryTriggers(ctx, after)
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


def _entry(ctx: Context, ref: str) -> Waiting | None:
    """Return the draft, todo or note that an id means; None for the name of a memory, and for what means nothing."""
    try:
        memories.find(ctx, ref)
    except MemtuiError:
        try:
            return entries.pick(ctx, ref, KINDS, "entry")
        except NotFoundError:
            return None
    return None


def _edit_entry(ctx: Context, args: argparse.Namespace, item: Waiting) -> Result:
    if args.set or args.type is not None or args.description is not None:
        raise UsageError("Of what waits only --body changes something.", "memtui approve has its other fields.")
    body = parser.body_text(args.body).strip()
    if not body:
        raise UsageError("The text is empty.", "`memtui approve ID` marks a todo done, `reject ID` rejects one.")
    body, redacted = ctx.checked(body, yes=args.yes, declined=NOT_CHANGED, before=item.text)
    entry_id, transaction_id = ctx.review().edit(item, body)
    renamed = f"The id of {short_id(item.id)} is {short_id(entry_id)} from now on." if entry_id != item.id else ""
    data = {"id": entry_id, "text": body, "redacted": redacted, "transaction": transaction_id}
    return Result(data, f"{acts.done('edit')}  {line(body)}", narrate(renamed), memories.undo())


def _fields(args: argparse.Namespace) -> "dict[str, str]":
    fields: dict[str, str] = {}
    for word in args.set:
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--set {word}: give KEY=VALUE.", "An empty value removes the field.")
        if key.strip() == "name":
            raise UsageError("`memtui mv` changes the name.", "It also updates the links and the index.")
        fields[key.strip()] = value
    fields |= {key: value for key in ("type", "description") if (value := getattr(args, key)) is not None}
    if args.body is not None:
        fields["body"] = parser.body_text(args.body).rstrip("\n") + "\n"
        if not fields["body"].strip():
            raise UsageError("The text is empty.", "`memtui rm` removes a memory.")
    return fields


def _forbids(memory: "Memory | None") -> "dict[str, bool]":
    """Return the commands that a memory forbids, each with whether it can match one that is run."""
    from memtui.recall import fields

    return {command: fields.can_match(command) for command in fields.commands(memory)} if memory is not None else {}


def _edited(before: Memory, after: Memory) -> "dict[str, object]":
    """Return a changed memory for --json, with the commands that it forbids, and those of them that never match."""
    commands = _forbids(after)
    idle = [command for command, can_match in commands.items() if not can_match]
    return {**memories.data_of(after), "changed": after.raw != before.raw, "forbids": [*commands], "never_match": idle}


def _text(ctx: Context, pairs: "list[tuple[Memory, Memory]]") -> "list[str | Printer]":
    text: list[str | Printer] = []
    for before, after in pairs:
        if before.raw == after.raw:
            text.append("Nothing changed.")
        else:
            diff = partial(Output.diff_lines, lines=difference(before.raw, after.raw), indent="  ")
            text += [memories.written(ctx, acts.done("edit"), after), diff, *_refused(before, after)]
    return [*text, memories.undo(sum(before.raw != after.raw for before, after in pairs))]


def _refused(before: "Memory | None", after: Memory) -> "list[str]":
    """Say which other commands a hook refuses from now on, and which of them it never will."""
    old = _forbids(before)
    new = {command: can_match for command, can_match in _forbids(after).items() if command not in old}
    matching, idle = (", ".join(f"`{name}`" for name in new if new[name] is matches) for matches in (True, False))
    refuses = f"From now on a hook refuses {matching} once a session, in the mode full."
    never = f"! {idle} matches no command, so nothing is refused for it: {AS_RUN}"
    return [line(refuses)] * bool(matching) + [line(never)] * bool(idle)
