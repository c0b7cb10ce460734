"""The list of the inbox: its rows as they are read, what they need to be drawn, their cells, folds, and the query."""

import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from memtui.base import findings
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding
from memtui.base.phrasing_hot import age, many
from memtui.client import projects
from memtui.inbox import format_hot
from memtui.review import approvals
from memtui.review.approvals import AS_DRAFTED, Choices, Draft
from memtui.review.evidence import Evidence, Similar
from memtui.review.outside_changes import Changed
from memtui.review.waiting_entries import Waiting, best_first, homes, load_hidden
from memtui.store import memory, scopes
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.versions.writers import Occasion
from memtui.tidy import similar_memories
from memtui.tui.model import autosave, matches
from memtui.tui.model.data import Data
from memtui.tui.texts import TEXTS
from memtui.views import changesets, decisions, drafts, glyphs, query, safe_text
from memtui.views.decisions import MARKS, ORDER, ChangedRow, Decision, ProposedRow, RowKind, of_entry
from memtui.views.memories import scope_name

if TYPE_CHECKING:
    from memtui.tui.services import Services

WHOLE = math.inf  # the lines of a detail that must be on the screen: all of them


class InboxView:
    """What rows need to draw and describe themselves."""

    def __init__(self, services: "Services") -> None:
        self.services, self.data = services, services.data
        self.memories: Sequence[Memory] = ()  # of this project and the global ones
        self.names: Mapping[str, str] = {}  # of the projects of entries, by slug
        self.evidence: dict[str, Evidence] = {}  # of entries, by key, as far as it was looked up
        self.occasions: dict[str, Occasion] = {}  # on which memories were changed, by key, likewise
        self.autosaves: Container[str] = ()
        self.typed = ""
        self.detail_width = 0  # in cells
        self.needed: float = WHOLE  # lines of the detail that must be seen before it is approved unasked
        self._drafts: dict[str, tuple[Waiting, Draft | MemtuiError]] = {}

    @property
    def now(self) -> float:
        return self.data.now()

    def forget(self) -> None:
        self._drafts.clear()
        self.occasions.clear()

    def draft(self, item: Waiting) -> Draft | MemtuiError:
        """Return what approving an entry would write, or why it can't be approved, as the files were last read."""
        draft_here = self._drafts.get(item.key)
        if draft_here is None or draft_here[0] is not item:
            draft_here = self._drafts[item.key] = (item, self.propose(item))
        return draft_here[1]

    def propose(self, item: Waiting, choices: Choices = AS_DRAFTED) -> Draft | MemtuiError:
        """As `draft`, but read the files now; with the choices of the person."""
        try:
            return approvals.propose(self.data.store(), item, choices)
        except MemtuiError as error:
            return error

    def project_name(self, item: Waiting) -> str:
        """Return the name of the project that an entry belongs to; empty if it is this project or none."""
        return "" if item.slug == self.data.slug else decisions.project_of(item, self.data, self.names)

    def home(self, draft: Draft) -> str:
        """Name the scope that a draft is for: `project shop`."""
        return scope_name(draft.scope, self.project_name(draft.item) or self.data.facts.project)

    def named(self, memory: Memory, item: Waiting) -> str:
        """Name a memory that an entry is compared with, after its scope: `project shop: prefer-pnpm`."""
        scope = Scope(memory.scope_label.partition(":")[0], memory.scope_label, "")
        place = scope_name(scope, self.project_name(item) or self.data.facts.project)
        return safe_text.line(f"{place}: {memory.stem}")

    def near(self, item: Waiting) -> Sequence[Memory]:
        """Return the memories that a draft is compared with and may be merged into: those of its project."""
        return self.memories if item.slug in {None, self.data.slug} else approvals.neighbours(self.data.store(), item)

    def read_memories(self) -> list[Memory]:
        """Read the memories of this project and the global ones. Slow: for a worker."""
        near = [scope for scope in self.data.scopes() if scope.exists and scope.writable and not scope.problem]
        return [memory for scope in near for memory in scopes.memories(scope, self.data.known)]

    def similar(self, item: Waiting) -> Sequence[Similar]:
        proposed = self.draft(item)
        if not isinstance(proposed, Draft):
            return ()
        return similar_memories.to_draft(proposed.name, item.text, self.near(item))

    def finder(self, item: Waiting) -> Callable[[], Evidence]:
        """Return what finds in a worker what was said around an entry, and similar memories and rejected drafts."""
        proposed = self.draft(item) if item.kind == "updates" else None
        name = proposed.name if isinstance(proposed, Draft) else ""
        return partial(drafts.find_evidence, self.data, item, name, self.near(item) if name else ())


class InboxReading(NamedTuple):
    waiting: list[Waiting]  # the drafts and todos of all inboxes
    names: dict[str, str]  # of the projects, by slug
    problem: str  # which inboxes could not be read, in words
    others: list[Decision]  # what others wrote, and what is not trusted
    hidden: dict[str, float]  # until when what is no entry is hidden
    places: dict[str, str]  # the directories of the scopes, by label
    of_all: bool  # it is of all projects


def read(data: Data, *, all_projects: bool) -> InboxReading:
    """Read all of it; with `all_projects` what others wrote in other projects, too."""
    unread, changes = list[Finding](), list[Changed]()
    waiting = data.waiting(("updates", "items"), every=True, unread=unread)
    others_by_slug = {other.slug: other.path for other in projects.with_memory(data.env)} if all_projects else {}
    names = projects.names(data.env, {**others_by_slug, **homes(data.env, waiting), data.slug: data.project_root})
    problem = " ".join(map(findings.with_remedy, unread))
    try:
        changes = data.changed(every=all_projects)
    except MemtuiError as error:
        problem = f"{problem} {error.message}".strip()
    untrusted = [decisions.of_untrusted(memory, data.project) for memory in data.untrusted(changes)]
    others = [*decisions.of_changed(data, changes), *untrusted]
    places = {scope.label: scope.directory for scope in data.scopes() if scope.exists}
    return InboxReading(waiting, names, problem, others, load_hidden(data.root), places, all_projects)


def read_entries(data: Data, last: InboxReading) -> InboxReading | None:
    """Read the drafts and todos again, only those of files that have changed anew. None if none have."""
    unread = list[Finding]()
    waiting = data.waiting(("updates", "items"), every=True, unread=unread)
    problem = " ".join(map(findings.with_remedy, unread)) or last.problem
    if problem == last.problem and list(map(id, waiting)) == list(map(id, last.waiting)):
        return None
    return last._replace(waiting=waiting, problem=problem)


def rows_of(waiting: Sequence[Waiting], view: InboxView, places: Mapping[str, str]) -> list[Decision]:
    """Return a row for each draft, best first, then for each todo. `places`: directories of scopes, by label."""
    entries = [*best_first(entry for entry in waiting if entry.kind == "updates")]
    entries += [entry for entry in waiting if entry.kind == "items"]
    return [of_entry(item, view.data, view.names, is_taken=_has_name(item, view.data.slug, places)) for item in entries]


def _has_name(item: Waiting, slug: str, places: Mapping[str, str]) -> bool:
    """Return whether a memory has the name of a draft of this project or of all, by the directories of scopes."""
    fields, label = item.entry.fields, approvals.label_of(item)
    place = places.get(label, places.get("auto") if label == "project" else None)
    if item.kind != "updates" or item.slug not in {None, slug} or fields.get("replaces") or place is None:
        return False
    return os.path.exists(f"{place}/{fields.get('name') or memory.slugify(item.text.partition(chr(10))[0])}.md")


SENTENCE, PLACE = 300, 40  # characters of a row's sentence, and of its place, that are drawn
MANY = 12  # more rows of one cause than this are folded
ONE_OFFS, SNOOZED = "one-offs", "snoozed"  # the keys of the folds
FOLD = RowKind("", "", "", "", {})


@dataclass(frozen=True, kw_only=True)
class FoldRow(Decision):
    """The fold of some rows of one kind."""

    is_open: bool

    @property
    def look(self) -> tuple[object, ...]:
        return self.key, self.says, self.is_open


def cells(row: Decision, view: InboxView) -> list[Text]:
    """Draw the cells of a row: kind, sentence, place, age."""
    what = Text(safe_text.line(row.says, SENTENCE))
    if isinstance(row, FoldRow):
        what.stylize("dim")
        return [Text(glyphs.UNFOLDED if row.is_open else glyphs.FOLDED, "dim"), what, Text(), Text()]
    kind, where = Text(row.kind.word, row.kind.style), Text(safe_text.line(row.place, PLACE), "dim")
    matches.mark([kind, what, where], view.typed)
    sign, style = row.sign
    signs = Text(f"{sign} " if sign else "", style)
    if autosave.has(view.autosaves, autosave_name(row)):
        signs = Text.assemble((f"{glyphs.UNSAVED[0]} ", "yellow"), signs)
    return [kind, Text.assemble(signs, what), where, Text("" if row.time is None else age(row.time, view.now), "dim")]


def autosave_name(row: Decision) -> str:
    """Return the name under which its unsaved text is kept; empty for what has no form."""
    if isinstance(row, ChangedRow):
        return autosave.name_of(row.changed.key)
    if isinstance(row, ProposedRow):
        return f"proposal-{row.proposal.id}"
    return row.item.id if row.item is not None else ""


def counted(rows: Sequence[Decision]) -> str:
    """Return how many rows there are, in words: `2 drafts`, and of several kinds `2 changes`."""
    nouns = {(row.kind.singular, row.kind.plural) for row in rows}
    return many(len(rows), *(nouns.pop() if len(nouns) == 1 else ("change", "changes")))


def as_seen(rows: Sequence[Decision]) -> list[object]:
    """Return what is seen of rows: entries that were read again are other objects, but may have the same text."""
    return [row if row.item is None else row.look for row in rows]


def folded(rows: Sequence[Decision], unfolded: Collection[str], now: float) -> list[Decision]:
    """Return rows with likely one-offs, snoozed ones and many of one cause in folds; `unfolded`: keys of open folds."""

    def fold(key: str, rows: Sequence[Decision], says: str) -> list[Decision]:
        is_open = key in unfolded
        row = FoldRow(key=key, kind=FOLD, says=says, folds=tuple(rows), is_open=is_open)
        return [row, *(rows if is_open else ())] if rows else []

    snoozed = [row for row in rows if row.until is not None]
    awake = [row for row in rows if row.until is None]
    one_offs = [row for row in awake if row.is_one_off]
    inbox_rows = [row for row in awake if not row.is_one_off]
    for cause, count in Counter(row.cause for row in inbox_rows if row.cause).items():
        if count > MANY:
            alike = [row for row in inbox_rows if row.cause == cause]
            at, kind = inbox_rows.index(alike[0]), alike[0].kind
            others = [row for row in inbox_rows if row.cause != cause]
            says = f"{many(count, kind.singular, kind.plural)} such as “{alike[0].says}”"
            inbox_rows = [*others[:at], *fold(cause, alike, says), *others[at:]]
    untils = [row.until for row in snoozed if row.until is not None]
    folds = fold(ONE_OFFS, one_offs, drafts.one_offs(len(one_offs)))
    return [*inbox_rows, *folds, *fold(SNOOZED, snoozed, drafts.waiting(untils, now) if untils else "")]


# the query: words, and the terms kind:, type:, scope:, is: and project:


def _project(row: Decision) -> str:
    """Return the project that an entry waits in, or that the scope of another row is of; agents are none."""
    scope, _, name = row.place.partition(" ")
    return row.project or (name if scope in {"project", "auto", "team"} else "")


# What each term looks at.
TERMS: dict[str, Callable[[Decision], str]] = {
    "kind": lambda row: row.kind.word,
    "type": lambda row: row.memory_type,
    "scope": lambda row: row.place.partition(" ")[0],
    "is": lambda row: row.state,
    "project": _project,
}
STATES = {query.PROBLEM: "a problem, or a fix of one", query.UNTRUSTED: "no session gets the memory yet"}
# What the keys of the screen explain.
LEGEND = (
    glyphs.section("In front of a row", (glyphs.UNSAVED, *MARKS))
    + glyphs.section("Filter", ((f"is:{state}", words) for state, words in STATES.items()))
    + glyphs.section("Kinds of fixes", changesets.MEANINGS.items())
    + "\n"
    + TEXTS["inbox legend"].format(lasting=format_hot.LASTING, doubtful=format_hot.DOUBTFUL)
)


def filtered(rows: Sequence[Decision], typed: str) -> Sequence[Decision]:
    search = query.parse(typed, TERMS)
    terms = [(name, value.casefold()) for name, value in search.terms.items()]
    limits = [(TERMS[name], value) for name, value in terms if (name, value) != ("project", query.ALL)]
    rows = [row for row in rows if all(value in text_of(row).casefold() for text_of, value in limits)]
    return matches.Haystack(rows, lambda row: row.searched).select(search.words)


def mistake(rows: Sequence[Decision], typed: str, projects: Iterable[str]) -> str:
    """Return in sentences what is wrong with a query: no such term, or a value that no row and no project has."""
    for name, value in query.parse(typed, TERMS).terms.items():
        always = {"is": STATES, "kind": ORDER, "project": projects}.get(name, ())
        values = [query.ALL] if name == "project" else []
        values += sorted({*always, *filter(None, map(TERMS[name], rows))})
        if not any(value.casefold() in other.casefold() for other in values):
            return query.not_among(name, value, values)
    return query.unknown_term(typed, TERMS)
