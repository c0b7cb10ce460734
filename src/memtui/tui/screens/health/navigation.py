"""About in the health screen and out of it: to what a finding is about, by sections, to what fits some words."""

from textual import on
from textual.widgets import Input

from memtui.actions import Action
from memtui.core.base.finding import Finding
from memtui.core.health import fixes
from memtui.tui.model.remembered import State
from memtui.tui.screens.health.checks import Row
from memtui.tui.screens.health.fixes import Fixes
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.rows import RowList

# What a finding is about, as its `subject` begins, in words.
PLACES = {"memory": "the memory", "note": "the note", "index": "that index below"}


class Ways(Fixes):
    """Where the cursor can go from the health screen."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Row] = []
        self.typed = ""
        self.attention = False
        self._section = ""  # to go there once it is read

    @property
    def table(self) -> RowList[Row]:
        """The list."""
        return self.query_one("#list", RowList)

    # what is shown

    def as_left(self) -> None:
        """Filtered as the screen was left the last time."""
        left = State(self.main.data.root).get(self.group)
        text = left.get("text")
        self.typed = text if isinstance(text, str) else ""
        self.attention = left.get("attention") is True
        line = self.query_one("#filter", Input)
        with self.prevent(Input.Changed):
            line.value = self.typed
        line.set_class(bool(self.typed), "shown")

    def remember(self) -> None:
        """Keep how the screen is filtered."""
        state = State(self.main.data.root, read_only=self.main.read_only)
        state.put(self.group, {"text": self.typed, "attention": self.attention})

    def fill(self) -> None:
        """The rows that fit, under the headings that still have any."""
        words = self.typed.casefold().split()
        shown: list[Row] = []
        for row in self.rows:
            text = f"{row.title} {row.words}".casefold()
            wanted = row.mark in {"!", "✗"} or not self.attention
            if row.kind == "head" or (wanted and all(word in text for word in words)):
                if row.kind == "head" and shown and shown[-1].kind == "head" and (words or self.attention):
                    shown.pop()
                shown.append(row)
        if (words or self.attention) and shown and shown[-1].kind == "head":
            shown.pop()
        self.table.empty = "Nothing fits.\nescape shows everything again." if self.rows else "looking …"
        self.table.show(shown)
        self.count()

    def footer_actions(self) -> list[Action]:
        """What works on the line under the cursor stands first."""
        made: list[Action] = []
        there = self.found.hooks is not None and self.found.hooks.installed
        for action in super().footer_actions():
            if action.id == "health.install" and there and (self.row is None or self.row.kind != "event"):
                continue
            if not self.why_not(action.id):
                made.append(action)
        return made

    def count(self) -> None:
        """What is shown, on the right of the foot."""
        raise NotImplementedError

    def do_health_filter(self) -> None:
        """Type what is wanted."""
        line = self.query_one("#filter", Input)
        line.add_class("shown")
        line.focus()

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        self.typed = event.value
        self.fill()

    @on(Input.Submitted, "#filter")
    def _taken(self) -> None:
        self.query_one("#filter", Input).set_class(bool(self.typed), "shown")
        self.remember()
        self.table.focus()

    def do_health_attention(self) -> None:
        """Only problems, or everything."""
        self.attention = not self.attention
        self.remember()
        self.fill()

    def clear_filters(self) -> None:
        """Show everything again: first without the words, then also what is well."""
        line = self.query_one("#filter", Input)
        if self.typed or line.has_class("shown"):
            self.typed = ""
            with self.prevent(Input.Changed):
                line.value = ""
            line.remove_class("shown")
        elif self.attention:
            self.attention = False
        self.remember()
        self.fill()

    # sections

    def _firsts(self) -> list[int]:
        """The first line of every section that has any."""
        rows = self.table.rows
        return [n for n in range(1, len(rows)) if rows[n - 1].kind == "head" != rows[n].kind]

    def do_health_next_section(self) -> None:
        """To the first line of the next section."""
        after = [n for n in self._firsts() if n > self.table.cursor]
        if after:
            self._stand(after[0])

    def do_health_previous_section(self) -> None:
        """To the first line of this section, or of the one before."""
        before = [n for n in self._firsts() if n < self.table.cursor]
        if before:
            self._stand(before[-1])

    def to_section(self, title: str) -> None:
        """To a section by its title, once it is read."""
        self._section = title
        if self.rows:
            self._section = ""
            at = next((n for n, row in enumerate(self.table.rows) if row.key == f"head {title}"), None)
            if at is None and (self.typed or self.attention):
                self.clear_filters()
                self.to_section(title)
            elif at is not None:
                self._stand(at + 1)

    def _stand(self, at: int) -> None:
        """Put the cursor on a row, with what follows it in sight."""
        self.table.move_to(len(self.table.rows) - 1)
        self.table.move_to(at)
        self.table.focus()

    # to what it is about

    def place_of(self, row: Row | None) -> tuple[str, str]:
        """What a row is about: memory, note or index, and which; empty if nothing."""
        about = row.about if row else None
        kind, _, which = about.subject.partition(":") if isinstance(about, Finding) else ("", "", "")
        return kind, which

    def why_not(self, action_id: str) -> str:
        """What leads nowhere."""
        if action_id == "health.follow":
            return "" if self.place_of(self.row)[0] else "There is nothing to go to from here."
        return super().why_not(action_id)

    def do_health_follow(self) -> None:
        """To what the finding under the cursor is about."""
        kind, which = self.place_of(self.row)
        if kind == "memory":
            self.main.go_to_memory(which)
        elif kind == "note":
            self.main.go_to_note(fixes.note(self.main.data.root, f"note:{which}"))
        elif kind == "index":
            keys = [row.key for row in self.table.rows]
            if f"index {which}" in keys:
                self._stand(keys.index(f"index {which}"))

    @on(RowList.Opened, "#list")
    def _opened(self) -> None:
        """A setting or a mode opens for a change, a finding leads to what it is about; anything else in full."""
        row = self.row
        if row is not None and row.kind in {"mode", "setting"}:
            self.main.action_run("health.edit")
        elif self.place_of(row)[0]:
            self.main.action_run("health.follow")
        else:
            self.deepen()

    def deepen(self) -> None:
        """Into the detail, which on a narrow screen takes the place of the list."""
        self.add_class("deep")
        self.query_one("#detail", Detail).focus()

    def do_health_whole(self) -> None:
        """The line in full, over the whole screen."""
        self.add_class("whole")
        self.deepen()
