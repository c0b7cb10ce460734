"""What waits for a decision, as the Inbox of the TUI lists it, and what an id or a name means among it."""

from contextlib import suppress
from functools import cached_property

from memtui.base import clock, short_ids
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.base.storage import file_error
from memtui.cli import entries, memories
from memtui.cli.context import Context
from memtui.cli.output import difference, line
from memtui.client import projects
from memtui.review import later, waiting_entries
from memtui.review.waiting_entries import best_first
from memtui.settings import config
from memtui.store.versions.writers import Occasions
from memtui.views import decisions
from memtui.views import outside_changes as words
from memtui.views.decisions import ChangedRow, Decision, EntryRow, ProblemRow, ProposedRow, TrustRow
from memtui.views.parts import TextDifference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memtui.review.outside_changes import Changed
    from memtui.review.waiting_entries import Waiting

NOTHING = "Nothing that waits is called"
# By what `--kind` calls them: the words of the kinds, in the order of the list.
KINDS = {kind.option: kind.word for kind in decisions.KINDS}
PROPOSED = tuple(decisions.PROPOSED)
ALL = ("all", "everything", "drafts")  # words for what --all means


class Decisions:
    """The decisions of a project, or of `every` one; to `decide`, what was written just now is taken in first."""

    def __init__(self, ctx: Context, *, every: bool = False, decide: bool = False) -> None:
        self.ctx, self.every, self.decide = ctx, every, decide
        self.unread: list[dict[str, str]] = []
        self.hidden = later.load(ctx.root)

    @cached_property
    def entries(self) -> "list[Waiting]":
        """All that waits in inboxes, of all projects; drafts that are most worth keeping first."""
        return best_first(entries.read(self.ctx, all_projects=True, unread=self.unread))

    def near(self, item: "Waiting | None") -> bool:
        """Return whether an entry is of this project or global, or all projects are asked for."""
        return item is not None and (self.every or item.slug in {self.ctx.slug, None})

    @cached_property
    def of_entries(self) -> "list[EntryRow]":
        """The drafts, todos and notes of all projects."""
        ctx = self.ctx
        homes = waiting_entries.homes(ctx.env, (item for item in self.entries if item.slug != ctx.slug))
        names = projects.names(ctx.env, {**homes, ctx.slug: ctx.project_root})
        return [decisions.of_entry(item, ctx, names) for item in self.entries]

    def changed(self, *, every: bool = False) -> "list[ChangedRow]":
        """Return the memories that others wrote, also just now, since the person saw them. Raises MemtuiError."""
        if self.decide:
            self.ctx.take_in()
        self.ctx.look()
        return decisions.of_changed(self.ctx, self.ctx.changed(every=every or self.every))

    @cached_property
    def _plan(self) -> "tuple[list[ProposedRow], list[ProblemRow]]":
        try:
            return decisions.of_plan(self.ctx, self.ctx.undecided())
        except OSError as error:
            raise file_error(error) from error

    def proposed(self) -> "list[ProposedRow]":
        """Return the merges, fixes and rules that are proposed. Raises MemtuiError."""
        return self._plan[0]

    def problems(self) -> "list[ProblemRow]":
        """Return the problems of memories that nothing fixes by itself. Raises MemtuiError."""
        return self._plan[1]

    def untrusted(self) -> "list[TrustRow]":
        """Return the memories of the repository, or of a team, that are not trusted and that nobody changed since."""
        changes: list[Changed] = []
        with suppress(MemtuiError):  # `changed` says why
            self.ctx.look()
            changes = self.ctx.changed()
        return [decisions.of_untrusted(memory, self.ctx.project) for memory in self.ctx.untrusted(changes)]

    def awake_and_hidden(self, rows: "Iterable[Decision]") -> "list[Decision]":
        """Return rows in their order, those put off last, without those that were rejected."""
        return decisions.in_order(rows, self.hidden, self.ctx.now())

    def read(self, kinds: "tuple[str, ...]") -> "list[Decision]":
        """Return the decisions of some kinds, in their order. What can't be read is said."""
        rows: list[Decision] = [row for row in self.of_entries if self.near(row.item)]
        sources: list[tuple[set[str], Callable[[], Sequence[Decision]]]] = [
            ({"changed"}, self.changed),
            ({*PROPOSED}, self.proposed),
            ({"problem"}, self.problems),
            ({"trust"}, self.untrusted),
        ]
        for of, source in sources:
            try:
                rows += source() if of & {*kinds} else ()
            except MemtuiError as error:
                self.ctx.out.say(f"! {line(error.message)}")
        return self.awake_and_hidden(row for row in rows if row.kind.word in kinds)

    def find(
        self, ref: str, kinds: "tuple[str, ...]" = ("draft", "todo", "note"), *, by_memory: bool = True
    ) -> Decision:
        """Return what an id or a name means, of entries only these kinds; with `by_memory`, where nothing is called so,
        what is about the memory of that name. Raises NotFoundError, ConflictError."""
        about: list[Decision] = []
        sources: list[Callable[[], Sequence[Decision]]] = [
            lambda: [row for row in self.of_entries if row.kind.word in kinds],
            self.changed,
            lambda: self.changed(every=True),
            self.untrusted,
            self.proposed,  # a plan is made for these and the next
            self.problems,
        ]
        for source in sources:
            rows = self.awake_and_hidden(source())
            if row := _match(rows, ref):
                return row
            about += [row for row in rows if by_memory and ref in row.about]
        if len(about) == 1:
            return about[0]
        if about:
            raise ConflictError(f"“{ref}” can mean several: {', '.join(short_ids.short_id(row.id) for row in about)}.")
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
        rows = [row for row in self.of_entries if row.kind.word in kinds and lowered]
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


def _match(rows: "list[Decision]", ref: str) -> "Decision | None":
    """Return the row that a name or an id means, None if none does. Raises ConflictError."""
    named = [row for row in rows if {ref, ref.removesuffix(".md")} & {*row.names}]
    if len(named) > 1:
        raise ConflictError(f"“{ref}” can mean several: {', '.join(row.names[0] for row in named)}.")
    if named:
        return named[0]
    with suppress(NotFoundError):
        by_id = {row.id: row for row in rows}
        return by_id[short_ids.match(ref, by_id, "entry")]
    return None


def as_data(ctx: Context, row: Decision) -> "dict[str, object]":
    """Return a decision for --json."""
    time, until = (clock.iso_seconds(at) if at is not None else None for at in (row.time, row.until))
    data: dict[str, object] = {
        "id": row.id,
        "kind": row.kind.word,
        "says": row.says,
        "where": row.place,
        "time": time,
        "until": until,
    }
    if isinstance(row, EntryRow):
        return data | entries.as_data(ctx, row.item)
    if isinstance(row, TrustRow):
        memory = row.untrusted.memory
        return data | {"name": memory.stem, "path": memory.path}
    if isinstance(row, ProblemRow):
        return data | {"code": row.problem.cause, "memories": row.problem.memories, "remedy": row.problem.remedy}
    if isinstance(row, ProposedRow):
        return data | {"proposal": row.proposal.kind, "by": row.proposal.by}
    if not isinstance(row, ChangedRow):
        return data
    change = row.changed
    occasion, part = Occasions(ctx.env).of(change.writer), row.difference(ctx)
    diff = "\n".join(difference(part.before, part.after)) if isinstance(part, TextDifference) else part.text
    return data | {
        "name": change.name,
        "scope": change.scope.label,
        "path": change.key,
        "change": change.kind,
        "by": change.writer.by,
        "session": change.writer.session or None,
        "title": occasion.title or None,
        "prompt": change.writer.prompt or None,
        "prompt_text": occasion.prompt or None,
        "diff": diff,
    }
