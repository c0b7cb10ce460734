"""Candidates from transcripts, each rule once; the best that are not known go into the inboxes as one step of undo."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from memtui.base import clock_hot, fastjson_hot, ids_hot, paths_hot
from memtui.base.phrasing_hot import many
from memtui.base.similarity import SAME_OFFER
from memtui.client.transcripts.conversation import normalised
from memtui.inbox import drafts as inbox_drafts
from memtui.inbox import format_hot
from memtui.inbox.format_hot import DELIVERED, LASTING
from memtui.learn import inbox_writer, message
from memtui.learn.backfill.progress import MOST
from memtui.learn.signals import MOST_SURE, Signal, said_again
from memtui.review import waiting_entries
from memtui.settings import config_hot
from memtui.store import scopes
from memtui.store.journal.changes import Change
from memtui.store.journal.text_edit import TextEdit
from memtui.store.store import Store
from memtui.tidy.similar_memories import KnownTexts

# Candidates that are remembered, the best of all.
REMEMBERED = 5000
# How likely a draft lasts that only the rules have seen.
UNKNOWN = 0.2


@dataclass
class Candidate:
    """A draft that could be offered: the surest way in which it was said, its project's root ('' for several), the
    sessions and records that say it, and the roots of all `projects` in which it was said."""

    draft: Signal
    project: str
    sessions: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    newest: str = ""
    projects: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.projects = self.projects or [self.project]

    @property
    def confidence(self) -> float:
        """How likely it is feedback: each session that says it again leaves less doubt."""
        return min(MOST_SURE, said_again(self.draft.confidence, max(1, len(self.sessions)) - 1))

    @property
    def said(self) -> int:
        """How often it was said: in so many sessions, or where it is one, so often in that."""
        return len(self.sessions) if len(self.sessions) > 1 else 1 + len(self.draft.repeats)

    @property
    def one_off(self) -> bool:
        """Whether it looks like an order for one task, which the inbox would fold."""
        return self.draft.durable is not None and self.draft.durable < LASTING and len(self.sessions) < 2

    @property
    def lasts(self) -> bool:
        """Whether it is likely enough to last that sessions would get it, too."""
        return self.said > 1 or (self.draft.durable or 0.0) >= DELIVERED

    @property
    def worth(self) -> float:
        """How likely it is feedback that lasts, 0 to 1: the likeliest is offered first."""
        return round(self.confidence * (UNKNOWN if self.draft.durable is None else self.draft.durable), 4)


def of_row(row: object) -> Candidate | None:
    """Read a candidate from a JSON object with its fields; None if it is none."""
    values = row.get("draft") if isinstance(row, dict) else None
    if not isinstance(row, dict) or not isinstance(values, dict):
        return None
    try:
        draft = Signal(**{**values, "repeats": tuple(map(str, values["repeats"]))})
        sessions, evidence = (list(map(str, row[key])) for key in ("sessions", "evidence"))
    except (TypeError, KeyError):
        return None
    numbers = isinstance(draft.confidence, float) and isinstance(draft.durable, float | None)
    texts = (draft.description, draft.body, draft.time, draft.session, draft.scope, row.get("project"))
    if not numbers or not all(isinstance(text, str) for text in texts):
        return None
    return Candidate(draft, row["project"], sessions, evidence, str(row.get("newest", "")))


class Candidates:
    def __init__(self, candidates: Iterable[Candidate] = ()) -> None:
        self._all = {_key(candidate.draft, candidate.project): candidate for candidate in candidates}

    def __len__(self) -> int:
        return len(self._all)

    def add(self, draft: Signal, project: str) -> None:
        candidate = self._all.setdefault(_key(draft, project), Candidate(draft, project))
        new = [origin for origin in draft.origins if origin not in candidate.evidence]
        if not new:
            return
        candidate.evidence += new
        if draft.session not in candidate.sessions:
            candidate.sessions.append(draft.session)
        candidate.newest = max(candidate.newest, draft.time)
        if draft.confidence > candidate.draft.confidence:
            candidate.draft, candidate.project = draft, project

    def ranked(self, is_offered: Callable[[Candidate], bool] = lambda _: True) -> list[Candidate]:
        """List the offered candidates, best first; what says nearly the same counts for the better one."""
        candidates: list[Candidate] = []
        texts = KnownTexts(SAME_OFFER)
        for candidate in _best_first(filter(is_offered, self._all.values())):
            at = texts.find(candidate.draft.description)
            if at is None:
                texts.add(candidate.draft.description, str(len(candidates)))
                candidates.append(candidate)
            else:
                candidates[int(at)] = _joined(candidates[int(at)], candidate)
        return _best_first(candidates)

    def best(self) -> list[Candidate]:
        """List what a later backfill should know: the best REMEMBERED, each as it was found."""
        return _best_first(self._all.values())[:REMEMBERED]


def _best_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda candidate: (-candidate.worth, candidate.draft.description))


def _key(draft: Signal, project: str) -> tuple[str, str]:
    return ("" if draft.scope == "global" else project), normalised(draft.description)


def _joined(one: Candidate, other: Candidate) -> Candidate:
    projects = list(dict.fromkeys([*one.projects, *other.projects]))
    many = len(projects) > 1 or other.draft.scope == "global"
    return replace(
        one,
        draft=replace(one.draft, scope="global") if many else one.draft,
        projects=projects,
        project="" if len(projects) > 1 else one.project,
        newest=max(one.newest, other.newest),
        sessions=list(dict.fromkeys([*one.sessions, *other.sessions])),
        evidence=[*one.evidence, *other.evidence],
    )


@dataclass(frozen=True)
class OfferedDraft:
    """A candidate for the inbox, and the id of its entry."""

    candidate: Candidate
    id: str

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
        folded = sum(draft.folded for draft in self.drafts)
        words = [f"{folded:,} {'is probably a one-off' if folded == 1 else 'are probably one-offs'}"] if folded else []
        waits = f"{self.left:,} more {'waits' if self.left == 1 else 'wait'} for the next backfill"
        return [*words, *([waits] if self.left else [])]

    def write(self, store: Store) -> str:
        """Write the drafts as one step of undo; return its id, '' if there are none. Raises MemtuiError."""
        if not self.drafts:
            return ""
        words = f"import {many(len(self.drafts), 'draft')} from earlier sessions"
        entries = [draft.id for draft in self.drafts]
        return store.journal.run("backfill", list(_changes(store, self.drafts)), words, entries=entries)


def plan(store: Store, candidates: Candidates, *, most: int = MOST, since: float = 0.0, project: str = "") -> Offer:
    """Choose the best `most` sure candidates (0: all), lasting ones first, said after `since`, of a project or all."""
    now = store.journal.now()
    least = config_hot.fraction(config_hot.load(store.root), "extract_confidence")
    said_already = _SaidAlready(store)
    offer = Offer()
    room: dict[str, int] = {}

    def wanted(other: Candidate) -> bool:
        if (since and (clock_hot.parse(other.newest) or 0.0) < since) or (project and other.project != project):
            return False
        is_repeat = said_already.says(other)
        offer.known += is_repeat
        return not is_repeat

    for candidate in sorted(candidates.ranked(wanted), key=lambda candidate: not candidate.lasts):
        if candidate.confidence < least:
            continue
        if candidate.one_off:
            offer.one_offs += 1
            continue
        directory = _directory(store.root, candidate)
        if directory not in room:
            room[directory] = inbox_drafts.room(directory)
        length = len(format_hot.encode(_rendered(candidate, "0" * 26, now)))
        if (most and len(offer.drafts) >= most) or length > room[directory]:
            offer.left += 1
            continue
        room[directory] -= length
        offer.drafts.append(OfferedDraft(candidate, ids_hot.new_id(now)))
    return offer


def _directory(root: str, candidate: Candidate) -> str:
    key = None if candidate.draft.scope == "global" else paths_hot.project_key(candidate.project)
    return paths_hot.inbox_dir(root, key)


class _SaidAlready:
    """What is known already, by project: memories, instructions, drafts that wait or were rejected, their records."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._texts: dict[str, KnownTexts] = {}
        self._drafted: dict[str, tuple[set[str], set[str]]] = {}
        self._quoted: set[tuple[str | None, str]] = set()  # of drafts that wait: the session, what the person said

    def says(self, each: Candidate) -> bool:
        """Tell whether a candidate is known, or was decided on."""
        directory = _directory(self.store.root, each)
        if directory not in self._drafted:
            rows = inbox_drafts.rows(f"{directory}/{inbox_writer.LEDGER}")
            self._drafted[directory] = {str(r.get("evidence")) for r in rows}, {str(r.get("hash")) for r in rows}
        evidence, hashes = self._drafted[directory]
        if ids_hot.content_hash(normalised(each.draft.description)) in hashes or evidence.intersection(each.evidence):
            return True
        places = ["", each.project] if each.draft.scope == "project" else [""]
        if any(self._of(place).find(each.draft.description) is not None for place in places):
            return True
        return (each.draft.session, format_hot.EVIDENCE[1] + " ".join(each.draft.person.split())) in self._quoted

    def _of(self, project: str) -> KnownTexts:
        """Return the texts of a project; of the global scope for ''."""
        if project in self._texts:
            return self._texts[project]
        texts = self._texts[project] = KnownTexts(SAME_OFFER)
        slug = paths_hot.project_key(project) if project else None
        for item in waiting_entries.waiting_in(self.store.root, [slug], ("updates",)):
            texts.add(item.text.partition("\n")[0], "a draft")
            self._quoted |= {(item.entry.fields.get("session"), quote) for quote in item.evidence}
        for text in inbox_drafts.rejected(paths_hot.inbox_dir(self.store.root, slug)):
            texts.add(text, "a rejected draft")
        kinds = ("project", "auto", "instructions:project") if project else ("global", "instructions:user")
        places = [scope for scope in scopes.discover(self.store.env, project or self.store.cwd) if scope.label in kinds]
        readable = [scope for scope in places if scope.exists and not scope.problem]
        for memory in [memory for scope in readable for memory in scopes.memories(scope) if memory.broken is None]:
            for statement in (memory.description, *_statements(memory.body)):
                # Some scripts have no blanks between words.
                if len(statement.split()) > 2 or not statement.isascii():
                    texts.add(statement, memory.ref)
        return texts


def _statements(body: str) -> Iterator[str]:
    """Yield the lines of a memory or of instructions, and the sentences of those that have several."""
    for line in message.written(body).text.splitlines():
        sentences = message.sentences_of(line)
        yield line.strip(" -*#")
        yield from [sentence.text for sentence in sentences] if len(sentences) > 1 else []


def _rendered(candidate: Candidate, entry: str, now: float) -> str:
    draft = replace(candidate.draft, confidence=candidate.confidence)
    if len(candidate.projects) > 1:
        names = ", ".join(sorted(os.path.basename(root) for root in candidate.projects if root))
        draft = replace(draft, body=f"{draft.body}\n\n**Said in:** {names}".strip())
    fields = {"id": entry, "time": clock_hot.iso_seconds(now), **inbox_writer.fields_of(draft, candidate.project)}
    if candidate.said > 1:
        fields["seen"] = str(candidate.said)
    if not candidate.lasts:
        fields["unlikely"] = "yes"
    return format_hot.render(fields, inbox_writer.text_of(draft))


def _changes(store: Store, drafts: list[OfferedDraft]) -> Iterator[Change]:
    """Yield the drafts for each inbox, and the lines that list them in those of all projects where they were said."""
    now = store.journal.now()
    texts: dict[str, str] = {}
    noted: dict[str, str] = {}
    for offered in drafts:
        candidate = offered.candidate
        own = _directory(store.root, candidate)
        texts[own] = texts.get(own, "") + _rendered(candidate, offered.id, now)
        digest = ids_hot.content_hash(normalised(candidate.draft.description))
        row = {"v": 1, "hash": digest, "time": clock_hot.iso_seconds(now)}
        lines = "".join(fastjson_hot.dumps({**row, "evidence": origin}) + "\n" for origin in candidate.evidence)
        said_in = [paths_hot.inbox_dir(store.root, paths_hot.project_key(top)) for top in candidate.projects if top]
        for directory in dict.fromkeys([own, *(said_in if len(candidate.projects) > 1 else [])]):
            noted[directory] = noted.get(directory, "") + lines
    for directory, text in texts.items():
        yield TextEdit(f"{directory}/{format_hot.FILES['updates']}", "", text)
    for directory, lines in noted.items():
        yield TextEdit(f"{directory}/{inbox_writer.LEDGER}", "", lines)
