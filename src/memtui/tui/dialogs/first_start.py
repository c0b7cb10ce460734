"""The first hour: the hooks, shown before they are written, a first note, drafts of earlier sessions, and the tour."""

import asyncio
import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static
from textual.worker import Worker

from memtui import keymap
from memtui.base import word_lists
from memtui.base.errors import MemtuiError
from memtui.base.phrasing_hot import many, size
from memtui.client.agents import programs
from memtui.client.agents.program import PROGRAM
from memtui.hooks.install import agents
from memtui.hooks.install import installation as install
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Dialog, Keys, Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.guidance_subject import GuidanceSubject, blank
from memtui.tui.files import COMMAND
from memtui.tui.model.data import State
from memtui.tui.services import UNDO_GROUP
from memtui.views import drafts, safe_text
from memtui.views import setup as setup_words

if TYPE_CHECKING:
    from memtui.learn.backfill.past_sessions import BackfillReading
    from memtui.learn.backfill.ranking import Offer
    from memtui.tui.services import Services

WHOSE = {"user": "all projects", "local": "this project, you alone", "project": "this project, everyone"}
COLOURS = {"+": "green", "-": "red", "@": "dim"}
_TABLES = word_lists.tables(__file__.removesuffix("py") + "txt")
WORDS = _TABLES["words"]
# The tables of the remembered state that say that the person was asked.
HOOKS_TABLE, SESSIONS_TABLE = "offer", "backfill"
EXAMPLE = "I am trying memtui. Begin your next answer with the words “memtui works”."
LOOKS = [("go", "Look through them, and show the best drafts"), ("no", "Not now")]

PlanOrError = install.SettingsPlan | MemtuiError


async def change_hooks(
    services: "Services", action: install.Action, *, offer: bool = False, agent: str = PROGRAM.name
) -> bool:
    """Show and write what the person chooses of an `agent`'s hooks; return whether they did. `offer`: unasked."""
    data = services.data
    program = programs.load(agent)
    if program is PROGRAM:
        plans = {scope: _plan(services, action, scope) for scope in WHOSE}
    else:
        plans = {"user": _attempt(partial(agents.plan, program, action, data.env))}
    if action != "install":
        plans = {scope: plan for scope, plan in plans.items() if isinstance(plan, MemtuiError) or plan.changed}
    ways = [(scope, f"{WHOSE[scope]:<24} {_place(services, plan)}") for scope, plan in plans.items()]
    idle = "Nothing is written." if plans else "No settings file has hooks of memtui's."
    question = Choice(
        f"{'Install' if action == 'install' else 'Remove'} the hooks"
        + (f" of {program.title}" if agent != PROGRAM.name else ""),
        [*ways, ("", "Not now" if offer else "Cancel")],
        start=next(iter(plans), ""),
        about=lambda scope: _drawn(plans[scope]) if scope else Text(idle),
        lead=WORDS["welcome"] if offer else " ".join(program.notes(data.env) if action == "install" else ()),
        verb="install" if action == "install" else "remove",
    )
    scope = await services.ask(question)
    plan = plans[scope] if scope else None
    if isinstance(plan, MemtuiError):
        raise plan
    if plan is None or not plan.changed:
        return False
    install.apply(plan, by="tui", now=data.now)
    if not offer:
        lines = []
        if action == "install":
            trust = [f"{program.title}: {words}"] if (words := program.trust(data.env)) else []
            lines = (
                setup_words.outcome(data.not_served()) if program is PROGRAM else trust or [setup_words.served(program)]
            )
        sentence = "Hooks installed." if action == "install" else "Hooks removed."
        services.say(" ".join([sentence, *lines, keymap.takes_back()]))
    services.read()
    return True


def _plan(services: "Services", action: install.Action, scope: str) -> PlanOrError:
    env, cwd = services.data.env, services.data.cwd
    return _attempt(lambda: install.plan(install.settings_path(env, cwd, scope), action, env=env, scope=scope))


def _attempt(plan: Callable[[], install.SettingsPlan]) -> PlanOrError:
    try:
        return plan()
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
    text.append("".join(f"note: {safe_text.clean(note)}\n" for note in setup_words.notes(plan)), style="yellow")
    for heading, names in setup_words.effects(plan):
        text.append(f"{heading}\n", "bold")
        for event in names:
            text.append(f"  {event:<16}  ", "dim").append(f"{setup_words.DOES[event]}\n")
    text.append("\nThe exact change of the file\n", "bold")
    for line in plan.diff.splitlines():
        text.append(safe_text.line(line) + "\n", style=COLOURS.get(line[:1], ""))
    if pasted := setup_words.to_paste(plan):
        text.append(safe_text.clean(pasted) + "\n")
    return text.append(f"\n{WORDS['explained']}", "dim")


def _is_first(services: "Services") -> bool:
    """Return whether this is a first start: no hooks are or were ever installed, and no offer was answered."""
    root = services.data.root
    if services.read_only or services.data.facts.hooks:
        return False
    ran = any(os.path.exists(f"{root}/{name}") for name in ("log", "installs.json"))
    return not ran and not State(root).get(HOOKS_TABLE).get("done")


async def begin(services: "Services") -> None:
    """Offer the hooks and a first note at a first start, then reading earlier sessions; nothing was offered before."""
    if _is_first(services):
        await _offer(services)
    from memtui.learn.backfill import progress

    root = services.data.root
    was_asked = services.read_only or State(root).get(SESSIONS_TABLE).get("asked")
    if not was_asked and progress.unread(root, services.data.env):
        await read_past_sessions(services)


async def _offer(services: "Services") -> None:
    """Offer the hooks. Where they are installed now, open the form with a first note, then show what becomes of it."""
    data = services.data
    installed = await change_hooks(services, "install", offer=True)
    State(data.root).put(HOOKS_TABLE, {"done": True})
    if not installed:
        services.say(keymap.keyed(WORDS["no hooks"]))
        return
    findings = data.not_served()
    problems = ["The hooks are installed, but:", *setup_words.outcome(findings)]
    notice = " ".join(problems) if findings else WORDS["notice"]
    if await services.ask(DraftForm(GuidanceSubject(data, blank(data, EXAMPLE), notice=notice), services)) is None:
        services.say(keymap.keyed(WORDS["no note"]))
        return
    services.go("activity")
    services.read()


async def read_past_sessions(services: "Services") -> None:
    """Ask, read, show the best drafts, and put them into the inbox if that is wanted: one step of undo."""
    from memtui.learn.backfill import past_sessions, progress, ranking

    data = services.data
    transcripts = programs.session_files(data.env)
    if not transcripts:
        services.say(WORDS["no session"])
        return
    if progress.was_done(data.root):
        transcripts = await asyncio.to_thread(past_sessions.new, data.env)
    if transcripts:
        volume = f"{many(len(transcripts), 'past session')} ({size(sum(file.size for file in transcripts))})"
        answer = await services.ask(Choice(WORDS["look through"].format(volume), LOOKS))
        State(data.root, read_only=services.read_only).put(SESSIONS_TABLE, {"asked": True})
        if answer != "go":
            services.say(keymap.keyed(WORDS["later"]))
            return

    def go_on(far: "BackfillReading") -> bool:
        share = f"{size(far.bytes)} of {size(far.all_bytes)}, {far.files} of {many(far.all_files, 'session')}"
        return services.progress.tell(f"{share}, {many(far.drafts, 'draft')}")

    services.progress.begin("reading earlier sessions …")
    outcome = await services.progress.run(lambda: past_sessions.read(data.env, go_on=go_on))
    services.read()
    store = data.store()
    offer = await asyncio.to_thread(ranking.plan, store, outcome.candidates)
    if not offer.drafts:
        services.say("No new draft was found.")
        return
    title = "; ".join([f"Found {many(len(offer.drafts), 'draft')}", *offer.more_words])
    if await services.ask(Preview(title, _best_drafts(offer), "put them into the Inbox")):
        offer.write(store)
        inbox = services.go("inbox")
        if any(draft.candidate.project not in {"", data.project_root} for draft in offer.drafts):
            services.all_projects = True
            inbox.reload()
        services.say(f"{drafts.added(len(offer.drafts))}. {keymap.takes_back()}")
        services.read()


def _best_drafts(offer: "Offer") -> Text:
    text = Text()
    for offered in offer.drafts:
        draft = offered.candidate.draft
        text.append(safe_text.line(draft.description) + "\n")
        where = "all projects" if draft.scope == "global" else offered.candidate.project.rstrip("/").rpartition("/")[2]
        odds = drafts.odds(offered.candidate.confidence, draft.durable, offered.candidate.said)
        facts = " · ".join([draft.kind, *odds, where])
        text.append(f"  {safe_text.line(facts)}\n", style="dim")
    return text


DRAW_SECONDS = 0.25  # the screen below may still be reading its files: it is drawn again so often, in seconds
# The answers of a step are its action, that of the last step, or this.
NEXT = "next"
APPROVE, UNDO = "inbox.approve", "app.undo"
START = "start"  # the action of a step that is none of the table: a session starts in the sample world
MOVES = {"j": 1, "down": 1, "k": -1, "up": -1}  # the keys that move the cursor of the list below, and how many rows


class TourStep(NamedTuple):
    """A step of the tour; `{…}` in its words is the key of an action."""

    screen: str  # that is shown
    title: str
    words: str
    action: str  # that is done
    does: str  # what its key does
    real: str = ""  # what to do in a world that is no sample, where no session can be started
    seen: str = ""  # what one sees then, if the step stays


STEPS = [TourStep(action=name, **step) for name, step in _TABLES.items() if name != "words"]


async def lead(services: "Services") -> None:
    """Lead through the steps, and leave the person on the screen of the last one that was shown."""
    approved, note = "", ""  # the id of the draft's row, and what undo says of it
    for at, step in enumerate(STEPS):
        if step.action == UNDO and not approved:
            break
        screen = services.go(step.screen)
        if step.action == APPROVE:
            screen.wanted = lambda rows: next((at for at, row in enumerate(rows) if _is_draft(row)), None)
            screen.fill()
        words, can_do = step.words, not services.read_only and (services.data.is_sample or not step.real)
        hint = None if can_do else step.real
        answer: str | None = ""
        while answer != NEXT:
            answer = await services.ask(Tour(at, screen, words, hint))
            if answer is None:
                services.say(keymap.keyed(f"{WORDS['left']} {WORDS['last words']}"))
                return
            if answer == APPROVE:
                approved = await _approve(services, screen)
                answer = NEXT if approved else ""
            elif answer == START:
                await _start_session(services, screen)
                words, hint = step.seen, ""
            elif answer == UNDO:
                services.action_run(UNDO)
                await _settle(worker for worker in services.workers if worker.group == UNDO_GROUP)
                note, answer = f"{services.last_note}\n", NEXT
                services.go("inbox")
    services.say(note + keymap.keyed(f"That was all. {WORDS['last words']}"))


def _is_draft(row: Any) -> bool:
    return row is not None and row.kind.singular == "draft"


async def _approve(services: "Services", screen: Any) -> str:
    """Approve the draft under the cursor. Return the id of its row; empty if it still waits."""
    row, others = screen.table.row_id, set(screen.workers)
    services.action_run(APPROVE)
    await _settle(worker for worker in screen.workers if worker.group == COMMAND and worker not in others)
    return row if screen.table.index_of(row) is None else ""


async def _start_session(services: "Services", screen: Any) -> None:
    from memtui.demo import sessions

    data = services.data
    world = os.path.dirname(data.env["HOME"])
    session = await asyncio.to_thread(sessions.start, world, data.project_root, data.now())
    screen.listing.folds[session] = True
    screen.wanted = lambda rows: screen.table.index_of(f"session {session}", rows)
    screen.reload()  # a note that the session took waits no longer


async def _settle(workers: Iterable[Worker[Any]]) -> None:
    await asyncio.gather(*(worker.wait() for worker in list(workers) if not worker.is_finished))


class Tour(Dialog[str]):
    """A step of the tour, with a `hint` for what can't be done. The answer: an action, NEXT, or None to end it."""

    across = 80
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "end the tour"),
        Binding("q", "app.quit", "quit"),
        Binding("enter,space", "dismiss('next')", "next"),
    ]

    def __init__(self, at: int, below: Any, words: str, hint: str | None) -> None:
        super().__init__()
        self.step, self.below, self.words, self.hint = STEPS[at], below, words, hint
        self.heading = f"{self.step.title} · {at + 1} of {len(STEPS)}"
        self.key = keymap.key_of(APPROVE if self.step.action == START else self.step.action)
        self.lowest, self.line = Static(), Text("…")

    def body(self) -> ComposeResult:
        yield Static(Text(self.words))
        yield self.lowest

    @property
    def can_do(self) -> bool:
        return self._why_not() is None

    def _why_not(self) -> str | None:
        """Say why the action of the step can't be done now; None if it can."""
        table = self.below.table
        if self.hint is not None or self.step.action != APPROVE or _is_draft(table.row):
            return self.hint
        if any(map(_is_draft, table.rows)):
            return WORDS["no draft"]
        return "…" if table.empty.endswith("…") else WORDS["no drafts"]

    def keys(self) -> Keys:
        does = [(self.key, self.step.does.partition(" ")[0])] * self.can_do
        moves = [("j k", "another draft")] * (self.step.action == APPROVE and self.can_do)
        return (*does, ("enter", "skip this step" if self.can_do else "next"), *moves, ("escape", "end the tour"))

    def on_key(self, event: events.Key) -> None:
        if event.character == self.key and self.can_do:
            event.stop()
            self.dismiss(self.step.action)
        elif event.key in MOVES and self.step.action == APPROVE:
            self.below.table.action_move(MOVES[event.key])

    def on_mount(self) -> None:
        self.draw()
        self.set_interval(DRAW_SECONDS, self.draw)

    def draw(self) -> None:
        """Draw the screen below, and what can be done on it now."""
        self.refresh()
        line = Text(f"Press {self.key} to {self.step.does}.", "bold") if self.can_do else Text(self._why_not() or "")
        if line != self.line:
            self.line = line
            self.lowest.update(line)
            self.lowest.display = bool(line)
            self.name_keys()
            self.call_after_refresh(self._make_room)

    def _make_room(self) -> None:
        """Let the screen below end above the box: what the step is about can be read."""
        for box in self.query_children(Vertical):  # none once the dialog closes
            self.below.query_one("#panes").styles.margin = (0, 0, box.outer_size.height, 0)

    def on_unmount(self) -> None:
        self.below.query_one("#panes").styles.margin = 0
