"""The form for longer text. Its subject (a memory, a draft, guidance) reads, checks and saves; the form keeps what is
typed, and asks about secrets and about what somebody else has changed meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Select, Static, TextArea
from textual.widgets.text_area import Selection

from memtui import actions
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import ago
from memtui.core.redaction import redact
from memtui.present import editor, safe_text, secret
from memtui.tui.dialogs.ask import BACK, THEIRS, Choice, conflict
from memtui.tui.dialogs.dialog import Dialog, Keys
from memtui.tui.dialogs.subject import CHOICE, TEXT, FormField, Options, Saved, Subject, Typed
from memtui.tui.model import autosave
from memtui.tui.services import Services
from memtui.tui.widgets.body import Body, fits
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.field import Field, Labelled

if TYPE_CHECKING:
    from memtui.recall.replaying import StoreChange

# What is typed is written to the disk after so long, even if typing goes on.
KEEP_SECONDS = 0.4
# From this width of the screen on, in cells, texts to read are beside the text that is edited, else above it.
BESIDE_FROM = 110
# How often a file is checked for changes while its form is open.
LOOK_SECONDS = 1.0
MOVED = "It was changed by somebody else; saving shows both versions."
OUT, KEEP = "out", "keep"
SECRET = (
    ("", "Go back to the form"),
    (OUT, "Remove it: the text says [redacted] and its kind instead"),
    (KEEP, "Keep it as it is"),
)
# The keys while the options of a field are open.
OPTIONS: Keys = (("enter", "choose"), ("escape", "back"), ("type", "to find one"), ("↓ ↑", "move"))
ANEW, LATER, DROP = "anew", "later", "drop"
GONE = (
    (ANEW, "Create it again from the form"),
    (LATER, "Keep my version unsaved: {memories.new} offers it"),
    (DROP, "Drop mine"),
)


@dataclass
class OptionsFound(Message):
    """More options were found for the field `key`."""

    key: str
    options: Options


class DraftForm(Dialog[str]):
    """The form. The answer is the `result` that the subject saved; None if nothing was saved."""

    DEFAULT_CSS = """
    DraftForm Select { width: 1fr; height: 1; }
    DraftForm SelectOverlay { margin-bottom: 1; }
    DraftForm Body { height: 1fr; min-height: 3; margin-top: 1; }
    DraftForm .where { height: auto; max-height: 3; color: $text-muted; }
    DraftForm .told { height: auto; max-height: 4; color: $text-warning; }
    DraftForm .told.wrong { color: $text-error; }
    DraftForm.memory > Vertical { height: 100%; max-height: 46; }
    DraftForm.memory .where { max-height: 2; padding-left: 14; }
    DraftForm.entry > Vertical { height: 34; }
    DraftForm.entry .where { max-height: 3; padding-left: 14; }
    DraftForm.note > Vertical { height: 25; }
    DraftForm.note Body { margin: 1 0; }
    DraftForm.note .where { min-height: 2; }
    DraftForm.note .told.empty { display: none; }
    DraftForm.outcome > Vertical { height: 100%; }
    DraftForm.outcome .where { max-height: 2; padding-left: 14; }
    DraftForm .texts { height: 1fr; margin-top: 1; }
    DraftForm .texts Body { margin: 0; width: 1fr; }
    DraftForm .beside { width: 50%; height: 1fr; }
    DraftForm .beside Detail { height: 1fr; border: none; border-top: solid $rule-over; }
    DraftForm .beside Detail:focus { border-top: solid $accent; }
    DraftForm.above .texts { layout: vertical; }
    DraftForm.above .beside { layout: horizontal; width: 1fr; height: 45%; }
    DraftForm.above .beside Detail { width: 1fr; height: 100%; }
    DraftForm.above .texts Body { height: 1fr; margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "save", "save", priority=True),
        Binding("ctrl+o", "editor", "editor", priority=True),
        Binding("ctrl+g", "discard", "discard", priority=True),
        Binding("ctrl+l", "prompts", "prompts", priority=True),
        Binding("enter", "save_example", "send", priority=True),
        Binding("escape", "leave", "back"),
    ]

    def __init__(self, subject: Subject, services: Services) -> None:
        super().__init__(classes=subject.shape.css)
        self.subject, self.services, self.shape = subject, services, subject.shape
        self.heading = subject.shape.title
        self.given = {each.key: each.value for each in subject.fields}
        if not subject.autosave.base:  # something new is nowhere but in the autosave
            self.given |= {key: value for key, value in subject.autosave.was.items() if key in self.given}
        self.templates = [text.strip("\n") for each in subject.fields for text in each.templates.values()]
        self.widgets: dict[str, Input | Select[str] | TextArea] = {}
        self.result: str | None = None
        self._unchanged: dict[str, str] = {}  # what the widgets show of the values that nobody has changed
        self._agreed_base = ""  # the base that the person agreed to write over
        self._allowed_text = ""  # a text whose secrets the person wants to keep
        self._wrong: dict[str, str] | None = None  # what the widgets showed when something was wrong
        self._opening_notice = ""
        self._is_keeping_due = False  # a timer runs that keeps what was typed
        self._ended = False

    # what is typed

    def body(self) -> ComposeResult:
        """Compose the fields, the check's words under the last line (`where`), and the messages (`told`)."""
        values = {**self.given, **self.subject.autosave.values}
        last = next((each for each in reversed(self.subject.fields) if each.kind != TEXT), None)
        for each in self.subject.fields:
            widget = self.widgets[each.key] = _widget(each, values[each.key])
            if each.kind == TEXT and self.shape.beside:
                yield from self._beside(widget)
            else:
                yield widget if each.kind == TEXT else Labelled(each.label or each.key, widget)
            if each is (last or each):
                yield Static(classes="where")
        yield Static(classes="told")

    def _beside(self, edited: Widget) -> ComposeResult:
        """Compose the texts to read, each in a pane of its own, beside the one that is edited."""
        with Horizontal(classes="texts"):
            with Vertical(classes="beside"):
                for _ in self.shape.beside:
                    yield Detail(classes="read")
            yield edited

    def on_resize(self) -> None:
        """Put the texts to read above the one that is edited where there is no room beside it."""
        super().on_resize()
        self.set_class(self.size.width < BESIDE_FROM, "above")

    def wanted(self) -> int:
        """Return the width of the form, in columns."""
        return self.shape.across

    def keys(self) -> Keys:
        """Return the keys of the form."""
        if any(isinstance(each, Select) and each.expanded for each in self.widgets.values()):
            return OPTIONS
        stands = self._example_stands
        keys = [
            ("enter", self.shape.verb, stands),
            ("^s", self.shape.verb, not stands),
            ("tab", "next", True),
            ("^s", self.shape.verb, stands),
            ("^o", "editor", bool(self.shape.editor)),
            ("escape", "back, text kept", True),
            ("^g", "discard", True),
            ("^l", "which prompts recall it", self.shape.changes is not None),
            ("f1", "keys", True),
        ]
        return [(key, word) for key, word, works in keys if works]

    @property
    def _example_stands(self) -> bool:
        """Whether the form still has the example that it opened with, and the cursor is in it."""
        return self.shape.is_example and bool(self.widgets) and self._body.has_focus and not self.typed().changed

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action can run now: enter sends only an example as it is."""
        if action == "prompts":
            return self.shape.changes is not None
        return self._example_stands if action == "save_example" else super().check_action(action, parameters)

    def on_mount(self) -> None:
        """Focus the first field, and show what was typed before."""
        kept = self.subject.autosave
        for pane, (title, text) in zip(self.query(".read").results(Detail), self.shape.beside, strict=True):
            pane.show(title.plain, Text("\n").join([title, text]))
        # The widgets change values (line ends, pictures of control characters), which is no change by the person.
        self._unchanged = {**self._shown(), **{key: kept.was.get(key, self.given[key]) for key in kept.values}}
        body = self._body
        self.widgets.get(self.shape.first, body).focus()
        if self.shape.is_example and not self.typed().changed:
            body.select_all()
        elif self.shape.at_end:
            body.move_cursor(body.document.end)
        self._select_template()
        self._opening_notice = self._notice()
        self.tell(self._opening_notice)
        self._check()
        for select in self.query(Select):
            self.watch(select, "expanded", self.name_keys, init=False)
        for each in self.subject.fields:
            if each.later is not None:
                self.run_worker(partial(self._find_options, each), thread=True, group="options")
        if self.shape.is_file:
            self.set_interval(LOOK_SECONDS, self._tell_if_changed)

    @property
    def _body(self) -> TextArea:
        return next(each for each in self.widgets.values() if isinstance(each, TextArea))

    def _notice(self) -> str:
        kept = self.subject.autosave
        if not self.typed().changed:
            return self.shape.notice
        when = ago(kept.time, self.services.data.now()) if kept.time else "before"
        return f"What you typed {when} is here again; ^g discards it. {self._change_on_disk()}".strip()

    def _change_on_disk(self) -> str:
        """Return in words what has happened to the file or note since the form opened; empty if nothing."""
        try:
            there = self.subject.there()
        except MemtuiError as error:
            return error.message
        return self.shape.gone if there is None else MOVED if there != self.subject.autosave.base else ""

    def _shown(self) -> dict[str, str]:
        return {key: each.text if isinstance(each, TextArea) else str(each.value) for key, each in self.widgets.items()}

    def typed(self) -> Typed:
        """Return the values of the form."""
        changed = {key: value for key, value in self._shown().items() if value != self._unchanged.get(key)}
        return Typed({**self.given, **changed}, changed)

    def tell(self, words: str, *, wrong: bool = False) -> None:
        """Show a message below the fields. With `wrong` it is an error, shown until something is typed."""
        self._wrong = self._shown() if wrong else None
        told = self.query_one(".told", Static)
        told.set_class(wrong, "wrong")
        told.set_class(not words, "empty")
        told.update(safe_text.styled(words))

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
        if self.shape.is_example:
            self.name_keys()
        self._check()

    def _check(self) -> None:
        where = self.query_one(".where", Static)
        try:
            words = self.subject.check(self.typed())
        except MemtuiError as error:
            # The message below says it already, once it was tried to save.
            words = safe_text.styled(_sentences(error) if self._wrong is None else "", "bold")
        where.update(words)
        where.display = bool(words)

    @on(Select.Changed)
    def _chosen(self, event: Select.Changed) -> None:
        """Replace a template that was not edited by the one of the type that was chosen."""
        if event.select.name == "type" and self._body.text in self.templates:
            text = next(each for each in self.subject.fields if each.kind == TEXT)
            self._body.text = text.templates.get(str(event.value), "").strip("\n")
            self._select_template()

    def _select_template(self) -> None:
        """Select the first line of a template, so that typing replaces it."""
        first = self._body.document.get_line(0)
        if first and any(first == text.split("\n")[0] for text in self.templates):
            self._body.selection = Selection((0, 0), (0, len(first)))

    def _find_options(self, form_field: FormField) -> None:
        if form_field.later is not None:
            self.post_message(OptionsFound(form_field.key, form_field.later()))

    def on_options_found(self, event: OptionsFound) -> None:
        """Add the options to the field; its value stays."""
        select = self.widgets[event.key]
        form_field = next(each for each in self.subject.fields if each.key == event.key)
        if isinstance(select, Select):
            with self.prevent(Select.Changed):
                chosen = str(select.value)
                select.set_options(_select_options([*form_field.options, *event.options], chosen))
                select.value = chosen

    def _tell_if_changed(self) -> None:
        if change := self._change_on_disk():
            self.tell(change)

    # keeping

    def keep_now(self) -> None:
        """Keep what was typed, without waiting. Only changed values are kept; of something new all, since no file has
        the others."""
        self._is_keeping_due = False
        if not self._unchanged or self._ended:
            return
        kept, typed = self.subject.autosave, self.typed()
        values = {} if self.subject.is_empty(typed) else typed.changed
        values = typed.values if values and not kept.base else values
        if values == kept.values:
            return
        was = {key: self._unchanged[key] for key in values}
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
        """Keep what was typed, however the form is closed."""
        self.keep_now()

    def action_leave(self) -> None:
        """Close the form, and keep what was typed for the next time."""
        self.keep_now()
        self._ended = True
        if self.subject.autosave.values and self.shape.left:
            self.services.say(self.shape.left)
        self.dismiss(self.result)

    def action_discard(self) -> None:
        """Close the form, and forget what was typed."""
        self._ended = True
        self._forget()
        self.dismiss(self.result)

    def action_prompts(self) -> None:
        """Show which of the last prompts would recall the memory as it is typed."""
        if self.shape.changes is None:
            return
        self.keep_now()
        try:
            changes = self.shape.changes(self.typed())
        except MemtuiError as error:
            self.tell(_sentences(error), wrong=True)
            return
        self.services.start(self, self._replay(changes), "prompts")

    async def _replay(self, changes: "Sequence[StoreChange]") -> None:
        from memtui.tui.dialogs.replay import ReplayDialog

        await self.services.ask(ReplayDialog(self.services, changes))

    # saving

    def action_save_example(self) -> None:
        """Save the example."""
        self.action_save()

    def action_save(self) -> None:
        """Save, unless something is wrong with it."""
        self.services.start(self, self._save(), "save")

    async def _save(self) -> None:
        self.keep_now()
        try:
            self.subject.check(self.typed())
            if not await self._may_keep_secrets() or not await self._may_overwrite():
                return
            preview = self.shape.preview
            if preview is not None and not await self.services.ask(preview(self.typed())):
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
            self.given = self._unchanged = self._shown()
            self.tell(saved.wrong, wrong=True)
            return
        if saved.words:
            (self.services.warn if saved.warns else self.services.say)(saved.words)
        self.action_discard()

    async def _may_keep_secrets(self) -> bool:
        """Return whether saving may go on: there is no new secret in the text, or the person has decided about it."""
        text, before = "\n".join(self.typed().changed.values()), "\n".join(self.given.values())
        kinds = redact.kinds_in(text, before) if text != self._allowed_text else []
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
            self._allowed_text = text
        return bool(answer)

    async def _may_overwrite(self) -> bool:
        """Return whether saving may go on: the disk has what it had when the form opened, or the person wants to write
        over what it has now. If that changes again while both are shown, ask again."""
        while True:
            there = self.subject.there()
            if there is None:
                return await self._may_write_again()
            if there in {self.subject.autosave.base, self._agreed_base}:
                return True
            answer = await self.services.ask(conflict(self.shape.name, *self.subject.compared(self.typed())))
            if answer == THEIRS:
                self.action_discard()
            if answer in {BACK, THEIRS, None}:
                return False
            self._agreed_base = there

    async def _may_write_again(self) -> bool:
        """Ask whether to write what is gone from the disk. Return the answer."""
        if not self.shape.is_file:
            self.tell(self.shape.gone, wrong=True)
            return False
        ways = [(answer, actions.keyed(words)) for answer, words in GONE]
        question = f"{safe_text.line(self.shape.name, 60)} is gone: its file was deleted or renamed."
        answer = await self.services.ask(Choice(question, ways))
        if answer == LATER:
            self.action_leave()
        elif answer == DROP:
            self.action_discard()
        return answer == ANEW

    # the person's editor

    def action_editor(self) -> None:
        """Open the text in the person's editor, and take it back into the form."""
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
            self.tell(f"The form can't hold that text. Save the file itself in your editor ({key}).", wrong=True)


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
