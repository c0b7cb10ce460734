"""The form in which a draft is rewritten before it becomes a memory, or an item changed. What is typed outlives escape
and a crash."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Select, Static, TextArea

from memtui.core.base.errors import MemtuiError
from memtui.core.memories import memory
from memtui.core.memories.memory import TYPES
from memtui.present import safe_text
from memtui.tui.dialogs import secret
from memtui.tui.dialogs.dialog import Keys, Typed, form_keys
from memtui.tui.model import autosave
from memtui.tui.widgets.body import Body
from memtui.tui.widgets.field import Field, Labelled

LINES = ("name", "description")
CHOICES = ("type", "scope")
MOVED = "It was changed by somebody else since: saving shows both."
GONE = "It is gone: somebody decided on it or took it away meanwhile. What you typed stays here to be copied."


@dataclass(frozen=True)
class Standing:
    """What a form is about, as it stands on the disk: `base` is another as soon as that says something else, `values`
    are those of the form."""

    base: str
    values: dict[str, str]


class Form(Typed[dict[str, str] | None]):
    """Its values: body, and as far as there are such name, type, scope, description. `check` is asked before the form
    goes, and may raise MemtuiError: then the form stays and says why. What it returns says which file it would be.
    `there` reads again what the form is about (None: it is gone), which was `given` when it opened: where that is not
    what the draft was typed over, both are shown before the form goes."""

    DEFAULT_CSS = """
    Form > Vertical { height: 34; max-height: 100%; padding: 0 1; background: $panel; }
    Form Select { width: 1fr; height: 1; }
    Form Select.-textual-compact > SelectCurrent { padding: 0 1; }
    Form Body { height: 1fr; min-height: 3; margin-top: 1; }
    Form .where { height: auto; max-height: 2; color: $text-muted; margin-top: 1; }
    Form .told { height: auto; max-height: 3; color: $text-error; }
    """
    across: ClassVar[int] = 100
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "save", "save", priority=True),
        Binding("escape", "leave", "keep for later"),
        Binding("ctrl+g", "discard", "discard", priority=True),
    ]

    def __init__(
        self,
        root: str,
        name: str,
        given: Standing,
        scopes: Sequence[str] = (),
        *,
        title: str,
        verb: str,
        check: Callable[[dict[str, str]], str],
        there: Callable[[], Standing | None],
    ) -> None:
        super().__init__()
        self.root, self.draft = root, name
        values = self.given = given.values
        kept = autosave.load(root, name)
        self.base = str(kept.get("base", given.base))
        self.moved = self.base != given.base
        self.values = {key: str(kept.get(key, value)) for key, value in values.items()}
        self.restored = self.values != values
        self.lines = [key for key in LINES if key in values]
        self.choices = [key for key in CHOICES if key in values]
        self.options: dict[str, Sequence[str]] = {"type": TYPES, "scope": scopes}
        self.heading, self.verb = title, verb
        self.check, self.there = check, there

    def body(self) -> ComposeResult:
        """A line each, the text, and what becomes of it."""
        with Vertical():
            yield Static(Text(self.heading, style="bold"))
            for key in self.lines:
                yield Labelled(key, Field(safe_text.line(self.values[key]), id=key))
            for key in self.choices:
                options = dict.fromkeys([*self.options[key], self.values[key]])
                pairs = [(Text(safe_text.line(each)), each) for each in options]
                chosen = Select(pairs, value=self.values[key], allow_blank=False, compact=True, id=key)
                yield Labelled(key, chosen)
            yield Body(safe_text.clean(self.values["body"]), id="body", show_line_numbers=False, compact=True)
            yield Static(classes="where")
            yield Static(classes="told")

    def keys(self) -> Keys:
        """As in every form."""
        return form_keys(self.verb)

    def on_mount(self) -> None:
        """Start in the text, where most changes are made."""
        self.query_one("#body", TextArea).focus()
        if self.restored:
            words = "What you had typed before is here again; ^g discards it."
            words += f" {MOVED}" if self.moved else ""
            self.query_one(".told", Static).update(Text(words))
        self._where()

    def read(self) -> dict[str, str]:
        """What stands in the form. What was not touched stays as it was, with the characters that can't be shown."""
        found = {key: self.query_one(f"#{key}", Input).value for key in self.lines}
        found |= {key: str(self.query_one(f"#{key}", Select).value) for key in self.choices}
        found["body"] = self.query_one("#body", TextArea).text
        shown = self._shown()
        return {key: self.given[key] if value == shown[key] else value for key, value in found.items()}

    @on(Input.Changed)
    @on(Select.Changed)
    @on(TextArea.Changed)
    def _changed(self) -> None:
        self.keep_soon()
        self._where()

    def keep(self) -> None:
        """Keep what was typed, if it is another than before."""
        found = self.read()
        try:
            if found == self.given:
                autosave.drop(self.root, self.draft)
            else:
                autosave.save(self.root, self.draft, {**found, "base": self.base})
        except OSError as error:
            self.query_one(".told", Static).update(Text(f"What you type can't be kept: {error.strerror}."))

    def _shown(self) -> dict[str, str]:
        lines = {key: safe_text.line(self.given[key]) for key in self.lines}
        return {**self.given, **lines, "body": safe_text.clean(self.given["body"])}

    def _where(self) -> None:
        try:
            self.query_one(".where", Static).update(safe_text.styled(self.check(self.read())))
        except MemtuiError as error:
            self.query_one(".where", Static).update(safe_text.styled(error.message, "bold"))

    def action_save(self) -> None:
        """Go, unless something is wrong with it."""
        found = self.read()
        try:
            self.check(found)
        except MemtuiError as error:
            self.query_one(".told", Static).update(safe_text.styled(f"{error.message} {error.hint}"))
            return
        self.keep_now()
        if secret.asks(self, "\n".join(found.values()), "\n".join(self.given.values()), self.action_save):
            return
        now = self.there()
        if now is None:
            self.query_one(".told", Static).update(Text(GONE))
        elif now.base != self.base:
            self._ask(now, found)
        else:
            self.dismiss(found)

    def _ask(self, now: Standing, mine: dict[str, str]) -> None:
        """Somebody changed it meanwhile: show both, and ask."""
        from memtui.tui.dialogs.conflict import MINE, THEIRS, Conflict

        def then(answer: str | None) -> None:
            if answer == MINE:
                self.base = now.base
                self.action_save()
            elif answer == THEIRS:
                self.action_discard()

        self.app.push_screen(Conflict(memory.from_bytes("/this entry", "", _lines(now.values)), _lines(mine)), then)

    def action_leave(self) -> None:
        """Close; what was typed is kept for the next time."""
        self.keep_now()
        self.dismiss(None)

    def action_discard(self) -> None:
        """Close, and forget what was typed."""
        self.no_keeping()
        try:
            autosave.drop(self.root, self.draft)
        except OSError:
            pass
        self.dismiss(None)


def _lines(values: dict[str, str]) -> bytes:
    """What stands in a form, as it is compared with another."""
    words = "".join(f"{key}: {values[key]}\n" for key in (*LINES, *CHOICES) if key in values)
    return f"{words}{chr(10) * bool(words)}{values['body'].rstrip()}".encode("utf-8", "replace")
