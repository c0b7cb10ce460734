"""`memtui list`, `search` and `show`: memories by scope, by words, and one whole, with what became of each."""

import argparse
import os
import re
from functools import lru_cache, partial
from typing import NamedTuple

from memtui.base import clock, findings
from memtui.base.errors import NotFoundError, UsageError
from memtui.base.phrasing import age, ago, many, size
from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, narrate, picked, safe, styled
from memtui.store import scopes
from memtui.store.memory import Memory, flat
from memtui.store.scopes import Scope
from memtui.store.status import BY_CLIENT, SORT_KEYS, Row
from memtui.views import colours, query

SEARCH_LIMIT = 20
WITH_RECALLS = 110  # columns from which the list has room for what came of recalling the memories
WITH_SIZES = 60  # and for AGE and SIZE beside whole names
STATES = ", ".join(f"is:{state}" for state in query.STATES)
QUERY = f"words, which all must match, and type:, scope:, {STATES}, project:NAME"
ALL_PROJECTS = "also Claude Code's own memory of all other projects"
# Fields that `show` has in other lines.
FACTS_ELSEWHERE = {"name", "type", "description", "title", "originSessionId", "triggers"}
KIND_TITLES = {
    "global": "for every project",
    "project": "with the repository",
    "auto": "Claude Code's own",
    "team": "shared by a team",
    "agent": "of a subagent",
    "instructions": "read-only",
}
# How a word matches, the best first: as a whole word, as a word's beginning, inside a word, similar to a word. The
# weights of the fields are so small that no number of matches makes up for a better kind of match.
WHOLE, BEGINS, INSIDE, SIMILAR = 30.0, 20.0, 10.0, 1.0
NAME, DESCRIPTION, BODY = 4.0, 2.0, 0.5
MAX_COUNTED = 3  # matches in the body
SIMILARITY, SIMILAR_LETTERS = 0.75, 4


class MemoryHit(NamedTuple):
    """A memory that a query finds: how well its words match, and the line of its text where they do."""

    scope: Scope
    row: Row
    score: float
    line: str


class MemorySearch:
    """What a query finds, and the types of what it looked at. Raises UsageError for a wrong term if that is nothing."""

    def __init__(self, ctx: Context, args: argparse.Namespace, *, status: bool) -> None:
        terms = query.memories(" ".join(args.query))
        self.words, self.has_terms = words_of(terms.words), terms.has_terms
        self.scopes = memories.chosen_scopes(ctx, args.scope, args.all_projects or bool(terms.project))
        self.types: set[str] = set()
        self.hits: list[MemoryHit] = []
        here, muted = os.path.basename(ctx.project_root), terms.muted(ctx.root, self.scopes)
        for scope in self.scopes:
            with_status = status or terms.state
            rows = memories.rows_of(ctx, scope) if with_status else (Row(other, "") for other in scopes.memories(scope))
            for row in rows:
                self.types.add(row.memory.type or query.UNTYPED)
                score, where = rank(self.words, row.memory)
                if (score > 0 or not self.words) and terms.matches(scope, row, here, muted=muted):
                    self.hits.append(MemoryHit(scope, row, score, where))
        if not self.hits and (mistake := terms.problem(query.choices(self.scopes, self.types, here))):
            raise UsageError(line(mistake))


@parser.command(
    f"""\
list: list memories, by scope
  memtui list
  memtui list type:feedback is:problem --scope project --sort age
DELIVERED counts deliveries in the newest part of the log, and shows when the last one was. On a wide terminal, RECALLED
counts those that recalled the memory for a prompt, USED these and how often the agent opened or wrote it.
[QUERY...] | {QUERY}
--scope SCOPE | only this scope: global, project, auto, agent:NAME, instructions
--sort KEY=name | {", ".join(SORT_KEYS)}; default: name
--all-projects | {ALL_PROJECTS}
--names | only the names, one per line""",
    {"sort": {"choices": list(SORT_KEYS)}},
)
def run(ctx: Context, args: argparse.Namespace) -> Result:
    result = MemorySearch(ctx, args, status=True)
    hits = sorted(result.hits, key=lambda hit: (SORT_KEYS[args.sort](hit.row), hit.row.memory.name.casefold()))
    parts = [(scope, [hit.row for hit in hits if hit.scope is scope]) for scope in result.scopes]
    names = "label kind directory exists writable trusted problem"

    def data() -> "dict[str, object]":
        scope_rows = [{**picked(scope, names), "project": scope.root_path} for scope in result.scopes]
        rows = [memories.status_data(row) for _, rows in parts for row in rows]
        return {"project": ctx.project_root, "scopes": scope_rows, "memories": rows}

    if args.names:
        return Result(data, *(line(row.memory.stem) for _, rows in parts for row in rows))
    printed = [partial(_print_scope, ctx, scope=scope, rows=rows) for scope, rows in parts if rows or scope.problem]
    nothing = "" if result.hits else f"No matches.\n  Types here: {line(', '.join(sorted(result.types)))}"
    return Result(data, *printed, nothing if result.types else memories.NONE_HERE)


def _kind(memory: Memory) -> "tuple[str, str]":
    return line(memory.type) or "-", colours.TYPES.get(memory.type, "dim")


def _print_scope(ctx: Context, out: Output, *, scope: Scope, rows: "list[Row]") -> None:
    now = ctx.now()
    wide = out.columns is None or out.columns >= WITH_RECALLS
    slim = out.columns is not None and out.columns < WITH_SIZES
    number = many(len(rows), "file") if scope.kind == "instructions" else many(len(rows), "memory", "memories")
    out.section()
    out.heading(line(scope.shown), f"{number}, {KIND_TITLES[scope.kind]}  {line(ctx.tilde(scope.directory))}")
    if scope.problem:
        out.print("  " + styled(f"! {scope.problem}", colours.PROBLEM))
    cells, notes = [], []
    for row in rows:
        memory = row.memory
        delivered = f"{row.deliveries}× {age(clock.parse(row.last_delivery), now)}" if row.deliveries else "-"
        numbers_of = [f"{count}×" if count else "" for count in (row.recalls.recalled, row.used)] if wide else []
        kind = ("broken", colours.PROBLEM) if memory.broken else _kind(memory)
        title, stamp, about = (line(memory.stem), "bold"), age(memory.changed_at or None, now), line(memory.description)
        cells.append([kind, title, *([] if slim else [stamp, size(memory.size)]), delivered, *numbers_of, about])
        mark = "!" if row.flags and findings.problems(row.flags) else "·"
        notes.append(f"{mark} " + "; ".join(map(findings.flag, row.flags)) if row.flags else "")
    if cells:
        numbers = [*["AGE", "SIZE"] * (not slim), "DELIVERED", *["RECALLED", "USED"] * wide]
        right = () if slim else (2, 3, *(5, 6) * wide)
        out.table(["TYPE", "NAME", *numbers, "DESCRIPTION"], cells, (-1, 1), right, indent="  ", notes=notes)


@parser.command(f"""\
search: search names, descriptions and texts
  memtui search pnpm lock file
QUERY... | {QUERY}; small typing errors are allowed
--scope SCOPE | only this scope
--all-projects | {ALL_PROJECTS}
--limit N={SEARCH_LIMIT} | rows, default: {SEARCH_LIMIT}, 0: all""")
def search(ctx: Context, args: argparse.Namespace) -> Result:
    result, text = MemorySearch(ctx, args, status=False), " ".join(args.query)
    if not result.words and not result.has_terms:
        raise UsageError("There is nothing to search for.", "Give a word: memtui search pnpm. `memtui list` shows all.")
    hits = sorted(
        result.hits, key=lambda hit: position(hit.score, hit.row.memory.name, elsewhere=bool(hit.scope.project))
    )[: args.limit or None]
    data: dict[str, object] = {"query": text}
    data["hits"] = [
        {**memories.data_of(hit.row.memory), "score": round(hit.score, 3), "line": hit.line} for hit in hits
    ]
    if not hits:
        other = f"Nothing found for “{line(text)}”.\n  Try other words, or --all-projects."
        return Result(data, other if result.types else memories.NONE_HERE)
    rows = [
        [_kind(memory), (line(memory.stem), "bold"), line(hit.scope.shown), line(memory.description)]
        for hit in hits
        for memory in [hit.row.memory]
    ]
    similar = result.words and hits[0].score < INSIDE
    notes = [line(hit.line)[:200] for hit in hits]
    return Result(
        data,
        narrate("No memory has these words; those that have similar ones:" if similar else ""),
        lambda out: out.table(["TYPE", "NAME", "SCOPE", "DESCRIPTION"], rows, flex=(3, 1), notes=notes),
    )


@parser.command("""\
show: show one memory, or what an id of the inbox means
  memtui show prefer-pnpm
  memtui show global:editor --raw
  memtui show 7XAD
NAME is a memory's name, its file, scope:name, or a path.
name=NAME|ID |
--raw | the file as it is""")
def show(ctx: Context, args: argparse.Namespace) -> Result:
    from memtui.client import applied_settings
    from memtui.store.links import shown
    from memtui.store.versions import moves
    from memtui.views import memories as words
    from memtui.views.deliveries import recalls

    try:
        memory = memories.find(ctx, args.name)
    except NotFoundError as error:
        from memtui.cli import decisions

        if args.raw or ":" in args.name or "/" in args.name:
            raise
        try:
            return decisions.one(ctx, args.name, by_memory=False)
        except NotFoundError as unknown:
            if not unknown.message.startswith(decisions.NOTHING):
                raise unknown from None
            if error.hint == scopes.ALL_LISTED and unknown.hint.startswith("Did you mean"):
                error.hint = unknown.hint
            raise error from None
    scope = scopes.named(ctx.env, ctx.cwd, memory.scope_label)
    rows = memories.rows_of(ctx, scope)
    row = next((each for each in rows if each.memory.path == memory.path), Row(memory, os.path.basename(memory.path)))
    back = [other.memory.stem for other in rows if other.memory.links_to(memory) and other.memory.path != memory.path]
    triggers = memories.MemoryTriggers(ctx, memory) if scope.kind != "instructions" else None
    source = words.source(moves.source(scope, memory, moves.creations(ctx.root)), ctx.now())
    data = {
        **memories.status_data(row),
        **picked(memory, "fields body links notes origin_session"),
        "backlinks": back,
        "origin": source,
        **(triggers.data() if triggers is not None else {}),
    }
    if args.raw:
        raw = memory.raw.decode("utf-8", "backslashreplace")
        return Result({**data, "raw": raw}, lambda out: out.write_bytes(memory.raw))
    now = ctx.now()

    def text(out: Output) -> None:
        out.heading(line(memory.name), f"{line(scope.shown)}  {line(ctx.tilde(memory.path))}")
        facts = [("type", memory.type or "-"), ("description", memory.description or "-")]
        facts += [(key, value) for key, value in flat(memory.fields) if key.rpartition(".")[2] not in FACTS_ELSEWHERE]
        facts.append(("origin", f"session {memory.origin_session}" if memory.origin_session else source))
        facts.append(("changed", f"{ago(memory.changed_at or None, now)}, {size(memory.size)}"))
        if row.deliveries:
            facts.append(("delivered", f"{row.deliveries}×, last {ago(clock.parse(row.last_delivery), now)}"))
        else:
            way = ctx.way_of(memory) if scope.kind == "auto" else applied_settings.LOADED
            facts.append(("delivered", "never" if row.never_delivered(scope) else BY_CLIENT[way]))
        facts += [
            ("recalled", recalls(row.recalls).removeprefix("recalled ") if row.recalls else ""),
            ("used", f"{row.used}×: brought by a prompt, or opened or written by the agent" if row.used else ""),
            *(triggers.facts() if triggers is not None else ()),
            ("links to", ", ".join(map(shown, memory.links))),
            ("linked from", ", ".join(back)),
        ]
        facts = [(line(key), line(value)) for key, value in facts if value]
        out.facts(facts, min(28, max(14, *(len(key) + 2 for key, _ in facts))))
        for flag in row.flags:
            to_fix = findings.problems([flag]) > 0
            style = "red" if to_fix else "dim"
            out.print("  " + styled(f"{'!' if to_fix else '·'} {line(findings.flag(flag))}", style))
        for note in memory.notes:
            out.print("  " + styled(f"! {line(note)}", "yellow"))
        out.print()
        out.print(safe(memory.body.strip("\n")))

    return Result(data, text)


def words_of(query: str) -> list[str]:
    """Split a query into words for `rank`."""
    return query.lower().split()


def rank(words: list[str], memory: Memory) -> tuple[float, str]:
    """Return how well a memory matches words, 0 if one is missing, and its best line: the worst match decides."""
    if not words:
        return 0.0, ""
    name = memory.name.lower() + " " + memory.stem.lower()
    description, body = memory.description.lower(), memory.body.lower()
    worst, sum_of_fields = WHOLE, 0.0
    for word in words:
        matches = [(_match(word, name), NAME), (_match(word, description), DESCRIPTION)]
        best = max(_match(word, body), *(match for match, _ in matches))
        if not best:
            if not _has_similar(word, name + " " + description):
                return 0.0, ""
            worst = min(worst, SIMILAR)
            continue
        worst = min(worst, best)
        # A worse match than in another field counts in proportion.
        sum_of_fields += sum(weight * match / best for match, weight in matches)
        sum_of_fields += BODY * min(body.count(word), MAX_COUNTED)
    lines = [line.strip() for line in memory.body.split("\n")]
    best_line = max(lines, key=lambda line: sum(_match(word, line.lower()) for word in words))
    return worst + sum_of_fields / len(words), best_line if any(word in best_line.lower() for word in words) else ""


def position(score: float, name: str, *, elsewhere: bool) -> tuple[float, bool, float, str]:
    """Return what hits are sorted by: the kind of match, then this project's before others', then score."""
    kind = max((kind_of_match for kind_of_match in (WHOLE, BEGINS, INSIDE) if score >= kind_of_match), default=SIMILAR)
    return -kind, elsewhere, -score, name


@lru_cache
def _patterns(word: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    begins = r"(?<![^\W_])" + re.escape(word)
    return re.compile(begins + r"(?![^\W_])"), re.compile(begins)


def _match(word: str, text: str) -> float:
    """Return how a word matches in a text: WHOLE, BEGINS, INSIDE, or 0.0 for not at all."""
    if word not in text:
        return 0.0
    whole, begins = _patterns(word)
    return WHOLE if whole.search(text) else BEGINS if begins.search(text) else INSIDE


def _has_similar(word: str, text: str) -> bool:
    import difflib

    if len(word) < SIMILAR_LETTERS:
        return False
    near = {other for other in text.replace("-", " ").split() if abs(len(other) - len(word)) < SIMILAR_LETTERS - 1}
    return bool(difflib.get_close_matches(word, near, 1, SIMILARITY))
