"""Setup: whether everything is set up, on one page: problems with their fixes, hooks, mode, the model, settings."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual import work
from textual.binding import BindingType
from textual.worker import get_current_worker

from memtui import keymap
from memtui.base import findings
from memtui.base.finding import Finding
from memtui.base.phrasing_hot import many
from memtui.hooks.install import agents, checkup
from memtui.hooks.install.agents import AgentSetup
from memtui.models import choice
from memtui.models.subconscious import control
from memtui.models.subconscious.control import Overview
from memtui.settings import config_hot, setting
from memtui.settings.setting import Setting, Value
from memtui.tidy.checks import fixes
from memtui.tui.dialogs import first_start
from memtui.tui.dialogs.ask import Choice, Line
from memtui.tui.model import matches
from memtui.tui.screens.frame import Described
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.setup import rows
from memtui.tui.screens.setup.rows import BAD, HOOKS, PROBLEMS, SetupRow, Snapshot, take_snapshot
from memtui.tui.services import Command, Services, bindings
from memtui.tui.texts import TABLES
from memtui.tui.widgets.rows import Column, RowList
from memtui.views import colours, query
from memtui.views import setup as setup_words

LOOKING, FINE, INSTALLED = "looking …", "✓ All set up", "✓ Installed"
TITLE_WIDTHS, ROOMY = (16, 20), 60  # cells of the column of titles, and from which width of the list it has the second
FIXES = {fix: words.split(" | ") for fix, words in TABLES["setup fixes"].items()}
HERE, ALL = "here", "all"


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
            "setup.remove": self._command("remove", lambda: "There is nothing to reset or remove here."),
            "list.attention": Command(lambda: self.toggle_term(query.IS_PROBLEM)),
        }
        self.unfolded = set(rows.OPEN)  # the titles of headings

    @work(thread=True, exclusive=True, group="look")
    def reload(self) -> None:
        data = self.services.data
        if data.client is None:
            self._post_snapshot([])
            data.client = checkup.client_check(data.env)  # starts a process, so only once
        self._post_snapshot(data.client)

    def _post_snapshot(self, client: list[Finding]) -> None:
        for reads in (False, True) if self.services.data.is_vast else (True,):
            snapshot = take_snapshot(self.services.data, client, reads=reads)
            if get_current_worker().is_cancelled:
                return
            self.call_later(self._show_snapshot, snapshot)

    def _show_snapshot(self, snapshot: Snapshot) -> None:
        """Show what was seen, the cursor on its row, or at first on the worst finding."""
        if not self.all_rows:
            self.wanted = lambda listed: int(any(row.title == PROBLEMS for row in listed[:1]))
        self.snapshot = snapshot
        self.all_rows = rows.rows(snapshot, self.services.data.now())
        self.services.data.facts.waiting[self.group] = snapshot.problems
        self.fill()

    @property
    def of_all_projects(self) -> bool:
        return False

    def _draw(self, row: SetupRow) -> list[Text]:
        cells = rows.draw(row, is_open=row.title in self.unfolded)
        if row.kind != "head":
            matches.mark(cells[2:], self.typed)
        return cells

    def select(self) -> Sequence[SetupRow]:
        if self.is_filtered:
            return rows.filtered(self.all_rows, self.typed)
        return [row for row in self.all_rows if row.kind == "head" or row.group in self.unfolded]

    def why_no_matches(self) -> str:
        return "No problems in the setup." if self.typed.strip() == query.IS_PROBLEM else super().why_no_matches()

    def numbers(self) -> tuple[str, str]:
        count, total = (sum(row.kind != "head" for row in listed) for listed in (self.table.rows, self.all_rows))
        return f"{count:,}", f"{total:,}"

    def summary(self) -> Text:
        if self.is_filtered and self.typed.strip() != query.IS_PROBLEM:
            return super().summary()
        if not self.all_rows:
            return Text()
        parts = []
        count, hooks = self.snapshot.problems, self.snapshot.hooks
        if hooks is not None and hooks.unreadable:
            parts.append("! No hook runs: Claude Code skips a settings file")
        elif (hooks is None or not hooks.installed) and not self.snapshot.hooked_agents:
            key = "" if self.services.read_only else f": press {keymap.key_of('setup.approve')}"
            parts.append(f"! Hooks are not installed{key}")
            count -= any(finding.code == "hooks.absent" for finding in self.snapshot.findings)
        parts += [f"! {many(count, 'problem')} to fix"] * bool(count)
        if parts:
            return Text(" · ").join(Text(part, BAD) for part in parts)
        others = [f"{count} in {name.capitalize()}" for name, count in self.snapshot.elsewhere.items() if count]
        fine = Text.assemble((FINE[0], "green"), (INSTALLED if others else FINE)[1:])
        more = f" · {many(sum(self.snapshot.elsewhere.values()), 'problem')}: {', '.join(others)}"
        return fine.append(more if others else "", colours.WARNING)

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
        if isinstance(row.about, AgentSetup):
            return self._ways_of_agent(row.about)
        if row.fix in FIXES:
            ways["approve"] = Way(partial(self._fix, row.fix), *FIXES[row.fix])
        if row.option is not None:
            name = row.option.key if row.kind == "finding" else "it"
            ways["edit"] = Way(partial(self._change, row.option), f"change {name}")
            if row.option.source != "default":
                ways["remove"] = Way(partial(self._reset, row.option), f"reset {name} to the default")
        if row.heading == HOOKS and self.snapshot.is_installed:
            remove = partial(first_start.change_hooks, self.services, "uninstall")
            ways["remove"] = Way(remove, "remove the hooks, after showing the change", "remove hooks")
        elif isinstance(row.about, Overview) and row.about.stopped is None:
            ways["remove"] = Way(self._stop_reading, "stop it, also what it reads now")
        return ways

    def _ways_of_agent(self, agent: AgentSetup) -> dict[str, Way]:
        change, title, name = partial(first_start.change_hooks, self.services), agent.program.title, agent.program.name
        ways: dict[str, Way] = {}
        if agent.state in {agents.ABSENT, agents.OLD}:
            words = f"install the hooks of {title}, after showing the change"
            ways["approve"] = Way(partial(change, "install", agent=name), words, "install hooks")
        if agent.has_hooks:
            words = f"remove the hooks of {title}, after showing the change"
            ways["remove"] = Way(partial(change, "uninstall", agent=name), words, "remove hooks")
        return ways

    def _why_no_fix(self) -> str:
        about = self.table.row.about if self.table.row is not None else None
        remedy = findings.remedy(about) if isinstance(about, Finding) else ""
        remedy = about.remedy if isinstance(about, AgentSetup) else remedy
        return f"This is for you to do: {remedy}" if remedy else "There is nothing to fix here."

    async def _fix(self, fix: str) -> None:
        if fix == "install":
            await first_start.change_hooks(self.services, "install")
        elif fix == "start":
            data = self.services.data
            control.start(data.root)
            why = control.powers(data.env, data.root, data.project_root).missing
            self.services.say("The model may read sessions again." + (f" But: {why}" if why else ""))
            self.services.read()
        else:
            outcome = fixes.fix(self.services.data.store(), fix)
            back = f" {keymap.takes_back()}" * (outcome.undoable and bool(outcome.changed))
            self.services.say(setup_words.fixed(outcome) + back)
            self.services.read()

    def _stop_reading(self) -> None:
        control.stop(self.services.data.root)
        again = keymap.key_of("setup.approve")
        self.services.say(f"The model reads no more sessions, in all projects. {again} starts it again.")
        self.services.read()

    async def _change(self, about: Setting) -> None:
        if about.key in config_hot.CHOICES or isinstance(about.default, bool):
            await self._choose_value(about)
            return
        explained = " ".join(filter(None, [about.meaning + ".", setting.explained(about.key)]))
        title, default = f"Change {about.key}", f"default {setting.as_toml(about.default)}"
        check = partial(setting.value_of, about.key)
        question = Line(title, str(about.value), about=explained, below=default, verb="set", check=check)
        typed = await self.services.ask(question)
        if typed is not None:
            self._assign(about.key, setting.value_of(about.key, typed.strip()), None)

    def _reset(self, option: Setting) -> None:
        self._assign(option.key, None, self.services.data.project_root if option.source == "project" else None)

    async def _choose_value(self, about: Setting) -> None:
        values = list(config_hot.CHOICES.get(about.key, ("on", "off")))
        own = about.key in config_hot.PER_PROJECT
        options = [(f"{ALL} {value}", f"{value}, in all projects" if own else value) for value in values]
        options += [(f"{HERE} {value}", f"{value}, in this project only") for value in values] if own else []
        meanings = setting.VALUES.get(about.key, {})
        current = f"{HERE if about.source == 'project' else ALL} {setting.as_typed(about.value)}"
        explain = (lambda option: Text(meanings.get(option.partition(" ")[2], ""))) if meanings else None
        lead = "" if meanings else f"{about.meaning}."
        question = Choice(f"Change {about.key}", options, current, about=explain, lead=lead, verb="set")
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
        shown = setting.as_typed if isinstance(value, bool) else setting.as_toml  # as the list shows on and off
        words = f"{key} is {'the default' if value is None else shown(value)}"
        words += " in this project" if project else ""
        self.services.say(f"{words}. {keymap.takes_back()}" if changed else f"{words} already.")
        self.services.read()
        if key in {"llm_model", "llm_key"}:
            self._look_up_model()

    @work(thread=True, exclusive=True, group="model")
    def _look_up_model(self) -> None:
        data = self.services.data
        words = choice.unlisted(data.env, data.root, data.cwd)
        if words and not get_current_worker().is_cancelled:
            self.call_later(self.services.warn, words)
