"""The commands of Setup on findings: go to what one is about, and fix it. A fix that undo does not take
back asks first."""

import asyncio
import inspect
import os
from collections.abc import Callable, Sequence

from memtui import actions
from memtui.core.base.finding import OK, Finding
from memtui.core.base.phrasing import some
from memtui.core.health import findings, fixes, retention
from memtui.core.places import locate
from memtui.core.places.trust import TrustStatus
from memtui.present import fixes as fix_words
from memtui.present import safe_text
from memtui.subconscious import control
from memtui.subconscious.overview import Overview
from memtui.tui import hooks_offer
from memtui.tui.dialogs.ask import Choice, sure
from memtui.tui.dialogs.trust_choice import Trusting
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.setup.config_file import ConfigFile
from memtui.tui.screens.setup.rows import HOOKS, MARKS, SetupRow
from memtui.tui.screens.setup.snapshot import Snapshot
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
    "projects": "gives it to this project, after asking",
    "conflict": "asks which version to keep, ours, theirs or both",
    "errors": "sets the errors aside, beside the log",
    "files": "lets only you read and write them",
    "config": "opens config.toml in your editor",
    "forget": "forgets what your decisions on drafts taught, after asking",
    "collect": "deletes old data for good, after asking",
    "start": "lets the model read sessions again",
}
# The most notes that a question about several quotes.
NOTES_SHOWN = 8


# By the id of a fix: the word for it in the footer, where that is not “fix”.
FIX_WORDS = {"forget": "forget", "start": "start again", "install": "install hooks", "trust": "trust"}


class SetupCommands:
    """The commands on findings. `snapshot` returns what was found last; `go_to_row` puts the cursor on a row by key."""

    def __init__(
        self,
        services: Services,
        screen: ListScreen[SetupRow],
        snapshot: Callable[[], Snapshot],
        go_to_row: Callable[[str], object],
    ) -> None:
        self.services, self.screen, self.snapshot, self.go_to_row = services, screen, snapshot, go_to_row
        self.config = ConfigFile(services)

    def table(self) -> dict[str, Command]:
        """Return the commands by action id."""
        return {
            "setup.follow": Command(self.follow, self._why_no_place),
            "setup.accept": Command(self.fix, self._why_no_fix),
        }

    # to what it is about

    def place_of(self, row: SetupRow | None) -> tuple[str, str]:
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

    def _fix_of(self, row: SetupRow | None) -> tuple[str, str]:
        """Return the id of the fix for a row and its subject; an empty id if only a person can fix it."""
        about = row.about if row else None
        if isinstance(about, Finding):
            what = findings.fix_of(about)
            return what if what in FIXES else "", about.subject
        if isinstance(about, Overview):
            return "start" if about.stopped is not None else "", ""
        if self.is_of_hooks(row):
            return "" if row is not None and self._hooks_run(row) else "install", ""
        return "errors" if row is not None and row.kind == "error" else "", ""

    def is_of_hooks(self, row: SetupRow | None) -> bool:
        """Whether a row is the heading of the hooks, or one of them."""
        return row is not None and (row.kind == "event" or (row.kind, row.title) == ("head", HOOKS))

    def _hooks_run(self, row: SetupRow) -> bool:
        hooks = self.snapshot().hooks
        return row.mark == MARKS[OK][0] if row.kind == "event" else hooks is not None and hooks.installed

    def fix_words(self, row: SetupRow | None) -> str:
        """Say what the key of `setup.accept` does on a row; empty if only a person can fix it, or nothing may be
        written."""
        return "" if self.services.read_only else FIXES.get(self._fix_of(row)[0], "")

    def fix_word(self) -> str:
        """Return the word for `setup.accept` in the footer, where that is not “fix”; else empty."""
        return FIX_WORDS.get(next(iter(self._fixes_chosen()), ""), "")

    def _fixes_chosen(self) -> dict[str, list[str]]:
        """Return the subjects of the chosen rows by the id of their fix."""
        found: dict[str, list[str]] = {}
        for row in self.screen.table.chosen():
            what, subject = self._fix_of(row)
            if what and subject not in found.setdefault(what, []):
                found[what].append(subject)
        return found

    def why_no_fix_here(self) -> str:
        """Say why the row under the cursor can't be fixed; empty if it can."""
        row = self.screen.table.row
        if self._fix_of(row)[0]:
            return ""
        if self.place_of(row)[0] == "memory":
            return actions.keyed(
                "This is for you to do: {setup.follow} goes to the memory, {memories.editor} there edits its file."
            )
        remedy = findings.remedy(row.about) if row is not None and isinstance(row.about, Finding) else ""
        return f"This is for you to do: {remedy}" if remedy else "There is nothing to fix here."

    def _why_no_fix(self) -> str:
        return "" if self._fixes_chosen() else self.why_no_fix_here()

    def markable(self, rows: Sequence[SetupRow]) -> list[SetupRow]:
        """Return the rows like the one under the cursor, with its fix; if it has none, all that can be fixed."""
        here = self.screen.table.row
        what = self._fix_of(here)[0]
        alike = [row for row in rows if what and here is not None and row.kind == here.kind]
        return [row for row in alike if self._fix_of(row)[0] == what] or self.fixable(rows)

    def fixable(self, rows: Sequence[SetupRow]) -> list[SetupRow]:
        """Return the rows that can be fixed together."""
        broken = [row for row in rows if row.mark != MARKS[OK][0] and not self.is_of_hooks(row)]
        return [row for row in broken if self._fix_of(row)[0]]

    def start_reading(self) -> None:
        """Let the model read sessions again."""
        data = self.services.data
        control.start(data.root)
        why = control.powers(data.env, data.root, data.project_root).missing
        self.services.say("The model may read sessions again." + (f" But: {why}" if why else ""))
        self.services.read()

    def stop_reading(self) -> None:
        """Have the model read no sessions, also not the one that it reads now."""
        control.stop(self.services.data.root)
        again = actions.key_of("setup.accept")
        self.services.say(f"The model reads no more sessions, in all projects. {again} starts it again.")
        self.services.read()

    def why_no_stop(self) -> str:
        """Return why the model can't be stopped; empty if it can."""
        found = self.snapshot().reading
        return "" if found is not None and found.stopped is None else "It is stopped already."

    async def fix(self) -> None:
        """Fix what the marked rows show, or the one under the cursor, after asking where a person decides: once for all
        that are fixed in the same way, and these are one step of undo."""
        for what, subjects in self._fixes_chosen().items():
            await self._fix(what, subjects)

    async def _fix(self, what: str, subjects: list[str]) -> None:
        with_questions: dict[str, Callable[[], object]] = {
            "install": self.install,
            "trust": self.trust,
            "config": self.config.edit,
            "conflict": lambda: self._conflict(subjects),
            "again": lambda: self._notes(subjects, again=True),
            "withdraw": lambda: self._notes(subjects, again=False),
            "collect": self._collect,
            "forget": self._forget,
            "start": self.start_reading,
            "projects": lambda: self._adopt(subjects),
        }
        done = with_questions.get(what, lambda: self._run_fix(what, subjects))()
        if inspect.isawaitable(done):
            await done

    def _run_fix(self, what: str, subjects: Sequence[str] = ()) -> None:
        """Run a fix that needs no question, or whose question was answered."""
        self._tell(fixes.fix(self.services.data.store(), what, subjects))

    def _tell(self, done: fixes.FixOutcome) -> None:
        back = f" {actions.takes_back()}" * (done.undoable and bool(done.changed))
        self.services.say(fix_words.words(done) + back)
        self.services.read()

    async def _conflict(self, subjects: Sequence[str]) -> None:
        """Ask which version to keep of what git could not merge."""
        names = some([os.path.basename(each.partition(":")[2]) for each in subjects])
        options = [("ours", "Keep our version"), ("theirs", "Keep their version"), ("both", "Keep both, ours first")]
        side = await self.services.ask(Choice(f"Git could not merge two versions: {names}", options))
        if side:
            self._tell(fixes.resolve(self.services.data.store(), subjects, side))

    async def _notes(self, subjects: Sequence[str], *, again: bool) -> None:
        """Ask what to do with guidance that is not delivered: a person's words are never thrown away unasked."""
        items = [fixes.note(self.services.data.root, each) for each in subjects]
        one = len(items) == 1
        options = [("again", "Deliver it again" if one else "Deliver them again")] if again else []
        options += [("go", "Go to it, and change it there")] if one else []
        options.append(("withdraw", f"Withdraw {'it: no session gets it' if one else 'them: no session gets them'}"))
        question = "\n".join(f"“{' '.join(each.text.split())[: 200 if one else 70]}”" for each in items[:NOTES_SHOWN])
        question += f"\nand {len(items) - NOTES_SHOWN} more" if len(items) > NOTES_SHOWN else ""
        answer = await self.services.ask(Choice(question, options))
        if answer == "go":
            self.services.go_to_note(items[0])
        elif answer:
            self._run_fix(answer, subjects)

    async def _forget(self) -> None:
        """Forget what decisions on drafts taught, if that is wanted."""
        question = "Forget what your decisions on drafts taught? Drafts are judged as memtui ships it then."
        if await self.services.ask(sure(question, "Forget it")):
            self._run_fix("forget")

    async def _adopt(self, subjects: Sequence[str]) -> None:
        """Give what may be of several projects, or was of one whose directory is gone, to this one, if that is
        wanted."""
        name = safe_text.line(self.services.data.facts.project)
        if await self.services.ask(sure(f"Give it to {name}?", "Give it to this project")):
            self._run_fix("projects", subjects)

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

    def why_no_uninstall(self) -> str:
        """Return why no hooks can be removed; empty if they can."""
        hooks = self.snapshot().hooks
        return "" if hooks and hooks.installed else "No hooks are installed."

    async def trust(self) -> None:
        """Trust the project's memories, then those of the team, after showing them, as the screen of memories does."""
        data, snapshot = self.services.data, self.snapshot()
        directory = locate.project_dir(data.env, data.cwd)[0]
        if not _waits(snapshot.trusted) and _waits(snapshot.shared):
            directory = f"{locate.auto_dir(data.env, data.cwd)}/{locate.TEAM}"
        trusting = Trusting(data, directory, ())
        question = Choice(trusting.title, trusting.entries, trusting.current, about=trusting.about)
        answer = await self.services.ask(question)
        if answer:
            trusting.do(answer)
            self.services.say(trusting.done(answer))
            self.services.read()


def _waits(found: "TrustStatus | None") -> bool:
    return found is not None and bool(found.new or found.changed)
