"""Setup: whether everything is set up, on one page: problems with their fixes, hooks, mode, the model, settings."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual import on, work
from textual.binding import BindingType
from textual.widgets import Input
from textual.worker import get_current_worker

from memtui import keymap
from memtui.base import findings, fs
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding
from memtui.base.phrasing import many
from memtui.hooks.install import checkup
from memtui.models.subconscious import control
from memtui.models.subconscious.control import Overview
from memtui.settings import config, setting
from memtui.settings.setting import Setting, Value
from memtui.tidy.checks import fixes, retention
from memtui.tui.dialogs import offers
from memtui.tui.dialogs.ask import Choice, Line, sure
from memtui.tui.model import fuzzy
from memtui.tui.screens.frame import Described
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.setup import rows
from memtui.tui.screens.setup.rows import BAD, HOOKS, PROBLEMS, SetupRow, Snapshot, take_snapshot
from memtui.tui.services import Command, Services, bindings
from memtui.tui.widgets.rows import Column, RowList
from memtui.views import editor, query, safe_text
from memtui.views import setup as setup_words

# Asking the client for its version starts a process.
CLIENT_SECONDS = 600.0
LOOKING, FINE = "looking …", "✓ All set up"
# What the top line calls the problems in the Inbox, by the word for their rows there.
IN_INBOX = {"fix": ("fix", "fixes"), "problem": ("problem",), "trust": ("to trust", "to trust")}
# Cells of the column of titles, and from which width of the list it has the second.
TITLE_WIDTHS, ROOMY = (16, 20), 60

# What a fix does, by its id, and the word for it in the footer.
FIXES = {
    "install": ("install the hooks, after showing the change", "install hooks"),
    "notes": ("find out whether they arrived", "fix"),
    "projects": ("give it to this project, after asking", "fix"),
    "errors": ("set the errors aside, beside the log", "fix"),
    "files": ("let only you read and write them", "fix"),
    "config": ("open config.toml in your editor", "fix"),
    "collect": ("delete old data for good, after asking", "fix"),
    "start": ("start reading sessions again", "start again"),
}
HERE, ALL = "here", "all"
FILE = "config.toml"


class Way(NamedTuple):
    """What a key does with a row: words for the detail, and the word of the footer where it has another one."""

    run: Callable[[], object]
    words: str
    footer: str = ""


class Setup(ListScreen[SetupRow]):
    """The screen: a list whose headings unfold, and beside it the row under the cursor in full."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("setup")]
    group: ClassVar[str] = "setup"
    legend: str = rows.LEGEND
    terms: ClassVar[Collection[str]] = ("is",)

    def __init__(self, services: Services) -> None:
        slim, roomy = TITLE_WIDTHS
        titles = (Column("", slim, until_width=ROOMY), Column("", roomy, from_width=ROOMY))
        columns = (Column("", 1), *titles, Column(""))
        table = RowList[SetupRow](columns, self._draw, lambda row: row.key, empty=LOOKING, header=False, id="list")
        super().__init__(services, table, placeholder="words of a line, is:problem")
        self.snapshot = Snapshot()
        for verb in ("mark", "mark_all", "range"):  # nothing here is done to several at once
            del self.commands[f"list.{verb}"]
        self.commands |= {
            "setup.approve": self._command("approve", self._why_no_fix),
            "setup.edit": self._command("edit", lambda: "Move the cursor to a setting first."),
            "setup.remove": self._command("remove", self._why_no_remove),
            "list.attention": Command(lambda: self.toggle_term(query.IS_PROBLEM)),
        }
        self.unfolded = set(rows.OPEN)  # the titles of headings
        self._counted: Counter[str] | None = None  # of the Inbox, as the title has it
        self._worst = ""  # the id of the row that the cursor was put on
        self._has_looked = False
        self._client_time = 0.0  # when the client was asked for its version, on the monotonic clock

    @work(thread=True, exclusive=True, group="look")
    def reload(self) -> None:
        worker, data = get_current_worker(), self.services.data
        if data.client is None or time.monotonic() - self._client_time > CLIENT_SECONDS:
            if data.client is None:
                self._post_snapshot([])
            data.client = checkup.client_check(data.env)
            self._client_time = time.monotonic()
        is_counted = data.statistics.ready
        self._post_snapshot(data.client)
        # Another screen may have counted meanwhile.
        if data.statistics.count(lambda _: not worker.is_cancelled) or not is_counted:
            self._post_snapshot(data.client)

    def _post_snapshot(self, client: list[Finding]) -> None:
        """Look at everything and show it; without findings about the `client` the cursor may still go to others."""
        snapshot, is_whole = take_snapshot(self.services.data, client), client is self.services.data.client
        if not get_current_worker().is_cancelled:
            self.call_later(partial(self._show_snapshot, snapshot, is_whole=is_whole))

    def _show_snapshot(self, snapshot: Snapshot, *, is_whole: bool) -> None:
        """Show what was seen, the cursor on its row, or at first on the worst finding."""
        first = not self.all_rows or (not self._has_looked and self.table.row_id == self._worst)
        if first:
            self.wanted = lambda listed: int(any(row.title == PROBLEMS for row in listed[:1]))
        self.snapshot = snapshot
        self.all_rows = rows.rows(snapshot, self.services.data.now())
        self.services.data.facts.waiting[self.group] = snapshot.problems
        self.fill()
        self._worst = self.table.row_id if first else ""
        self._has_looked = self._has_looked or is_whole

    # showing

    def frame_top(self) -> None:
        """Draw the top line; what waits in the Inbox may have been counted meanwhile."""
        super().frame_top()
        if self._counted != self.services.data.decisions:
            self._counted = self.services.data.decisions
            self.fill()

    def _elsewhere(self) -> list[str]:
        """Return which problems wait in other places: in the Inbox as many as it has rows for."""
        counts, of_notes = self.services.data.decisions or Counter(), self.snapshot.of_notes
        in_inbox = ", ".join(many(counts[word], *nouns) for word, nouns in IN_INBOX.items() if counts[word])
        in_activity = f"{many(of_notes, 'note')} lost" if of_notes else ""
        return [f"{place}: {words}" for place, words in (("Inbox", in_inbox), ("Activity", in_activity)) if words]

    @property
    def of_all_projects(self) -> bool:
        return False

    def _draw(self, row: SetupRow) -> list[Text]:
        cells = rows.draw(row, is_open=row.title in self.unfolded or self.is_filtered)
        if row.kind != "head":
            fuzzy.mark(cells[2:], self.typed)
        return cells

    def select(self) -> Sequence[SetupRow]:
        if self.is_filtered:
            return rows.filtered(self.all_rows, self.typed)
        return [row for row in self.all_rows if row.kind == "head" or row.group in self.unfolded]

    def why_no_matches(self) -> str:
        state = query.parse(self.typed, self.terms).terms.get("is", "")
        if self.typed.strip() == query.IS_PROBLEM:
            return "No problems in the setup."  # the title has those of other places
        is_known = query.PROBLEM.startswith(state)
        return super().why_no_matches() if is_known else query.not_among("is", state, [query.PROBLEM])

    def numbers(self) -> tuple[str, str]:
        count, total = (
            sum(row.kind != "head" for row in setup_rows) for setup_rows in (self.table.rows, self.all_rows)
        )
        return f"{count:,}", f"{total:,}"

    def summary(self) -> Text:
        if self.is_filtered and self.typed.strip() != query.IS_PROBLEM:
            return super().summary()
        parts = []
        if not self.all_rows:
            return Text()
        count, hooks = self.snapshot.problems, self.snapshot.hooks
        if hooks is not None and hooks.unreadable:
            parts.append("! No hook runs: Claude Code skips a settings file")
        elif hooks is None or not hooks.installed:
            key = "" if self.services.read_only else f": press {keymap.key_of('setup.approve')}"
            parts.append(f"! Hooks are not installed{key}")
            count -= any(finding.code == "hooks.absent" for finding in self.snapshot.findings)
        parts += [f"! {many(count, 'problem')} to fix"] * bool(count)
        line = Text().append("" if parts else FINE[0], "green").append("" if parts else FINE[1:])
        for part in (*parts, *self._elsewhere()):
            line.append(" · " if line else "").append(part, BAD if part in parts else "")
        return line

    def describe(self, row: SetupRow) -> Described:
        keys = [(f"setup.{verb}", way.words) for verb, way in self.ways(row).items()]
        return rows.describe(row, self.snapshot, keys, self.services.data, read_only=self.services.read_only)

    def footer_actions(self) -> list[keymap.Action]:
        words = {f"setup.{verb}": way.footer for verb, way in self.ways(self.table.row).items()}
        shown = [action for action in super().footer_actions() if action.group != self.group or action.id in words]
        return [replace(action, footer=words.get(action.id) or action.footer) for action in shown]

    def fold_of(self, row: SetupRow) -> str:
        """Return the title of the heading that a row is or is below; empty while a filter shows all."""
        return "" if self.is_filtered else row.group or row.title * row.is_fold

    def fold_word(self) -> str:
        row = self.table.row
        if row is None or not row.is_fold or self.is_filtered:
            return ""
        return "fold" if row.title in self.unfolded else "unfold"

    # filters

    @on(Input.Submitted, "#filter")
    def leave_heading(self) -> None:
        row, setup_rows = self.table.row, self.table.rows
        if row is not None and row.kind == "head":
            self.table.move_to(next((n for n, setup_row in enumerate(setup_rows) if setup_row.kind != "head"), 0))

    # commands

    def _command(self, verb: str, why_not: Callable[[], str]) -> Command:
        """Return the command of a verb, which the row under the cursor decides; `why_not`: where it has no such way."""

        def way() -> Way | None:
            ways = self.ways(self.table.row)
            return ways.get(verb) or (ways.get("edit") if verb == "approve" else None)

        def run() -> object:
            chosen = way()
            return chosen.run() if chosen is not None else None

        return Command(run, lambda: "" if way() is not None else why_not())

    def ways(self, row: SetupRow | None) -> dict[str, Way]:
        ways: dict[str, Way] = {}
        if row is None:
            return ways
        if row.fix in FIXES:
            ways["approve"] = Way(partial(self._fix, row.fix, row.about), *FIXES[row.fix])
        if row.option is not None:
            name = row.option.key if row.kind == "finding" else "it"
            ways["edit"] = Way(partial(self._change, row.option), f"change {name}")
            if row.option.source != "default":
                ways["remove"] = Way(partial(self._reset, row.option), f"reset {name} to the default")
        if row.heading == HOOKS and self.snapshot.is_installed:
            remove = partial(offers.change_hooks, self.services, "uninstall")
            ways["remove"] = Way(remove, "remove the hooks, after showing the change", "remove hooks")
        elif isinstance(row.about, Overview) and row.about.stopped is None:
            ways["remove"] = Way(self._stop_reading, "stop it, also what it reads now")
        return ways

    # fixes

    def _why_no_fix(self) -> str:
        row = self.table.row
        if row is not None and isinstance(row.about, Finding) and (remedy := findings.remedy(row.about)):
            return f"This is for you to do: {remedy}"
        return "There is nothing to fix here."

    def _fix(self, fix: str, about: object) -> object:
        asking: dict[str, Callable[[], object]] = {
            "install": lambda: offers.change_hooks(self.services, "install"),
            "config": self._edit_file,
            "collect": self._collect,
            "start": self._start_reading,
            "projects": lambda: self._adopt(about.subject if isinstance(about, Finding) else ""),
        }
        fix_now = lambda: self._report(fixes.fix(self.services.data.store(), fix))
        return asking.get(fix, fix_now)()

    def _report(self, outcome: fixes.FixOutcome) -> None:
        back = f" {keymap.takes_back()}" * (outcome.undoable and bool(outcome.changed))
        self.services.say(setup_words.fixed(outcome) + back)
        self.services.read()

    async def _adopt(self, subject: str) -> None:
        """Give what may be of several projects, or was of one whose directory is gone, to this one."""
        name = safe_text.line(self.services.data.facts.project)
        if await self.services.ask(sure(f"Give it to {name}?", "Give it to this project")):
            self._report(fixes.fix(self.services.data.store(), "projects", [subject]))

    async def _collect(self) -> None:
        data = self.services.data
        due = await asyncio.to_thread(retention.due, data.root, data.now())
        words = "; ".join(words for _, words in setup_words.due(due, retention.limits(data.root), dry=True))
        if await self.services.ask(sure(f"Delete for good, without undo: {words}?", "Delete for good")):
            self._report(await asyncio.to_thread(fixes.fix, data.store(), "collect"))

    def _start_reading(self) -> None:
        data = self.services.data
        control.start(data.root)
        why = control.powers(data.env, data.root, data.project_root).missing
        self.services.say("The model may read sessions again." + (f" But: {why}" if why else ""))
        self.services.read()

    # taking away

    def _stop_reading(self) -> None:
        control.stop(self.services.data.root)
        again = keymap.key_of("setup.approve")
        self.services.say(f"The model reads no more sessions, in all projects. {again} starts it again.")
        self.services.read()

    def _why_no_remove(self) -> str:
        row = self.table.row
        if row is not None and row.heading == HOOKS:
            return "No hooks are installed."
        if row is not None and isinstance(row.about, Overview):
            return "It is stopped already."
        is_default = row is not None and row.option is not None
        return "That is the default already." if is_default else "There is nothing to reset or remove here."

    # settings

    async def _change(self, about: Setting) -> None:
        if about.key in config.CHOICES or isinstance(about.default, bool):
            await self._choose_value(about)
            return
        question = Line(
            f"Change {about.key}",
            str(about.value),
            about=" ".join(filter(None, [about.meaning + ".", setting.explained(about.key)])),
            below=f"default {setting.as_toml(about.default)}",
            verb="set",
            check=partial(setting.value_of, about.key),
        )
        typed = await self.services.ask(question)
        if typed is not None:
            self._assign(about.key, setting.value_of(about.key, typed.strip()), None)

    def _reset(self, option: Setting) -> None:
        self._assign(option.key, None, self.services.data.project_root if option.source == "project" else None)

    async def _choose_value(self, about: Setting) -> None:
        values = list(config.CHOICES.get(about.key, ("true", "false")))
        own = about.key in config.PER_PROJECT
        options = [(f"{ALL} {value}", f"{value}, in all projects" if own else value) for value in values]
        options += [(f"{HERE} {value}", f"{value}, in this project only") for value in values] if own else []
        meanings = setting.VALUES.get(about.key, {})
        question = Choice(
            f"Change {about.key}",
            options,
            f"{HERE if about.source == 'project' else ALL} {setting.as_typed(about.value)}",
            about=(lambda option: Text(meanings.get(option.partition(" ")[2], ""))) if meanings else None,
            lead="" if meanings else f"{about.meaning}.",
            verb="set",
        )
        answer = await self.services.ask(question)
        if answer is not None:
            where, _, word = answer.partition(" ")
            project = self.services.data.project_root if where == HERE else None
            self._assign(about.key, setting.value_of(about.key, word), project)

    def _assign(self, key: str, value: Value | None, project: str | None) -> None:
        """Set a setting, to the default without a `value`: of a `project`, or of all."""
        data = self.services.data
        now = setting.row(data.root, None, key)
        is_reset = project is None and value == now.default and (now.source == "default" or value != now.value)
        changed = setting.assign(data.root, data.journal(), key, None if is_reset else value, project)
        words = f"{key} is {'the default' if value is None else setting.as_toml(value)}"
        words += " in this project" if project else ""
        self.services.say(f"{words}. {keymap.takes_back()}" if changed else f"{words} already.")
        self.services.read()

    async def _edit_file(self) -> None:
        """Open config.toml in the person's editor, again until what comes back can be saved or is dropped."""
        data = self.services.data
        before = typed = fs.read_or_empty(config.file_path(data.root))
        answer: str | None = "edit"
        while answer == "edit":
            with self.services.suspend():
                after = editor.edited(data.env, FILE, typed)
            if after == before:
                return
            try:
                self.services.make(partial(setting.save, data.root, data.journal(), before, after), f"Saved {FILE}.")
                return
            except MemtuiError as error:
                typed, before = after, fs.read_or_empty(config.file_path(data.root))
                options = [("edit", "Edit again what I typed"), ("drop", f"Drop it: {FILE} stays as it is")]
                answer = await self.services.ask(Choice(f"Not saved. {error.message}", options))
