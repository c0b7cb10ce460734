"""`memtui list`, `show` and `search`: the memories, and how often each was delivered and used."""

import argparse
import dataclasses
import os
from collections.abc import Iterable

from memtui.cli import memories, parser, triggers
from memtui.cli.context import Context
from memtui.cli.entries import LISTED
from memtui.cli.output import Output, Result, line, safe
from memtui.core.base import clock
from memtui.core.base.errors import NotFoundError, UsageError
from memtui.core.base.phrasing import age, ago, many, size
from memtui.core.health import findings
from memtui.core.memories import origin, scopes
from memtui.core.memories.links import shown
from memtui.core.memories.memory import Memory, flat
from memtui.core.memories.scopes import Scope
from memtui.core.memories.search import position, rank, words_of
from memtui.core.memories.status import BY_CLIENT, SORT_KEYS, Row, of_scope
from memtui.core.memories.triggers import FIELD
from memtui.core.places import loading
from memtui.present import memories as present
from memtui.present import memory_query
from memtui.present.deliveries import recalls

SEARCH_LIMIT = 20
# Columns from which the list has room for what came of recalling the memories.
WITH_RECALLS = 110
QUERY = "words, which all must match, and type:, scope:, is:never, is:problem, is:untrusted, project:NAME"
KIND_TITLES = {
    "global": "for every project",
    "project": "with the repository",
    "auto": "the client's own",
    "team": "shared by a team",
    "agent": "of a subagent",
    "instructions": "read-only",
}


def register(commands: "parser.Commands") -> None:
    """Add the commands."""
    found = parser.command(
        commands,
        "list",
        run,
        "list memories, by scope",
        "memtui list\nmemtui list type:feedback is:problem --scope project --sort age",
        "SENT counts deliveries in the newest part of the log, and shows when the last one was. On a wide terminal, "
        "RECALLED counts those that recalled the memory for a prompt, USED how often the agent opened or wrote it.",
    )
    found.add_argument("query", nargs="*", metavar="QUERY", help=QUERY)
    found.add_argument("--scope", help="only this scope: global, project, auto, agent:NAME, instructions")
    keys = ", ".join(SORT_KEYS)
    found.add_argument("--sort", choices=list(SORT_KEYS), default="name", metavar="KEY", help=f"{keys}; default: name")
    found.add_argument(
        "--all-projects", action="store_true", help="also Claude Code's own memory of all other projects"
    )
    found.add_argument("--names", action="store_true", help="only the names, one per line")

    found = parser.command(
        commands,
        "show",
        show,
        "show one memory, or what an id of the inbox means",
        "memtui show prefer-pnpm\nmemtui show global:editor --raw\nmemtui show 7XAD",
        "NAME is a memory's name, its file, scope:name, or a path.",
    )
    found.add_argument("name", metavar="NAME|ID")
    found.add_argument("--raw", action="store_true", help="the file as it is")
    found.add_argument("--born", action="store_true", help="also the conversation that it comes from")

    found = parser.command(
        commands, "search", search, "search names, descriptions and texts", "memtui search pnpm lock file"
    )
    found.add_argument("query", nargs="+", metavar="QUERY", help=f"{QUERY}; small typing errors are allowed")
    found.add_argument("--scope", help="only this scope")
    found.add_argument(
        "--all-projects", action="store_true", help="also Claude Code's own memory of all other projects"
    )
    found.add_argument(
        "--limit", type=parser.count, default=SEARCH_LIMIT, metavar="N", help=f"default: {SEARCH_LIMIT}, 0: all"
    )


def _data(row: Row) -> "dict[str, object]":
    """Return a memory with its status for --json."""
    found = row.memory
    return {
        **memories.data_of(found),
        "file": row.file,
        "size": found.size,
        "changed": clock.iso_seconds(found.changed_at) if found.changed_at else None,
        "broken": found.broken,
        "flags": [findings.flag(each) for each in row.flags],
        "deliveries": row.deliveries,
        "last_delivery": row.last_delivery,
        "uses": row.uses,
        **row.recalls.data(),
    }


def _beside(scope: Scope, here: "list[Scope]") -> "list[Scope]":
    """Return the scopes that apply beside a scope: those of the working directory, for another project the global."""
    return [each for each in here if each.kind == "global"] if scope.project else here


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List memories by scope."""
    wanted = _query(args)
    every = memories.chosen_scopes(ctx, args.scope, args.all_projects or bool(wanted.project))
    if args.names and not (ctx.out.json or args.query or args.sort != "name"):
        return Result(None, lambda out: _print_file_names(out, every))  # fast, for completions: no memory is read
    here = scopes.discover(ctx.env, ctx.cwd)
    found = [(scope, of_scope(ctx.root, scope, ctx.usage, others=_beside(scope, here))) for scope in every]
    types = {row.memory.type or "-" for _, rows in found for row in rows}
    parts = [(scope, [row for row in rows if _matches(ctx, wanted, scope, row)]) for scope, rows in found]
    for _, rows in parts:
        rows.sort(key=lambda row: (SORT_KEYS[args.sort](row), row.memory.name.casefold()))
    data = {
        "project": ctx.project_root,
        "scopes": [
            {
                "label": scope.label,
                "kind": scope.kind,
                "directory": scope.directory,
                "project": scope.root_path,
                "exists": scope.exists,
                "writable": scope.writable,
                "trusted": scope.trusted,
                "problem": scope.problem,
            }
            for scope, _ in parts
        ],
        "memories": [_data(row) for _, rows in parts for row in rows],
    }
    if args.names:
        return Result(data, lambda out: _print_names(out, parts))
    unread = memories.unread_text(ctx, every)

    def text(out: Output) -> None:
        _print(ctx, out, parts, types, wanted.problem)
        memories.print_unread_text(out, unread)

    return Result({**data, "unread_text": unread}, text)


def _print_names(out: Output, parts: "list[tuple[Scope, list[Row]]]") -> None:
    for _, rows in parts:
        for row in rows:
            out.print(line(row.memory.stem))


def _print_file_names(out: Output, every: "list[Scope]") -> None:
    for scope in every:
        stems = [os.path.basename(name).removesuffix(".md") for name, _ in scopes.files(scope)]
        for stem in sorted(stems, key=str.lower):
            out.print(line(stem))


def _query(args: argparse.Namespace) -> memory_query.MemoryQuery:
    """Return the query that was typed. Raises UsageError for a value that `is:` does not take."""
    wanted = memory_query.parse(" ".join(args.query))
    if wanted.problem.startswith("is:"):
        raise UsageError(wanted.problem)
    return wanted


def _matches(ctx: Context, wanted: memory_query.MemoryQuery, scope: Scope, row: Row) -> bool:
    words = words_of(wanted.words)
    here = os.path.basename(ctx.project_root)
    return wanted.matches(scope, row, here) and (not words or rank(words, row.memory)[0] > 0)


def _print(ctx: Context, out: Output, parts: "list[tuple[Scope, list[Row]]]", types: "set[str]", problem: str) -> None:
    now = ctx.now()
    shown = 0
    wide = out.columns is None or out.columns >= WITH_RECALLS
    for scope, rows in parts:
        if not rows and not scope.problem:
            continue
        shown += len(rows)
        where = line(ctx.tilde(scope.directory))
        number = many(len(rows), "file") if scope.kind == "instructions" else many(len(rows), "memory", "memories")
        out.section()
        out.heading(line(scope.shown), f"{number}, {KIND_TITLES[scope.kind]}  {where}")
        if scope.problem:
            out.print("  " + out.style(f"! {scope.problem}", "yellow"))
        cells, notes = [], []
        for row in rows:
            found = row.memory
            sent = f"{row.deliveries}× {age(clock.parse(row.last_delivery), now)}" if row.deliveries else "-"
            stamp = age(found.changed_at or None, now)
            kind = (
                ("broken", "yellow")
                if found.broken
                else (line(found.type) or "-", present.TYPE_STYLES.get(found.type, "dim"))
            )
            title = (line(found.stem), "bold")
            came = [f"{each}×" if each else "" for each in (row.recalls.recalled, row.uses)]
            cells.append([kind, title, stamp, size(found.size), sent, *came[: 2 * wide], line(found.description)])
            mark = "!" if findings.problems(row.flags) else "·"
            notes.append(f"{mark} " + "; ".join(map(findings.flag, row.flags)) if row.flags else "")
        if cells:
            headers = ["TYPE", "NAME", "AGE", "SIZE", "SENT", *["RECALLED", "USED"][: 2 * wide], "DESCRIPTION"]
            out.table(headers, cells, flex=(-1, 1), right=(2, 3, 5, 6)[: 2 + 2 * wide], indent="  ", notes=notes)
    if not shown and types:
        out.print(problem or "No matches.")
        out.print(f"  Types here: {line(', '.join(sorted(types)))}")
    elif not shown:
        out.print("No memories here.")
        out.print('  Create one: memtui new use-pnpm --type feedback --description "Use pnpm" --body "…"')
        out.print("  Other projects: memtui list --all-projects")


def show(ctx: Context, args: argparse.Namespace) -> Result:
    """Show one memory; what an id means if there is none of that name."""
    try:
        found = memories.find(ctx, args.name)
    except NotFoundError as error:
        from memtui.cli.show import entry

        if args.raw or args.born or ":" in args.name or "/" in args.name:
            raise
        try:
            return entry.one(ctx, args.name)
        except NotFoundError as unknown:
            raise (error if unknown.hint == LISTED or "characters" in unknown.hint else unknown) from None
    scope = scopes.named(ctx.env, ctx.cwd, found.scope_label)
    beside = _beside(scope, scopes.discover(ctx.env, ctx.cwd))
    rows = of_scope(ctx.root, scope, ctx.usage, others=beside)
    row = next((each for each in rows if each.memory.path == found.path), Row(found, os.path.basename(found.path)))
    raw = found.raw.decode("utf-8", "backslashreplace")
    back = [each.memory.stem for each in rows if each.memory.links_to(found) and each.memory.path != found.path]
    source = present.source(origin.source(scope, found, origin.creations(ctx.root)), "", ctx.now())
    data = {
        **_data(row),
        "fields": found.fields,
        "body": found.body,
        "links": list(found.links),
        "backlinks": back,
        "notes": list(found.notes),
        "origin_session": found.origin_session,
        "origin": source,
        **(triggers.data_of(ctx, found) if scope.kind != "instructions" else {}),
    }
    if args.raw:
        return Result({**data, "raw": raw}, lambda out: _print_raw(out, found.raw))
    born = origin.of(ctx.env, found) if args.born else None
    if args.born:
        data["born"] = None if born is None else dataclasses.asdict(born)

    def text(out: Output) -> None:
        _print_one(ctx, out, scope, row, back, source)
        if args.born:
            _print_born(out, born)

    return Result(data, text)


def _print_raw(out: Output, data: bytes) -> None:
    if out.tty:
        out.stdout.write(safe(data.decode("utf-8", "replace")))
        return
    out.stdout.flush()
    out.stdout.buffer.write(data)


def _by_client(ctx: Context, scope: "Scope", found: "Memory") -> str:
    return BY_CLIENT[ctx.way_of(found)] if scope.kind == "auto" else BY_CLIENT[loading.LOADED]


def _print_one(ctx: Context, out: Output, scope: "Scope | None", row: Row, back: "list[str]", source: str) -> None:
    found = row.memory
    now = ctx.now()
    out.heading(line(found.name), f"{line(scope.shown if scope else found.scope_label)}  {line(ctx.tilde(found.path))}")
    facts = [("type", found.type or "-"), ("description", found.description or "-")]
    known = {"name", "type", "description", "title", "originSessionId", FIELD}
    facts += [(key, value) for key, value in flat(found.fields) if key.rpartition(".")[2] not in known]
    facts.append(("origin", f"session {found.origin_session}" if found.origin_session else source))
    facts.append(("changed", f"{ago(found.changed_at or None, now)}, {size(found.size)}"))
    if row.deliveries:
        facts.append(("delivered", f"{row.deliveries}×, last {ago(clock.parse(row.last_delivery), now)}"))
    elif scope is not None:
        facts.append(("delivered", "never" if row.never_delivered(scope) else _by_client(ctx, scope, found)))
    if row.recalls:
        facts.append(("recalled", recalls(row.recalls).removeprefix("recalled ")))
    if row.uses:
        facts.append(("used", f"{row.uses}× opened or written by the agent"))
    if scope is not None and scope.kind != "instructions":
        facts += triggers.facts(ctx, found)
    if found.links:
        facts.append(("links to", ", ".join(map(shown, found.links))))
    if back:
        facts.append(("linked from", ", ".join(back)))
    facts = [(line(key), line(value)) for key, value in facts]
    out.facts(facts, min(28, max(14, *(len(key) + 2 for key, _ in facts))))
    for flag in row.flags:
        to_fix = findings.problems([flag]) > 0
        out.print(
            "  " + out.style(f"{'!' if to_fix else '·'} {line(findings.flag(flag))}", "yellow" if to_fix else "dim")
        )
    for each in found.notes:
        out.print("  " + out.style(f"! {line(each)}", "yellow"))
    out.print()
    out.print(safe(found.body.strip("\n")))


def _print_born(out: Output, born: "origin.Origin | None") -> None:
    out.print()
    if born is None:
        out.print("Where it comes from is not known: it names no session, or the transcript is gone.")
        return
    out.heading("born", f"session {line(born.session[:8])}  “{line(born.title)}”")
    for who, text in (("agent", born.agent), ("you", born.said)):
        if text:
            out.print(f"  {out.style(f'{who:<6}', 'dim')}{line(text)}")


def _rows_to_search(ctx: Context, wanted: memory_query.MemoryQuery, scope: Scope) -> "Iterable[Row]":
    """Return the memories of a scope, with their status only if the query asks for it."""
    if wanted.state:
        return of_scope(ctx.root, scope, ctx.usage, others=_beside(scope, scopes.discover(ctx.env, ctx.cwd)))
    return (Row(found, os.path.basename(found.path)) for found in scopes.memories(scope))


def search(ctx: Context, args: argparse.Namespace) -> Result:
    """Search names, descriptions and bodies."""
    wanted = _query(args)
    words, every_project = words_of(wanted.words), args.all_projects or bool(wanted.project)
    if not words:
        raise UsageError("There is nothing to search for.", "Give a word: memtui search pnpm. `memtui list` shows all.")
    hits = []
    shown = {}
    elsewhere: set[str] = set()
    chosen = memories.chosen_scopes(ctx, args.scope, every_project)
    for scope in chosen:
        for row in _rows_to_search(ctx, wanted, scope):
            found = row.memory
            score, where = rank(words, found)
            if score > 0 and wanted.matches(scope, row, os.path.basename(ctx.project_root)):
                hits.append((score, found, where))
                shown[found.scope_label] = scope.shown
                if scope.project:
                    elsewhere.add(found.scope_label)
    hits.sort(key=lambda hit: position(hit[0], hit[1].name, elsewhere=hit[1].scope_label in elsewhere))
    hits = hits[: args.limit or None]
    unread = memories.unread_text(
        ctx,
        chosen,
        lambda passage: all(word in passage.lower() for word in words),
    )
    data = {
        "query": " ".join(args.query),
        "hits": [{**memories.data_of(found), "score": round(score, 3), "line": where} for score, found, where in hits],
        "unread_text": unread,
    }

    def text(out: Output) -> None:
        rows = [
            [
                (line(f.type) or "-", present.TYPE_STYLES.get(f.type, "dim")),
                (line(f.stem), "bold"),
                line(shown[f.scope_label]),
                line(f.description),
            ]
            for _, f, _ in hits
        ]
        if rows:
            notes = [line(where)[:200] for _, _, where in hits]
            out.table(["TYPE", "NAME", "SCOPE", "DESCRIPTION"], rows, flex=(3, 1), notes=notes)
        else:
            out.print(f"Nothing found for “{line(' '.join(args.query))}”.")
            out.print("  Try fewer words, or --all-projects.")
        memories.print_passages(out, unread)

    return Result(data, text)
