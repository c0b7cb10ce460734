"""The lists of `memtui inbox` and `note --list`: entries by kind, notes under way, notes delivered last."""

from memtui.backfill import begun
from memtui.cli import entries
from memtui.cli.context import Context
from memtui.cli.entries import KIND_WORDS
from memtui.cli.output import Output, Result, line
from memtui.cli.show import changed
from memtui.core.base import clock, paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import age, ago, cut, many, until
from memtui.core.base.short_ids import short_id
from memtui.core.client import titles, transcript
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts
from memtui.core.deliveries.record import Delivery, Note, notes_of
from memtui.core.inbox import under_way
from memtui.core.memories import scopes
from memtui.core.memories.writers import Occasions
from memtui.core.review import draft, waiting
from memtui.core.review.changed import Changed
from memtui.core.review.waiting import KINDS, Waiting, best_first
from memtui.core.settings import config
from memtui.present import changed as words
from memtui.present import dates, drafts
from memtui.present.deliveries import GLYPHS, session_words

# What is listed beside the entries of the inboxes: memories that somebody else wrote.
CHANGED = "changed"
# What `memtui inbox --kind` takes, by the name in files; lists show these words.
INBOX_WORD = {"guidance": "notes", "updates": "drafts", "items": "todos", CHANGED: CHANGED}
TOLD_SHOWN = 5  # notes delivered last
HEAD_COLUMNS = 16  # of an id and an age
TITLE_SHOWN = 50  # characters of a session's title
TEXT_SHOWN = 600  # characters of an entry
AGAIN = "deliver again: memtui note --again ID"
# What a draft is like, in words.
ALIKE = {"rejected": "! like a draft that you rejected", "similar": "like a memory that is there"}
# By kind: the commands to decide about an entry.
COMMANDS = {
    "guidance": ("withdraw: memtui note --withdraw ID",),
    "updates": ("see one: memtui inbox ID", "decide: memtui approve ID or reject ID"),
    "items": ("done: memtui approve ID", "drop: memtui reject ID"),
}


def listing(
    ctx: Context,
    kinds: "tuple[str, ...]" = KINDS,
    *,
    all_projects: bool = False,
    limit: int = entries.LIMIT,
    told: bool = False,
    snoozed: bool = False,
) -> Result:
    """List what waits, at most `limit` entries of each kind (0: all), and below it, if `told`, the notes delivered
    last. With `snoozed` list only what is snoozed, else say how much is. Drafts that look like one-offs are counted
    unless drafts are all that is asked for."""
    folding = len(kinds) > 1 and not snoozed
    unread: list[dict[str, str]] = []
    with_changed, kinds = CHANGED in kinds and not snoozed, _of_inbox(kinds)
    proposals = entries.proposals(ctx) if with_changed and kinds else []  # of --kind changed these are none
    others = _changed(ctx, all_projects) if with_changed else []
    hidden = ctx.count_hidden() if with_changed else 0
    every = entries.read(ctx, kinds, all_projects=True, unread=unread)
    now = ctx.now()
    later = [item for item in every if item.entry.snoozed(now) and (all_projects or item.slug in {ctx.slug, None})]
    every = [item for item in every if item.entry.snoozed(now) == snoozed]
    near = best_first([item for item in every if all_projects or item.slug in {ctx.slug, None}])
    one_offs = [item for item in near if folding and item.kind == "updates" and item.entry.one_off()]
    shown, more = entries.first([item for item in near if item not in one_offs], limit)
    listed = others[:limit] if limit > 0 else others
    occasions = Occasions(ctx.env)
    claimed = _under_way(ctx, all_projects) if "guidance" in kinds and not snoozed else []
    delivered = _told(ctx, {str(row["id"]) for row in claimed}) if told else []
    data = {
        "project": ctx.project_root,
        "entries": [entries.as_data(ctx, item) for item in shown] if ctx.out.json else [],
        "changed": [changed.as_data(ctx, item, occasions) for item in listed] if ctx.out.json else [],
        "proposals": [{"path": each.path, "by": each.by, "open": each.open} for each in proposals],
        "more": {**more, CHANGED: len(others) - len(listed)},
        "in_delivery": claimed,
        "hidden_by_gate": hidden,
        "elsewhere": len(every) - len(near),
        "snoozed": len(later),
        "one_offs": len(one_offs),
        "unread": unread,
        **({"told": delivered} if told else {}),
    }

    def text(out: Output) -> None:
        if snoozed and not shown:
            out.print("No draft is snoozed. memtui reject ID --later friday hides one until then.")
            return
        if listed:
            changed.print_all(ctx, out, listed, len(others) - len(listed))
        if shown or claimed or not listed or len(every) > len(near):
            _print(ctx, out, shown, more, claimed, len(every) - len(near), nothing=not listed)
        if one_offs:
            out.print(f"{drafts.one_offs(len(one_offs))}: memtui inbox --kind drafts")
        if later and not snoozed:
            if len(every) == len(near):  # else that line stands there already
                out.section()
            untils = [end for item in later if (end := item.until(now)) is not None]
            out.print(f"{drafts.waiting(untils, now)}: memtui inbox --snoozed")
        if hidden:
            said, remedy = words.gate_off(hidden, own=config.is_own(ctx.settings(), ctx.project_root, "gate"))
            out.print(said)
            out.print(f"  {remedy}")
        for each in proposals:
            what = f"{many(each.open, 'proposal')} about memories, by {line(each.by)}, {ago(each.time, now)}"
            path = ctx.tilde(each.path)
            out.print(f"{what}: {line(path)}")
            out.print("  see them: memtui consolidate, or memtui --screen inbox")
        _print_told(ctx, out, delivered)

    return Result(data, text)


def _of_inbox(kinds: "tuple[str, ...]") -> "tuple[str, ...]":
    return tuple(kind for kind in kinds if kind != CHANGED)


def _changed(ctx: Context, all_projects: bool) -> "list[Changed]":
    """Return what others wrote since the person saw it; what can't be read is said."""
    try:
        ctx.look()
        return ctx.changed(every=all_projects)
    except MemtuiError as error:
        ctx.out.say(f"! {line(error.message)}")
        return []


def _told(ctx: Context, claimed: "set[str]") -> "list[dict[str, object]]":
    """Return the notes of this project and the global inbox that were delivered last, with outcomes, for --json;
    without those that are listed as under way, whose ids `claimed` has."""
    found: list[Note] = []
    for record in delivery_log.newest_first(ctx.root, needle=b'"guidance"', most=delivery_log.WINDOW_BYTES):
        delivery = Delivery.of(record)
        mine = delivery.project == ctx.slug
        given = [note for note in notes_of(delivery) if note.text and note.id not in claimed]
        found += [note for note in given if mine or note.scope == "global"]
        if len(found) >= TOLD_SHOWN:
            break
    outcomes = receipts.outcomes([note.delivery.record for note in found], ctx.env, ctx.now())
    return [
        {
            "id": note.id,
            "text": note.text,
            "delivery": note.delivery.id,
            "session": note.delivery.session,
            "entrypoint": note.delivery.entrypoint,
            "time": note.delivery.logged,
            "outcome": outcomes[note.delivery.id],
        }
        for note in found[:TOLD_SHOWN]
    ]


def _under_way(ctx: Context, all_projects: bool) -> "list[dict[str, object]]":
    """Return notes that a hook has claimed and no transcript proves delivered yet, for --json."""
    slugs = [ctx.slug, None, *(s for s in paths.inbox_slugs(ctx.root) if all_projects and s != ctx.slug)]
    return [
        {
            "id": each.entry.id,
            "text": each.entry.text,
            "delivery": each.delivery,
            "session": each.session,
            "entrypoint": each.record.entrypoint,
            "time": None if each.time is None else clock.iso_seconds(each.time),
            "project": each.slug,
        }
        for each in under_way.listed(ctx.root, slugs)
    ]


def _print(
    ctx: Context,
    out: Output,
    items: "list[Waiting]",
    more: "dict[str, int]",
    claimed: "list[dict[str, object]]",
    elsewhere: int,
    *,
    nothing: bool,
) -> None:
    """Print the entries, those under way, and how many there are elsewhere; if there is `nothing` else, say so."""
    now = ctx.now()
    homes, targets = homes_of(ctx, items), DraftTargets(ctx)
    alike = _likeness(ctx, items)
    for kind in KINDS:
        mine = [item for item in items if item.kind == kind]
        if not mine:
            continue
        out.section()
        stuck = kind == "guidance" and any(entries.states(ctx, item) for item in mine)
        again = (AGAIN,) if stuck else ()
        _print_heading(out, KIND_WORDS[kind].capitalize(), f"{len(mine) + more[kind]}", *COMMANDS[kind], *again)
        for item in mine:
            where = place(ctx, item, homes)
            states = entries.states(ctx, item)
            wrong = bool(states) and kind != "items"  # of an item these say whether it is kept
            words = [("! " if wrong else "") + ", ".join(states)] if states else []
            words += [where] if where else []
            words += [ALIKE[alike[item.key]]] if item.key in alike else []
            facts = [*words, *details(item, now, targets.of(item))]
            _print_entry(out, item.id, age(item.entry.time(), now), facts, "yellow" if wrong else "", item.text)
        if more[kind]:
            out.print(f"  and {more[kind]:,} more: memtui inbox --kind {INBOX_WORD[kind]} --limit 0")
    if claimed:
        out.section()
        _print_heading(out, "Under way", f"{len(claimed)}", "a hook gave it to the client, no transcript proves it yet")
        for row in claimed:
            _print_note(ctx, out, row, "→ under way to {}", "cyan")
    if nothing and not items and not claimed:
        out.print("Nothing waits here.")
        if earlier := begun.unread(ctx.root, ctx.config_dir):
            out.print(f"  memtui import sessions reads your {many(earlier, 'earlier session')} for drafts.")
        out.print('  Write a note: memtui note "…"')
    if elsewhere:
        out.section()
        out.print(f"{elsewhere} more in other projects: memtui inbox --all-projects")


def _print_told(ctx: Context, out: Output, rows: "list[dict[str, object]]") -> None:
    if not rows:
        return
    out.section()
    _print_heading(out, "Delivered", "all: memtui activity --kind notes", AGAIN)
    for row in rows:
        glyph, style = GLYPHS[str(row["outcome"])]
        _print_note(ctx, out, row, f"{glyph} {row['outcome']} · {{}}", style)


def _print_heading(out: Output, title: str, *facts: str) -> None:
    """Print a title with facts and commands beside it, on as many lines as they need."""
    out.beside(out.style(title, "bold") + "  ", len(title) + 2, facts, "dim")


def _print_note(ctx: Context, out: Output, row: "dict[str, object]", words: str, style: str) -> None:
    """Print a note that a hook gave to a session; `{}` in `words` is replaced by the session."""
    session = str(row["session"])
    title = cut(titles.about(transcript.find(ctx.config_dir, session)).title, TITLE_SHOWN)
    facts = words.format(line(session_words(session, str(row["entrypoint"]), title)))
    _print_entry(out, str(row["id"]), age(clock.parse(row["time"]), ctx.now()), [facts], style, str(row["text"]))


def _print_entry(out: Output, entry_id: str, when: str, facts: "list[str]", style: str, text: str) -> None:
    out.beside(f"  {out.style(short_id(entry_id), 'cyan')}  {when:>4}  ", HEAD_COLUMNS, facts, style)
    out.paragraph(text if len(text) <= TEXT_SHOWN else text[:TEXT_SHOWN] + " …", "      ")


def homes_of(ctx: Context, items: "list[Waiting]") -> "dict[str, str]":
    """Return the directories of the other projects of entries, by slug."""
    found = waiting.homes(ctx.env, (item for item in items if item.slug != ctx.slug))
    return {slug: home or slug for slug, home in found.items()}


def place(ctx: Context, item: Waiting, homes: "dict[str, str]") -> str:
    """Say where an entry belongs: `global`, or another project's directory; empty for this project."""
    if item.slug in {None, ctx.slug}:
        return "" if item.slug else "global"
    home = item.entry.fields.get("project") or homes.get(item.slug or "", "")
    return "of " + line(ctx.tilde(home))


def _likeness(ctx: Context, items: "list[Waiting]") -> "dict[str, str]":
    """Return by the key of an entry what drafts are like: a rejected one, or a memory of here."""
    if not any(item.kind == "updates" for item in items):
        return {}
    from memtui.consolidate import known_texts

    found = [scope for scope in scopes.discover(ctx.env, ctx.cwd) if scope.exists and scope.writable]
    return known_texts.likeness(
        ctx.root, items, (each for scope in found if not scope.problem for each in scopes.memories(scope))
    )


class DraftTargets:
    """The scopes that approving drafts would write into, each project looked at once."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self._of_project: dict[str | None, str] = {}

    def of(self, item: Waiting) -> str:
        """Return the label of the scope; empty for what is no draft."""
        if item.kind != "updates":
            return ""
        label = draft.label_of(item)
        if label != "project":
            return label
        if item.slug not in self._of_project:
            home = draft.home_store(self.ctx.store(), item)
            self._of_project[item.slug] = label if home is None or home.scope(label).exists else "auto"
        return self._of_project[item.slug]


def details(item: Waiting, now: float, target: str) -> "list[str]":
    """Return the facts about an entry, a few words each. `target`: the scope that approving a draft writes into."""
    fields = item.entry.fields
    words = []
    if item.kind == "updates":
        words += [f"until {dates.day(end, now)}"] if (end := item.until(now)) is not None else []
        words.append(" · ".join(filter(None, (drafts.kind(item), *drafts.odds_of(item), drafts.by_model(fields)))))
        becomes = [part for part in (fields.get("type"), fields.get("name")) if part]
        words += [f"→ {'/'.join([target, *becomes])}"] if fields.get("scope") or becomes else []
    elif item.kind == "guidance":
        words.append(f"from {fields['from']}" if "from" in fields else "hand-written")
        words += ["urgent"] if item.entry.flag("urgent") else []
        words += ["for " + fields["for"]] if fields.get("for") else []
        words += ["may have been delivered before"] if item.entry.flag("repeat") else []
        expires = clock.parse(fields.get("expires"))
        if expires is not None and expires > now:
            words.append(f"expires {until(expires, now)}")
    else:
        words += ["left by a session"] if fields.get("session") else ["hand-written"]
    return [line(word) for word in words]
