"""`memtui guide`: leave a note for the agent. Monitors call it every minute, so it imports little and says little."""

import argparse

from memtui.cli import fit, parser
from memtui.cli.context import Context, parse_when
from memtui.cli.output import Result
from memtui.core import claims, clock, inbox, render
from memtui.core.errors import MemtuiError, UsageError
from memtui.hooks import deliver

NAME_LIMIT = 80
EXAMPLE = """\
memtui guide "CI is red: the lockfile job fails" --urgent --expires 2h
tail -5 build.log | memtui guide - --from ci-watch --to 'path:src/**'"""


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
        help="session:ID, agent:NAME or path:GLOB (when a tool touches it); given several times, all must hold",
    )
    found.add_argument("--global", dest="everywhere", action="store_true", help="for any project, not only this one")
    found.add_argument("--urgent", action="store_true", help="also before the next tool use, in the middle of a turn")
    found.add_argument(
        "--expires", metavar="WHEN", help="not delivered from then on: 30m, 2h, 3d, or 2026-12-31T18:00Z"
    )
    found.add_argument("--from", dest="sender", default="cli", metavar="NAME", help="who says so (default: cli)")
    found.add_argument("--list", action="store_true", help="list the guidance that waits")
    found.add_argument("--again", metavar="ID", help="leave guidance anew that expired or came back too often")
    found.add_argument("--withdraw", metavar="ID", help="take back guidance that was not delivered yet")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Leave, list or withdraw guidance."""
    if args.list or args.withdraw or args.again:
        if args.text or sum(map(bool, (args.list, args.withdraw, args.again))) > 1:
            raise UsageError("--list, --withdraw and --again go alone.")
        from memtui.cli import inbox as waiting

        if args.again:
            expires = None if args.expires is None else _expiry(ctx, args.expires)
            return waiting.again(ctx, args.again, expires)
        return waiting.list_guidance(ctx) if args.list else waiting.withdraw(ctx, args.withdraw)
    text = _text(args.text)
    fields = _fields(ctx, args)
    directory = ctx.inbox(args.everywhere)
    _check_length(ctx, text, fields, directory, "global" if args.everywhere else "project")
    try:
        entry_id = inbox.append_entry(directory, "guidance", fields, text, now=ctx.now())
    except OSError as error:
        raise MemtuiError(
            f"{directory} can't be written: {error.strerror or error}", "Nothing was left. Mend that and try again."
        ) from error
    _narrate(ctx, args.everywhere, entry_id)
    data: dict[str, object] = {
        "id": entry_id,
        "scope": "global" if args.everywhere else "project",
        "project": None if args.everywhere else ctx.project_root,
        "path": f"{directory}/{inbox.FILES['guidance']}",
        "fields": fields,
        "text": text,
    }
    return Result(data, lambda out: out.print(entry_id))


def _narrate(ctx: Context, everywhere: bool, entry_id: str) -> None:
    """Silent for cron, unless what was asked for is likely a mistake."""
    if not everywhere and not ctx.given and ctx.cwd == ctx.env.get("HOME", "").rstrip("/"):
        ctx.out.say(f"memtui: left for {ctx.cwd} itself; --project DIR or --global is what a cron job usually means.")
    elif ctx.out.stderr.isatty():
        where = "any project" if everywhere else ctx.project_root
        ctx.out.say(f"left for {where}; to take it back: memtui guide --withdraw {entry_id[-6:]}")
        if not everywhere and ctx.setting("mode") == "off":
            ctx.out.say("note: the mode is off here, nothing is delivered: memtui config")
        elif not _hooked(ctx):
            ctx.out.say("note: the hooks are not installed, nothing is delivered: memtui hooks install")


def _hooked(ctx: Context) -> bool:
    """Whether anybody would deliver it; asked for a person only, it takes a while."""
    from memtui.hooks import status

    try:
        return status.status(ctx.env, ctx.cwd).installed
    except (MemtuiError, OSError):
        return True


def _text(words: "list[str]") -> str:
    if words in ([], ["-"]):
        data = parser.stdin_bytes(inbox.MAX_BYTES)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UsageError(
                "The guidance is not UTF-8 text.", "Pass text only; put other things in a file and name it."
            ) from error
    else:
        text = " ".join(words)
    text = text.replace("\r\n", "\n").strip("\n \t\r")
    if not text:
        raise UsageError("The guidance is empty: nothing was left.", "Give some text.")
    if "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise UsageError("The guidance is binary, not text.", "Pass text only; put other things in a file and name it.")
    return text


def _check_length(ctx: Context, text: str, fields: "dict[str, str]", directory: str, scope: str) -> None:
    entry = inbox.Entry("0" * deliver.ID_UNITS, {**fields, "time": clock.iso_seconds(ctx.now())}, text, "", 0)
    over = fit.over(ctx, entry, scope, directory)
    if over > 0:
        units = render.units(render.clean(text))
        raise UsageError(
            f"The guidance is {units:,} characters long, and {max(0, units - over):,} fit into one delivery.",
            "Shorten it, or put the long part into a file and name the file.",
        )


def _fields(ctx: Context, args: argparse.Namespace) -> "dict[str, str]":
    sender = " ".join(args.sender.split())
    if not sender or len(sender) > NAME_LIMIT or not sender.isprintable():
        raise UsageError(f"--from takes a name of at most {NAME_LIMIT} characters.")
    fields = {"from": sender}
    if args.to:
        fields["for"] = ",".join(_addresses(args.to))
    if args.urgent:
        fields["urgent"] = "yes"
    if args.expires is not None:
        fields["expires"] = clock.iso_seconds(_expiry(ctx, args.expires))
    return fields


def _addresses(given: "list[str]") -> "list[str]":
    found: list[str] = []
    for address in given:
        kind, colon, name = address.strip().partition(":")
        name = name.strip()
        if not colon or kind not in claims.ADDRESSES or not name or "," in name or not name.isprintable():
            raise UsageError(
                f"--to {address}: not an addressee.", "Say session:ID, agent:NAME or path:GLOB, without commas."
            )
        if kind == "session" and len(name) < claims.MIN_SESSION_PREFIX:
            raise UsageError(f"--to {address}: at least {claims.MIN_SESSION_PREFIX} characters of the session's id.")
        if any(other.startswith(kind + ":") for other in found):
            raise UsageError(f"--to: all must hold, so that two of {kind}: can't.", "Leave two notes instead.")
        found.append(f"{kind}:{name}")
    return found


def _expiry(ctx: Context, text: str) -> float:
    seconds = parse_when(text, ctx.now(), ahead=True)
    if seconds is None:
        raise UsageError(
            f"--expires {text}: neither a time to come nor a date.", "Say 30m, 2h, 3d or 2026-12-31T18:00Z."
        )
    if seconds <= ctx.now():
        raise UsageError(
            f"--expires {text}: that is over already.", "Say 30m, 2h, 3d or a later date (without a zone: UTC)."
        )
    return seconds
