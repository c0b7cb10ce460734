"""Proposals of changes to memories, each with its reason, for a person to decide on; `composing` makes them."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from memtui.core.base import ids
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import some
from memtui.core.places import locate

Kind = Literal["merge", "rewrite", "archive", "delete", "relink"]
# The directory in a scope's where archived memories go: its name is hidden, so that nobody lists or delivers them.
ARCHIVE = ".archive"
# The code of the evidence that names what a model wrote and no input says.
ADDED = "added"


def sha256(data: bytes) -> str:
    """Return the SHA-256 of a file's content in hex: the name of it that other programs can check."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class FileInput:
    """A file that a proposal was made from: its absolute path, SHA-256 and content; empty and None for no file."""

    path: str
    sha256: str
    data: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class FileOutput:
    """A file as a proposal leaves it: its absolute path and its content, None if the file goes."""

    path: str
    data: bytes | None = field(repr=False)


@dataclass(frozen=True)
class ProposalEvidence:
    """What speaks for a proposal: the code of a finding, a score from 0 to 1, passages, the finding's facts."""

    code: str
    score: float | None = None
    texts: tuple[str, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Proposal:
    """One change, made as a whole or not at all; the same files and outcome get the same `id` again."""

    id: str
    kind: Kind
    reason: str
    evidence: tuple[ProposalEvidence, ...]
    inputs: tuple[FileInput, ...]
    outputs: tuple[FileOutput, ...]

    @property
    def written(self) -> tuple[FileOutput, ...]:
        """The outputs that are files."""
        return tuple(each for each in self.outputs if each.data is not None)

    @property
    def gone(self) -> tuple[str, ...]:
        """The paths of the files that go."""
        return tuple(each.path for each in self.outputs if each.data is None)

    @property
    def successor(self) -> str | None:
        """The file that stands for those that go, so that links to them lead there; None if nothing replaces them."""
        return self.written[0].path if self.kind == "merge" else None

    def edited(self, outputs: Iterable[FileOutput]) -> "Proposal":
        """Return the proposal with outputs that a person changed. Raises UsageError if its kind can't have them."""
        evidence = tuple(each for each in self.evidence if each.code != ADDED)
        proposal = replace(self, outputs=tuple(outputs), evidence=evidence)
        check(proposal)
        return proposal


class ChangeSet(NamedTuple):
    """Proposals, worst first. `time` is when they were made (ISO 8601), `by` what made them."""

    time: str
    by: str
    proposals: tuple[Proposal, ...]


def is_index(path: str) -> bool:
    """Return whether a path is that of a MEMORY.md."""
    return os.path.basename(path) == locate.INDEX_NAME


def is_archived(path: str) -> bool:
    """Return whether a file is in the archive of its scope. A scope may itself be below a directory of that name."""
    _, mark, file = path.rpartition(f"/{ARCHIVE}/")
    return bool(mark) and "/." not in f"/{file}"


def read_from(path: str, data: bytes | None) -> FileInput:
    """Return the input for a file that was read, or that was not there (None)."""
    return FileInput(path, "" if data is None else sha256(data), data)


def propose(
    kind: Kind,
    inputs: Iterable[FileInput],
    outputs: Iterable[FileOutput],
    evidence: Iterable[ProposalEvidence] = (),
    reason: str = "",
) -> Proposal:
    """Make a proposal, with an id made from its files. Raises UsageError if its kind can't have these files."""
    read, written = tuple(inputs), tuple(outputs)
    parts = [kind, *(f"{each.path} {each.sha256}" for each in read)]
    parts += [f"{each.path} {'' if each.data is None else sha256(each.data)}" for each in written]
    proposal = Proposal(ids.digest("\n".join(parts), 5), kind, reason, tuple(evidence), read, written)
    check(proposal)
    return proposal


def check(proposal: Proposal) -> None:
    """Raise UsageError for a proposal whose files contradict each other, or that its kind can't have."""
    kind, gone, written = proposal.kind, proposal.gone, [each.path for each in proposal.written]
    inputs, outputs = [each.path for each in proposal.inputs], [*gone, *written]
    read = {each.path for each in proposal.inputs if each.sha256}
    archived = [is_archived(path) for path in written]
    fits = {
        "merge": len(written) == 1 and bool(gone) and len({*gone, *written} & read) >= 2,
        "rewrite": not gone and read.issuperset(written),
        "archive": bool(gone) and len(gone) == len(written) and all(archived) and not read.intersection(written),
        "delete": bool(gone) and not written,
        "relink": not gone,
    }[kind]
    is_once = len(set(inputs)) == len(inputs) and 0 < len(set(outputs)) == len(outputs)
    is_of_index = any(map(is_index, gone if kind == "relink" else outputs))
    if not (fits and is_once and read.issuperset(gone)) or is_of_index or (kind != "archive" and any(archived)):
        raise UsageError(f"Change {proposal.id} has files that a {kind} can't have.")


def name(path: str) -> str:
    """Name a file: a memory by its stem, an index as MEMORY.md."""
    return os.path.basename(path) if is_index(path) else os.path.basename(path).removesuffix(".md")


def title(proposal: Proposal) -> str:
    """Say what a proposal does: `merge pnpm-only into prefer-pnpm`, `archive old-freeze`, `fix MEMORY.md`."""
    gone, written = [name(each) for each in proposal.gone], [name(each.path) for each in proposal.written]
    match proposal.kind:
        case "merge":
            return f"merge {' and '.join(gone)} into {written[0]}"
        case "archive" | "delete":
            return f"{'archive' if proposal.kind == 'archive' else 'remove'} {some(gone)}"
        case kind:
            return f"{'fix' if kind == 'relink' else kind} {some(written)}"
