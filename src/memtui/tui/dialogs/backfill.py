"""Earlier sessions are read for drafts: asked first, with progress that escape stops, then shown before they come."""

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from memtui import actions
from memtui.core.base.errors import ConflictError
from memtui.core.base.phrasing import many, size
from memtui.present import safe_text
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Dialog, Keys
from memtui.tui.dialogs.preview import Preview

if TYPE_CHECKING:
    from memtui.backfill.offering import Offer
    from memtui.backfill.reading import BackfillReading, ReadingProgress
    from memtui.tui.services import Services

NONE = "No session of Claude Code is on this machine yet."


@dataclass
class ReadOn(Message):
    """The reading has come so far, in words."""

    words: str


@dataclass
class ReadThrough(Message):
    """The reading has ended: what it brought, or why it failed."""

    found: "BackfillReading | None"
    why: str = ""


class BackfillProgress(Dialog["BackfillReading | None"]):
    """The progress of a reading. The answer is what it brought, also if it was stopped; None if it failed."""

    DEFAULT_CSS = """
    BackfillProgress > Vertical { height: auto; padding: 1 2; background: $panel; }
    BackfillProgress Static { width: 1fr; }
    """
    across: ClassVar[int] = 70
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "stop", "stop")]

    def __init__(self, services: "Services") -> None:
        super().__init__()
        self.services = services
        self._stop = threading.Event()

    def body(self) -> ComposeResult:
        """Compose the title and the progress."""
        with Vertical():
            yield Static(Text("Reading earlier sessions", style="bold"))
            yield Static("…", id="far")

    def keys(self) -> Keys:
        """Return the one key."""
        return (("escape", "stop, and keep what was read"),)

    def on_mount(self) -> None:
        """Begin."""
        super().on_mount()
        self._read()

    def action_stop(self) -> None:
        """Stop reading."""
        self._stop.set()

    @work(thread=True, group="backfill", exit_on_error=False)
    def _read(self) -> None:
        from memtui.backfill import reading

        data = self.services.data
        try:
            found = reading.read(data.env, now=data.now(), go_on=self._go_on)
        except (OSError, ConflictError) as error:
            self.post_message(ReadThrough(None, str(error)))
        else:
            self.post_message(ReadThrough(found))

    def _go_on(self, far: "ReadingProgress") -> bool:
        read = f"{size(far.bytes)} of {size(far.all_bytes)}, {far.files} of {many(far.all_files, 'session')}"
        self.post_message(ReadOn(f"{read}, {many(far.found, 'candidate')}"))
        return not self._stop.is_set()

    def on_read_on(self, message: ReadOn) -> None:
        """Show the progress."""
        self.query_one("#far", Static).update(Text(message.words))

    def on_read_through(self, message: ReadThrough) -> None:
        """Answer."""
        if message.why:
            self.services.warn(message.why)
        self.dismiss(message.found)


def is_due(services: "Services") -> bool:
    """Tell whether there are sessions on this machine that were never read for drafts."""
    from memtui.backfill import reading

    data = services.data
    return not services.read_only and not reading.was_done(data.root) and bool(reading.transcripts(data.config_dir))


async def begin(services: "Services") -> None:
    """Ask, read, show the best drafts, and put them into the inbox if that is wanted: one step of undo."""
    from memtui.backfill import offering, reading

    data = services.data
    there = reading.transcripts(data.config_dir)
    if not there:
        services.say(NONE)
        return
    volume = f"{many(len(there), 'session')}, {size(sum(each.size for each in there))}"
    question = f"Read your earlier sessions ({volume}) for drafts? It stays on this machine, and takes no model."
    options = [("go", "Read them, and show the best drafts"), ("no", "Not now")]
    if await services.ask(Choice(question, options, narrows=False)) != "go":
        return
    found = await services.ask(BackfillProgress(services))
    if found is None:
        return
    store = data.store()
    offer = offering.plan(store, found.found)
    if not offer.drafts:
        services.say("No new draft was found." + (" The reading was stopped." if found.progress.stopped else ""))
        return
    title = f"The best {many(len(offer.drafts), 'draft')}" + (f", {offer.left:,} more later" if offer.left else "")
    if await services.ask(Preview(title, _drawn(offer), "put them into the inbox")):
        offer.write(store)
        services.say(f"{many(len(offer.drafts), 'draft')} came into the inbox. {actions.takes_back()}")
        services.go("inbox")
        services.read()


def _drawn(offer: "Offer") -> Text:
    text = Text()
    for each in offer.drafts:
        draft, often = each.candidate.draft, len(each.candidate.sessions)
        text.append(safe_text.line(draft.description) + "\n")
        where = "all projects" if draft.scope == "global" else each.candidate.project.rstrip("/").rpartition("/")[2]
        facts = f"{draft.kind}, {each.candidate.confidence:.0%} sure, said in {many(often, 'session')}, {where}"
        text.append(f"  {safe_text.line(facts)}\n", style="dim")
    return text
