"""`memtui guide`: leave a note for the agent. Monitors call it every minute, so it imports little and says little."""

import argparse

from memtui.cli import parser, secret
from memtui.cli.context import Context
from memtui.cli.output import Result
from memtui.core.base import fs
from memtui.core.base.errors import MemtuiError, UsageError
from memtui.core.inbox import deliverable, guidance
from memtui.core.inbox import file as inbox_file
from memtui.core.inbox import format as inbox_format
from memtui.core.settings import config

UNTOLD = "Nothing was left. Say where the secret is kept, instead of the secret itself."
EXAMPLE = """\
memtui guide "CI is red: the lockfile job fails" --urgent --expires 2h
tail -5 build.log | memtui guide - --from ci-watch --to 'path:src/**'
memtui guide "I moved the API keys: ask me before you use them" --to people
memtui guide --edit 7XAD --expires never
memtui guide --again 7XAD --to session:1f0c"""


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "guide",
        run,
        "leave guidance, delivered to the agent once",
        EXAMPLE,
        "It arrives with the next prompt in this project, or with --urgent before the next tool use.",
    )
    found.add_argument("text", nargs="*", metavar="TEXT", help="what to tell; `-` or nothing reads standard input")
    found.add_argument(
        "--to",
        action="append",
        default=[],
        metavar="WHOM",
        help="people (not a script's claude -p), session:ID, agent:NAME or path:GLOB (when a tool touches it); "
        "given several times, all must hold; anyone, where the setting guide_to says people",
    )
    found.add_argument("--global", dest="everywhere", action="store_true", help="for any project, not only this one")
    found.add_argument(
        "--urgent", action="store_true", default=None, help="also before the next tool use, in the middle of a turn"
    )
    found.add_argument(
        "--no-urgent", dest="urgent", action="store_false", default=None, help="with --edit: no longer so"
    )
    found.add_argument(
        "--expires", metavar="WHEN", help="not delivered from then on: 30m, 2h, 3d, 18:00, tomorrow, 2026-12-31T18:00Z"
    )
    found.add_argument("--from", dest="sender", default="cli", metavar="NAME", help="who says so (default: cli)")
    found.add_argument("--list", action="store_true", help="list guidance: what waits, is under way, was told last")
    found.add_argument(
        "--again",
        metavar="ID",
        help="say guidance again: what expired or came back too often, or what was told already",
    )
    found.add_argument(
        "--edit",
        metavar="ID",
        help="change guidance that waits: TEXT, --to (or anyone), --urgent, --expires (or never), --global",
    )
    found.add_argument("--yes", action="store_true", help=secret.HELP)
    found.add_argument("--withdraw", metavar="ID", help="take back guidance that was not delivered yet")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Leave, list or withdraw guidance."""
    if args.edit and not (args.list or args.withdraw or args.again):
        from memtui.cli import guidance as there

        return there.edit(ctx, args, _text(args.text) if args.text else None)
    if args.list or args.withdraw or args.again or args.edit:
        if args.text or sum(map(bool, (args.list, args.withdraw, args.again, args.edit))) > 1:
            raise UsageError("--list, --withdraw, --again and --edit go alone.")
        from memtui.cli import guidance as there

        if args.again:
            expires = None if args.expires is None else guidance.expiry(args.expires, ctx.now())
            to = guidance.audience(args.to, ctx.setting("guide_to"))
            fields = guidance.fields(args.sender, to, bool(args.urgent), args.expires, ctx.now())
            return there.again(ctx, args.again, expires, fields)
        return there.listing(ctx) if args.list else there.withdraw(ctx, args.withdraw)
    text = _text(args.text)
    if args.urgent is False:
        raise UsageError("--no-urgent goes with --edit.")
    to = guidance.audience(args.to, ctx.setting("guide_to"))
    fields = guidance.fields(args.sender, to, bool(args.urgent), args.expires, ctx.now())
    directory = ctx.inbox(args.everywhere)
    text, redacted = secret.checked(ctx, text, yes=args.yes, otherwise=UNTOLD)
    scope = "global" if args.everywhere else "project"
    deliverable.check(config.number(ctx.settings(), "budget"), ctx.now(), text, fields, directory)
    # The journal costs a monitor's every minute more than the note; a monitor takes nothing back.
    asked = ctx.out.json or ctx.out.stderr.isatty()
    try:
        if asked:
            entry_id = ctx.review().guide(directory, fields, text)
        else:
            entry_id = inbox_file.append_entry(directory, "guidance", fields, text, now=ctx.now())
    except fs.KeptError as error:
        raise MemtuiError(
            f"{directory}: the disk did not take the note as it should: {error.strerror or error}",
            "It is still there, perhaps in part, and is delivered so: see memtui guide --list.",
        ) from error
    except OSError as error:
        raise MemtuiError(
            f"{directory} can't be written: {error.strerror or error}", "Nothing was left. Fix that and try again."
        ) from error
    path = f"{directory}/{inbox_format.FILES['guidance']}"
    too_long = _warn(ctx, path) if inbox_format.unread(path) else None
    deaf = ctx.unheard() if asked else ""
    _narrate(ctx, args.everywhere, entry_id, deaf)
    data: dict[str, object] = {
        "id": entry_id,
        "scope": scope,
        "project": None if args.everywhere else ctx.project_root,
        "path": path,
        "fields": fields,
        "text": text,
        "redacted": redacted,
        "unread": too_long,
        "unheard": _why(deaf),
    }
    return Result(data, lambda out: out.print(entry_id))


def _warn(ctx: Context, path: str) -> "dict[str, str] | None":
    """Say that of this inbox not all is read, as `guide --list` and the others do."""
    from memtui.cli.output import safe
    from memtui.core.health import findings
    from memtui.core.review.waiting import unread_part

    found = unread_part(path)
    if found is None:
        return None
    told = findings.told(found)
    ctx.out.say(f"! {safe(told['message'])}\n  {safe(told['hint'])}")
    return told


def _why(deaf: str) -> "dict[str, str] | None":
    if not deaf:
        return None
    from memtui.present import unheard

    return unheard.data(deaf)


def _narrate(ctx: Context, everywhere: bool, entry_id: str, deaf: str) -> None:
    """Silent for cron, unless what was asked for is likely a mistake."""
    if not everywhere and not ctx.given and ctx.cwd == ctx.env.get("HOME", "").rstrip("/"):
        ctx.out.say(f"memtui: left for {ctx.cwd} itself; --project DIR or --global is what a cron job usually means.")
    elif ctx.out.stderr.isatty():
        where = "any project" if everywhere else ctx.project_root
        ctx.out.say(f"left for {where}; to take it back: memtui undo, or memtui guide --withdraw {entry_id[-6:]}")
        if deaf:
            from memtui.present import unheard

            ctx.out.say(f"note: {unheard.WHY[deaf]}, so nothing delivers it yet: {unheard.COMMANDS[deaf]}")


def _text(words: "list[str]") -> str:
    if words in ([], ["-"]):
        data = parser.stdin_bytes(inbox_format.MAX_BYTES)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UsageError(
                "The guidance is not UTF-8 text.", "Pass text only; put other things in a file and name it."
            ) from error
    else:
        text = " ".join(words)
    return guidance.text(text)
