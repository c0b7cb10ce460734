"""Bring what a source holds into the inbox, as drafts: without secrets, and nothing that is known already.

What was imported is listed in `extracted.jsonl` beside the inbox, as drafts of sessions are: once a person decided on a
draft, the next import leaves it out.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from memtui.consolidate.known_texts import KnownTexts
from memtui.core.base import clock, fastjson, ids, paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.client.conversation import normalised
from memtui.core.frontmatter import document
from memtui.core.inbox import filling, pending_update, refused
from memtui.core.inbox import format as inbox_format
from memtui.core.journal.changes import Change
from memtui.core.journal.text_edit import TextEdit
from memtui.core.memories import links, memory, references, scopes
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store
from memtui.core.redaction.redact import redact
from memtui.core.review import waiting
from memtui.extract.write import LEDGER
from memtui.transfer.incoming import Incoming, LeftOut, SourceContent
from memtui.transfer.limits import MOST

# How many of the words of two texts, of all that either has, make them the same for a person.
SAME = 0.85


@dataclass(frozen=True)
class PlannedDraft:
    """A draft to be written: the memory of the source without its secrets, what it will be called, its scope's label,
    its id, and the hash of what it says."""

    given: Incoming
    name: str
    scope: str
    id: str
    digest: str


@dataclass
class ImportPlan:
    """What an import would do. `known`: parts left out because something says the same already, with what that is;
    `decided`: those on which a person decided before; `left`: those for another time; `secrets`: in how many
    drafts there was one of each kind."""

    found: SourceContent
    drafts: list[PlannedDraft] = field(default_factory=list)
    known: list[LeftOut] = field(default_factory=list)
    decided: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    full: bool = False
    secrets: Counter[str] = field(default_factory=Counter)
    changes: list[Change] = field(default_factory=list, repr=False)

    def write(self, store: Store, source: str) -> str:
        """Write the drafts to the inboxes as one step of undo, and return the transaction's id; '' if there are none.
        `source` names it in the list of changes. Raises MemtuiError."""
        if not self.drafts:
            return ""
        entries = [each.id for each in self.drafts]
        words = f"import {many(len(entries), 'draft')} from {source}"
        return store.journal.run("import", self.changes, words, entries=entries)


def plan(store: Store, found: SourceContent, *, scope: str = "", most: int = MOST, again: bool = False) -> ImportPlan:
    """Plan to import what was found. `scope`: the label for all of it; `most`: the drafts of this import, 0 for any
    number; `again`: take what a person decided on before as well. Raises NotFoundError for an unknown scope."""
    made = ImportPlan(found)
    places = _Places(store, scope)
    texts = _KnownMemories(store, places)
    called: dict[str, str] = {}
    room = {inbox: filling.room(places.directory(inbox)) for inbox in ("project", "global")}
    for given in found.memories:
        if most and len(made.drafts) >= most:
            made.left.append(given.where)  # not looked at: a database may have tens of thousands
            continue
        label = places.label(given)
        secrets: Counter[str] = Counter()
        clean = _redacted(given, secrets)
        key = places.inbox(label)
        digest = ids.content_hash(normalised(clean.description + " " + clean.body))
        same = texts.same(clean)
        if same:
            made.known.append(LeftOut(given.where, same))
            continue
        if not again and digest in texts.decided[key]:
            made.decided.append(given.where)
            continue
        name = _free(clean.name, texts.names.setdefault(label, set()))
        draft = PlannedDraft(clean, name, label, ids.new_id(store.journal.now()), digest)
        length = len(inbox_format.encode(_rendered(store, draft, found.kind)))
        if length > room[key]:
            made.left.append(given.where)
            made.full = True
            continue
        room[key] -= length
        texts.names[label].add(name.casefold())
        made.secrets += secrets
        texts.add(clean, f"{given.where} in the same source")
        for alias in clean.aliases:
            called.setdefault(alias.casefold(), name)
        made.drafts.append(draft)
    made.drafts = [replace(each, given=_linked(each.given, called)) for each in made.drafts]
    made.changes = list(_changes(store, places, made))
    return made


class _Places:
    """Where drafts go: the label of the scope of each, and the inbox that it waits in."""

    def __init__(self, store: Store, scope: str) -> None:
        self.store = store
        self.given = store.scope(scope).label if scope else ""
        if self.given:
            references.writable(store.scope(self.given))
        self.slug = paths.project_key(paths.project_root(store.cwd))

    def label(self, given: Incoming) -> str:
        """Return the label of the scope for a memory."""
        return self.given or given.scope or "project"

    def inbox(self, label: str) -> str:
        """Return which inbox drafts for a scope wait in: project or global."""
        return "global" if label == "global" else "project"

    def directory(self, inbox: str) -> str:
        """Return the directory of an inbox."""
        return paths.inbox_dir(self.store.root, None if inbox == "global" else self.slug)


class _KnownMemories:
    """What is known already: memories, drafts that wait, what a person rejected or decided on."""

    def __init__(self, store: Store, places: _Places) -> None:
        self._known = KnownTexts(SAME)
        self.names: dict[str, set[str]] = {}
        self.decided: dict[str, set[str]] = {}
        for scope in store.scopes():
            self._add_scope(scope)
        for each in waiting.waiting_in(store.root, [places.slug, None], ("updates",)):
            self._known.add(each.text, f"the draft “{each.text.partition(chr(10))[0][:60]}”")
            name, label = each.entry.fields.get("name"), each.entry.fields.get("scope") or each.scope
            self.names.setdefault(label, set()).add((name or "").casefold())
        for inbox in ("project", "global"):
            directory = places.directory(inbox)
            self.decided[inbox] = {str(row.get("hash")) for row in filling.rows(f"{directory}/{LEDGER}")}
            for draft in refused.load(directory):
                if draft.never:
                    self._known.add(draft.description, "a draft that was rejected for good")

    def _add_scope(self, scope: Scope) -> None:
        if scope.kind == "instructions" or not scope.exists or scope.problem:
            return
        for each in scopes.memories(scope):
            # Of a broken one as well what could be read: that is what a source would give of it.
            self._known.add(f"{each.description}\n\n{each.body}", f"the memory {each.ref}")
            self.names.setdefault(scope.label, set()).add(each.stem.casefold())

    def add(self, given: Incoming, what: str) -> None:
        """Know a memory that will be a draft."""
        self._known.add(f"{given.description}\n\n{given.body}", what)

    def same(self, given: Incoming) -> str:
        """Return what says the same as a memory; empty if nothing does."""
        return self._known.find(f"{given.description}\n\n{given.body}", given.body or given.description) or ""


def _redacted(given: Incoming, secrets: Counter[str]) -> Incoming:
    def clean(text: str) -> str:
        found, kinds = redact(text)
        secrets.update(dict.fromkeys((kind for kind in kinds if not secrets[kind]), 1))
        return found

    name, description = clean(given.name), " ".join(clean(given.description).split())
    return replace(
        given,
        name=name if name == given.name else "note-" + ids.content_hash(description)[:8],
        description=description or memory.slugify(name),
        body=clean(document.clean(given.body).replace("\0", "")),
        type=clean(given.type),
        session=clean(given.session),
        created=_time(given.created),
        modified=_time(given.modified),
        tags=tuple(map(clean, given.tags)),
        triggers=tuple(map(clean, given.triggers)),
        where=redact(given.where)[0],
    )


def _time(given: str) -> str:
    """Return a time as a source has it; empty for what is none, and could be any text."""
    return "" if clock.parse(given) is None else given


def _free(name: str, taken: set[str]) -> str:
    """Return a name for a file that no other has: as it is where that can be, else made of its words, with a number."""
    try:
        stem = references.check_name(name) if re.fullmatch(r"[\w.@+-]+", name) else memory.slugify(name)
    except MemtuiError:
        stem = memory.slugify(name)
    found, number = stem, 2
    while found.casefold() in taken:
        found, number = f"{stem}-{number}", number + 1
    return found


def _linked(given: Incoming, called: dict[str, str]) -> Incoming:
    """Return a memory whose links to others of the source have the names that these get."""
    pieces, at = [], 0
    for each in links.find(given.body):
        name = each.target.removesuffix(".md")
        now = called.get(name.casefold())
        if now is not None and now != name:
            end = each.name_end
            label = "|" + name if given.body.startswith("]]", end) else ""
            pieces += [given.body[at : each.at], (links.encoded(now) if each.encoded else now) + label]
            at = end
    return replace(given, body="".join([*pieces, given.body[at:]]))


def _rendered(store: Store, draft: PlannedDraft, kind: str) -> str:
    given = draft.given
    now = store.journal.now()
    fields = {
        "id": draft.id,
        "time": clock.iso_seconds(now),
        "from": f"import:{kind}",
        "kind": inbox_format.IMPORTED,
        "name": draft.name,
        "type": given.type,
        "scope": draft.scope,
        "session": given.session,
        "project": paths.project_root(store.cwd),
        "source": given.where,
        "created": given.created,
        "modified": given.modified,
        "tags": ", ".join(given.tags),
        "triggers": json.dumps(given.triggers, ensure_ascii=False) if given.triggers else "",
    }
    text = given.description + (f"\n\n{given.body}" if given.body.strip() != given.description else "")
    return inbox_format.render({key: value for key, value in fields.items() if value}, pending_update.join(text, ()))


def _changes(store: Store, places: _Places, made: ImportPlan) -> Iterator[Change]:
    """Return the changes of an import: the drafts at the end of each inbox, and the lines that list them."""
    for inbox in ("project", "global"):
        drafts = [each for each in made.drafts if places.inbox(each.scope) == inbox]
        if drafts:
            directory = places.directory(inbox)
            text = "".join(_rendered(store, each, made.found.kind) for each in drafts)
            yield TextEdit(f"{directory}/{inbox_format.FILES['updates']}", "", text)
            yield TextEdit(f"{directory}/{LEDGER}", "", "".join(_noted(store, drafts)))


def _noted(store: Store, drafts: Sequence[PlannedDraft]) -> Iterable[str]:
    time = clock.iso_seconds(store.journal.now())
    for each in drafts:
        yield fastjson.dumps({"v": 1, "hash": each.digest, "evidence": f"import:{each.id}", "time": time}) + "\n"
