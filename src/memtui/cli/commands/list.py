"""`memtui list` and `search`: the memories by scope, with how often each was delivered and used, and full text."""

import argparse
import os

from memtui.base import clock, findings
from memtui.base.errors import UsageError
from memtui.base.phrasing import age, many, size
from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.store import scopes
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.search import INSIDE, position, rank, words_of
from memtui.store.status import SORT_KEYS, Row
from memtui.views import colours, query

SEARCH_LIMIT = 20
WITH_RECALLS = 110  # columns from which the list has room for what came of recalling the memories
WITH_SIZES = 60  # and for AGE and SIZE beside whole names
STATES = ", ".join(f"is:{state}" for state in query.STATES)
QUERY = f"words, which all must match, and type:, scope:, {STATES}, project:NAME"
ALL_PROJECTS = "also Claude Code's own memory of all other projects"
KIND_TITLES = {
    "global": "for every project",
    "project": "with the repository",
    "auto": "Claude Code's own",
    "team": "shared by a team",
    "agent": "of a subagent",
    "instructions": "read-only",
}


def register(commands: "parser.Commands") -> None:
    command = parser.command(
        commands,
        "list",
        run,
        "list memories, by scope",
        "memtui list\nmemtui list type:feedback is:problem --scope project --sort age",
        "DELIVERED counts deliveries in the newest part of the log, and shows when the last one was. On a wide "
        "terminal, RECALLED counts those that recalled the memory for a prompt, USED these and how often the agent "
        "opened or wrote it.",
    )
    command.add_argument("query", nargs="*", metavar="QUERY", help=QUERY)
    command.add_argument("--scope", help="only this scope: global, project, auto, agent:NAME, instructions")
    keys = ", ".join(SORT_KEYS)
    command.add_argument(
        "--sort", choices=list(SORT_KEYS), default="name", metavar="KEY", help=f"{keys}; default: name"
    )
    command.add_argument("--all-projects", action="store_true", help=ALL_PROJECTS)
    command.add_argument("--names", action="store_true", help="only the names, one per line")

    command = parser.command(
        commands, "search", search, "search names, descriptions and texts", "memtui search pnpm lock file"
    )
    command.add_argument("query", nargs="+", metavar="QUERY", help=f"{QUERY}; small typing errors are allowed")
    command.add_argument("--scope", help="only this scope")
    command.add_argument("--all-projects", action="store_true", help=ALL_PROJECTS)
    parser.add_limit(command, SEARCH_LIMIT)


def run(ctx: Context, args: argparse.Namespace) -> Result:
    other = query.memories(" ".join(args.query))
    every = memories.chosen_scopes(ctx, args.scope, args.all_projects or bool(other.project))
    words, here = words_of(other.words), os.path.basename(ctx.project_root)
    types: set[str] = set()
    parts: list[tuple[Scope, list[Row]]] = []
    muted = other.muted(ctx.root, every)
    for scope in every:
        rows = memories.rows_of(ctx, scope)
        types |= {row.memory.type or query.UNTYPED for row in rows}
        fits = [row for row in rows if other.matches(scope, row, here, muted=muted)] if args.query else rows
        fits = [row for row in fits if rank(words, row.memory)[0] > 0] if words else fits
        parts.append((scope, sorted(fits, key=lambda row: (SORT_KEYS[args.sort](row), row.memory.name.casefold()))))
    if not any(rows for _, rows in parts):
        _check(other, query.choices(every, types, here))
    keys = ("label", "kind", "directory", "exists", "writable", "trusted", "problem")

    def data() -> "dict[str, object]":
        scope_rows = [{**{key: getattr(scope, key) for key in keys}, "project": scope.root_path} for scope in every]
        found = [memories.status_data(row) for _, rows in parts for row in rows]
        return {"project": ctx.project_root, "scopes": scope_rows, "memories": found}

    def text(out: Output) -> None:
        if args.names:
            for row in (row for _, rows in parts for row in rows):
                out.print(line(row.memory.stem))
            return
        for scope, rows in parts:
            if rows or scope.problem:
                _print_scope(ctx, out, scope, rows)
        if not any(rows for _, rows in parts) and types:
            out.print(f"No matches.\n  Types here: {line(', '.join(sorted(types)))}")
        elif not types:
            out.print(memories.NONE_HERE)

    return Result(data, text)


def _check(other: query.MemoryQuery, names: "dict[str, list[str]]") -> None:
    """Raise UsageError for a term, or a value of one, that there is not; only where nothing was found with it."""
    if mistake := other.problem(names):
        raise UsageError(line(mistake))


def _kind(memory: Memory) -> "tuple[str, str]":
    return line(memory.type) or "-", colours.TYPES.get(memory.type, "dim")


def _print_scope(ctx: Context, out: Output, scope: Scope, rows: "list[Row]") -> None:
    now = ctx.now()
    wide = out.columns is None or out.columns >= WITH_RECALLS
    slim = out.columns is not None and out.columns < WITH_SIZES
    number = many(len(rows), "file") if scope.kind == "instructions" else many(len(rows), "memory", "memories")
    out.section()
    out.heading(line(scope.shown), f"{number}, {KIND_TITLES[scope.kind]}  {line(ctx.tilde(scope.directory))}")
    if scope.problem:
        out.print("  " + out.style(f"! {scope.problem}", colours.PROBLEM))
    cells, notes = [], []
    for row in rows:
        memory = row.memory
        delivered = f"{row.deliveries}× {age(clock.parse(row.last_delivery), now)}" if row.deliveries else "-"
        came = [f"{count}×" if count else "" for count in (row.recalls.recalled, row.used)] if wide else []
        kind = ("broken", colours.PROBLEM) if memory.broken else _kind(memory)
        title, stamp, about = (line(memory.stem), "bold"), age(memory.changed_at or None, now), line(memory.description)
        cells.append([kind, title, *([] if slim else [stamp, size(memory.size)]), delivered, *came, about])
        mark = "!" if row.flags and findings.problems(row.flags) else "·"
        notes.append(f"{mark} " + "; ".join(map(findings.flag, row.flags)) if row.flags else "")
    if cells:
        numbers = [*["AGE", "SIZE"] * (not slim), "DELIVERED", *["RECALLED", "USED"] * wide]
        right = () if slim else (2, 3, *(5, 6) * wide)
        out.table(["TYPE", "NAME", *numbers, "DESCRIPTION"], cells, (-1, 1), right, indent="  ", notes=notes)


def search(ctx: Context, args: argparse.Namespace) -> Result:
    """Search names, descriptions and bodies."""
    other = query.memories(" ".join(args.query))
    words, here = words_of(other.words), os.path.basename(ctx.project_root)
    if not words and not other.has_terms:
        raise UsageError("There is nothing to search for.", "Give a word: memtui search pnpm. `memtui list` shows all.")
    hits, types = [], set()
    chosen = memories.chosen_scopes(ctx, args.scope, args.all_projects or bool(other.project))
    muted = other.muted(ctx.root, chosen)
    for scope in chosen:
        # the status only if the query asks for it
        rows = memories.rows_of(ctx, scope) if other.state else (Row(memory, "") for memory in scopes.memories(scope))
        for row in rows:
            types.add(row.memory.type)
            score, where = rank(words, row.memory)
            if (score > 0 or not words) and other.matches(scope, row, here, muted=muted):
                hits.append(
                    (position(score, row.memory.name, elsewhere=bool(scope.project)), score, row.memory, scope, where)
                )
    if not hits:
        _check(other, query.choices(chosen, types, here))
    hits = sorted(hits, key=lambda hit: hit[0])[: args.limit or None]
    data = {
        "query": " ".join(args.query),
        "hits": [
            {**memories.data_of(memory), "score": round(score, 3), "line": where} for _, score, memory, _, where in hits
        ],
    }

    def text(out: Output) -> None:
        rows = [
            [_kind(memory), (line(memory.stem), "bold"), line(scope.shown), line(memory.description)]
            for _, _, memory, scope, _ in hits
        ]
        if rows:
            if words and hits[0][1] < INSIDE:
                out.say("No memory has these words; those that have similar ones:")
            notes = [line(where)[:200] for *_, where in hits]
            out.table(["TYPE", "NAME", "SCOPE", "DESCRIPTION"], rows, flex=(3, 1), notes=notes)
        else:
            no_hits = f"Nothing found for “{line(' '.join(args.query))}”.\n  Try other words, or --all-projects."
            out.print(no_hits if types else memories.NONE_HERE)

    return Result(data, text)
