"""What commands about the inbox share: find the entries that arguments name, and write an entry as JSON."""

import os

from memtui.cli.bulk import BulkResult
from memtui.cli.context import Context
from memtui.cli.output import Output, safe
from memtui.core.base import clock, paths, short_ids
from memtui.core.base.errors import ConflictError, NotFoundError
from memtui.core.base.finding import Finding
from memtui.core.base.phrasing import ago
from memtui.core.base.shell import shell_word
from memtui.core.base.short_ids import MIN_REF, short_id
from memtui.core.deliveries.record import find_note
from memtui.core.health import findings
from memtui.core.inbox import under_way
from memtui.core.review import waiting
from memtui.core.review.waiting import KINDS, Waiting
from memtui.present import drafts as drafts_words
from memtui.present import undelivered

LIMIT = 200  # entries of each kind in a list, by default
KIND_WORDS = {"guidance": "notes", "updates": "drafts", "items": "todos"}
A_KIND = {"guidance": "a note", "updates": "a draft", "items": "a todo"}
# By kind: what can be done with an entry.
DECIDE = {
    "guidance": "See it with `memtui inbox {0}`; `memtui note --edit {0} TEXT` or `--withdraw {0}`.",
    "updates": "See it with `memtui inbox {0}`; `memtui approve {0}` or `memtui reject {0}`.",
    "items": "See it with `memtui inbox {0}`; `memtui approve {0}` says it is done, `memtui reject {0}` drops it.",
}
LISTED = "`memtui inbox` lists what waits."
FULL_ID = 20  # a reference of more characters is a whole id, which the delivery log can be searched for
TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.consolidate.proposed import ProposedSet


def read(
    ctx: Context,
    kinds: "tuple[str, ...]",
    all_projects: bool = False,
    unread: "list[dict[str, str]] | None" = None,
) -> "list[Waiting]":
    """Read what waits for this project and globally, with `all_projects` for all others after it.

    Findings about files that could not be read whole are printed, and added to `unread` (message and hint).
    """
    problems: list[Finding] = []
    found = ctx.waiting(kinds, every=all_projects, unread=problems)
    for each in map(findings.unread_row, problems):
        ctx.out.say(f"! {safe(each['message'])}\n  {safe(each['hint'])}")
        if unread is not None:
            unread.append(each)
    return found


def pick(ctx: Context, ref: str, kinds: "tuple[str, ...]", what: str) -> Waiting:
    """Find an entry by its id, in all projects; `what` names its kind in errors.

    Raises NotFoundError, which says so if it is under way or was delivered already.
    """
    return pick_each(ctx, [ref], kinds, what, BulkResult())[0]


def pick_each(
    ctx: Context, refs: "list[str]", kinds: "tuple[str, ...]", what: str, bulk: BulkResult
) -> "list[Waiting]":
    """Find entries by their ids, in all projects, each once; `bulk` keeps the failures of some among several. Raises as
    `pick` for a single id, MemtuiError if none is found."""
    every = read(ctx, kinds, all_projects=True)

    def find(ref: str) -> Waiting:
        try:
            return waiting.find(every, ref, what)
        except NotFoundError as error:
            if "guidance" in kinds and (taken := _taken(ctx, ref)):
                raise taken from None
            searched = "guidance" in kinds and len(ref) > FULL_ID
            if searched and (delivery := waiting.delivered(ctx.root, ref.strip().upper())):
                hint = f"See `memtui activity {shell_word(delivery)}`."
                raise NotFoundError(f"{ref} was delivered already.", hint) from None
            if "guidance" in kinds and (note := find_note(ctx.root, ref.strip())):
                hint = f"To deliver it again: memtui note --again {short_id(note.id)}"
                raise NotFoundError(f"{ref} was delivered already.", hint) from None
            raise (
                misnamed(ctx, ref) or _delivery(ctx, ref) or NotFoundError(error.message, error.hint or LISTED)
            ) from None

    return list({item.key: item for item in bulk.find(refs, find)}.values())


def _taken(ctx: Context, ref: str) -> "NotFoundError | None":
    """Return the error for the id of a note that is under way; None for any other id."""
    notes_taken = under_way.listed(ctx.root, [None, *paths.inbox_slugs(ctx.root)])
    try:
        found = short_ids.match(ref, [each.entry.id for each in notes_taken], "note")
    except (NotFoundError, ConflictError):
        return None
    (time, *_) = (each.time for each in notes_taken if each.entry.id == found)
    return NotFoundError(
        f"{ref} is under way: a hook took it {ago(time, ctx.now())}.",
        "If it does not arrive, it waits here again: memtui note --list",
    )


def misnamed(ctx: Context, ref: str) -> "NotFoundError | None":
    """Return the error for the id of an entry where another kind of thing was asked for; None for any other id."""
    try:
        found = waiting.find(ctx.waiting(KINDS, every=True), ref, "entry")
    except (NotFoundError, ConflictError):
        return None
    return NotFoundError(f"{ref} is {A_KIND[found.kind]}.", DECIDE[found.kind].format(short_id(found.id)))


def _delivery(ctx: Context, ref: str) -> "NotFoundError | None":
    """Return the error for the id of a delivery where an entry was asked for; None for any other id."""
    from memtui.core.deliveries import log

    wanted = ref.strip().upper()
    for record in log.newest_first(ctx.root, needle=wanted.encode("utf-8", "replace")):
        if len(wanted) >= MIN_REF and str(record.get("id")).endswith(wanted):
            return NotFoundError(f"{ref} is a delivery.", f"Did you mean `memtui activity {shell_word(ref)}`?")
    return None


def all_drafts(ctx: Context, *, snoozed: bool = False, one_offs: bool = True) -> "list[Waiting]":
    """Return the drafts of this project and the global ones which are not snoozed, or with `snoozed` those that are,
    without `one_offs` those that don't look like one-offs. Raises NotFoundError if there are none."""
    found = [item for item in read(ctx, ("updates",)) if item.entry.snoozed(ctx.now()) == snoozed]
    if not one_offs:
        folded = [item for item in found if item.entry.one_off()]
        found = [item for item in found if item not in folded]
        if folded:
            ctx.out.say(f"{drafts_words.one_offs(len(folded))}: left in the inbox; --one-offs takes them too")
    if not found:
        raise NotFoundError(f"There are no {'snoozed ' if snoozed else ''}{KIND_WORDS['updates']}.")
    return found


def first(items: "list[Waiting]", limit: int) -> "tuple[list[Waiting], dict[str, int]]":
    """Return the first `limit` entries of each kind (0: all), and how many more there are of each kind."""
    counts = dict.fromkeys(KINDS, 0)
    shown = []
    for item in items:
        counts[item.kind] += 1
        if limit <= 0 or counts[item.kind] <= limit:
            shown.append(item)
    return shown, {kind: max(0, count - limit) if limit > 0 else 0 for kind, count in counts.items()}


def as_data(ctx: Context, item: Waiting) -> "dict[str, object]":
    """Return an entry for --json."""
    return {
        "id": item.id,
        "kind": item.kind,
        "scope": item.scope,
        "project": item.slug,
        "path": item.path,
        "time": None if (seconds := item.entry.time()) is None else clock.iso_seconds(seconds),
        "session": item.entry.fields.get("session"),
        "fields": item.entry.fields,
        "text": item.text,
        "evidence": item.evidence,
        "state": states(ctx, item),
        "until": None if (end := item.until(ctx.now())) is None else clock.iso_seconds(end),
    }


def new_ids(ctx: Context, items: "list[Waiting]") -> "dict[str, str]":
    """Return the ids that hand-written todos got when they were kept, by the ones that they had before."""
    written = {(item.path, item.text): item.id for item in items if not item.entry.fields.get("id")}
    every = read(ctx, ("items",), all_projects=True) if written else []
    return {written[item.path, item.text]: item.id for item in every if (item.path, item.text) in written}


def say_new_id(out: Output, was: str, now: str) -> None:
    """Say that a hand-written todo has another id from now on."""
    out.say(f"The id of {short_id(was)} is {short_id(now)} from now on.")


def states(ctx: Context, item: Waiting) -> "list[str]":
    """Return the reasons why an entry is not delivered, or an item's state."""
    return undelivered.words(ctx.settings(), item, ctx.now())


def proposals(ctx: Context) -> "list[ProposedSet]":
    """List the ChangeSets that wait; most people never have one, and reading them takes imports."""
    if not os.path.isdir(ctx.root + "/proposals"):
        return []
    from memtui.consolidate import proposed

    return proposed.waiting(ctx.root)
