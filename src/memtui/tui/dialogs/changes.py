"""What can be taken back: undo and redo, in a worker, the dialog of all changes, and the versions of one memory."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rich.text import Text

from memtui import keymap
from memtui.base import clock_hot
from memtui.base.dates import when
from memtui.base.errors import MemtuiError
from memtui.base.phrasing_hot import age, ago, many
from memtui.base.short_ids import short_id
from memtui.models.subconscious.blocks import Blocks
from memtui.store import history, references
from memtui.store.journal import acts, ledger, undo
from memtui.store.journal.undo import decided, was_delivered
from memtui.store.memory import read_memory
from memtui.store.scopes import Scope
from memtui.store.versions.versions import GONE, Version
from memtui.store.versions.writers import Occasions
from memtui.tui.dialogs.ask import Choice, left_alone, sure
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.model.data import Data
from memtui.tui.services import BUSY, READ_ONLY, UNDO_GROUP, Services
from memtui.tui.texts import TABLES
from memtui.tui.widgets import prose
from memtui.views import safe_text
from memtui.views.changes import KEYS, PLACES, act, asked_about, place, prompted, reason, together, told, undone_as_one

if TYPE_CHECKING:
    from memtui.store.journal.ledger import Transaction

STATES = {state: words.split(" | ") for state, words in TABLES["states of changes"].items()}
FILES_SHOWN = 20  # files whose differences are shown
NAMED = 3  # changes of a group that its row names
NO_VERSIONS = "It has no versions: memtui keeps those of memories that it can read, not of CLAUDE.md and rules."


@dataclass(frozen=True)
class ChangeRow:
    """A row: a change, or several that were made together, newest first."""

    changes: Sequence["Transaction"]

    @property
    def newest(self) -> "Transaction":
        return self.changes[0]

    @property
    def is_group(self) -> bool:
        return len(self.changes) > 1

    @property
    def id(self) -> str:
        return self.newest.group if self.is_group else self.newest.id

    @property
    def state(self) -> str:
        """Its state: of several, done as long as one change of it is in effect."""
        return "done" if any(change.state == "done" for change in self.changes) else self.newest.state

    @property
    def summary(self) -> str:
        if not self.is_group:
            return self.newest.summary
        words, own = together(self.changes, len(self.changes)), decided(self.changes)
        names = [acts.subject(act(change), change.summary) for change in own[:NAMED]]
        return words if len(own) == 1 else f"{words}: {', '.join(names)}{'…' * (len(own) > NAMED)}"


async def show_changes(services: Services) -> None:
    """List all changes, newest first, and undo the one that is chosen."""
    data = services.data
    changes = await asyncio.to_thread(lambda: data.ledger.follow().changes())
    rows = [ChangeRow([*members]) for _, members in groupby(changes, lambda change: change.group or change.id)]
    by_id = {row.id: row for row in rows}
    if not rows:
        services.say("Nothing was changed yet.")
        return
    way = lambda key: "back" if services.read_only else f"{_op(data, by_id[key])} it" if _op(data, by_id[key]) else ""
    options = [(row.id, _line(data, row)) for row in rows]
    chosen = await services.ask(Choice("Changes", options, about=lambda key: _about(data, by_id[key]), verb=way))
    if chosen is None or services.read_only:
        return
    if op := _op(data, by_id[chosen]):
        services.turn(op, chosen)
    else:
        services.say(f"This change {_meaning(data, by_id[chosen])}.")


def _line(data: Data, row: ChangeRow) -> str:
    seconds = clock_hot.parse(row.newest.time)
    moment = when(seconds, data.now()) if seconds is not None else "-"
    sign = STATES[row.state][0] if row.state in STATES else " "
    return f"{moment:>9}  {place(row.newest, 'tui'):<6}  {sign} {_sentence(data, row)}"


def _sentence(data: Data, row: ChangeRow) -> str:
    return safe_text.line(" ".join(map(data.tilde, row.summary.split(" "))), 300)


def _about(data: Data, row: ChangeRow) -> Text:
    """Say whether a change is in effect, and draw what it changed; of several made together name each."""
    text = Text(f"{_sentence(data, row)}\n", "bold")
    text.append(f"{ago(clock_hot.parse(row.newest.time), data.now())}, {_meaning(data, row)}\n", "not bold")
    if row.is_group:
        lines = [f"{short_id(change.id)}  {safe_text.line(change.summary, 300)}\n" for change in row.changes]
        return text.append("\n" + "".join(lines), "not bold")
    return text.append_text(_difference(data, row.newest))


def _can_undo(data: Data, row: ChangeRow) -> bool:
    journal, undoable = data.journal(), data.ledger.undoable
    return any(change.id in undoable and not was_delivered(journal, change) for change in row.changes)


def _op(data: Data, row: ChangeRow) -> Literal["undo", "redo", ""]:
    """Return what can be done with a change, empty if nothing can."""
    can_redo = any(change.id in data.ledger.redoable for change in row.changes)
    return "undo" if _can_undo(data, row) else "redo" if can_redo else ""


def _meaning(data: Data, row: ChangeRow) -> str:
    if row.state != "done" or _can_undo(data, row):
        return STATES[row.state][1] if row.state in STATES else ""
    is_note = row.newest.op == "guide"
    return "was delivered or changed meanwhile" if is_note else "deletes for good: it can't be undone"


def _difference(data: Data, change: "Transaction") -> Text:
    """Draw what a change changed in each file but memtui's own."""
    journal = data.journal()
    try:
        files = journal.changes_of(change.record)
    except MemtuiError as error:
        return Text(f"{error.message} {error.hint}", "dim")
    own = (f"{journal.root}/", (".json", ".jsonl"))
    files = [file for file in files if not (file.path.startswith(own[0]) and file.path.endswith(own[1]))]
    text = Text()
    for file in files[:FILES_SHOWN]:
        text.append(f"\n{safe_text.line(data.tilde(file.path), 300)}\n", "bold")
        text.append_text(prose.difference(*file.texts))
    more = len(files) - FILES_SHOWN
    return text.append(f"\nand {many(more, 'more file')}\n" if more > 0 else "", "dim")


class Undo:
    """Undo and redo, one at a time, in the order of the keys."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._wanted: deque[tuple[undo.Op, str | None, str]] = deque()
        self._running = False

    def want(self, op: undo.Op, key: str | None = None, sure_of: str = "") -> None:
        """Undo or redo the last change, or the one with this key; ask about one of elsewhere, unless `sure_of`."""
        if why_not := BUSY if self.services.at_work else READ_ONLY if self.services.read_only else "":
            self.services.warn(why_not)
            return
        self._wanted.append((op, key, sure_of))
        if not self._running:
            self._running = True
            self.services.run_worker(self._turn_all(), group=UNDO_GROUP)

    async def _turn_all(self) -> None:
        question = None
        try:
            while self._wanted:
                try:
                    question = await self._turn(*self._wanted.popleft())
                except (MemtuiError, OSError) as error:
                    self.services.fail(error)
        finally:
            self._running = False
        self.services.read()
        if question is not None:
            self.services.start(self.services.screen, question, "undo")

    async def _turn(self, op: undo.Op, key: str | None, sure_of: str) -> Coroutine[Any, Any, object] | None:
        """Undo or redo one step and say so. Return the dialog that asks first, or lists what could not be undone."""
        progress = self.services.progress

        def attempt() -> tuple[undo.Elsewhere | undo.Undone, str]:
            journal = self.services.data.journal()
            go_on = lambda count, total: progress.go_on(count, total, acts.done(op))
            outcome = undo.attempt(journal, op, key, sure=lambda elsewhere: elsewhere.first.id == sure_of, go_on=go_on)
            self.services.data.take_in()  # what others wrote and the undo brings back waits in the inbox at once
            if isinstance(outcome, undo.Elsewhere) or (outcome.total > 1 and not outcome.done):
                return outcome, "nothing"
            return outcome, undone_as_one(outcome, {op: keymap.keyed(way) for op, way in KEYS.items()}).summary

        outcome, summary = await progress.run(attempt)
        if isinstance(outcome, undo.Elsewhere):
            self._wanted.clear()  # keys that were pressed before the question was shown
            return self._ask(outcome)
        return self._report(outcome, summary)

    async def _ask(self, elsewhere: undo.Elsewhere) -> None:
        latest, op = elsewhere.first.latest, elsewhere.op
        here = "here" if latest.actor == ledger.here("tui") else "another TUI"
        data = self.services.data
        project = data.elsewhere(elsewhere.first.paths)
        words = asked_about(elsewhere, data.now(), PLACES["cli"] | {"tui": here}, project)
        if await self.services.ask(sure(words, f"{op.capitalize()} it")):
            self.want(op, sure_of=elsewhere.first.id)

    def _report(self, undone: undo.Undone, summary: str) -> Coroutine[Any, Any, object] | None:
        words = f"{acts.done(undone.op).capitalize()}: {summary}"
        if undone.total > undone.tried:
            reverse = "undo" if undone.op == "redo" else "redo"
            words += keymap.keyed(f", then stopped. {{app.{undone.op}}} continues, {{app.{reverse}}} reverses it.")
        if not undone.failed:
            self.services.say(words.removesuffix(".") + ".")
            return None
        title = f"{words}. {many(len(undone.failed), 'change')} left alone:"
        reasons = [(change.summary, reason(change, error)) for change, error in undone.failed]
        return self.services.ask(left_alone(title, reasons))


# the versions of a memory, or of a block of the model


class Lineage(NamedTuple):
    """The versions of a memory or block, oldest first: its `name`, who wrote each and after which prompt, the texts."""

    name: str
    versions: list[Version]
    who: Callable[[Version], str]
    prompt: Callable[[Version], str]
    text: Callable[[Version], str]


async def show_versions(services: Services, scope: Scope, path: str) -> str:
    """List the versions of a memory by its path, and restore the chosen one; return its path, or an empty one."""
    data, versions = services.data, services.data.versions
    if services.read_only:
        versions.follow()
    elif history.looked(versions, [scope]).problem is not None:
        services.warn(f"The newest version can't be kept: {versions.problem}")
    file = references.relative(scope, path) if history.with_versions(scope) else ""
    line = versions.line(scope.directory, file)
    if not line:
        services.warn(NO_VERSIONS)
        return ""
    occasions = Occasions(data.env)
    by_writer = await asyncio.to_thread(lambda: {state.writer: occasions.of(state.writer) for state in line})
    scopes = await asyncio.to_thread(history.scopes_of, data.env, data.cwd, line)

    def who(version: Version) -> str:
        words_then = told(version, line[-1], by_writer[version.writer].title, scopes)
        unseen = "  not seen yet" if history.waits(line, version) else ""
        return "deleted, " * (version.digest == GONE) + words_then + unseen

    prompt = lambda version: prompted(by_writer[version.writer].prompt)
    lineage = Lineage(references.stem(file), line, who, prompt, lambda version: _text(versions.content(version)))
    version = await _chosen(services, lineage)
    if version is None:
        return ""
    if version.digest == GONE:
        services.warn("That version is the deletion: there is no text to restore.")
        return ""
    present = None if line[-1].digest == GONE else read_memory(path, scope.label)
    now_text = _text(present.raw) if present is not None else None
    if not await _is_wanted(services, lineage, version, now_text, _text(history.text(versions, version, file))):
        return ""

    def restore() -> str:
        restored = history.restore(data.store(), versions, scope, present, version, file)
        history.taken_in(versions, [scope])
        return restored.path

    return services.make(restore, f"Restored version {line.index(version) + 1} of {lineage.name}.")


async def show_block_versions(services: Services, name: str) -> None:
    data = services.data
    blocks = Blocks(data.root, data.slug, data.now)
    line = blocks.versions(name)[::-1]
    if not line:
        services.warn(f"{name} has no versions: nobody has changed it.")
        return
    text = partial(blocks.content, name)
    lineage = Lineage(name, line, lambda version: told(version, line[-1]), lambda _: "", text)
    version = await _chosen(services, lineage)
    if version is None:
        return
    present = blocks.editable(name)
    if await _is_wanted(services, lineage, version, present, text(version)):
        restore = partial(blocks.replace, name, text(version), data.journal(), present)
        services.make(restore, f"Restored version {line.index(version) + 1} of {name}.")


async def _chosen(services: Services, lineage: Lineage) -> Version | None:
    """Ask which version is wanted, newest first, and draw what each changed; return None for none."""
    name, line, now = safe_text.line(lineage.name, 60), lineage.versions, services.data.now()

    def drawn(number: str) -> Text:
        at = int(number) - 1
        prompt = lineage.prompt(line[at])
        text = Text().append(safe_text.line(prompt) + "\n\n" if prompt else "", "dim")
        try:
            after = lineage.text(line[at])
            if not at:
                return text.append(safe_text.clean(after))
            before = lineage.text(line[at - 1])
        except MemtuiError as error:
            return Text(f"! {safe_text.line(error.message)}\n", "yellow")
        return text.append_text(prose.difference(before, after))

    rows = [
        (str(number), f"{number:>3}  {age(row.time, now):>4}  {safe_text.line(lineage.who(row.version), 140)}")
        for number, row in enumerate(history.rows(line), 1)
    ][::-1]
    question = f"Versions of {name}" if len(line) > 1 else f"The only version of {name}"
    number = await services.ask(Choice(question, rows, about=drawn, verb="restore", idle=rows[0][0]))
    return line[int(number) - 1] if number else None


async def _is_wanted(services: Services, lineage: Lineage, version: Version, present: str | None, text: str) -> bool:
    """Show what restoring a version changes (`present` None: it was deleted); return whether the person wants it."""
    if present == text:
        services.say("That is the present text.")
        return False
    title = f"{safe_text.line(lineage.name, 60)} becomes version {lineage.versions.index(version) + 1}"
    drawn, go = prose.difference(present or "", text), "" if services.read_only else "restore it"
    return await services.ask(Preview(title, drawn, go)) is True


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").rstrip("\n")
