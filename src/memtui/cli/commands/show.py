"""`memtui show`: one memory whole, with its links, triggers, deliveries and uses; or what an id of the inbox means."""

import argparse
import os

from memtui.base import clock, findings
from memtui.base.errors import NotFoundError
from memtui.base.phrasing import ago, size
from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, picked, safe, styled
from memtui.client import auto_memory
from memtui.store import scopes
from memtui.store.links import shown
from memtui.store.memory import flat
from memtui.store.status import BY_CLIENT, Row
from memtui.store.triggers import FIELD
from memtui.store.versions import moves
from memtui.views import memories as present
from memtui.views.deliveries import recalls

FACTS_ELSEWHERE = {"name", "type", "description", "title", "originSessionId", FIELD}


@parser.command("""\
show: show one memory, or what an id of the inbox means
  memtui show prefer-pnpm
  memtui show global:editor --raw
  memtui show 7XAD
NAME is a memory's name, its file, scope:name, or a path.
name=NAME|ID |
--raw | the file as it is""")
def show(ctx: Context, args: argparse.Namespace) -> Result:
    """Show one memory; what an id means if there is none of that name."""
    try:
        memory = memories.find(ctx, args.name)
    except NotFoundError as error:
        from memtui.cli import decisions

        if args.raw or ":" in args.name or "/" in args.name:
            raise
        try:
            return decisions.one(ctx, args.name, by_memory=False)
        except NotFoundError as unknown:
            if not unknown.message.startswith(decisions.NOTHING):
                raise unknown from None
            if error.hint == scopes.ALL_LISTED and unknown.hint.startswith("Did you mean"):
                error.hint = unknown.hint
            raise error from None
    scope = scopes.named(ctx.env, ctx.cwd, memory.scope_label)
    rows = memories.rows_of(ctx, scope)
    row = next((each for each in rows if each.memory.path == memory.path), Row(memory, os.path.basename(memory.path)))
    back = [other.memory.stem for other in rows if other.memory.links_to(memory) and other.memory.path != memory.path]
    triggers = memories.MemoryTriggers(ctx, memory) if scope.kind != "instructions" else None
    source = present.source(moves.source(scope, memory, moves.creations(ctx.root)), ctx.now())
    data = {
        **memories.status_data(row),
        **picked(memory, "fields body links notes origin_session"),
        "backlinks": back,
        "origin": source,
        **(triggers.data() if triggers is not None else {}),
    }
    if args.raw:
        raw = memory.raw.decode("utf-8", "backslashreplace")
        return Result({**data, "raw": raw}, lambda out: out.write_bytes(memory.raw))
    now = ctx.now()

    def text(out: Output) -> None:
        out.heading(line(memory.name), f"{line(scope.shown)}  {line(ctx.tilde(memory.path))}")
        facts = [("type", memory.type or "-"), ("description", memory.description or "-")]
        facts += [(key, value) for key, value in flat(memory.fields) if key.rpartition(".")[2] not in FACTS_ELSEWHERE]
        facts.append(("origin", f"session {memory.origin_session}" if memory.origin_session else source))
        facts.append(("changed", f"{ago(memory.changed_at or None, now)}, {size(memory.size)}"))
        if row.deliveries:
            facts.append(("delivered", f"{row.deliveries}×, last {ago(clock.parse(row.last_delivery), now)}"))
        else:
            way = ctx.way_of(memory) if scope.kind == "auto" else auto_memory.LOADED
            facts.append(("delivered", "never" if row.never_delivered(scope) else BY_CLIENT[way]))
        facts += [
            ("recalled", recalls(row.recalls).removeprefix("recalled ") if row.recalls else ""),
            ("used", f"{row.used}×: brought by a prompt, or opened or written by the agent" if row.used else ""),
            *(triggers.facts() if triggers is not None else ()),
            ("links to", ", ".join(map(shown, memory.links))),
            ("linked from", ", ".join(back)),
        ]
        facts = [(line(key), line(value)) for key, value in facts if value]
        out.facts(facts, min(28, max(14, *(len(key) + 2 for key, _ in facts))))
        for flag in row.flags:
            to_fix = findings.problems([flag]) > 0
            style = "red" if to_fix else "dim"
            out.print("  " + styled(f"{'!' if to_fix else '·'} {line(findings.flag(flag))}", style))
        for note in memory.notes:
            out.print("  " + styled(f"! {line(note)}", "yellow"))
        out.print()
        out.print(safe(memory.body.strip("\n")))

    return Result(data, text)
