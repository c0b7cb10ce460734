"""Health: is the machinery in order? Findings with their fixes, hooks, budgets, errors, modes, settings."""

import time
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.worker import get_current_worker

from memtui import actions
from memtui.core.base.phrasing import many
from memtui.core.deliveries.statistics import percentile
from memtui.core.health.index_report import Report
from memtui.hooks.installer import checkup
from memtui.present import safe_text
from memtui.tui.model.plots import gauge
from memtui.tui.screens.health.checks import VALUE, Look, Row, look, rows
from memtui.tui.screens.health.navigation import PLACES, Ways
from memtui.tui.screens.health.text import health_glance, health_text
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.field import Field
from memtui.tui.widgets.glance import Glance
from memtui.tui.widgets.line import OneLine
from memtui.tui.widgets.rows import Column, RowList

NARROW = 100
# Cells of a gauge.
METER = 10
# Asking the client for its version starts a process.
CLIENT_SECONDS = 600.0


@dataclass
class Looked(Message):
    """Everything was looked at."""

    found: Look


class Health(Ways):
    """One list of all that was found, the line under the cursor in full beside it."""

    group: ClassVar[str] = "health"

    def __init__(self) -> None:
        super().__init__()
        self.found = Look()
        self._client_time = 0.0

    def body(self) -> ComposeResult:
        """The answer on top; the list; the detail."""
        yield OneLine(id="summary")
        with Horizontal(id="panes"):
            with Vertical(id="middle"):
                yield RowList[Row](
                    [Column("", 1), Column("", 18), Column("")],
                    self._draw,
                    lambda row: row.key,
                    empty="looking …",
                    header=False,
                    id="list",
                )
                yield Glance(key=actions.key_of("health.whole"), id="glance")
                yield Field(placeholder="words of a line", id="filter")
            yield Detail(id="detail")

    def on_mount(self) -> None:
        """Start in the list."""
        super().on_mount()
        self.as_left()
        self.table.focus()
        self.reload()

    @property
    def row(self) -> Row | None:
        """The line under the cursor."""
        return self.table.row

    def reload(self) -> None:
        """Look again, in a worker."""
        self._look()

    @work(thread=True, exclusive=True, group="look")
    def _look(self) -> None:
        worker = get_current_worker()
        data = self.main.data
        if data.client is None or time.monotonic() - self._client_time > CLIENT_SECONDS:
            if data.client is None:
                self.post_message(Looked(look(data, data.tally.events, [])))
            data.client = checkup.client_check(data.env)
            self._client_time = time.monotonic()
        self.post_message(Looked(look(data, data.tally.events, data.client)))
        if data.tally.count(lambda _: not worker.is_cancelled) and not worker.is_cancelled:
            self.post_message(Looked(look(data, data.tally.events, data.client)))

    def on_looked(self, message: Looked) -> None:
        """Show what was found; the cursor stays on its line, and starts on what is worst."""
        first = not self.rows
        self.found = message.found
        self.rows = rows(message.found, self.main.data.now())
        self.fill()
        if first:
            self.table.move_to(1)
        if self._section:
            self.to_section(self._section)
        self.query_one("#summary", OneLine).put(self._summary())
        self.main.data.facts.waiting[self.group] = self.found.problems
        self.frame()
        self.show_detail()

    def count(self) -> None:
        """How many lines are shown, or how many are to be fixed."""
        shown = sum(row.kind != "head" for row in self.table.rows)
        total = sum(row.kind != "head" for row in self.rows)
        count = self.found.problems
        self.tell(f"{shown} of {total}" if shown < total else f"{count} to fix" if count else "all good")

    def _summary(self) -> Text:
        text = Text(" ", no_wrap=True, overflow="ellipsis", end="")
        count = self.found.problems
        text.append(
            f"! {many(count, 'problem')} to fix" if count else "✓ All good", style="bold yellow" if count else "green"
        )
        hooks = self.found.hooks
        if hooks is not None and hooks.installed:
            places = ", ".join(dict.fromkeys(each.source for each in hooks.entries))
            text.append(f" · {many(len(hooks.entries), 'hook')} ({places})")
        else:
            text.append(f" · no hooks installed: {actions.key_of('health.install')} installs them", style="bold")
        times = [value for each in self.found.times.values() for value in each]
        if times:
            text.append(f" · p50 {percentile(times, 0.5):.0f} p95 {percentile(times, 0.95):.0f} ms", style="dim")
        return text

    def _draw(self, row: Row) -> list[Text]:
        if row.kind == "head":
            return [
                Text(row.mark, style="dim"),
                Text(row.title, style="bold"),
                Text(safe_text.line(row.words, 200), style="dim"),
            ]
        quiet = row.kind == "finding" and row.mark == "✓"
        if row.kind == "index" and isinstance(row.about, Report) and row.about.index.raw:
            words = gauge(row.about.budget.share, METER)
            words.pad_right(VALUE + 1 - len(words))
            words.append(safe_text.line(row.words, 400))
            return [Text(row.mark, style=row.style), Text(safe_text.line(row.title, 100)), words]
        return [
            Text(row.mark, style=row.style),
            Text(safe_text.line(row.title, 100), style="dim" if quiet else ""),
            Text(safe_text.line(row.words, 400), style="dim" if quiet else ""),
        ]

    @on(RowList.Moved, "#list")
    def show_detail(self) -> None:
        """The line under the cursor, in full; and the keys for it."""
        self.frame()
        row = self.row
        detail = self.query_one("#detail", Detail)
        if row is None:
            detail.show("", Text("looking …", style="dim"))
            return
        fix = self.fix_of(row)
        go = PLACES.get(self.place_of(row)[0], "")
        now = self.main.data.now()
        detail.show(row.key, health_text(row, self.found, fix[0] if fix else "", now, go))
        self.query_one(Glance).show(*health_glance(row, self.found, fix[0] if fix else "", now, go))

    def on_resize(self) -> None:
        """One pane or two."""
        self.set_class(self.size.width < NARROW, "narrow")
        super().on_resize()

    def key_escape(self) -> None:
        """From the detail back to the list; from a filter to everything."""
        if self.has_class("deep"):
            self.remove_class("deep", "whole")
        else:
            self.clear_filters()
        self.table.focus()

    def copied(self) -> str:
        """What y copies: the line in full."""
        return self.query_one("#detail", Detail).plain
