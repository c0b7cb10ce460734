"""Memories that others wrote, that have a problem, or are not trusted: as rows of the inbox with commands."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rich.text import Text

from memtui.base.errors import MemtuiError
from memtui.base.findings import Problem
from memtui.base.phrasing import age, ago, many, some
from memtui.review import outside_changes
from memtui.review.outside_changes import Changed, Untrusted
from memtui.store.versions.writers import Occasion, Occasions
from memtui.tidy.checks import fixes
from memtui.tui.batch import left_alone
from memtui.tui.dialogs import history
from memtui.tui.dialogs.ask import Choice
from memtui.tui.model import autosave, line_diff
from memtui.tui.model.data import Data
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox.chosen import RowCommands
from memtui.tui.screens.inbox.row import BY_OTHERS, CHANGED, PROBLEM, TRUST, WHOLE, InboxRow, InboxView
from memtui.tui.screens.inbox.text import cut, lines_of
from memtui.tui.services import Command, first_of
from memtui.tui.widgets.detail import append_keys
from memtui.views import changesets, query, safe_text, versions
from memtui.views import outside_changes as words
from memtui.views.memories import scope_name

NAMES = ("what you saw last", "the present one")


@dataclass(frozen=True, kw_only=True)
class ChangedRow(InboxRow):
    """A memory that somebody else wrote since the person last saw it."""

    changed: Changed
    undelivered: bool = False  # until it is kept, which trusts it

    def when(self, view: InboxView) -> str:
        return age(self.changed.now.written, view.now)

    def look_up(self, view: InboxView) -> Callable[[], object] | None:
        is_known = not self.changed.writer.session or self.key in view.occasions
        return None if is_known else partial(Occasions(view.data.env).of, self.changed.writer)

    def describe(self, view: InboxView) -> Described:
        head = Text(self.unsaved(view), "yellow")
        head.append_text(_head(self.changed, self.place, view.occasions.get(self.key), view.now))
        head.append(f"! {words.NOT_TRUSTED}\n" if self.undelivered else "", "yellow")
        text = head.append(f"{safe_text.line(view.data.tilde(self.changed.key))}\n\n", "dim")
        text.append_text(_difference(view.data, self.changed))
        view.needed = lines_of(text, view.detail_width)
        keys = [
            ("inbox.approve", "keep it: it is trusted, and sessions get it" if self.undelivered else "keep it"),
            ("inbox.reject", f"reject it: {words.BACK[self.changed.kind]}"),
            ("inbox.edit", "edit it; what you save counts as seen"),
        ]
        append_keys(text, keys[: 2 + (self.changed.kind != "deleted")], read_only=view.without_keys)
        return Described(text)

    def copied(self, view: InboxView) -> str:
        return _difference(view.data, self.changed).plain


def rows_of_changed(data: Data, changes: Sequence[Changed]) -> list[InboxRow]:
    """Return a row for each memory that somebody else wrote."""
    rows: list[InboxRow] = []
    undelivered = outside_changes.undelivered(data.root, changes)
    for change in changes:
        key, what = f"changed:{change.key}", "" if change.kind == "edited" else f"{words.DID[change.kind]}, "
        rows.append(
            ChangedRow(
                key=key,
                kind=CHANGED,
                says=f"{change.name}, {what}{words.who(change)}",
                place=scope_name(change.scope, data.facts.project),
                later_key=change.later_key,
                autosave=autosave.name_of(change.key),
                changed=change,
                undelivered=change in undelivered,
                state=query.UNTRUSTED if change in undelivered else "",
                cause=BY_OTHERS,
            )
        )
    return rows


def _head(item: Changed, place: str, occasion: Occasion | None, now: float) -> Text:
    """Return the name of a memory after its scope, who wrote it, when, and after which prompt."""
    text = Text().append(safe_text.line(f"{place}: {item.name}"), "bold")
    title = occasion.title if occasion is not None else ""
    text.append(f"\n{safe_text.line(words.by(item, title))} · {ago(item.now.written, now)}\n", "dim")
    if occasion is not None and occasion.prompt:
        text.append(safe_text.line(versions.prompted(occasion.prompt)) + "\n", "dim")
    return text


def _difference(data: Data, item: Changed, *, back: bool = False) -> Text:
    """Return the lines that differ, words marked, or why they can't be shown; `back`: what rejecting it does."""
    try:
        texts = (
            outside_changes.texts(data.versions, item)[::-1] if back else outside_changes.to_keep(data.versions, item)
        )
    except MemtuiError as error:
        return Text(f"! {safe_text.line(error.message)}\n", "yellow")
    return line_diff.drawn(*texts, NAMES[::-1] if back else NAMES)


class ChangedCommands(RowCommands):
    """The commands that keep, edit and reject memories that somebody else wrote."""

    def table(self) -> dict[str, Command]:
        one = self.screen.one_by_one
        return super().table() | {
            "approve": Command(self.keep),
            "edit": Command(self.edit, first_of(one, self._why_no_edit)),
            "reject": Command(self.reject_changes),
            "history": Command(self.history, one),
            "follow": Command(lambda: self.services.go_to_memory(self._memories()[0].key), one),
        }

    def _memories(self) -> list[Changed]:
        return [row.changed for row in self.chosen.rows(ChangedRow)]

    async def _agreed(self, verb: str, memories: Sequence[Changed], *, back: bool = False) -> bool:
        """Show what is not on the screen, `back`: what rejecting does; return whether the person goes on."""
        if self.chosen.is_seen():
            return True
        text, data = Text(), self.services.data
        occasions = Occasions(data.env)
        for item in memories:
            occasion = await asyncio.to_thread(occasions.of, item.writer)
            head = _head(item, scope_name(item.scope, data.facts.project), occasion, data.now())
            text.append_text(head).append(f"{words.BACK[item.kind]}:\n" if back else "")
            text.append_text(_difference(data, item, back=back)).append("\n")
        what = f"{verb} {many(len(memories), 'memory', 'memories')}"
        title = "this is what changes" if back else "this is what was changed"
        return await self.chosen.agrees(f"{what[0].upper()}{what[1:]}: {title}", text, what)

    async def keep(self) -> None:
        """Mark the chosen ones as seen, and trust those that are not; what is not on the screen is shown first."""
        memories, data = self._memories(), self.services.data
        if await self.goes_on_with_own(self.chosen.same_kind(), self.edit):
            return
        trusted = [row.undelivered for row in self.chosen.rows(ChangedRow)]
        if await self._agreed("keep and trust" if any(trusted) else "keep", memories):
            sentence = words.done("keep", memories) + (" Sessions get it now." if trusted == [True] else "")
            self.chosen.act(lambda: outside_changes.keep(data.store().journal, data.versions, memories), sentence)

    async def reject_changes(self) -> None:
        """Restore what the person saw last, as one step of undo; what is not on the screen is shown first."""
        memories, data = self._memories(), self.services.data
        rejected = self.rejected(self.chosen.same_kind())
        if not await self._agreed("reject", memories, back=True):
            return
        try:
            work = partial(outside_changes.reject, data.store(), data.versions, memories)
            outcome = await self.services.progress.run(work, len(memories))
            self.chosen.take_off([f"changed:{item.key}" for item, _ in outcome.failed])
            data.take_in()
        finally:
            self.services.read()
        if len(memories) == 1 and outcome.failed:
            raise outcome.failed[0][1]
        if not outcome.failed:
            self.chosen.say(rejected)
            return
        answer = words.done("reject", [item for item, _ in outcome.done], len(outcome.failed))
        reasons = [(row["name"], row["message"]) for row in words.failures(outcome.failed)]
        await self.services.ask(left_alone(f"{many(len(reasons), 'memory', 'memories')} left alone: {answer}", reasons))

    async def edit(self) -> None:
        """Edit the memory in its form, over the inbox: what is saved there counts as seen."""
        (item,) = self._memories()
        if await self.edit_memory(item.key, item.scope.label):
            self.services.data.take_in()
            self.chosen.take_off()
            self.services.read()

    async def history(self) -> None:
        """List the versions of the chosen one, and restore one."""
        (item,) = self._memories()
        await history.show_memory(self.services, item.scope, item.key)

    def _why_no_edit(self) -> str:
        return "It was deleted: there is nothing to edit." if self._memories()[0].kind == "deleted" else ""


# Characters of a memory that are shown before it is trusted.
SHOWN = 20_000
OF_MEMORY = "memory:"
# The problems that a choice between two versions ends.
CONFLICTS = ("memories.conflict", "memories.index_conflict")
VERSIONS = (("ours", "Keep our version"), ("theirs", "Keep their version"), ("both", "Keep both, ours first"))


@dataclass(frozen=True, kw_only=True)
class ProblemRow(InboxRow):
    """A cause of trouble that no fix cures by itself."""

    problem: Problem

    @property
    def paths(self) -> list[str]:
        subjects = (finding.subject for finding in self.problem.parts)
        return [subject.removeprefix(OF_MEMORY) for subject in subjects if subject.startswith(OF_MEMORY)]

    @property
    def needs_look(self) -> str:
        return "it is for you to do"

    def describe(self, view: InboxView) -> Described:
        text = Text().append(safe_text.line(self.says, 600) + "\n", "bold")
        names = self.problem.memories
        text.append(f"{safe_text.line(some(names), 600)}\n" if len(names) > 1 else "", "dim")
        remedy = " ".join(map(view.data.tilde, self.problem.remedy.split(" ")))
        text.append(f"\n{safe_text.line(remedy, 600)}\n" if remedy else "")
        view.needed = WHOLE
        keys = [("inbox.approve", "edit the memory"), ("inbox.follow", "go to the memory")] if self.paths else []
        if self.problem.cause in CONFLICTS:
            keys = [("inbox.approve", "choose which version to keep"), *keys[1:]]
        keys += [("inbox.reject", "reject: do not list it again"), ("inbox.later", "list it later")]
        append_keys(text, keys, read_only=view.without_keys)
        return Described(text)


@dataclass(frozen=True, kw_only=True)
class TrustRow(InboxRow):
    """A memory that came with the repository and is not trusted, so that no session gets it."""

    untrusted: Untrusted

    @property
    def searched(self) -> str:
        return f"{super().searched} {self.untrusted.memory.stem}"

    def describe(self, view: InboxView) -> Described:
        text = self.text(view.data)
        view.needed = WHOLE
        keys = (
            ("inbox.approve", "trust it as shown: sessions get it"),
            ("inbox.reject", "reject: do not ask again"),
        )
        append_keys(text, keys, read_only=view.without_keys)
        return Described(text)

    def text(self, data: Data) -> Text:
        """Return the whole text, as the agent would get it."""
        memory = self.untrusted.memory
        path = data.tilde(memory.path)
        text = Text().append(safe_text.line(f"{self.place}: {memory.stem}", 200), "bold")
        text.append("   came with the repository, not trusted\n", "dim")
        text.append(f"{safe_text.line(path, 300)}\n\n", "dim")
        whole = memory.raw.decode("utf-8", "replace").rstrip("\n")
        return cut(text, whole, path, limit=SHOWN)


class ProblemCommands(RowCommands):
    def table(self) -> dict[str, Command]:
        one = first_of(self.screen.one_by_one, self._why_no_memory)
        return super().table() | {
            "approve": Command(self.edit, one),
            "edit": Command(self.edit, one),
            "reject": Command(self.never),
            "follow": Command(lambda: self.go_to(self._row().paths), one),
        }

    def _row(self) -> ProblemRow:
        return self.chosen.rows(ProblemRow)[0]

    def _why_no_memory(self) -> str:
        row = self._row()
        can = row.paths or row.problem.cause in CONFLICTS
        return "" if can else f"This is for you to do: {row.problem.remedy}".rstrip(": ")

    async def edit(self) -> None:
        """Edit the memory in its form, over the inbox; of what git could not merge, ask which version to keep."""
        row = self._row()
        if row.problem.cause in CONFLICTS:
            await self._resolve(row.problem)
            return
        scopes, path = self.services.data.scopes(), row.paths[0]
        await self.edit_memory(path, next((s.label for s in scopes if path.startswith(s.directory + "/")), ""))

    async def _resolve(self, problem: Problem) -> None:
        names = some(problem.memories or ["MEMORY.md"])
        side = await self.services.ask(Choice(f"Git could not merge two versions: {names}", VERSIONS))
        if side:
            subjects, store = [finding.subject for finding in problem.parts], self.services.data.store()
            self.chosen.act(lambda: fixes.resolve(store, subjects, side), f"Resolved: {names}.")


class TrustCommands(RowCommands):
    def table(self) -> dict[str, Command]:
        return super().table() | {
            "approve": Command(self.trust),
            "reject": Command(self.never),
            "follow": Command(lambda: self.go_to([self._rows()[0].untrusted.memory.path]), self.screen.one_by_one),
        }

    def _rows(self) -> list[TrustRow]:
        return self.chosen.rows(TrustRow)

    async def trust(self) -> None:
        """Trust the chosen memories, byte for byte as they are shown; those not on the screen are shown first."""
        rows, data = self._rows(), self.services.data
        text, what = Text("\n").join(row.text(data) for row in rows), many(len(rows), "memory", "memories")
        title = f"Trust {what}: sessions get this"
        if not self.chosen.is_seen() and not await self.chosen.agrees(title, text, f"trust {what}"):
            return
        grant = partial(outside_changes.grant, data.journal(), [row.untrusted for row in rows])
        self.chosen.act(grant, f"Trusted from now on: {self.named(rows)}.")


def rows_of_problems(problems: Sequence[Problem], places: Mapping[str, str]) -> list[ProblemRow]:
    """Return a row for each cause; `places`: names of scopes by label. The command line hides it by the same key."""
    labels = [str(problem.finding.data.get("scope", "")) for problem in problems]
    return [
        ProblemRow(
            key=problem.key,
            kind=PROBLEM,
            says=changesets.without_scope(problem.sentence, label, places.get(label, "")),
            place=places.get(label, ""),
            later_key=problem.later_key,
            cause=f"problem {problem.cause}",
            state=query.PROBLEM,
            problem=problem,
        )
        for problem, label in zip(problems, labels, strict=True)
    ]


def rows_of_untrusted(data: Data, memories: Iterable[Untrusted]) -> list[InboxRow]:
    """Return a row for each memory of a repository that is not trusted."""
    return [
        TrustRow(
            key=f"trust:{memory.memory.path}",
            kind=TRUST,
            says=memory.says,
            place=scope_name(memory.scope, data.facts.project),
            later_key=memory.later_key,
            untrusted=memory,
            memory_type=memory.memory.type,
            state=query.UNTRUSTED,
        )
        for memory in memories
    ]
