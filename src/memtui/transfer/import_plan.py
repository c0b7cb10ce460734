"""Bring what a source holds into the inbox, as drafts: without secrets, and nothing that is known already."""

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot, paths_hot
from memtui.base.errors import MemtuiError, NotFoundError, UsageError
from memtui.base.phrasing_hot import many, size
from memtui.base.similarity import SAME_IMPORT
from memtui.client.transcripts.conversation import normalised
from memtui.inbox import drafts as inbox_drafts
from memtui.inbox import format_hot
from memtui.learn.inbox_writer import LEDGER
from memtui.redact.redact import redact
from memtui.review import waiting_entries
from memtui.store import memory, references, scopes
from memtui.store.frontmatter import document
from memtui.store.journal.changes import Change
from memtui.store.journal.text_edit import TextEdit
from memtui.store.memory import Memory
from memtui.store.store import Store
from memtui.tidy.similar_memories import KnownTexts
from memtui.transfer import claude_mem, markdown
from memtui.transfer.markdown import MAX_FILE, Incoming, LeftOut, SourceContent, UnreadableSourceError, unreadable

KNOWN = "memtui imports files and folders of Markdown, CLAUDE.md, and claude-mem databases."
NO_TEXT = (".csv", ".tsv", ".json", ".pdf")  # endings of files that are no notes, though some are text
# Drafts of one import, unless a person asks for more: nobody reviews a thousand at once.
MOST = 200


@dataclass(frozen=True)
class PlannedDraft:
    """A draft to be written: the source's memory without secrets, its name, scope, id, and a hash of its text."""

    incoming: Incoming
    name: str
    scope: str
    id: str
    digest: str

    @property
    def inbox(self) -> str:
        """The inbox that it waits in: project or global."""
        return _inbox(self.scope)


@dataclass
class ImportPlan:
    """What an import would do: drafts, what is `known`, was `decided` or is `left`, and `secrets` by kind."""

    found: SourceContent
    drafts: list[PlannedDraft] = field(default_factory=list)
    known: list[LeftOut] = field(default_factory=list)
    decided: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    full: bool = False
    secrets: Counter[str] = field(default_factory=Counter)
    changes: list[Change] = field(default_factory=list, repr=False)

    def write(self, store: Store, source: str) -> str:
        """Write the drafts as one step of undo; return its id, '' if there are none. Raises MemtuiError."""
        if not self.drafts:
            return ""
        words = f"import {many(len(self.drafts), 'draft')} from {source}"
        return store.journal.run("import", self.changes, words, entries=[draft.id for draft in self.drafts])


def plan(store: Store, source_content: SourceContent, *, scope: str = "", most: int = MOST) -> ImportPlan:
    """Plan an import into `scope`, or each memory's own, of at most `most` drafts (0: any). Raises NotFoundError."""
    import_plan = ImportPlan(source_content)
    if scope:
        target = store.scope(scope)
        references.writable(target)
        scope = target.label
    slug = paths_hot.project_key(paths_hot.project_root(store.cwd))
    inboxes = {"project": paths_hot.inbox_dir(store.root, slug), "global": paths_hot.inbox_dir(store.root, None)}
    ledgers = {inbox: inbox_drafts.rows(f"{directory}/{LEDGER}") for inbox, directory in inboxes.items()}
    decided = {inbox: {str(row.get("hash")) for row in rows} for inbox, rows in ledgers.items()}
    room = {inbox: inbox_drafts.room(directory) for inbox, directory in inboxes.items()}
    texts, names = _read_known(store, slug, inboxes.values())
    for incoming in source_content.memories:
        if most and len(import_plan.drafts) >= most:
            import_plan.left.append(incoming.where)  # not looked at: a database may have tens of thousands
            continue
        label = scope or incoming.scope or "project"
        secrets: Counter[str] = Counter()
        clean = _redacted(incoming, secrets)
        digest = ids_hot.content_hash(normalised(clean.description + " " + clean.body))
        if same := texts.find(_whole(clean), clean.body or clean.description):
            import_plan.known.append(LeftOut(incoming.where, same))
            continue
        if digest in decided[_inbox(label)]:
            import_plan.decided.append(incoming.where)
            continue
        name = _free(clean.name, names[label])
        draft = PlannedDraft(clean, name, label, ids_hot.new_id(store.journal.now()), digest)
        length = len(format_hot.encode(_rendered(store, draft, source_content.kind)))
        if length > room[draft.inbox]:
            import_plan.left.append(incoming.where)
            import_plan.full = True
            continue
        room[draft.inbox] -= length
        names[label].add(name.casefold())
        import_plan.secrets += secrets
        texts.add(_whole(clean), f"{incoming.where} in the same source")
        import_plan.drafts.append(draft)
    time = clock_hot.iso_seconds(store.journal.now())
    for inbox, directory in inboxes.items():
        drafts = [draft for draft in import_plan.drafts if draft.inbox == inbox]
        if drafts:
            text = "".join(_rendered(store, draft, source_content.kind) for draft in drafts)
            rows = [{"v": 1, "hash": draft.digest, "evidence": f"import:{draft.id}", "time": time} for draft in drafts]
            lines = "".join(fastjson_hot.dumps(row) + "\n" for row in rows)
            files = {format_hot.FILES["updates"]: text, LEDGER: lines}
            import_plan.changes += [TextEdit(f"{directory}/{file}", "", added) for file, added in files.items()]
    return import_plan


def _inbox(label: str) -> str:
    return "global" if label == "global" else "project"


def _read_known(store: Store, slug: str, inboxes: Iterable[str]) -> tuple[KnownTexts, defaultdict[str, set[str]]]:
    """Return what memories, drafts that wait and those rejected for good say, and the names in use by scope."""
    texts, names = KnownTexts(SAME_IMPORT), defaultdict[str, set[str]](set)
    for scope in store.scopes():
        if scope.kind != "instructions" and scope.exists and not scope.problem:
            for mem in scopes.memories(scope):
                # Of a broken one as well what could be read: that is what a source would give of it.
                texts.add(_whole(mem), f"the memory {mem.ref}")
                names[scope.label].add(mem.stem.casefold())
    for item in waiting_entries.waiting_in(store.root, [slug, None], ("updates",)):
        texts.add(item.text, f"the draft “{item.text.partition(chr(10))[0][:60]}”")
        names[item.entry.fields.get("scope") or item.scope].add(item.entry.fields.get("name", "").casefold())
    for text in (text for directory in inboxes for text in inbox_drafts.rejected(directory, never=True)):
        texts.add(text, "a draft that was rejected for good")
    return texts, names


def _whole(mem: Memory | Incoming) -> str:
    return f"{mem.description}\n\n{mem.body}"


def _redacted(incoming: Incoming, secrets: Counter[str]) -> Incoming:
    def clean(text: str) -> str:
        cleaned, kinds = redact(text)
        secrets.update(dict.fromkeys((kind for kind in kinds if not secrets[kind]), 1))
        return cleaned

    name, description = clean(incoming.name), " ".join(clean(incoming.description).split())
    times = (incoming.created, incoming.modified)
    created, modified = ("" if clock_hot.parse(time) is None else time for time in times)  # else it could be any text
    return replace(
        incoming,
        name=name if name == incoming.name else "note-" + ids_hot.content_hash(description)[:8],
        description=description or memory.slugify(name),
        body=clean(document.clean(incoming.body).replace("\0", "")),
        type=clean(incoming.type),
        session=clean(incoming.session),
        created=created,
        modified=modified,
        tags=tuple(map(clean, incoming.tags)),
        triggers=tuple(map(clean, incoming.triggers)),
        where=redact(incoming.where)[0],
    )


def _free(name: str, names: set[str]) -> str:
    """Return a name for a file that no other has: as it is where that can be, else made of its words, with a number."""
    try:
        stem = references.check_name(name) if re.fullmatch(r"[\w.@+-]+", name) else memory.slugify(name)
    except MemtuiError:
        stem = memory.slugify(name)
    candidate, number = stem, 2
    while candidate.casefold() in names:
        candidate, number = f"{stem}-{number}", number + 1
    return candidate


def _rendered(store: Store, draft: PlannedDraft, kind: str) -> str:
    incoming = draft.incoming
    now = store.journal.now()
    time, project = clock_hot.iso_seconds(now), paths_hot.project_root(store.cwd)
    fields = {"id": draft.id, "time": time, "from": f"import:{kind}", "kind": format_hot.IMPORTED}
    fields |= {"name": draft.name, "type": incoming.type, "scope": draft.scope}
    fields |= {"session": incoming.session, "project": project, "source": incoming.where}
    fields |= {"created": incoming.created, "modified": incoming.modified, "tags": ", ".join(incoming.tags)}
    fields["triggers"] = json.dumps(incoming.triggers, ensure_ascii=False) if incoming.triggers else ""
    text = incoming.description + (f"\n\n{incoming.body}" if incoming.body.strip() != incoming.description else "")
    fields = {key: value for key, value in fields.items() if value}
    return format_hot.render(fields, inbox_drafts.join_evidence(text, ()))


def read(path: str, *, project: str = "", config_dir: str = "") -> SourceContent:
    """Read a source; `project`: of a database. Raises NotFoundError, UnreadableSourceError, UsageError."""
    if not path.strip():
        raise UsageError("No file or folder is named.", KNOWN)
    path = os.path.abspath(path)
    if not os.path.exists(path):
        if os.path.lexists(path):
            target = os.path.realpath(path)
            hint = "Name what it should lead to."
            raise UnreadableSourceError(f"{path} is a link to {target}, and there is nothing.", hint)
        raise NotFoundError(f"There is no file or folder {path}.", KNOWN)
    if os.path.isdir(path):
        database = f"{path}/{claude_mem.FILE}"
        source = claude_mem.read(database, project) if os.path.isfile(database) else markdown.read_folder(path)
        if source.kind == markdown.KIND and not source.memories and not source.skipped:
            raise UnreadableSourceError(f"There are no Markdown files in {path}.", KNOWN)
        return source
    try:
        data, modified = fs_hot.read_bytes(path, MAX_FILE + 1), os.stat(path).st_mtime
    except OSError as error:
        raise unreadable(path, error) from error
    if data.startswith(claude_mem.MAGIC):
        return claude_mem.read(path, project)
    if len(data) > MAX_FILE:
        raise UnreadableSourceError(f"{path} is larger than {size(MAX_FILE)}.", "Import a part of it.")
    if not data.strip():
        raise UnreadableSourceError(f"{path} is empty.", KNOWN)
    if markdown.is_binary(data) or path.lower().endswith(NO_TEXT):
        what = "a binary file" if markdown.is_binary(data) else "no Markdown"
        raise UnreadableSourceError(f"{path} is {what}.", KNOWN)
    scope = "global" if config_dir and paths_hot.inside(config_dir, path) else ""
    return markdown.read_file(path, data, scope, modified)
