"""What is proposed to be done about memories, each proposal with its reason, for a person to decide on.

Everything that proposes something makes these: findings, near-duplicates, a model. `waiting` keeps those of a model in
a file, `composing` makes them.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, get_args

from memtui.core.base import ids
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import some
from memtui.core.places import locate

Kind = Literal["merge", "rewrite", "retype", "archive", "delete", "relink", "rule"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# The directory in a scope's where archived memories go: its name is hidden, so that nobody lists or delivers them.
ARCHIVE = ".archive"
# The most pieces of evidence of a proposal, passages of a piece, and characters of a passage or a reason.
MAX_EVIDENCE, MAX_TEXTS, MAX_TEXT = 100, 100, 20_000
# The code of the evidence that names what a model wrote and no input says.
ADDED = "added"
# What a proposal of each kind must be; `_fits` checks it.
SHAPES: Mapping[Kind, str] = {
    "merge": "must make one file of two or more",
    "rewrite": "must only write files that it read",
    "retype": "must only write files that it read",
    "archive": f"must only put files into {ARCHIVE}/",
    "delete": "must only remove files",
    "relink": "must only write files, not remove any",
    "rule": "must only write one file of instructions, for a memory that it read",
}


def sha256(data: bytes) -> str:
    """Return the SHA-256 of a file's content in hex: the name of it that other programs can check."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class FileInput:
    """A file that a proposal was made from: its absolute path, and the SHA-256 of its content, empty if there was no
    file. `data` is that content, None if it is not known (any more)."""

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
    """What speaks for a proposal: the code of a finding, a score from 0 to 1 if there is one, passages, and what else
    is known of the finding."""

    code: str
    score: float | None = None
    texts: tuple[str, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Proposal:
    """One change, which is made as a whole or not at all. `reason` is a sentence for a person, empty if the evidence
    says all. `id` stands for exactly this change: the same files and outcome get the same id again."""

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
        """Return the proposal with outputs that a person changed: nothing in them is a model's own any more. Raises
        UsageError if its kind can't have them."""
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
    """Make a proposal, with an id made from its files; evidence over the limits is left out. Raises UsageError if its
    kind can't have these files."""
    read, made = tuple(inputs), tuple(outputs)
    parts = [kind, *(f"{each.path} {each.sha256}" for each in read)]
    parts += [f"{each.path} {'' if each.data is None else sha256(each.data)}" for each in made]
    limited = tuple(
        replace(each, texts=tuple(text[:MAX_TEXT] for text in each.texts[:MAX_TEXTS]))
        for each in tuple(evidence)[:MAX_EVIDENCE]
    )
    proposal = Proposal(ids.digest("\n".join(parts), 5), kind, reason[:MAX_TEXT], limited, read, made)
    check(proposal)
    return proposal


def check(proposal: Proposal) -> None:
    """Raise UsageError for a proposal that contradicts itself: a file twice, a file that goes and was not read, files
    that its kind can't have."""
    read = {each.path for each in proposal.inputs if each.sha256}
    outputs, kind = {each.path for each in proposal.outputs}, proposal.kind
    problem = ""
    if len({each.path for each in proposal.inputs}) < len(proposal.inputs) or len(outputs) < len(proposal.outputs):
        problem = "names a file twice"
    elif not outputs:
        problem = "changes nothing"
    elif not read.issuperset(proposal.gone):
        problem = "removes a file that it did not read"
    elif any(map(is_index, proposal.gone)):
        problem = "removes a MEMORY.md"
    elif kind != "relink" and any(map(is_index, outputs)):
        problem = "writes a MEMORY.md, which only a relink may"
    elif kind != "archive" and any(is_archived(each.path) for each in proposal.written):
        problem = f"writes into {ARCHIVE}/, which only an archive may"
    elif not _fits(proposal, [each.path in read for each in proposal.written]):
        problem = SHAPES[kind]
    if problem:
        raise UsageError(f"Change {proposal.id}, a {kind}, {problem}.")


def _fits(proposal: Proposal, old: list[bool]) -> bool:
    """Return whether a proposal has the shape of its kind; `old`: for each written file whether it was read."""
    gone, written = len(proposal.gone), len(old)
    match proposal.kind:
        case "merge":
            return written == 1 and gone >= 1 and gone + sum(old) >= 2
        case "rewrite" | "retype":
            return not gone and all(old)
        case "archive":
            archived = all(is_archived(each.path) for each in proposal.written)
            return gone >= 1 and gone == written and archived and not any(old)
        case "delete":
            return gone >= 1 and not written
        case "rule":
            return (
                not gone
                and written == 1
                and proposal.inputs[:1] != ()
                and proposal.inputs[0].path not in {each.path for each in proposal.outputs}
            )
        case "relink":
            return not gone


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
        case "rule":
            return f"add {name(proposal.inputs[0].path)} to {instructions(proposal)}"
        case kind:
            return f"{'fix' if kind == 'relink' else kind} {some(written)}"


def instructions(proposal: Proposal) -> str:
    """Name the file that a proposal of instructions writes: `CLAUDE.md`, or `rules/prefer-pnpm.md`."""
    directory, _, file = proposal.outputs[0].path.rpartition("/")
    return f"rules/{file}" if directory.endswith("/rules") else file
