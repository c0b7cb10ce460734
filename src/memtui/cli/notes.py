"""`memtui note` for notes that were written before; apart from commands/note.py, which must import little."""

from memtui.base import clock, paths, short_ids
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.base.phrasing import age, cut
from memtui.base.short_ids import short_id
from memtui.cli import entries
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.client.transcripts import titles, transcript
from memtui.deliver import log as delivery_log
from memtui.deliver import receipts
from memtui.deliver.record import Delivery, Note, find_note, notes_of
from memtui.inbox import notes_in_flight
from memtui.inbox.format import Entry
from memtui.review import addressees
from memtui.review.waiting_entries import find
from memtui.store.journal import acts
from memtui.views import notes as words
from memtui.views.deliveries import RECEIPTS, session_words

DELIVERED_SHOWN = 5  # notes delivered last
TITLE_SHOWN = 50  # characters of a session's title


def withdraw(ctx: Context, ref: str) -> Result:
    """Withdraw a note before it is delivered."""
    item = entries.pick(ctx, ref, ("guidance",), "note")
    transaction_id = ctx.review().withdraw([item])
    data = {"withdrawn": [item.id], "transaction": transaction_id}
    return Result(data, f"{acts.done('withdraw')}: {cut(line(item.text), 60)}\nTo undo it: memtui undo")


def again(ctx: Context, ref: str, expires: "float | None", fields: "dict[str, str]", options: "set[str]") -> Result:
    """Send a note again, one that was delivered as a new one. Raises NotFoundError, ConflictError, MemtuiError."""
    every = entries.read(ctx, ("guidance",), all_projects=True)
    try:
        item = find(every, ref, "note")
        was, text = item.id, item.text
        if expires is None and not entries.states(ctx, item):
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
    unknown = addressees.strangers(ctx.root, ctx.config_dir, addresses.split(","), slug)
    for stranger in unknown:
        ctx.out.say(f"! {words.why(stranger)}\n  To withdraw it: memtui note --withdraw {short_id(entry_id)}")
    return [{"address": f"{stranger.kind}:{stranger.name}", "why": words.why(stranger)} for stranger in unknown]


def listing(ctx: Context) -> Result:
    """List the notes that wait, that are under way, and that were delivered last."""
    ctx.must_have_home()
    unread: list[dict[str, str]] = []
    every = entries.read(ctx, ("guidance",), unread=unread)
    deliveries = notes_in_flight.listed(ctx.root, [ctx.slug, None])
    outcomes = notes_in_flight.outcomes(deliveries, ctx.env, ctx.now())
    claimed = [
        _sent(phrase.entry.id, phrase.entry.text, phrase.delivery, phrase.session, phrase.record.entrypoint)
        | {"time": None if phrase.time is None else clock.iso_seconds(phrase.time), "outcome": outcome}
        for phrase in deliveries
        if (outcome := outcomes[phrase.delivery]) not in receipts.SETTLED
    ]
    delivered = _delivered(ctx, {str(row["id"]) for row in claimed})
    data = {
        "project": ctx.project_root,
        "entries": [{"id": item.id, "kind": "note", **entries.as_data(ctx, item)} for item in every],
        "in_delivery": claimed,
        "delivered": delivered,
        "unread": unread,
    }
    if not (every or claimed or delivered):
        return Result(data, 'No note waits here. Write one: memtui note "…"')

    def text(out: Output) -> None:
        from memtui.cli.detail import note_facts

        now = ctx.now()
        rows, below = [], []
        for item in every:
            states = entries.states(ctx, item)
            state = ("! " + ", ".join(states), "yellow") if states else ("○ waits", "")
            rows.append([(short_id(item.id), "cyan"), age(item.entry.time(), now), state, line(item.text)])
            below.append(", ".join(["global"] * (item.slug is None) + note_facts(item, now)))
        for row in [*claimed, *delivered]:
            key, session = short_id(str(row["id"])), str(row["session"])
            title = cut(titles.about(transcript.find(ctx.config_dir, session)).title, TITLE_SHOWN)
            below.append(line(session_words(session, str(row["entrypoint"]), title)))
            when = age(clock.parse(row["time"]), now)
            rows.append([(key, "cyan"), when, RECEIPTS[str(row["outcome"])], line(str(row["text"]))])
        out.table(["ID", "AGE", "STATE", "NOTE"], rows, right=(1,), notes=below, whole=True)
        ways = ("Withdraw: memtui note --withdraw ID", "Again: memtui note --again ID")
        out.section()
        out.phrases([(phrase, "dim") for phrase in (*ways, "All: memtui activity --kind notes")])

    return Result(data, text)


def _sent(note_id: str, text: str, delivery: str, session: str, entrypoint: str) -> "dict[str, object]":
    """Return for --json a note that a hook took."""
    return {"id": note_id, "text": text, "delivery": delivery, "session": session, "entrypoint": entrypoint}


def _delivered(ctx: Context, claimed: "set[str]") -> "list[dict[str, object]]":
    """Return for --json the notes delivered last here and globally, but for those under way (`claimed`)."""
    notes: list[Note] = []
    for record in delivery_log.newest_first(ctx.root, needle=b'"guidance"', most=delivery_log.WINDOW_BYTES):
        delivery = Delivery.of(record)
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
