"""The commands of the health screen on findings: go to what one is about, and fix it. A fix that undo does not take
back asks first."""

import asyncio
import inspect
from collections.abc import Callable

from memtui import actions
from memtui.core.base.finding import Finding
from memtui.core.health import findings, fixes, retention
from memtui.core.health.index_report import Report
from memtui.core.places import locate
from memtui.present import fixes as fix_words
from memtui.tui import hooks_offer
from memtui.tui.dialogs.ask import Choice, sure
from memtui.tui.dialogs.conflict import difference
from memtui.tui.dialogs.preview import Preview
from memtui.tui.dialogs.trust_choice import Trusting
from memtui.tui.screens.health.config_file import ConfigFile
from memtui.tui.screens.health.rows import HealthRow
from memtui.tui.screens.health.snapshot import Snapshot
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command, Services

# What a finding is about, in words, by the beginning of its `subject`.
PLACES = {"memory": "the memory", "note": "the note", "index": "its index below"}
# What a fix does, in words, by its id.
FIXES = {
    "install": "shows the change, and installs the hooks after a yes",
    "trust": "shows these memories, and trusts them as shown",
    "again": "delivers it again, or withdraws it; asks first",
    "withdraw": "withdraws it, after asking",
    "guidance": "finds out whether it arrived",
    "index": "shows the change, and makes it after a yes",
    "errors": "sets the errors aside, beside the log",
    "files": "lets only you read and write them",
    "config": "opens config.toml in your editor",
    "collect": "deletes old data for good, after asking",
}


class HealthCommands:
    """The commands on findings. `snapshot` returns what was found last; `go_to_row` puts the cursor on a row by key."""

    def __init__(
        self,
        services: Services,
        screen: ListScreen[HealthRow],
        snapshot: Callable[[], Snapshot],
        go_to_row: Callable[[str], object],
    ) -> None:
        self.services, self.screen, self.snapshot, self.go_to_row = services, screen, snapshot, go_to_row
        self.config = ConfigFile(services)

    def table(self) -> dict[str, Command]:
        """Return the commands by action id."""
        return {
            "health.follow": Command(self.follow, self._why_no_place),
            "health.fix": Command(self.fix, self._why_no_fix),
            "health.install": Command(self.install),
            "health.uninstall": Command(self.uninstall, self._why_no_uninstall),
            "health.trust": Command(self.trust, self._why_no_trust),
            "health.settle": Command(lambda: self._run_fix("guidance", "")),
        }

    # to what it is about

    def place_of(self, row: HealthRow | None) -> tuple[str, str]:
        """Return what a row is about (`memory`, `note` or `index`) and which; both empty if it leads nowhere."""
        about = row.about if row else None
        kind, _, which = about.subject.partition(":") if isinstance(about, Finding) else ("", "", "")
        return kind, which

    def _why_no_place(self) -> str:
        return "" if self.place_of(self.screen.table.row)[0] else "There is nothing to go to from here."

    def follow(self) -> None:
        """Go to what the finding under the cursor is about."""
        kind, which = self.place_of(self.screen.table.row)
        if kind == "memory":
            self.services.go_to_memory(which)
        elif kind == "note":
            self.services.go_to_note(fixes.note(self.services.data.root, f"note:{which}"))
        elif kind == "index":
            self.go_to_row(f"index {which}")

    # fixes

    def _fix_of(self, row: HealthRow | None) -> tuple[str, str]:
        """Return the id of the fix for a row and its subject; an empty id if only a person can fix it."""
        about = row.about if row else None
        if isinstance(about, Report):
            return "index" if about.fixable else "", f"index:{about.scope.label}"
        if isinstance(about, Finding):
            return findings.fix_of(about), about.subject
        return "errors" if row is not None and row.kind == "error" else "", ""

    def fix_words(self, row: HealthRow | None) -> str:
        """Say what the key of `health.fix` does on a row; empty if only a person can fix it."""
        return FIXES.get(self._fix_of(row)[0], "")

    def _why_no_fix(self) -> str:
        row = self.screen.table.row
        if self._fix_of(row)[0]:
            return ""
        remedy = findings.remedy(row.about) if row is not None and isinstance(row.about, Finding) else ""
        return f"This is for you to do: {remedy}" if remedy else "There is nothing to fix here."

    async def fix(self) -> None:
        """Fix what the row under the cursor shows, after asking where a person decides."""
        what, subject = self._fix_of(self.screen.table.row)
        with_questions: dict[str, Callable[[], object]] = {
            "install": self.install,
            "trust": self.trust,
            "config": self.config.edit,
            "index": lambda: self._index(subject),
            "again": lambda: self._note(subject, again=True),
            "withdraw": lambda: self._note(subject, again=False),
            "collect": self._collect,
        }
        done = with_questions.get(what, lambda: self._run_fix(what, subject))()
        if inspect.isawaitable(done):
            await done

    def _run_fix(self, what: str, subject: str) -> None:
        """Run a fix that needs no question, or whose question was answered."""
        self._tell(fixes.fix(self.services.data.store(), what, subject))

    def _tell(self, done: fixes.FixOutcome) -> None:
        back = f" {actions.takes_back()}" * (done.undoable and bool(done.changed))
        self.services.say(fix_words.words(done) + back)
        self.services.read()

    async def _index(self, subject: str) -> None:
        """Show what MEMORY.md would become, and write it if that is wanted."""
        store = self.services.data.store()
        shown = fixes.fixable(store, subject)
        if not shown:
            self._tell(fixes.index(store, []))
            return
        text = difference(shown[0].index.raw, shown[0].fixed, ("the file now", "the fixed file"))
        if await self.services.ask(Preview(f"MEMORY.md of {shown[0].scope.shown} becomes", text, "write it")):
            self._tell(fixes.index(store, shown))

    async def _note(self, subject: str, *, again: bool) -> None:
        """Ask what to do with guidance that is not delivered: a person's words are never thrown away unasked."""
        item = fixes.note(self.services.data.root, subject)
        options = [("again", "Deliver it again")] if again else []
        options += [("go", "Go to it, and change it there"), ("withdraw", "Withdraw it: no session gets it")]
        answer = await self.services.ask(Choice(f"“{' '.join(item.text.split())[:200]}”", options))
        if answer == "go":
            self.services.go_to_note(item)
        elif answer:
            self._run_fix(answer, subject)

    async def _collect(self) -> None:
        """Show what is kept no longer, and remove it if that is wanted."""
        data = self.services.data
        found = await asyncio.to_thread(fixes.due, data.store())
        due = "; ".join(words for _, words in fix_words.due(found, retention.limits(data.root), dry=True))
        if await self.services.ask(sure(f"Delete for good, without undo: {due}?", "Delete for good")):
            self._tell(await asyncio.to_thread(fixes.fix, data.store(), "collect"))

    # hooks and trust

    async def install(self) -> None:
        """Show the diff, ask where, and install the hooks."""
        await hooks_offer.change_hooks(self.services, "install")

    async def uninstall(self) -> None:
        """Show the diff, and take the hooks out."""
        await hooks_offer.change_hooks(self.services, "uninstall")

    def _why_no_uninstall(self) -> str:
        hooks = self.snapshot().hooks
        return "" if hooks and hooks.installed else "No hooks are installed."

    def _why_no_trust(self) -> str:
        found = self.snapshot().trusted
        if found and (found.new or found.changed):
            return ""
        return "There is nothing to trust: this project brings no memories that are not trusted."

    async def trust(self) -> None:
        """Trust the project's memories after showing them, as the screen of memories does."""
        data = self.services.data
        trusting = Trusting(data, locate.project_dir(data.env, data.cwd)[0], ())
        question = Choice(trusting.title, trusting.entries, trusting.current, about=trusting.about)
        answer = await self.services.ask(question)
        if answer:
            trusting.do(answer)
            self.services.say(trusting.done(answer))
            self.services.read()
