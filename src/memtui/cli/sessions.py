"""`memtui sessions`: which sessions memtui served, and what each one got."""

import argparse
import os

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core import clock, delivery, fastjson, fs, receipts, review
from memtui.core.errors import NotFoundError
from memtui.core.told import GLYPHS, items_of, text_of, what
from memtui.core.words import age, ago

Record = dict[str, object]
LIMIT = 20
PARTS = (".cursor.json", ".index.json")


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "sessions",
        run,
        "list the sessions that got something, and what",
        "memtui sessions\nmemtui sessions show 5f0c",
        "All projects, newest first; --project DIR for one.",
    )
    found.add_argument("--limit", type=int, default=LIMIT, metavar="N", help=f"default: {LIMIT}, 0: all")
    actions = parser.actions(found)
    each = parser.command(actions, "show", show, "show what one session got", "memtui sessions show 5f0c")
    each.add_argument("id", metavar="ID")


class Session:
    """A session by its id: what its state file says, and its records of the delivery log, newest first."""

    def __init__(self, name: str) -> None:
        self.id = name
        self.state: Record = {}
        self.records: list[Record] = []

    @property
    def last(self) -> str:
        """When it was heard of last, as the log writes times."""
        times = [text_of(record, "time") for record in self.records] + [text_of(self.state, "started")]
        return max(times)

    @property
    def project(self) -> str:
        """Its project's root, or the project's slug."""
        newest = self.records[0] if self.records else {}
        for found in (self.state, newest):
            if text_of(found, "project_root") or text_of(found, "project"):
                return text_of(found, "project_root") or text_of(found, "project")
        return ""

    def slug(self) -> str:
        """Its project's slug."""
        return text_of(self.state, "project") or (text_of(self.records[0], "project") if self.records else "")

    def data(self) -> Record:
        """The session for --json."""
        newest = self.records[0] if self.records else {}
        return {
            "id": self.id,
            "project": self.project,
            "cwd": text_of(self.state, "cwd") or text_of(newest, "cwd"),
            "mode": text_of(self.state, "mode") or text_of(newest, "mode"),
            "started": text_of(self.state, "started") or None,
            "last": self.last or None,
            "deliveries": sum(bool(record.get("text")) for record in self.records),
            "uses": sum(item.get("kind") == "use" for record in self.records for item in items_of(record)),
        }


def collect(root: str) -> "list[Session]":
    """All sessions, the one heard of last first."""
    found: dict[str, Session] = {}
    try:
        names = os.listdir(root + "/sessions")
    except OSError:
        names = []
    for name in names:
        if not name.endswith(".json") or name.endswith(PARTS):
            continue
        try:
            state = fastjson.loads_dict(fs.read_bytes(f"{root}/sessions/{name}"))
        except OSError:
            continue
        key = name.removesuffix(".json")
        found.setdefault(key, Session(key)).state = state
    for record in delivery.newest_first(root):
        key = text_of(record, "session_id")
        if key:
            found.setdefault(key, Session(key)).records.append(record)
    return sorted(found.values(), key=lambda each: each.last, reverse=True)


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List the sessions."""
    every = [each for each in collect(ctx.root) if not ctx.given or each.slug() == ctx.slug]
    shown = every[: args.limit] if args.limit > 0 else every
    return Result({"sessions": [each.data() for each in shown]}, lambda out: _print(ctx, out, shown))


def _print(ctx: Context, out: Output, shown: "list[Session]") -> None:
    if not shown:
        out.print("No session was served yet.")
        out.print("  Are the hooks installed? memtui hooks status")
        return
    rows = []
    for each in shown:
        data = each.data()
        last = age(clock.parse(each.last), ctx.now())
        where = each.project.rstrip("/").rpartition("/")[2]
        rows.append(
            [
                (line(each.id)[:8], "cyan"),
                last,
                str(data["deliveries"]),
                str(data["uses"]),
                str(data["mode"]) or "-",
                line(where),
            ]
        )
    out.table(["SESSION", "LAST", "DELIVERIES", "USES", "MODE", "PROJECT"], rows, right=(1, 2, 3))
    out.print("What one got: memtui sessions show ID")


def show(ctx: Context, args: argparse.Namespace) -> Result:
    """Show one session."""
    ctx.must_have_home()
    every = {each.id: each for each in collect(ctx.root)}
    try:
        found = every[review.match(args.id, every, "session")]
    except NotFoundError as error:
        raise NotFoundError(error.message, error.hint or "`memtui sessions` lists them.") from None
    told = receipts.outcomes(found.records, ctx.env, ctx.now())
    rows = [{**record, "outcome": told.get(text_of(record, "id"), receipts.UNKNOWN)} for record in found.records]
    data = {**found.data(), "state": found.state, "records": rows}
    return Result(data, lambda out: _print_one(ctx, out, found, told))


def _print_one(ctx: Context, out: Output, found: Session, told: "dict[str, str]") -> None:
    now = ctx.now()
    data = found.data()
    out.heading(f"Session {line(found.id)}", line(found.project))
    started = clock.parse(data["started"])
    for key, value in (
        ("started", ago(started, now)),
        ("directory", line(str(data["cwd"]))),
        ("mode", str(data["mode"]) or "-"),
        ("deliveries", str(data["deliveries"])),
    ):
        out.print(f"  {out.style(f'{key:<12}', 'dim')}{value}")
    out.print()
    cells = []
    for record in found.records:
        glyph, style = GLYPHS[told.get(text_of(record, "id"), receipts.UNKNOWN)]
        outcome = told.get(text_of(record, "id"), receipts.UNKNOWN)
        when = age(clock.parse(record.get("time")), now)
        name = (text_of(record, "id")[-6:], "cyan")
        cells.append([name, when, (f"{glyph} {outcome}", style), line(text_of(record, "event")), line(what(record))])
    if cells:
        out.table(["ID", "AGE", "RECEIPT", "EVENT", "WHAT"], cells, right=(1,))
        out.print("The exact text: memtui deliveries show ID")
    else:
        out.print("It got nothing.")
