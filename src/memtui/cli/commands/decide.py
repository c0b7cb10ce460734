"""`memtui inbox`, `approve` and `reject`: what waits, and yes, no, or not now to it, as one step of undo."""

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from memtui.base import clock_hot, dates, ids_hot
from memtui.base.dates import NEVER
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError, UsageError
from memtui.base.phrasing_hot import age, cut, it, many
from memtui.base.shell import shell_word
from memtui.base.short_ids import short_id
from memtui.cli import decisions, memories, parser
from memtui.cli.context import Context
from memtui.cli.decisions import KINDS, PROPOSED, Decisions, make_proposals, name_taken, print_row
from memtui.cli.output import Output, Printer, Result, line, narrate, safe, styled
from memtui.inbox.format_hot import NOUNS
from memtui.review import approvals as approving
from memtui.review import outside_changes
from memtui.review.approvals import Approval, Choices, Draft
from memtui.review.waiting_entries import TAKEN, Waiting, hidden_until, hide, hiding_step
from memtui.rules import rule_lines
from memtui.rules.proposal_evidence import ProposedRule
from memtui.store import scopes, triggers
from memtui.store.journal import acts
from memtui.views import changes, drafts, notes, rules
from memtui.views.decisions import NOTE, Decision, ProblemRow, ProposedRow, TrustRow
from memtui.views.memories import loader

OF_DRAFTS = ("name", "type", "scope", "description", "body", "no_trigger", "rule", "no_rules")
TRUST = "Trust {} as shown?"
DECLINED = "Nothing was approved."
LIMIT = 200  # rows of the inbox
COUNT_SECONDS = 10.0  # for which past sessions are read for the rules of drafts
KIND_OF = {kind: plural for plural, kind in KINDS.items()}


class DecisionCall:
    """One call of approve or reject. All that it does, through whichever journal, is one step of undo."""

    def __init__(self, ctx: Context, args: argparse.Namespace) -> None:
        if bool(args.ids) == bool(args.all):
            raise UsageError("Give one or more IDs or NAMEs, or --all.", "`memtui inbox` lists them.")
        self.ctx, self.args = ctx, args
        self.bulk = memories.BulkResult()
        self.review, self.store = ctx.review(), ctx.store()
        self.journal = self.store.journal
        self.rows: list[Decision] = []
        self.rejected = acts.done("reject") + (" for good" if vars(args).get("never") else "")
        self.decided: list[str] = []  # ids
        self.data: dict[str, object] = {}
        self.text: list[str | Printer] = []

    def choose(self, kinds: "tuple[str, ...]", *, asleep: bool = False) -> None:
        """Choose what the arguments name, or all drafts (`asleep`: the hidden ones). Raises MemtuiError."""
        decisions = Decisions(self.ctx, decide=True)
        if not self.args.all:
            rows = self.bulk.run(self.store, self.args.ids, lambda ref: decisions.find(ref, kinds))
            self.rows = list({row.key: row for row in rows}.values())
            return
        rows = [row for row in decisions.read(("draft",)) if (row.until is not None) == asleep]
        self.rows = [row for row in rows if asleep or self.args.one_offs or not row.is_one_off]
        if folded := len(rows) - len(self.rows):
            self.ctx.out.say(f"{drafts.one_offs(folded)}: left in the inbox; --one-offs takes {it(folded)} too")
        if not self.rows:
            raise NotFoundError(f"There are no {'hidden ' if asleep else 'other ' if folded else ''}drafts.")

    def refuse(self, options: "Sequence[str]", kinds: "set[str]") -> None:
        """Raise UsageError if one of these options is given and something else than `kinds` is chosen."""
        option = next((option for option in options if getattr(self.args, option)), "")
        other = next((row.kind for row in self.rows if row.kind.word not in kinds), None)
        if option and other:
            raise UsageError(f"--{option.replace('_', '-')} is not for {other.option}.", "Nothing was changed.")

    def run(self, ways: "Sequence[tuple[tuple[str, ...], Callable[[DecisionCall, list[Decision]], None]]]") -> Result:
        """Decide about the rows of each kind by its way; what one way can't do does not stop the others."""
        chosen = [(way, mine) for kinds, way in ways if (mine := [row for row in self.rows if row.kind.word in kinds])]
        group = ids_hot.new_id(self.ctx.now())
        for way, mine in chosen:
            names = [row.id for row in mine]
            try:
                with self.journal.together(group, names), self.review.journal.together(group, names):
                    way(self, mine)
            except MemtuiError as error:
                if len(chosen) == 1 and not self.bulk.failed:
                    raise
                self.fail(mine, error)
        return self.bulk.result({"decided": self.decided, **self.data}, *self.text, memories.undo(len(self.decided)))

    def done(self, rows: "Sequence[Decision]", word: str, *text: "str | Printer", **data: object) -> None:
        """Note what was done with some rows, each printed with the word, if any; what else to print, and for --json."""
        self.decided += [row.id for row in rows]
        self.data |= data
        if word:
            self.text += [f"{word}  {short_id(row.id)}  {line(row.says)}" for row in rows]
        self.text += text

    def fail(self, rows: "Sequence[Decision]", error: MemtuiError) -> None:
        names = [short_id(row.id) for row in rows]
        self.bulk.failed += [{"name": name, "message": error.message, "hint": error.hint} for name in names]


def _items(rows: "list[Decision]") -> "list[Waiting]":
    return [row.item for row in rows if row.item is not None]


@parser.command("approve")
def approve(ctx: Context, args: argparse.Namespace) -> Result:
    """Approve what is named; one that fails does not stop the others."""
    call = DecisionCall(ctx, args)
    call.choose(("draft", "todo"))
    call.refuse(OF_DRAFTS, {"draft"})
    # Proposals come before drafts, whose lines in MEMORY.md fixes were not planned with.
    ways = [(("todo",), _todos), (("changed",), _keep), (PROPOSED, _make), (("draft",), _approve_drafts)]
    return call.run([*ways, (("trust",), _trust), (("problem",), _problems)])


def _todos(call: DecisionCall, rows: "list[Decision]") -> None:
    call.review.done(_items(rows))
    call.done(rows, acts.done("done"))


def _approve_drafts(call: DecisionCall, rows: "list[Decision]") -> None:
    ctx, args, items = call.ctx, call.args, _items(rows)
    if len(items) > 1 and (args.name or args.description or args.body is not None or args.rule):
        raise UsageError("--name, --description, --body and --rule work on one draft only.", "Nothing was changed.")
    call.store.shared = args.yes
    checks: dict[str, list[ProposedRule]] = {}  # by the id of a draft
    outcomes = _create(call, items, checks)
    approvals: list[tuple[Decision, Approval]] = []
    for row, approval in zip(rows, outcomes, strict=True):
        if approval.error is None:
            approvals.append((row, approval))
        elif len(rows) == 1:
            raise approval.error
        else:
            call.fail([row], approval.error)
    facts = [_written(ctx, approval, trigger=not args.no_trigger) for _, approval in approvals]
    for (row, _), data in zip(approvals, facts, strict=True):
        data["checks"] = [rules.proposed_data(rule) for rule in checks.get(row.id, ()) if rule.opportunities]
    why = notes.unheard(ctx.unheard([approval.memory.scope_label for _, approval in approvals if approval.memory]))

    def text(out: Output) -> None:
        for (_, other), data in zip(approvals, facts, strict=True):
            assert other.memory is not None
            out.print(memories.written(ctx, acts.done("approve"), other.memory))
            if data["loaded_by"]:
                out.print("  " + styled(f"{data['loaded_by']}.", "dim"))
            for piece in safe(data["text"]).rstrip("\n").split("\n"):
                out.print(("  │ " + piece).rstrip())
            out.parts(drafts.checks(proposed := checks.get(other.item.id, ())), "  ")
            if unsaved := [str(one.rule) for one in proposed if not one.opportunities]:
                out.print(f"  save it: memtui edit {shell_word(other.memory.stem)} --rule {shell_word(unsaved[0])}")
            if data["trigger"]:
                out.print(f"  trigger  “{line(data['trigger'])}”")
            elif (request := other.item.entry.fields.get("request", "")) and not args.no_trigger:
                out.print(f"  trigger  “{line(request)}” {triggers.LEFT_OUT}")

    note = narrate(f"note: {why['why']}, so no session gets it yet: {why['do']}" if why and approvals else "")
    call.done([row for row, _ in approvals], "", text, note, approved=facts, unheard=why)


def _create(call: DecisionCall, items: "list[Waiting]", checks: "dict[str, list[ProposedRule]]") -> "list[Approval]":
    args = call.args
    body = None if args.body is None else parser.body_text(args.body)
    texts = (args.name or "", args.type or "", args.scope or "", args.description or "")
    choices = Choices(*texts, body, "" if args.no_trigger else None)
    proposed: dict[str, Draft] = {}
    outcomes: dict[str, Approval] = {}
    go_on = lambda: call.ctx.out.progress("Looking at the sessions of the last 30 days … Ctrl-C stops it.")
    for item in items:
        try:
            if not (args.rule or args.no_rules):
                seconds = COUNT_SECONDS / len(items)
                checks[item.id] = approving.proposed_rules(call.store, item, choices, seconds, go_on)
            shown = [proposed.rule for proposed in checks.get(item.id, ()) if proposed.opportunities]
            lines = args.rule or [rule_lines.line(rule) for rule in shown]
            one = approving.propose(call.store, item, choices._replace(rules="; ".join(lines)))
            text, _ = call.ctx.checked(one.data.decode("utf-8", "surrogateescape"), yes=args.yes, declined=DECLINED)
            proposed[item.key] = replace(one, data=text.encode("utf-8", "surrogateescape"))
        except MemtuiError as error:
            outcomes[item.key] = Approval(item, None, error)
    call.ctx.out.progress("")
    for approval in approving.approve_all(call.journal, list(proposed.values())):
        one = proposed[approval.item.key]
        conflict = isinstance(approval.error, ConflictError) and one.taken
        outcomes[approval.item.key] = approval._replace(error=name_taken(one)) if conflict else approval
    return [outcomes[item.key] for item in items]


def _written(ctx: Context, approval: Approval, *, trigger: bool) -> "dict[str, Any]":
    memory, item = approval.memory, approval.item
    assert memory is not None
    request = item.entry.fields.get("request", "")
    of_scope = partial(scopes.memories, ctx.store().scope(memory.scope_label))
    project = ""
    if item.slug not in {None, ctx.slug}:
        project = line(os.path.basename(approving.project_of(item).rstrip("/")) or item.slug or "")
    own = request if trigger and not triggers.is_everywhere(request, of_scope) else ""
    data = {"id": item.id, "scope": memory.scope_label, "name": memory.stem, "path": memory.path}
    data |= {"text": memory.raw.decode("utf-8", "replace"), "trigger": own}
    return data | {"loaded_by": loader(memory.scope_label, project, ctx.way_of(memory))}


def _keep(call: DecisionCall, rows: "list[Decision]") -> None:
    """Record that a person has seen what somebody else wrote; trust what sessions get only then, once shown."""
    items = [row.changed for row in rows if row.changed is not None]
    trusted = outside_changes.undelivered(call.ctx.root, items)
    if trusted and not call.args.yes:
        _show(call.ctx, [row for row in rows if row.changed in trusted])
        call.ctx.confirm(TRUST.format(many(len(trusted), "memory", "memories")), "Nothing was kept.")
    outside_changes.keep(call.journal, call.ctx.versions, items)
    keys = [item.key for item in items]
    call.done(rows, acts.done("keep"), kept=keys, trusted=[item.key for item in trusted])


def _show(ctx: Context, rows: "Sequence[Decision]", *, back: bool = False) -> None:
    for row in [] if ctx.out.json else rows:
        print_row(ctx, ctx.out, row, back=back)


def _make(call: DecisionCall, rows: "list[Decision]") -> None:
    plans = [row.proposal for row in rows if isinstance(row, ProposedRow)]
    data, text, call.bulk.code = make_proposals(call.ctx, call.store, plans, yes=call.args.yes)
    call.done(rows if data["undo"] else [], "", *text, **data)


def _trust(call: DecisionCall, rows: "list[Decision]") -> None:
    ctx, untrusted = call.ctx, [row.untrusted for row in rows if isinstance(row, TrustRow)]
    if not call.args.yes:
        _show(ctx, rows)
        ctx.confirm(TRUST.format(many(len(untrusted), "memory", "memories")), "Nothing was trusted.")
    outside_changes.grant(call.journal, untrusted)
    call.done(rows, acts.done("trust"))


def _problems(_: DecisionCall, rows: "list[Decision]") -> None:
    """Say that no approval solves a problem, and what does. Raises MemtuiError."""
    remedy = rows[0].problem.remedy if isinstance(rows[0], ProblemRow) else ""
    raise MemtuiError(f"{short_id(rows[0].id)} is a problem that you solve yourself: {rows[0].says}", remedy)


@parser.command("reject", days=TAKEN)
def reject(ctx: Context, args: argparse.Namespace) -> Result:
    until = None if args.later is None else hidden_until(args.later, ctx.now())
    call = DecisionCall(ctx, args)
    call.choose(("draft", "todo", "note"), asleep=args.later is not None and until is None)
    call.refuse(["never"], {"draft", *PROPOSED})
    call.refuse(["later"], {*KINDS.values()})
    if args.later is not None:
        return call.run([((*KINDS.values(),), lambda _, mine: _later(call, mine, until))])
    hide_for_good = lambda _, mine: _later(call, mine, NEVER)
    ways = [(("draft", "todo"), _reject_entries), (("note",), _reject_entries), (("changed",), _reject_changes)]
    return call.run([*ways, (PROPOSED, _reject_proposed), (("problem", "trust"), hide_for_good)])


def _reject_entries(call: DecisionCall, rows: "list[Decision]") -> None:
    if rows[0].kind is NOTE:
        call.review.withdraw(_items(rows))
        call.done(rows, acts.done("withdraw"))
    else:
        call.review.reject(_items(rows), never=call.args.never)
        call.done(rows, call.rejected)


def _reject_changes(call: DecisionCall, rows: "list[Decision]") -> None:
    """Restore what the person saw last, after it was shown; one that fails does not stop the others."""
    _show(call.ctx, rows, back=True)
    memories_changed = [row.changed for row in rows if row.changed is not None]
    outcome = outside_changes.reject(call.store, call.ctx.versions, memories_changed)
    if len(rows) == 1 and outcome.failed:
        raise outcome.failed[0][1]
    call.bulk.failed += changes.failures(outcome.failed)
    rejected = [item for item, _ in outcome.done]
    call.done([row for row in rows if row.changed in rejected], acts.done("reject"))


def _reject_proposed(call: DecisionCall, rows: "list[Decision]") -> None:
    from memtui.tidy import waiting_proposals

    plans = [row.proposal for row in rows if isinstance(row, ProposedRow)]
    has_changed = waiting_proposals.reject(call.store, plans, never=call.args.never)
    until = "Not proposed while the memories stay as they are. For good: memtui undo, then reject it --never."
    why = ("" if call.args.never else until) if has_changed else "They were rejected before."
    call.done(rows if has_changed else [], call.rejected, narrate(why))


def _later(call: DecisionCall, rows: "list[Decision]", until: "float | None") -> None:
    items, others = _items(rows), [row for row in rows if row.item is None]
    if items:
        call.review.snooze(items, until)
    if others:
        what = f"“{cut(others[0].says, 60)}”" if len(others) == 1 else many(len(others), "entry", "entries")
        hide(call.journal, [row.later_key for row in others], until, hiding_step(what, until, call.ctx.now()))
    if until == NEVER:
        call.done(rows, acts.done("reject"))
        return
    word = "back" if until is None else f"{acts.done('snooze')}, until {dates.day_and_time(until, call.ctx.now())}"
    call.done(rows, word, until=None if until is None else clock_hot.iso_seconds(until))


@parser.command(
    "inbox",
    {"kind": {"type": lambda word: KIND_OF.get(word, word), "choices": list(KINDS)}},
    kinds=", ".join(KINDS),
    limit=LIMIT,
)
def inbox(ctx: Context, args: argparse.Namespace) -> Result:
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
    untils = [row.until for row in hidden if row.until is not None]
    entries = [decisions.as_data(ctx, row) for row in decision_rows] if ctx.out.json else []
    data = {"project": ctx.project_root, "count": count, "entries": entries, "more": len(rows) - len(decision_rows)}
    data |= {"one_offs": len(one_offs), "later": len(hidden), "elsewhere": elsewhere, "unread": choices.unread}
    if args.later and not decision_rows:
        return Result(data, "Nothing is for later. memtui reject ID --later friday hides something until then.")
    command = f"memtui inbox --kind {args.kind}" if args.kind else "memtui inbox"
    rest = [
        f"{data['more']:,} more: {command} --limit 0" if data["more"] else "",
        f"{drafts.one_offs(len(one_offs))}: memtui inbox --kind drafts" if one_offs else "",
        f"{drafts.waiting(untils, now)}: {command} --later" if hidden and not args.later else "",
        f"{elsewhere} more in other projects: {command} --all-projects" if elsewhere and not args.later else "",
    ]
    if args.kind in {None, "changed"}:
        rest += changes.gate_off(ctx) or ()
    if not decision_rows:
        nothing = "Nothing of this kind waits here: memtui inbox lists all kinds."
        return Result(data, nothing if args.kind else _nothing_waits(ctx), *rest)
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


def _nothing_waits(ctx: Context) -> str:
    from memtui.learn.backfill import progress

    earlier, why = progress.unread(ctx.root, ctx.env), ctx.unheard()
    lines = ["Nothing waits for a decision here."]
    lines += [f"memtui import sessions reads your {many(earlier, 'earlier session')} for drafts."] if earlier else []
    lines.append(notes.at_prompt(why) if why else "A draft comes here when you correct Claude.")
    return "\n  ".join([*lines, 'Write a note: memtui note "…"'])
