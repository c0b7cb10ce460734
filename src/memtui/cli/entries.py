"""The entries of inboxes for several commands: read them, find one by its id, write one as JSON."""

from contextlib import suppress

from memtui.base import clock, findings, paths, short_ids
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.base.finding import Finding
from memtui.base.phrasing import age, ago, cut, many, until
from memtui.base.shell import shell_word
from memtui.base.short_ids import MIN_REF, short_id
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, picked, safe
from memtui.client.transcripts import prompts, transcript
from memtui.deliver import log, receipts, sessions
from memtui.deliver import log as delivery_log
from memtui.deliver.record import Delivery, Note, find_note, notes_of
from memtui.inbox import format as inbox_format
from memtui.inbox import undelivered
from memtui.inbox.format import Entry
from memtui.review import waiting_entries
from memtui.review.waiting_entries import KINDS, Waiting
from memtui.store.journal import acts
from memtui.store.journal.text_edit import TextEdit
from memtui.views import drafts
from memtui.views import notes as words
from memtui.views.deliveries import OUTCOMES, RECEIPTS, session_words

# Operations of the journal by which a person decides.
DECIDING = frozenset(
    ("approve", "consolidate", "delete", "done", "keep", "reject", "restore", "snooze", "trust", "withdraw")
)
DECIDED_LATELY = 50  # of the newest changes are looked through for what was decided
DELIVERED_SHOWN = 5  # notes delivered last
TITLE_SHOWN = 50  # characters of a session's title
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
    newest = {task.entry.id: task for task in reversed(undelivered.under_way(ctx.root, slugs))}
    note = find_note(ctx.root, ref.strip()) if len(ref.strip()) >= MIN_REF else None
    with suppress(NotFoundError, ConflictError):
        claim = newest[short_ids.match(ref, newest, "note")]
        if note is None or claim.delivery > note.delivery.id:
            outcome = undelivered.outcomes([claim], ctx.env, ctx.now())[claim.delivery]
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


def note_facts(item: Waiting, now: float) -> "list[str]":
    """Return the facts about a note, a few words each."""
    fields = item.entry.fields
    parts = [f"from {fields['from']}" if "from" in fields else "hand-written"]
    parts += ["urgent"] if item.entry.flag("urgent") else []
    parts += ["for " + fields["for"]] if fields.get("for") else []
    parts += ["may have been delivered before"] if item.entry.flag("repeat") else []
    expires = clock.parse(fields.get("expires"))
    parts += [f"expires {until(expires, now)}"] if expires is not None and expires > now else []
    return [line(part) for part in parts]


def withdraw(ctx: Context, ref: str) -> Result:
    item = pick(ctx, ref, ("guidance",), "note")
    transaction_id = ctx.review().withdraw([item])
    data = {"withdrawn": [item.id], "transaction": transaction_id}
    return Result(data, f"{acts.done('withdraw')}: {cut(line(item.text), 60)}\nTo undo it: memtui undo")


def again(ctx: Context, ref: str, expires: "float | None", fields: "dict[str, str]", options: "set[str]") -> Result:
    """Send a note again, one that was delivered as a new one. Raises NotFoundError, ConflictError, MemtuiError."""
    every = read(ctx, ("guidance",), all_projects=True)
    try:
        item = waiting_entries.find(every, ref, "note")
        was, text = item.id, item.text
        if expires is None and not states(ctx, item):
            raise _waits(ref, was)
        new_id, transaction_id = ctx.review().again(item, expires)
    except NotFoundError as error:
        note = find_note(ctx.root, ref.strip().upper())
        if note is None:
            raise NotFoundError(error.message, error.hint or "`memtui note --list` lists them.") from None
        if note.delivery.folded:
            hint = "Write it again: memtui note TEXT"
            raise MemtuiError("The text of that note is no longer kept.", hint) from None
        slug = None if note.scope == "global" else note.delivery.project or ctx.slug
        was, text = note.id, note.text
        before = {"from": note.sender or fields["from"], **note.fields}
        if Entry("", before, text, "", 0).expired(ctx.now()):
            del before["expires"]
        changed = {key: value for key, value in fields.items() if key in options}
        fields = {key: value for key, value in before.items() if key not in options} | changed
        for entry in every:
            if (entry.slug, entry.text, entry.entry.fields.get("for")) == (slug, text, fields.get("for")):
                raise _waits(ref, entry.id) from None
        new_id, transaction_id = ctx.review().guide(paths.inbox_dir(ctx.root, slug), fields, text)
    unknown = warn_of_strangers(ctx, new_id, fields.get("for", ""), ctx.slug)
    data = {"id": new_id, "was": was, "text": text, "transaction": transaction_id, "unknown": unknown}
    words = f"Sent again as {short_id(new_id)}; to undo it: memtui undo" if ctx.out.tty else short_id(new_id)
    return Result(data, words)


def _waits(ref: str, name: str) -> ConflictError:
    words = f"{ref} waits already" + ("." if short_ids.is_short_for(ref.upper(), name) else f", as {short_id(name)}.")
    return ConflictError(words, "`memtui note --list` lists it.")


def warn_of_strangers(ctx: Context, entry_id: str, addresses: str, slug: "str | None") -> "list[dict[str, object]]":
    """Print why a note for these `addresses` may reach nobody in a project, and what to do; return it for --json."""
    unknown = sessions.strangers(ctx.root, ctx.config_dir, addresses.split(","), slug)
    for stranger in unknown:
        ctx.out.say(f"! {words.why(stranger)}\n  To withdraw it: memtui note --withdraw {short_id(entry_id)}")
    return [{"address": f"{stranger.kind}:{stranger.name}", "why": words.why(stranger)} for stranger in unknown]


def listing(ctx: Context) -> Result:
    """List the notes that wait, that are under way, and that were delivered last."""
    ctx.must_have_home()
    unread: list[dict[str, str]] = []
    every = read(ctx, ("guidance",), unread=unread)
    deliveries = undelivered.under_way(ctx.root, [ctx.slug, None])
    outcomes = undelivered.outcomes(deliveries, ctx.env, ctx.now())
    claimed = [
        _sent(phrase.entry.id, phrase.entry.text, phrase.delivery, phrase.session, phrase.record.entrypoint)
        | {"time": None if phrase.time is None else clock.iso_seconds(phrase.time), "outcome": outcome}
        for phrase in deliveries
        if (outcome := outcomes[phrase.delivery]) not in receipts.SETTLED
    ]
    delivered = _delivered(ctx, {str(row["id"]) for row in claimed})
    data = {
        "project": ctx.project_root,
        "entries": [{"id": item.id, "kind": "note", **as_data(ctx, item)} for item in every],
        "in_delivery": claimed,
        "delivered": delivered,
        "unread": unread,
    }
    if not (every or claimed or delivered):
        return Result(data, 'No note waits here. Write one: memtui note "…"')

    def text(out: Output) -> None:
        now = ctx.now()
        rows, below = [], []
        for item in every:
            why = states(ctx, item)
            state = ("! " + ", ".join(why), "yellow") if why else ("○ waits", "")
            rows.append([(short_id(item.id), "cyan"), age(item.entry.time(), now), state, line(item.text)])
            below.append(", ".join(["global"] * (item.slug is None) + note_facts(item, now)))
        for row in [*claimed, *delivered]:
            key, session = short_id(str(row["id"])), str(row["session"])
            title = cut(prompts.about(transcript.find(ctx.config_dir, session)).title, TITLE_SHOWN)
            below.append(line(session_words(session, str(row["entrypoint"]), title)))
            when = age(clock.parse(row["time"]), now)
            rows.append([(key, "cyan"), when, RECEIPTS[str(row["outcome"])], line(str(row["text"]))])
        out.table(["ID", "AGE", "STATE", "NOTE"], rows, right=(1,), notes=below, whole=True)
        ways = ("Withdraw: memtui note --withdraw ID", "Again: memtui note --again ID")
        out.section()
        out.phrases([(phrase, "dim") for phrase in (*ways, "All: memtui activity --kind notes")])

    return Result(data, text)


def _sent(note_id: str, text: str, delivery: str, session: str, entrypoint: str) -> "dict[str, object]":
    return {"id": note_id, "text": text, "delivery": delivery, "session": session, "entrypoint": entrypoint}


def _delivered(ctx: Context, claimed: "set[str]") -> "list[dict[str, object]]":
    """Return for --json the notes delivered last here and globally, but for those under way (`claimed`)."""
    notes: list[Note] = []
    for record in delivery_log.newest_first(ctx.root, needle=b'"guidance"', most=delivery_log.WINDOW_BYTES):
        delivery = Delivery(record)
        mine = delivery.project == ctx.slug
        new = [note for note in notes_of(delivery) if note.text and note.id not in claimed]
        notes += [note for note in new if mine or note.scope == "global"]
        if len(notes) >= DELIVERED_SHOWN:
            break
    outcomes = receipts.outcomes([note.delivery.record for note in notes], ctx.env, ctx.now())
    return [
        _sent(note.id, note.text, note.delivery.id, note.delivery.session, note.delivery.entrypoint)
        | {"time": note.delivery.logged, "outcome": outcomes[note.delivery.id]}
        for note in notes[:DELIVERED_SHOWN]
    ]
