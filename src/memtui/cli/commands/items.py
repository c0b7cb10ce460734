"""`memtui items`: unfinished work that sessions left or a person wrote down."""

import argparse

from memtui.cli import entries, memories, parser
from memtui.cli.bulk import BulkResult
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import age
from memtui.core.base.short_ids import short_id
from memtui.core.review.waiting import Waiting

ACTIONS = {
    "done": "mark items done",
    "keep": "keep items even if the next session leaves others",
    "guide": "turn items or drafts into notes for the next prompt",
}
EXAMPLES = {
    "done": "memtui items done 7XAD",
    "keep": "memtui items keep 7XAD",
    "guide": "memtui items guide 7XAD",
}


def register(commands: "parser.Commands") -> None:
    """Add the command and its actions."""
    found = parser.command(
        commands,
        "items",
        run,
        "list unfinished work, mark it done, or keep it",
        "memtui items\nmemtui items done 7XAD\nmemtui items edit 7XAD Fix the flaky upload test",
    )
    found.add_argument("--all-projects", action="store_true", help="the items of all projects")
    limit = f"default: {entries.LIMIT}, 0: all"
    found.add_argument("--limit", type=parser.count, default=entries.LIMIT, metavar="N", help=limit)
    actions = parser.actions(found)
    for name, summary in ACTIONS.items():
        each = parser.command(actions, name, act, summary, EXAMPLES[name])
        each.add_argument("ids", nargs="+", metavar="ID")
    each = parser.command(actions, "edit", edit, "change an item's text", "memtui items edit 7XAD Fix the upload test")
    each.add_argument("id", metavar="ID")
    each.add_argument("text", nargs="+", metavar="TEXT")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List the items."""
    items, more = entries.first(entries.read(ctx, ("items",), args.all_projects), args.limit)
    data = {"items": [entries.as_data(ctx, item) for item in items], "more": more["items"]}
    return Result(data, lambda out: _print(ctx, out, items, more["items"]))


def _print(ctx: Context, out: Output, items: "list[Waiting]", more: int) -> None:
    if not items:
        out.print("There are no unfinished items.")
        out.print(
            "  Sessions save them when they end. You can also write a list into pending-items.md (see memtui paths)."
        )
        return
    rows = []
    for item in items:
        state = item.entry.fields.get("state", "open")
        mark = {"done": "[x]", "kept": "[=]"}.get(state, "[ ]")
        origin = item.entry.fields.get("session", "")
        source = "a session" if origin else "hand-written"
        when = age(item.entry.time(), ctx.now())
        rows.append([(short_id(item.id), "cyan"), f"{mark} {line(state)}", when, source, line(item.text)])
    out.table(["ID", "STATE", "AGE", "FROM", "ITEM"], rows, right=(2,))
    if more:
        out.print(f"and {more:,} more: memtui items --limit 0")
    out.print("Mark done: memtui items done ID   Keep: memtui items keep ID")
    out.print("Send it as a note: memtui items guide ID")


def act(ctx: Context, args: argparse.Namespace) -> Result:
    """Tick items off, keep them, or turn them into notes."""
    # A draft can become a note too, but is never done or kept.
    kinds, what = (("items", "updates"), "item or update") if args.action == "guide" else (("items",), "item")
    bulk = BulkResult("id", "ids")
    items = entries.pick_each(ctx, args.ids, kinds, what, bulk)
    review = ctx.review()
    done = {"done": review.done, "keep": review.keep, "guide": review.to_guidance}[args.action](items)
    renamed = _new_ids(ctx, items) if args.action == "keep" else {}
    verb = {"done": "done", "keep": "kept", "guide": "now a note"}[args.action]

    def text(out: Output) -> None:
        for item in items:
            out.print(f"{verb}  {line(item.text)}")
        for was, now in renamed.items():
            _say_new_id(out, was, now)
        memories.say_undo(out, len(items))

    ids = [renamed.get(item.id, item.id) for item in items]
    return bulk.result({"action": args.action, "items": ids, "transaction": done}, text)


def _say_new_id(out: Output, was: str, now: str) -> None:
    out.say(f"The id of {short_id(was)} is {short_id(now)} from now on.")


def _new_ids(ctx: Context, items: "list[Waiting]") -> "dict[str, str]":
    """Return the ids that hand-written items got when they were kept, by the ones that they had before."""
    written = {(item.path, item.text): item.id for item in items if not item.entry.fields.get("id")}
    every = entries.read(ctx, ("items",), all_projects=True) if written else []
    return {written[item.path, item.text]: item.id for item in every if (item.path, item.text) in written}


def edit(ctx: Context, args: argparse.Namespace) -> Result:
    """Change an item's text."""
    item = entries.pick(ctx, args.id, ("items",), "item")
    words = " ".join(args.text).strip()
    if not words:
        raise UsageError("The text is empty.", "memtui items done ID marks an item done.")
    entry_id, done = ctx.review().edit(item, words)

    def text(out: Output) -> None:
        out.print(f"changed  {line(words)}")
        if entry_id != item.id:
            _say_new_id(out, item.id, entry_id)
        memories.say_undo(out)

    return Result({"item": entry_id, "text": words, "transaction": done}, text)
