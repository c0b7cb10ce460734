"""The options of `memtui note` on notes that were written before: `--edit`, `--again`, `--withdraw`.

They are no part of commands/note.py because monitors call that every minute, and it must import little.
"""

import argparse

from memtui.cli import addressed, entries, secret
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import clock, paths, when
from memtui.core.base.errors import MemtuiError, NotFoundError, UsageError
from memtui.core.deliveries.record import find_note
from memtui.core.inbox import guidance
from memtui.core.review.waiting import find

ADDRESSING = ("for", "urgent", "expires")  # fields of a note that --edit changes


def withdraw(ctx: Context, ref: str) -> Result:
    """Withdraw a note before it is delivered."""
    item = entries.pick(ctx, ref, ("guidance",), "note")
    done = ctx.review().withdraw([item])
    data = {"withdrawn": [item.id], "transaction": done}
    return Result(data, lambda out: out.print(f"withdrawn: {line(item.text)[:60]}   (undo: memtui undo)"))


def again(ctx: Context, ref: str, expires: "float | None", fields: "dict[str, str]") -> Result:
    """Send a note again: what waits is renewed, until `expires`; what was delivered becomes a new note.

    `fields` are those of the new note. Raises NotFoundError, MemtuiError.
    """
    every = entries.read(ctx, ("guidance",), all_projects=True)
    try:
        item = find(every, ref, "note")
    except NotFoundError as error:
        note = find_note(ctx.root, ref.strip().upper())
        if note is None:
            raise NotFoundError(error.message, error.hint or "`memtui note --list` lists them.") from None
        if note.delivery.folded:
            hint = "Write it again: memtui note TEXT"
            raise MemtuiError("The text of that note is no longer kept.", hint) from None
        slug = None if note.scope == "global" else note.delivery.project or ctx.slug
        new_id, done = ctx.review().say(paths.inbox_dir(ctx.root, slug), fields, note.text)
        was, text = note.id, note.text
    else:
        new_id, done = ctx.review().again(item, expires)
        was, text = item.id, item.text
    unknown = addressed.warned(ctx, new_id, fields.get("for", ""), ctx.slug)
    data = {"id": new_id, "was": was, "text": text, "transaction": done, "unknown": unknown}
    return Result(data, lambda out: out.print(new_id))


def edit(ctx: Context, args: argparse.Namespace, text: "str | None") -> Result:
    """Change a note that waits, as one step of undo: its text, addressees, urgency, expiry or inbox.

    What no option names stays as it is. Raises UsageError, NotFoundError.
    """
    item = entries.pick(ctx, args.edit, ("guidance",), "note")
    if args.sender != "cli":
        raise UsageError("The sender can't be changed.", "Write another note with --from.")
    if text is None and not args.to and args.urgent is None and args.expires is None and not args.everywhere:
        raise UsageError(
            "There is nothing to change.", "Give a text, --to, --urgent, --no-urgent, --expires or --global."
        )
    fields = {key: value for key, value in item.entry.fields.items() if key in ADDRESSING}
    if args.to:
        fields.pop("for", None)
        if to := guidance.audience(args.to):
            fields["for"] = ",".join(guidance.addresses(to))
    if args.urgent is not None:
        fields.pop("urgent", None)
        if args.urgent:
            fields["urgent"] = "yes"
    _set_expiry(fields, args.expires, ctx.now())
    after = item.text
    redacted: list[str] = []
    if text is not None:
        after, redacted = secret.checked(ctx, text, yes=args.yes, declined="Nothing was changed.", before=item.text)
    directory = ctx.inbox(everywhere=True) if args.everywhere else item.directory
    scope = "global" if args.everywhere else item.scope
    was = {key: value for key, value in item.entry.fields.items() if key in ADDRESSING}
    changed = (after, fields, directory) != (item.text, was, item.directory)
    entry_id, done = ctx.review().reword(item, directory, fields, after) if changed else (item.id, None)
    slug = None if args.everywhere else item.slug
    data = {
        "id": entry_id,
        "scope": scope,
        "fields": fields,
        "text": after,
        "redacted": redacted,
        "transaction": done,
        "unknown": addressed.warned(ctx, entry_id, fields.get("for", "") if args.to else "", slug),
    }

    def answer(out: Output) -> None:
        out.print(entry_id)
        out.say("changed; memtui undo undoes it" if changed else "Nothing changed.")

    return Result(data, answer)


def _set_expiry(fields: "dict[str, str]", given: "str | None", now: float) -> None:
    if given is not None:
        fields.pop("expires", None)
        if (new := guidance.expiry(given, now)) != when.NEVER:
            fields["expires"] = clock.iso_seconds(new)
    elif (end := clock.parse(fields.get("expires"))) is not None and end <= now:
        raise UsageError("It has expired, and would not be delivered.", "Use --expires 2h, or --expires never.")
