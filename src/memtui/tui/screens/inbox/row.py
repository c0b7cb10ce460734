"""A row of the inbox: one thing to decide, which draws and describes itself."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from memtui.base import fs, paths
from memtui.base.errors import MemtuiError
from memtui.base.phrasing import many
from memtui.base.time_input import NEVER
from memtui.inbox import rejections
from memtui.review import draft, evidence
from memtui.review.draft import AS_DRAFTED, Choices, Draft
from memtui.review.evidence import Evidence, Similar
from memtui.review.waiting_entries import Waiting
from memtui.store import scopes
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.versions.writers import Occasion
from memtui.tidy import similarity
from memtui.tui.model import autosave, fuzzy
from memtui.tui.screens.frame import Described
from memtui.views import colours, drafts, safe_text
from memtui.views import legend as marks
from memtui.views.memories import scope_name

if TYPE_CHECKING:
    from memtui.review.outside_changes import Changed
    from memtui.tui.model.data import Data
    from memtui.tui.services import Services

# The lines of a detail that must be on the screen: all of them.
WHOLE = math.inf


class InboxView:
    """What rows need to draw and describe themselves. `memories`: those of this project and the global ones; `names`:
    of the projects of entries, by slug; `evidence` of entries, and `occasions` on which memories were changed, by key,
    as far as they were looked up; `detail_width`: in cells; `needed`: how many lines of the detail that was described
    last must be on the screen before it is approved unasked; `without_keys`: no row says which keys decide about it."""

    def __init__(self, services: "Services") -> None:
        self.services, self.data = services, services.data
        self.memories: Sequence[Memory] = ()
        self.names: Mapping[str, str] = {}
        self.evidence: dict[str, Evidence] = {}
        self.occasions: dict[str, Occasion] = {}
        self.autosaves: Container[str] = ()
        self.typed = ""
        self.detail_width = 0
        self.without_keys = False
        self.needed: float = WHOLE
        self._rejected: dict[str, int] = {}  # stamps of the rejected drafts, by the directory of their inbox
        self._drafts: dict[str, tuple[Waiting, Draft | MemtuiError]] = {}

    @property
    def now(self) -> float:
        return self.data.now()

    def forget(self, directories: Iterable[str]) -> None:
        """Forget what was computed from files; the evidence only if the `directories` of inboxes reject others now."""
        self._drafts.clear()
        self.occasions.clear()
        rejected = {directory: fs.stamp(rejections.path(directory)) for directory in {*directories, *self._rejected}}
        if any(stamp != self._rejected.get(directory, stamp) for directory, stamp in rejected.items()):
            self.evidence.clear()
        self._rejected = rejected

    def draft(self, item: Waiting) -> Draft | MemtuiError:
        """Return what approving an entry would write, or why it can't be approved, as the files were last read."""
        draft_here = self._drafts.get(item.key)
        if draft_here is None or draft_here[0] is not item:
            draft_here = self._drafts[item.key] = (item, self.propose(item))
        return draft_here[1]

    def propose(self, item: Waiting, choices: Choices = AS_DRAFTED) -> Draft | MemtuiError:
        """As `draft`, but read the files now; with the choices of the person."""
        try:
            return draft.propose(self.data.store(), item, choices)
        except MemtuiError as error:
            return error

    def project_name(self, item: Waiting) -> str:
        """Return the name of the project that an entry belongs to; empty if it is this project or none."""
        if item.slug is None or item.slug == self.data.slug:
            return ""
        return safe_text.line(self.names.get(item.slug, item.slug), 40)

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
        if item.slug in {None, self.data.slug}:
            return self.memories
        return draft.neighbours(self.data.store(), item)

    def read_memories(self) -> list[Memory]:
        """Read the memories of this project and the global ones. Slow: for a worker."""
        near = [scope for scope in self.data.scopes() if scope.exists and scope.writable and not scope.problem]
        return [memory for scope in near for memory in scopes.memories(scope, self.data.known)]

    def similar(self, item: Waiting) -> Sequence[Similar]:
        """Return the memories that are similar to a draft, the most similar first."""
        proposed = self.draft(item)
        return similarity.to_draft(proposed.name, item.text, self.near(item)) if isinstance(proposed, Draft) else ()

    def finder(self, item: Waiting) -> Callable[[], Evidence]:
        """Return what finds in a worker what was said around an entry, and similar memories and rejected drafts."""
        proposed = self.draft(item) if item.kind == "updates" else None
        if not isinstance(proposed, Draft):
            return partial(evidence.evidence_of, self.data.env, item)
        name, near = proposed.name, self.near(item)

        def find() -> Evidence:
            rejected = rejections.near([item.directory, paths.inbox_dir(self.data.root, None)])
            return evidence.evidence_of(
                self.data.env,
                item,
                similarity.to_draft(name, item.text, near),
                similarity.to_refused(name, item.text, rejected),
            )

        return find


# Characters of a row's sentence, and of its place, that are drawn.
SENTENCE, PLACE = 300, 40
# More rows of one cause than this are folded.
MANY = 12
OF_ONE_CAUSE = "All have one cause: space marks each, A all that need no second look, once they are unfolded."
# The keys of the folds, and why rows are in them.
ONE_OFFS, SNOOZED, BY_OTHERS = "one-offs", "snoozed", "changed"
WHY = {
    ONE_OFFS: "Drafts of what was said once and was likely not meant for good.",
    SNOOZED: "You hid these. They come back by themselves.",
    BY_OTHERS: "Memories that Claude, an editor or a program wrote since you last saw them.",
}


class RowKind(NamedTuple):
    """A kind of rows. `family` names its commands; `word` it in the list, `singular` and `plural` in sentences;
    `verbs`: the words of the foot, by action."""

    family: str
    word: str
    singular: str
    plural: str
    verbs: Mapping[str, str]

    @property
    def style(self) -> str:
        return colours.KINDS.get(self.word, "")


def _kind(family: str, word: str, singular: str = "", plural: str = "", **verbs: str) -> RowKind:
    singular = singular or word
    return RowKind(family, word, singular, plural or f"{singular}s", verbs)


CHANGE = {"approve": "approve", "edit": "edit", "reject": "reject", "later": "later", "follow": "go to it"}
FOLD = RowKind("", "", "", "", {})
DRAFT = _kind("draft", "draft", approve="approve", edit="edit", reject="reject", later="later", merge="merge")
GHOST = _kind("ghost", "rejected", "rejected row", reject="never again")
TODO = _kind("todo", "todo", approve="done", edit="edit", reject="reject", later="later")
CHANGED_VERBS = {"approve": "keep", "edit": "edit", "reject": "reject", "later": "later", "history": "versions"}
CHANGED = RowKind("changed", "changed", "changed memory", "changed memories", CHANGED_VERBS)
MERGE = _kind("change", "merge", **CHANGE)
FIX = _kind("change", "fix", plural="fixes", **CHANGE)
SAFE_FIX = _kind("change", "fix", "safe fix", "safe fixes", **CHANGE)
RULE = _kind("change", "rule", **CHANGE)
PROBLEM = _kind("problem", "problem", approve="edit", reject="reject", later="later", follow="go to it")
TRUST_VERBS = {"approve": "trust", "reject": "reject", "later": "later", "follow": "go to it"}
TRUST = RowKind("trust", "trust", "memory to trust", "memories to trust", TRUST_VERBS)
# The kinds, and their words, as they follow each other in the list.
KINDS = (DRAFT, CHANGED, MERGE, FIX, PROBLEM, RULE, TRUST, TODO)
ORDER = [kind.word for kind in KINDS]


@dataclass(frozen=True, kw_only=True)
class InboxRow:
    """A row. `says`: what leads it; `place`: the project or scope that it is of; `until`: when a hidden row shows
    again, in seconds since the epoch; `later_key`: what tells it from all others while it is hidden, empty for an
    entry, which has its own field for that; `autosave`: the name under which unsaved text of it is kept; `item`: the
    entry of an inbox that it is, `changed`: the memory that somebody else wrote, each None for others; `folds`: the
    rows that it folds; `cause`: what many rows are folded by; `is_taken`: whether a memory has the name of a draft, as
    far as its file tells; `memory_type`: of the memory that it is or would become; `state`: what `is:` finds it by;
    `project`: the one in whose inbox an entry waits."""

    key: str
    kind: RowKind
    says: str = ""
    place: str = ""
    until: float | None = None
    later_key: str = ""
    autosave: str = ""
    item: "Waiting | None" = None
    changed: "Changed | None" = None
    folds: "tuple[InboxRow, ...]" = ()
    cause: str = ""
    is_taken: bool = False
    memory_type: str = ""
    state: str = ""
    project: str = ""

    @property
    def heading(self) -> str:
        return " · ".join(filter(None, (self.kind.word, self.place))) or self.says

    @property
    def look(self) -> tuple[object, ...]:
        return self.key, self.until, self.says, self.later_key

    def when(self, _view: "InboxView") -> str:
        """Return its age; empty where nothing says it."""
        return ""

    def signs(self, _view: "InboxView") -> Text:
        return Text()

    def cells(self, view: "InboxView") -> list[Text]:
        """Draw the cells of the row: kind, sentence, place, age."""
        kind, what = Text(self.kind.word, self.kind.style), Text(safe_text.line(self.says, SENTENCE))
        where = Text(safe_text.line(self.place, PLACE), "dim", no_wrap=True)
        if self.kind is GHOST:
            what.stylize("dim")
        fuzzy.mark([kind, what, where], view.typed)
        signs = self.signs(view)
        if self.autosave and autosave.has(view.autosaves, self.autosave):
            signs = Text.assemble((f"{marks.UNSAVED[0]} ", "yellow"), signs)
        return [kind, Text.assemble(signs, what), where, Text(self.when(view), "dim")]

    @property
    def searched(self) -> str:
        return f"{self.kind.word} {self.says} {self.place}"

    def unsaved(self, view: "InboxView") -> str:
        """Return the line that says that it was edited and not saved; empty if it was not."""
        saved = autosave.kept(view.data.root, self.autosave) if self.autosave else None
        return autosave.unsaved(saved.time, view.now, "inbox.edit") + "\n" if saved is not None else ""

    def describe(self, _view: "InboxView") -> Described:
        return Described(Text(self.kind.word))

    def look_up(self, _view: "InboxView") -> Callable[[], object] | None:
        """Return what finds out more about it, which takes a worker; None if there is nothing."""
        return None

    def forbid(self, _data: "Data") -> None:
        """Reject it for good, after it was rejected."""

    def copied(self, _view: "InboxView") -> str:
        return ""

    @property
    def needs_look(self) -> str:
        """Say why a person has to look at it by itself, so that it is not marked with all of its kind, if so."""
        is_one_off = self.kind is DRAFT and self.item is not None and self.item.entry.one_off()
        words = "its name is taken" if self.is_taken else "it is probably a one-off" if is_one_off else ""
        return words if self.until is None else "it is hidden"


@dataclass(frozen=True, kw_only=True)
class FoldRow(InboxRow):
    """The fold of some rows of one kind."""

    is_open: bool

    @property
    def look(self) -> tuple[object, ...]:
        return self.key, self.says, self.is_open

    def cells(self, _view: "InboxView") -> list[Text]:
        sign = marks.UNFOLDED if self.is_open else marks.FOLDED
        return [Text(sign, "dim"), Text(safe_text.line(self.says, SENTENCE), "dim"), Text(), Text()]

    def describe(self, view: "InboxView") -> Described:
        text = Text(WHY.get(self.key, OF_ONE_CAUSE)).append(
            f"\nenter {'hides' if self.is_open else 'shows'} {'it' if len(self.folds) == 1 else 'them'}.\n\n", "dim"
        )
        for row in () if self.is_open else self.folds:
            kind, what, *_ = row.cells(view)
            kind.pad_right(max(0, 9 - kind.cell_len))
            text.append_text(kind).append_text(what).append("\n")
        return Described(text)


def counted(rows: Sequence[InboxRow]) -> str:
    """Return how many rows there are, in words: `2 drafts`, and of several kinds `2 changes`."""
    nouns = {(row.kind.singular, row.kind.plural) for row in rows}
    return many(len(rows), *(nouns.pop() if len(nouns) == 1 else ("change", "changes")))


def as_seen(rows: Sequence[InboxRow]) -> list[tuple[object, ...]]:
    """Return what is seen of rows: entries that were read again are other objects, but may have the same text."""
    return [(row.key, row.until, row.is_taken, row.place, row.item.entry.raw if row.item else row) for row in rows]


def in_order(rows: Sequence[InboxRow], hidden: Mapping[str, float], now: float) -> list[InboxRow]:
    """Return rows kind by kind, as ORDER has them; `hidden` ones at the end, without those hidden for good."""
    inbox_rows = []
    for row in rows:
        until = hidden.get(row.later_key, 0.0) if row.later_key else 0.0
        if until != NEVER:
            inbox_rows.append(replace(row, until=until) if until > now else row)
    return sorted(inbox_rows, key=lambda row: (row.until or 0.0, ORDER.index(row.kind.word)))


def folded(rows: Sequence[InboxRow], unfolded: Collection[str], now: float) -> list[InboxRow]:
    """Return rows with likely one-offs, snoozed ones and many of one cause in folds; `unfolded`: keys of open folds."""

    def fold(key: str, rows: Sequence[InboxRow], says: str) -> list[InboxRow]:
        is_open = key in unfolded
        row = FoldRow(key=key, kind=FOLD, says=says, folds=tuple(rows), is_open=is_open)
        return [row, *(rows if is_open else ())] if rows else []

    snoozed = [row for row in rows if row.until is not None]
    awake = [row for row in rows if row.until is None]
    one_offs = [row for row in awake if row.kind is DRAFT and row.item is not None and row.item.entry.one_off()]
    aside = {row.key for row in one_offs}
    inbox_rows = [row for row in awake if row.key not in aside]
    for cause, count in Counter(row.cause for row in inbox_rows if row.cause).items():
        if count > MANY:
            alike = [row for row in inbox_rows if row.cause == cause]
            at, kind = inbox_rows.index(alike[0]), alike[0].kind
            others = [row for row in inbox_rows if row.cause != cause]
            like = "that others changed" if cause == BY_OTHERS else f"such as “{alike[0].says}”"
            noun = ("memory", "memories") if cause == BY_OTHERS else (kind.singular, kind.plural)
            inbox_rows = [*others[:at], *fold(cause, alike, f"{many(count, *noun)} {like}"), *others[at:]]
    untils = [row.until for row in snoozed if row.until is not None]
    return [
        *inbox_rows,
        *fold(ONE_OFFS, one_offs, drafts.one_offs(len(one_offs))),
        *fold(SNOOZED, snoozed, drafts.waiting(untils, now) if untils else ""),
    ]
