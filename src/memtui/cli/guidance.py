"""Guidance that waits, or was told: `memtui guide --list`, `--edit`, `--again`, `--withdraw`."""

import argparse

from memtui.cli import secret, waiting
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.cli.show import waiting as shown
from memtui.core.base import clock, paths
from memtui.core.base.errors import MemtuiError, NotFoundError, UsageError
from memtui.core.deliveries import notes
from memtui.core.inbox import guidance
from memtui.core.review.waiting import find

NEVER = "never"


def listing(ctx: Context) -> Result:
    """List what waits, what is under way, and what was told last."""
    return shown.listing(ctx, ("guidance",), over=shown.told(ctx))


def withdraw(ctx: Context, ref: str) -> Result:
    """Take guidance back before it is delivered."""
    items = waiting.pick(ctx, [ref], ("guidance",), "guidance")
    done = ctx.review().withdraw(items)
    data = {"withdrawn": [item.id for item in items], "transaction": done}
    return Result(data, lambda out: out.print(f"withdrawn: {line(items[0].text)[:60]}   (memtui undo brings it back)"))


def again(ctx: Context, ref: str, expires: "float | None", fields: "dict[str, str]") -> Result:
    """Say guidance again: what waits goes once more; what was told is said again, as a new note with these fields."""
    every = waiting.entries(ctx, ("guidance",), all_projects=True)
    try:
        item = find(every, ref, "guidance")
    except NotFoundError:
        note = notes.find(ctx.root, ref.strip().upper())
        if note is None:
            raise
        if note.delivery.folded:
            hint = "Leave it anew: memtui guide TEXT"
            raise MemtuiError("The text of that note is not kept any more.", hint) from None
        return _say_again(ctx, note, fields)
    new_id, done = ctx.review().again(item, expires)
    data = {"id": new_id, "was": item.id, "text": item.text, "transaction": done}
    return Result(data, lambda out: out.print(new_id))


def _say_again(ctx: Context, note: "notes.Note", fields: "dict[str, str]") -> Result:
    slug = None if note.scope == "global" else note.delivery.project or ctx.slug
    directory = paths.inbox_dir(ctx.root, slug)
    new_id, done = ctx.review().say(directory, fields, note.text)
    data = {"id": new_id, "was": note.id, "text": note.text, "transaction": done}
    return Result(data, lambda out: out.print(new_id))


def edit(ctx: Context, args: argparse.Namespace, text: "str | None") -> Result:
    """Change guidance that waits: its text, its addressees, its urgency, its end, or its inbox; one step of undo.

    What is not given stays as it is.
    """
    (item,) = waiting.pick(ctx, [args.edit], ("guidance",), "guidance")
    if args.sender != "cli":
        raise UsageError("Who said it stays as it is.", "Leave other guidance with --from.")
    if text is None and not args.to and args.urgent is None and args.expires is None and not args.everywhere:
        raise UsageError(
            "There is nothing to change.", "Give a text, --to, --urgent, --no-urgent, --expires or --global."
        )
    fields = {key: value for key, value in item.entry.fields.items() if key in {"for", "urgent", "expires"}}
    if args.to:
        fields.pop("for", None)
        if to := guidance.audience(args.to):
            fields["for"] = ",".join(guidance.addresses(to))
    if args.urgent is not None:
        fields.pop("urgent", None)
        if args.urgent:
            fields["urgent"] = "yes"
    _end(fields, args.expires, ctx.now())
    words = item.text
    redacted: list[str] = []
    if text is not None:
        words, redacted = secret.checked(
            ctx, guidance.text(text), yes=args.yes, otherwise="Nothing was changed.", before=item.text
        )
    directory = ctx.inbox(everywhere=True) if args.everywhere else item.directory
    scope = "global" if args.everywhere else item.scope
    done = ctx.review().reword(item, directory, fields, words)
    data = {"id": item.id, "scope": scope, "fields": fields, "text": words, "redacted": redacted, "transaction": done}

    def answer(out: Output) -> None:
        out.print(item.id)
        out.say("changed; memtui undo takes it back")

    return Result(data, answer)


def _end(fields: "dict[str, str]", given: "str | None", now: float) -> None:
    if given == NEVER:
        fields.pop("expires", None)
    elif given is not None:
        fields["expires"] = clock.iso_seconds(guidance.expiry(given, now))
    elif (end := clock.parse(fields.get("expires"))) is not None and end <= now:
        raise UsageError("It has expired, and would not be delivered.", "Say --expires 2h, or --expires never.")
