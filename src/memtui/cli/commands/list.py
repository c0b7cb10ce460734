"""`memtui list`, `search`, `show` and `recall`: memories by scope, by words, one whole, and those of a prompt."""

import argparse
import os
from functools import partial
from typing import NamedTuple

from memtui.base import clock_hot, findings
from memtui.base.errors import UsageError
from memtui.base.phrasing_hot import age, ago, many, short, size
from memtui.base.storage import file_error
from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, narrate, picked, safe, styled
from memtui.store import scopes
from memtui.store.memory import Memory, flat
from memtui.store.scopes import Scope
from memtui.store.status import BY_CLIENT, SORT_KEYS, Row
from memtui.views import colours, query
from memtui.views import recall as words_of_recall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.recall_preview import RecallCandidate, RecallRun

SEARCH_LIMIT = 20
STATES = ", ".join(f"is:{state}" for state in query.STATES)
# Fields that `show` has in other lines.
FACTS_ELSEWHERE = {"name", "type", "description", "title", "originSessionId", "triggers", "rules", "forbids"}
NAME, DESCRIPTION, BODY = 4.0, 2.0, 1.0  # what a word counts by where it is
LEFT_OUT = 5  # memories that are left out and listed, without --all


class MemoryHit(NamedTuple):
    """A memory that a query finds: what its words count, and the line of its text where they are."""

    scope: Scope
    row: Row
    score: float
    line: str


class MemorySearch:
    """What a query finds, and the types of what it looked at. Raises UsageError for a wrong term if that is nothing."""

    def __init__(self, ctx: Context, args: argparse.Namespace, *, status: bool) -> None:
        terms = query.memories(" ".join(args.query))
        self.words, self.has_terms = terms.words.lower().split(), terms.has_terms
        self.scopes = memories.chosen_scopes(ctx, args.scope, args.all_projects or bool(terms.project))
        self.types: set[str] = set()
        self.hits: list[MemoryHit] = []
        here, marked = os.path.basename(ctx.project_root), terms.marked(ctx.root, self.scopes)
        for scope in self.scopes:
            with_status = status or terms.state
            rows = memories.rows_of(ctx, scope) if with_status else (Row(other, "") for other in scopes.memories(scope))
            for row in rows:
                self.types.add(row.memory.type or query.UNTYPED)
                score, where = rank(self.words, row.memory)
                if (score > 0 or not self.words) and terms.matches(scope, row, here, marked=marked):
                    self.hits.append(MemoryHit(scope, row, score, where))
        if not self.hits and (mistake := terms.problem(query.choices(self.scopes, self.types, here, ctx.root))):
            raise UsageError(line(mistake))


@parser.command("list", {"sort": {"choices": list(SORT_KEYS)}}, keys=", ".join(SORT_KEYS), states=STATES)
def run(ctx: Context, args: argparse.Namespace) -> Result:
    result = MemorySearch(ctx, args, status=True)
    hits = sorted(result.hits, key=lambda hit: (SORT_KEYS[args.sort](hit.row), hit.row.memory.name.casefold()))
    parts = [(scope, [hit.row for hit in hits if hit.scope is scope]) for scope in result.scopes]
    names = "label kind directory exists writable trusted problem"

    def data() -> "dict[str, object]":
        scope_rows = [{**picked(scope, names), "project": scope.root_path} for scope in result.scopes]
        rows = [memories.status_data(row) for _, rows in parts for row in rows]
        return {"project": ctx.project_root, "scopes": scope_rows, "memories": rows}

    printed = [partial(_print_scope, ctx, scope=scope, rows=rows) for scope, rows in parts if rows or scope.problem]
    nothing = "" if result.hits else f"No matches.\n  Types here: {line(', '.join(sorted(result.types)))}"
    return Result(data, *printed, nothing if result.types else memories.NONE_HERE)


def _kind(memory: Memory) -> "tuple[str, str]":
    return line(memory.type) or "-", "dim"


def _print_scope(ctx: Context, out: Output, *, scope: Scope, rows: "list[Row]") -> None:
    from memtui.views.memories import SCOPES
    from memtui.views.rules import fraction

    now, purpose = ctx.now(), SCOPES.get(scope.kind, "read-only").partition(",")[0]
    number = many(len(rows), "file") if scope.kind == "instructions" else many(len(rows), "memory", "memories")
    out.section()
    out.heading(line(scope.shown), f"{number}, {purpose}  {line(ctx.tilde(scope.directory))}")
    if scope.problem:
        out.print("  " + styled(f"! {scope.problem}", colours.PROBLEM))
    cells, notes = [], []
    has_rules = any(row.held for row in rows)
    for row in rows:
        memory = row.memory
        delivered = f"{row.deliveries}× {age(clock_hot.parse(row.last_delivery), now)}" if row.deliveries else "-"
        kind = ("broken", colours.PROBLEM) if memory.broken else _kind(memory)
        title, stamp, about = (line(memory.stem), "bold"), age(memory.changed_at or None, now), line(memory.description)
        cells.append([kind, title, stamp, size(memory.size), delivered, *[fraction(row)] * has_rules, about])
        mark = "!" if row.flags and findings.problems(row.flags) else "·"
        notes.append(f"{mark} " + "; ".join(map(findings.flag, row.flags)) if row.flags else "")
    if cells:
        headers = ["TYPE", "NAME", "AGE", "SIZE", "DELIVERED", *["HELD"] * has_rules, "DESCRIPTION"]
        out.table(headers, cells, (-1, 1), (2, 3), indent="  ", notes=notes)


@parser.command("search", limit=SEARCH_LIMIT, states=STATES)
def search(ctx: Context, args: argparse.Namespace) -> Result:
    result, text = MemorySearch(ctx, args, status=False), " ".join(args.query)
    if not result.words and not result.has_terms:
        raise UsageError("There is nothing to search for.", "Give a word: memtui search pnpm. `memtui list` shows all.")
    every = sorted(result.hits, key=lambda hit: (bool(hit.scope.project), -hit.score, hit.row.memory.name))
    hits = every[: args.limit or None]
    hit_rows = [{**memories.data_of(hit.row.memory), "score": round(hit.score, 3), "line": hit.line} for hit in hits]
    data = {"query": text, "hits": hit_rows}
    if not hits:
        other = ", or --all-projects" * (not args.all_projects)
        nothing = f"Nothing found for “{line(text)}”.\n  Try other words{other}."
        return Result(data, nothing if result.types else memories.NONE_HERE)
    places = [(hit.row.memory, line(hit.scope.shown)) for hit in hits]
    rows = [[_kind(memory), (line(memory.stem), "bold"), at, line(memory.description)] for memory, at in places]
    notes = [line(hit.line)[:200] for hit in hits]
    return Result(data, lambda out: out.table(["TYPE", "NAME", "SCOPE", "DESCRIPTION"], rows, flex=(3, 1), notes=notes))


@parser.command("show")
def show(ctx: Context, args: argparse.Namespace) -> Result:
    from memtui.client import applied_settings
    from memtui.store.links import shown
    from memtui.store.versions import writers
    from memtui.views import memories as words
    from memtui.views import rules
    from memtui.views.deliveries import recalls

    memory = memories.find(ctx, args.name)
    scope = scopes.named(ctx.env, ctx.cwd, memory.scope_label)
    rows = memories.rows_of(ctx, scope)
    row = next((each for each in rows if each.memory.path == memory.path), Row(memory, os.path.basename(memory.path)))
    back = [other.memory.stem for other in rows if other.memory.links_to(memory) and other.memory.path != memory.path]
    triggers = memories.MemoryTriggers(ctx, memory) if scope.kind != "instructions" else None
    source = words.source(writers.source(scope, memory, writers.creations(ctx.root)), ctx.now())
    data = {
        **memories.status_data(row),
        **picked(memory, "fields body links notes origin_session"),
        "backlinks": back,
        "origin": source,
        "held": [rules.data(one) for one in row.held],
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
        facts.append(("verified", words.own_check(row.check)))
        facts.append(("origin", f"session {memory.origin_session}" if source[:8] == "session " else source))
        facts.append(("changed", f"{ago(memory.changed_at or None, now)}, {size(memory.size)}"))
        if row.deliveries:
            facts.append(("delivered", f"{row.deliveries}×, last {ago(clock_hot.parse(row.last_delivery), now)}"))
        else:
            way = ctx.way_of(memory) if scope.kind == "auto" else applied_settings.LOADED
            facts.append(("delivered", "never" if row.never_delivered(scope) else BY_CLIENT[way]))
        facts += [
            ("recalled", recalls(row.recalls).removeprefix("recalled ") if row.recalls else ""),
            ("used", f"{row.used}×: brought by a prompt, or opened or written by the agent" if row.used else ""),
            *rules.facts(row, now),
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


def rank(words: list[str], memory: Memory) -> tuple[float, str]:
    """Return what words count in a memory, 0 if one is missing, and the line of its text that has most of them."""
    name, description = f"{memory.name} {memory.stem}".lower(), memory.description.lower()
    fields, scores = ((name, NAME), (description, DESCRIPTION), (memory.body.lower(), BODY)), []
    for word in words:
        weights = [weight for text, weight in fields if word in text]
        if not weights:
            return 0.0, ""
        scores.append(sum(weights))
    lines = [line.strip() for line in memory.body.split("\n")]
    best_line = max(lines, key=lambda line: sum(word in line.lower() for word in words))
    return sum(scores), best_line if any(word in best_line.lower() for word in words) else ""


@parser.command("recall")
def recall(ctx: Context, args: argparse.Namespace) -> Result:
    from memtui.recall_preview import Recalling
    from memtui.views import notes

    prompt = parser.body_text(" ".join(args.text))
    if not prompt.strip():
        raise UsageError("The prompt is empty.", 'Give its text: memtui recall "how do we release?"')
    recalling = Recalling(ctx)
    size, problem = 0, ""
    try:
        size = recalling.bring_up_to_date()
    except OSError as error:  # what there is of an index may still do
        problem = f"The index can't be brought up to date: {file_error(error).message}"
    recall_run = recalling.run(prompt)
    data = {**words_of_recall.data(recall_run), "indexed": size, "problem": problem or None}
    data |= {"unheard": notes.unheard(recalling.unheard)}
    off = f"! {words_of_recall.OFF[:1].upper()}{words_of_recall.OFF[1:]}: memtui config set recall careful"
    return Result(
        data,
        narrate(f"! {line(problem)}" if problem else ""),
        narrate(f"! {notes.at_prompt(recalling.unheard)}" if recalling.unheard else off * recall_run.off),
        narrate(f"{many(size, 'memory', 'memories')} indexed first." if size else ""),
        lambda out: _print_recall(out, recall_run, every=args.all),
    )


def _print_recall(out: Output, run: "RecallRun", *, every: bool) -> None:
    searched = f"{many(run.memories, 'memory', 'memories')} searched"
    facts = [words_of_recall.amount(run)] if run.delivered else [searched] * bool(run.memories)
    out.heading(words_of_recall.headline(run), " · ".join([*facts, words_of_recall.took(run)]))
    if not run.memories:
        out.print(memories.CREATE)
    elif not run.candidates and run.silent == "nothing":
        out.print("  Other words may find some; a trigger finds a memory by them:")
        out.print("  memtui edit NAME --trigger TEXT")
    if run.candidates and (nearest := words_of_recall.nearest(run)):
        out.paragraph(line(nearest), "  ")
    if run.delivered:
        _print_recalled(out, run, run.delivered)
    left_out = run.left_out if every else run.left_out[:LEFT_OUT]
    if left_out:
        out.section()
        out.heading("Left out")
        _print_recalled(out, run, left_out)
    if more := len(run.left_out) - len(left_out):
        out.print(f"and {more} more: --all lists them")


def _print_recalled(out: Output, run: "RecallRun", candidates: "tuple[RecallCandidate, ...]") -> None:
    cells: list[list[str | tuple[str, str]]] = [
        [
            words_of_recall.outcome(candidate.outcome)[:2],
            (words_of_recall.scored(candidate, run), "green" if candidate.delivered else "dim"),
            (line(candidate.name), "bold" if candidate.delivered else ""),
            (line(candidate.scope), "dim"),
            line(_reason(candidate)),
            (short(candidate.units) if candidate.units else "", "dim"),
        ]
        for candidate in candidates
    ]
    out.table(["", "", "", "", "", ""], cells, flex=(4, 2), right=(5,))


def _reason(candidate: "RecallCandidate") -> str:
    return words_of_recall.because(candidate) if candidate.delivered else words_of_recall.outcome(candidate.outcome)[2]
