"""What waits for a decision, as the Inbox of the TUI lists it: drafts, what others wrote, merges, fixes, rules,
problems, memories to trust, todos; and what an id or a name means among them, and among the notes that wait."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from memtui.cli import entries, memories
from memtui.cli.context import Context
from memtui.cli.output import line
from memtui.cli.show import diff
from memtui.core.base import clock, ids, short_ids
from memtui.core.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.core.base.storage import file_error
from memtui.core.base.when import NEVER
from memtui.core.health.problems import Problem
from memtui.core.memories import scopes, status
from memtui.core.memories.memory import Memory, read_memory
from memtui.core.memories.writers import Occasions
from memtui.core.review import changed, later
from memtui.core.review.changed import Changed
from memtui.core.review.waiting import Waiting, best_first
from memtui.core.settings import config
from memtui.present import changed as words
from memtui.present import changesets, drafts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from memtui.consolidate.proposed import Undecided, UndecidedSet
    from memtui.core.memories.scopes import Scope

    Thing: TypeAlias = "Waiting | Changed | Undecided | Problem | Untrusted"

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
STYLES = {"changed": "yellow", "merge": "magenta", "fix": "blue", "problem": "red", "rule": "red", "trust": "magenta"}
PROPOSED = ("merge", "fix", "rule")
OF_ENTRY = {"updates": "draft", "items": "todo", "guidance": "note"}
NOTHING = "Nobody else has changed a memory since you saw it."


@dataclass(frozen=True)
class Untrusted:
    """A memory that came with a repository, or that a team shares, and is not trusted."""

    memory: Memory
    directory: str
    file: str


@dataclass(frozen=True)
class DecisionRow:
    """One thing to decide: its `kind`, the `id` and the `names` that mean it, what it `says`, `where` it belongs, when
    it came (seconds since the epoch), what tells it from others while it is hidden, and until when it is."""

    kind: str
    id: str
    says: str
    where: str
    time: float | None
    later_key: str
    thing: "Thing"
    until: float | None = None


class Decisions:
    """The decisions of a project, or of `every` project; each kind is read when it is asked for. With `decide` what was
    written just now is taken in, to be decided about; else nothing is written."""

    def __init__(self, ctx: Context, *, every: bool = False, decide: bool = False) -> None:
        self.ctx, self.every, self.decide = ctx, every, decide
        self.unread: list[dict[str, str]] = []
        self.hidden = later.load(ctx.root)

    @cached_property
    def entries(self) -> "list[Waiting]":
        """All that waits in inboxes, of all projects; drafts that are most worth keeping first."""
        return best_first(entries.read(self.ctx, all_projects=True, unread=self.unread))

    def near(self, item: Waiting) -> bool:
        """Return whether an entry is of this project or global, or all projects are asked for."""
        return self.every or item.slug in {self.ctx.slug, None}

    @cached_property
    def of_entries(self) -> "list[DecisionRow]":
        """The drafts and todos, and the notes, of all projects."""
        homes, now = entries.homes_of(self.ctx, self.entries), self.ctx.now()
        return [
            DecisionRow(
                OF_ENTRY[item.kind],
                item.id,
                drafts.title(item, SENTENCE),
                entries.place(self.ctx, item, homes),
                item.entry.time(),
                item.key,
                item,
                item.until(now),
            )
            for item in self.entries
        ]

    def changed(self, *, every: bool = False) -> "list[DecisionRow]":
        """Return the memories that others wrote, also just now, since the person saw them. Raises MemtuiError."""
        if self.decide:
            self.ctx.take_in()
        self.ctx.look()
        occasions = Occasions(self.ctx.env)
        return [
            self._decision(
                "changed",
                f"changed:{each.key}@{each.now.digest}",
                f"{each.name}: {words.by(each, occasions.of(each.writer).title)}",
                each.scope.shown,
                each.now.written,
                each,
            )
            for each in self.ctx.changed(every=every or self.every)
        ]

    def _decision(
        self, kind: str, key: str, says: str, where: str, time: "float | None", thing: "Thing", own_id: str = ""
    ) -> DecisionRow:
        until = self.hidden.get(key, 0.0)
        shown_again = until if until == NEVER or until > self.ctx.now() else None
        return DecisionRow(kind, own_id or ids.digest(key.encode())[:12], says, where, time, key, thing, shown_again)

    @cached_property
    def planned(self) -> "UndecidedSet":
        """What is proposed about memories, and the problems that are left. Raises MemtuiError."""
        from memtui.consolidate import lint, proposed
        from memtui.core.memories import apart

        ctx = self.ctx
        subject = lint.here(ctx.env, ctx.cwd, ctx.root, ctx.now(), ctx.usage, apart.load(ctx.root))
        try:
            return proposed.undecided(ctx.store(), subject)
        except OSError as error:
            raise file_error(error) from error

    @cached_property
    def _scopes(self) -> "list[Scope]":
        return scopes.discover(self.ctx.env, self.ctx.cwd)

    @property
    def proposed(self) -> "Iterator[DecisionRow]":
        """The merges, fixes and rules that are proposed. Raises MemtuiError."""
        for each in self.planned.proposals:
            found = each.proposal
            kind, says, path = changesets.word(found), changesets.gist(found), found.outputs[0].path
            where = next((scope.shown for scope in self._scopes if path.startswith(scope.directory + "/")), "")
            yield self._decision(kind, f"change:{found.id}", says, where, None, each, found.id)

    @property
    def problems(self) -> "Iterator[DecisionRow]":
        """The problems of memories that nothing fixes by itself. Raises MemtuiError."""
        for each in self.planned.left:
            yield self._decision("problem", f"problem:{each.cause} {each.sentence}", each.sentence, "", None, each)

    @property
    def untrusted(self) -> "Iterator[DecisionRow]":
        """The memories of the repository, or of a team, that are not trusted."""
        for scope in self._scopes:
            for file in status.not_trusted(self.ctx.root, scope):
                try:
                    found = read_memory(f"{scope.directory}/{file}", scope.label)
                except (MemtuiError, OSError):
                    continue
                about = found.description or found.body.strip().partition("\n")[0]
                says = f"{found.stem}: {about}" if about else found.stem
                key = f"trust:{found.path}@{ids.digest(found.raw)}"
                thing = Untrusted(found, scope.directory, file)
                yield self._decision("trust", key, says, scope.shown, found.changed_at, thing)

    def read(self, kinds: "tuple[str, ...]") -> "list[DecisionRow]":
        """Return the decisions of some kinds, in their order. What can't be read is said."""
        rows = [each for each in self.of_entries if isinstance(each.thing, Waiting) and self.near(each.thing)]
        sources: list[tuple[tuple[str, ...], Callable[[], list[DecisionRow]]]] = [
            (("changed",), self.changed),
            (PROPOSED, lambda: list(self.proposed)),
            (("problem",), lambda: list(self.problems)),
            (("trust",), lambda: list(self.untrusted)),
        ]
        for of, source in sources:
            if set(of) & set(kinds):
                try:
                    rows += source()
                except MemtuiError as error:
                    self.ctx.out.say(f"! {line(error.message)}")
        order = list(KINDS)
        return sorted([row for row in rows if row.kind in kinds], key=lambda row: order.index(row.kind))

    def find(self, ref: str, kinds: "tuple[str, ...]" = ("draft", "todo", "note")) -> DecisionRow:
        """Return what an id or a name means: an entry of one of these kinds, or any other decision. Raises
        NotFoundError, ConflictError."""
        own = {each.id: each for each in self.of_entries if each.kind in kinds}
        try:
            return own[short_ids.match(ref, own, "entry")]
        except NotFoundError as error:
            missing = error
        for every in (False, True):
            rows = self.changed(every=every)
            by_name: dict[Changed, DecisionRow] = {each.thing: each for each in rows if isinstance(each.thing, Changed)}
            try:
                return by_name[changed.find(list(by_name), ref)]
            except NotFoundError as error:
                unchanged = error
            if found := _by_id(rows, ref):
                return found
        for kind in ("untrusted", "proposed", "problems"):  # a plan is made for the last two
            rows = list(getattr(self, kind))
            if found := _by_id(rows, ref) or _by_name(rows, ref):
                return found
        raise self._unknown(ref, missing, unchanged)

    def _unknown(self, ref: str, missing: NotFoundError, unchanged: NotFoundError) -> NotFoundError:
        """Return the error for what nothing that waits is called; `unchanged` is that of a memory nobody changed."""
        try:
            memories.find(self.ctx, ref)
        except NotFoundError:
            error = entries.why_not(self.ctx, ref, ("guidance", "updates", "items")) or missing
            short = error is missing or "4 characters" in error.hint
            rows = [each.thing for each in self.changed() if isinstance(each.thing, Changed)] if short else []
            if close := changed.similar(rows, ref):
                error.hint = f"Did you mean {' or '.join(each.ref for each in close)}?"
            error.hint = error.hint or entries.LISTED
            return error
        return gate_off(self.ctx) or unchanged


def _by_id(rows: "list[DecisionRow]", ref: str) -> "DecisionRow | None":
    known = {each.id: each for each in rows}
    try:
        return known[short_ids.match(ref, known, "entry")]
    except NotFoundError:
        return None


def _by_name(rows: "list[DecisionRow]", ref: str) -> "DecisionRow | None":
    named = [(row, row.thing.memory) for row in rows if isinstance(row.thing, Untrusted)]
    bare = ref.removesuffix(".md")
    fitting = [(row, memory) for row, memory in named if ref in {memory.ref, memory.path} or bare == memory.stem]
    if len(fitting) > 1:
        raise ConflictError(f"“{ref}” can mean several: {', '.join(memory.ref for _, memory in fitting)}.")
    return fitting[0][0] if fitting else None


def gate_off(ctx: Context) -> "NotFoundError | None":
    """Return the error that says that nothing is listed because the gate is off; None if it is not."""
    if ctx.setting("gate") != "off":
        return None
    own = config.is_own(ctx.settings(), ctx.project_root, "gate")
    return NotFoundError(*words.gate_off(ctx.count_hidden(), own=own))


def as_data(ctx: Context, row: DecisionRow) -> "dict[str, object]":
    """Return a decision for --json."""

    def time(seconds: "float | None") -> "str | None":
        return None if seconds is None or seconds == NEVER else clock.iso_seconds(seconds)

    data: dict[str, object] = {"id": row.id, "kind": row.kind, "says": row.says, "where": row.where}
    data |= {"time": time(row.time), "until": time(row.until)}
    thing = row.thing
    if isinstance(thing, Waiting):
        return data | entries.as_data(ctx, thing)
    if isinstance(thing, Changed):
        return data | _changed_data(ctx, thing)
    if isinstance(thing, Untrusted):
        return data | {"name": thing.memory.stem, "path": thing.memory.path}
    if isinstance(thing, Problem):
        return data | {"code": thing.cause, "memories": thing.memories, "remedy": thing.remedy}
    return data | {"proposal": thing.proposal.kind, "by": thing.by}


def difference(ctx: Context, item: Changed) -> "list[str]":
    """Return what changed since a person saw a memory, as the lines of a diff."""
    try:
        return diff.lines(*changed.texts(ctx.versions, item))
    except NotFoundError as error:
        return [f"@ {error.message}"]


def _changed_data(ctx: Context, item: Changed) -> "dict[str, object]":
    occasion = Occasions(ctx.env).of(item.writer)
    return {
        "name": item.name,
        "scope": item.scope.label,
        "path": item.key,
        "change": item.kind,
        "by": item.writer.by,
        "session": item.writer.session or None,
        "title": occasion.title or None,
        "prompt": item.writer.prompt or None,
        "prompt_text": occasion.prompt or None,
        "diff": "\n".join(difference(ctx, item)),
    }
