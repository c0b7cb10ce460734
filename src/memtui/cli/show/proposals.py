"""What `memtui consolidate` proposes: show it, approve it, reject it."""

from collections.abc import Callable

from memtui.cli import memories, secret
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import diff
from memtui.consolidate import changeset, composing, coverage, lint, lint_fixes, proposed
from memtui.consolidate.changeset import MemoryFiles, Proposal
from memtui.consolidate.composing import Composition, Refused, savings
from memtui.consolidate.coverage import Coverage
from memtui.core.base.errors import EXIT_CONFLICT
from memtui.core.base.phrasing import many
from memtui.core.base.short_ids import short_id
from memtui.core.memories import beside
from memtui.core.memories.plan import FileDiff, is_archived
from memtui.core.memories.store import Store
from memtui.core.places import locate
from memtui.present import changesets

DECLINED = "Nothing was changed."
Printer = Callable[[Output], None]


def read(ctx: Context, store: Store, labels: "list[str] | None" = None) -> "list[Proposal]":
    """List the proposals that nobody decided about: those of a model first, then those that are planned now, of the
    scopes with these labels or of all."""
    subject = lint.here(ctx.env, ctx.cwd, ctx.root, ctx.now(), ctx.usage, beside.kept_apart(ctx.root))
    if not labels:
        return [each.proposal for each in proposed.undecided(store, subject).proposals]
    named = [scope for label in labels for scope in memories.chosen_scopes(ctx, label)]
    chosen = [scope for scope in named if scope.kind != "instructions"]
    return [each.proposal for each in proposed.undecided(store, subject.with_scopes(chosen), within=chosen).proposals]


def brief(proposal: Proposal) -> "dict[str, object]":
    """Return for --json what a proposal does."""
    return {"id": proposal.ref, "kind": proposal.kind, "title": changeset.title(proposal)}


# Showing


def whole(ctx: Context, proposal: Proposal) -> "tuple[dict[str, object], Printer]":
    """Show one proposal with its diff."""
    change = ShownChange(MemoryFiles(ctx.store()), proposal)
    return change.data(), change.print


def listing(ctx: Context, labels: "list[str] | None") -> Result:
    """Show the proposals, each with its diff."""
    store = ctx.store()
    files, found = MemoryFiles(store), read(ctx, store, labels)
    changes = [ShownChange(files, each) for each in found]
    saved = savings(Composition(files, found).diffs())

    def text(out: Output) -> None:
        if not changes:
            out.print("There is nothing to consolidate.")
            return
        for each in changes:
            each.print(out)
        out.section()
        out.print(f"{many(len(changes), 'change')} proposed. {changesets.saved(saved)}".rstrip())
        out.say("Approve one: memtui approve ID   Reject one: memtui reject ID   All: memtui consolidate --all")

    return Result({"changes": [each.data() for each in changes], "saved": saved}, text)


class ShownChange:
    """A proposal with what it would do to files, and what it would drop."""

    def __init__(self, files: MemoryFiles, proposal: Proposal) -> None:
        self.files, self.proposal = files, proposal
        composition = Composition(files, [proposal])
        self.diffs, self.refused = composition.diffs(), composition.refused
        self.covered = coverage.of_proposal(proposal)

    def data(self) -> "dict[str, object]":
        found, covered = self.proposal, self.covered
        data: dict[str, object] = {
            **brief(found),
            "reason": found.reason,
            "score": max((each.score for each in found.evidence if each.score is not None), default=None),
            "codes": sorted({each.code for each in found.evidence}),
            "safe": lint_fixes.is_safe(found),
            "files": [
                {
                    "path": each.path,
                    "gone": each.after is None,
                    "new": each.before is None,
                    "repaired": each.repaired,
                    "diff": "\n".join(diff.lines(each.before or b"", each.after or b"")),
                }
                for each in self.diffs
            ],
            "dropped": None,
            "added": changesets.added(found),
            "refused": next(map(_refusal, self.refused), None),
        }
        if covered is not None:
            reworded = [(each.statement, each.targets[0].text) for each in covered.of("reworded")]
            data |= {
                "dropped": [{"path": each.statement.path, "text": each.statement.text} for each in covered.dropped],
                "reworded": [{"path": was.path, "text": was.text, "as": now} for was, now in reworded],
                "kept": len(covered.of("kept")),
            }
        return data

    def print(self, out: Output) -> None:
        out.section()
        out.heading(f"{short_id(self.proposal.ref)}  {line(changeset.title(self.proposal))}")
        if self.proposal.reason:
            out.paragraph(self.proposal.reason, "  ")
        print_statements(out, self.proposal, self.covered)
        if self.covered is not None:
            out.print("  " + out.style(changesets.covered(self.covered), "dim"))
        for refusal in self.refused:
            out.paragraph(changesets.refused(refusal), "  ")
        for each in self.diffs:
            if not each.repaired:
                self._print_file(out, each)
        for sentence in (changesets.following(self.diffs), changesets.saved(savings(self.diffs))):
            if sentence:
                out.paragraph(sentence, "  ")

    def _print_file(self, out: Output, found: FileDiff) -> None:
        scope, file = self.files.scope_of(found.path)
        path = line(f"{scope.shown}:{file.removesuffix('.md') if file != locate.INDEX_NAME else file}")
        if found.after is None:
            out.print(f"  {out.style('-', 'red')} {path}")
            return
        out.print(f"  {out.style('+ ' if found.before is None else '', 'green')}{path}")
        if found.before is not None or not is_archived(found.path):
            diff.show_lines(out, diff.lines(found.before or b"", found.after), "    ")


def _refusal(refused: Refused) -> "dict[str, object]":
    return {
        "id": refused.proposal.ref,
        "reason": refused.reason,
        "path": refused.path,
        "message": refused.error.message,
    }


def print_statements(out: Output, proposal: Proposal, covered: "Coverage | None") -> None:
    """Print what a proposal drops, rewords and adds."""
    if covered is not None:
        for statement in changesets.dropped(covered):
            out.paragraph(out.style(f"drops {line(statement)}", "yellow"), "  ")
        for words in [f"says {each}" for each in changesets.reworded(covered)] + changesets.fields(covered):
            out.paragraph(line(words), "  ")
    for words in changesets.added(proposal):
        out.paragraph(out.style(f"adds “{line(words)}”", "yellow"), "  ")


# Making


def approve(
    ctx: Context, store: Store, proposals: "list[Proposal]", *, yes: bool
) -> "tuple[dict[str, object], Printer, int]":
    """Make proposals as one step of undo, after a person saw them; return data for --json, how to print it, and the
    exit code. Raises MemtuiError for no."""
    _confirm(ctx, store, proposals, yes=yes)
    covered = {each.id: coverage.of_proposal(each) for each in proposals}
    with store.journal.together():
        done = composing.apply(store, proposals)
    dropped = [each for proposal in done.made if (each := covered[proposal.id]) is not None]
    failed = [each for each in done.refused if each.reason != "made"]
    saved = savings(done.diffs)
    data: dict[str, object] = {
        "made": [brief(each) for each in done.made],
        "refused": [_refusal(each) for each in failed],
        "made_already": [each.proposal.ref for each in done.refused if each.reason == "made"],
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

    return data, text, EXIT_CONFLICT if failed else 0


def _confirm(ctx: Context, store: Store, proposals: "list[Proposal]", *, yes: bool) -> None:
    """Show what would be made, and ask about it; then about new secrets. Raises MemtuiError for no."""
    files = MemoryFiles(store)
    composition = Composition(files, proposals)
    if not composition.made:
        return
    diffs = composition.diffs()
    if not yes:
        for each in [] if ctx.out.json else composition.made:
            ShownChange(files, each).print(ctx.out)
        ctx.confirm(f"Approve {many(len(composition.made), 'change')} to {many(len(diffs), 'file')}?", DECLINED)
    after, before = (
        "\n".join(data.decode("utf-8", "replace") for each in diffs if (data := getattr(each, key)) is not None)
        for key in ("after", "before")
    )
    secret.confirm(ctx, after, yes=yes, declined=DECLINED, before=before)
