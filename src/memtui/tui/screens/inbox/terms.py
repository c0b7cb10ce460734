"""The query of the Inbox: words, and the terms kind:, type:, scope:, is: and project:."""

from collections.abc import Callable, Iterable, Sequence

from memtui.inbox import format as inbox_format
from memtui.tui.model import fuzzy
from memtui.tui.screens.inbox.change_rows import MARKS
from memtui.tui.screens.inbox.row import ORDER, InboxRow
from memtui.views import changesets, query
from memtui.views import legend as marks


def _project(row: InboxRow) -> str:
    """Return the project that an entry waits in, or that the scope of another row is of; agents are none."""
    scope, _, name = row.place.partition(" ")
    return row.project or (name if scope in {"project", "auto", "team"} else "")


# What each term looks at.
TERMS: dict[str, Callable[[InboxRow], str]] = {
    "kind": lambda row: row.kind.word,
    "type": lambda row: row.memory_type,
    "scope": lambda row: row.place.partition(" ")[0],
    "is": lambda row: row.state,
    "project": _project,
}
STATES = {query.PROBLEM: "a problem, or a fix of one", query.UNTRUSTED: "no session gets the memory yet"}
# What the keys of the screen explain.
LEGEND = (
    marks.section("In front of a row", (marks.UNSAVED, *MARKS))
    + marks.section("Filter", ((f"is:{state}", words) for state, words in STATES.items()))
    + marks.section("Kinds of fixes", changesets.MEANINGS.items())
    + "\nIn the detail of a change, what is dropped comes first; a good paraphrase may be listed there, too. A"
    " draft is folded as probably a one-off if it was said once and is less than"
    f" {inbox_format.LASTING:.0%} likely to last, or where that is not known, less than"
    f" {inbox_format.DOUBTFUL:.0%} sure. What is not on the screen is shown whole before it is approved."
)


def select(rows: Sequence[InboxRow], typed: str) -> Sequence[InboxRow]:
    search = query.parse(typed, TERMS)
    terms = [(name, value.casefold()) for name, value in search.terms.items()]
    limits = [(TERMS[name], value) for name, value in terms if (name, value) != ("project", query.ALL)]
    rows = [row for row in rows if all(value in text_of(row).casefold() for text_of, value in limits)]
    return fuzzy.Haystack(rows, lambda row: row.searched).select(search.words)


def mistake(rows: Sequence[InboxRow], typed: str, projects: Iterable[str]) -> str:
    """Return in sentences what is wrong with a query: no such term, or a value that no row and no project has."""
    for name, value in query.parse(typed, TERMS).terms.items():
        always = {"is": STATES, "kind": ORDER, "project": projects}.get(name, ())
        values = [query.ALL] if name == "project" else []
        values += sorted({*always, *filter(None, map(TERMS[name], rows))})
        if not any(value.casefold() in other.casefold() for other in values):
            return query.not_among(name, value, values)
    return query.unknown_term(typed, TERMS)
