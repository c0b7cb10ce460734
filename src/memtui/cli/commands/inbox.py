"""`memtui inbox`: list what waits for a decision, or show one thing whole."""

import argparse

from memtui.base import dates
from memtui.base.phrasing import age, many
from memtui.base.short_ids import short_id
from memtui.cli import decisions, parser
from memtui.cli.context import Context
from memtui.cli.decisions import KINDS, Decisions
from memtui.cli.output import Result, line, styled
from memtui.inbox.format import NOUNS
from memtui.settings import config
from memtui.views import changes, drafts, notes

LIMIT = 200


KIND_OF = {kind: plural for plural, kind in KINDS.items()}


@parser.command(
    f"""\
inbox: what waits for a decision: drafts, changes, problems
  memtui inbox
  memtui inbox 7XAD
  memtui inbox --kind drafts --all-projects
  memtui inbox --later
It lists what the Inbox of the TUI lists. `memtui note --list` lists the notes for the agent.
id=[ID|NAME] | show this one whole, and where it comes from
--kind KIND | only these: {", ".join(KINDS)}
--later | what you hid until later
--all-projects | also the inboxes of all other projects
--limit N={LIMIT} | rows, default: {LIMIT}, 0: all""",
    {"kind": {"type": lambda word: KIND_OF.get(word, word), "choices": list(KINDS)}},
)
def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List what waits, or show one thing. Drafts that look like one-offs are counted unless drafts are asked for."""
    if args.id:
        return decisions.one(ctx, args.id)
    choices = Decisions(ctx, every=args.all_projects)
    kinds = tuple(KINDS.values()) if args.kind is None else (KINDS[args.kind],)
    every = choices.read(kinds)
    hidden = [row for row in every if row.until is not None]
    rows = hidden if args.later else [row for row in every if row.until is None]
    count = len(rows)
    one_offs = [row for row in rows if args.kind is None and not args.later and row.is_one_off]
    rows = [row for row in rows if row not in one_offs]
    decision_rows = rows[: args.limit or None]
    now = ctx.now()
    others = [item for item in choices.entries if NOUNS[item.kind] in kinds and not choices.near(item)]
    elsewhere = sum(not item.entry.snoozed(now) for item in others)
    gate_hides = ctx.count_hidden() if args.kind in {None, "changed"} else 0
    notes = sum(item.kind == "guidance" and choices.near(item) for item in choices.entries)
    untils = [row.until for row in hidden if row.until is not None]
    data = {
        "project": ctx.project_root,
        "count": count,
        "entries": [decisions.as_data(ctx, row) for row in decision_rows] if ctx.out.json else [],
        "more": len(rows) - len(decision_rows),
        "one_offs": len(one_offs),
        "later": len(hidden),
        "elsewhere": elsewhere,
        "notes": notes,
        "hidden_by_gate": gate_hides,
        "unread": choices.unread,
    }
    if args.later and not decision_rows:
        return Result(data, "Nothing is for later. memtui reject ID --later friday hides something until then.")
    command = f"memtui inbox --kind {args.kind}" if args.kind else "memtui inbox"
    rest = [
        f"{data['more']:,} more: {command} --limit 0" if data["more"] else "",
        f"{drafts.one_offs(len(one_offs))}: memtui inbox --kind drafts" if one_offs else "",
        f"{drafts.waiting(untils, now)}: {command} --later" if hidden and not args.later else "",
        f"{elsewhere} more in other projects: {command} --all-projects" if elsewhere and not args.later else "",
        f"{many(notes, 'note')} for the agent: memtui note --list" if notes and args.kind is None else "",
    ]
    if gate_hides:
        rest += changes.gate_off(gate_hides, own=config.is_own(ctx.settings(), ctx.project_root, "gate"))
    if not decision_rows:
        nothing = "Nothing of this kind waits here: memtui inbox lists all kinds."
        return Result(data, nothing if args.kind else _nothing(ctx), *rest)
    cells = [
        [
            (row.kind.word, row.kind.style),
            (short_id(row.id), "cyan"),
            (dates.day(row.until, now) if row.until is not None else age(row.time, now) if row.time else "", "dim"),
            (line(row.place), "dim"),
            line(row.says),
        ]
        for row in decision_rows
    ]
    headers = ["KIND", "ID", "UNTIL" if args.later else "AGE", "WHERE", "WHAT"]
    ways = ("See one: memtui inbox ID", "Yes: memtui approve ID", "No: memtui reject ID")
    when = "Back: memtui reject ID --later now" if args.later else "Not now: memtui reject ID --later friday"
    return Result(
        data,
        styled(f"{count:,} {'for later' if args.later else 'to decide'}", "bold"),
        lambda out: out.table(headers, cells, flex=(4, 3), right=(2,)),
        *rest,
        lambda out: out.section(),
        lambda out: out.phrases([(phrase, "dim") for phrase in (*ways, when)]),
    )


def _nothing(ctx: Context) -> str:
    from memtui.learn.backfill import progress

    earlier, why = progress.unread(ctx.root, ctx.config_dir), ctx.unheard()
    lines = ["Nothing waits for a decision here."]
    lines += [f"memtui import sessions reads your {many(earlier, 'earlier session')} for drafts."] if earlier else []
    lines.append(notes.at_prompt(why) if why else "A draft comes here when you correct Claude.")
    return "\n  ".join([*lines, 'Write a note: memtui note "…"'])
