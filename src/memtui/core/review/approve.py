"""Approve drafts: each becomes a memory and leaves the inbox; one undo takes all of them back."""

from collections.abc import Sequence
from typing import NamedTuple

from memtui.core.base import fastjson
from memtui.core.base.errors import MemtuiError
from memtui.core.journal.journal import Journal
from memtui.core.journal.own_files import BesideEdit
from memtui.core.memories import beside, triggers
from memtui.core.memories.memory import Memory
from memtui.core.review.draft import Draft
from memtui.core.review.entries import removal
from memtui.core.review.waiting import Waiting, from_the_end


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
        extra = [removal(draft.item), *_triggers(draft)]
        if draft.replaced is not None:
            written = draft.store.edit(draft.replaced, draft.data, seen=True, op="approve", extra=extra)
        else:
            written = draft.store.add(draft.scope, draft.name, draft.data, op="approve", extra=extra)
    except MemtuiError as error:
        return Approval(draft.item, None, error)
    return Approval(draft.item, written)


def _triggers(draft: Draft) -> list[BesideEdit]:
    """Return the edit that makes a trigger of what the person had asked for when the draft came about."""
    file = draft.path.removeprefix(draft.scope.directory + "/")
    return of_request(
        draft.store.root, draft.scope.directory, file, draft.item, draft.trigger, draft.store.journal.now()
    )


def of_request(root: str, directory: str, file: str, item: Waiting, trigger: str, now: float) -> list[BesideEdit]:
    """Return the edit that gives a memory a `trigger`, and those that a pending update was imported with; none if there
    are none."""
    given = fastjson.loads_dict(f'{{"of": {item.entry.fields.get("triggers") or "[]"}}}').get("of")
    more = [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
    asked = [trigger, *more]
    rows = beside.rows(root, beside.TRIGGERS, directory).get(file, [])
    return beside.edit(root, beside.TRIGGERS, directory, file, triggers.after_adding(rows, asked, "draft", now))
