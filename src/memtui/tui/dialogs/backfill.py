"""Earlier sessions are read for drafts: asked first, with progress that escape stops, then shown before they come."""

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from memtui import actions
from memtui.base.errors import MemtuiError
from memtui.base.phrasing import many, size
from memtui.base.storage import file_error
from memtui.deliver import error_log
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Dialog, Keys, Preview
from memtui.tui.model.remembered import State
from memtui.tui.services import HowFar
from memtui.views import drafts, safe_text

if TYPE_CHECKING:
    from memtui.learn.backfill.ranking import Offer
    from memtui.learn.backfill.reader import BackfillReading, TranscriptFile
    from memtui.tui.services import Services

NONE = "No session of Claude Code is on this machine yet."
LATER = "“past sessions” in the palette ({app.palette}) reads them at any time."
FAILED = "Reading earlier sessions failed; `memtui doctor --errors` has the details."
FOLDED = "The inbox folds these, which are unlikely to last:"
NOTHING_NEW = "Nothing is new in your sessions since the last reading, and no draft waits."
# The table of the remembered state that says that the person was asked once.
TABLE = "backfill"


class BackfillProgress(Dialog["BackfillReading"]):
    """The progress of a reading. The answer is what it brought, also if it was stopped; None if it failed."""

    across: ClassVar[int] = 70
    heading = "Reading earlier sessions"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "stop", "stop")]

    def __init__(self, services: "Services") -> None:
        super().__init__()
        self.services = services
        self._stop = threading.Event()
        self._has_ended = False
        self._found: BackfillReading | None = None

    def body(self) -> ComposeResult:
        yield Static("…", id="far")

    def keys(self) -> Keys:
        return (("escape", "stop, and keep what was read"),)

    def on_mount(self) -> None:
        self._read()

    def action_stop(self) -> None:
        self._stop.set()

    @work(group="backfill")
    async def _read(self) -> None:
        from memtui.learn.backfill import reader

        data = self.services.data
        try:
            self._found = await asyncio.to_thread(reader.read, data.env, go_on=self._go_on)
        except (OSError, MemtuiError) as error:
            self.services.fail(file_error(error) if isinstance(error, OSError) else error)
        except Exception as error:  # the dialog must not stay open
            error_log.add(data.root, "backfill", error)
            self.services.warn(FAILED)
        self._has_ended = True
        self.on_screen_resume()

    def _go_on(self, far: "BackfillReading") -> bool:
        share = f"{size(far.bytes)} of {size(far.all_bytes)}, {far.files} of {many(far.all_files, 'session')}"
        self.post_message(HowFar(f"{share}, {many(far.drafts, 'draft')}"))
        return not self._stop.is_set()

    def on_how_far(self, message: HowFar) -> None:
        self.query_one("#far", Static).update(Text(message.words))

    def on_screen_resume(self) -> None:
        """Answer once the reading has ended, and the palette or another screen no longer covers the dialog."""
        if self._has_ended:
            self.dismiss(self._found)


def is_due(services: "Services") -> bool:
    """Tell whether there are sessions on this machine that were never read for drafts, and the person was not asked."""
    from memtui.learn.backfill import past_sessions

    data = services.data
    if services.read_only or State(data.root).get(TABLE).get("asked") or past_sessions.was_done(data.root):
        return False
    return any(past_sessions.transcripts(data.config_dir))


async def begin(services: "Services") -> None:
    """Ask, read, show the best drafts, and put them into the inbox if that is wanted: one step of undo."""
    from memtui.learn.backfill import past_sessions, ranking, reader

    data = services.data
    transcripts = reader.transcripts(data.config_dir)
    if not transcripts:
        services.say(NONE)
        return
    again = past_sessions.was_done(data.root)
    if again:
        transcripts = await asyncio.to_thread(reader.new, data.env)
    if transcripts and not await _wants(services, transcripts, again=again):
        services.say(actions.keyed(LATER))
        return
    reading_done = await services.ask(BackfillProgress(services))
    if reading_done is None:
        return
    store = data.store()
    offer = await asyncio.to_thread(ranking.plan, store, reading_done.candidates)
    stopped = " The reading was stopped." if reading_done.stopped else ""
    if not offer.drafts:
        services.say(("No new draft was found." if transcripts else NOTHING_NEW) + stopped)
        return
    best = "Found so far:" if stopped else "Found"
    best = best if transcripts else "Nothing is new since the last reading; what waits:"
    title = f"{best} {many(len(offer.drafts), 'draft')}" + "".join(f"; {words}" for words in offer.more_words)
    if await services.ask(Preview(title, _drawn(offer), "put them into the inbox")):
        offer.write(store)
        elsewhere = sum(draft.candidate.project not in {"", data.project_root} for draft in offer.drafts)
        of = "all" if elsewhere == len(offer.drafts) else f"{elsewhere} of them"
        where = f", {of} in other projects" if elsewhere else ""
        inbox = services.go("inbox")
        if elsewhere:
            services.all_projects = True
            inbox.reload()
        services.say(f"{drafts.added(len(offer.drafts))}{where}. {actions.takes_back()}")
        services.read()


async def _wants(services: "Services", transcripts: "Sequence[TranscriptFile]", *, again: bool) -> bool:
    """Ask whether these transcripts shall be read; `again`: they are new since the last reading."""
    data = services.data
    what = "session with new turns" if again else "past session"
    several = "sessions with new turns" if again else ""
    volume = f"{many(len(transcripts), what, several)} ({size(sum(transcript.size for transcript in transcripts))})"
    question = f"Look through {volume} for corrections worth keeping? Runs locally, without a model."
    options = [("go", "Look through them, and show the best drafts"), ("no", "Not now")]
    answer = await services.ask(Choice(question, options))
    State(data.root, read_only=services.read_only).put(TABLE, {"asked": True})
    return answer == "go"


def _drawn(offer: "Offer") -> Text:
    text = Text()
    for at, each in enumerate(offer.drafts):
        draft = each.candidate.draft
        if each.folded and not (at and offer.drafts[at - 1].folded):
            text.append(f"{FOLDED}\n", style="bold")
        text.append(safe_text.line(draft.description) + "\n")
        where = "all projects" if draft.scope == "global" else each.candidate.project.rstrip("/").rpartition("/")[2]
        odds = drafts.odds(each.candidate.confidence, draft.durable, each.candidate.said)
        facts = " · ".join([draft.kind, *odds, where])
        text.append(f"  {safe_text.line(facts)}\n", style="dim")
    return text
