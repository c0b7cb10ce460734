"""What `memtui model` tells of the model that reads sessions in the background: its blocks, runs and notes."""

import argparse
import sys

from memtui.cli import memories, parser, secret
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import deliveries, diff
from memtui.core.base import clock
from memtui.core.base.errors import MemtuiError, UsageError
from memtui.core.base.phrasing import age, ago
from memtui.core.base.short_ids import short_id
from memtui.present import subconscious as present
from memtui.subconscious import control, overview, places, runs, whispers
from memtui.subconscious.blocks import Blocks
from memtui.subconscious.running import Along

LIMIT = 20


def register(actions: "parser.Commands") -> None:
    """Add the actions of `memtui model` about what reads sessions in the background."""
    each = parser.command(
        actions,
        "blocks",
        blocks,
        "list its blocks of notes, print one, or change it",
        "memtui model blocks\nmemtui model blocks project_context\n"
        'memtui model blocks guidance --text "Ask before a migration."',
        f"At most {places.MOST:,} characters; an empty text empties the block. `memtui undo` undoes it. {_names()}",
    )
    each.add_argument("block", metavar="BLOCK", nargs="?")
    each.add_argument("--text", metavar="TEXT", help="the new text; - reads it from standard input")
    each.add_argument("--yes", action="store_true", help=secret.YES_HELP)
    each = parser.command(
        actions, "run", read_now, "have it read a session now", "memtui model run\nmemtui model run 1f0c2b3d"
    )
    each.add_argument("session", metavar="ID", nargs="?", default="", help="default: the newest session of the project")
    parser.command(
        actions, "stop", stop, "stop reading sessions, also the one it reads now, until `start`", "memtui model stop"
    )
    parser.command(actions, "start", start, "let it read sessions again", "memtui model start")


def _names() -> str:
    return f"Blocks: {', '.join(places.BLOCKS)}."


def _blocks(ctx: Context) -> Blocks:
    ctx.must_have_home()
    return Blocks(ctx.root, ctx.slug, ctx.now)


def state(ctx: Context) -> "tuple[dict[str, object], overview.Overview]":
    """Return the state, today's use, the last run, and what waits: for --json, and as it was read."""
    found = overview.look(ctx.env, ctx.root, ctx.project_root, ctx.now())
    powers = found.powers
    data: dict[str, object] = {
        "mode": powers.mode,
        "tools": powers.tools,
        "tools_in_force": powers.allowed,
        "backend": powers.backend or None,
        "model": powers.model,
        "reason": powers.why or None,
        "stopped": None if found.stopped is None else clock.iso(found.stopped),
        "today": {"calls": found.calls, "tokens": found.today.tokens, "cost": found.today.cost},
        "budget": found.budget or None,
        "waiting": [each.data() for each in found.mentions],
        "under_way": [each.data() for each in found.under_way],
        "last": found.last.data() if found.last else None,
    }
    return data, found


def print_state(ctx: Context, out: Output, found: overview.Overview) -> None:
    """Print the state."""
    powers, now = found.powers, ctx.now()
    rows = [("reads along", line(present.state(found, now)))]
    if powers.hint:
        rows.append(("to do", powers.hint))
    rows.append(("tools", present.tools(powers)))
    if found.calls:
        rows.append(("today", present.used(found)))
    if found.budget:
        rows.append(("budget", found.budget))
    if found.last is not None:
        last = f"{ago(found.last.time, now)}: {present.outcome(found.last, now)[0]}"
        rows.append(("last run", line(f"{last}, {present.did(found.last)}".removesuffix(", "))))
    called = overview.names(ctx.env, [each.project for each in found.mentions])
    for each in found.mentions:
        who = "you" if each.who == "person" else "the agent"
        where = f" in {called[each.project]}" if each.project not in {"", ctx.slug} else ""
        rows.append(("to answer", line(f"{who}{where}, {ago(each.time, now)}: {each.words}")))
    out.facts(rows, whole=("to do",))
    if found.last is None:
        out.print(present.EMPTY)


def blocks(ctx: Context, args: argparse.Namespace) -> Result:
    """List the blocks, print one or change it."""
    if not args.block:
        if args.text is not None:
            raise UsageError("Name the block.", _names())
        return _listed(ctx)
    return _show(ctx, args.block) if args.text is None else _edit(ctx, args)


def _listed(ctx: Context) -> Result:
    known = _blocks(ctx)
    rows = [(name, known.text(name), known.versions(name)[:1]) for name in places.BLOCKS]
    data = [
        {
            "block": name,
            "scope": "project" if places.BLOCKS[name][0] else "global",
            "purpose": places.BLOCKS[name][1],
            "path": known.path(name),
            "chars": len(text),
            "changed": clock.iso(newest[0].time) if newest else None,
            "by": newest[0].by if newest else None,
            "text": text,
        }
        for name, text, newest in rows
    ]

    def text(out: Output) -> None:
        cells = [
            [
                name,
                "project" if places.BLOCKS[name][0] else "global",
                f"{len(content):,}",
                f"{age(newest[0].time, ctx.now())} {present.WHO[newest[0].by]}" if newest else "-",
                line(content.partition("\n")[0]) or f"({places.BLOCKS[name][1]})",
            ]
            for name, content, newest in rows
        ]
        out.table(["BLOCK", "SCOPE", "SIZE", "CHANGED", "TEXT"], cells, flex=(4, 3), right=(2,))

    return Result({"blocks": data}, text)


def _show(ctx: Context, block: str) -> Result:
    """Print one block."""
    known = _blocks(ctx)
    content = known.text(block)
    data = {"block": block, "path": known.path(block), "text": content}
    return Result(
        data, lambda out: out.print(safe(content) if content else f"It is empty. It is for {places.BLOCKS[block][1]}.")
    )


def _edit(ctx: Context, args: argparse.Namespace) -> Result:
    """Change a block."""
    known = _blocks(ctx)
    before = known.editable(args.block)
    given = parser.body_text(args.text)
    content, _ = secret.checked(ctx, given, yes=args.yes, declined="Nothing was changed.", before=before)
    return _changed(known, args.block, before, changed=known.replace(args.block, content, ctx.journal()))


def _changed(known: Blocks, name: str, before: str, *, changed: bool) -> Result:
    after = known.text(name)

    def text(out: Output) -> None:
        out.print(f"changed {name}" if changed else "Nothing changed.")
        if changed:
            diff.show(out, before.encode(), after.encode())
            memories.say_undo(out)

    return Result({"block": name, "changed": changed, "text": after, "path": known.path(name)}, text)


def list_runs(ctx: Context, args: argparse.Namespace) -> Result:
    """List the sessions that it read, and what came of it."""
    ctx.must_have_home()
    found = runs.newest_first(ctx.root, args.limit or sys.maxsize, args.session)

    def text(out: Output) -> None:
        if not found:
            out.print(present.EMPTY)
            return
        now, called = ctx.now(), overview.names(ctx.env, [each.project for each in found])
        cells = [
            [
                age(each.time, now),
                short_id(each.id),
                line(called.get(each.project, "-")),
                line(each.session[:8]),
                present.outcome(each, now),
                str(each.heard),
                present.cost(each),
                line(present.did(each)),
            ]
            for each in found
        ]
        out.table(
            ["AGE", "RUN", "PROJECT", "SESSION", "OUTCOME", "HEARD", "COST", "WHAT"],
            cells,
            flex=(7, 2),
            right=(0, 5, 6),
            notes=[line(each.note) for each in found],
        )

    return Result({"runs": [each.data() for each in found]}, text)


def list_whispers(ctx: Context, args: argparse.Namespace) -> Result:
    """List the notes that the model left for sessions, and whether they arrived."""
    ctx.must_have_home()
    found = whispers.newest_first(ctx.root, args.limit or sys.maxsize, args.session)
    receipts = deliveries.receipts_of(ctx)
    rows = []
    for each in found:
        note = whispers.delivered(ctx.root, each)
        came = receipts.of(note.delivery) if note else "waits" if whispers.waits(ctx.root, each) else "gone"
        rows.append((each, came, note.delivery.id if note else None))

    def text(out: Output) -> None:
        if not rows:
            out.print(present.NO_WHISPERS)
            return
        now, called = ctx.now(), overview.names(ctx.env, [each.project for each, _, _ in rows])
        cells = [
            [
                age(each.time, now),
                line(called.get(each.project, "-")),
                line(each.session[:8]),
                "waits"
                if came == "waits"
                else present.ended(each, now)
                if came == "gone"
                else deliveries.receipt(came),
                "urgent" if each.urgent else "reply" if each.reply else "",
                line(each.text),
            ]
            for each, came, _ in rows
        ]
        out.table(["AGE", "PROJECT", "SESSION", "RECEIPT", "", "TEXT"], cells, flex=(5, 1), right=(0,))

    return Result({"whispers": [{**each.data(), "outcome": came, "delivery": name} for each, came, name in rows]}, text)


def read_now(ctx: Context, args: argparse.Namespace) -> Result:
    """Have it read a session now, and wait for that."""
    ctx.must_have_home()
    powers = control.powers(ctx.env, ctx.root, ctx.project_root)
    if powers.why:
        raise MemtuiError(powers.why, powers.hint)
    payload = overview.payload(ctx.env, ctx.cwd, args.session)
    run = Along(ctx.env, payload, ctx.now).run()

    def text(out: Output) -> None:
        if run is None:
            out.print(f"Nothing new was said in session {line(payload['session_id'][:8])}.")
            return
        out.print(f"{present.outcome(run, ctx.now())[0]}: {line(present.did(run))}")
        if run.note:
            out.paragraph(line(run.note))

    return Result({"session": payload["session_id"], "run": run.data() if run else None}, text)


def stop(ctx: Context, _: argparse.Namespace) -> Result:
    """Stop it."""
    ctx.must_have_home()
    ctx.must_own()
    changed = control.stop(ctx.root)
    said = "The subconscious is stopped." if changed else "It was stopped already."
    return Result({"stopped": True, "changed": changed}, lambda out: out.print(said + " Again: memtui model start"))


def start(ctx: Context, _: argparse.Namespace) -> Result:
    """Let it read sessions again."""
    ctx.must_have_home()
    ctx.must_own()
    changed = control.start(ctx.root)
    powers = control.powers(ctx.env, ctx.root, ctx.project_root)

    def text(out: Output) -> None:
        out.print("It may read sessions again." if changed else "It was not stopped.")
        if powers.why:
            out.print(f"But: {powers.why} {powers.hint}")

    return Result({"stopped": False, "changed": changed, "reason": powers.why or None}, text)
