"""Guidance, written from anywhere: what, for whom, how urgent, until when. What is typed outlives a crash."""

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Select, Static, TextArea

from memtui import actions
from memtui.core.base import clock, ids, paths
from memtui.core.base.errors import ConflictError, MemtuiError, UsageError
from memtui.core.base.phrasing import age, until
from memtui.core.client import titles, transcript
from memtui.core.deliveries import blocks as delivery_blocks
from memtui.core.deliveries import sessions
from memtui.core.inbox import claims, guidance
from memtui.core.memories import memory
from memtui.core.review.waiting import Waiting
from memtui.core.settings import config
from memtui.present import safe_text, unheard
from memtui.tui.dialogs import secret
from memtui.tui.dialogs.dialog import Keys, Typed, form_keys
from memtui.tui.model import autosave
from memtui.tui.model.data import Data
from memtui.tui.widgets.body import Body
from memtui.tui.widgets.field import Field, Labelled

SESSIONS = 8
RECORDS = 300
PROJECT, EVERYWHERE, SESSION = "project", "global", "session:"
NEXT, URGENT = "next", "urgent"
WHEN = {NEXT: "with the next prompt", URGENT: "urgent: before the next tool use"}
WHO = {"": "any, a script's too (claude -p)", claims.PEOPLE: "only those of people, not of scripts"}
LINES = ("agent", "path", "expires")
MOVED = "It was changed by somebody else since you typed this: saving shows both."
PLACEHOLDERS = {
    "agent": "any agent; or a name, as reviewer",
    "path": "always; or files that a tool touches, as src/**",
    "expires": "never; or 30m, 2h, 3d, 18:00, tomorrow, 2026-12-31",
}


@dataclass(frozen=True)
class Note:
    """What stands in the form. `to` is project, global or session:ID; `who` (people, or empty), `agent` and `path`
    narrow that, and all hold."""

    text: str = ""
    to: str = PROJECT
    agent: str = ""
    path: str = ""
    urgent: bool = False
    expires: str = ""
    who: str = ""

    def addresses(self) -> list[str]:
        """As `guide.addresses` takes them."""
        found = [self.to] if self.to.startswith(SESSION) else []
        found += [self.who] if self.who else []
        found += [f"agent:{self.agent}"] if self.agent else []
        return found + ([f"path:{self.path}"] if self.path else [])


def note_of(item: Waiting) -> Note:
    """The form's content for guidance that waits."""
    fields = item.entry.fields
    named = {kind: name for kind, _, name in (each.strip().partition(":") for each in fields.get("for", "").split(","))}
    to = EVERYWHERE if item.slug is None else PROJECT
    to = SESSION + named["session"] if named.get("session") else to
    who = claims.PEOPLE if claims.PEOPLE in named else ""
    end = fields.get("expires", "")
    return Note(item.text, to, named.get("agent", ""), named.get("path", ""), item.entry.flag("urgent"), end, who)


def blank(data: Data, text: str = "", to: str = PROJECT) -> Note:
    """A new note, for whom the settings say."""
    return Note(text, to, who="".join(guidance.audience([], data.setting("guide_to"))))


class Compose(Typed[str | None]):
    """Write guidance and send it; with `item`, change what waits. `note` is what the form begins with; `home` (slug,
    name) the project it is for, if not this one. Ends with the text that was sent."""

    DEFAULT_CSS = """
    Compose > Vertical { height: 25; max-height: 100%; padding: 0 1; background: $panel; }
    Compose Select { width: 1fr; height: 1; }
    Compose Select.-textual-compact > SelectCurrent { padding: 0 1; }
    Compose Body { height: 1fr; min-height: 3; margin: 1 0; }
    Compose .told { height: auto; min-height: 2; max-height: 4; color: $text-muted; }
    Compose .told.wrong { color: $text-error; }
    """
    across: ClassVar[int] = 90
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "send", "send", priority=True),
        Binding("escape", "leave", "keep for later"),
        Binding("ctrl+g", "discard", "discard", priority=True),
    ]

    def __init__(
        self,
        data: Data,
        note: Note | None = None,
        item: Waiting | None = None,
        key: str = "",
        home: tuple[str | None, str] = (None, ""),
    ) -> None:
        super().__init__()
        own = home[0] in {None, data.slug}
        self.slug, self.project = (data.slug, data.facts.project) if own else (str(home[0]), home[1])
        self.data, self.item = data, item
        self.draft = f"guidance-{item.id}" if item else f"guidance{'-' + key if key else ''}"
        self.given = note or (note_of(item) if item else blank(data))
        kept = autosave.load(data.root, self.draft)
        self.note = self.given
        if kept:
            texts = {name: str(kept.get(name, "")) for name in ("text", "to", "who", *LINES)}
            self.note = Note(**texts, urgent=bool(kept.get("urgent")))
        own_base = _base(item)
        self.base = str(kept.get("base", own_base))
        self.moved = self.base != own_base
        self.slugs: dict[str, str] = {}
        self._done = False

    # the form

    def body(self) -> ComposeResult:
        """The text; for whom, how, until when; what becomes of it."""
        with Vertical():
            title = "Change guidance" if self.item else "Guidance for the agent"
            title += f" in {self.project}" if self.slug != self.data.slug else ""
            yield Static(safe_text.styled(title, "bold"))
            placeholder = "What the agent should know. It is told once."
            yield Body(
                safe_text.clean(self.note.text), id="text", placeholder=placeholder, compact=True, soft_wrap=True
            )
            whens = [(Text(words), value) for value, words in WHEN.items()]
            chosen = URGENT if self.note.urgent else NEXT
            to = Select(self._places([]), value=self._fitting(), allow_blank=False, compact=True, id="to")
            yield Labelled("to", to)
            whose = [(Text(words), value) for value, words in WHO.items()]
            who = self.note.who if self.note.who in WHO else ""
            yield Labelled("sessions", Select(whose, value=who, allow_blank=False, compact=True, id="who"))
            yield Labelled("only agent", self._line("agent"))
            yield Labelled("only files", self._line("path"))
            yield Labelled("when", Select(whens, value=chosen, allow_blank=False, compact=True, id="when"))
            yield Labelled("expires", self._line("expires"))
            yield Static(classes="told")

    def _line(self, name: str) -> Field:
        return Field(safe_text.line(getattr(self.note, name)), placeholder=PLACEHOLDERS[name], id=name)

    def keys(self) -> Keys:
        """As in every form."""
        return form_keys("save" if self.item else "send")

    def _fitting(self) -> str:
        known = {value for _, value in self._places([])}
        return self.note.to if self.note.to in known else PROJECT

    def _places(self, found: "list[tuple[str, str]]") -> "list[tuple[Text, str]]":
        """The addressees: this project, everywhere, recent sessions (label, value)."""
        places = [
            (
                Text(safe_text.line(f"{'this' if self.slug == self.data.slug else 'the'} project: {self.project}")),
                PROJECT,
            ),
            (Text("every project"), EVERYWHERE),
        ]
        places += [(Text(safe_text.line(words, 120)), value) for words, value in found]
        if self.note.to.startswith(SESSION) and self.note.to not in {value for _, value in found}:
            places.append((Text(safe_text.line(f"session {self.note.to[8:16]}")), self.note.to))
        return places

    def on_mount(self) -> None:
        """Start in the text; the sessions are looked up meanwhile."""
        area = self.query_one("#text", TextArea)
        area.focus()
        area.move_cursor(area.document.end)
        self._say()
        self._sessions()

    @work(thread=True, exclusive=True, group="sessions")
    def _sessions(self) -> None:
        data = self.data
        found = []
        finder = transcript.Finder(paths.config_dir(data.env))
        for each in sessions.collect(data.root, data.records(RECORDS))[:SESSIONS]:
            path = finder.find(each.id)
            title = titles.first_words(path) if path else ""
            where = each.project.rstrip("/").rpartition("/")[2]
            when = age(clock.parse(each.last), data.now())
            words = f"session {each.id[:8]}  {when}  {where}" + (f"  “{title[:50]}”" if title else "")
            found.append((words, SESSION + each.id, each.slug))
        self.app.call_from_thread(self._show_sessions, found)

    def _show_sessions(self, found: "list[tuple[str, str, str]]") -> None:
        if not self.is_attached:
            return
        self.slugs = {value: slug for _, value, slug in found}
        select = self.query_one("#to", Select)
        wanted = self.note.to if self.note.to.startswith(SESSION) else str(select.value)
        with self.prevent(Select.Changed):
            select.set_options(self._places([(words, value) for words, value, _ in found]))
            select.value = wanted

    def read(self) -> Note:
        """What stands in the form."""
        typed = {name: self.query_one(f"#{name}", Input).value.strip() for name in LINES}
        return Note(
            self.query_one("#text", TextArea).text,
            str(self.query_one("#to", Select).value),
            urgent=self.query_one("#when", Select).value == URGENT,
            who=str(self.query_one("#who", Select).value),
            **typed,
        )

    @on(Input.Changed)
    @on(Select.Changed)
    @on(TextArea.Changed)
    def _changed(self) -> None:
        self.keep_soon()
        self._say()

    def _say(self, wrong: str = "") -> None:
        """Say what went wrong; else whom it reaches, when, and until when, and what stands against it."""
        note = self.read()
        text = safe_text.styled(wrong and f"! {wrong}")
        if not wrong:
            budget = config.number(self.data.settings(), "budget")
            units = delivery_blocks.units(note.text)
            words = [self._reach(note)]
            words += [f"{units:,} characters."] if units > budget // 2 else []
            words += ["What you had typed before is here again; ^g discards it."] if self.note != self.given else []
            words += [MOVED] if self.moved else []
            looks = secret.words(note.text, self._before())
            words += [f"{looks} ^s asks before it is kept."] if looks else []
            deaf = unheard.keyed(self.data.unheard())
            text = safe_text.styled(" ".join(words)).append(
                f"\n! {deaf[:1].upper()}{deaf[1:]}." if deaf else "", "bold yellow"
            )
        told = self.query_one(".told", Static)
        told.set_class(bool(wrong), "wrong")
        told.update(text)

    def _reach(self, note: Note) -> str:
        """In a sentence, what will happen."""
        whom = {PROJECT: f"a session of {self.project}", EVERYWHERE: "any session"}
        words = ["Told once, to " + whom.get(note.to, f"session {note.to[8:16]}")]
        words += ["that a person holds"] if note.who else []
        words += [f"of the agent {safe_text.line(note.agent, 40)}"] if note.agent else []
        words += (
            [f"when a tool touches {safe_text.line(note.path, 40)}"]
            if note.path
            else [WHEN[URGENT if note.urgent else NEXT]]
        )
        if note.expires:
            try:
                end = guidance.expiry(note.expires, self.data.now())
            except UsageError:
                words.append(f"until … “{safe_text.line(note.expires, 20)}”?")
            else:
                words.append(f"until {_clock(end, self.data.now())} ({until(end, self.data.now())})")
        return ", ".join(words) + "."

    # sending

    def keep(self) -> None:
        """Keep what was typed, if there is anything."""
        if self._done:
            return
        found = self.read()
        try:
            if not found.text.strip() or found == self.given:
                autosave.drop(self.data.root, self.draft)
            else:
                autosave.save(self.data.root, self.draft, {**vars(found), "base": self.base})
        except OSError as error:
            self._say(f"What you type can't be kept: {error.strerror}.")

    def _slug(self, note: Note) -> str | None:
        """The project whose inbox a note goes into, None for the global one: a session hears only its own project's."""
        if note.to == EVERYWHERE:
            return None
        return self.slugs.get(note.to) or self.slug

    def action_send(self) -> None:
        """Send it. What is wrong with it is said, and nothing that was typed is lost."""
        if self.item is not None and self.base != _base(self.item):
            self._ask(self.item)
            return
        note = self.read()
        if secret.asks(self, note.text, self._before(), self.action_send):
            return
        try:
            text = self._send(note)
        except MemtuiError as error:
            there = self._there() if isinstance(error, ConflictError) else None
            if there is not None:
                self._ask(there)
            else:
                self._say(f"{error.message} {error.hint}")
            return
        except OSError as error:
            self._say(f"It can't be written: {error.strerror}.")
            return
        self._close(text)

    def _before(self) -> str:
        """The text that the note has already, whose secrets are no news."""
        return self.item.text if self.item is not None else ""

    def _there(self) -> Waiting | None:
        """The note as it stands in its inbox now, if somebody changed it."""
        was = self.item
        if was is None:
            return None
        found = [each for each in self.data.waiting(every=True) if each.kind == was.kind and each.id == was.id]
        return next((each for each in found if (each.text, each.entry.fields) != (was.text, was.entry.fields)), None)

    def _ask(self, there: Waiting) -> None:
        """Somebody changed the note meanwhile: show both, and ask."""
        from memtui.tui.dialogs.conflict import MINE, THEIRS, Conflict

        def then(answer: str | None) -> None:
            if answer == MINE:
                self.item, self.base, self.moved = there, _base(there), False
                self.action_send()
            elif answer == THEIRS:
                self._close(None, forget=True)

        words = _lines(note_of(there)), _lines(self.read())
        self.app.push_screen(Conflict(memory.from_bytes("/this note", "", words[0]), words[1]), then)

    def _send(self, note: Note) -> str:
        data = self.data
        # What was not touched stays as it is in the file, with the characters that can't be shown.
        text = guidance.text(self.given.text if note.text == safe_text.clean(self.given.text) else note.text)
        slug = self._slug(note)
        fields = guidance.fields("tui", note.addresses(), note.urgent, note.expires or None, data.now())
        directory = paths.inbox_dir(data.root, slug)
        deaf = unheard.keyed(data.unheard())
        if self.item is not None:
            data.review().reword(self.item, directory, fields, text)
            words = "Changed"
        else:
            data.review().guide(directory, fields, text)
            words = "Left"
        when = (
            "when a tool touches the path"
            if note.path
            else WHEN[URGENT if note.urgent else NEXT].removeprefix("urgent: ")
        )
        words += f", but nothing delivers it yet: {deaf}." if deaf else f": it goes {when}."
        words = safe_text.clean(f"{words} {actions.takes_back()}")
        self.app.notify(words, markup=False, severity="warning" if deaf else "information")
        return text

    def _close(self, sent: str | None, *, forget: bool = False) -> None:
        self._done = True
        try:
            if sent is not None or forget:
                autosave.drop(self.data.root, self.draft)
        except OSError:
            pass
        self.dismiss(sent)

    def action_leave(self) -> None:
        """Close; what was typed is here again the next time."""
        self.keep_now()
        self._close(None)

    def action_discard(self) -> None:
        """Close, and forget what was typed."""
        self._close(None, forget=True)


def _base(item: Waiting | None) -> str:
    """What a draft was typed over."""
    return ids.digest(_lines(note_of(item))) if item is not None else ""


def _lines(note: Note) -> bytes:
    """A note as it is compared with another: its text, then for whom, how and until when."""
    more = {"for": ", ".join(note.addresses()) or note.to, "urgent": str(note.urgent).lower(), "expires": note.expires}
    words = "".join(f"{name}: {value}\n" for name, value in more.items() if value and value != "false")
    return f"{note.text.rstrip()}\n\n{words}".encode("utf-8", "replace")


def _clock(seconds: float, now: float) -> str:
    """`18:00`, or `Mon 4 Jan 18:00` where it is another day, by the clock on the wall."""
    import time

    there, here = time.localtime(seconds), time.localtime(now)
    day = (
        "" if there[:3] == here[:3] else time.strftime("%a ", there) + f"{there.tm_mday} " + time.strftime("%b ", there)
    )
    return day + time.strftime("%H:%M", there)
