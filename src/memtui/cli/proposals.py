"""What `memtui consolidate` proposes: show it, approve it, reject it."""

from memtui.base.errors import EXIT_CONFLICT
from memtui.base.phrasing import many
from memtui.base.short_ids import short_id
from memtui.cli import memories
from memtui.cli.context import Context
from memtui.cli.output import Output, Printer, Result, difference, narrate, safe
from memtui.store import scopes, sidecars
from memtui.store.store import Store
from memtui.tidy import changeset, composed_files, coverage, waiting_proposals
from memtui.tidy.changeset import Proposal
from memtui.tidy.checks import lint
from memtui.tidy.composed_files import Composition, Refused, Weighed, savings, weigh
from memtui.views import changesets, decisions
from memtui.views.parts import Words

DECLINED = "Nothing was changed."


def read(ctx: Context, store: Store, labels: "list[str] | None" = None) -> "list[Proposal]":
    """List the proposals that nobody decided about, first those of a model, of scopes with these labels or of all."""
    subject = lint.here(ctx.env, ctx.cwd, ctx.root, ctx.now(), ctx.usage, sidecars.kept_apart(ctx.root))
    if not labels:
        return [*waiting_proposals.undecided(store, subject).proposals]
    every = [scope for label in labels for scope in memories.chosen_scopes(ctx, label)]
    chosen = [scope for scope in every if scope.kind != "instructions"]
    return [*waiting_proposals.undecided(store, subject.with_scopes(chosen), within=chosen).proposals]


def brief(proposal: Proposal) -> "dict[str, object]":
    return {"id": proposal.ref, "kind": proposal.kind, "title": changeset.title(proposal)}


def listing(ctx: Context, labels: "list[str] | None") -> Result:
    store = ctx.store()
    files, proposals = store.files(), read(ctx, store, labels)
    changes = [weigh(files, proposal) for proposal in proposals]
    saved = savings(Composition(files, proposals).preview())
    data = {"changes": [data_of(change) for change in changes], "saved": saved}
    if not changes:
        return Result(data, "There is nothing to consolidate.")
    sums = f"\n{many(len(changes), 'change')} proposed. {changesets.saved(saved)}".rstrip()
    ways = "Approve one: memtui approve ID   Reject one: memtui reject ID   All: memtui consolidate --all"
    return Result(data, *(shown(ctx, change) for change in changes), sums, narrate(ways))


def data_of(change: Weighed) -> "dict[str, object]":
    """Return for --json a proposal with what it would do to files, and what it would drop."""
    proposal, covered = change.proposal, change.coverage
    data: dict[str, object] = {
        **brief(proposal),
        "reason": proposal.reason,
        "score": max((fact.score for fact in proposal.evidence if fact.score is not None), default=None),
        "codes": sorted({evidence.code for evidence in proposal.evidence}),
        "safe": proposal.is_safe,
        "files": [
            {
                "path": diff.path,
                "gone": diff.after is None,
                "new": diff.before is None,
                "repaired": diff.repaired,
                "diff": "\n".join(difference(diff.before, diff.after)),
            }
            for diff in change.diffs
        ],
        "dropped": None,
        "added": changesets.added(proposal),
        "refused": change.refused and _refusal(change.refused),
    }
    if covered is not None:
        reworded = [(was, now.text) for was, how, now in covered.statements if how == "reworded" and now]
        data |= {
            "dropped": [{"path": cover.statement.path, "text": cover.statement.text} for cover in covered.dropped],
            "reworded": [{"path": was.path, "text": was.text, "as": now} for was, now in reworded],
            "kept": len(covered.of("kept")),
        }
    return data


def shown(ctx: Context, change: Weighed) -> "Printer":
    """Return what prints a proposal with its id."""
    place = decisions.place_of(change.proposal, scopes.discover(ctx.env, ctx.cwd), ctx.project)

    def text(out: Output) -> None:
        out.section()
        parts = changesets.brief(change.proposal, change, place)
        out.parts([Words(f"{short_id(change.proposal.ref)}  ", "cyan"), *parts])

    return text


def _refusal(refused: Refused) -> "dict[str, object]":
    return {
        "id": refused.proposal.ref,
        "reason": refused.reason,
        "path": refused.path,
        "message": refused.error.message,
    }


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
            shown(ctx, weigh(files, proposal))(ctx.out)
        ctx.confirm(f"Approve {many(len(composition.made), 'change')} to {many(len(diffs), 'file')}?", DECLINED)
    after, before = (
        "\n".join(data.decode("utf-8", "replace") for change in diffs if (data := getattr(change, key)) is not None)
        for key in ("after", "before")
    )
    ctx.confirm_secrets(after, yes=yes, declined=DECLINED, before=before)
