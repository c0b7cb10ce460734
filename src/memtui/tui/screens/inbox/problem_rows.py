"""Problems of memories, and memories that are not trusted, as rows of the inbox, and their commands."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.text import Text

from memtui import actions
from memtui.core.base import ids
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import many, some
from memtui.core.health import fixes
from memtui.core.health.problems import Problem
from memtui.core.memories import status, trusting
from memtui.core.memories.memory import Memory, read_memory
from memtui.core.memories.scopes import Scope
from memtui.present import safe_text
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.memory_subject import TOO_LARGE, MemorySubject, too_large
from memtui.tui.model import autosave
from memtui.tui.screens.inbox.hiding import HideCommands
from memtui.tui.screens.inbox.row import WHOLE, InboxRow, InboxView, RowKind
from memtui.tui.screens.list_screen import Described
from memtui.tui.services import Command, first_of
from memtui.tui.widgets.key_lines import append_keys

# Characters of a memory that are shown before it is trusted.
SHOWN = 20_000
OF_MEMORY = "memory:"
# The problems that a choice between two versions ends.
CONFLICTS = ("memories.conflict", "memories.index_conflict")


PROBLEM = RowKind(
    "problem",
    "problem",
    "problem",
    "problems",
    {"accept": "edit", "reject": "reject", "later": "later", "follow": "go to it"},
)
TRUST = RowKind(
    "trust",
    "trust",
    "memory to trust",
    "memories to trust",
    {"accept": "trust", "reject": "reject", "later": "later", "follow": "go to it"},
)


@dataclass(frozen=True)
class ProblemRow(InboxRow):
    """A cause of trouble that no fix cures by itself."""

    problem: Problem = field(kw_only=True)

    @property
    def kind(self) -> RowKind:
        """A problem."""
        return PROBLEM

    @property
    def later_key(self) -> str:
        """What tells it from all others while it is hidden; the command line has the same."""
        return self.key

    @property
    def paths(self) -> list[str]:
        """The paths of the memories that it is about."""
        subjects = (each.subject for each in self.problem.parts)
        return [each.removeprefix(OF_MEMORY) for each in subjects if each.startswith(OF_MEMORY)]

    @property
    def gist(self) -> str:
        """What is wrong."""
        return self.problem.sentence

    def needs_look(self) -> bool:
        """Whether a person has to look at it: always."""
        return True

    def describe(self, view: InboxView) -> Described:
        """Return what is wrong, the memories, and what to do."""
        text = Text(safe_text.line(self.problem.sentence, 600) + "\n", "bold")
        names = self.problem.memories
        text.append(f"{safe_text.line(some(names), 600)}\n" if len(names) > 1 else "", "dim")
        if self.problem.remedy:
            text.append(f"\n{safe_text.line(self.problem.remedy, 600)}\n")
        view.needed = WHOLE
        keys = [("inbox.accept", "edit the memory"), ("inbox.follow", "go to the memory")] if self.paths else []
        if self.problem.cause in CONFLICTS:
            keys = [("inbox.accept", "choose which version to keep"), *keys[1:]]
        keys += [("inbox.reject", "do not list it again"), ("inbox.later", "list it later")]
        append_keys(text, keys, read_only=view.services.read_only)
        return Described(text)


@dataclass(frozen=True)
class TrustRow(InboxRow):
    """A memory that came with the repository and is not trusted, so that no session gets it."""

    content: Memory = field(kw_only=True)
    directory: str = field(kw_only=True)
    file: str = field(kw_only=True)

    @property
    def kind(self) -> RowKind:
        """A memory to trust."""
        return TRUST

    @property
    def later_key(self) -> str:
        """What tells this text from all others while it is hidden."""
        return f"{self.key}@{ids.digest(self.content.raw)}"

    @property
    def gist(self) -> str:
        """What it says."""
        words = self.content.description or self.content.body.strip().partition("\n")[0]
        return f"{self.content.stem}: {words}" if words else self.content.stem

    def where(self, view: InboxView) -> str:
        """Return the scope that it is in."""
        return f"project {view.services.data.facts.project}"

    def describe(self, view: InboxView) -> Described:
        """Return its whole text, as the agent gets it."""
        text = trust_text(self, view.services.data.tilde(self.content.path))
        view.needed = WHOLE
        keys = (
            ("inbox.accept", "trust it as shown: sessions get it"),
            ("inbox.reject", "do not, and do not ask again"),
        )
        append_keys(text, keys, read_only=view.services.read_only)
        return Described(text)


def trust_text(row: TrustRow, path: str) -> Text:
    """Return the whole text of a memory that is not trusted, as the agent would get it."""
    text = Text(safe_text.line(row.content.ref, 200), "bold")
    text.append("   came with the repository, not trusted\n", "dim").append(f"{safe_text.line(path, 300)}\n\n", "dim")
    whole = row.content.raw.decode("utf-8", "replace").rstrip("\n")
    text.append(safe_text.clean(whole[:SHOWN]) + "\n")
    if len(whole) > SHOWN:
        text.append(f"! … {len(whole) - SHOWN:,} more characters are not shown here\n", "yellow")
    return text


class ProblemCommands(HideCommands):
    """The commands on problems."""

    def table(self) -> dict[str, Command]:
        """Return the commands by verb."""
        one = first_of(self.chosen.screen.one_by_one, self._why_no_memory)
        return super().table() | {
            "accept": Command(self.edit, one),
            "edit": Command(self.edit, one),
            "reject": Command(self.never),
            "follow": Command(self.follow, one),
        }

    def _row(self) -> ProblemRow:
        return self.chosen.rows(ProblemRow)[0]

    def _why_no_memory(self) -> str:
        row = self._row()
        return (
            ""
            if row.paths or row.problem.cause in CONFLICTS
            else f"This is for you to do: {row.problem.remedy}".rstrip(": ")
        )

    async def edit(self) -> None:
        """Edit the memory in its form, over the inbox; of what git could not merge, ask which version to keep."""
        if self._row().problem.cause in CONFLICTS:
            await self._resolve()
            return
        data, path = self.services.data, self._row().paths[0]
        scope = next((each for each in data.scopes() if path.startswith(each.directory + "/")), None)
        found = read_memory(path, scope.label if scope is not None else "")
        if too_large(found):
            self.services.go_to_memory(path)
            self.services.warn(actions.keyed(TOO_LARGE))
            return
        kept = autosave.kept(data.root, autosave.name_of(path))
        await self.services.ask(DraftForm(MemorySubject(data, found, kept), self.services))
        self.services.read()

    async def _resolve(self) -> None:
        subjects = [each.subject for each in self._row().problem.parts]
        names = some(self._row().problem.memories or ["MEMORY.md"])
        options = [("ours", "Keep our version"), ("theirs", "Keep their version"), ("both", "Keep both, ours first")]
        side = await self.services.ask(Choice(f"Git could not merge two versions: {names}", options))
        if side:
            store = self.services.data.store()
            self.chosen.act(lambda: fixes.resolve(store, subjects, side), f"Resolved: {names}.")

    async def follow(self) -> None:
        """Go to the memory that the problem is about; of several, ask which."""
        paths = self._row().paths
        path: str | None = paths[0]
        if len(paths) > 1:
            rows = [(each, safe_text.line(self.services.data.tilde(each))) for each in paths]
            path = await self.services.ask(Choice("Go to which memory?", rows))
        if path:
            self.services.go_to_memory(path)


class TrustCommands(HideCommands):
    """The commands on memories that are not trusted."""

    def table(self) -> dict[str, Command]:
        """Return the commands by verb."""
        return super().table() | {
            "accept": Command(self.trust),
            "reject": Command(self.never),
            "follow": Command(self.follow, self.chosen.screen.one_by_one),
        }

    async def trust(self) -> None:
        """Trust the chosen memories, byte for byte as they are shown; those not on the screen are shown first."""
        rows, data = self.chosen.rows(TrustRow), self.services.data
        if not self.chosen.is_seen():
            text = Text("\n").join(trust_text(row, data.tilde(row.content.path)) for row in rows)
            what = many(len(rows), "memory", "memories")
            if not await self.services.ask(Preview(f"Trust {what}: sessions get this", text, f"trust {what}")):
                return
        by_directory: dict[str, dict[str, bytes]] = {}
        for row in rows:
            by_directory.setdefault(row.directory, {})[row.file] = row.content.raw
        journal = data.journal()

        def grant() -> None:
            with journal.together():
                for directory, contents in by_directory.items():
                    trusting.grant(data.root, directory, contents, by="tui", now=data.now)

        self.chosen.act(grant, f"Trusted, so delivered: {self.named([*rows])}.")

    def follow(self) -> None:
        """Go to the memory."""
        self.services.go_to_memory(self.chosen.rows(TrustRow)[0].content.path)


def of_problems(found: Sequence[Problem]) -> list[ProblemRow]:
    """Return a row for each cause."""
    return [ProblemRow(f"problem:{each.cause} {each.sentence}", problem=each) for each in found]


def of_untrusted(root: str, every: Sequence[Scope]) -> list[TrustRow]:
    """Return a row for each memory of a repository that is not trusted. Slow: for a worker."""
    rows = []
    for scope in every:
        for file in status.not_trusted(root, scope):
            try:
                found = read_memory(f"{scope.directory}/{file}", scope.label)
            except (MemtuiError, OSError):
                continue
            rows.append(TrustRow(f"trust:{found.path}", content=found, directory=scope.directory, file=file))
    return rows
