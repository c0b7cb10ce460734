"""`memtui note`: leave a note for the agent. Monitors call it every minute, so it imports little and prints little."""

import argparse
import sys
from functools import partial

from memtui.base import fs_hot, paths_hot
from memtui.base.errors import MemtuiError, NotFoundError, UsageError
from memtui.base.short_ids import short_id
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Result
from memtui.inbox import file_hot, format_hot, guidance
from memtui.settings import config_hot

DECLINED = "No note was saved. Write where the secret is kept, not the secret itself."


@parser.command("note", expiry=guidance.EXPIRY)
def run(ctx: Context, args: argparse.Namespace) -> Result:
    if not (args.list or args.withdraw):
        return _leave(ctx, args)
    if args.text:
        raise UsageError("--list takes no text, --withdraw takes one ID.", "Give other IDs one by one.")
    from memtui.cli import entries

    return entries.withdraw(ctx, args.withdraw) if args.withdraw else entries.listing(ctx)


def _leave(ctx: Context, args: argparse.Namespace) -> Result:
    text = _text(args.text)
    to = [*filter(None, map(partial(_there, ctx), guidance.audience(args.to, ctx.setting("note_to"))))]
    fields = guidance.fields(args.sender, to, args.urgent, args.expires, ctx.now())
    directory = ctx.inbox(args.everywhere)
    text, redacted = ctx.checked(text, yes=args.yes, declined=DECLINED)
    guidance.check(config_hot.number(ctx.settings(), "budget"), ctx.now(), text, fields, directory)
    # The journal would cost a monitor more than the note itself, and its notes would push all else out of undo's reach.
    attended = ctx.out.json or ctx.out.stderr.isatty()
    try:
        if attended:
            entry_id = ctx.review().guide(directory, fields, text)[0]
        else:
            entry_id = file_hot.add_entry(directory, "guidance", fields, text, now=ctx.now())
    except fs_hot.KeptError as error:
        problem = f"{directory}: the note could not be saved completely: {error.strerror or error}"
        hint = "Part of it may be there, and is delivered like that: see memtui note --list."
        raise MemtuiError(problem, hint) from error
    except OSError as error:
        hint = "No note was saved. Fix that and try again."
        raise MemtuiError(f"{directory} can't be written: {error.strerror or error}", hint) from error
    path = f"{directory}/{format_hot.FILES['guidance']}"
    why = None
    if attended:
        from memtui.views import notes

        why = notes.unheard(ctx.unheard())
    short = short_id(entry_id)
    _narrate(ctx, args.everywhere, short, why)
    unknown: list[dict[str, object]] = []
    addresses = fields.get("for", "")
    if "session:" in addresses or "agent:" in addresses:  # one that is not known is likely a mistake, also in a script
        from memtui.cli import entries

        unknown = entries.warn_of_strangers(ctx, entry_id, addresses, None if args.everywhere else ctx.slug)
    scope, project = ("global", None) if args.everywhere else ("project", ctx.project_root)
    data: dict[str, object] = {"id": entry_id, "scope": scope, "project": project, "path": path}
    data |= {"fields": fields, "text": text, "redacted": redacted, "unheard": why, "unknown": unknown}
    return Result(data, "" if ctx.out.tty and ctx.out.stderr_tty else short)


def _there(ctx: Context, address: str) -> str:
    """Return an addressee as it is; empty for this machine by its name. Raises NotFoundError for an unknown machine."""
    if not address.startswith("machine:"):
        return address
    from memtui.sync import state

    own, name = state.load(ctx.root), address.partition(":")[2].strip()
    names = {called.casefold(): machine for machine, called in (own.machines if own else {}).items()}
    if own is None or name.casefold() not in names:
        others = ", ".join(sorted(names)) or "none yet"
        hint = f"Those that do: {others}. See: memtui sync status"
        raise NotFoundError(f"No machine {name} syncs with this one.", hint)
    return "" if names[name.casefold()] == own.machine else address


def _narrate(ctx: Context, everywhere: bool, short: str, unheard: "dict[str, str] | None") -> None:
    """Say where the note was left; without a terminal only if that is likely a mistake, because cron mails output."""
    if not everywhere and not ctx.project_given and ctx.cwd == paths_hot.home(ctx.env):
        ctx.out.say(f"memtui: saved for {ctx.cwd} itself. A cron job usually needs --project DIR or --global.")
    elif ctx.out.stderr.isatty():
        where = "any project" if everywhere else ctx.project_root
        ctx.out.say(f"Note {short} is saved for {where}.")
        ctx.out.say(f"To withdraw it: memtui note --withdraw {short}")
        if unheard:
            ctx.out.say(f"note: {unheard['why']}, so nothing delivers it yet: {unheard['do']}")


def _text(words: "list[str]") -> str:
    if not words and sys.stdin.isatty():
        hint = 'Write it: memtui note "CI is red". Those that wait: memtui note --list'
        raise UsageError("The note has no text.", hint)
    if words in ([], ["-"]):
        data = parser.stdin_bytes(format_hot.MAX_BYTES)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            hint = "Put other data into a file and name the file in the note."
            raise UsageError("The note is not UTF-8 text.", hint) from error
    else:
        text = " ".join(words)
    return guidance.text(text)
