"""What waits, as `memtui inbox` and `guide --list` show it: entries by kind, what is under way, what was told last."""

from memtui.cli import waiting
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.cli.waiting import KIND_WORDS, short
from memtui.core.base import clock, paths
from memtui.core.base.phrasing import age, until
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import notes, receipts
from memtui.core.deliveries.record import Delivery
from memtui.core.inbox import under_way
from memtui.core.review.waiting import KINDS, Waiting
from memtui.present.deliveries import GLYPHS, session_words

# Notes told last, and characters of each, that `guide --list` shows.
TOLD = 5
SHOWN = 600
NEXT = {
    "guidance": "take back: memtui guide --withdraw ID",
    "updates": "decide: memtui inbox show ID, approve ID, reject ID",
    "items": "tick off: memtui items done ID · keep: memtui items keep ID",
}


def listing(
    ctx: Context,
    kinds: "tuple[str, ...]" = KINDS,
    *,
    all_projects: bool = False,
    limit: int = waiting.LIMIT,
    over: "list[dict[str, object]] | None" = None,
) -> Result:
    """List what waits, of each kind at most `limit` entries (0: all); after it `over`, guidance that was told."""
    every = waiting.entries(ctx, kinds, all_projects=True)
    near = [item for item in every if all_projects or item.slug in {ctx.slug, None}]
    shown, more = waiting.first(near, limit)
    taken = _taken(ctx, all_projects) if "guidance" in kinds else []
    data = {
        "project": ctx.project_root,
        "entries": [waiting.as_data(ctx, item) for item in shown] if ctx.out.json else [],
        "more": more,
        "in_delivery": taken,
        "elsewhere": len(every) - len(near),
        "unread": ctx.kept["unread"],
        **({} if over is None else {"told": over}),
    }

    def text(out: Output) -> None:
        _print(ctx, out, shown, more, taken, len(every) - len(near))
        _print_told(ctx, out, over or [])

    return Result(data, text)


def told(ctx: Context) -> "list[dict[str, object]]":
    """The guidance of this project and of the global inbox that was told last, and which session got it."""
    found: list[notes.Note] = []
    for record in delivery_log.newest_first(ctx.root, needle=b'"guidance"', most=delivery_log.WINDOW_BYTES):
        delivery = Delivery.of(record)
        mine = delivery.project == ctx.slug
        found += [note for note in notes.of(delivery) if note.text and (mine or note.scope == "global")]
        if len(found) >= TOLD:
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
        for note in found[:TOLD]
    ]


def _taken(ctx: Context, all_projects: bool) -> "list[dict[str, object]]":
    """Guidance that a hook took and of which the transcript does not tell yet what became of it."""
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
    taken: "list[dict[str, object]]",
    elsewhere: int,
) -> None:
    now = ctx.now()
    homes = homes_of(ctx, items)
    for kind in KINDS:
        mine = [item for item in items if item.kind == kind]
        if not mine:
            continue
        stuck = kind == "guidance" and any(waiting.states(ctx, item) for item in mine)
        again = " · leave anew: --again ID" if stuck else ""
        out.heading(KIND_WORDS[kind].capitalize(), f"{len(mine) + more[kind]}  ·  {NEXT[kind]}{again}")
        for item in mine:
            where = place(ctx, item, homes)
            bad = waiting.states(ctx, item)
            head = f"  {out.style(short(item.id), 'cyan')}  {age(item.entry.time(), now):>4}  "
            words = ["! " + ", ".join(bad)] if bad else []
            words += [where] if where else []
            out.marked(head, 14, "  ·  ".join([*words, *details(item, now)]), "yellow" if bad else "")
            _paragraph(out, item.text)
        if more[kind]:
            out.print(f"  and {more[kind]:,} more: memtui inbox --kind {kind} --limit 0")
        out.print()
    if taken:
        out.heading("Under way", f"{len(taken)}  ·  a hook gave it to the client, no transcript proves it yet")
        for row in taken:
            _print_given(out, row, now, "→ under way to {}", "cyan")
        out.print()
    if not items and not taken:
        out.print("Nothing waits here.")
        out.print('  Leave guidance: memtui guide "…"')
    if elsewhere:
        out.print(f"{elsewhere} more in other projects: memtui inbox --all-projects")


def _print_told(ctx: Context, out: Output, rows: "list[dict[str, object]]") -> None:
    if not rows:
        return
    out.print()
    out.heading("Told", "all: memtui deliveries --kind guidance · say it again: --again ID")
    for row in rows:
        glyph, style = GLYPHS[str(row["outcome"])]
        _print_given(out, row, ctx.now(), f"{glyph} {row['outcome']} · {{}}", style)


def _print_given(out: Output, row: "dict[str, object]", now: float, words: str, style: str) -> None:
    """A note that a hook gave; `words` has a place for the session."""
    head = f"  {out.style(short(str(row['id'])), 'cyan')}  {age(clock.parse(row['time']), now):>4}  "
    session = session_words(str(row["session"]), str(row["entrypoint"]))
    out.marked(head, 14, words.format(line(session)), style)
    _paragraph(out, str(row["text"]))


def _paragraph(out: Output, text: str) -> None:
    out.paragraph(text if len(text) <= SHOWN else text[:SHOWN] + " …", "      ")


def homes_of(ctx: Context, items: "list[Waiting]") -> "dict[str, str]":
    """The directories of the other projects of some entries, by slug: found in one go, there may be thousands."""
    from memtui.core.client import projects

    told = {item.slug: home for item in items if item.slug and (home := item.entry.fields.get("project"))}
    others = {item.slug for item in items if item.slug and item.slug != ctx.slug} - told.keys()
    found = projects.paths_of(ctx.env, sorted(others)) if others else {}
    return {**{slug: home or slug for slug, home in found.items()}, **told}


def place(ctx: Context, item: Waiting, homes: "dict[str, str]") -> str:
    """The owner of an entry, where it is not this project's: global, or the other project's directory."""
    if item.slug in {None, ctx.slug}:
        return "" if item.slug else "global"
    home = item.entry.fields.get("project") or homes.get(item.slug or "", "")
    return "of " + line(ctx.tilde(home))


def details(item: Waiting, now: float) -> "list[str]":
    """The facts about an entry, a few words each."""
    fields = item.entry.fields
    words = []
    if item.kind == "updates":
        sure = _percent(fields.get("confidence", ""))
        words.append(fields.get("kind", "note") + (f", {sure} sure" if sure else ""))
        target = "/".join(part for part in (fields.get("scope"), fields.get("type"), fields.get("name")) if part)
        words += [f"→ {target}"] if target else []
        words += [f"seen {fields['seen']}×"] if fields.get("seen", "1") != "1" else []
        words += [f"session {fields['session'][:8]}"] if fields.get("session") else []
    elif item.kind == "guidance":
        words.append("from " + fields.get("from", "a hand-written note"))
        words += ["urgent"] if item.entry.flag("urgent") else []
        words += ["for " + fields["for"]] if fields.get("for") else []
        words += ["may have been delivered before"] if item.entry.flag("repeat") else []
        expires = clock.parse(fields.get("expires"))
        if expires is not None and expires > now:
            words.append(f"expires {until(expires, now)}")
    else:
        words += [f"session {fields['session'][:8]}"] if fields.get("session") else ["hand-written"]
    return [line(word) for word in words]


def _percent(text: str) -> str:
    try:
        return f"{float(text):.0%}" if 0 <= float(text) <= 1 else ""
    except ValueError:
        return ""
