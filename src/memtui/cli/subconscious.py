"""What `memtui model` says of the model that reads sessions in the background: its state, blocks and runs."""

import argparse
import sys

from memtui.cli import memories, parser, secret
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import diff
from memtui.core.base import clock
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import age, ago
from memtui.core.base.short_ids import short_id
from memtui.present import subconscious as present
from memtui.subconscious import control, places, runs
from memtui.subconscious.blocks import Blocks

NAMES = f"Blocks: {', '.join(places.BLOCKS)}."


def state_data(found: control.Overview) -> "dict[str, object]":
    """Return the state, today's use, the last run, and what waits, for --json."""
    powers = found.powers
    return {
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


def print_state(ctx: Context, out: Output, found: control.Overview) -> None:
    powers, now = found.powers, ctx.now()
    rows = [
        ("reads along", line(present.state(found, now))),
        ("to do", powers.hint),
        ("tools", present.tools(powers)),
        ("today", present.used(found) if found.calls else ""),
        ("budget", found.budget),
    ]
    if found.last is not None:
        last = f"{ago(found.last.time, now)}: {present.outcome(found.last, now)[0]}"
        rows.append(("last run", line(f"{last}, {present.did(found.last)}".removesuffix(", "))))
    called = control.names(ctx.env, [each.project for each in found.mentions])
    for each in found.mentions:
        who = "you" if each.who == "person" else "the agent"
        where = f" in {called[each.project]}" if each.project not in {"", ctx.slug} else ""
        rows.append(("to answer", line(f"{who}{where}, {ago(each.time, now)}: {each.words}")))
    out.facts([row for row in rows if row[1]], whole=("to do",))
    if found.last is None:
        out.print(present.EMPTY)


def blocks(ctx: Context, args: argparse.Namespace) -> Result:
    """List the blocks, print one or change it."""
    ctx.must_have_home()
    known, name = Blocks(ctx.root, ctx.slug, ctx.now), args.block
    if not name:
        if args.text is not None:
            raise UsageError("Name the block.", NAMES)
        return _listed(ctx, known)
    if args.text is None:
        content = known.text(name)
        shown = safe(content) if content else f"It is empty. It is for {places.BLOCKS[name][1]}."
        return Result({"block": name, "path": known.path(name), "text": content}, lambda out: out.print(shown))
    before, text = known.editable(name), parser.body_text(args.text)
    content, _ = secret.checked(ctx, text, yes=args.yes, declined="Nothing was changed.", before=before)
    changed = known.replace(name, content, ctx.journal())
    after = known.text(name)

    def answer(out: Output) -> None:
        out.print(f"changed {name}" if changed else "Nothing changed.")
        if changed:
            diff.show(out, before.encode(), after.encode())
            memories.say_undo(out)

    return Result({"block": name, "changed": changed, "text": after, "path": known.path(name)}, answer)


def _listed(ctx: Context, known: Blocks) -> Result:
    data, cells = [], []
    for name, (of_project, purpose) in places.BLOCKS.items():
        content, newest = known.text(name), next(iter(known.versions(name)), None)
        scope = "project" if of_project else "global"
        data.append(
            {
                "block": name,
                "scope": scope,
                "purpose": purpose,
                "path": known.path(name),
                "chars": len(content),
                "changed": clock.iso(newest.time) if newest else None,
                "by": newest.by if newest else None,
                "text": content,
            }
        )
        changed = f"{age(newest.time, ctx.now())} {present.WHO[newest.by]}" if newest else "-"
        cells.append([name, scope, f"{len(content):,}", changed, line(content.partition("\n")[0]) or f"({purpose})"])
    headers = ["BLOCK", "SCOPE", "SIZE", "CHANGED", "TEXT"]
    return Result({"blocks": data}, lambda out: out.table(headers, cells, flex=(4, 3), right=(2,)))


def list_runs(ctx: Context, limit: int) -> Result:
    """List the sessions that it read, and what came of it."""
    ctx.must_have_home()
    found = runs.newest_first(ctx.root, limit or sys.maxsize, "")

    def text(out: Output) -> None:
        if not found:
            out.print(present.EMPTY)
            return
        now, called = ctx.now(), control.names(ctx.env, [each.project for each in found])
        cells = [
            [
                age(each.time, now),
                short_id(each.id),
                line(called.get(each.project, "-")),
                line(each.session[:8]),
                present.outcome(each, now)[0],
                str(each.heard),
                present.cost(each),
                line(present.did(each)),
            ]
            for each in found
        ]
        headers = ["AGE", "RUN", "PROJECT", "SESSION", "OUTCOME", "HEARD", "COST", "WHAT"]
        out.table(headers, cells, flex=(7, 2), right=(0, 5, 6), notes=[line(each.note) for each in found])

    return Result({"runs": [each.data() for each in found]}, text)


def stop(ctx: Context, _: argparse.Namespace) -> Result:
    """Stop it, also what it reads now."""
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
