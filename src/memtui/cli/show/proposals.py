"""What `memtui consolidate` proposes: show it, make it, reject it."""

from collections.abc import Callable

from memtui.cli import memories, secret
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import diff
from memtui.consolidate import changeset, composing, coverage, lint, lint_fixes, proposed
from memtui.consolidate.changeset import Proposal
from memtui.consolidate.composing import Composition, FileDiff, Refused, savings
from memtui.consolidate.coverage import Coverage
from memtui.consolidate.files import MemoryFiles
from memtui.consolidate.proposed import undecided
from memtui.core.base.errors import EXIT_CONFLICT
from memtui.core.base.phrasing import many
from memtui.core.base.short_ids import short_id
from memtui.core.memories import apart
from memtui.core.memories.store import Store
from memtui.core.places import locate
from memtui.present import changesets

DECLINED = "Nothing was changed."
Printer = Callable[[Output], None]


class MadeProposals:
    """What came of making or rejecting proposals: for --json, how to print it, whether there is something to undo, and
    the exit code."""

    def __init__(self, data: "dict[str, object]", text: Printer, *, changed: bool, code: int = 0) -> None:
        self.data, self.text, self.changed, self.code = data, text, changed, code


def read(ctx: Context, store: Store, labels: "list[str] | None" = None) -> "list[Proposal]":
    """List the proposals that nobody decided about: those of a model first, then those that are planned now, of the
    scopes with these labels or of all."""
    subject = lint.here(ctx.env, ctx.cwd, ctx.root, ctx.now(), ctx.usage, apart.load(ctx.root))
    if not labels:
        return [each.proposal for each in undecided(store, subject).proposals]
    named = [scope for label in labels for scope in memories.chosen_scopes(ctx, label)]
    chosen = [scope for scope in named if scope.kind != "instructions"]
    return [each.proposal for each in undecided(store, subject.with_scopes(chosen), within=chosen).proposals]


def reject(store: Store, found: "list[Proposal]") -> MadeProposals:
    """Reject proposals for good, as one step of undo: they are not proposed again."""
    dropped = proposed.reject(store, found, f"reject {changesets.named(found)}")

    def text(out: Output) -> None:
        if dropped.proposals:
            out.print(safe(changesets.rejected(dropped.proposals)))
        if dropped.pairs:
            out.print(f"{many(dropped.pairs, 'pair')} of memories kept apart for good.")
        if not dropped.changed:
            out.say("They were rejected before.")

    data = {"rejected_changes": [_brief(each) for each in dropped.proposals], "kept_apart": dropped.pairs}
    return MadeProposals(data, text, changed=dropped.changed)


def _brief(found: Proposal) -> "dict[str, object]":
    return {"id": found.id, "kind": found.kind, "title": changeset.title(found)}


# Showing


def whole(ctx: Context, found: Proposal) -> "tuple[dict[str, object], Printer]":
    """Show one proposal with its diff."""
    files = MemoryFiles(ctx.store())
    composition = Composition(files, [found])
    return _row(found, composition), lambda out: _print_change(out, files, found, composition)


def listing(ctx: Context, labels: "list[str] | None") -> Result:
    """Show the proposals, each with its diff."""
    store = ctx.store()
    files = MemoryFiles(store)
    found = read(ctx, store, labels)
    rows = [(each, Composition(files, [each])) for each in found]
    saved = savings(Composition(files, found).diffs())

    def text(out: Output) -> None:
        if not rows:
            out.print("There is nothing to consolidate.")
            return
        for each, composition in rows:
            _print_change(out, files, each, composition)
        out.section()
        out.print(f"{many(len(rows), 'change')} proposed. {changesets.saved(saved)}".rstrip())
        out.say("Make one: memtui approve ID   Not again: memtui reject ID   All: memtui consolidate --all")

    return Result({"changes": [_row(*row) for row in rows], "saved": saved}, text)


def _row(found: Proposal, composition: Composition) -> "dict[str, object]":
    covered = coverage.of_proposal(found)
    data: dict[str, object] = {
        **_brief(found),
        "reason": found.reason,
        "score": max((each.score for each in found.evidence if each.score is not None), default=None),
        "codes": sorted({each.code for each in found.evidence}),
        "safe": lint_fixes.is_safe(found),
        "files": [_file(each) for each in composition.diffs()],
        "dropped": None,
        "added": changesets.added(found),
        "refused": next(iter(map(_refusal, composition.refused)), None),
    }
    if covered is not None:
        reworded = [(each.statement, each.targets[0].text) for each in covered.of("reworded")]
        data |= {
            "dropped": [{"path": each.statement.path, "text": each.statement.text} for each in covered.dropped],
            "reworded": [{"path": was.path, "text": was.text, "as": now} for was, now in reworded],
            "kept": len(covered.of("kept")),
        }
    return data


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


def print_statements(out: Output, found: Proposal, covered: "Coverage | None") -> None:
    """Print what a proposal drops, rewords and adds."""
    if covered is not None:
        for statement in changesets.dropped(covered):
            out.paragraph(out.style(f"drops {line(statement)}", "yellow"), "  ")
        for words in [f"says {each}" for each in changesets.reworded(covered)] + changesets.fields(covered):
            out.paragraph(line(words), "  ")
    for words in changesets.added(found):
        out.paragraph(out.style(f"adds “{line(words)}”", "yellow"), "  ")


def _print_change(out: Output, files: MemoryFiles, found: Proposal, composition: Composition) -> None:
    out.section()
    out.heading(f"{short_id(found.id)}  {line(changeset.title(found))}")
    if found.reason:
        out.paragraph(found.reason, "  ")
    covered = coverage.of_proposal(found)
    print_statements(out, found, covered)
    if covered is not None:
        out.print("  " + out.style(changesets.covered(covered), "dim"))
    for refusal in composition.refused:
        out.paragraph(changesets.refused(refusal), "  ")
    diffs = composition.diffs()
    for each in diffs:
        if not each.repaired:
            _print_file(out, files, each)
    for sentence in filter(None, (changesets.following(diffs), changesets.saved(savings(diffs)))):
        out.paragraph(sentence, "  ")


def _print_file(out: Output, files: MemoryFiles, found: FileDiff) -> None:
    scope, file = files.scope_of(found.path)
    path = line(f"{scope.shown}:{file.removesuffix('.md') if file != locate.INDEX_NAME else file}")
    if found.after is None:
        out.print(f"  {out.style('-', 'red')} {path}")
        return
    out.print(f"  {out.style('+ ' if found.before is None else '', 'green')}{path}")
    if found.before is not None or not changeset.is_archived(found.path):
        diff.show_lines(out, diff.lines(found.before or b"", found.after), "    ")


# Making


def accept(ctx: Context, store: Store, found: "list[Proposal]", *, yes: bool, all_open: bool = False) -> MadeProposals:
    """Make proposals as one step of undo, after a person saw them; `all_open` if these are all: then what was merged
    may be merged again. Raises MemtuiError for no."""
    _confirm(ctx, store, found, yes=yes)
    covered = {each.id: coverage.of_proposal(each) for each in found}
    with store.journal.together():
        done = composing.apply(store, found)
    dropped = [each for proposal in done.made if (each := covered[proposal.id]) is not None]
    failed = [each for each in done.refused if each.reason != "made"]
    saved = savings(done.diffs)
    data: dict[str, object] = {
        "made": [_brief(each) for each in done.made],
        "refused": [_refusal(each) for each in failed],
        "made_already": [each.proposal.id for each in done.refused if each.reason == "made"],
        "files": [each.path for each in done.diffs],
        "saved": saved,
        "undo": "memtui undo" if done.transaction else None,
    }

    def text(out: Output) -> None:
        for each in done.refused:
            out.say(safe(changesets.refused(each)))
            if each.error.hint and each in failed:
                out.say("  " + safe(each.error.hint))
        if done.made:
            parts = (changesets.made(done.made), changesets.saved(saved), changesets.lost(dropped))
            out.print(" ".join(filter(None, parts)))
        if all_open and any(each.kind == "merge" for each in done.made):
            out.say("What was merged may overlap more memories now: memtui consolidate")

    return MadeProposals(data, text, changed=bool(done.transaction), code=EXIT_CONFLICT if failed else 0)


def _confirm(ctx: Context, store: Store, found: "list[Proposal]", *, yes: bool) -> None:
    """Show what would be made, and ask about it; then about new secrets. Raises MemtuiError for no."""
    files = MemoryFiles(store)
    composition = Composition(files, found)
    if not composition.made:
        return
    diffs = composition.diffs()
    if not yes:
        for each in [] if ctx.out.json else composition.made:
            _print_change(ctx.out, files, each, Composition(files, [each]))
        ctx.confirm(f"Make {many(len(composition.made), 'change')} to {many(len(diffs), 'file')}?", DECLINED)
    after, before = (
        "\n".join(data.decode("utf-8", "replace") for each in diffs if (data := getattr(each, key)) is not None)
        for key in ("after", "before")
    )
    secret.confirm(ctx, after, yes=yes, declined=DECLINED, before=before)
