"""What `memtui consolidate` proposes: list it, find one of it by its id, make it or reject it."""

import re

from memtui.cli import memories, secret
from memtui.cli.bulk import BulkResult
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import diff
from memtui.consolidate import changeset, composing, coverage, lint, lint_fixes, proposed
from memtui.consolidate.changeset import Proposal
from memtui.consolidate.composing import Applied, Composition, FileDiff, Refused, savings
from memtui.consolidate.coverage import Coverage, Covered
from memtui.consolidate.files import MemoryFiles
from memtui.consolidate.proposed import Rejected, Undecided, undecided
from memtui.core.base import short_ids
from memtui.core.base.errors import EXIT_CONFLICT, NotFoundError
from memtui.core.base.phrasing import many
from memtui.core.base.short_ids import short_id
from memtui.core.memories import apart
from memtui.core.memories.store import Store
from memtui.core.places import locate
from memtui.present import changesets

DECLINED = "Nothing was changed."
ID = re.compile("[0-9a-f]+")  # what an id of a proposal consists of


def read(ctx: Context, store: Store, labels: "list[str] | None" = None) -> "list[Undecided]":
    """List the proposals that nobody decided about: those of a model first, then those that are planned now, of the
    scopes with these labels or of all."""
    subject = lint.here(ctx.env, ctx.cwd, ctx.root, ctx.now(), ctx.usage, apart.load(ctx.root))
    if not labels:
        return list(undecided(store, subject).proposals)
    named = [scope for label in labels for scope in memories.chosen_scopes(ctx, label)]
    chosen = [scope for scope in named if scope.kind != "instructions"]
    return list(undecided(store, subject.with_scopes(chosen), within=chosen).proposals)


def find(ctx: Context, ref: str) -> "Undecided | None":
    """Return the proposal that an id means; None if none has it. Raises ConflictError."""
    if not ID.fullmatch(ref.strip().lstrip("…").lower()) or len(ref) < short_ids.MIN_REF:
        return None
    every = {each.key: each for each in read(ctx, ctx.store())}
    try:
        return every[short_ids.match(ref, every, "proposal")]
    except NotFoundError:
        return None


def accept(ctx: Context, found: "list[Undecided]", bulk: BulkResult, *, yes: bool, all_open: bool = False) -> Result:
    """Make proposals as one step of undo, after a person saw them. Raises MemtuiError for no."""
    store = ctx.store()
    accepted = [each.proposal for each in found]
    _confirm(ctx, store, accepted, yes=yes)
    files = MemoryFiles(store)
    covered = {each.id: coverage.of_proposal(files.filled(each)) for each in accepted}  # while they are
    with store.journal.together():
        done = composing.apply(store, accepted)
    dropped = [each for proposal in done.made if (each := covered[proposal.id]) is not None]
    return _applied(done, dropped, bulk, all_open=all_open)


def reject(ctx: Context, found: "list[Undecided]", bulk: BulkResult) -> Result:
    """Reject proposals for good, as one step of undo: they are not proposed again."""
    those = [each.proposal for each in found]
    dropped = proposed.reject(ctx.store(), those, f"reject {changesets.named(those)}")
    data = {**_rejected_data(dropped), "undo": "memtui undo" if dropped.changed else None}

    def text(out: Output) -> None:
        if dropped.proposals:
            out.print(safe(changesets.rejected(dropped.proposals)))
        if dropped.pairs:
            out.print(f"{many(dropped.pairs, 'pair')} of memories kept apart for good.")
        out.say("memtui undo undoes it." if dropped.changed else "They were rejected before.")

    return bulk.result(data, text)


def _rejected_data(dropped: Rejected) -> "dict[str, object]":
    rows = [{"id": each.id, "kind": each.kind, "title": changeset.title(each)} for each in dropped.proposals]
    return {"rejected": rows, "kept_apart": dropped.pairs}


# Showing


def listing(ctx: Context, labels: "list[str] | None") -> Result:
    """Show the proposals, each with its diff."""
    store = ctx.store()
    files = MemoryFiles(store)
    found = [each.proposal for each in read(ctx, store, labels)]
    rows = [(each, Composition(files, [each])) for each in found]
    whole = Composition(files, found)
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
        out.say("Make one: memtui approve ID   Not again: memtui reject ID   All: memtui consolidate --all")

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
        "reason": found.reason,
        "score": max((each.score for each in found.evidence if each.score is not None), default=None),
        "codes": sorted({each.code for each in found.evidence}),
        "safe": lint_fixes.is_safe(found),
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
    out.heading(f"{short_id(found.id)}  {line(changeset.title(found))}")
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


# Making


def _applied(done: Applied, covered: "list[Coverage]", bulk: BulkResult, *, all_open: bool) -> Result:
    """Say what was made, what it dropped, and what was refused. `covered`: of those made. `all_open` if all that were
    open are accepted: then merged ones may be merged again."""
    failed = [each for each in done.refused if each.reason != "made"]
    data: dict[str, object] = {
        "made": [{"id": each.id, "kind": each.kind, "title": changeset.title(each)} for each in done.made],
        "refused": [_refusal(each) for each in failed],
        "made_already": [each.proposal.id for each in done.refused if each.reason == "made"],
        "files": [each.path for each in done.diffs],
        "saved": savings(done.diffs)._asdict(),
        "undo": "memtui undo" if done.transaction else None,
    }

    def text(out: Output) -> None:
        for each in done.refused:
            out.say(safe(changesets.refused(each)))
            if each.error.hint and each in failed:
                out.say("  " + safe(each.error.hint))
        if done.made:
            parts = (changesets.made(done.made), changesets.saved(savings(done.diffs)), changesets.lost(covered))
            out.print(" ".join(filter(None, parts)))
        if done.transaction:
            out.say("memtui undo undoes it.")
        if all_open and any(each.kind == "merge" for each in done.made):
            out.say("What was merged may overlap more memories now: memtui consolidate")

    return bulk.result(data, text, EXIT_CONFLICT if failed else 0)


def _confirm(ctx: Context, store: Store, found: "list[Proposal]", *, yes: bool) -> None:
    """Show what would be made, and ask about it; then about new secrets. Raises MemtuiError for no."""
    files = MemoryFiles(store)
    composition = Composition(files, found)
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
