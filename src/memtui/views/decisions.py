"""What waits for a decision, as both doors list it: a class a kind has its words, its place, its names, its signs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from memtui.base import ids_hot
from memtui.base.dates import NEVER
from memtui.base.errors import MemtuiError
from memtui.base.phrasing_hot import ago, some
from memtui.inbox.format_hot import NOUNS
from memtui.review import approvals, outside_changes
from memtui.store import scopes
from memtui.views import changes, changesets, colours, drafts, query, safe_text
from memtui.views.memories import scope_name
from memtui.views.parts import File, Part, Remedy, TextDifference, Words, line

if TYPE_CHECKING:
    from memtui.base.findings import Problem
    from memtui.review.outside_changes import Changed, Untrusted
    from memtui.review.waiting_entries import Waiting
    from memtui.store.scopes import Scope
    from memtui.store.versions.writers import Occasion
    from memtui.tidy.changeset import Proposal, Refused, Weighed
    from memtui.tidy.coverage import Coverage
    from memtui.tidy.waiting_proposals import UndecidedSet
    from memtui.workspace import Workspace

SENTENCE = 300  # characters of an entry's first line
BY_OTHERS = "changed"  # the cause of the rows of what others wrote
OF_MEMORY = "memory:"
NOT_TRUSTED = "came with the repository, not trusted"
DROPS, BLOCKED, TAKEN = ("!", colours.WARNING), ("✗", colours.PROBLEM), ("!", colours.WARNING)
# What the signs in front of rows mean.
MARKS = (
    (DROPS[0], "it drops a statement, or a memory that nothing replaces; a draft: its name is taken"),
    (BLOCKED[0], "it can't be made now: the detail says why"),
)


class RowKind(NamedTuple):
    """A kind of rows, with its words in lists (`word`) and in sentences."""

    family: str  # what the commands of the TUI know it by
    word: str
    singular: str
    plural: str
    verbs: Mapping[str, str]  # what is done with one, by action

    @property
    def style(self) -> str:
        return colours.KINDS.get(self.word, "")

    @property
    def option(self) -> str:
        """What `--kind` calls them."""
        return self.word if " " in self.plural else self.plural


def _kind(family: str, word: str, singular: str = "", plural: str = "", **verbs: str) -> RowKind:
    singular = singular or word
    return RowKind(family, word, singular, plural or f"{singular}s", verbs)


CHANGE = {"approve": "approve", "edit": "edit", "reject": "reject", "later": "later", "follow": "go to it"}
DRAFT = _kind("draft", "draft", approve="approve", edit="edit", reject="reject", later="later", merge="merge")
TODO = _kind("todo", "todo", approve="done", edit="edit", reject="drop", later="later")
NOTE = _kind("note", "note", reject="withdraw")
CHANGED_VERBS = {"approve": "keep", "edit": "edit", "reject": "restore old", "later": "later", "history": "versions"}
CHANGED = RowKind("changed", "changed", "changed memory", "changed memories", CHANGED_VERBS)
MERGE = _kind("change", "merge", **CHANGE)
FIX = _kind("change", "fix", plural="fixes", **CHANGE)
SAFE_FIX = _kind("change", "fix", "safe fix", "safe fixes", **CHANGE)
RULE = _kind("change", "rule", **CHANGE)
MUTE = _kind("change", "mute", **{**CHANGE, "approve": "mute"})
PROBLEM = _kind("problem", "problem", approve="edit", reject="hide", later="later", follow="go to it")
TRUST_VERBS = {"approve": "trust", "reject": "don't trust", "later": "later", "follow": "go to it"}
TRUST = RowKind("trust", "trust", "memory to trust", "memories to trust", TRUST_VERBS)
SENT_VERBS = {**TRUST_VERBS, "approve": "accept", "reject": "refuse"}
SENT = TRUST._replace(singular="memory to accept", plural="memories to accept", verbs=SENT_VERBS)
NOT_HERE = SENT._replace(verbs={verb: words for verb, words in SENT_VERBS.items() if verb != "follow"})
# The kinds, and their words, as they follow each other in the list.
KINDS = (DRAFT, CHANGED, MERGE, FIX, PROBLEM, RULE, MUTE, TRUST, TODO)
ORDER = [kind.word for kind in KINDS]
OF_ENTRIES = {kind.word: kind for kind in (DRAFT, TODO, NOTE)}
PROPOSED = {"merge": MERGE, "rule": RULE, "mute": MUTE, "fix": FIX}


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """One thing to decide; `says` leads its row. Times are in seconds since the epoch."""

    key: str  # what tells it from all others
    kind: RowKind
    says: str = ""
    place: str = ""  # its scope or project
    time: float | None = None  # when it was written
    until: float | None = None  # when a hidden one shows again
    later_key: str = ""  # what it is hidden under; empty for an entry, which holds its time itself
    about: tuple[str, ...] = ()  # memories, whose names mean it if nothing else is called so
    item: "Waiting | None" = None
    changed: "Changed | None" = None
    folds: "tuple[Decision, ...]" = ()
    cause: str = ""  # what many rows are folded by
    is_taken: bool = False  # a memory has the name of this draft
    memory_type: str = ""
    state: str = ""  # what `is:` finds it by
    project: str = ""  # in whose inbox an entry waits

    @property
    def names(self) -> tuple[str, ...]:
        """What means it, as its id does."""
        of = self.changed
        return (of.ref, of.key, f"{of.scope.label}:{of.name}", of.name, of.now.file) if of is not None else ()

    @property
    def id(self) -> str:
        """What the command line calls it."""
        return ids_hot.digest(self.later_key.encode())[:12]

    @property
    def heading(self) -> str:
        """The title of its detail: of a fold, what it folds."""
        name = self.changed.name if self.changed is not None else ""
        return " · ".join(filter(None, (self.kind.word, self.place, name))) or self.says

    @property
    def look(self) -> tuple[object, ...]:
        return self.key, self.until, self.says, self.later_key

    @property
    def sign(self) -> tuple[str, str]:
        """The mark in front of the sentence, and its style; empty if it has none."""
        return "", ""

    @property
    def searched(self) -> str:
        return f"{self.kind.word} {self.says} {self.place}"

    @property
    def is_one_off(self) -> bool:
        return self.kind is DRAFT and self.item is not None and self.item.entry.one_off()

    @property
    def needs_look(self) -> str:
        """Say why a person has to look at it by itself, so that it is not marked with all of its kind, if so."""
        words = "its name is taken" if self.is_taken else "it is probably a one-off" if self.is_one_off else ""
        return words if self.until is None else "it is hidden"


@dataclass(frozen=True, kw_only=True)
class EntryRow(Decision):
    """A draft, a todo or a note."""

    item: "Waiting"

    @property
    def id(self) -> str:
        return self.item.id

    @property
    def look(self) -> tuple[object, ...]:
        return self.key, self.until, self.item.entry.raw, self.is_taken, self.place

    @property
    def heading(self) -> str:
        """The title of its detail, which names type and scope once."""
        of = f" · {self.memory_type} for" if self.kind is DRAFT else " ·"
        return f"{self.kind.word}{of} {self.place}"

    @property
    def sign(self) -> tuple[str, str]:
        return TAKEN if self.is_taken else ("", "")

    @property
    def searched(self) -> str:
        """The text that the filter searches: the whole entry, and what its memory is called."""
        name, kind = (self.item.entry.fields.get(field, "") for field in ("name", "kind"))
        return f"{self.kind.word} {name} {kind} {self.item.text[:2000]} {self.place}"


def project_of(item: "Waiting", here: "Workspace", names: Mapping[str, str]) -> str:
    """Return the name of the project in whose inbox an entry waits, empty for none; `names`: of others, by slug."""
    if item.slug is None:
        return ""
    return here.project if item.slug == here.slug else safe_text.line(names.get(item.slug, item.slug), 40)


def of_entry(item: "Waiting", here: "Workspace", names: Mapping[str, str], *, is_taken: bool = False) -> EntryRow:
    """Make the row of an entry. `is_taken`: a memory has the name of the draft."""
    kind, project = OF_ENTRIES[NOUNS[item.kind]], project_of(item, here, names)
    is_global = not project or (kind is DRAFT and approvals.label_of(item) == "global")
    return EntryRow(
        key=item.key,
        about=(item.entry.fields.get("name", ""),) if kind is DRAFT else (),
        kind=kind,
        says=drafts.title(item, SENTENCE),
        place="global" if is_global else f"project {project}",
        time=item.entry.time(),
        until=item.until(here.now()),
        item=item,
        is_taken=is_taken,
        memory_type=item.entry.fields.get("type") or "feedback" if kind is DRAFT else "",
        project=project,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedRow(Decision):
    """A memory that somebody else wrote; `undelivered` until it is kept, which trusts it."""

    changed: "Changed"
    undelivered: bool = False

    def difference(self, here: "Workspace", *, back: bool = False) -> Part:
        """Return the lines that differ, or why they can't be shown; `back`: what rejecting it does."""
        texts = outside_changes.texts if back else outside_changes.to_keep
        try:
            sides = texts(here.versions, self.changed)
        except MemtuiError as error:
            return line(f"! {error.message}", colours.WARNING)
        return TextDifference(*(sides[::-1] if back else sides))

    def describe(self, here: "Workspace", occasion: "Occasion | None", *, back: bool = False) -> list[Part]:
        """Return who wrote it after which prompt (`occasion`, None while that is looked up), and what differs."""
        change = self.changed
        by = changes.by(change, occasion.title if occasion is not None else "")
        prompt = changes.prompted(occasion.prompt) if occasion is not None and occasion.prompt else ""
        warning = "" if back or not self.undelivered else f"! {changes.NOT_TRUSTED}"
        return [
            line(f"{self.place}: {change.name}", "bold"),
            line(warning, colours.WARNING),
            Words(f"{changes.BACK[change.kind]}:\n" if back else ""),
            self.difference(here, back=back),
            line(f"{by} · {ago(change.now.written, here.now())}", colours.QUIET),
            line(prompt, colours.QUIET),
            line(here.tilde(change.key), colours.QUIET),
        ]


def of_changed(here: "Workspace", memories: "Sequence[Changed]") -> list[ChangedRow]:
    undelivered = {change.key for change in outside_changes.undelivered(here.root, memories)}
    dids = {kind: f"{did}, " for kind, did in changes.DID.items() if kind != "edited"}
    return [
        ChangedRow(
            key=f"changed:{change.key}",
            kind=CHANGED,
            says=f"{change.name}, {dids.get(change.kind, '')}{changes.who(change)}",
            place=scope_name(change.scope, here.project),
            time=change.now.written,
            later_key=change.later_key,
            changed=change,
            undelivered=change.key in undelivered,
            cause=BY_OTHERS,
            state=query.UNTRUSTED if change.key in undelivered else "",
        )
        for change in memories
    ]


@dataclass(frozen=True, kw_only=True)
class ProposedRow(Decision):
    """A change that is proposed; `weighed` is None until it was weighed."""

    proposal: "Proposal"
    weighed: "Weighed | None" = None

    @property
    def id(self) -> str:
        return self.proposal.ref

    @property
    def sign(self) -> tuple[str, str]:
        return BLOCKED if self.refused else DROPS if self.drops else ("", "")

    @property
    def searched(self) -> str:
        return f"{super().searched} {self.proposal.kind} {changesets.about(self.proposal)}"

    @property
    def needs_look(self) -> str:
        is_safe = self.weighed is not None and (self.weighed.safe or (self.kind is RULE and not self.drops))
        return super().needs_look if is_safe else "it is no safe fix"

    @property
    def refused(self) -> "Refused | None":
        """Why it can't be made; None if it can, as far as is known."""
        return self.weighed.refused if self.weighed is not None else None

    @property
    def coverage(self) -> "Coverage | None":
        """What becomes of the statements of its memories, if it is known."""
        return self.weighed.coverage if self.weighed is not None else None

    @property
    def drops(self) -> bool:
        """Whether it loses something: a statement, or a memory that nothing replaces."""
        return bool(self.coverage and self.coverage.lost) or self.proposal.kind in {"delete", "archive"}


def weighed(row: ProposedRow, weight: "Weighed | None") -> ProposedRow:
    """Return the row of a change of which is known what it drops and saves."""
    is_safe = row.proposal.word == FIX.word and weight is not None and weight.safe
    return replace(row, weighed=weight, kind=SAFE_FIX if is_safe else PROPOSED[row.proposal.word])


@dataclass(frozen=True, kw_only=True)
class ProblemRow(Decision):
    """A cause of trouble that no fix cures by itself."""

    problem: "Problem"

    @property
    def id(self) -> str:
        return ids_hot.digest(self.key.encode())[:12]

    @property
    def paths(self) -> list[str]:
        subjects = (finding.subject for finding in self.problem.parts)
        return [subject.removeprefix(OF_MEMORY) for subject in subjects if subject.startswith(OF_MEMORY)]

    @property
    def needs_look(self) -> str:
        return "it is for you to do"

    def describe(self, here: "Workspace") -> list[Part]:
        """Return what is wrong, the memories, and what to do."""
        names = self.problem.memories
        return [
            line(self.says, "bold", 600),
            line(some(names) if len(names) > 1 else "", colours.QUIET, 600),
            Remedy(" ".join(map(here.tilde, self.problem.remedy.split(" ")))),
        ]


def of_plan(here: "Workspace", plan: "UndecidedSet") -> tuple[list[ProposedRow], list[ProblemRow]]:
    """Make the rows of what is proposed about memories, the same when planned again, and of the problems left over."""
    places, proposed, problems = scopes.discover(here.env, here.cwd), [], []
    for proposal in plan.proposals:
        kind, place = PROPOSED[proposal.word], place_of(proposal, places, here.project)
        row = ProposedRow(
            key=proposal.ref,
            kind=kind,
            place=place,
            later_key=proposal.later_key,
            proposal=proposal,
            says=changesets.without_scope(changesets.gist(proposal), changesets.scope_of(proposal), place),
            state=query.PROBLEM if kind is FIX else "",
            cause=f"fix {proposal.evidence[0].code}" if proposal.evidence and kind is not MERGE else "",
        )
        proposed.append(row)
    names = {scope.shown: scope_name(scope, here.project) for scope in places}
    for problem in plan.left:
        label = str(problem.finding.data.get("scope", ""))
        place = names.get(label, "")
        problem_row = ProblemRow(
            key=problem.key,
            kind=PROBLEM,
            says=changesets.without_scope(problem.sentence, label, place),
            place=place,
            about=tuple(problem.memories),
            later_key=problem.later_key,
            cause=f"problem {problem.cause}",
            state=query.PROBLEM,
            problem=problem,
        )
        problems.append(problem_row)
    return proposed, problems


def place_of(proposal: "Proposal", places: "Sequence[Scope]", project: str) -> str:
    """Return the name of the scope whose files a proposal changes; empty if it is none of the `places`."""
    path = proposal.files[0].path
    around = [scope for scope in places if path.startswith(scope.directory + "/")]
    return scope_name(max(around, key=lambda scope: len(scope.directory)), project) if around else ""


@dataclass(frozen=True, kw_only=True)
class TrustRow(Decision):
    """A memory that came with the repository and is not trusted, so that no session gets it."""

    untrusted: "Untrusted"

    @property
    def names(self) -> tuple[str, ...]:
        return self.untrusted.memory.ref, self.untrusted.memory.path, self.untrusted.memory.stem

    @property
    def searched(self) -> str:
        """The text that the filter searches: its name too."""
        return f"{super().searched} {self.untrusted.memory.stem}"

    @property
    def heading(self) -> str:
        return f"{super().heading} · {self.untrusted.memory.stem}"

    @property
    def sessions_get(self) -> str:
        """Who wrote it, and that no session gets it yet."""
        by, is_new = safe_text.line(self.untrusted.by, 80), self.untrusted.take_in is not None
        if not is_new and self.untrusted.scope.kind != "remote":
            return NOT_TRUSTED
        words = "deleted there, " if self.untrusted.is_gone else ""
        return (f"{'from' if is_new else 'by'} {by}, " if by else "") + words + "not accepted"

    def describe(self, here: "Workspace") -> list[Part]:
        """Return its whole text, as the agent would get it, or how it differs from what was trusted."""
        memory, before, row = self.untrusted.memory, self.untrusted.before, self.untrusted.line
        path, whole = here.tilde(memory.path), memory.raw.decode("utf-8", "replace").rstrip("\n")
        body = memory.body.strip("\n")
        at = max(0, whole.rfind(body)) if body else 0  # its text has no \r, the file may
        head = [File(f"\n{whole[:at].rstrip()}", path, "dim")] if at > 0 else []
        texts: list[Part] = [File(whole[at:], path), *head]
        if before is not None:
            texts = [TextDifference(before, b"" if self.untrusted.is_gone else memory.raw)]
        return [
            line(f"{self.place}: {memory.stem}", "bold"),
            *texts,
            Words(f"\n{self.sessions_get}\n", colours.QUIET),
            line(path if self.untrusted.file else "", colours.QUIET),  # a note has none
            line(f"MEMORY.md: {row}" if row else "", colours.QUIET, 400),
        ]


def of_untrusted(untrusted: "Untrusted", project: str) -> TrustRow:
    memory, by = untrusted.memory, safe_text.line(untrusted.by, 80)
    is_sent = untrusted.take_in is not None or untrusted.scope.kind == "remote"
    return TrustRow(
        key=f"trust:{memory.path}",
        kind=TRUST if not is_sent else SENT if untrusted.take_in is None else NOT_HERE,
        says=f"{by}: {untrusted.says}" if is_sent and by else untrusted.says,
        place=scope_name(untrusted.scope, project),
        time=memory.changed_at or None,
        later_key=untrusted.later_key,
        untrusted=untrusted,
        memory_type=memory.type,
        state=query.UNTRUSTED,
    )


def in_order(rows: Iterable[Decision], hidden: Mapping[str, float], now: float) -> list[Decision]:
    """Return rows by kind in ORDER, newest first, of drafts the best; `hidden` last, without those hidden for good."""
    ordered, places = [], {word: at for at, word in enumerate((*ORDER, NOTE.word))}
    for row in rows:
        until = hidden.get(row.later_key, 0.0) if row.later_key else 0.0
        if until != NEVER:
            ordered.append(replace(row, until=until) if until > now else row)
    ordered.sort(key=lambda row: 0.0 if row.kind is DRAFT else -(row.time or 0.0))
    return sorted(ordered, key=lambda row: (row.until or 0.0, places[row.kind.word]))
