"""`memtui inbox`, `approve`, `reject`: what waits, and what becomes of it."""

import argparse

from memtui.cli import parser, secret
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.core.base import clock, paths
from memtui.core.base.errors import MemtuiError, NotFoundError, UsageError
from memtui.core.base.phrasing import age, ago, many, until
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts
from memtui.core.deliveries import record as delivery_record
from memtui.core.inbox import under_way
from memtui.core.review import triage
from memtui.core.review.triage import Waiting
from memtui.hooks import deliverable
from memtui.present import undelivered

LIMIT = 200
# Notes told last, and characters of each, that `guide --list` shows.
TOLD = 5
SHOWN = 600
KIND_WORDS = {"guidance": "guidance", "updates": "pending updates", "items": "pending items"}
ONE = {"guidance": "Guidance", "updates": "Pending update", "items": "Pending item"}
NEXT = {
    "guidance": "take back: memtui guide --withdraw ID",
    "updates": "decide: memtui inbox show ID, approve ID, reject ID",
    "items": "tick off: memtui items done ID · keep: memtui items keep ID",
}


def register(commands: "parser.Commands") -> None:
    """Add the commands."""
    found = parser.command(
        commands,
        "inbox",
        run,
        "list everything that waits",
        "memtui inbox\nmemtui inbox --kind updates --all-projects\nmemtui inbox show 7XAD",
        "Guidance for the agent, pending updates to review, unfinished items.",
    )
    found.add_argument("--kind", choices=triage.KINDS, help="only guidance, updates or items")
    found.add_argument("--all-projects", action="store_true", help="the inboxes of all projects")
    found.add_argument("--limit", type=int, default=LIMIT, metavar="N", help=f"of each kind, default: {LIMIT}, 0: all")
    actions = parser.actions(found)
    each = parser.command(
        actions, "show", show, "show one entry whole, and where it comes from", "memtui inbox show 7XAD"
    )
    each.add_argument("id", metavar="ID")

    found = parser.command(
        commands,
        "approve",
        approve,
        "make pending updates memories",
        "memtui approve 7XAD\nmemtui approve 7XAD --name use-pnpm --body 'Use pnpm, never npm.'\n"
        "memtui approve 7XAD --into prefer-pnpm",
        "What will be written is shown; `memtui undo` takes it back. IDs may be given by a beginning or end.",
    )
    found.add_argument("ids", nargs="*", metavar="ID", help="pending updates, see `memtui inbox`")
    found.add_argument("--all", action="store_true", help="all of this project and the global ones")
    found.add_argument("--name", help="the memory's name")
    found.add_argument("--type", help="the memory's type")
    found.add_argument("--scope", help="where to: project, global, auto, agent:NAME")
    found.add_argument("--description", help="the memory's description")
    found.add_argument("--body", metavar="TEXT", help="another text; `-` reads standard input")
    found.add_argument("--into", metavar="MEMORY", help="append to a memory that is there already")
    found.add_argument("--edit", action="store_true", help="edit the memory's text first")
    found.add_argument("--dry-run", action="store_true", help="show what would be written")
    found.add_argument("--yes", action="store_true", help=secret.HELP)

    found = parser.command(
        commands,
        "reject",
        reject,
        "drop pending updates",
        "memtui reject 7XAD\nmemtui reject --all --never",
        "`memtui undo` brings them back.",
    )
    found.add_argument("ids", nargs="*", metavar="ID", help="pending updates, see `memtui inbox`")
    found.add_argument("--all", action="store_true", help="all of this project and the global ones")
    found.add_argument("--never", action="store_true", help="note it, so that the same words are never extracted again")


def _details(item: Waiting, now: float) -> "list[str]":
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


def _homes(ctx: Context, items: "list[Waiting]") -> "dict[str, str]":
    """Where the other projects of some entries are, by slug: found in one go, there may be thousands."""
    from memtui.core.client import projects

    delivery_record = {item.slug: home for item in items if item.slug and (home := item.entry.fields.get("project"))}
    others = {item.slug for item in items if item.slug and item.slug != ctx.slug} - delivery_record.keys()
    found = projects.paths_of(ctx.env, sorted(others)) if others else {}
    return {**{slug: home or slug for slug, home in found.items()}, **delivery_record}


def _place(ctx: Context, item: Waiting, homes: "dict[str, str]") -> str:
    """Whose entry it is, where it is not this project's: global, or the other project's directory."""
    if item.slug in {None, ctx.slug}:
        return "" if item.slug else "global"
    home = item.entry.fields.get("project") or homes.get(item.slug or "", "")
    return "of " + line(ctx.tilde(home))


def as_data(ctx: Context, item: Waiting) -> "dict[str, object]":
    """An entry for --json."""
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
        "state": undelivered.words(ctx.settings(), item, ctx.now()),
    }


def entries(ctx: Context, kinds: "tuple[str, ...]" = triage.KINDS, all_projects: bool = False) -> "list[Waiting]":
    """What waits for this project and everywhere; with `all_projects` for all of them, this one first."""
    others = [slug for slug in triage.slugs(ctx.root) if slug != ctx.slug] if all_projects else []
    unread: list[MemtuiError] = []
    found = triage.waiting(ctx.root, [ctx.slug, None, *others], kinds, unread)
    ctx.kept["unread"] = delivery_record = [{"message": each.message, "hint": each.hint} for each in unread]
    for each in delivery_record:
        ctx.out.say(f"! {safe(each['message'])}\n  {safe(each['hint'])}")
    return found


def pick(ctx: Context, refs: "list[str]", kinds: "tuple[str, ...]", what: str) -> "list[Waiting]":
    """The entries that some ids mean, of any project. Raises NotFoundError, saying so if one was delivered."""
    every = entries(ctx, kinds, all_projects=True)
    found: dict[str, Waiting] = {}
    for ref in refs:
        try:
            item = triage.find(every, ref, what)
        except NotFoundError as error:
            gone = triage.delivered(ctx.root, ref.strip().upper()) if kinds == ("guidance",) and len(ref) > 20 else None
            if gone:
                raise NotFoundError(f"{ref} was delivered already.", f"See `memtui deliveries show {gone}`.") from None
            hint = error.hint or "`memtui inbox` lists what waits."
            raise NotFoundError(error.message, hint) from None
        found[item.id + item.path] = item
    return list(found.values())


def run(ctx: Context, args: argparse.Namespace, over: "list[dict[str, object]] | None" = None) -> Result:
    """List what waits; after it `over`, guidance that was told."""
    kinds = (args.kind,) if args.kind else triage.KINDS
    every = entries(ctx, kinds, all_projects=True)
    near = [item for item in every if args.all_projects or item.slug in {ctx.slug, None}]
    shown, more = first(near, args.limit)
    taken = _taken(ctx, args.all_projects) if "guidance" in kinds else []
    data = {
        "project": ctx.project_root,
        "entries": [as_data(ctx, item) for item in shown] if ctx.out.json else [],
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


def first(items: "list[Waiting]", limit: int) -> "tuple[list[Waiting], dict[str, int]]":
    """The first entries of each kind, so many at most (0: all), and how many there are beyond them, by kind."""
    counts = dict.fromkeys(triage.KINDS, 0)
    shown = []
    for item in items:
        counts[item.kind] += 1
        if limit <= 0 or counts[item.kind] <= limit:
            shown.append(item)
    return shown, {kind: max(0, count - limit) if limit > 0 else 0 for kind, count in counts.items()}


def list_guidance(ctx: Context) -> Result:
    """`guide --list`."""
    return run(ctx, argparse.Namespace(kind="guidance", all_projects=False, limit=LIMIT), _told(ctx))


def _told(ctx: Context) -> "list[dict[str, object]]":
    """The guidance of this project and of the global inbox that was told last, and which session got it."""
    found: list[delivery_record.Note] = []
    for record in delivery_log.newest_first(ctx.root, needle=b'"guidance"', most=delivery_log.WINDOW_BYTES):
        mine = delivery_record.text_of(record, "project") == ctx.slug
        found += [note for note in delivery_record.notes(record) if note.text and (mine or note.scope == "global")]
        if len(found) >= TOLD:
            break
    outcomes = receipts.outcomes([note.record for note in found], ctx.env, ctx.now())
    return [
        {
            "id": note.id,
            "text": note.text,
            "delivery": delivery_record.text_of(note.record, "id"),
            "session": delivery_record.text_of(note.record, "session_id"),
            "entrypoint": delivery_record.text_of(note.record, "entrypoint"),
            "time": delivery_record.text_of(note.record, "time"),
            "outcome": outcomes[delivery_record.text_of(note.record, "id")],
        }
        for note in found[:TOLD]
    ]


def _taken(ctx: Context, all_projects: bool) -> "list[dict[str, object]]":
    """Guidance that a hook took and of which the transcript does not tell yet what became of it."""
    slugs = [ctx.slug, None, *(s for s in triage.slugs(ctx.root) if all_projects and s != ctx.slug)]
    return [
        {
            "id": each.entry.id,
            "text": each.entry.text,
            "delivery": each.delivery,
            "session": each.session,
            "entrypoint": delivery_record.text_of(each.record, "entrypoint"),
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
    homes = _homes(ctx, items)
    for kind in triage.KINDS:
        mine = [item for item in items if item.kind == kind]
        if not mine:
            continue
        stuck = kind == "guidance" and any(undelivered.words(ctx.settings(), item, now) for item in mine)
        again = " · leave anew: --again ID" if stuck else ""
        out.heading(KIND_WORDS[kind].capitalize(), f"{len(mine) + more[kind]}  ·  {NEXT[kind]}{again}")
        for item in mine:
            where = _place(ctx, item, homes)
            bad = undelivered.words(ctx.settings(), item, now)
            head = f"  {out.style(short(item.id), 'cyan')}  {age(item.entry.time(), now):>4}  "
            words = ["! " + ", ".join(bad)] if bad else []
            words += [where] if where else []
            out.marked(head, 14, "  ·  ".join([*words, *_details(item, now)]), "yellow" if bad else "")
            _paragraph(out, item.text)
        if more[kind]:
            out.print(f"  and {more[kind]:,} more: memtui inbox --kind {kind} --limit 0")
        out.print()
    if taken:
        out.heading("Under way", f"{len(taken)}  ·  a hook gave it to the client, no transcript proves it yet")
    for row in taken:
        head = f"  {out.style(short(str(row['id'])), 'cyan')}  {age(clock.parse(row['time']), now):>4}  "
        whom = delivery_record.session_words({"session_id": row["session"], "entrypoint": row["entrypoint"]})
        out.marked(head, 14, f"→ under way to {line(whom)}", "cyan")
        _paragraph(out, str(row["text"]))
    if taken:
        out.print()
    if not items and not taken:
        out.print("Nothing waits here.")
        out.print('  Leave guidance: memtui guide "…"')
    if elsewhere:
        out.print(f"{elsewhere} more in other projects: memtui inbox --all-projects")


def _print_told(ctx: Context, out: Output, rows: "list[dict[str, object]]") -> None:
    if rows:
        out.print()
        out.heading("Told", "all: memtui deliveries --kind guidance · say it again: --again ID")
    for row in rows:
        glyph, style = delivery_record.GLYPHS[str(row["outcome"])]
        head = f"  {out.style(short(str(row['id'])), 'cyan')}  {age(clock.parse(row['time']), ctx.now()):>4}  "
        words = delivery_record.session_words({"session_id": row["session"], "entrypoint": row["entrypoint"]})
        out.marked(head, 14, f"{glyph} {row['outcome']} · {line(words)}", style)
        _paragraph(out, str(row["text"]))


def _paragraph(out: Output, text: str) -> None:
    out.paragraph(text if len(text) <= SHOWN else text[:SHOWN] + " …", "      ")


def show(ctx: Context, args: argparse.Namespace) -> Result:
    """Show one entry whole."""
    from memtui.cli.show import draft

    (item,) = pick(ctx, [args.id], triage.KINDS, "entry")
    known = None if item.kind == "guidance" else draft.Draft(ctx, item)

    def text(out: Output) -> None:
        now = ctx.now()
        out.heading(f"{ONE[item.kind]} {line(item.id)}", ago(item.entry.time(), now))
        for bad in undelivered.words(ctx.settings(), item, now):
            out.print("  " + out.style(f"! {bad}", "yellow"))
        for word in [
            *filter(None, [_place(ctx, item, _homes(ctx, [item]))]),
            *_details(item, now),
            line(ctx.tilde(item.path)),
        ]:
            out.print("  " + out.style(word, "dim"))
        out.print()
        out.paragraph(item.text)
        if known is not None:
            known.print(out)

    return Result({**as_data(ctx, item), **(known.data() if known else {})}, text)


def short(entry_id: str) -> str:
    """The end of an id, which is enough to name it: the beginnings of ids of one hour are alike."""
    return entry_id[-6:]


def withdraw(ctx: Context, ref: str) -> Result:
    """`guide --withdraw`."""
    items = pick(ctx, [ref], ("guidance",), "guidance")
    done = triage.Review(ctx.root, now=ctx.now).withdraw(items)
    data = {"withdrawn": [item.id for item in items], "transaction": done}
    return Result(data, lambda out: out.print(f"withdrawn: {line(items[0].text)[:60]}   (memtui undo brings it back)"))


def again(ctx: Context, ref: str, expires: "float | None", fields: "dict[str, str]") -> Result:
    """`guide --again`: what waits goes once more; what was told is said again, as a new note with these fields."""
    every = entries(ctx, ("guidance",), all_projects=True)
    try:
        item = triage.find(every, ref, "guidance")
    except NotFoundError:
        note = delivery_record.find(ctx.root, ref.strip().upper())
        if note is None:
            raise
        if delivery_record.is_folded(note.record):
            hint = "Leave it anew: memtui guide TEXT"
            raise MemtuiError("The text of that note is not kept any more.", hint) from None
        return _say_again(ctx, note, fields)
    new_id, done = triage.Review(ctx.root, now=ctx.now).again(item, expires)
    data = {"id": new_id, "was": item.id, "text": item.text, "transaction": done}
    return Result(data, lambda out: out.print(new_id))


def _say_again(ctx: Context, note: "delivery_record.Note", fields: "dict[str, str]") -> Result:
    slug = None if note.scope == "global" else delivery_record.text_of(note.record, "project") or ctx.slug
    directory = paths.inbox_dir(ctx.root, slug)
    deliverable.check(ctx.settings(), ctx.now(), note.text, fields, "project" if slug else "global", directory)
    new_id, done = triage.Review(ctx.root, now=ctx.now).say(directory, fields, note.text)
    data = {"id": new_id, "was": note.id, "text": note.text, "transaction": done}
    return Result(data, lambda out: out.print(new_id))


def chosen(ctx: Context, args: argparse.Namespace, kind: str, what: str) -> "list[Waiting]":
    """The entries that a command names, or all of this project and the global ones with --all."""
    if bool(args.ids) == bool(args.all):
        raise UsageError("Say which: one or more IDs, or --all.", "`memtui inbox` lists them.")
    found = entries(ctx, (kind,)) if args.all else pick(ctx, args.ids, (kind,), what)
    if not found:
        raise NotFoundError(f"There are no {KIND_WORDS[kind]}.")
    return found


def reject(ctx: Context, args: argparse.Namespace) -> Result:
    """Drop pending updates."""
    items = chosen(ctx, args, "updates", "pending update")
    done = triage.Review(ctx.root, now=ctx.now).reject(items, never=args.never)
    data = {"rejected": [item.id for item in items], "never": args.never, "transaction": done}

    def text(out: Output) -> None:
        for item in items:
            out.print(f"rejected  {short(item.id)}  {line(item.text)[:60]}")
        never = "They are not extracted again. " if args.never else ""
        out.say(f"{never}{many(len(items), 'entry', 'entries')}; memtui undo brings them back.")

    return Result(data, text)


def approve(ctx: Context, args: argparse.Namespace) -> Result:
    """Make pending updates memories."""
    from memtui.cli.commands import approve

    return approve.run(ctx, args, chosen(ctx, args, "updates", "pending update"))
