"""What memtui offers: the hooks, shown before they are written, a first note, and drafts of earlier sessions."""

import asyncio
import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from memtui import keymap
from memtui.base.errors import MemtuiError
from memtui.base.phrasing import many, size
from memtui.deliver import error_log
from memtui.hooks.install import installation as install
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Dialog, Keys, Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.guidance_subject import GuidanceSubject, blank
from memtui.tui.model.data import State
from memtui.tui.services import HowFar
from memtui.views import drafts, safe_text
from memtui.views import setup as setup_words

if TYPE_CHECKING:
    from memtui.learn.backfill.past_sessions import BackfillReading, TranscriptFile
    from memtui.learn.backfill.ranking import Offer
    from memtui.tui.services import Services

WHOSE = {"user": "all projects", "local": "this project, you alone", "project": "this project, everyone"}
COLOURS = {"+": "green", "-": "red", "@": "dim"}
WELCOME = (
    "memtui is not connected to Claude Code yet. Its hooks give your sessions your memories and notes, and record what"
    " arrived. enter adds the lines below to the file under the cursor. Before that, nothing is written."
)
EXPLAINED = """\
The hooks run on this machine. They open no network connection and call no
model. If one fails or is late, your prompt goes on without it.
memtui setup hooks --remove restores the settings file byte for byte; if the
file was changed meanwhile, only memtui's lines are removed."""

# The tables of the remembered state that say that the person was asked.
HOOKS_TABLE, SESSIONS_TABLE = "offer", "backfill"
EXAMPLE = "I am trying memtui. Begin your next answer with the words “memtui works”."
NOTICE = "The hooks are installed. Now send Claude a note: enter sends this one, or type your own, then ^s."
NO_HOOKS = "No hooks were installed. To install them later: {app.setup}, then {setup.approve}."
NO_NOTE = "{app.note} writes a note at any time."
# Earlier sessions.
NO_SESSION = "No session of Claude Code is on this machine yet."
LATER = "“past sessions” in the palette ({app.palette}) reads them at any time."
FAILED = "Reading earlier sessions failed; `memtui doctor --errors` has the details."
FOLDED = "The inbox folds these, which are unlikely to last:"
NOTHING_NEW = "Nothing is new in your sessions since the last reading, and no draft waits."

PlanOrError = install.SettingsPlan | MemtuiError


async def change_hooks(services: "Services", action: install.Action, *, offer: bool = False) -> bool:
    """Show and write what the person chooses; return whether they did. `offer`: nobody asked for it."""
    data = services.data
    plans = {scope: _plan(services, action, scope) for scope in WHOSE}
    if action != "install":
        plans = {scope: plan for scope, plan in plans.items() if isinstance(plan, MemtuiError) or plan.changed}
    ways = [(scope, f"{WHOSE[scope]:<24} {_place(services, plan)}") for scope, plan in plans.items()]
    idle = "Nothing is written." if plans else "No settings file has hooks of memtui's."
    question = Choice(
        "Install the hooks" if action == "install" else "Remove the hooks",
        [*ways, ("", "Not now" if offer else "Cancel")],
        start=next(iter(plans), ""),
        about=lambda scope: _drawn(plans[scope]) if scope else Text(idle),
        lead=WELCOME if offer else "",
        marks=EXPLAINED,
        verb="install" if action == "install" else "remove",
        fixed=True,
    )
    scope = await services.ask(question)
    plan = plans[scope] if scope else None
    if isinstance(plan, MemtuiError):
        raise plan
    if plan is None or not plan.changed:
        return False
    install.apply(plan, by="tui", now=data.now)
    if not offer:
        lines = setup_words.outcome(data.not_served()) if action == "install" else []
        sentence = "Hooks installed." if action == "install" else "Hooks removed."
        services.say(" ".join([sentence, *lines, keymap.takes_back()]))
    services.read()
    return True


def _plan(services: "Services", action: install.Action, scope: str) -> PlanOrError:
    env, cwd = services.data.env, services.data.cwd
    try:
        return install.plan(install.settings_path(env, cwd, scope), action, env=env, scope=scope)
    except MemtuiError as error:
        return error


def _place(services: "Services", plan: PlanOrError) -> str:
    if isinstance(plan, MemtuiError):
        return "can't be done"
    top = install.working_tree(services.data.cwd).rstrip("/") + "/"
    return services.data.tilde(plan.settings_path).removeprefix(top)


def _drawn(plan: PlanOrError) -> Text:
    text = Text()
    if isinstance(plan, MemtuiError):
        return text.append(safe_text.clean(f"{plan.message}\n{plan.hint}"), style="yellow")
    if not plan.changed:
        return text.append("The hooks are in this file already: nothing to change.")
    for heading, events in setup_words.effects(plan):
        text.append(f"{heading}\n", "bold")
        for event in events:
            text.append(f"  {event:<16}  ", "dim").append(f"{setup_words.DOES[event]}\n")
    text.append("\nThe exact change of the file\n", "bold")
    for line in plan.diff.splitlines():
        text.append(safe_text.line(line) + "\n", style=COLOURS.get(line[:1], ""))
    for note in setup_words.notes(plan):
        text.append(f"note: {safe_text.clean(note)}\n", style="yellow")
    if pasted := setup_words.to_paste(plan):
        text.append(safe_text.clean(pasted) + "\n")
    return text


def is_due(services: "Services") -> bool:
    """Return whether there is something to offer that no earlier start has offered."""
    return _is_first(services) or _has_unread_sessions(services)


def _is_first(services: "Services") -> bool:
    """Return whether this is a first start: no hooks are or were ever installed, and no offer was answered."""
    root = services.data.root
    if services.read_only or services.data.facts.hooks:
        return False
    ran = any(os.path.exists(f"{root}/{name}") for name in ("log", "installs.json"))
    return not ran and not State(root).get(HOOKS_TABLE).get("done")


async def begin(services: "Services") -> None:
    """Offer the hooks and a first note at a first start, then reading earlier sessions."""
    if _is_first(services):
        await _offer(services)
    if _has_unread_sessions(services):
        await read_past_sessions(services)


async def _offer(services: "Services") -> None:
    """Offer the hooks. Where they are installed now, open the form with a first note, then show what becomes of it."""
    data = services.data
    installed = await change_hooks(services, "install", offer=True)
    State(data.root).put(HOOKS_TABLE, {"done": True})
    if not installed:
        services.say(keymap.keyed(NO_HOOKS))
        return
    findings = data.not_served()
    notice = " ".join(["The hooks are installed, but:", *setup_words.outcome(findings)]) if findings else NOTICE
    if await services.ask(DraftForm(GuidanceSubject(data, blank(data, EXAMPLE), notice=notice), services)) is None:
        services.say(keymap.keyed(NO_NOTE))
        return
    services.go("activity")
    services.read()


class BackfillProgress(Dialog["BackfillReading"]):
    """The progress of a reading. The answer is what it brought, also if it was stopped; None if it failed."""

    across = 70
    heading = "Reading earlier sessions"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "stop", "stop")]

    def __init__(self, services: "Services") -> None:
        super().__init__()
        self.services = services
        self._stop = threading.Event()
        self._has_ended = False
        self._reading: BackfillReading | None = None

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
        from memtui.learn.backfill import past_sessions

        data = self.services.data
        try:
            self._reading = await asyncio.to_thread(past_sessions.read, data.env, go_on=self._go_on)
        except (OSError, MemtuiError) as error:
            self.services.fail(error)
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
            self.dismiss(self._reading)


def _has_unread_sessions(services: "Services") -> bool:
    """Tell whether there are sessions on this machine that were never read for drafts, and the person was not asked."""
    from memtui.learn.backfill import progress

    data = services.data
    if services.read_only or State(data.root).get(SESSIONS_TABLE).get("asked") or progress.was_done(data.root):
        return False
    return any(progress.transcripts(data.config_dir))


async def read_past_sessions(services: "Services") -> None:
    """Ask, read, show the best drafts, and put them into the inbox if that is wanted: one step of undo."""
    from memtui.learn.backfill import past_sessions, progress, ranking

    data = services.data
    transcripts = past_sessions.transcripts(data.config_dir)
    if not transcripts:
        services.say(NO_SESSION)
        return
    again = progress.was_done(data.root)
    if again:
        transcripts = await asyncio.to_thread(past_sessions.new, data.env)
    if transcripts and not await _wants(services, transcripts, again=again):
        services.say(keymap.keyed(LATER))
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
    if await services.ask(Preview(title, _best_drafts(offer), "put them into the inbox")):
        offer.write(store)
        elsewhere = sum(draft.candidate.project not in {"", data.project_root} for draft in offer.drafts)
        of = "all" if elsewhere == len(offer.drafts) else f"{elsewhere} of them"
        where = f", {of} in other projects" if elsewhere else ""
        inbox = services.go("inbox")
        if elsewhere:
            services.all_projects = True
            inbox.reload()
        services.say(f"{drafts.added(len(offer.drafts))}{where}. {keymap.takes_back()}")
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
    State(data.root, read_only=services.read_only).put(SESSIONS_TABLE, {"asked": True})
    return answer == "go"


def _best_drafts(offer: "Offer") -> Text:
    text = Text()
    for at, offered in enumerate(offer.drafts):
        draft = offered.candidate.draft
        if offered.folded and not (at and offer.drafts[at - 1].folded):
            text.append(f"{FOLDED}\n", style="bold")
        text.append(safe_text.line(draft.description) + "\n")
        where = "all projects" if draft.scope == "global" else offered.candidate.project.rstrip("/").rpartition("/")[2]
        odds = drafts.odds(offered.candidate.confidence, draft.durable, offered.candidate.said)
        facts = " · ".join([draft.kind, *odds, where])
        text.append(f"  {safe_text.line(facts)}\n", style="dim")
    return text
