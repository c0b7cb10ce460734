"""Guidance, written from anywhere: what, for whom, how urgent, until when. What is typed outlives a crash."""

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, Select, Static, TextArea

from memtui.core import clock, config, drafts, guide, paths, receipts, render, sessions, titles
from memtui.core.errors import MemtuiError
from memtui.core.review import Waiting
from memtui.core.words import age
from memtui.hooks import fit
from memtui.tui import safe
from memtui.tui.data import Data

KEEP_SECONDS = 0.4
SESSIONS = 8
RECORDS = 300
PROJECT, EVERYWHERE, AGENT, PATH = "project", "global", "agent:", "path:"
NEXT, URGENT = "next", "urgent"
WHEN = {NEXT: "with the next prompt", URGENT: "urgent: before the next tool use"}
ASKED = {AGENT: "the agent's name, as in reviewer", PATH: "files that a tool touches, as in src/**"}


@dataclass(frozen=True)
class Note:
    """What stands in the form. `to` is project, global, session:ID, agent: or path:; `name` goes with the last two."""

    text: str = ""
    to: str = PROJECT
    name: str = ""
    urgent: bool = False
    expires: str = ""

    def addresses(self) -> list[str]:
        """As `guide.addresses` takes them."""
        if self.to in {PROJECT, EVERYWHERE}:
            return []
        return [self.to + self.name] if self.to in ASKED else [self.to]


def note_of(item: Waiting) -> Note:
    """The form's content for guidance that waits."""
    fields = item.entry.fields
    to, name = (EVERYWHERE if item.slug is None else PROJECT), ""
    first = fields.get("for", "").split(",")[0].strip()
    kind, colon, rest = first.partition(":")
    if colon:
        to, name = (first, "") if kind == "session" else (kind + ":", rest)
    return Note(item.text, to, name, item.entry.flag("urgent"), fields.get("expires", ""))


class Compose(ModalScreen[bool]):
    """Write guidance and send it; with `item`, change what waits. `note` is what the form begins with."""

    DEFAULT_CSS = """
    Compose { align: center middle; background: $background 60%; }
    Compose > Vertical { width: 90; max-width: 100%; height: 19; max-height: 100%; padding: 0 1; background: $panel; }
    Compose Horizontal { height: 1; }
    Compose .label { width: 9; color: $text-muted; }
    Compose Input { border: none; height: 1; padding: 0 1; width: 1fr; background: $surface; }
    Compose Input:focus { background: $boost; }
    Compose #name { display: none; }
    Compose #name.shown { display: block; }
    Compose Select { width: 2fr; height: 1; }
    Compose Select.-textual-compact > SelectCurrent { padding: 0 1; }
    Compose TextArea { height: 1fr; border: none; margin: 1 0; padding: 0 1; }
    Compose #when { width: 1fr; }
    Compose #expires { width: 1fr; }
    Compose .told { height: auto; max-height: 3; color: $text-muted; }
    Compose .told.wrong { color: $text-error; }
    Compose .hint { height: 1; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "send", "send", priority=True),
        Binding("escape", "leave", "later"),
        Binding("ctrl+g", "discard", "discard", priority=True),
    ]

    def __init__(self, data: Data, note: Note | None = None, item: Waiting | None = None, key: str = "") -> None:
        super().__init__()
        self.data, self.item = data, item
        self.draft = f"guidance-{item.id}" if item else f"guidance{'-' + key if key else ''}"
        self.given = note or (note_of(item) if item else Note())
        kept = drafts.load(data.root, self.draft)
        self.note = self.given
        if kept:
            texts = {name: str(kept.get(name, "")) for name in ("text", "to", "name", "expires")}
            self.note = Note(**texts, urgent=bool(kept.get("urgent")))
        self.slugs: dict[str, str] = {}
        self._timer: Timer | None = None
        self._done = False

    # the form

    def compose(self) -> ComposeResult:
        """For whom, how, until when; the text; what becomes of it."""
        with Vertical():
            yield Static(Text("Change guidance" if self.item else "Guidance for the agent", style="bold"))
            with Horizontal():
                yield Static("to", classes="label")
                yield Select(self._places([]), value=self._fitting(), allow_blank=False, compact=True, id="to")
                yield Input(safe.line(self.note.name), id="name")
            with Horizontal():
                yield Static("when", classes="label")
                whens = [(Text(words), value) for value, words in WHEN.items()]
                chosen = URGENT if self.note.urgent else NEXT
                yield Select(whens, value=chosen, allow_blank=False, compact=True, id="when")
            with Horizontal():
                yield Static("expires", classes="label")
                placeholder = "never; or 30m, 2h, 3d, 2026-12-31T18:00"
                yield Input(safe.line(self.note.expires), placeholder=placeholder, id="expires")
            text = safe.clean(self.note.text)
            placeholder = "What the agent should know. It is told once."
            yield TextArea(text, id="text", placeholder=placeholder, compact=True, soft_wrap=True)
            yield Static(classes="told")
            hint = Text(no_wrap=True, overflow="ellipsis")
            verb = "saves" if self.item else "sends"
            for key, word in (("ctrl+s", verb), ("tab", "next field"), ("escape", "later"), ("^g", "discard")):
                hint.append(key, style="bold")
                hint.append(f" {word}   ")
            yield Static(hint, classes="hint")

    def _fitting(self) -> str:
        known = {value for _, value in self._places([])}
        return self.note.to if self.note.to in known else PROJECT

    def _places(self, found: "list[tuple[str, str]]") -> "list[tuple[Text, str]]":
        """The addressees: this project, everywhere, recent sessions (label, value), agents, paths."""
        places = [
            (Text(safe.line(f"this project: {self.data.facts.project}")), PROJECT),
            (Text("every project"), EVERYWHERE),
        ]
        places += [(Text(safe.line(words, 120)), value) for words, value in found]
        if self.note.to.startswith("session:") and self.note.to not in {value for _, value in found}:
            places.append((Text(safe.line(f"session {self.note.to[8:16]}")), self.note.to))
        places += [(Text("an agent, by name"), AGENT), (Text("whoever touches a path"), PATH)]
        return places

    def on_mount(self) -> None:
        """Start in the text; the sessions are looked up meanwhile."""
        self.app.clear_notifications()  # they would cover the keys
        area = self.query_one("#text", TextArea)
        area.focus()
        area.move_cursor(area.document.end)
        self._asked()
        self._say()
        self._sessions()

    @work(thread=True, exclusive=True, group="sessions")
    def _sessions(self) -> None:
        data = self.data
        found = []
        for each in sessions.collect(data.root, data.records(RECORDS))[:SESSIONS]:
            path = receipts.find_transcript(paths.config_dir(data.env), each.id)
            title = titles.first_words(path) if path else ""
            where = each.project.rstrip("/").rpartition("/")[2]
            when = age(clock.parse(each.last), data.now())
            words = f"session {each.id[:8]}  {when}  {where}" + (f"  “{title[:50]}”" if title else "")
            found.append((words, f"session:{each.id}", each.slug()))
        self.app.call_from_thread(self._show_sessions, found)

    def _show_sessions(self, found: "list[tuple[str, str, str]]") -> None:
        if not self.is_attached:
            return
        self.slugs = {value: slug for _, value, slug in found}
        select = self.query_one("#to", Select)
        wanted = self.note.to if self.note.to.startswith("session:") else str(select.value)
        with self.prevent(Select.Changed):
            select.set_options(self._places([(words, value) for words, value, _ in found]))
            select.value = wanted

    def read(self) -> Note:
        """What stands in the form."""
        return Note(
            self.query_one("#text", TextArea).text,
            str(self.query_one("#to", Select).value),
            self.query_one("#name", Input).value.strip(),
            self.query_one("#when", Select).value == URGENT,
            self.query_one("#expires", Input).value.strip(),
        )

    @on(Select.Changed, "#to")
    def _asked(self) -> None:
        to = str(self.query_one("#to", Select).value)
        line = self.query_one("#name", Input)
        line.set_class(to in ASKED, "shown")
        line.placeholder = ASKED.get(to, "")

    @on(Input.Changed)
    @on(Select.Changed)
    @on(TextArea.Changed)
    def _changed(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(KEEP_SECONDS, self._keep)
        self._say()

    def _say(self, words: str = "") -> None:
        """Say what went wrong, or how long the text is if that matters."""
        told = self.query_one(".told", Static)
        told.set_class(bool(words), "wrong")
        if not words:
            budget = config.number(self.data.settings(), "budget")
            units = render.units(self.query_one("#text", TextArea).text)
            words = f"{units:,} characters" if units > budget // 2 else ""
            if not words and self.note != self.given:
                words = "What you had typed before is here again; ^g discards it."
        told.update(safe.styled(words))

    # sending

    def _keep(self) -> None:
        if self._done:
            return
        found = self.read()
        try:
            if not found.text.strip() or found == self.given:
                drafts.drop(self.data.root, self.draft)
            else:
                drafts.save(self.data.root, self.draft, dict(vars(found)))
        except OSError as error:
            self._say(f"What you type can't be kept: {error.strerror}.")

    def _slug(self, note: Note) -> str | None:
        """The project whose inbox a note goes into, None for the global one: a session hears only its own project's."""
        if note.to == EVERYWHERE:
            return None
        own = self.item.slug if self.item is not None and self.item.slug else self.data.slug
        return self.slugs.get(note.to) or own

    def action_send(self) -> None:
        """Send it. What is wrong with it is said, and nothing that was typed is lost."""
        note = self.read()
        try:
            self._send(note)
        except MemtuiError as error:
            self._say(f"{error.message} {error.hint}")
            return
        except OSError as error:
            self._say(f"It can't be written: {error.strerror}.")
            return
        self._close(sent=True)

    def _addresses(self, note: Note) -> list[str]:
        """Whom it is for. The form shows one addressee; where that was not changed, the others stay."""
        if self.item is not None and (note.to, note.name) == (self.given.to, self.given.name):
            return [each for each in self.item.entry.fields.get("for", "").split(",") if each.strip()]
        return note.addresses()

    def _send(self, note: Note) -> None:
        data = self.data
        # What was not touched stays as it is in the file, with the characters that can't be shown.
        text = guide.text(self.given.text if note.text == safe.clean(self.given.text) else note.text)
        slug = self._slug(note)
        expires = note.expires or None
        fields = guide.fields("tui", self._addresses(note), note.urgent, expires, data.now())
        directory = paths.inbox_dir(data.root, slug)
        fit.check(data.settings(), data.now(), text, fields, "global" if slug is None else "project", directory)
        if self.item is not None:
            data.review().reword(self.item, directory, fields, text)
            words = "Changed."
        else:
            data.review().guide(directory, fields, text)
            when = "before the next tool use" if note.urgent else "with the next prompt"
            words = f"Left: it goes {when}." if note.to != PATH else "Left: it goes when a tool touches the path."
        self.app.notify(f"{words} z takes it back.", markup=False)

    def _close(self, *, sent: bool, forget: bool = False) -> None:
        self._done = True
        try:
            if sent or forget:
                drafts.drop(self.data.root, self.draft)
        except OSError:
            pass
        self.dismiss(sent)

    def action_leave(self) -> None:
        """Close; what was typed is here again the next time."""
        self._keep()
        self._close(sent=False)

    def action_discard(self) -> None:
        """Close, and forget what was typed."""
        self._close(sent=False, forget=True)
