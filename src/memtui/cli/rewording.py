"""`memtui guide --edit ID`: change guidance that waits. What is not given stays as it is."""

import argparse

from memtui.cli import secret
from memtui.cli.commands import inbox as waiting
from memtui.cli.context import Context
from memtui.cli.output import Output, Result
from memtui.core.base import clock
from memtui.core.base.errors import UsageError
from memtui.core.inbox import guidance
from memtui.core.review import triage
from memtui.hooks import deliverable

NEVER = "never"


def run(ctx: Context, args: argparse.Namespace, text: "str | None") -> Result:
    """Change its text, its addressees, its urgency, its end, or put it into the global inbox; one step of undo."""
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
    deliverable.check(ctx.settings(), ctx.now(), words, fields, scope, directory)
    done = triage.Review(ctx.root, now=ctx.now).reword(item, directory, fields, words)
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
