"""Approve drafts: each becomes a memory, or the end of one, and leaves the inbox, as one step of undo."""

from collections.abc import Sequence
from typing import NamedTuple

from memtui.base import fastjson
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.review import draft as drafting
from memtui.review.draft import Draft
from memtui.review.entries import removal
from memtui.review.waiting_entries import Waiting, from_the_end
from memtui.store import memory, references, scopes, sidecars, triggers
from memtui.store.frontmatter import document
from memtui.store.journal.journal import Journal
from memtui.store.journal.own_files import BesideEdit
from memtui.store.memory import Memory
from memtui.store.store import Store


class Approval(NamedTuple):
    """The outcome for one pending update: the memory as it is now, or as it would be; or the error."""

    item: Waiting
    memory: Memory | None
    error: MemtuiError | None = None


def approve_all(journal: Journal, drafts: Sequence[Draft]) -> list[Approval]:
    """Write the memories of drafts. A failure stops none of the others. The outcomes are in the order of `drafts`."""
    by_key = {draft.item.key: draft for draft in drafts}
    outcomes: dict[str, Approval] = {}
    with journal.together():
        for item in from_the_end(draft.item for draft in drafts):
            outcomes[item.key] = _approve(journal, by_key[item.key])
    return [outcomes[draft.item.key] for draft in drafts]


def _approve(journal: Journal, draft: Draft) -> Approval:
    draft.store.journal = journal
    try:
        return Approval(draft.item, _write(draft))
    except MemtuiError as error:
        return Approval(draft.item, None, error)


def _write(draft: Draft, verb: str = "") -> Memory:
    """Write the memory of a draft, with its triggers, and take the draft out of the inbox. Raises MemtuiError."""
    extra = [removal(draft.item), *_triggers_added(draft)]
    if draft.replaced is None:
        return draft.store.add(draft.scope, draft.name, draft.data, op="approve", extra=extra)
    return draft.store.edit(draft.replaced, draft.data, seen=not verb, op="approve", verb=verb, extra=extra)


def _triggers_added(draft: Draft) -> list[BesideEdit]:
    """Return the edit that adds to a memory the trigger of a draft, and those of an imported one."""
    store, directory = draft.store, draft.scope.directory
    phrases = fastjson.loads_dict(f'{{"of": {draft.item.entry.fields.get("triggers") or "[]"}}}').get("of")
    more = [phrase for phrase in phrases if isinstance(phrase, str)] if isinstance(phrases, list) else []
    file = references.relative(draft.scope, draft.path)
    rows = sidecars.rows(store.root, sidecars.TRIGGERS, directory).get(file, {})
    after = triggers.after_adding(rows, [draft.trigger, *more], "draft", store.journal.now())
    return sidecars.edit(store.root, sidecars.TRIGGERS, directory, file, after)


def find_target(store: Store, item: Waiting, ref: str) -> tuple[Store, Memory]:
    """Find the memory to merge an update into, of its project or global, with its store. Raises as `scopes.find`."""
    home = drafting.home_store(store, item) or store
    owner = store if "/" in ref else home  # a path is relative to the person's directory
    try:
        mem = owner.find(ref)
    except NotFoundError as error:
        if owner is store:
            raise
        owner = store
        try:
            mem = store.find(ref)
        except MemtuiError:
            raise error from None
    if item.slug is None or any(
        mem.path == f"{scope.directory}/{name}"
        for scope in drafting.merge_scopes(store, item)
        for name, _ in scopes.files(scope)
    ):
        return owner, mem
    project = drafting.project_of(item) or item.slug
    raise ConflictError(
        f"{mem.ref} belongs to another project than draft {item.id[-6:]} ({project}).",
        f"Merge it into a memory of {project} or of the scope global, or approve it and copy the memory.",
    )


def refusal(store: Store, memory: Memory) -> MemtuiError | None:
    """Return why no update can be merged into a memory: it is broken, or untrusted text would be trusted; else None."""
    if not store.is_trusted(memory):
        return references.not_trusted(memory.stem)
    if memory.broken is not None:
        return MemtuiError(f"{memory.path} is broken: {memory.broken}.", "Fix it in an editor first.")
    return None


def mergeable(store: Store, memories: Sequence[Memory]) -> tuple[list[Memory], list[Memory]]:
    """Return the memories that updates can be merged into, and those that are not trusted, as `refusal` tells."""
    trusts = {scope.label: scopes.trust_of(store.root, scope) for scope in store.scopes()}
    whole = [mem for mem in memories if mem.broken is None]
    new = [mem for mem in whole if mem.scope_label in trusts and not trusts[mem.scope_label].allows(mem.raw)]
    paths = {mem.path for mem in new}
    return [mem for mem in whole if mem.path not in paths], new


def merged(store: Store, items: Sequence[Waiting], mem: Memory) -> Memory:
    """Return a memory of the store, as it will be with pending updates at its end. Raises the error of `refusal`."""
    refused = refusal(store, mem)
    if refused is not None:
        raise refused
    doc = document.parse(mem.raw)
    for item in items:
        doc = doc.with_body(doc.body.rstrip("\n") + "\n\n" + item.text + "\n")
    return memory.from_bytes(mem.path, mem.scope_label, doc.raw)


def store_of(store: Store, items: Sequence[Waiting]) -> Store:
    """Return the store that pending updates are merged with: that of their project, if one is of a project."""
    return next((home for item in items if item.slug and (home := drafting.home_store(store, item))), store)


def merge(store: Store, items: Sequence[Waiting], memory: Memory, *, trigger: bool = True) -> Memory:
    """Put updates at a memory's end, one after the other; `trigger`: what was asked then finds it. Those before a
    failure stay; one undo takes all back. Raises as `merged`, ConflictError."""
    scope = store.scope(memory.scope_label)
    with store.journal.together():
        for item in items:
            data = merged(store, [item], memory).raw
            request = item.entry.fields.get("request", "") if trigger else ""
            draft = Draft(item, store, scope, memory.stem, data, memory, request)
            memory = _write(draft, verb="merge a draft into")
    return memory
