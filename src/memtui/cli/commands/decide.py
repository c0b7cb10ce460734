"""`memtui approve` and `reject`: say yes, no, or not now to what waits, of any kind, as one step of undo."""

import argparse

from memtui.cli import approvals, decisions, entries, parser
from memtui.cli.approvals import DecisionCall, Done, entries_of
from memtui.cli.context import Context
from memtui.cli.decisions import PROPOSED, DecisionRow, Untrusted
from memtui.cli.output import Output, Result, line, safe
from memtui.core.base import clock
from memtui.core.base.errors import MemtuiError, UsageError
from memtui.core.base.phrasing import many
from memtui.core.base.short_ids import short_id
from memtui.core.base.when import NEVER
from memtui.core.health.problems import Problem
from memtui.core.memories import trusting
from memtui.core.review import changed, later, snoozing
from memtui.core.review.changed import Changed
from memtui.core.review.waiting import Waiting
from memtui.present import changed as changed_words
from memtui.present import dates, drafts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.consolidate.changeset import Proposal

ALL = ("drafts", "changed")
OF_DRAFTS = ("name", "type", "scope", "description", "body", "into", "no_trigger")


def register(commands: "parser.Commands") -> None:
    found = parser.command(
        commands,
        "approve",
        approve,
        "say yes: to a draft, a todo that is done, a change",
        "memtui approve 7XAD\nmemtui approve 7XAD --name use-pnpm --body 'Use pnpm, never npm.'\n"
        "memtui approve 7XAD --into prefer-pnpm\nmemtui approve prefer-pnpm",
        "A draft becomes a memory. A todo is done. A memory that somebody else wrote counts as seen. A merge or a fix"
        " is made, after it was shown. A memory that came with the repository is trusted as it is. `memtui undo` undoes"
        " it. The first or last 4 characters of an ID are enough.",
    )
    _add_arguments(found)
    draft = found.add_argument_group("drafts")
    draft.add_argument("--one-offs", action="store_true", help="with --all: also what looks like a one-off")
    draft.add_argument("--name", help="the memory's name")
    draft.add_argument("--type", help="the memory's type")
    draft.add_argument("--scope", help="where to: project, global, auto, agent:NAME")
    draft.add_argument("--description", help="the memory's description")
    draft.add_argument("--body", metavar="TEXT", help="another text; `-` reads standard input")
    draft.add_argument("--no-trigger", action="store_true", help="without the prompt as a trigger that finds it")
    draft.add_argument("--into", metavar="MEMORY", help="append to an existing memory")
    todo = found.add_argument_group("todos").add_mutually_exclusive_group()
    todo.add_argument("--keep", action="store_true", help="not done yet: keep it whatever the next session does")
    todo.add_argument("--note", action="store_true", help="tell it, or a draft, to the agent with the next prompt")
    found.add_argument("--yes", action="store_true", help="don't ask, and keep secrets in the text")

    found = parser.command(
        commands,
        "reject",
        reject,
        "say no, or not now: --later",
        "memtui reject 7XAD\nmemtui reject --all --never\nmemtui reject 7XAD --later friday\nmemtui reject prefer-pnpm",
        "A draft, a todo or a note that waits is dropped. Of a memory that somebody else wrote, what you saw last is"
        " restored: a new one goes to the trash, a deleted one comes back. A merge or a fix is not proposed again, a"
        " problem or an untrusted memory not listed again. `memtui undo` undoes it.",
    )
    _add_arguments(found)
    how = found.add_mutually_exclusive_group()
    how.add_argument("--never", action="store_true", help="never draft the same words again")
    how.add_argument(
        "--later", metavar="WHEN", help=f"hide it until WHEN: {snoozing.TAKEN}; `memtui inbox --later` lists those"
    )


def _add_arguments(found: "parser.Parser") -> None:
    found.add_argument("ids", nargs="*", metavar="ID|NAME", help="see `memtui inbox`")
    found.add_argument("--all", action="store_true", help="all drafts of this project and the global ones")
    found.add_argument(
        "--kind", choices=ALL, default="drafts", help="with --all: drafts (default), or what others wrote"
    )
    found.add_argument("--all-projects", action="store_true", help="with --all --kind changed: those of all projects")


def approve(ctx: Context, args: argparse.Namespace) -> Result:
    """Approve what is named; one that fails does not stop the others."""
    call = DecisionCall(ctx)
    rows = call.chosen(args, ("draft", "todo"), asleep=False, one_offs=args.one_offs)
    kinds = {row.kind for row in rows}
    other = next((row.kind for row in rows if row.kind != "draft"), "")
    if other and (wrong := next((each for each in OF_DRAFTS if getattr(args, each)), "")):
        kind = decisions.KINDS[other]
        raise UsageError(f"--{wrong.replace('_', '-')} is for drafts, not for {kind}.", "Nothing was changed.")
    if (args.keep and kinds != {"todo"}) or (args.note and kinds - {"todo", "draft"}):
        kind = decisions.KINDS[next(row.kind for row in rows if row.kind != "todo")]
        raise UsageError(f"--{'keep' if args.keep else 'note'} is not for {kind}.", "Nothing was changed.")
    ways = [
        (("draft", "todo") if args.note else ("todo",), lambda mine: _todos(call, args, mine)),
        (("draft",), lambda mine: approvals.approve_drafts(call, args, mine)),
        (("changed",), lambda mine: _keep(call, mine)),
        (PROPOSED, lambda mine: _make(call, args, mine)),
        (("trust",), lambda mine: _trust(call, args, mine)),
        (("problem",), _problems),
    ]
    return call.run(rows, ways[:1] if args.note else ways)


def reject(ctx: Context, args: argparse.Namespace) -> Result:
    """Reject what is named, or put it off."""
    call = DecisionCall(ctx)
    until = None if args.later is None else snoozing.moment(args.later, ctx.now())
    rows = call.chosen(args, ("draft", "todo", "note"), asleep=args.later is not None and until is None, one_offs=True)
    other = next((row.kind for row in rows if row.kind != "draft"), "")
    if args.never and other:
        raise UsageError(
            f"--never is for drafts, not for {decisions.KINDS.get(other, 'notes')}.", "Nothing was changed."
        )
    if args.later is not None:
        return call.run(rows, [((*decisions.KINDS, "note"), lambda mine: _later(call, mine, until))])
    ways = [
        (("draft",), lambda mine: _reject_drafts(call, mine, never=args.never)),
        (("todo", "note"), lambda mine: _drop(call, mine)),
        (("changed",), lambda mine: _take_back(call, mine)),
        (PROPOSED, lambda mine: _never_make(call, mine)),
        (("problem", "trust"), lambda mine: _hide(call, mine)),
    ]
    return call.run(rows, ways)


def _todos(call: DecisionCall, args: argparse.Namespace, rows: "list[DecisionRow]") -> Done:
    """Say that todos are done, keep them, or turn them or drafts into notes."""
    items, review = entries_of(rows), call.review
    action = "note" if args.note else "keep" if args.keep else "done"
    done = {"done": review.done, "keep": review.keep, "note": review.to_guidance}[action](items)
    renamed = entries.new_ids(call.ctx, items) if args.keep else {}
    verb = {"done": "done", "keep": "kept", "note": "now a note"}[action]

    def text(out: Output) -> None:
        for item in items:
            out.print(f"{verb}  {line(item.text)}")
        for was, now in renamed.items():
            entries.say_new_id(out, was, now)

    return {"action": action, "items": [renamed.get(item.id, item.id) for item in items], "transaction": done}, text


def _keep(call: DecisionCall, rows: "list[DecisionRow]") -> Done:
    """Record that a person has seen what somebody else wrote."""
    items = [row.thing for row in rows if isinstance(row.thing, Changed)]
    changed.keep(call.journal, call.ctx.versions, items)
    untrusted = changed.untrusted(call.ctx.root, items)

    def text(out: Output) -> None:
        out.print(line(changed_words.done("keep", items)))
        if untrusted:
            out.say(f"note: {line(changed_words.not_trusted(untrusted))}: memtui trust")

    return {"kept": [item.key for item in items], "untrusted": [item.key for item in untrusted]}, text


def _make(call: DecisionCall, args: argparse.Namespace, rows: "list[DecisionRow]") -> Done:
    from memtui.cli.show import proposals

    made = proposals.accept(call.ctx, call.store, _proposals(rows), yes=args.yes)
    call.bulk.code = made.code
    call.undecided += 0 if made.changed else len(rows)
    return made.data, made.text


def _never_make(call: DecisionCall, rows: "list[DecisionRow]") -> Done:
    from memtui.cli.show import proposals

    made = proposals.reject(call.store, _proposals(rows))
    call.undecided += 0 if made.changed else len(rows)
    return made.data, made.text


def _proposals(rows: "list[DecisionRow]") -> "list[Proposal]":
    from memtui.consolidate.proposed import Undecided

    return [row.thing.proposal for row in rows if isinstance(row.thing, Undecided)]


def _trust(call: DecisionCall, args: argparse.Namespace, rows: "list[DecisionRow]") -> Done:
    """Trust memories as they are, after they were shown."""
    ctx, found = call.ctx, [row.thing for row in rows if isinstance(row.thing, Untrusted)]
    if not args.yes:
        for each in [] if ctx.out.json else found:
            ctx.out.heading(line(each.memory.ref))
            ctx.out.print(safe(each.memory.raw.decode("utf-8", "replace").rstrip("\n")))
        ctx.confirm(f"Trust {many(len(found), 'memory', 'memories')} as shown?", "Nothing was trusted.")
    for each in found:
        edit = trusting.plan(ctx.root, each.directory, [(each.file, each.memory.raw)])
        if not edit.idle:
            call.journal.run("trust", [edit], f"trust {each.file}")

    def text(out: Output) -> None:
        for each in found:
            out.print(f"trusted  {line(each.memory.ref)}")

    return {"trusted": [each.memory.path for each in found]}, text


def _problems(rows: "list[DecisionRow]") -> Done:
    """Say that no approval solves a problem, and what does. Raises MemtuiError."""
    found = rows[0].thing
    remedy = found.remedy if isinstance(found, Problem) else ""
    raise MemtuiError(f"{short_id(rows[0].id)} is a problem that you solve yourself: {rows[0].says}", remedy)


def _reject_drafts(call: DecisionCall, rows: "list[DecisionRow]", *, never: bool) -> Done:
    items = entries_of(rows)
    done = call.review.reject(items, never=never)

    def text(out: Output) -> None:
        _name_each(out, "rejected", items)
        if never or out.tty or len(items) > 1:  # else one was named above
            out.say(drafts.decided("never" if never else "reject", items))

    return {"rejected": [item.id for item in items], "never": never, "transaction": done}, text


def _name_each(out: Output, verb: str, items: "list[Waiting]") -> None:
    """Name drafts that were decided; in a terminal one is named by the sentence below."""
    for item in items if len(items) > 1 or not out.tty else ():
        out.print(f"{verb}  {short_id(item.id)}  {drafts.title(item)}")


def _drop(call: DecisionCall, rows: "list[DecisionRow]") -> Done:
    """Remove todos or notes that wait."""
    items = entries_of(rows)
    done = call.review.withdraw(items)

    def text(out: Output) -> None:
        for item in items:
            out.print(f"dropped  {line(item.text)}")

    return {"dropped": [item.id for item in items], "transaction": done}, text


def _take_back(call: DecisionCall, rows: "list[DecisionRow]") -> Done:
    """Restore what the person saw last; one that fails does not stop the others."""
    items = [row.thing for row in rows if isinstance(row.thing, Changed)]
    outcome = changed.take_back(call.store, call.ctx.versions, items)
    if len(items) == 1 and outcome.failed:
        raise outcome.failed[0][1]
    done = [item for item, _ in outcome.done]
    call.bulk.failed += changed_words.failures(outcome.failed)
    call.undecided += len(outcome.failed)

    def text(out: Output) -> None:
        if done:
            out.print(line(changed_words.done("take back", done)))

    return {"taken_back": [item.key for item in done]}, text


def _hide(call: DecisionCall, rows: "list[DecisionRow]") -> Done:
    """Never list these again."""
    what = f"“{rows[0].says[:60]}”" if len(rows) == 1 else many(len(rows), "entry", "entries")
    step = later.step(rows[0].says[:60] if len(rows) == 1 else what, NEVER)
    later.hide(call.journal, [row.later_key for row in rows], NEVER, step)

    def text(out: Output) -> None:
        out.print(f"Not listed again: {line(what)}.")

    return {"hidden": [row.id for row in rows]}, text


def _later(call: DecisionCall, rows: "list[DecisionRow]", until: "float | None") -> Done:
    """Hide things of any kind until a time, or bring them back."""
    items, now = entries_of(rows), call.ctx.now()
    if notes := [item for item in items if item.kind == "guidance"]:
        raise UsageError(f"{short_id(notes[0].id)} is a note, which is for the agent.", "Nothing was changed.")
    others = [row.later_key for row in rows if not isinstance(row.thing, Waiting)]
    if items:
        call.review.snooze(items, until)
    if others:
        later.hide(call.journal, others, until, later.step(many(len(others), "entry", "entries"), until))

    def text(out: Output) -> None:
        state = "back" if until is None else f"until {dates.day_and_time(until, now)}"
        for row in rows:
            out.print(f"{state}  {short_id(row.id)}  {line(row.says)[: drafts.TITLE_SHOWN]}")

    return {"later": [row.id for row in rows], "until": None if until is None else clock.iso_seconds(until)}, text
