"""`memtui new` and `edit`: write a memory's text, fields and triggers."""

import argparse
import sys
from functools import partial

from memtui.base.errors import ConflictError, MemtuiError, NotFoundError, UsageError
from memtui.base.phrasing_hot import many
from memtui.base.shell import shell_word
from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Printer, Result, line, narrate, styled
from memtui.redact import redact
from memtui.rules import rule_lines
from memtui.store import memory as memory_file
from memtui.store import references, scopes, triggers
from memtui.store.frontmatter import head_hot
from memtui.store.journal import acts
from memtui.store.memory import Memory
from memtui.views import editor
from memtui.views.editor import EditedFile
from memtui.views.parts import TextDifference

NOT_MADE, NOT_CHANGED = "No memory was created.", "Nothing was changed."


@parser.command("new")
def new(ctx: Context, args: argparse.Namespace) -> Result:
    store = ctx.store()
    scope = store.scope(args.scope) if args.scope else scopes.home(store.scopes(), args.type)
    stem = references.file_stem(args.name)
    if args.body is None and not args.description:
        raise UsageError("There is no text.", "Give --description, --body TEXT, or --body - for standard input.")
    body = parser.body_text(args.body) if args.body is not None else ""
    fields = {"body": body, "description": args.description or ""}
    fields, redacted = _checked(ctx, fields, yes=args.yes, declined=NOT_MADE)
    body = fields["body"]
    if not (body + fields["description"]).strip():
        raise UsageError("There is nothing to save yet.", "Give a text or a description.")
    description = fields["description"] or head_hot.first_line(body) or stem
    memories.ask_others(ctx, store, [], scope.label, yes=args.yes)
    data = memory_file.new_memory_bytes(stem, description, args.type, body or description)
    mem = store.add(scope, stem, rule_lines.with_rules(data, rule_lines.rules_of_line("; ".join(args.rule))))
    words = memories.written(ctx, acts.done("create"), mem)
    return Result({**memories.data_of(mem), "redacted": redacted}, words, memories.undo())


def _checked(ctx: Context, fields: "dict[str, str]", *, yes: bool, declined: str) -> "tuple[dict[str, str], list[str]]":
    """Return fields as they may be kept, and the kinds of secrets taken out of them."""
    _, redacted = ctx.checked("\n".join(fields.values()), yes=yes, declined=declined)
    return ({key: redact.redact(value)[0] for key, value in fields.items()} if redacted else fields), redacted


@parser.command("edit")
def edit(ctx: Context, args: argparse.Namespace) -> Result:
    store, only = ctx.store(), len(args.names) == 1
    if args.trigger or args.no_trigger:
        if not only or args.rule or _fields(args):
            raise UsageError("Triggers are of one memory, and changed by themselves.", "Call edit twice.")
        return _change_triggers(ctx, memories.find(ctx, args.names[0]), args)
    memories.ask_others(ctx, store, args.names, yes=args.yes)
    fields = _fields(args)
    if not (fields or args.rule):
        if not only:
            hint = "For several, use --type, --set, --rule, --description or --body."
            raise UsageError("Your editor can open only one memory.", hint)
        return _edit_in_editor(ctx, memories.find(ctx, args.names[0]), args)
    fields, redacted = _checked(ctx, fields, yes=args.yes, declined=NOT_CHANGED)
    rules = rule_lines.rules_of_line("; ".join(args.rule))

    def change(name: str) -> "tuple[Memory, Memory]":
        memory = memories.find(ctx, name)
        data = memory_file.with_fields(memory, fields)
        data = rule_lines.with_rules(data, rules, others=True) if args.rule else data
        if problem := editor.problem(memory, data):
            raise UsageError(f"{memory.stem} would be broken. {line(problem)}", NOT_CHANGED)
        return memory, store.edit(memory, data)

    bulk = memories.BulkResult()
    pairs = bulk.run(store, args.names, change)
    rows = [{**memories.data_of(after), "changed": after.raw != before.raw} for before, after in pairs]
    data = {**(rows[0] if only else {}), "edited": rows, "redacted": redacted}
    changed = [(before, after) for before, after in pairs if after.body != before.body]
    same = [after.stem for before, after in changed if after.description == before.description]
    stays = same if "body" in fields and "description" not in fields else ()
    words = (narrate(f"The description of {line(stem)} stays: --description changes it.") for stem in stays)
    return bulk.result(data, *_text(ctx, pairs), *words)


def _edit_in_editor(ctx: Context, mem: Memory, args: argparse.Namespace) -> Result:
    store = ctx.store()
    if not sys.stdin.isatty() and not (ctx.env.get("EDITOR") or ctx.env.get("VISUAL")):
        hint = "Use --set, --type, --description, --body, --rule, --trigger or --no-trigger."
        raise UsageError("There is nothing to change.", hint)
    references.writable(store.scope(mem.scope_label), shared=store.shared)
    with EditedFile(ctx.env, mem.stem, mem.raw, ctx.out.say) as draft:
        after = ctx.checked_bytes(_sound(ctx, mem, draft), yes=args.yes, declined=NOT_CHANGED, before=mem.raw)
        try:
            memory = store.edit(mem, after, seen=True)
        except ConflictError as error:
            draft.keep = True
            hint = f"Your text is kept in {draft.path}; compare, then run memtui edit again."
            raise ConflictError(f"{mem.path} changed while you were editing.", hint) from error
    row = {**memories.data_of(memory), "changed": memory.raw != mem.raw}
    return Result({**row, "edited": [row], "redacted": []}, *_text(ctx, [(mem, memory)]))


def _sound(ctx: Context, mem: Memory, draft: EditedFile) -> bytes:
    """Run the editor until the file is sound, or a person keeps it so or takes it back. Raises MemtuiError."""
    while problem := editor.problem(mem, after := draft.edit()):
        if not ctx.can_ask:
            raise MemtuiError(f"{mem.stem} would be broken. {line(problem)}", NOT_CHANGED)
        ways = ", ".join(f"{key[0]}: {words}" for key, words in (editor.AGAIN, editor.KEEP, editor.BACK))
        ctx.out.say(f"! {line(problem)} ({ways}) [A/k/b]", end=" ")
        answer = sys.stdin.readline().strip().lower()[:1]
        if answer in {"k", "b"}:
            return after if answer == "k" else mem.raw
    return after


def _change_triggers(ctx: Context, memory: Memory, args: argparse.Namespace) -> Result:
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


def _text(ctx: Context, pairs: "list[tuple[Memory, Memory]]") -> "list[str | Printer]":
    text: list[str | Printer] = []
    for before, after in pairs:
        if before.raw == after.raw:
            text.append(f"Nothing changed in {line(before.ref)}." if len(pairs) > 1 else "Nothing changed.")
        else:
            diff = partial(Output.diff_lines, lines=TextDifference(before.raw, after.raw).lines, indent="  ")
            text += [memories.written(ctx, acts.done("edit"), after), diff]
    return [*text, memories.undo(sum(before.raw != after.raw for before, after in pairs))]
