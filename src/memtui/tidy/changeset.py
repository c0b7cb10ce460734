"""Proposals of changes to memories, each with its reason, for a person to decide on; `composing` makes them."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Literal

from memtui.base import ids
from memtui.base.errors import UsageError
from memtui.base.finding import Finding
from memtui.base.memory_kinds import KINDS
from memtui.base.phrasing import some
from memtui.base.storage import read_or_none
from memtui.store.plan import ARCHIVE, FileDiff, is_archived, is_index

Kind = Literal["merge", "rewrite", "archive", "delete", "relink"]
# The code of the evidence that names what a model wrote and no input says.
ADDED = "added"
# What makes the proposals that need no model.
BY = "memtui"
# The codes of the findings that lint fixes by itself.
FIXED = {code for code, kind in KINDS.items() if kind.fix == "lint"}


@dataclass(frozen=True)
class ProposalEvidence:
    """What speaks for a proposal: the code of a finding, a score from 0 to 1, passages, the finding's facts."""

    code: str
    score: float | None = None
    texts: tuple[str, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Proposal:
    """One change, made as a whole or not at all, proposed `by` memtui or a model; the same files get the same `id`."""

    id: str
    kind: Kind
    reason: str
    evidence: tuple[ProposalEvidence, ...]
    files: tuple[FileDiff, ...]
    by: str = BY

    @property
    def outputs(self) -> tuple[FileDiff, ...]:
        """The files that change, without those that it was only made from; of a merge also one that stays as it is."""
        return tuple(file for file in self.files if self.kind == "merge" or file.before != file.after)

    @property
    def is_current(self) -> bool:
        """Whether the files that it was made from are as they were. Reads them."""
        with suppress(OSError, ValueError):
            return all(read_or_none(file.path) == file.before for file in self.files)
        return False

    @property
    def memories(self) -> tuple[FileDiff, ...]:
        """The files that it was made from, without those that it makes, and MEMORY.md."""
        return tuple(file for file in self.files if file.before is not None and not is_index(file.path))

    @property
    def ref(self) -> str:
        """The id that a person types: of a planned change by cause and paths, so that it stays; else `id`."""
        if not self.evidence or any(evidence.code not in KINDS for evidence in self.evidence):
            return self.id
        cause = "" if self.is_safe else f"{self.evidence[0].code} {self.evidence[0].data.get('link', '')}"
        return ids.digest(
            "\n".join([self.kind, cause, *sorted(os.path.realpath(output.path) for output in self.outputs)]), 5
        )

    @property
    def is_safe(self) -> bool:
        """Whether it needs no decision: it only has fixes that lint makes by itself, which drop nothing."""
        is_fix = bool(self.evidence) and all(evidence.code in FIXED for evidence in self.evidence)
        return is_fix and self.kind in {"rewrite", "relink"}

    @property
    def subject(self) -> str:
        """What a decision is about: `id`, but of a fix of MEMORY.md what it fixes, whatever other lines are there."""
        if self.ref == self.id or not all(is_index(output.path) for output in self.outputs):
            return self.id
        facts = [(part.code, part.texts, part.data.get("file"), part.data.get("title")) for part in self.evidence]
        return ids.digest("\n".join([self.ref, *sorted(map(str, facts))]), 5)

    @property
    def later_key(self) -> str:
        """What it is hidden under."""
        return f"change:{self.subject}"

    @property
    def word(self) -> str:
        """What the Inbox calls it: `merge`, `fix`, or `rule` for a stronger form of a memory that was not followed."""
        if any(evidence.code == "memories.violated" for evidence in self.evidence):
            return "rule"
        return "merge" if self.kind == "merge" else "fix"

    @property
    def written(self) -> tuple[FileDiff, ...]:
        return tuple(file for file in self.outputs if file.after is not None)

    @property
    def gone(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.outputs if file.after is None)

    @property
    def successor(self) -> str | None:
        """The file that stands for those that go, so that links to them lead there; None if nothing replaces them."""
        return self.written[0].path if self.kind == "merge" else None

    def edited(self, path: str, data: bytes) -> "Proposal":
        """Return the proposal with another content for a file that it writes, which a person changed."""
        evidence = tuple(reason for reason in self.evidence if reason.code != ADDED)
        files = tuple(file._replace(after=data) if file.path == path else file for file in self.files)
        return replace(self, files=files, evidence=evidence)


def propose(
    kind: Kind, files: Iterable[FileDiff], evidence: Iterable[ProposalEvidence] = (), reason: str = "", by: str = BY
) -> Proposal:
    """Make a proposal, with an id made from its files. Raises UsageError if its kind can't have these files."""
    proposal = Proposal("", kind, reason, tuple(evidence), tuple(files), by)
    parts = [f"{file.path} {sha256(file.before)}" for file in proposal.files if file.before is not None]
    parts += [f"{file.path} {sha256(file.after)}" for file in proposal.outputs]
    proposal = replace(proposal, id=ids.digest("\n".join([kind, *parts]), 5))
    check(proposal)
    return proposal


def sha256(data: bytes | None) -> str:
    """Return the SHA-256 of a file's content in hex, the name that other programs can check; empty for no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def check(proposal: Proposal) -> None:
    """Raise UsageError for a proposal whose files contradict each other, or that its kind can't have."""
    kind, removed, written = proposal.kind, proposal.gone, proposal.written
    paths = {file.path for file in proposal.files}
    read = {file.path for file in proposal.files if file.before is not None}
    new = [file for file in written if file.before is None]
    archived = [is_archived(file.path) for file in written]
    fits = {
        "merge": len(written) == 1 and bool(removed) and len(read) >= 2,
        "rewrite": not removed and not new,
        "archive": len(removed) == len(written) == len(new) and bool(removed) and all(archived),
        "delete": bool(removed) and not written,
        "relink": not removed,
    }[kind]
    is_of_index = any(is_index(file.path) for file in proposal.outputs) and kind != "relink"
    is_once = len(paths) == len(proposal.files) and read.issuperset(removed)
    if not (fits and is_once) or is_of_index or (kind != "archive" and any(archived)):
        raise UsageError(f"Change {proposal.id} has files that a {kind} can't have.")


def evidence_of(finding: Finding) -> ProposalEvidence:
    """Return a finding as evidence; what `data` can't hold in a file is left out, lists become texts."""
    plain = {key: value for key, value in finding.data.items() if isinstance(value, str | int | float | bool)}
    lists = [value for value in finding.data.values() if isinstance(value, list | tuple)]
    score = finding.data.get("score")
    texts = tuple(str(item) for value in lists for item in value)
    return ProposalEvidence(finding.code, score / 100 if isinstance(score, int) else None, texts, plain)


def name(path: str) -> str:
    """Name a file: a memory by its stem, an index as MEMORY.md."""
    return os.path.basename(path) if is_index(path) else os.path.basename(path).removesuffix(".md")


def title(proposal: Proposal) -> str:
    """Say what a proposal does: `merge pnpm-only into prefer-pnpm`, `archive old-freeze`, `fix MEMORY.md`."""
    removed, outputs = [name(path) for path in proposal.gone], [name(file.path) for file in proposal.written]
    match proposal.kind:
        case "merge":
            return f"merge {' and '.join(removed)} into {outputs[0]}"
        case "archive" | "delete":
            return f"{'archive' if proposal.kind == 'archive' else 'remove'} {some(removed)}"
        case kind:
            return f"{'fix' if kind == 'relink' else kind} {some(outputs)}"


def in_archive(directory: str, stem: str) -> str:
    """Return a path that is free in the archive of a scope, for a memory called `stem` there."""
    place = f"{directory}/{ARCHIVE}/{stem}"
    names = (f"{place}{end}.md" for end in chain([""], (f"-{number}" for number in count(2))))
    return next(other for other in names if not os.path.lexists(other))
