"""The memory under the cursor, and how full the indexes are."""

import time
from typing import TYPE_CHECKING

from rich.text import Text
from textual import on, work
from textual.worker import get_current_worker

from memtui import actions
from memtui.core.base.phrasing import ago
from memtui.core.memories.scopes import Scope
from memtui.present import memories as present
from memtui.present import safe_text
from memtui.tui.model import fuzzy
from memtui.tui.screens.memories import tree
from memtui.tui.screens.memories.navigation import NARROW
from memtui.tui.screens.memories.reading import Reading
from memtui.tui.screens.memories.rows import Pair
from memtui.tui.screens.memories.text import Facts, Meter, flag_words, glance_text, memory_text, meter_line, meter_of
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.line import OneLine
from memtui.tui.widgets.rows import RowList

if TYPE_CHECKING:
    from memtui.core.memories.memory import Memory
    from memtui.core.memories.origin import Origin

# Transcripts are read only for what the cursor rests on.
REST_SECONDS = 0.15
TOLD_SECONDS = 0.2


class Pane(Reading):
    """The part of the screen that shows one memory."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: dict[str, str] = {}
        self._meters: dict[str, Meter | None] = {}
        self._links: dict[str, dict[str, list[str]]] = {}
        self._origins: dict[tuple[str, str], Origin | None] = {}
        self._footed: list[str] = []
        self._stopped: set[tuple[str, str]] = set()
        self.made: dict[str, tuple[str, float | None]] = {}
        self.begun = False  # only the first page of the memories here is read

    def forget(self) -> None:
        """The scopes were read again."""
        self._meters.clear()
        self._links.clear()

    def meter(self, scope: Scope) -> Meter | None:
        """A scope's index, measured once a reading."""
        if scope.label not in self._meters:
            self._meters[scope.label] = meter_of(scope)
        return self._meters[scope.label]

    def show_lines(self) -> None:
        place = self.place
        if place is None:
            return
        top = Text(" scope ", style="dim", no_wrap=True, overflow="ellipsis")
        top.append(safe_text.line(place.words, 60) + " ▾", "bold")
        only = [self.kind, "what wants attention" * self.wanting, "what was never delivered" * self.never]
        narrowed = ", ".join(each for each in only if each)
        top.append(f"  only {narrowed}" if narrowed else "", "yellow")
        if self.typed:
            top.append(f"  filter “{safe_text.line(self.typed, 30)}”", "dim")
        else:
            whole = not narrowed and place.key == tree.ALL
            top.append(actions.keyed("  {memories.scope} chooses") if whole else "  escape shows all", "dim")
        self.query_one("#place", OneLine).put(top)
        whole = len(place.scopes) > 1
        picked = [s for s in place.scopes if not whole or s.label in {"global", "project", "auto"}]
        pair = self.table.row
        if pair is not None and pair[1].flags and self.size.width < NARROW and not self.has_class("deep"):
            # The pane that says so is not there.
            words = "; ".join(flag_words(flag) for flag in pair[1].flags)
            self.query_one("#line", OneLine).put(
                Text(f" ! {safe_text.line(words, 300)}", "yellow", overflow="ellipsis")
            )
            return
        line = Text(no_wrap=True, overflow="ellipsis").append(" index ", "dim")
        found = [(scope, self.meter(scope)) for scope in picked[:3]]
        room = self.size.width >= NARROW
        for scope, meter in found:
            if meter is not None:
                line.append_text(meter_line(scope.label, meter.budget, 6 if whole else 20 if room else 12))
                line.append("    ")
        if not any(meter for _, meter in found):
            line.append("no MEMORY.md" if picked and picked[0].kind != "instructions" else "")
        self.query_one("#line", OneLine).put(line)

    def backlinks(self, scope: Scope) -> dict[str, list[str]]:
        """Name to the memories of a scope that link to it, found once a reading."""
        if scope.label not in self._links:
            found: dict[str, list[str]] = {}
            for row in self.rows.get(scope.label, []):
                for name in row.memory.links:
                    found.setdefault(name, []).append(row.memory.stem)
            self._links[scope.label] = found
        return self._links[scope.label]

    def glance(self, pair: Pair) -> Text:
        """What stands in the free rows below the list, where there is no pane beside it."""
        return glance_text(pair[1].memory) if self.has_class("narrow") else Text()

    @on(RowList.Moved, "#list")
    def _moved(self) -> None:
        if self.has_class("narrow"):
            self.show_lines()
        self.show_detail()
        wanted = [action.id for action in self.footer_actions()]
        if wanted != self._footed:
            self._footed = wanted
            self.frame()

    def aged(self) -> None:
        """Also in the detail."""
        super().aged()
        self.show_detail()

    def show_detail(self) -> None:
        """The memory under the cursor."""
        detail = self.query_one("#detail", Detail)
        pair = self.table.row
        if pair is None:
            detail.show("", Text("Nothing is chosen.", style="dim"))
            return
        scope, row = pair
        found = row.memory
        links = self.backlinks(scope)
        names = dict.fromkeys((found.stem, found.name))
        back = list(dict.fromkeys(each for name in names for each in links.get(name, ()) if each != found.stem))
        missing = [str(flag.data["name"]) for flag in row.flags if flag.code == "memories.link"]
        key = (found.path, found.origin_session)
        seeking = bool(found.origin_session) and key not in self._origins
        now = self.main.data.now()
        at = self.drafts.get(found.path)
        draft = (
            ""
            if at is None
            else f"you have a draft of this, {ago(at, now)}: {actions.key_of('memories.edit')} goes on with it"
        )
        born = self._origins.get(key)
        source = self._source(scope, found, born.title if born else "", now)
        facts = Facts(back, missing, self.meter(scope), self.outcomes, born, seeking, draft, source)
        text = memory_text(scope, row, facts, now)
        fresh = detail.key != found.path + self.sought
        if self.sought:
            fuzzy.mark([text], self.sought)
        detail.show(found.path + self.sought, text)
        if self.sought and fresh:  # to the first of the words that were sought
            detail.reveal(min((start for start, _ in fuzzy.spans(text.plain, self.sought)), default=0))
        if seeking:
            self.set_timer(REST_SECONDS, lambda: self._rested(pair))

    def _source(self, scope: Scope, found: "Memory", title: str, now: float) -> str:
        from memtui.core.memories import origin

        return present.source(origin.source(scope, found, self.made), title, now)

    def _rested(self, pair: Pair) -> None:
        if self.table.row is pair:
            self._seek(pair)

    @work(thread=True, exclusive=True, group="origin")
    def _seek(self, pair: Pair) -> None:
        from memtui.core.memories import origin

        worker = get_current_worker()
        found = pair[1].memory
        told = time.monotonic()

        def go_on(share: float) -> bool:
            nonlocal told
            if time.monotonic() - told > TOLD_SECONDS and not worker.is_cancelled and self.is_attached:
                told = time.monotonic()
                self.app.call_from_thread(self.tell, f"reading its transcript, {share:.0%}, escape stops")
            return not worker.is_cancelled

        began = told
        born = origin.of(self.main.data.env, found, go_on)
        if self.is_attached and (not worker.is_cancelled or (found.path, found.origin_session) in self._stopped):
            self._origins[found.path, found.origin_session] = born
            self.app.call_from_thread(self.show_detail)
            if told != began:
                self.app.call_from_thread(self.count)

    def stop_reading(self) -> bool:
        """Stop what is being read; False if nothing is. Without the memories that belong here there is no list."""
        groups = {"origin"} if self.begun else {"survey", "origin"}
        running = [worker for worker in self.workers if worker.group in groups and worker.is_running]
        for worker in running:
            if worker.group == "origin" and self.table.row is not None:
                found = self.table.row[1].memory
                self._stopped.add((found.path, found.origin_session))
            worker.cancel()
        return bool(running)

    def copied(self) -> str:
        """What y copies: the memory that is shown."""
        return self.table.row[1].memory.raw.decode("utf-8", "replace") if self.table.row else ""
