"""The form for longer text: it keeps what is typed, and asks about secrets and about changes made meanwhile."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.geometry import Offset
from textual.widgets import Input, Select, Static, TextArea

from memtui.base.errors import MemtuiError
from memtui.base.phrasing_hot import ago
from memtui.redact import redact
from memtui.tui.dialogs.ask import MINE, THEIRS, YES, Choice, conflict, sure
from memtui.tui.dialogs.dialog import MANY, Dialog, Keys
from memtui.tui.dialogs.subject import CHOICE, TEXT, FormField, Options, Saved, Subject, Typed
from memtui.tui.model import autosave
from memtui.tui.services import Services
from memtui.tui.texts import TABLES
from memtui.tui.widgets import prose
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.lines import Field, Labelled
from memtui.views import safe_text

KEEP_SECONDS = 0.4  # what is typed is written to the disk after so long, even if typing goes on
BESIDE_FROM = 110  # cells of the screen from which texts to read are beside the one that is edited, else above
LOW = 20  # the lines of a screen without lines to spare
LOOK_SECONDS = 1.0  # how often a file is checked for changes while its form is open
MOVED = "It was changed by somebody else; saving shows both versions."
OUT, KEEP = "out", "keep"


class Body(TextArea):
    """A text area for Markdown: syntax is highlighted, and control characters are drawn as visible pictures."""

    def get_line(self, line_index: int) -> Text:
        """Return a line with its Markdown styled, and each control character replaced by one visible character."""
        source = self.document.get_line(line_index)
        line = Text(safe_text.same_length(source), end="", no_wrap=True)
        for start, end, style in prose.spans(source):
            line.stylize(style, start, end)
        return line

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor, unless an undo has taken its line away."""
        if self.cursor_location[0] >= self.document.line_count:
            return Offset()
        return super().scroll_cursor_visible(center, animate)


class DraftForm(Dialog[str]):
    """The form. The answer is the `result` that the subject saved; None if nothing was saved."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "save", "save", priority=True),
        Binding("ctrl+g", "discard", "discard", priority=True),
        Binding("ctrl+l", "prompts", "prompts", priority=True),
        Binding("escape", "leave", "back"),
    ]

    def __init__(self, subject: Subject, services: Services) -> None:
        super().__init__(classes="first" if subject.fields[0].kind == TEXT else None)
        self.subject, self.services = subject, services
        self.heading = subject.title
        self.initial = {field.key: field.value for field in subject.fields}
        if not subject.autosave.base:  # something new is nowhere but in the autosave
            self.initial |= {key: value for key, value in subject.autosave.was.items() if key in self.initial}
        self.widgets: dict[str, Input | Select[str] | TextArea] = {}
        self.result: str | None = None
        self._unchanged: dict[str, str] = {}  # what the widgets show of the values that nobody has changed
        self._agreed_base = ""  # the base that the person agreed to write over
        self._allowed_text = ""  # a text whose secrets the person wants to keep
        self._wrong: dict[str, str] | None = None  # what the widgets showed when something was wrong
        self._opening_notice = ""
        self._is_keeping_due = False  # a timer runs that keeps what was typed
        self._ended = False

    def body(self) -> ComposeResult:
        """Compose the fields, the check's words under the last line (`where`), and the messages (`told`)."""
        values = {**self.initial, **self.subject.autosave.values}
        last = next((field for field in reversed(self.subject.fields) if field.kind != TEXT), None)
        for field in self.subject.fields:
            widget = self.widgets[field.key] = _widget(field, values[field.key])
            is_text = field.kind == TEXT
            labelled = Labelled(field.label or ("text" if is_text else field.key), widget, over=is_text)
            if is_text and self.subject.beside:
                with Horizontal(classes="texts"):
                    with Vertical(classes="beside"):
                        for _ in self.subject.beside:
                            yield Detail(classes="read")
                    yield labelled
            else:
                yield labelled
            if field is (last or field):
                yield Static(classes="where")
        yield Static(classes="told")

    def fit(self) -> None:
        """Put the texts to read above the text where there is no room beside it."""
        super().fit()
        width, height = self.app.size
        self.set_class(width < BESIDE_FROM, "above")
        self.set_class(height < LOW, "low")

    def needed(self) -> int:
        return MANY

    def keys(self) -> Keys:
        back, prompts = ("escape", "back (kept as unsaved)"), [("^l", "try prompts")] * self.subject.is_recalled
        return (("^s", self.subject.verb), back, ("^g", "discard"), ("tab", "next"), *prompts)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.subject.is_recalled if action == "prompts" else super().check_action(action, parameters)

    def on_mount(self) -> None:
        saved = self.subject.autosave
        for pane, (title, text) in zip(self.query(".read").results(Detail), self.subject.beside, strict=True):
            pane.show(title.plain, Text("\n").join([title, text]))
        # The widgets change values (line ends, pictures of control characters), which is no change by the person.
        self._unchanged = {**self._shown(), **{key: saved.was.get(key, self.initial[key]) for key in saved.values}}
        body, is_new = self._body, not self.typed().changed
        self.widgets.get(self.subject.first, body).focus()
        if self.subject.is_example and is_new:
            body.select_all()
        elif self.subject.at_end:
            body.move_cursor(body.document.end)
        self._opening_notice = self.subject.notice
        if not is_new:
            when = ago(saved.time, self.services.data.now()) if saved.time else "before"
            again = f"What you typed {when} is here again; ^g discards it. {self._change_on_disk()}"
            self._opening_notice = again.strip()
        self.tell(self._opening_notice)
        self._check()
        for field in self.subject.fields:
            if field.later is not None:
                self.run_worker(self._find_options(field, field.later), group="options")
        if self.subject.is_file:
            self.set_interval(LOOK_SECONDS, self._tell_if_changed)

    @property
    def _body(self) -> TextArea:
        return next(widget for widget in self.widgets.values() if isinstance(widget, TextArea))

    def _shown(self) -> dict[str, str]:
        return {
            key: widget.text if isinstance(widget, TextArea) else str(widget.value)
            for key, widget in self.widgets.items()
        }

    def typed(self) -> Typed:
        changed = {key: value for key, value in self._shown().items() if value != self._unchanged.get(key)}
        return Typed({**self.initial, **changed}, changed)

    def tell(self, words: str, *, wrong: bool = False) -> None:
        """Show a message below the fields. With `wrong` it is an error, shown until something is typed."""
        self._wrong = self._shown() if wrong else None
        static = self.query_one(".told", Static)
        static.set_class(wrong, "wrong")
        static.set_class(not words, "empty")
        static.update(safe_text.styled(words))

    def _change_on_disk(self) -> str:
        """Return in words what has happened to the file or note since the form opened; empty if nothing."""
        try:
            content = self.subject.there()
        except MemtuiError as error:
            return error.message
        return self.subject.gone if content is None else MOVED if content != self.subject.autosave.base else ""

    def _tell_if_changed(self) -> None:
        if change := self._change_on_disk():
            self.tell(change)

    @on(Input.Changed)
    @on(Select.Changed)
    @on(TextArea.Changed)
    def _changed(self) -> None:
        """Check what was typed, and keep it soon. Further keys don't delay that: typing without a pause is kept too."""
        if not self._unchanged:
            return
        if not self._is_keeping_due:
            self._is_keeping_due = True
            self.set_timer(KEEP_SECONDS, self.keep_now)
        if self._wrong is not None and self._shown() != self._wrong:
            self.tell(self._opening_notice)
        self._check()

    def _check(self) -> None:
        where, typed = self.query_one(".where", Static), self.typed()
        try:
            words = self.subject.check(typed)
        except MemtuiError as error:
            # The message below says it already, once it was tried to save.
            words = safe_text.styled(_sentences(error) if self._wrong is None else "", "bold")
        where.update(words)
        where.display = bool(words)

    async def _find_options(self, form_field: FormField, later: Callable[[], Options]) -> None:
        """Show the options that are looked up after those that a field has; its value stays."""
        options = [*form_field.options, *await asyncio.to_thread(later)]
        select = self.widgets[form_field.key]
        if isinstance(select, Select):
            with self.prevent(Select.Changed):
                chosen = str(select.value)
                select.set_options(_select_options(options, chosen))
                select.value = chosen
                select.mutate_reactive(type(select).value)  # the same value may have other words

    def keep_now(self) -> None:
        """Keep what was typed, without waiting: what was changed, and of something new all, since no file has it."""
        self._is_keeping_due = False
        if not self._unchanged or self._ended:
            return
        saved, typed = self.subject.autosave, self.typed()
        values = {} if self.subject.is_empty(typed) else typed.changed
        values = typed.values if values and not saved.base else values
        if values == saved.values:
            return
        was = {key: self._unchanged[key] for key in values}
        saved.values, saved.was, saved.time = values, was, self.services.data.now()
        try:
            if values:
                saved.save(self.services.data.root)
            else:
                autosave.drop(self.services.data.root, saved.name)
        except OSError as error:
            saved.values = {}
            self.tell(f"What you type can't be kept: {error.strerror}.", wrong=True)

    def _forget(self) -> None:
        try:
            autosave.drop(self.services.data.root, self.subject.autosave.name)
        except OSError as error:
            self.services.say(f"What you typed can't be removed: {error.strerror}.")

    def on_unmount(self) -> None:
        self.keep_now()

    def action_leave(self) -> None:
        self.keep_now()
        self._ended = True
        if self.subject.autosave.values and self.subject.action:
            self.services.say(autosave.left(self.subject.action))
        self.dismiss(self.result)

    def action_discard(self) -> None:
        self._ended = True
        self._forget()
        self.dismiss(self.result)

    def action_prompts(self) -> None:
        self.services.start(self, self._prompts(), "prompts")

    async def _prompts(self) -> None:
        """Show which of the last prompts would recall the memory as it is typed."""
        from memtui.tui.dialogs import memory_subject

        self.keep_now()
        try:
            changes = self.subject.changes(self.typed())
        except MemtuiError as error:
            self.tell(_sentences(error), wrong=True)
        else:
            await memory_subject.replay(self.services, changes)

    def action_save(self) -> None:
        self.services.start(self, self._save(), "save")

    async def _save(self) -> None:
        self.keep_now()
        try:
            self.subject.check(self.typed())
            if not await self._may_keep_secrets() or not await self._may_overwrite():
                return
            preview = self.subject.preview(self.typed())
            if preview is not None and not await self.services.ask(preview):
                return
            saved = self.subject.save(self.typed())
        except MemtuiError as error:
            self.tell(_sentences(error), wrong=True)
            self._check()
        except OSError as error:
            self.tell(f"It can't be written: {error.strerror}.", wrong=True)
        else:
            self._saved(saved)

    def _saved(self, saved: Saved) -> None:
        self.result = saved.result
        if saved.wrong:
            self._forget()
            self.initial = self._unchanged = self._shown()
            self.tell(saved.wrong, wrong=True)
            return
        if saved.words:
            (self.services.warn if saved.warns else self.services.say)(saved.words)
        self.action_discard()

    async def _may_keep_secrets(self) -> bool:
        """Return whether saving may go on: there is no new secret in the text, or the person has decided about it."""
        text, before = "\n".join(self.typed().changed.values()), "\n".join(self.initial.values())
        kinds = redact.kinds_in(text, before) if text != self._allowed_text else []
        if not kinds:
            return True
        answer = await self.services.ask(Choice(redact.question(kinds), [*TABLES["secret"].items()]))
        if answer == OUT:
            for widget in self.widgets.values():
                if isinstance(widget, Input):
                    widget.value = redact.redact(widget.value)[0]
                elif isinstance(widget, TextArea):
                    widget.text = redact.redact(widget.text)[0]
        elif answer == KEEP:
            self._allowed_text = text
        return bool(answer)

    async def _may_overwrite(self) -> bool:
        """Return whether the disk is as it was, or the person wants to write over it, as it is now."""
        while (content := self.subject.there()) not in {self.subject.autosave.base, self._agreed_base}:
            if content is None:
                question = f"{safe_text.line(self.subject.name, 60)} is gone: its file was deleted or renamed."
                if self.subject.is_file:
                    return await self.services.ask(sure(question, "Create it again from the form")) == YES
                self.tell(self.subject.gone, wrong=True)
                return False
            answer = await self.services.ask(conflict(self.subject.name, *self.subject.compared(self.typed())))
            if answer == THEIRS:
                self.action_discard()
            if answer != MINE:
                return False
            self._agreed_base = content
        return True


def _sentences(error: MemtuiError) -> str:
    return ". ".join(part.rstrip(".") for part in (error.message, error.hint) if part) + "."


def _widget(form_field: FormField, value: str) -> Input | Select[str] | TextArea:
    key, placeholder = form_field.key, form_field.placeholder
    name = key if key.isidentifier() else None
    if form_field.kind == TEXT:
        return Body(value, id=name, placeholder=placeholder, show_line_numbers=False, compact=True)
    if form_field.kind == CHOICE:
        options = _select_options(form_field.options, value)
        return Select(options, value=value, allow_blank=False, compact=True, id=name, name=key)
    return Field(safe_text.same_length(value), placeholder=placeholder, id=name, name=key)


def _select_options(options: Options, chosen: str) -> list[tuple[Text, str]]:
    """Return the options as `Select` takes them: each value once, `chosen` always among them."""
    words = {**dict(options), chosen: dict(options).get(chosen, chosen)}
    return [(safe_text.styled(safe_text.line(text, 120)), value) for value, text in words.items()]
