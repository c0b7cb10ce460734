"""Guidance as the subject of a form: its text, for whom it is, how urgent, and when it expires."""

import time
from collections.abc import Mapping, Sequence

from rich.text import Text

from memtui import actions
from memtui.core.base import clock, ids, paths, when
from memtui.core.base.phrasing import ago, until
from memtui.core.client import serving, titles, transcript
from memtui.core.client.projects import names, names_of_roots, paths_of, with_memory
from memtui.core.deliveries import blocks as delivery_blocks
from memtui.core.deliveries import sessions
from memtui.core.deliveries.sessions import Session
from memtui.core.inbox import claims, guidance
from memtui.core.inbox.format import Entry
from memtui.core.redaction import redact
from memtui.core.review import addressees
from memtui.core.review.waiting import Waiting
from memtui.core.settings import config
from memtui.present import notes, safe_text, secret, unheard
from memtui.present.dates import day_and_time
from memtui.tui.dialogs.subject import CHOICE, NOTHING, TEXT, FormField, Options, Saved, Shape, Subject, Typed
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.model.data import Data

# The sessions to choose from, and the delivery records that they are taken from; the newest in both cases.
SESSIONS = 8
RECORDS = 300
# Values of the field `to`; a session's id follows SESSION, the slug of another project OTHER.
PROJECT, EVERYWHERE, SESSION, OTHER = "project", "global", "session:", "in:"
NEXT, URGENT = "next", "urgent"
WHEN = {NEXT: "with the next prompt", URGENT: "urgent: with the next prompt or tool use"}
WHO = {"": "any, also those of scripts (claude -p)", claims.PEOPLE: "only those that a person started"}
OVER = "That session is over: it gets the note once you resume it. For a running one, choose the project."
GONE = "It is gone: it was delivered or withdrawn. What you typed stays here to be copied."
# The longest text, in characters, that is searched for secrets at each key.
WHILE_TYPING = 20_000

Note = Mapping[str, str]  # the values of the form


def note_of(item: Waiting) -> dict[str, str]:
    """Return the values of the form for waiting guidance."""
    return note_from(item.entry, everywhere=item.slug is None)


def note_from(entry: Entry, *, everywhere: bool) -> dict[str, str]:
    """Return the values of the form for an entry of an inbox."""
    fields = entry.fields
    named = {kind: name for kind, _, name in (each.strip().partition(":") for each in fields.get("for", "").split(","))}
    to = SESSION + named["session"] if named.get("session") else EVERYWHERE if everywhere else PROJECT
    return {
        "text": entry.text,
        "to": to,
        "who": claims.PEOPLE if claims.PEOPLE in named else "",
        "agent": named.get("agent", ""),
        "path": named.get("path", ""),
        "when": URGENT if entry.flag("urgent") else NEXT,
        "expires": _as_given(fields.get("expires", "")),
    }


def _as_given(expires: str) -> str:
    """Return a time of a file as a person gives it: local, and without seconds if it has none."""
    seconds = clock.parse(expires)
    if seconds is None:
        return expires
    local = time.strftime("%Y-%m-%dT%H:%M:%S" if seconds % 60 else "%Y-%m-%d %H:%M", time.localtime(seconds))
    # An hour that there is twice, as clocks are put back, would be read as another.
    return local if when.read(local, seconds, ahead=True, day=when.END) == seconds else expires


def blank(data: Data, text: str = "", to: str = PROJECT) -> dict[str, str]:
    """Return the values of the form for a new note; the settings say whom it is for."""
    who = "".join(guidance.audience([], data.setting("guide_to")))
    return {"text": text, "to": to, "who": who, "agent": "", "path": "", "when": NEXT, "expires": ""}


def _addresses(note: Note) -> list[str]:
    """Return the addresses of a note, as `guidance.fields` takes them."""
    named = [f"{kind}:{note[kind].strip()}" for kind in ("agent", "path") if note[kind].strip()]
    return [each for each in (note["to"] if note["to"].startswith(SESSION) else "", note["who"], *named) if each]


def _compared(note: Note) -> bytes:
    """Return a note as bytes to compare with another: its text, then a line each for addresses, urgency and expiry."""
    urgent = "true" if note["when"] == URGENT else ""
    fields = {"for": ", ".join(_addresses(note)) or note["to"], "urgent": urgent, "expires": note["expires"]}
    lines = "".join(f"{name}: {value}\n" for name, value in fields.items() if value)
    return f"{note['text'].rstrip()}\n\n{lines}".encode("utf-8", "replace")


class GuidanceSubject(Subject):
    """A new note, or with `item` one that waits. `note` has the first values of the form; `key` tells its autosave from
    that of another new note. `home` (slug, name) is the project that it is for, if not this one. `notice`:
    the note is an example, which this introduces. The result of saving is the text of the note."""

    def __init__(
        self,
        data: Data,
        note: Note | None = None,
        item: Waiting | None = None,
        key: str = "",
        home: tuple[str | None, str] = (None, ""),
        notice: str = "",
    ) -> None:
        own = home[0] in {None, data.slug}
        self.slug, self.project = (data.slug, data.facts.project) if own else (str(home[0]), home[1])
        self.data, self.item = data, item
        self._targets: dict[str, Session] = {}
        self._titles: dict[str, str] = {}
        self._projects: dict[str, str] = {}  # the names of other projects, by slug
        self._agents: set[str] | None = None  # the agents that something was delivered to, once they were looked up
        self.note = note or (note_of(item) if item else blank(data))
        name = f"guidance-{item.id}" if item else f"guidance{'-' + key if key else ''}"
        self.autosave = autosave.kept(data.root, name) or Autosave(name, self._base())
        if self.autosave.values.pop("urgent", ""):
            self.autosave.values["when"] = URGENT
        title = "Change the note" if item else "Your first note" if notice else "Note to the agent"
        title += f" in {self.project}" if self.slug != data.slug else ""
        verb = "save" if item else "send"
        example = bool(notice)
        self.shape = Shape(
            title, verb, "this note", GONE, "note", at_end=True, across=90, is_example=example, notice=notice
        )
        to = {**self.note, **self.autosave.values}["to"]
        places = [(PROJECT, f"{'this' if own else 'the'} project: {self.project}"), (EVERYWHERE, "every project")]
        places += [(to, f"session {to[8:16]}")] if to.startswith(SESSION) else []
        places += [(to, f"project {self._project_of(to)}")] if to.startswith(OTHER) else []
        self._first_target = to.removeprefix(SESSION) if to.startswith(SESSION) else ""
        line = "What the agent should know. It gets this once."
        agents = "any agent, or a name such as reviewer"
        files = "any, or a pattern such as src/**"
        times = "never, or 3d, 18:00, friday, 2026-12-31"
        self.fields: Sequence[FormField] = (
            FormField("text", safe_text.clean(self.note["text"]), TEXT, placeholder=line),
            FormField("to", self.note["to"], CHOICE, options=places, later=self._elsewhere),
            FormField("who", self.note["who"], CHOICE, "sessions", options=tuple(WHO.items())),
            FormField("agent", self.note["agent"], label="only agent", placeholder=agents),
            FormField("path", self.note["path"], label="only files", placeholder=files),
            FormField("when", self.note["when"], CHOICE, options=tuple(WHEN.items())),
            FormField("expires", self.note["expires"], placeholder=times),
        )

    def _elsewhere(self) -> Options:
        """Look up the newest sessions, then the other projects that have memories or had sessions lately."""
        data = self.data
        self._agents = addressees.agents(data.root)
        finder = transcript.Finder(paths.config_dir(data.env))
        recent = sessions.collect(data.root, data.records(RECORDS))
        known = recent[:SESSIONS]
        first = self._first_target
        known += [self._target(first)] if first and all(each.id != first for each in known) else []
        clients = serving.served(data.root)
        projects = names_of_roots(data.env, {each.project for each in known})
        found = []
        for each in known:
            name, where = _name(each, finder.find(each.id)), projects[each.project]
            live = serving.live(each.id, each.client, clients)
            since = "live" if live else ago(clock.parse(each.last), data.now())
            found.append((not live, SESSION + each.id, f"{name}  {where}, {since}"))
        found.sort(key=lambda option: option[0])
        others: dict[str, str | None] = {
            each.slug: each.project if each.project.startswith("/") else None for each in recent if each.slug
        }
        others |= {paths.project_key(each.path): each.path for each in with_memory(data.env) if each.path}
        others.pop(self.slug, None)
        called = sorted(names(data.env, others).items(), key=lambda each: each[1])
        return [(to, words) for _, to, words in found] + [(OTHER + slug, f"project {name}") for slug, name in called]

    def _project_of(self, to: str) -> str:
        """Return the name of the project that the note goes to; it is looked up once."""
        slug = to.removeprefix(OTHER) if to.startswith(OTHER) else ""
        if slug and slug not in self._projects:
            self._projects |= names(self.data.env, paths_of(self.data.env, [slug]))
        return self._projects[slug] if slug else self.project

    def _target(self, session_id: str) -> Session:
        """Look up a session, once."""
        if session_id not in self._targets:
            self._targets[session_id] = sessions.find(self.data.root, session_id)
        return self._targets[session_id]

    def _named(self, to: str) -> str:
        """Return the title of the session that the note is for; it is looked up once."""
        session_id = to.removeprefix(SESSION)
        if session_id not in self._titles:
            path = transcript.find(self.data.config_dir, session_id)
            self._titles[session_id] = _name(self._target(session_id), path)
        return self._titles[session_id]

    def _is_over(self, to: str) -> bool:
        """Whether the note is for a session that no client serves now."""
        if not to.startswith(SESSION):
            return False
        found = self._target(to.removeprefix(SESSION))
        return not serving.live(found.id, found.client, serving.served(self.data.root))

    def _base(self) -> str:
        return ids.digest(_compared(note_of(self.item))) if self.item is not None else ""

    def is_empty(self, typed: Typed) -> bool:
        """Return whether there is nothing to keep: no text."""
        return not typed.values["text"].strip()

    def check(self, typed: Typed) -> Text:
        """Return who gets the note and when, and warnings: that it is long, holds a secret, or is not delivered.
        Raises UsageError for a time that it can't expire at."""
        note, words = typed.values, [self._reach(typed.values)]
        units = delivery_blocks.units(note["text"])
        words += [f"{units:,} characters."] if units > config.number(self.data.settings(), "budget") // 2 else []
        words += [OVER] if self._is_over(note["to"]) else []
        agent = note["agent"].strip()
        unknown = bool(agent) and self._agents is not None and agent not in self._agents
        words += [notes.why(addressees.Stranger("agent", agent))] if unknown else []
        before = self.item.text if self.item is not None else ""
        kinds = redact.kinds_in(note["text"], before) if len(note["text"]) <= WHILE_TYPING else []
        words += [f"{secret.suspicion(kinds, 'It')}. ^s asks before it is kept."] if kinds else []
        deaf = unheard.keyed(self.data.unheard())
        warning = f"\n! {deaf[:1].upper()}{deaf[1:]}." if deaf else ""
        return safe_text.styled(" ".join(words)).append(warning, "bold yellow")

    def _reach(self, note: Note) -> str:
        whom = self._recipient(", ".join(_addresses(note)), note["to"], urgent=note["when"] == URGENT)
        expires, now = note["expires"].strip(), self.data.now()
        end = f", {_until(guidance.expiry(expires, now), now)}" if expires else ""
        return f"Delivered once, to {whom}{end}."

    def there(self) -> str | None:
        """Read the note from its inbox again. Return its base, None if it is gone."""
        before = self.item
        if before is None:
            return ""
        same = [each for each in self.data.waiting((before.kind,), every=True) if each.id == before.id]
        if not same:
            return None
        self.item = same[0]
        return self._base()

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        """Return the note as it is, and as it would be saved."""
        return _compared(note_of(self.item) if self.item is not None else self.note), _compared(self._now(typed))

    def _now(self, typed: Typed) -> Note:
        return {**(note_of(self.item) if self.item is not None else self.note), **typed.changed}

    def save(self, typed: Typed) -> Saved:
        """Leave a new note, or change the one that waits."""
        data, note = self.data, self._now(typed)
        item = self.item
        if item is not None and _compared(note) == _compared(note_of(item)) and not item.entry.fields.get("attempts"):
            return Saved(item.text, NOTHING)  # where there are attempts, saving counts them anew
        text, slug, now = guidance.text(note["text"]), self._slug(note["to"]), data.now()
        urgent, expires = note["when"] == URGENT, note["expires"].strip()
        fields = guidance.fields("tui", _addresses(note), urgent, expires or None, now)
        directory = paths.inbox_dir(data.root, slug)
        if self.item is not None:
            data.review().reword(self.item, directory, fields, text)
        else:
            data.review().guide(directory, fields, text)
        deaf = unheard.keyed(data.unheard())
        whither = "for " + self._recipient(fields.get("for", ""), note["to"], urgent=urgent)
        if self.item is None:
            words = f"Queued {whither}"
        else:  # a note that now goes elsewhere may leave the list: say where it is
            words = "Changed" if note["to"] == note_of(self.item)["to"] else f"Changed: queued {whither}"
        words += f", but nothing delivers it yet: {deaf}." if deaf else "."
        return Saved(text, f"{words} {actions.takes_back()}", warns=bool(deaf))

    def _recipient(self, addressees: str, to: str, *, urgent: bool) -> str:
        """Say who gets a note: one that is not for this project is not in the list of this one."""
        if to == EVERYWHERE:
            project = "any project"
        else:
            project = "this project" if self._slug(to) == self.data.slug else self._project_of(to)
        named = self._named(to) if to.startswith(SESSION) else ""
        title = named[1:-1] if named.startswith("“") else ""
        return notes.recipient(addressees, urgent=urgent, project=project, title=title)

    def _slug(self, to: str) -> str | None:
        """Return the slug of the project whose inbox the note goes into, None for the global inbox. A note for a
        session goes into that of its project: a session gets no other project's notes."""
        if to == EVERYWHERE:
            return None
        if to.startswith(OTHER):
            return to.removeprefix(OTHER)
        return (self._target(to.removeprefix(SESSION)).slug if to.startswith(SESSION) else "") or self.slug


def _name(session: Session, path: str | None) -> str:
    """Return the title of a session, by its transcript; without one the beginning of its id."""
    title = titles.about(path).title
    return f"“{safe_text.line(title, 50)}”" if title else f"session {session.id[:8]}"


def _until(end: float, now: float) -> str:
    """Say until when a note is delivered, in words that follow a comma."""
    if end == when.NEVER:
        return "whenever that is"
    return f"until {day_and_time(end, now)} ({until(end, now)})"
