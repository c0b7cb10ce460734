"""What waits for a decision, as the Inbox of the TUI lists it, and what an id or a name means among it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from memtui.base import clock, ids, short_ids
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.base.findings import Problem
from memtui.base.storage import file_error
from memtui.base.time_input import NEVER
from memtui.cli import entries, memories
from memtui.cli.context import Context
from memtui.cli.output import difference, line
from memtui.inbox.format import NOUNS
from memtui.review import later, outside_changes, waiting_entries
from memtui.review.outside_changes import Changed, Untrusted
from memtui.review.waiting_entries import Waiting, best_first
from memtui.settings import config
from memtui.store import scopes
from memtui.store.scopes import Scope
from memtui.store.versions.writers import Occasions
from memtui.views import changesets, drafts
from memtui.views import outside_changes as words
from memtui.views.memories import scope_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from memtui.tidy.changeset import Proposal
    from memtui.tidy.waiting_proposals import UndecidedSet

    Thing: TypeAlias = "Waiting | Changed | Proposal | Problem | Untrusted"

NOTHING = "Nothing that waits is called"
SENTENCE = 300  # characters
# By the word of a kind, in the order of the list: what `--kind` calls it.
KINDS = {
    "draft": "drafts",
    "changed": "changed",
    "merge": "merges",
    "fix": "fixes",
    "problem": "problems",
    "rule": "rules",
    "trust": "trust",
    "todo": "todos",
}
PROPOSED = ("merge", "fix", "rule")
ALL = ("all", "everything", "drafts")  # words for what --all means


@dataclass(frozen=True)
class DecisionRow:
    """One thing to decide; `names` mean it, as its id does, and `later_key` and `until` (seconds) are of hiding it."""

    kind: str
    id: str
    says: str
    where: str
    time: float | None
    later_key: str
    thing: "Thing"
    until: float | None = None
    names: tuple[str, ...] = ()

    @property
    def is_one_off(self) -> bool:
        """Whether it is a draft that is unlikely to last."""
        return self.kind == "draft" and isinstance(self.thing, Waiting) and self.thing.entry.one_off()


class Decisions:
    """The decisions of a project, or of `every` one; to `decide`, what was written just now is taken in first."""

    def __init__(self, ctx: Context, *, every: bool = False, decide: bool = False) -> None:
        self.ctx, self.every, self.decide = ctx, every, decide
        self.unread: list[dict[str, str]] = []
        self.hidden = later.load(ctx.root)
        self.scopes = scopes.discover(ctx.env, ctx.cwd)

    @cached_property
    def entries(self) -> "list[Waiting]":
        """All that waits in inboxes, of all projects; drafts that are most worth keeping first."""
        return best_first(entries.read(self.ctx, all_projects=True, unread=self.unread))

    def _place(self, scope: Scope) -> str:
        """Name a scope: `auto shop`."""
        return scope_name(scope, os.path.basename(self.ctx.project_root))

    def near(self, item: Waiting) -> bool:
        """Return whether an entry is of this project or global, or all projects are asked for."""
        return self.every or item.slug in {self.ctx.slug, None}

    def of_entries(self) -> "Iterator[DecisionRow]":
        """Yield the drafts, todos and notes of all projects."""
        ctx, now = self.ctx, self.ctx.now()
        homes = waiting_entries.homes(ctx.env, (item for item in self.entries if item.slug != ctx.slug))
        for item in self.entries:
            where = f"project {os.path.basename(ctx.project_root)}" if item.slug else "global"
            if item.slug not in {None, ctx.slug}:
                where = line(ctx.tilde(item.entry.fields.get("project") or homes[item.slug] or item.slug))
            says, time = drafts.title(item, SENTENCE), item.entry.time()
            yield DecisionRow(NOUNS[item.kind], item.id, says, where, time, item.key, item, item.until(now))

    def changed(self, *, every: bool = False) -> "Iterator[DecisionRow]":
        """Yield the memories that others wrote, also just now, since the person saw them. Raises MemtuiError."""
        if self.decide:
            self.ctx.take_in()
        self.ctx.look()
        occasions = Occasions(self.ctx.env)
        for change in self.ctx.changed(every=every or self.every):
            says = f"{change.name}: {words.by(change, occasions.of(change.writer).title)}"
            names = (change.ref, change.key, f"{change.scope.label}:{change.name}", change.name, change.now.file)
            yield self._decision("changed", says, self._place(change.scope), change.now.written, change, names)

    def _decision(
        self,
        kind: str,
        says: str,
        where: str,
        time: "float | None",
        thing: "Changed | Proposal | Problem | Untrusted",
        names: "tuple[str, ...]" = (),
        own_id: str = "",
    ) -> DecisionRow:
        key = thing.later_key
        until = self.hidden.get(key, 0.0)
        hidden = until if until == NEVER or until > self.ctx.now() else None
        return DecisionRow(kind, own_id or ids.digest(key.encode())[:12], says, where, time, key, thing, hidden, names)

    @cached_property
    def planned(self) -> "UndecidedSet":
        """What is proposed about memories, and the problems that are left. Raises MemtuiError."""
        try:
            return self.ctx.undecided()
        except OSError as error:
            raise file_error(error) from error

    def proposed(self) -> "Iterator[DecisionRow]":
        """Yield the merges, fixes and rules that are proposed. Raises MemtuiError."""
        for proposal in self.planned.proposals:
            kind, says, path = proposal.word, changesets.gist(proposal), proposal.files[0].path
            where = next((self._place(scope) for scope in self.scopes if path.startswith(scope.directory + "/")), "")
            says = changesets.without_scope(says, changesets.scope_of(proposal), where)
            yield self._decision(kind, says, where, None, proposal, own_id=proposal.ref)

    def problems(self) -> "Iterator[DecisionRow]":
        """Yield the problems of memories that nothing fixes by itself. Raises MemtuiError."""
        for problem in self.planned.left:
            label = str(problem.finding.data.get("scope", ""))
            where = next((self._place(scope) for scope in self.scopes if scope.shown == label), "")
            says = changesets.without_scope(problem.sentence, label, where)
            yield self._decision("problem", says, where, None, problem, own_id=ids.digest(problem.key.encode())[:12])

    def untrusted(self) -> "Iterator[DecisionRow]":
        """Yield the memories of the repository, or of a team, that are not trusted and that nobody changed since."""
        changes: list[Changed] = []
        with suppress(MemtuiError):  # `changed` says why
            self.ctx.look()
            changes = self.ctx.changed()
        for memory in self.ctx.untrusted(changes):
            names = (memory.memory.ref, memory.memory.path, memory.memory.stem)
            where, time = self._place(memory.scope), memory.memory.changed_at
            yield self._decision("trust", memory.says, where, time, memory, names)

    def read(self, kinds: "tuple[str, ...]") -> "list[DecisionRow]":
        """Return the decisions of some kinds, in their order. What can't be read is said."""
        rows = [row for row in self.of_entries() if isinstance(row.thing, Waiting) and self.near(row.thing)]
        for of, source in (
            ({"changed"}, self.changed),
            ({*PROPOSED}, self.proposed),
            ({"problem"}, self.problems),
            ({"trust"}, self.untrusted),
        ):
            try:
                rows += source() if of & {*kinds} else ()
            except MemtuiError as error:
                self.ctx.out.say(f"! {line(error.message)}")
        order = list(KINDS)
        return sorted([row for row in rows if row.kind in kinds], key=lambda row: order.index(row.kind))

    def find(self, ref: str, kinds: "tuple[str, ...]" = ("draft", "todo", "note")) -> DecisionRow:
        """Return what an id or a name means, of entries only these kinds. Raises NotFoundError, ConflictError."""
        sources: list[Iterable[DecisionRow]] = [
            (row for row in self.of_entries() if row.kind in kinds),
            self.changed(),
            self.changed(every=True),
            self.untrusted(),
            self.proposed(),  # a plan is made for these and the next
            self.problems(),
        ]
        for rows in sources:
            if row := _match([row for row in rows if row.until != NEVER], ref):  # that one is rejected
                return row
        raise self._unknown(ref, kinds)

    def _unknown(self, ref: str, kinds: "tuple[str, ...]") -> NotFoundError:
        """Return the error for what nothing that waits is called."""
        try:
            memories.find(self.ctx, ref)
        except NotFoundError as unlike:
            near = unlike.hint
        else:
            words = f"Nobody else has changed “{ref}” since you saw it."
            return self.gate_off() or NotFoundError(words, entries.LISTED)
        if (error := entries.why_not(self.ctx, ref)) is not None:
            return error
        hint, lowered = entries.LISTED, ref.lower()
        rows = [row for row in self.of_entries() if row.kind in kinds and lowered]
        beginning = [row for row in rows if row.says.lower().startswith(lowered)][:3]
        if lowered in ALL:
            hint = f"Did you mean --all (all drafts)? {hint}"
        elif beginning:
            hint = f"Did you mean {' or '.join(f'{short_ids.short_id(row.id)} (“{row.says}”)' for row in beginning)}?"
        elif near.startswith("Did you mean"):
            hint = near
        elif len(ref) < short_ids.MIN_REF:
            hint = f"Give at least {short_ids.MIN_REF} characters of the id."
        return NotFoundError(f"{NOTHING} “{ref}”.", hint)

    def gate_off(self) -> "NotFoundError | None":
        """Return the error that says that nothing is listed because the gate is off; None if it is not."""
        if self.ctx.setting("gate") != "off":
            return None
        own = config.is_own(self.ctx.settings(), self.ctx.project_root, "gate")
        return NotFoundError(*words.gate_off(self.ctx.count_hidden(), own=own))


def _match(rows: "list[DecisionRow]", ref: str) -> "DecisionRow | None":
    """Return the row that a name or an id means, None if none does. Raises ConflictError."""
    decision_rows = [row for row in rows if {ref, ref.removesuffix(".md")} & {*row.names}]
    if len(decision_rows) > 1:
        raise ConflictError(f"“{ref}” can mean several: {', '.join(row.names[0] for row in decision_rows)}.")
    if decision_rows:
        return decision_rows[0]
    with suppress(NotFoundError):
        by_id = {row.id: row for row in rows}
        return by_id[short_ids.match(ref, by_id, "entry")]
    return None


def as_data(ctx: Context, row: DecisionRow) -> "dict[str, object]":
    """Return a decision for --json."""
    time, until = (clock.iso_seconds(at) if at not in {None, NEVER} else None for at in (row.time, row.until))
    data: dict[str, object] = {
        "id": row.id,
        "kind": row.kind,
        "says": row.says,
        "where": row.where,
        "time": time,
        "until": until,
    }
    thing = row.thing
    if isinstance(thing, Waiting):
        return data | entries.as_data(ctx, thing)
    if isinstance(thing, Untrusted):
        return data | {"name": thing.memory.stem, "path": thing.memory.path}
    if isinstance(thing, Problem):
        return data | {"code": thing.cause, "memories": thing.memories, "remedy": thing.remedy}
    if not isinstance(thing, Changed):
        return data | {"proposal": thing.kind, "by": thing.by}
    occasion = Occasions(ctx.env).of(thing.writer)
    return data | {
        "name": thing.name,
        "scope": thing.scope.label,
        "path": thing.key,
        "change": thing.kind,
        "by": thing.writer.by,
        "session": thing.writer.session or None,
        "title": occasion.title or None,
        "prompt": thing.writer.prompt or None,
        "prompt_text": occasion.prompt or None,
        "diff": "\n".join(change_lines(ctx, thing)),
    }


def change_lines(ctx: Context, item: Changed, *, back: bool = False) -> "list[str]":
    """Return what changed since a person saw a memory, as the lines of a diff; `back`: what taking that back does."""
    try:
        before, after = (
            outside_changes.to_keep(ctx.versions, item) if not back else outside_changes.texts(ctx.versions, item)[::-1]
        )
        return difference(before, after)
    except NotFoundError as error:
        return [f"@ {error.message}"]
