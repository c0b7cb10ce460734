"""A note as the subject of a form: its text, for which project or session it is, how urgent, and when it expires."""

import time
from collections.abc import Mapping, Sequence
from functools import cache

from rich.text import Text

from memtui import keymap
from memtui.base import clock_hot, dates, ids_hot, paths_hot
from memtui.base.dates import day_and_time
from memtui.base.phrasing_hot import ago, until
from memtui.client.projects import names_of_roots
from memtui.client.transcripts import prompts, transcript_hot
from memtui.deliver import sessions
from memtui.inbox import guidance
from memtui.inbox.format_hot import Entry
from memtui.redact import redact
from memtui.review.waiting_entries import Waiting
from memtui.sync import state
from memtui.tui.dialogs.subject import CHOICE, NOTHING, TEXT, FormField, Options, Saved, Subject, Typed
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.model.data import Data
from memtui.views import notes, safe_text

# The sessions to choose from, and the delivery records that they are taken from; the newest in both cases.
SESSIONS = 8
RECORDS = 300
# Values of the field `to`; a session's id follows SESSION, a machine's name MACHINE.
PROJECT, EVERYWHERE, SESSION, MACHINE = "project", "global", "session:", "machine:"
NEXT, URGENT = "next", "urgent"
WHEN = {NEXT: "the next prompt", URGENT: "urgent: the next prompt or tool use"}
OVER = "That session is over: it gets the note once you resume it. For a running one, choose the project."
GONE = "It is gone: it was delivered or withdrawn. What you typed stays here to be copied."
EXPIRED = "It expired {}. Without a new time it is delivered whenever it can be."
WHILE_TYPING = 20_000  # the longest text, in characters, that is searched for secrets at each key

# The values of the form, the `others` that a note is addressed to, and of one that is sent again who it is `from`.
Note = Mapping[str, str]


def note_from(entry: Entry, *, everywhere: bool) -> dict[str, str]:
    """Return the values of the form for an entry of an inbox."""
    addresses = [address.strip() for address in entry.fields.get("for", "").split(",") if address.strip()]
    target = next((address for address in addresses if address.startswith((SESSION, MACHINE))), "")
    return {
        "text": entry.text,
        "to": target or (EVERYWHERE if everywhere else PROJECT),
        "others": ", ".join(address for address in addresses if address != target),
        "when": URGENT if entry.flag("urgent") else NEXT,
        "expires": _as_given(entry.fields.get("expires", "")),
        "from": entry.fields.get("from", ""),
    }


def _as_given(expires: str) -> str:
    """Return a time of a file as a person gives it: local, and without seconds if it has none."""
    seconds = clock_hot.parse(expires)
    if seconds is None:
        return expires
    return time.strftime("%Y-%m-%dT%H:%M:%S" if seconds % 60 else "%Y-%m-%d %H:%M", time.localtime(seconds))


def blank(data: Data, text: str = "", to: str = PROJECT) -> dict[str, str]:
    """Return the values of the form for a new note; the settings say whom it is for."""
    others = ", ".join(guidance.audience([], data.setting("note_to")))
    return {"text": text, "to": to, "others": others, "when": NEXT, "expires": ""}


def _addresses(note: Note) -> list[str]:
    others = [address for address in note["others"].split(", ") if address]
    return [note["to"], *others] if note["to"].startswith((SESSION, MACHINE)) else others


def _compared(note: Note) -> bytes:
    """Return a note as bytes to compare with another: its text, then a line each for addresses, urgency and expiry."""
    urgent = "true" if note["when"] == URGENT else ""
    fields = {"for": ", ".join(_addresses(note)) or note["to"], "urgent": urgent, "expires": note["expires"]}
    lines = "".join(f"{name}: {value}\n" for name, value in fields.items() if value)
    return f"{note['text'].rstrip()}\n\n{lines}".encode("utf-8", "replace")


class GuidanceSubject(Subject):
    """A new note, or with `item` one that waits; saving returns its text."""

    name, gone, at_end = "this note", GONE, True

    def __init__(
        self,
        data: Data,
        note: Note | None = None,  # the first values of the form
        item: Waiting | None = None,
        key: str = "",  # tells its autosave from that of another new note
        home: tuple[str | None, str] = (None, ""),  # slug and name of its project, if that is another one
        notice: str = "",  # introduces a note that is an example
    ) -> None:
        own = home[0] in {None, data.slug}
        self.slug, self.project = (data.slug, data.facts.project) if own else (str(home[0]), home[1])
        self.data, self.item, self.new = data, item, note or blank(data)
        # Each is looked up once.
        self._target = cache(lambda session_id: sessions.find(data.root, session_id))
        self._title = cache(lambda session_id: _title(transcript_hot.find(data.config_dir, session_id)))
        name = f"guidance-{item.id}" if item else f"guidance{'-' + key if key else ''}"
        self.autosave = autosave.kept(data.root, name) or Autosave(name, self._base())
        title = "Edit the note" if item else "Your first note" if notice else "Write a note"
        self.title = title if own else f"{title} · {self.project}"
        values, past = self._given(), self._past(self._there["expires"])
        self.verb, self.is_example = "save" if item else "send", bool(notice)
        self.notice = EXPIRED.format(ago(past, data.now())) if past else notice
        to = {**values, **self.autosave.values}["to"]
        places = [(PROJECT, f"{'this' if own else 'the'} project: {self.project}"), (EVERYWHERE, "every project")]
        places += [(to, f"session {to[8:16]}")] if to.startswith(SESSION) else []
        self._first_target = to.removeprefix(SESSION) if to.startswith(SESSION) else ""
        line = "What the agent should know. It gets this once."
        times = "never, or 3d, 18:00, friday, 2026-12-31"
        self.fields: Sequence[FormField] = (
            FormField("text", safe_text.clean(values["text"]), TEXT, placeholder=line),
            FormField("to", values["to"], CHOICE, options=places, later=self._elsewhere),
            FormField("when", values["when"], CHOICE, options=tuple(WHEN.items())),
            FormField("expires", values["expires"], placeholder=times),
        )

    @property
    def _there(self) -> Note:
        """The note as its inbox has it; the first values of a new one."""
        return note_from(self.item.entry, everywhere=self.item.slug is None) if self.item is not None else self.new

    def _given(self) -> Note:
        return {**self._there, "expires": "" if self._past(self._there["expires"]) else self._there["expires"]}

    def _past(self, expires: str) -> float:
        seconds = dates.read(expires, self.data.now(), ahead=True, day=dates.END) or 0.0
        return seconds if seconds <= self.data.now() else 0.0

    def _elsewhere(self) -> Options:
        """Look up the newest sessions, the live ones first."""
        data = self.data
        finder = transcript_hot.Finder(paths_hot.config_dir(data.env))
        recent = sessions.collect(data.root, data.records(RECORDS))
        targets, first = recent[:SESSIONS], self._first_target
        targets += [self._target(first)] if first and all(pair.id != first for pair in targets) else []
        clients = sessions.served(data.root)
        projects = names_of_roots(data.env, {pair.project for pair in targets})
        options = []
        for pair in targets:
            live = sessions.live(pair.id, pair.client, clients)
            since = "live" if live else ago(clock_hot.parse(pair.logged), data.now())
            title = _title(finder.find(pair.id))
            name = f"“{title}”" if title else f"session {pair.id[:8]}"
            options.append((not live, SESSION + pair.id, f"{name}  {projects[pair.project]}, {since}"))
        options.sort(key=lambda option: option[0])
        own = state.load(data.root)
        names = [name for machine, name in own.machines.items() if machine != own.machine] if own else []
        machines = [(MACHINE + name, f"machine {safe_text.line(name)}, with the next sync") for name in names]
        return [(to, words) for _, to, words in options] + machines

    def _base(self) -> str:
        return ids_hot.digest(_compared(self._there)) if self.item is not None else ""

    def is_empty(self, typed: Typed) -> bool:
        return not typed.values["text"].strip()

    def check(self, typed: Typed) -> Text:
        """Return who gets the note and when, and warnings. Raises UsageError for addressees, times that can't be."""
        note, now = {**self._given(), **typed.values}, self.data.now()
        addresses = guidance.addresses(_addresses(note))
        expires, end = note["expires"].strip(), ""
        if expires:
            seconds = guidance.expiry(expires, now)
            never = seconds == dates.NEVER
            end = ", whenever that is" if never else f", until {day_and_time(seconds, now)} ({until(seconds, now)})"
        recipient = self._recipient(", ".join(addresses), note["to"], urgent=note["when"] == URGENT)
        words = [f"Delivered once, to {recipient}{end}."]
        if note["to"].startswith(SESSION):
            target = self._target(note["to"].removeprefix(SESSION))
            words += [] if sessions.live(target.id, target.client, sessions.served(self.data.root)) else [OVER]
        kinds = redact.kinds_in(note["text"], self._there["text"]) if len(note["text"]) <= WHILE_TYPING else []
        words += [f"{redact.suspicion(kinds, 'It')}. ^s asks before it is kept."] if kinds else []
        deaf = notes.keyed(self.data.unheard())
        warning = f"\n! {deaf[:1].upper()}{deaf[1:]}." if deaf else ""
        return safe_text.styled(" ".join(words)).append(warning, "bold yellow")

    def there(self) -> str | None:
        before = self.item
        if before is None:
            return ""
        same = [entry for entry in self.data.waiting((before.kind,), every=True) if entry.id == before.id]
        if not same:
            return None
        self.item = same[0]
        return self._base()

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        return _compared(self._there), _compared({**self._given(), **typed.changed})

    def save(self, typed: Typed) -> Saved:
        data, item, note = self.data, self.item, {**self._given(), **typed.changed}
        if item is not None and _compared(note) == _compared(self._there) and not item.entry.fields.get("attempts"):
            return Saved(item.text, NOTHING)  # where there are attempts, saving counts them anew
        moved = note["to"] != self._there["to"]
        text, slug, urgent = guidance.text(note["text"]), self._slug(note["to"]), note["when"] == URGENT
        sender = note.get("from") or "tui"  # of a note that is sent again it stays
        fields = guidance.fields(sender, _addresses(note), urgent, note["expires"].strip() or None, data.now())
        directory = paths_hot.inbox_dir(data.root, slug)
        if item is not None:
            data.review().reword(item, directory, fields, text)
        else:
            data.review().guide(directory, fields, text)
        is_unheard = bool(data.unheard())  # the form says why
        whither = f"aits for {self._recipient(fields.get('for', ''), note['to'], urgent=urgent)}"
        # A note that now goes elsewhere may leave the list: say where it is.
        words = f"W{whither}" if item is None else f"Changed: w{whither}" if moved else "Changed"
        words += ", but nothing delivers it yet." if is_unheard else "."
        return Saved(text, f"{words} {keymap.takes_back()}", warns=is_unheard)

    def _recipient(self, addresses: str, to: str, *, urgent: bool) -> str:
        """Say who gets a note: one that is not for this project is not in the list of this one."""
        slug = self._slug(to)
        project = "any project" if slug is None else "this project" if slug == self.data.slug else self.project
        title = self._title(to.removeprefix(SESSION)) if to.startswith(SESSION) else ""
        return notes.recipient(addresses, urgent=urgent, project=project, title=title)

    def _slug(self, to: str) -> str | None:
        """Return the slug of the project whose inbox the note goes into, of a session its own; None: global."""
        if to == EVERYWHERE:
            return None
        return (self._target(to.removeprefix(SESSION)).slug if to.startswith(SESSION) else "") or self.slug


def _title(path: str | None) -> str:
    return safe_text.line(prompts.about(path).title, 50)
