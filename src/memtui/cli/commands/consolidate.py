"""`memtui consolidate`: propose merges, fixes and removals of memories, and make those that a person accepts."""

import argparse
import os

from memtui.cli import memories, parser, secret
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import changes, diff
from memtui.consolidate import applying, changeset, coverage, lint, plan, plan_file, rejected
from memtui.consolidate.applying import Applied
from memtui.consolidate.changeset import ChangeSet, Proposal
from memtui.consolidate.composing import Composition, FileDiff, Refused, savings
from memtui.consolidate.coverage import Coverage, Covered
from memtui.consolidate.files import MemoryFiles
from memtui.consolidate.plan_file import Decisions
from memtui.consolidate.rejected import Rejected
from memtui.core.base.errors import EXIT_CONFLICT, UsageError
from memtui.core.base.phrasing import many
from memtui.core.base.shell import shell_word
from memtui.core.base.short_ids import short_id
from memtui.core.memories import apart
from memtui.core.memories.store import Store
from memtui.core.places import locate
from memtui.present import changesets

DECLINED = "Nothing was changed."


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "consolidate",
        run,
        "propose merges, fixes and removals of memories, and make those that you accept",
        "memtui consolidate\nmemtui consolidate --accept 3f2a9c 77b1d0\nmemtui consolidate --safe\n"
        "memtui consolidate --plan plan.json\nmemtui consolidate --apply plan.json\nmemtui consolidate --applied",
        "Nothing is written before you accept it. What is made is one step: memtui undo undoes it. A plan file can be "
        "reviewed anywhere: set “decision” to accepted or rejected, or use --plan FILE --accept ID.",
    )
    file = found.add_mutually_exclusive_group()
    file.add_argument("--plan", metavar="FILE", help="write the proposals to a file; decisions in it are kept")
    file.add_argument("--apply", metavar="FILE", help="make the changes that are accepted in a file")
    file.add_argument("--applied", action="store_true", help="list what was made, newest first, with the ID for undo")
    found.add_argument("--accept", nargs="+", metavar="ID", default=[], help="accept changes")
    found.add_argument(
        "--reject",
        nargs="+",
        metavar="ID",
        default=[],
        help="reject changes for good: they are not proposed again; memories of a merge are kept apart",
    )
    found.add_argument("--all", action="store_true", help="accept all that are open")
    found.add_argument("--safe", action="store_true", help="accept what lint fixes by itself")
    found.add_argument("--scope", help="only changes to files of this scope")
    found.add_argument("--yes", action="store_true", help="don't ask")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Show the plan, write it, or make what is accepted."""
    if args.applied:
        if args.accept or args.reject or args.all or args.safe or args.scope:
            raise UsageError("--applied only lists what was made.", "Undo one: memtui undo ID.")
        return _history(ctx)
    if args.apply and args.scope:
        raise UsageError("--scope is for a new plan.", "A file has its own changes: accept some of them.")
    if args.plan:
        plan_file.must_have_place(os.path.abspath(args.plan))
    store = ctx.store()
    files = MemoryFiles(store)
    found = plan_file.read(os.path.abspath(args.apply), files) if args.apply else _planned(ctx, store, args.scope)
    if args.plan and os.path.exists(os.path.abspath(args.plan)):
        found = plan_file.with_earlier(found, plan_file.read(os.path.abspath(args.plan), files))
    accept = [*args.accept, *(each.id for each in found.proposals if args.safe and _is_open_and_safe(each))]
    before = {each.id: each for each in found.proposals}
    found = plan_file.decide(found, Decisions(tuple(accept), tuple(args.reject), args.all))
    if args.plan:
        return _write(ctx, os.path.abspath(args.plan), found)
    if args.apply or found.accepted or args.reject or args.all or args.safe:
        _confirm(ctx, store, found, yes=args.yes)
        with store.journal.together():
            covered = {each.id: coverage.of_proposal(files.filled(each)) for each in found.accepted}  # while they are
            done = applying.apply(store, found)
            if args.apply and (accept or args.all):  # what is decided is not asked about again
                # What is rejected is written to the file in the step that undo undoes.
                same = {each.id: before[each.id] for each in found.proposals if each.decision == "rejected"}
                plan_file.write(os.path.abspath(args.apply), found.replaced(same))
            dropped = _reject(store, found, os.path.abspath(args.apply) if args.apply else "")
        known = [of for each in done.made if (of := covered[each.id]) is not None]
        return _applied(done, dropped, known, all_open=args.all)
    return _show(files, found)


def _reject(store: Store, found: ChangeSet, file: str) -> Rejected:
    those = [each for each in found.proposals if each.decision == "rejected"]
    return rejected.reject(store, those, f"reject {changesets.named(those)}", [file] if file and those else [])


def _planned(ctx: Context, store: Store, label: "str | None") -> ChangeSet:
    subject = lint.here(ctx.env, ctx.cwd, ctx.root, ctx.now(), ctx.usage, apart.load(ctx.root))
    if label is None:
        return rejected.without(plan.plan(store, subject).changes, ctx.root)
    chosen = [each for each in memories.chosen_scopes(ctx, label) if each.kind != "instructions"]
    found = plan.plan(store, subject.with_scopes(chosen)).changes
    return rejected.without(plan.within(found, chosen), ctx.root)


def _is_open_and_safe(found: Proposal) -> bool:
    return found.decision == "open" and plan.is_safe(found)


def _history(ctx: Context) -> Result:
    """List the ChangeSets that were applied, newest first."""
    ctx.must_have_home()
    ledger = ctx.journal().ledger()
    found, undoable = applying.history(ledger.changes()), set(ledger.undoable)
    data = {"applied": [{**changes.as_row(each), "undoable": each.id in undoable} for each in found]}

    def text(out: Output) -> None:
        if not found:
            out.paragraph(changesets.NONE_APPLIED)
            return
        changes.table(ctx, out, found)
        if undoable & {each.id for each in found}:
            out.say("Undo one: memtui undo ID")

    return Result(data, text)


# Showing


def _show(files: MemoryFiles, found: ChangeSet) -> Result:
    rows = [(each, Composition(files, [each])) for each in found.proposals]
    whole = Composition(files, found.proposals)
    data = {
        "changes": [_row(files, *row) for row in rows],
        "saved": savings(whole.diffs())._asdict(),
    }

    def text(out: Output) -> None:
        if not rows:
            out.print("There is nothing to consolidate.")
            return
        for each, composition in rows:
            _print_change(out, files, each, composition)
        out.section()
        out.print(f"{many(len(rows), 'change')} proposed. {changesets.saved(savings(whole.diffs()))}".rstrip())
        out.say("Accept: memtui consolidate --accept ID…   Review in a file: memtui consolidate --plan plan.json")

    return Result(data, text)


def _row(files: MemoryFiles, found: Proposal, composition: Composition) -> "dict[str, object]":
    covered = coverage.of_proposal(files.filled(found))
    counted = (
        {}
        if covered is None
        else {"reworded": list(map(_reworded, covered.of("reworded"))), "kept": len(covered.of("kept"))}
    )
    return {
        "id": found.id,
        "kind": found.kind,
        "title": changeset.title(found),
        "decision": found.decision,
        "reason": found.reason,
        "score": max((each.score for each in found.evidence if each.score is not None), default=None),
        "codes": sorted({each.code for each in found.evidence}),
        "safe": plan.is_safe(found),
        "files": [_file(each) for each in composition.diffs()],
        "dropped": [{"path": each.statement.path, "text": each.statement.text} for each in covered.dropped]
        if covered is not None
        else None,
        "added": changesets.added(found),
        **counted,
        "refused": next(iter(map(_refusal, composition.refused)), None),
    }


def _reworded(found: Covered) -> "dict[str, str]":
    return {"path": found.statement.path, "text": found.statement.text, "as": found.targets[0].text}


def _file(found: FileDiff) -> "dict[str, object]":
    return {
        "path": found.path,
        "gone": found.after is None,
        "new": found.before is None,
        "repaired": found.repaired,
        "diff": "\n".join(diff.lines(found.before or b"", found.after or b"")),
    }


def _refusal(found: Refused) -> "dict[str, object]":
    return {"id": found.proposal.id, "reason": found.reason, "path": found.path, "message": found.error.message}


def _print_change(out: Output, files: MemoryFiles, found: Proposal, composition: Composition) -> None:
    out.section()
    decision = changesets.DECISIONS[found.decision]
    out.heading(f"{short_id(found.id)}  {line(changeset.title(found))}", decision)
    if found.reason:
        out.paragraph(found.reason, "  ")
    covered = coverage.of_proposal(files.filled(found))
    if covered is not None:
        for statement in changesets.dropped(covered):
            out.paragraph(out.style(f"drops {line(statement)}", "yellow"), "  ")
        for statement in changesets.reworded(covered):
            out.paragraph(f"says {line(statement)}", "  ")
        for words in changesets.fields(covered):
            out.paragraph(line(words), "  ")
        for words in changesets.added(found):
            out.paragraph(out.style(f"adds “{line(words)}”", "yellow"), "  ")
        out.print("  " + out.style(changesets.covered(covered), "dim"))
    for refusal in composition.refused:
        out.paragraph(changesets.refused(refusal), "  ")
    diffs = composition.diffs()
    for each in diffs:
        if not each.repaired:
            _print_file(out, files, each)
    for sentence in (changesets.following(diffs), changesets.saved(savings(diffs))):
        if sentence:
            out.paragraph(sentence, "  ")


def _print_file(out: Output, files: MemoryFiles, found: FileDiff) -> None:
    scope, file = files.scope_of(found.path)
    path = line(f"{scope.shown}:{file.removesuffix('.md') if file != locate.INDEX_NAME else file}")
    if found.after is None:
        out.print(f"  {out.style('-', 'red')} {path}")
    elif found.before is None and changeset.is_archived(found.path):
        out.print(f"  {out.style('+', 'green')} {path}")
    else:
        out.print(f"  {out.style('+ ' if found.before is None else '', 'green')}{path}")
        diff.show_lines(out, diff.lines(found.before or b"", found.after), "    ")


# Writing


def _write(ctx: Context, path: str, found: ChangeSet) -> Result:
    files = MemoryFiles(ctx.store())
    plan_file.write(path, ChangeSet(found.time, found.by, tuple(map(files.filled, found.proposals))))
    accepted = len(found.accepted)
    data = {"path": path, "changes": len(found.proposals), "accepted": accepted}

    def text(out: Output) -> None:
        out.print(f"{many(len(found.proposals), 'change')}, {accepted} accepted: {line(ctx.tilde(path))}")
        out.say(
            f"`memtui consolidate --apply {shell_word(ctx.tilde(path), tilde=True)}` makes those that are accepted."
        )

    return Result(data, text)


def _applied(done: Applied, dropped: Rejected, covered: "list[Coverage]", *, all_open: bool) -> Result:
    """Say what was made, what it dropped, what was refused and what was rejected. `covered`: of those made. `all_open`
    if all that were open are accepted: then merged ones may be merged again."""
    undo = done.transaction or dropped.changed
    failed = [each for each in done.refused if each.reason != "made"]
    data = {
        "made": [{"id": each.id, "kind": each.kind, "title": changeset.title(each)} for each in done.made],
        "refused": [_refusal(each) for each in failed],
        "made_already": [each.proposal.id for each in done.refused if each.reason == "made"],
        "files": [each.path for each in done.diffs],
        "saved": savings(done.diffs)._asdict(),
        "rejected": [{"id": each.id, "kind": each.kind, "title": changeset.title(each)} for each in dropped.proposals],
        "kept_apart": dropped.pairs,
        "undo": "memtui undo" if undo else None,
    }

    def text(out: Output) -> None:
        for each in done.refused:
            out.say(safe(changesets.refused(each)))
            if each.error.hint and each in failed:
                out.say("  " + safe(each.error.hint))
        if done.made:
            told = (changesets.made(done.made), changesets.saved(savings(done.diffs)), changesets.lost(covered))
            out.print(" ".join(filter(None, told)))
        elif not done.refused and not dropped.changed:
            out.print("No change is accepted. Accept some: --accept ID…, or all: --all.")
        if dropped.proposals:
            out.print(safe(changesets.rejected(dropped.proposals)))
        if dropped.pairs:
            out.print(f"{many(dropped.pairs, 'pair')} of memories kept apart for good.")
        if any(changesets.is_of_repository(each) for each in done.made):
            out.say("What was made of its text came with the repository: memtui trust lets sessions get it.")
        if undo:
            out.say("memtui undo undoes it.")
        if all_open and any(each.kind == "merge" for each in done.made):
            out.say("What was merged may overlap more memories now: memtui consolidate")

    return Result(data, text, EXIT_CONFLICT if failed else 0)


def _confirm(ctx: Context, store: Store, found: ChangeSet, *, yes: bool) -> None:
    """Show what would be made, and ask about it; then about new secrets. Raises MemtuiError for no."""
    files = MemoryFiles(store)
    composition = Composition(files, found.accepted)
    if not composition.made:
        return
    if not yes:
        for each in [] if ctx.out.json else composition.made:
            _print_change(ctx.out, files, each, Composition(files, [each]))
        count = len(composition.diffs())
        ctx.confirm(f"Make {many(len(composition.made), 'change')} to {many(count, 'file')}?", DECLINED)
    diffs = composition.diffs()
    after, before = (
        "\n".join(data.decode("utf-8", "replace") for each in diffs if (data := getattr(each, key)) is not None)
        for key in ("after", "before")
    )
    secret.confirm(ctx, after, yes=yes, declined=DECLINED, before=before)
