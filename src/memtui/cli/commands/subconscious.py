"""`memtui subconscious`: the model that reads sessions in the background, its notes, what it did and what it said."""

import argparse
import sys

from memtui.cli import memories, parser, secret
from memtui.cli.context import Context
from memtui.cli.editor import EditedFile
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import deliveries, diff
from memtui.core.base import clock, short_ids
from memtui.core.base.errors import EXIT_FAILED, MemtuiError, NotFoundError, UsageError
from memtui.core.base.phrasing import age, ago, many
from memtui.core.base.shell import shell_word
from memtui.core.base.short_ids import short_id
from memtui.present import models
from memtui.present import subconscious as present
from memtui.subconscious import block_versions, control, conversations, overview, places, runs, undoing, whispers
from memtui.subconscious.block_versions import BlockVersion
from memtui.subconscious.blocks import Blocks
from memtui.subconscious.running import Along

LIMIT = 20


def register(commands: "parser.Commands") -> None:
    """Add the command and its actions."""
    found = parser.command(
        commands,
        "subconscious",
        status,
        "show what reads sessions in the background, its notes and whispers",
        "memtui subconscious\nmemtui subconscious blocks\nmemtui subconscious edit project_context\n"
        "memtui subconscious stop",
        present.WHAT + " It is off until you set `subconscious` and `llm_backend` (memtui help config).",
    )
    below = parser.actions(found)
    parser.command(
        below, "status", status, "show whether it reads sessions, and what it waits for", "memtui subconscious status"
    )
    parser.command(below, "blocks", blocks, "list its blocks of notes", "memtui subconscious blocks --json")
    each = parser.command(
        below, "show", show, "print a block", "memtui subconscious show project_context", "Its blocks: " + _names()
    )
    each.add_argument("block", metavar="BLOCK")
    each = parser.command(
        below,
        "edit",
        edit,
        "change a block in your editor, or to a text",
        'memtui subconscious edit user_preferences\nmemtui subconscious edit guidance --text "Ask before a migration."',
        f"At most {places.MOST:,} characters; an empty text empties the block. `memtui undo` undoes it.",
    )
    each.add_argument("block", metavar="BLOCK")
    each.add_argument("--text", metavar="TEXT", help="the new text; - reads it from standard input")
    each.add_argument("--yes", action="store_true", help=secret.YES_HELP)
    each = parser.command(
        below,
        "history",
        history,
        "list the versions of a block, and restore one",
        "memtui subconscious history guidance\nmemtui subconscious history guidance --diff 3\n"
        "memtui subconscious history guidance --restore 2",
    )
    each.add_argument("block", metavar="BLOCK")
    only = each.add_mutually_exclusive_group()
    only.add_argument("--diff", type=parser.count, metavar="N", help="what version N changed")
    only.add_argument("--restore", type=parser.count, metavar="N", help="make version N the text again")
    each = parser.command(
        below,
        "undo",
        undo,
        "undo one change of a block, or all of a run",
        "memtui subconscious undo guidance\nmemtui subconscious undo guidance 3\nmemtui subconscious undo --run 4B7XAD",
        "It undoes what that version changed and keeps what was changed later; where later changes are of the same"
        " lines, it changes nothing and says so. The subconscious is told that you undid it. `memtui undo` takes the"
        " undo back.",
    )
    each.add_argument("block", metavar="BLOCK", nargs="?")
    each.add_argument(
        "version",
        metavar="VERSION",
        nargs="?",
        type=parser.count,
        help="its number in `history`, default: the last change by the subconscious",
    )
    each.add_argument("--run", dest="of_run", metavar="ID", help="undo all that this run changed, see `runs`")
    for name, run, about in (
        ("runs", list_runs, "list what it read, and what came of it, newest first"),
        ("whispers", list_whispers, "list what it whispered, to whom, and whether it arrived"),
    ):
        each = parser.command(below, name, run, about, f"memtui subconscious {name}\nmemtui subconscious {name} --json")
        each.add_argument("--session", metavar="ID", default="", help="only of this session")
        each.add_argument("--limit", type=parser.count, default=LIMIT, metavar="N", help=f"default: {LIMIT}")
    each = parser.command(
        below,
        "conversation",
        conversation,
        "print what it summed up, whispered and looked at in a session",
        "memtui subconscious conversation\nmemtui subconscious conversation 1f0c2b3d",
    )
    each.add_argument("session", metavar="ID", nargs="?", default="", help="default: the session that it read last")
    each = parser.command(
        below,
        "run",
        read_now,
        "have it read a session now",
        "memtui subconscious run\nmemtui subconscious run 1f0c2b3d",
    )
    each.add_argument("session", metavar="ID", nargs="?", default="", help="default: the newest session of the project")
    parser.command(below, "stop", stop, "stop it, also what it does now, until `start`", "memtui subconscious stop")
    parser.command(below, "start", start, "let it read sessions again", "memtui subconscious start")


def _names() -> str:
    return ", ".join(places.BLOCKS) + "."


def _blocks(ctx: Context) -> Blocks:
    ctx.must_have_home()
    return Blocks(ctx.root, ctx.slug, ctx.now)


def status(ctx: Context, _: argparse.Namespace) -> Result:
    """Show the state, today's use, the last run, and what waits."""
    ctx.must_have_home()
    found = overview.look(ctx.env, ctx.root, ctx.project_root, ctx.now())
    powers = found.powers
    data = {
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
    return Result(data, lambda out: _print_status(ctx, out, found))


def _print_status(ctx: Context, out: Output, found: overview.Overview) -> None:
    powers, now = found.powers, ctx.now()
    rows = [("state", line(present.state(found, now)))]
    if powers.hint:
        rows.append(("to do", powers.hint))
    if powers.mode != "off":
        rows.append(("tools", present.tools(powers)))
    if found.calls:
        used = f"{many(found.calls, 'call')}, {found.today.tokens:,} tokens, {models.dollars(found.today.cost)}"
        rows.append(("today", used))
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
    if powers.mode == "off":
        out.paragraph(present.WHAT)
    elif found.last is None:
        out.print(present.EMPTY)


def blocks(ctx: Context, _: argparse.Namespace) -> Result:
    """List the blocks."""
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


def show(ctx: Context, args: argparse.Namespace) -> Result:
    """Print one block."""
    known = _blocks(ctx)
    content = known.text(args.block)
    data = {"block": args.block, "path": known.path(args.block), "text": content}
    purpose = places.BLOCKS[args.block][1]
    return Result(data, lambda out: out.print(safe(content) if content else f"It is empty. It is for {purpose}."))


def edit(ctx: Context, args: argparse.Namespace) -> Result:
    """Change a block."""
    known = _blocks(ctx)
    before = known.editable(args.block)
    declined = "Nothing was changed."
    if args.text is not None:
        content, _ = secret.checked(ctx, parser.body_text(args.text), yes=args.yes, declined=declined, before=before)
        changed = known.replace(args.block, content, ctx.journal())
    else:
        if not sys.stdin.isatty() and not (ctx.env.get("EDITOR") or ctx.env.get("VISUAL")):
            raise UsageError("There is no text.", "Give one with --text TEXT, or --text - for standard input.")
        with EditedFile(ctx, args.block, before.encode() + b"\n") as draft:
            after = secret.checked_bytes(ctx, draft.edit(), yes=args.yes, declined=declined, before=before.encode())
            try:
                content = after.decode()
            except UnicodeDecodeError as error:
                raise MemtuiError("The text is not valid UTF-8, so nothing was saved.") from error
            changed = known.replace(args.block, content, ctx.journal(), before)
    return _changed(known, args.block, before, changed=changed)


def _changed(known: Blocks, name: str, before: str, *, changed: bool) -> Result:
    after = known.text(name)

    def text(out: Output) -> None:
        out.print(f"changed {name}" if changed else "Nothing changed.")
        if changed:
            diff.show(out, before.encode(), after.encode())
            memories.say_undo(out)

    return Result({"block": name, "changed": changed, "text": after, "path": known.path(name)}, text)


def history(ctx: Context, args: argparse.Namespace) -> Result:
    """List the versions of a block, show what one changed, or restore one."""
    known = _blocks(ctx)
    versions = known.versions(args.block)[::-1]
    if args.restore is not None:
        chosen, before = _numbered(args.block, versions, args.restore), known.editable(args.block)
        changed = known.replace(args.block, chosen.text, ctx.journal(), before)
        return _changed(known, args.block, before, changed=changed)
    data: dict[str, object] = {"versions": [_version(at, each) for at, each in enumerate(versions, 1)]}
    if args.diff is not None:
        new = _numbered(args.block, versions, args.diff).content
        old = block_versions.before(versions[::-1], len(versions) - args.diff)
        data["diff"] = "\n".join(diff.lines(old.encode(), new.encode()))
        return Result(data, lambda out: diff.show(out, old.encode(), new.encode()))

    def text(out: Output) -> None:
        if not versions:
            out.print(f"{args.block} has no versions yet: nobody has changed it.")
            return
        newest = versions[::-1]
        cells = [
            [
                str(len(newest) - at),
                age(each.time, ctx.now()),
                f"{len(each.text):,}",
                line(writer),
                line(each.text.partition("\n")[0]),
            ]
            for at, (each, writer) in enumerate(zip(newest, present.writers(newest), strict=True))
        ]
        out.table(["VERSION", "AGE", "SIZE", "WRITTEN BY", "TEXT"], cells, flex=(4, 3), right=(0, 1, 2))
        out.say(f"What the newest changed: memtui subconscious history {shell_word(args.block)} --diff {len(versions)}")

    return Result(data, text)


def undo(ctx: Context, args: argparse.Namespace) -> Result:
    """Undo one change of a block, or all of a run."""
    if (args.block is None) == (args.of_run is None):
        raise UsageError("Give a block, or a run with --run.", "memtui subconscious undo guidance")
    return _undo_run(ctx, args.of_run) if args.of_run is not None else _undo_one(ctx, args.block, args.version)


def _undo_one(ctx: Context, name: str, number: "int | None") -> Result:
    known = _blocks(ctx)
    before, versions = known.editable(name), known.versions(name)[::-1]
    if number is None:
        found = undoing.last(known, reversed(versions), ctx.journal())
        left = f"Nothing is left in {name} of what the subconscious changed."
        number = 1 + versions.index(found.version) if found else None
    else:
        version = _numbered(name, versions, number)
        found = undoing.UndoneChange(version, known.undo(name, version, ctx.journal()))
        left = present.undone([found])

    def text(out: Output) -> None:
        if found is None or not found.done:
            out.print(left)
            return
        out.print(f"undid version {number} of {name}")
        diff.show(out, before.encode(), known.text(name).encode())
        memories.say_undo(out)

    return Result({"undone": [_undone(found)] if found else [], "text": known.text(name)}, text)


def _undo_run(ctx: Context, ref: str) -> Result:
    ctx.must_have_home()
    run = short_ids.match(ref, [each.id for each in runs.newest_first(ctx.root, sys.maxsize)], "run")
    found = undoing.each(ctx.root, undoing.of_run(ctx.root, run), ctx.journal(), ctx.now)
    failed = [(each.version.block, each.error) for each in found if each.error is not None]

    def text(out: Output) -> None:
        out.print(present.undone(found) if found else "That run changed no block.")
        for name, error in failed:
            out.print(f"left alone: {name}: {line(error.message)} {line(error.hint)}")
        memories.say_undo(out, sum(each.done for each in found))

    return Result({"run": run, "undone": [_undone(each) for each in found]}, text, EXIT_FAILED if failed else 0)


def _undone(found: undoing.UndoneChange) -> "dict[str, object]":
    version = found.version
    data = {"block": version.block, "project": version.project, "version": version.id, "changed": found.done}
    return {**data, "error": found.error.message if found.error else None}


def _numbered(name: str, versions: "list[BlockVersion]", number: int) -> BlockVersion:
    """Return a version by its number. Raises NotFoundError."""
    if not 1 <= number <= len(versions):
        raise NotFoundError(f"{name} has no version {number}.", f"It has {many(len(versions), 'version')}.")
    return versions[number - 1]


def _version(number: int, version: BlockVersion) -> "dict[str, object]":
    return {"number": number, **{key: found for key, found in version.row().items() if key != "v"}}


def list_runs(ctx: Context, args: argparse.Namespace) -> Result:
    """List the runs."""
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
    """List the whispers, each with what became of it."""
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


def conversation(ctx: Context, args: argparse.Namespace) -> Result:
    """Print the conversation about a session."""
    ctx.must_have_home()
    found = runs.newest_first(ctx.root, 1, args.session)
    if not found:
        hint = "memtui subconscious runs lists what it read."
        raise NotFoundError(f"It has read no session {args.session}.".replace(" .", "."), hint)
    session = found[0].session
    remarks = conversations.last(ctx.root, session, sys.maxsize)

    def text(out: Output) -> None:
        out.heading(f"Session {line(session[:8])}", present.talked(remarks))
        for each in remarks:
            out.facts([(f"{present.kind(each)} {age(each.time, ctx.now())}", line(each.text))], columns=16)

    return Result({"session": session, "conversation": [each.data() for each in remarks]}, text)


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
    return Result(
        {"stopped": True, "changed": changed}, lambda out: out.print(said + " Again: memtui subconscious start")
    )


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
