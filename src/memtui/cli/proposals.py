"""What `memtui consolidate` proposes: show it, approve it, reject it."""

from memtui.base.errors import EXIT_CONFLICT
from memtui.base.phrasing import many
from memtui.base.short_ids import short_id
from memtui.cli import memories, secret
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, difference, line, narrate, safe, styled
from memtui.client import locate
from memtui.store import sidecars
from memtui.store.plan import FileDiff, ScopeFiles, is_archived
from memtui.store.store import Store
from memtui.tidy import changeset, composed_files, coverage, lint, waiting_proposals
from memtui.tidy.changeset import Proposal
from memtui.tidy.composed_files import Composition, Refused, savings
from memtui.tidy.coverage import Coverage
from memtui.views import changesets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.cli.output import Printer

DECLINED = "Nothing was changed."


def read(ctx: Context, store: Store, labels: "list[str] | None" = None) -> "list[Proposal]":
    """List the proposals that nobody decided about, first those of a model, of scopes with these labels or of all."""
    subject = lint.here(ctx.env, ctx.cwd, ctx.root, ctx.now(), ctx.usage, sidecars.kept_apart(ctx.root))
    if not labels:
        return [*waiting_proposals.undecided(store, subject).proposals]
    scopes = [scope for label in labels for scope in memories.chosen_scopes(ctx, label)]
    chosen = [scope for scope in scopes if scope.kind != "instructions"]
    return [*waiting_proposals.undecided(store, subject.with_scopes(chosen), within=chosen).proposals]


def brief(proposal: Proposal) -> "dict[str, object]":
    """Return for --json what a proposal does."""
    return {"id": proposal.ref, "kind": proposal.kind, "title": changeset.title(proposal)}


# Showing


def listing(ctx: Context, labels: "list[str] | None") -> Result:
    """Show the proposals, each with its diff."""
    store = ctx.store()
    files, proposals = store.files(), read(ctx, store, labels)
    changes = [ShownChange(files, proposal) for proposal in proposals]
    saved = savings(Composition(files, proposals).preview())
    data = {"changes": [change.data() for change in changes], "saved": saved}
    if not changes:
        return Result(data, "There is nothing to consolidate.")
    sums = f"\n{many(len(changes), 'change')} proposed. {changesets.saved(saved)}".rstrip()
    ways = "Approve one: memtui approve ID   Reject one: memtui reject ID   All: memtui consolidate --all"
    return Result(data, *(change.print for change in changes), sums, narrate(ways))


class ShownChange:
    """A proposal with what it would do to files, and what it would drop."""

    def __init__(self, files: ScopeFiles, proposal: Proposal) -> None:
        self.files, self.proposal = files, proposal
        composition = Composition(files, [proposal])
        self.diffs, self.refused = composition.preview(), composition.refused
        self.covered = coverage.of_proposal(proposal)

    def data(self) -> "dict[str, object]":
        proposal, covered = self.proposal, self.covered
        data: dict[str, object] = {
            **brief(proposal),
            "reason": proposal.reason,
            "score": max((fact.score for fact in proposal.evidence if fact.score is not None), default=None),
            "codes": sorted({evidence.code for evidence in proposal.evidence}),
            "safe": proposal.is_safe,
            "files": [
                {
                    "path": change.path,
                    "gone": change.after is None,
                    "new": change.before is None,
                    "repaired": change.repaired,
                    "diff": "\n".join(difference(change.before or b"", change.after or b"")),
                }
                for change in self.diffs
            ],
            "dropped": None,
            "added": changesets.added(proposal),
            "refused": next(map(_refusal, self.refused), None),
        }
        if covered is not None:
            reworded = [(cover.statement, cover.targets[0].text) for cover in covered.of("reworded")]
            data |= {
                "dropped": [{"path": cover.statement.path, "text": cover.statement.text} for cover in covered.dropped],
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
            out.print("  " + styled(changesets.covered(self.covered), "dim"))
        for refusal in self.refused:
            out.paragraph(changesets.refused(refusal), "  ")
        for change in self.diffs:
            if not change.repaired:
                self._print_file(out, change)
        for sentence in (changesets.following(self.diffs), changesets.saved(savings(self.diffs))):
            if sentence:
                out.paragraph(sentence, "  ")

    def _print_file(self, out: Output, change: FileDiff) -> None:
        scope, file = self.files.scope_of(change.path)
        path = line(f"{scope.shown}:{file.removesuffix('.md') if file != locate.INDEX_NAME else file}")
        if change.after is None:
            out.print(f"  {styled('-', 'red')} {path}")
            return
        out.print(f"  {styled('+ ' if change.before is None else '', 'green')}{path}")
        if change.before is not None or not is_archived(change.path):
            out.diff_lines(difference(change.before or b"", change.after), "    ")


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
            out.paragraph(styled(f"drops {line(statement)}", "yellow"), "  ")
        for words in [f"says {text}" for text in changesets.reworded(covered)] + changesets.fields(covered):
            out.paragraph(line(words), "  ")
    for words in changesets.added(proposal):
        out.paragraph(styled(f"adds “{line(words)}”", "yellow"), "  ")


# Making


def approve(
    ctx: Context, store: Store, proposals: "list[Proposal]", *, yes: bool
) -> "tuple[dict[str, object], list[str | Printer], int]":
    """Make proposals that a person saw; return data, how to print it, the exit code. Raises MemtuiError for no."""
    _confirm(ctx, store, proposals, yes=yes)
    covered = {proposal.id: coverage.of_proposal(proposal) for proposal in proposals}
    with store.journal.together():
        applied = composed_files.apply(store, proposals)
    dropped = [cover for proposal in applied.made if (cover := covered[proposal.id]) is not None]
    failed = [refusal for refusal in applied.refused if refusal.reason != "made"]
    saved = savings(applied.diffs)
    data: dict[str, object] = {
        "made": [brief(proposal) for proposal in applied.made],
        "refused": [_refusal(refusal) for refusal in failed],
        "made_already": [refusal.proposal.ref for refusal in applied.refused if refusal.reason == "made"],
        "files": [change.path for change in applied.diffs],
        "saved": saved,
        "undo": "memtui undo" if applied.transaction else None,
    }
    text: list[str | Printer] = []
    for refusal in applied.refused:
        hint = safe(refusal.error.hint) if refusal in failed else ""
        text += [narrate(safe(changesets.refused(refusal))), narrate(f"  {hint}" if hint else "")]
    parts = (changesets.made(applied.made), changesets.saved(saved), changesets.lost(dropped)) if applied.made else ()
    return data, [*text, " ".join(filter(None, parts))], EXIT_CONFLICT if failed else 0


def _confirm(ctx: Context, store: Store, proposals: "list[Proposal]", *, yes: bool) -> None:
    """Show what would be made, and ask about it; then about new secrets. Raises MemtuiError for no."""
    files = store.files()
    composition = Composition(files, proposals)
    if not composition.made:
        return
    diffs = composition.preview()
    if not yes:
        for proposal in [] if ctx.out.json else composition.made:
            ShownChange(files, proposal).print(ctx.out)
        ctx.confirm(f"Approve {many(len(composition.made), 'change')} to {many(len(diffs), 'file')}?", DECLINED)
    after, before = (
        "\n".join(data.decode("utf-8", "replace") for change in diffs if (data := getattr(change, key)) is not None)
        for key in ("after", "before")
    )
    secret.confirm(ctx, after, yes=yes, declined=DECLINED, before=before)
