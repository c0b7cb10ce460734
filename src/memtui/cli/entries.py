"""The entries of inboxes for several commands: read them, find one by its id, write one as JSON."""

from memtui.base import clock_hot, findings, short_ids
from memtui.base.errors import ConflictError, NotFoundError
from memtui.base.finding import Finding
from memtui.base.phrasing_hot import age, ago, cut, until
from memtui.base.shell import shell_word
from memtui.base.short_ids import MIN_REF, short_id
from memtui.cli.context import Context
from memtui.cli.output import Result, line, picked, safe
from memtui.deliver import log_hot, sessions
from memtui.deliver.record import find_note
from memtui.inbox import format_hot
from memtui.review import waiting_entries
from memtui.review.waiting_entries import KINDS, Waiting
from memtui.store.journal import acts
from memtui.views import drafts
from memtui.views import notes as words

# Operations of the journal by which a person decides.
DECIDING = frozenset(
    ("approve", "consolidate", "delete", "done", "keep", "reject", "restore", "snooze", "trust", "withdraw")
)
DECIDED_LATELY = 50  # of the newest changes are looked through for what was decided
LISTED = "`memtui inbox` lists what waits."


def read(
    ctx: Context, kinds: "tuple[str, ...]" = KINDS, every: bool = False, unread: "list[dict[str, str]] | None" = None
) -> "list[Waiting]":
    """Read what waits here and globally, then in `every` project; print what can't be read, and add it to `unread`."""
    problems: list[Finding] = []
    items = ctx.waiting(kinds, every=every, unread=problems)
    for row in map(findings.unread_row, problems):
        ctx.out.say(f"! {safe(row['message'])}\n  {safe(row['hint'])}")
        if unread is not None:
            unread.append(row)
    return items


def why_not(ctx: Context, ref: str) -> "NotFoundError | None":
    """Return the error for the id of something else than an entry that waits; None for any other id."""
    if error := _decided(ctx, ref) or misnamed(ctx, ref):
        return error
    prefix = ref.strip().upper()
    if len(prefix) < MIN_REF:
        return None
    if note := find_note(ctx.root, prefix):
        see = f"See `memtui activity {short_id(note.delivery.id)}`."
        return NotFoundError(f"{ref} was delivered {ago(note.delivery.time, ctx.now())}.", see)
    records = log_hot.newest_first(ctx.root, needle=prefix.encode("utf-8", "replace"))
    if any(short_ids.is_short_for(prefix, str(record.get("id"))) for record in records):
        return NotFoundError(f"{ref} is a delivery.", f"Did you mean `memtui activity {shell_word(ref)}`?")
    return None


def _decided(ctx: Context, ref: str) -> "NotFoundError | None":
    """Return the error for what was decided lately: it says how, when, and what undoes that."""
    prefix = ref.strip().upper()
    if len(prefix) < MIN_REF:
        return None
    for transaction in ctx.ledger.follow().changes()[:DECIDED_LATELY]:
        if transaction.op not in DECIDING or transaction.state != "done":
            continue
        if any(short_ids.is_short_for(prefix, str(name)) for name in transaction.record.get("entries", ())):
            when = ago(clock_hot.parse(transaction.time), ctx.now())
            hint = f"To undo that: memtui undo {short_id(transaction.id)}"
            return NotFoundError(f"{ref} is decided already, {when}: {transaction.summary}.", hint)
    return None


def misnamed(ctx: Context, ref: str) -> "NotFoundError | None":
    """Return the error for the id of an entry where another kind of thing was asked for; None for any other id."""
    try:
        item = waiting_entries.find(ctx.waiting(KINDS, every=True), ref, "entry")
    except (NotFoundError, ConflictError):
        return None
    return NotFoundError(f"{ref} is a {format_hot.NOUNS[item.kind]}.", f"See it: memtui inbox {short_id(item.id)}")


def as_data(ctx: Context, item: Waiting) -> "dict[str, object]":
    fields = item.entry.fields
    data = picked(item, "scope path text evidence") | {"project": item.slug, "session": fields.get("session")}
    return data | {"fields": fields, "state": states(ctx, item)}


def states(ctx: Context, item: Waiting) -> "list[str]":
    """Return the reasons why an entry is not delivered, or an item's state."""
    return drafts.states(ctx.settings(), item, ctx.now())


def note_facts(item: Waiting, now: float) -> "list[str]":
    """Return the facts about a note, a few words each."""
    fields = item.entry.fields
    parts = [f"from {fields['from']}" if "from" in fields else "hand-written"]
    parts += ["urgent"] if item.entry.flag("urgent") else []
    parts += ["for " + fields["for"]] if fields.get("for") else []
    parts += ["may have been delivered before"] if item.entry.flag("repeat") else []
    expires = clock_hot.parse(fields.get("expires"))
    parts += [f"expires {until(expires, now)}"] if expires is not None and expires > now else []
    return [line(part) for part in parts]


def withdraw(ctx: Context, ref: str) -> Result:
    try:
        item = waiting_entries.find(read(ctx, ("guidance",), every=True), ref, "note")
    except NotFoundError as error:
        hint = error.hint or "`memtui note --list` lists them."
        raise (why_not(ctx, ref) or NotFoundError(error.message, hint)) from None
    data = {"withdrawn": [item.id], "transaction": ctx.review().withdraw([item])}
    return Result(data, f"{acts.done('withdraw')}: {cut(line(item.text), 60)}\nTo undo it: memtui undo")


def warn_of_strangers(ctx: Context, entry_id: str, addresses: str, slug: "str | None") -> "list[dict[str, object]]":
    """Print why a note for these `addresses` may reach nobody in a project, and what to do; return it for --json."""
    unknown = sessions.strangers(ctx.root, ctx.config_dir, addresses.split(","), slug)
    for stranger in unknown:
        ctx.out.say(f"! {words.why(stranger)}\n  To withdraw it: memtui note --withdraw {short_id(entry_id)}")
    return [{"address": f"{stranger.kind}:{stranger.name}", "why": words.why(stranger)} for stranger in unknown]


def listing(ctx: Context) -> Result:
    ctx.must_have_home()
    unread: list[dict[str, str]] = []
    items = read(ctx, ("guidance",), unread=unread)
    entries = [{"id": item.id, "kind": "note", **as_data(ctx, item)} for item in items]
    data = {"project": ctx.project_root, "entries": entries, "unread": unread}
    if not items:
        return Result(data, 'No note waits here. Write one: memtui note "…"')
    now, rows, below = ctx.now(), [], []
    for item in items:
        why = states(ctx, item)
        state = ("! " + ", ".join(why), "yellow") if why else ("○ waits", "")
        rows.append([(short_id(item.id), "cyan"), age(item.entry.time(), now), state, line(item.text)])
        below.append(", ".join(["global"] * (item.slug is None) + note_facts(item, now)))
    ways = ("Withdraw: memtui note --withdraw ID", "Delivered: memtui activity --kind notes")
    return Result(
        data,
        lambda out: out.table(["ID", "AGE", "STATE", "NOTE"], rows, right=(1,), notes=below, whole=True),
        lambda out: out.section(),
        lambda out: out.phrases([(phrase, "dim") for phrase in ways]),
    )
