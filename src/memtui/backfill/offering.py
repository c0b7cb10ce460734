"""Put the best candidates into the inboxes, as one step of undo, without what is known or was decided on."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from memtui.backfill import session
from memtui.backfill.begun import MOST
from memtui.backfill.candidates import SAME, Candidate, Candidates
from memtui.consolidate.similarity import KnownTexts
from memtui.core.base import clock, fastjson, ids, paths
from memtui.core.base.phrasing import many
from memtui.core.client.conversation import normalised
from memtui.core.inbox import filling, refused
from memtui.core.inbox import format as inbox_format
from memtui.core.journal.changes import Change
from memtui.core.journal.text_edit import TextEdit
from memtui.core.memories import scopes
from memtui.core.memories.store import Store
from memtui.core.review import waiting
from memtui.core.settings import config
from memtui.extract import message, personal, write


@dataclass(frozen=True)
class OfferedDraft:
    """A candidate for the inbox, the id of its entry, and what it was ranked by."""

    candidate: Candidate
    id: str
    score: float

    @property
    def folded(self) -> bool:
        """Whether the inbox folds it: it is unlikely to last."""
        return not self.candidate.lasts


@dataclass
class Offer:
    """What a backfill would put into the inboxes, best first. `known`: candidates that something says already, or a
    person decided on; `one_offs`: likely orders for one task; `left`: those that wait."""

    drafts: list[OfferedDraft] = field(default_factory=list)
    known: int = 0
    one_offs: int = 0
    left: int = 0

    @property
    def more_words(self) -> list[str]:
        """What to say behind the number of drafts: `3 are probably one-offs`, and how many wait."""
        folded = sum(each.folded for each in self.drafts)
        words = [f"{folded:,} {'is probably a one-off' if folded == 1 else 'are probably one-offs'}"] if folded else []
        waits = f"{self.left:,} more {'waits' if self.left == 1 else 'wait'} for the next backfill"
        return [*words, *([waits] if self.left else [])]

    def write(self, store: Store) -> str:
        """Write the drafts as one step of undo; return the transaction's id, '' if there are none. Raises
        MemtuiError."""
        if not self.drafts:
            return ""
        words = f"backfill: {many(len(self.drafts), 'draft')} from earlier sessions"
        entries = [each.id for each in self.drafts]
        done = store.journal.run("backfill", list(_changes(store, self.drafts)), words, entries=entries)
        for each in self.drafts:
            personal.note(store.root, each.id, paths.project_key(each.candidate.project), each.candidate.draft)
        return done


def plan(store: Store, found: Candidates, *, most: int = MOST, since: float = 0.0, project: str = "") -> Offer:
    """Choose the best `most` candidates (0: all), the lasting ones first, said after `since` (of the epoch), of the
    project root `project` or of all, that are sure enough with what was learned."""
    now = store.journal.now()
    least = config.fraction(config.load(store.root), "extract_confidence")
    known = _SaidAlready(store)
    offer = Offer()
    room: dict[str, int] = {}

    def wanted(each: Candidate) -> bool:
        if (since and (clock.parse(each.newest) or 0.0) < since) or (project and each.project != project):
            return False
        said = known.says(each)
        offer.known += said
        return not said

    ranked = found.ranked(now, personal.load(store.root), wanted)
    for each in sorted(ranked, key=lambda each: not each.lasts):
        if each.confidence < least:
            continue
        if each.one_off:
            offer.one_offs += 1
            continue
        directory = _directory(store.root, each)
        if directory not in room:
            room[directory] = filling.room(directory)
        length = len(inbox_format.encode(_rendered(each, "0" * 26, now)))
        if (most and len(offer.drafts) >= most) or length > room[directory]:
            offer.left += 1
            continue
        room[directory] -= length
        offer.drafts.append(OfferedDraft(each, ids.new_id(now), each.score(now)))
    return offer


def _directory(root: str, each: Candidate) -> str:
    return paths.inbox_dir(root, None if each.draft.scope == "global" else paths.project_key(each.project))


class _SaidAlready:
    """What is known already, by project: memories, instructions, drafts that wait or were rejected, their records."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._texts: dict[str, KnownTexts] = {}
        self._drafted: dict[str, tuple[set[str], set[str]]] = {}

    def says(self, each: Candidate) -> bool:
        """Tell whether a candidate is known, or was decided on."""
        directory = _directory(self.store.root, each)
        if directory not in self._drafted:
            rows = filling.rows(f"{directory}/{write.LEDGER}")
            self._drafted[directory] = {str(r.get("evidence")) for r in rows}, {str(r.get("hash")) for r in rows}
        evidence, hashes = self._drafted[directory]
        if ids.content_hash(normalised(each.draft.description)) in hashes or evidence.intersection(each.evidence):
            return True
        places = ["", each.project] if each.draft.scope == "project" else [""]
        return any(self._of(place).find(each.draft.description) is not None for place in places)

    def _of(self, project: str) -> KnownTexts:
        """Return the texts of a project; of the global scope for ''."""
        if project in self._texts:
            return self._texts[project]
        texts = self._texts[project] = KnownTexts(SAME)
        slug = paths.project_key(project) if project else None
        for item in waiting.waiting_in(self.store.root, [slug], ("updates",)):
            texts.add(item.text.partition("\n")[0], "a draft")
        for each in refused.load(paths.inbox_dir(self.store.root, slug)):
            texts.add(each.description, "a rejected draft")
        wanted = ("project", "auto", "instructions:project") if project else ("global", "instructions:user")
        for scope in scopes.discover(self.store.env, project or self.store.cwd):
            if scope.label not in wanted or not scope.exists or scope.problem:
                continue
            for memory in scopes.memories(scope):
                if memory.broken is None:
                    for statement in (memory.description, *_statements(memory.body)):
                        # Some scripts have no blanks between words.
                        if len(statement.split()) > 2 or not statement.isascii():
                            texts.add(statement, memory.ref)
        return texts


def _statements(body: str) -> Iterator[str]:
    """Yield the lines of a memory or of instructions, and the sentences of those that have several."""
    for line in session.joined(body).splitlines():
        sentences = message.sentences_of(line)
        yield line.strip(" -*#")
        yield from [each.text for each in sentences] if len(sentences) > 1 else []


def _rendered(each: Candidate, entry: str, now: float) -> str:
    draft = replace(each.draft, confidence=each.confidence)
    if len(each.projects) > 1:
        names = ", ".join(sorted(os.path.basename(root) for root in each.projects if root))
        draft = replace(draft, body=f"{draft.body}\n\n**Said in:** {names}".strip())
    fields = {"id": entry, "time": clock.iso_seconds(now), **write.fields_of(draft, each.project)}
    if each.said > 1:
        fields["seen"] = str(each.said)
    if not each.lasts:
        fields["unlikely"] = "yes"
    return inbox_format.render(fields, write.text_of(draft))


def _changes(store: Store, drafts: list[OfferedDraft]) -> Iterator[Change]:
    """Yield the changes of a backfill: the drafts at the end of each inbox, and the lines that list them there and in
    the inboxes of all projects in which they were said."""
    now = store.journal.now()
    texts: dict[str, str] = {}
    noted: dict[str, str] = {}
    for offered in drafts:
        found = offered.candidate
        own = _directory(store.root, found)
        texts[own] = texts.get(own, "") + _rendered(found, offered.id, now)
        digest = ids.content_hash(normalised(found.draft.description))
        row = {"v": 1, "hash": digest, "time": clock.iso_seconds(now)}
        lines = "".join(fastjson.dumps({**row, "evidence": each}) + "\n" for each in found.evidence)
        said_in = [paths.inbox_dir(store.root, paths.project_key(project)) for project in found.projects if project]
        for directory in dict.fromkeys([own, *(said_in if len(found.projects) > 1 else [])]):
            noted[directory] = noted.get(directory, "") + lines
    for directory, text in texts.items():
        yield TextEdit(f"{directory}/{inbox_format.FILES['updates']}", "", text)
    for directory, lines in noted.items():
        yield TextEdit(f"{directory}/{write.LEDGER}", "", lines)
