"""Memories: what the agent remembers, by scope."""

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from memtui.core import clock, fs, index_budget, memory, trust
from memtui.core.errors import MemtuiError
from memtui.core.memory import Memory
from memtui.core.scopes import Scope
from memtui.core.survey import Row
from memtui.core.words import age
from memtui.tui import fuzzy, safe
from memtui.tui.screens.base import Base
from memtui.tui.screens.memory_text import memory_text
from memtui.tui.widgets.ask import Choice, Line, Sure
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.rows import Column, RowList

NARROW = 110
SORTS = ("name", "age", "type", "deliveries", "size")
EMPTY = """No memories here.
n makes one; approved drafts come from the inbox (2)."""


@dataclass
class Place:
    """A line of the scope pane: a scope (or all of them), and how many memories it holds."""

    key: str
    label: str
    scope: Scope | None
    count: int


class Memories(Base):
    """Scopes on the left, memories in the middle, the memory itself on the right."""

    group: ClassVar[str] = "memories"

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Scope] = []
        self.rows: dict[str, list[Row]] = {}
        self.kind = ""
        self.sort = "name"
        self.typed = ""

    def body(self) -> ComposeResult:
        """Three panes; on a narrow screen the list alone, and the memory over it."""
        with Horizontal(id="panes"):
            yield RowList[Place](
                [Column("scope"), Column("", 5, right=True)], self._draw_place, lambda p: p.key, id="scopes"
            )
            with Vertical(id="middle"):
                yield RowList[tuple[Scope, Row]](
                    [
                        Column("", 1),
                        Column("name", 26),
                        Column("!", 1),
                        Column("age", 4, right=True),
                        Column("sent", 5, right=True),
                        Column("description", from_width=60),
                    ],
                    self._draw,
                    lambda pair: pair[1].memory.path,
                    empty=EMPTY,
                    id="list",
                )
                yield Input(placeholder="filter: name, description, type", id="filter")
                yield Static(id="line")
            yield Detail(id="detail")

    def on_mount(self) -> None:
        """Start in the list."""
        super().on_mount()
        self.table.focus()
        self.reload()

    @property
    def table(self) -> RowList[tuple[Scope, Row]]:
        """The memories."""
        return self.query_one("#list", RowList)

    @property
    def places(self) -> RowList[Place]:
        """The scopes."""
        return self.query_one("#scopes", RowList)

    # reading

    def reload(self) -> None:
        """Read all scopes in a worker; what was read stays on the screen meanwhile."""
        self._survey()

    @work(thread=True, exclusive=True, group="survey")
    def _survey(self) -> None:
        data = self.main.data
        found = data.scopes(every=True)
        rows = data.survey(found, lambda done: self._progress(done, len(found)))
        self.app.call_from_thread(self._show, found, rows)

    def _progress(self, done: int, total: int) -> bool:
        if total > 20 and done % 10 == 0:
            self.app.call_from_thread(self.tell, f"reading {done} of {total} scopes")
        return self.is_attached

    def _show(self, found: list[Scope], rows: dict[str, list[Row]]) -> None:
        self.found, self.rows = found, rows
        shown = [s for s in found if s.exists or s.kind in {"global", "project", "auto"}]
        places = [Place("", "all", None, sum(len(each) for each in rows.values()))]
        places += [Place(s.label, s.label, s, len(rows.get(s.label, ()))) for s in shown]
        self.places.show(places)
        self.fill()

    def fill(self) -> None:
        """Put the rows of the chosen scope through the filter and the order."""
        place = self.places.row
        chosen = [place.scope] if place and place.scope else self.found
        pairs = [(scope, row) for scope in chosen for row in self.rows.get(scope.label, [])]
        if self.kind:
            pairs = [pair for pair in pairs if (pair[1].memory.type or "-") == self.kind]
        pairs.sort(key=lambda pair: self._order(pair[1]))
        total = len(pairs)
        pairs = fuzzy.select(pairs, self.typed, _searched)
        self.table.empty = EMPTY if not self.typed else f"Nothing fits “{self.typed}”.\nescape clears the filter."
        self.table.show(pairs)
        words = f"{len(pairs)} of {total}" if len(pairs) != total else f"{total} memories"
        self.tell(words + (f" · {self.kind}" if self.kind else "") + f" · by {self.sort}")
        self._show_line(place.scope if place else None)
        self.show_detail()

    def _order(self, row: Row) -> tuple[object, ...]:
        found = row.memory
        return {
            "name": (found.name.casefold(),),
            "age": (-found.changed_at, found.name),
            "type": (found.type or "~", found.name),
            "deliveries": (-row.deliveries, found.name),
            "size": (-found.size, found.name),
        }[self.sort]

    def _show_line(self, scope: Scope | None) -> None:
        text = ""
        if scope is not None and scope.kind != "instructions":
            try:
                found = index_budget.budget(fs.read_bytes(scope.index_path), agent=scope.kind == "agent")
                below = f" · {len(found.below)} below the cut" if found.below else ""
                text = f"MEMORY.md {found.lines}/{found.max_lines} lines, {found.units:,}/{found.max_units:,}{below}"
            except OSError:
                text = "no MEMORY.md"
        self.query_one("#line", Static).update(Text(text, no_wrap=True))

    # drawing

    def _draw_place(self, place: Place) -> list[Text]:
        style = "bold" if place.scope is None else "dim" if not place.count else ""
        return [Text(safe.line(place.label), style=style), Text(str(place.count), style="dim")]

    def _draw(self, pair: tuple[Scope, Row]) -> list[Text]:
        _, row = pair
        found = row.memory
        name = Text(safe.line(found.name, 200), style="red" if found.broken else "")
        description = Text(safe.line(found.description, 400), style="dim")
        for text in (name, description):
            for start, end in fuzzy.spans(text.plain, self.typed):
                text.stylize("bold underline", start, end)
        return [
            Text((found.type or "-")[0], style="bold" if found.type in memory.TYPES else "dim"),
            name,
            Text("!" if row.flags else "", style="bold yellow"),
            Text(age(found.changed_at, self.main.data.now()), style="dim"),
            Text(f"{row.deliveries}×" if row.deliveries else "", style="dim"),
            description,
        ]

    @on(RowList.Moved, "#list")
    def show_detail(self) -> None:
        """The memory under the cursor."""
        pair = self.table.row
        detail = self.query_one("#detail", Detail)
        if pair is None:
            detail.show("", Text("Nothing is chosen.", style="dim"))
            return
        scope, row = pair
        back = [each.memory.name for each in self.rows.get(scope.label, []) if row.memory.stem in each.memory.links]
        detail.show(row.memory.path, memory_text(scope, row, back, self.main.data.now()))

    @on(RowList.Moved, "#scopes")
    def _scope_moved(self) -> None:
        self.fill()

    @on(RowList.Opened, "#scopes")
    def _scope_opened(self) -> None:
        self.table.focus()

    @on(RowList.Opened, "#list")
    def do_memories_open(self) -> None:
        """Over the list on a narrow screen, else to the right."""
        self.add_class("deep")
        self.query_one("#detail", Detail).focus()

    def on_resize(self) -> None:
        """One pane or three."""
        self.set_class(self.size.width < NARROW, "narrow")
        super().on_resize()

    def key_escape(self) -> None:
        """Back: from the memory to the list, from the filter to everything, from marks to none."""
        if self.query_one("#detail", Detail).has_focus:
            self.remove_class("deep")
            self.table.focus()
        elif not self.table.clear_marks():
            self._filter("")

    def copied(self) -> str:
        """What y copies: the memory that is shown."""
        return self.table.row[1].memory.raw.decode("utf-8", "replace") if self.table.row else ""

    # filter

    def do_memories_filter(self) -> None:
        """Open the filter."""
        line = self.query_one("#filter", Input)
        line.add_class("shown")
        line.focus()

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        self.typed = event.value
        self.fill()

    @on(Input.Submitted, "#filter")
    def _filtered(self) -> None:
        self.table.focus()

    def _filter(self, typed: str) -> None:
        line = self.query_one("#filter", Input)
        line.value = typed
        line.set_class(bool(typed), "shown")
        self.table.focus()

    def do_memories_type_filter(self) -> None:
        """One type only."""
        kinds = sorted({row.memory.type or "-" for rows in self.rows.values() for row in rows})

        def then(kind: str | None) -> None:
            if kind is not None:
                self.kind = kind
                self.fill()

        self.app.push_screen(Choice("Show", [("", "all types"), *[(k, k) for k in kinds]], self.kind), then)

    def do_memories_sort(self) -> None:
        """The next order."""
        self.sort = SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)]
        self.table.redraw()
        self.fill()

    def do_memories_mark(self) -> None:
        """Mark."""
        self.table.toggle_mark()

    def do_memories_range(self) -> None:
        """Mark a range."""
        self.table.mark_range()

    # changing

    def why_not(self, action_id: str) -> str:
        """What needs a memory, or a scope that may be written."""
        if action_id in {"memories.new", "memories.restore", "memories.filter", "memories.search", "memories.sort"}:
            return ""
        chosen = self.table.chosen()
        needs = action_id.partition(".")[2] not in {"type_filter", "trust", "range"}
        if needs and not chosen:
            return "There is no memory under the cursor."
        changes = {"edit", "editor", "trash", "purge", "rename", "retype", "move"}
        if action_id.partition(".")[2] in changes:
            for scope, row in chosen:
                if not scope.writable:
                    return f"{row.memory.name} is read-only: it is one of your instructions, edit it in your editor."
        return ""

    def _each(self, change: "object", words: str) -> None:
        """Run a change on every chosen memory, tell how it went, and read again."""
        assert callable(change)
        done = 0
        for scope, row in self.table.chosen():
            try:
                change(scope, row.memory)
                done += 1
            except MemtuiError as error:
                self.main.fail(error)
                break
        if done:
            self.table.clear_marks()
            self.main.say(f"{words}: {done}. z takes it back.")
        self.main.read()

    def do_memories_trash(self) -> None:
        """Move to the trash."""
        store = self.main.data.store()
        self._each(lambda _, found: store.delete(found), "Moved to the trash")

    def do_memories_purge(self) -> None:
        """Delete for good, after asking."""
        names = ", ".join(row.memory.name for _, row in self.table.chosen()[:5])
        store = self.main.data.store()

        def then(answer: str | None) -> None:
            if answer:
                self._each(lambda _, found: store.purge(store.delete(found)), "Deleted for good")

        self.app.push_screen(Sure(f"Delete {names} for good? This can't be undone.", "Delete for good"), then)

    def do_memories_retype(self) -> None:
        """Another type."""
        store = self.main.data.store()

        def then(kind: str | None) -> None:
            if kind:
                self._each(lambda _, found: store.retype(found, kind), f"Made {kind}")

        current = self.table.chosen()[0][1].memory.type
        self.app.push_screen(Choice("Type", [(kind, kind) for kind in memory.TYPES], current), then)

    def _to_scope(self, question: str, words: str, act: str) -> None:
        store = self.main.data.store()
        targets = [s for s in self.found if s.writable and not s.problem]

        def then(label: str | None) -> None:
            scope = next((s for s in targets if s.label == label), None)
            if scope is not None:
                self._each(lambda _, found: getattr(store, act)(found, scope), f"{words} {label}")

        self.app.push_screen(Choice(question, [(s.label, f"{s.label}  {s.directory}") for s in targets]), then)

    def do_memories_move(self) -> None:
        """To another scope."""
        self._to_scope("Move to", "Moved to", "move")

    def do_memories_copy(self) -> None:
        """A copy in another scope."""
        self._to_scope("Copy to", "Copied to", "copy")

    def do_memories_rename(self) -> None:
        """Another name."""
        found = self.table.chosen()[0][1].memory
        store = self.main.data.store()

        def then(name: str | None) -> None:
            if name and name != found.stem:
                self._try(lambda: store.rename(found, name), f"Renamed to {name}. z takes it back.")

        self.app.push_screen(Line(f"Rename {found.name} to", found.stem), then)

    def do_memories_restore(self) -> None:
        """Choose one of the trash."""
        store = self.main.data.store()
        now = self.main.data.now()
        items = store.trash()
        if not items:
            self.main.say("The trash is empty.")
            return

        def then(trash_id: str | None) -> None:
            if trash_id:
                self._try(lambda: store.restore(trash_id), "It is back.")

        rows = [(i.id, f"{i.memory.name}  {i.scope_label}  {age(clock.parse(i.time), now)}") for i in items]
        self.app.push_screen(Choice("Bring back", rows), then)

    def do_memories_trust(self) -> None:
        """Trust what the project's scope holds now."""
        scope = next((s for s in self.found if s.kind == "project" and s.exists), None)
        if scope is None:
            self.main.say("This project has no memories of its own.")
            return
        status = trust.trust(self.main.data.root, scope.directory)
        self.main.say(f"Trusted {len(status.trusted)} memories of this project.")
        self.main.read()

    def _try(self, change: "object", words: str) -> None:
        assert callable(change)
        try:
            change()
            self.main.say(words)
        except MemtuiError as error:
            self.main.fail(error)
        self.main.read()


def _searched(pair: tuple[Scope, Row]) -> str:
    found: Memory = pair[1].memory
    return f"{found.name} {found.description} {found.type} {pair[0].label}"
