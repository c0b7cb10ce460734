"""The entries of inboxes for several commands: read them, find one by its id, write one as JSON."""

from contextlib import suppress

from memtui.base import clock, findings, paths, short_ids
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.base.finding import Finding
from memtui.base.phrasing import ago, many
from memtui.base.shell import shell_word
from memtui.base.short_ids import MIN_REF, short_id
from memtui.cli.context import Context
from memtui.cli.output import picked, safe
from memtui.deliver import log, receipts
from memtui.deliver.record import find_note
from memtui.inbox import format as inbox_format
from memtui.inbox import notes_in_flight
from memtui.review import waiting_entries
from memtui.review.waiting_entries import KINDS, Waiting
from memtui.store.journal.text_edit import TextEdit
from memtui.views import drafts
from memtui.views.deliveries import OUTCOMES

# Operations of the journal by which a person decides.
DECIDING = frozenset(
    ("approve", "consolidate", "delete", "done", "keep", "reject", "restore", "snooze", "trust", "withdraw")
)
DECIDED_LATELY = 50  # of the newest changes are looked through for what was decided
LISTED = "`memtui inbox` lists what waits."


def read(
    ctx: Context,
    kinds: "tuple[str, ...]" = KINDS,
    all_projects: bool = False,
    unread: "list[dict[str, str]] | None" = None,
) -> "list[Waiting]":
    """Read what waits here and globally, then in `all_projects`; print what can't be read, and add it to `unread`."""
    problems: list[Finding] = []
    items = ctx.waiting(kinds, every=all_projects, unread=problems)
    for row in map(findings.unread_row, problems):
        ctx.out.say(f"! {safe(row['message'])}\n  {safe(row['hint'])}")
        if unread is not None:
            unread.append(row)
    return items


def pick(ctx: Context, ref: str, kinds: "tuple[str, ...]", what: str) -> Waiting:
    """Find an entry by its id, in all projects. Raises NotFoundError, which says it if it was delivered."""
    hint = "`memtui note --list` lists them." if kinds == ("guidance",) else LISTED
    try:
        return waiting_entries.find(read(ctx, kinds, all_projects=True), ref, what)
    except NotFoundError as error:
        raise (why_not(ctx, ref) or NotFoundError(error.message, error.hint or hint)) from None


def why_not(ctx: Context, ref: str) -> "NotFoundError | None":
    """Return the error for the id of something else than an entry that waits; None for any other id."""
    if error := _decided(ctx, ref) or _fate(ctx, ref) or misnamed(ctx, ref):
        return error
    prefix = ref.strip().upper()
    records = log.newest_first(ctx.root, needle=prefix.encode("utf-8", "replace"))
    if len(prefix) >= MIN_REF and any(short_ids.is_short_for(prefix, str(record.get("id"))) for record in records):
        return NotFoundError(f"{ref} is a delivery.", f"Did you mean `memtui activity {shell_word(ref)}`?")
    return None


def _fate(ctx: Context, ref: str) -> "NotFoundError | None":
    """Return the error for the id of a note that a hook took last: it says what became of it, as the list does."""
    returns = "If it does not arrive, it waits here again: memtui note --list"
    slugs = [None, *paths.inbox_slugs(ctx.root)]
    newest = {task.entry.id: task for task in reversed(notes_in_flight.listed(ctx.root, slugs))}
    note = find_note(ctx.root, ref.strip()) if len(ref.strip()) >= MIN_REF else None
    with suppress(NotFoundError, ConflictError):
        claim = newest[short_ids.match(ref, newest, "note")]
        if note is None or claim.delivery > note.delivery.id:
            outcome = notes_in_flight.outcomes([claim], ctx.env, ctx.now())[claim.delivery]
            return NotFoundError(
                f"{ref} is {OUTCOMES[outcome][1]}: a hook took it {ago(claim.time, ctx.now())}.", returns
            )
    if note is None:
        return None
    delivery = note.delivery
    outcome = receipts.outcomes([delivery.record], ctx.env, ctx.now())[delivery.id]
    see = f"See `memtui activity {short_id(delivery.id)}`. To deliver it again: memtui note --again {short_id(note.id)}"
    sentence = f"{ref} was delivered {ago(delivery.time, ctx.now())}: {OUTCOMES[outcome][1]}."
    return NotFoundError(sentence, returns if note.id in newest and outcome not in receipts.GOT else see)


def _decided(ctx: Context, ref: str) -> "NotFoundError | None":
    """Return the error for what was decided lately: it says how, when, and what undoes that."""
    prefix, journal = ref.strip().upper(), ctx.journal()
    if len(prefix) < MIN_REF:
        return None
    for transaction in journal.ledger().changes()[:DECIDED_LATELY]:
        if transaction.op not in DECIDING or transaction.state != "done":
            continue
        entries = [*map(str, transaction.record.get("entries", ()))]
        with suppress(MemtuiError):
            texts = (edit.removed for edit in journal.changes_of(transaction.record) if isinstance(edit, TextEdit))
            entries += [entry.id for text in texts for entry in inbox_format.parse(text)]
        if any(short_ids.is_short_for(prefix, name) for name in entries):
            when = ago(clock.parse(transaction.time), ctx.now())
            hint = f"To undo that: memtui undo {short_id(transaction.id)}"
            return NotFoundError(f"{ref} is decided already, {when}: {transaction.summary}.", hint)
    return None


def misnamed(ctx: Context, ref: str) -> "NotFoundError | None":
    """Return the error for the id of an entry where another kind of thing was asked for; None for any other id."""
    try:
        item = waiting_entries.find(ctx.waiting(KINDS, every=True), ref, "entry")
    except (NotFoundError, ConflictError):
        return None
    return NotFoundError(f"{ref} is a {inbox_format.NOUNS[item.kind]}.", f"See it: memtui inbox {short_id(item.id)}")


def as_data(ctx: Context, item: Waiting) -> "dict[str, object]":
    """Return an entry for --json."""
    return {
        **picked(item, "scope path text evidence"),
        "project": item.slug,
        "session": item.entry.fields.get("session"),
        "fields": item.entry.fields,
        "state": states(ctx, item),
    }


def states(ctx: Context, item: Waiting) -> "list[str]":
    """Return the reasons why an entry is not delivered, or an item's state."""
    return drafts.states(ctx.settings(), item, ctx.now())


def lost(ctx: Context, *, every: bool = False) -> str:
    """Say how many notes here or in all projects are lost, and how to list them; empty if none are."""
    count = sum(bool(states(ctx, item)) for item in ctx.waiting(("guidance",), every=every))
    return f"{many(count, 'note')} lost: memtui note --list" if count else ""
