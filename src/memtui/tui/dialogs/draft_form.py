"""The form for what is typed at length. What it is about, a subject, reads, checks and saves; the form keeps what is
typed, and asks about secrets and about what somebody else changed meanwhile."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Select, Static, TextArea
from textual.widgets.text_area import Selection

from memtui import actions
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import ago
from memtui.core.redaction import redact
from memtui.present import editor, safe_text, secret
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.conflict import BACK, THEIRS, Conflict
from memtui.tui.dialogs.dialog import Dialog, Keys, form_keys
from memtui.tui.dialogs.subject import CHOICE, TEXT, FormField, Options, Saved, Subject, Typed
from memtui.tui.model import autosave
from memtui.tui.services import Services
from memtui.tui.widgets.body import Body, fits
from memtui.tui.widgets.field import Field, Labelled

# What is typed is on the disk after so long, however fast one types on.
KEEP_SECONDS = 0.4
LOOK_SECONDS = 1.0
MOVED = "It was changed by somebody else since: saving shows both."
OUT, KEEP = "out", "keep"
SECRET = (
    ("", "Go back to the form"),
    (OUT, "Take it out: [redacted] and its kind stand there instead"),
    (KEEP, "Keep it as it is"),
)
ANEW, LATER, DROP = "anew", "later", "drop"
GONE = (
    (ANEW, "Write it anew, as it stands in the form"),
    (LATER, "Keep mine as a draft: {memories.new} offers it"),
    (DROP, "Drop mine"),
)


@dataclass
class OptionsFound(Message):
    """More can be chosen."""

    key: str
    options: Options


class DraftForm(Dialog[str]):
    """Ends with what saving came to; None if nothing was saved."""

    DEFAULT_CSS = """
    DraftForm > Vertical { max-height: 100%; padding: 0 1; background: $panel; }
    DraftForm Select { width: 1fr; height: 1; }
    DraftForm Body { height: 1fr; min-height: 3; margin-top: 1; }
    DraftForm .where { height: auto; max-height: 3; color: $text-muted; }
    DraftForm .told { height: auto; max-height: 4; color: $text-warning; }
    DraftForm .told.wrong { color: $text-error; }
    DraftForm.memory > Vertical { height: 100%; max-height: 46; }
    DraftForm.memory .where { max-height: 1; padding-left: 14; }
    DraftForm.entry > Vertical { height: 34; }
    DraftForm.entry .where { max-height: 2; padding-left: 14; }
    DraftForm.note > Vertical { height: 25; }
    DraftForm.note Body { margin: 1 0; }
    DraftForm.note .where { min-height: 2; }
    DraftForm.note .told.empty { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "save", "save", priority=True),
        Binding("ctrl+o", "editor", "editor", priority=True),
        Binding("ctrl+g", "discard", "discard", priority=True),
        Binding("escape", "leave", "keep for later"),
    ]

    def __init__(self, subject: Subject, services: Services) -> None:
        super().__init__(classes=subject.shape.css)
        self.subject, self.services, self.shape = subject, services, subject.shape
        self.given = {each.key: each.value for each in subject.fields}
        if not subject.autosave.base:  # something new stands nowhere but in what was typed
            self.given |= {key: value for key, value in subject.autosave.was.items() if key in self.given}
        self.templates = [text.strip("\n") for each in subject.fields for text in each.templates.values()]
        self.widgets: dict[str, Input | Select[str] | TextArea] = {}
        self.result: str | None = None
        self._made: dict[str, str] = {}  # what the widgets show where nothing was changed
        self._agreed = ""  # the base that the person agreed to write over
        self._allowed = ""  # a text with a secret that may stay: the person was asked
        self._wrong: dict[str, str] | None = None  # what stood here when something was wrong
        self._first = ""  # what there was to say when it opened
        self._due = False  # what was typed last is kept soon
        self._ended = False

    # what is typed

    def body(self) -> ComposeResult:
        """The fields, what becomes of them under the lines, and what there is to say."""
        values = {**self.given, **self.subject.autosave.values}
        with Vertical():
            yield Static(safe_text.styled(self.shape.title, "bold"))
            last = next((each for each in reversed(self.subject.fields) if each.kind != TEXT), None)
            for each in self.subject.fields:
                widget = self.widgets[each.key] = _widget(each, values[each.key])
                yield widget if each.kind == TEXT else Labelled(each.label or each.key, widget)
                if each is (last or each):
                    yield Static(classes="where")
            yield Static(classes="told")

    def wanted(self) -> int:
        """Cells across that the form wants."""
        return self.shape.across

    def keys(self) -> Keys:
        """As in every form."""
        return form_keys(self.shape.verb, editor=bool(self.shape.editor))

    def on_mount(self) -> None:
        """Start where something is to be typed, with what was typed before."""
        kept = self.subject.autosave
        # What the widgets make of a value (line ends, pictures of control characters) is no change of the person's.
        self._made = {**self._shown(), **{key: kept.was.get(key, self.given[key]) for key in kept.values}}
        body = self._body
        self.widgets.get(self.shape.first, body).focus()
        if self.shape.at_end:
            body.move_cursor(body.document.end)
        self._select_template()
        self._first = self._notice()
        self.tell(self._first)
        self._check()
        for each in self.subject.fields:
            if each.later is not None:
                self.run_worker(partial(self._look_for, each), thread=True, group="options")
        if self.shape.is_file:
            self.set_interval(LOOK_SECONDS, self._look)

    @property
    def _body(self) -> TextArea:
        return next(each for each in self.widgets.values() if isinstance(each, TextArea))

    def _notice(self) -> str:
        kept = self.subject.autosave
        if not self.typed().changed:
            return self.shape.notice
        when = ago(kept.time, self.services.data.now()) if kept.time else "before"
        return f"What you typed {when} is here again; ^g discards it. {self._moved()}".strip()

    def _moved(self) -> str:
        """What became of it on the disk since, in words; empty if nothing."""
        try:
            there = self.subject.there()
        except MemtuiError as error:
            return error.message
        return self.shape.gone if there is None else MOVED if there != self.subject.autosave.base else ""

    def _shown(self) -> dict[str, str]:
        return {key: each.text if isinstance(each, TextArea) else str(each.value) for key, each in self.widgets.items()}

    def typed(self) -> Typed:
        """What stands in the form."""
        changed = {key: value for key, value in self._shown().items() if value != self._made.get(key)}
        return Typed({**self.given, **changed}, changed)

    def tell(self, words: str, *, wrong: bool = False) -> None:
        """Say something below the fields; what was `wrong` is so until something is typed."""
        self._wrong = self._shown() if wrong else None
        told = self.query_one(".told", Static)
        told.set_class(wrong, "wrong")
        told.set_class(not words, "empty")
        told.update(safe_text.styled(words))

    @on(Input.Changed)
    @on(Select.Changed)
    @on(TextArea.Changed)
    def _changed(self) -> None:
        """Something was typed. The next key does not put off keeping it: who types without a pause is kept, too."""
        if not self._made:
            return
        if not self._due:
            self._due = True
            self.set_timer(KEEP_SECONDS, self.keep_now)
        if self._wrong is not None and self._shown() != self._wrong:
            self.tell(self._first)
        self._check()

    def _check(self) -> None:
        where = self.query_one(".where", Static)
        try:
            words = self.subject.check(self.typed())
        except MemtuiError as error:
            words = safe_text.styled(error.message, "bold")
        where.update(words)
        where.display = bool(words)

    @on(Select.Changed)
    def _chosen(self, event: Select.Changed) -> None:
        """A template that was not touched follows the type."""
        if event.select.name == "type" and self._body.text in self.templates:
            text = next(each for each in self.subject.fields if each.kind == TEXT)
            self._body.text = text.templates.get(str(event.value), "").strip("\n")
            self._select_template()

    def _select_template(self) -> None:
        """What is typed first takes the place of the template's first line."""
        first = self._body.document.get_line(0)
        if first and any(first == text.split("\n")[0] for text in self.templates):
            self._body.selection = Selection((0, 0), (0, len(first)))

    def _look_for(self, about: FormField) -> None:
        if about.later is not None:
            self.post_message(OptionsFound(about.key, about.later()))

    def on_options_found(self, event: OptionsFound) -> None:
        """Offer them, and leave what is chosen."""
        select = self.widgets[event.key]
        about = next(each for each in self.subject.fields if each.key == event.key)
        if isinstance(select, Select):
            with self.prevent(Select.Changed):
                chosen = str(select.value)
                select.set_options(_pairs([*about.options, *event.options], chosen))
                select.value = chosen

    def _look(self) -> None:
        """Tell when it changes under the form."""
        if moved := self._moved():
            self.tell(moved)

    # keeping

    def keep_now(self) -> None:
        """Keep what was typed, without waiting."""
        self._due = False
        if self._made and not self._ended:
            self.keep()

    def keep(self) -> None:
        """Keep what was typed; nothing is kept where nothing was changed. Of something new everything is kept: no file
        holds the rest."""
        kept, typed = self.subject.autosave, self.typed()
        values = {} if self.subject.is_empty(typed) else typed.changed
        values = typed.values if values and not kept.base else values
        if values == kept.values:
            return
        was = {key: self._made[key] for key in values}
        kept.values, kept.was, kept.time = values, was, self.services.data.now()
        try:
            if values:
                kept.save(self.services.data.root)
            else:
                autosave.drop(self.services.data.root, kept.name)
        except OSError as error:
            kept.values = {}
            self.tell(f"What you type can't be kept: {error.strerror}.", wrong=True)

    def _forget(self) -> None:
        try:
            autosave.drop(self.services.data.root, self.subject.autosave.name)
        except OSError as error:
            self.services.say(f"What you typed can't be removed: {error.strerror}.")

    def on_unmount(self) -> None:
        """However it ends."""
        self.keep_now()

    def action_leave(self) -> None:
        """Close; what was typed is kept for the next time."""
        self.keep_now()
        self._ended = True
        if self.subject.autosave.values and self.shape.left:
            self.services.say(self.shape.left)
        self.dismiss(self.result)

    def action_discard(self) -> None:
        """Close, and forget what was typed."""
        self._ended = True
        self._forget()
        self.dismiss(self.result)

    # saving

    def action_save(self) -> None:
        """Save, unless something is wrong with it."""
        self.services.start(self, self._save(), "save")

    async def _save(self) -> None:
        self.keep_now()
        try:
            self.subject.check(self.typed())
            if not await self._may_be_told() or not await self._may_be_written():
                return
            saved = self.subject.save(self.typed())
        except MemtuiError as error:
            parts = [part.rstrip(".") for part in (error.message, error.hint) if part]
            self.tell(". ".join(parts) + ".", wrong=True)
        except OSError as error:
            self.tell(f"It can't be written: {error.strerror}.", wrong=True)
        else:
            self._saved(saved)

    def _saved(self, saved: Saved) -> None:
        self.result = saved.result
        if saved.wrong:
            self._forget()
            self.given = self._made = self._shown()
            self.tell(saved.wrong, wrong=True)
            return
        if saved.words:
            words = safe_text.clean(saved.words)
            self.services.notify(words, severity="warning" if saved.warns else "information", markup=False)
        self.action_discard()

    async def _may_be_told(self) -> bool:
        """Whether what is typed holds no secret that is news, or the person lets it stand."""
        text, before = "\n".join(self.typed().changed.values()), "\n".join(self.given.values())
        kinds = redact.kinds_in(text, before) if text != self._allowed else []
        if not kinds:
            return True
        answer = await self.services.ask(Choice(secret.question(kinds), SECRET))
        if answer == OUT:
            for each in self.widgets.values():
                if isinstance(each, Input):
                    each.value = redact.redact(each.value)[0]
                elif isinstance(each, TextArea):
                    each.text = redact.redact(each.text)[0]
        elif answer == KEEP:
            self._allowed = text
        return bool(answer)

    async def _may_be_written(self) -> bool:
        """Whether it stands on the disk as it did when the form opened, or the person wants it written over what is
        there now. What comes while both are shown is shown as well."""
        while True:
            there = self.subject.there()
            if there is None:
                return await self._may_be_anew()
            if there in {self.subject.autosave.base, self._agreed}:
                return True
            answer = await self.services.ask(Conflict(self.shape.name, *self.subject.compared(self.typed())))
            if answer == THEIRS:
                self.action_discard()
            if answer in {BACK, THEIRS, None}:
                return False
            self._agreed = there

    async def _may_be_anew(self) -> bool:
        """What it is about is gone: whether it may be written again."""
        if not self.shape.is_file:
            self.tell(self.shape.gone, wrong=True)
            return False
        ways = [(answer, actions.keyed(words)) for answer, words in GONE]
        question = f"{safe_text.line(self.shape.name, 60)} is gone: somebody deleted or renamed its file."
        answer = await self.services.ask(Choice(question, ways))
        if answer == LATER:
            self.action_leave()
        elif answer == DROP:
            self.action_discard()
        return answer == ANEW

    # the person's editor

    def action_editor(self) -> None:
        """The text in the person's editor, and back into the form."""
        if not self.shape.editor:
            return
        body = self._body
        before = body.text.encode("utf-8", "surrogateescape")
        try:
            with self.services.suspend():
                after = editor.edited(self.services.data.env, self.shape.editor, before)
        except MemtuiError as error:
            self.tell(f"{error.message} {error.hint}", wrong=True)
            return
        text = after.decode("utf-8", "surrogateescape")
        if fits(text) and "\0" not in text and not after.startswith((b"\xff\xfe", b"\xfe\xff")):
            body.text = text
        else:
            key = actions.key_of("memories.editor")
            self.tell(f"That text does not fit into the form: save the file itself in your editor ({key}).", wrong=True)


def _widget(about: FormField, value: str) -> Input | Select[str] | TextArea:
    name = about.key if about.key.isidentifier() else None
    if about.kind == TEXT:
        return Body(value, id=name, placeholder=about.placeholder, show_line_numbers=False, compact=True)
    if about.kind == CHOICE:
        pairs = _pairs(about.options, value)
        return Select(pairs, value=value, allow_blank=False, compact=True, id=name, name=about.key)
    return Field(safe_text.same_length(value), placeholder=about.placeholder, id=name, name=about.key)


def _pairs(options: Options, chosen: str) -> list[tuple[Text, str]]:
    """As a choice takes them, each once; what is chosen is among them in any case."""
    words = {**dict(options), chosen: dict(options).get(chosen, chosen)}
    return [(safe_text.styled(safe_text.line(text, 120)), value) for value, text in words.items()]
