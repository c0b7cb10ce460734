"""A ChangeSet: what is proposed to be done about memories, each proposal with its reason, for a person to decide on.

Everything that proposes something makes one of these: findings, near-duplicates, a model. `changeset_json` writes and
reads it as a file, `applying` makes its accepted proposals.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal, get_args

from memtui.core.base import ids
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import some
from memtui.core.places import locate

Kind = Literal["merge", "rewrite", "retype", "move", "archive", "delete", "relink", "rule"]
# `edited`: accepted, with outputs that a person changed.
Decision = Literal["open", "accepted", "edited"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ACCEPTED = frozenset({"accepted", "edited"})
# The directory in a scope's where archived memories go: its name is hidden, so that nobody lists or delivers them.
ARCHIVE = ".archive"
# The most pieces of evidence of a proposal, passages of a piece, and characters of a passage or a reason.
MAX_EVIDENCE, MAX_TEXTS, MAX_TEXT = 100, 100, 20_000
# The code of the evidence that names what a model wrote and no input says.
ADDED = "added"
# What is known of a finding besides its code.
Data = Mapping[str, object]


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
    data: Data = field(default_factory=dict)


@dataclass(frozen=True)
class Proposal:
    """One change of a ChangeSet, which is made as a whole or not at all. `reason` is a sentence for a person, empty if
    the evidence says all. `id` stands for exactly this change: the same files and outcome get the same id again."""

    id: str
    kind: Kind
    reason: str
    evidence: tuple[ProposalEvidence, ...]
    inputs: tuple[FileInput, ...]
    outputs: tuple[FileOutput, ...]
    decision: Decision = "open"

    @property
    def accepted(self) -> bool:
        """Whether a person accepted it, as it was or edited."""
        return self.decision in ACCEPTED

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
        if self.kind in {"archive", "delete"} or not self.gone:
            return None
        return next((each.path for each in self.written if not is_index(each.path)), None)

    def decided(self, decision: Decision) -> "Proposal":
        """Return the proposal with another decision."""
        return replace(self, decision=decision)

    def edited(self, outputs: Iterable[FileOutput]) -> "Proposal":
        """Return the proposal with outputs that a person changed. Raises UsageError if its kind can't have them."""
        found = replace(self, outputs=tuple(outputs), decision="edited")
        check(found)
        return found


@dataclass(frozen=True)
class ChangeSet:
    """Proposals, worst first. `time` is when it was made (ISO 8601), `by` what made it."""

    time: str
    by: str
    proposals: tuple[Proposal, ...]

    @property
    def accepted(self) -> tuple[Proposal, ...]:
        """The proposals that a person accepted."""
        return tuple(each for each in self.proposals if each.accepted)

    def decided(self, decision: Decision, among: Iterable[str]) -> "ChangeSet":
        """Return the ChangeSet with a decision on the proposals with these ids."""
        wanted = set(among)
        return self.replaced({each.id: each.decided(decision) for each in self.proposals if each.id in wanted})

    def replaced(self, others: Mapping[str, Proposal]) -> "ChangeSet":
        """Return the ChangeSet with other proposals in the place of those with these ids."""
        return replace(self, proposals=tuple(others.get(each.id, each) for each in self.proposals))


def is_index(path: str) -> bool:
    """Return whether a path is that of a MEMORY.md."""
    return os.path.basename(path) == locate.INDEX_NAME


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
    found = Proposal(ids.digest("\n".join(parts), 5), kind, reason[:MAX_TEXT], _limited(evidence), read, made)
    check(found)
    return found


def _limited(evidence: Iterable[ProposalEvidence]) -> tuple[ProposalEvidence, ...]:
    some = islice(evidence, MAX_EVIDENCE)
    return tuple(replace(each, texts=tuple(text[:MAX_TEXT] for text in each.texts[:MAX_TEXTS])) for each in some)


def check(found: Proposal) -> None:
    """Raise UsageError for a proposal that contradicts itself: a file twice, a file that goes and was not read, files
    that its kind can't have."""
    for paths in ([each.path for each in found.inputs], [each.path for each in found.outputs]):
        if len(set(paths)) < len(paths):
            raise _wrong(found, "names a file twice")
    known = {each.path for each in found.inputs if each.sha256}
    if not found.outputs:
        raise _wrong(found, "changes nothing")
    if any(path not in known for path in found.gone):
        raise _wrong(found, "removes a file that it did not read")
    if any(map(is_index, found.gone)):
        raise _wrong(found, "removes a MEMORY.md")
    if found.kind != "relink" and any(is_index(each.path) for each in found.outputs):
        raise _wrong(found, "writes a MEMORY.md, which only a relink may")
    archived = [is_archived(each.path) for each in found.outputs if each.data is not None]
    if any(archived) and found.kind != "archive":
        raise _wrong(found, f"writes into {ARCHIVE}/, which only an archive may")
    if not _fits(found, len(found.gone), [each.path in known for each in found.written], archived):
        raise _wrong(found, SHAPES[found.kind])


# What a proposal of each kind must be; `_fits` checks it.
SHAPES: Mapping[Kind, str] = {
    "merge": "must make one file of two or more",
    "rewrite": "must only write files that it read",
    "retype": "must only write files that it read",
    "move": "must only give one file another path",
    "archive": f"must only put files into {ARCHIVE}/",
    "delete": "must only remove files",
    "relink": "must only write files, not remove any",
    "rule": "must only write one file of instructions, for a memory that it read",
}


def _fits(found: Proposal, gone: int, old: list[bool], archived: list[bool]) -> bool:
    """Return whether a proposal has the shape of its kind; `old` and `archived`: for each written file whether it was
    read, and whether it is in the archive."""
    written = len(old)
    if found.kind == "merge":
        return written == 1 and gone >= 1 and gone + sum(old) >= 2
    if found.kind in {"rewrite", "retype"}:
        return not gone and all(old)
    if found.kind == "move":
        return gone == 1 and written == 1 and not any(old)
    if found.kind == "archive":
        return gone >= 1 and gone == written and all(archived) and not any(old)
    if found.kind == "delete":
        return gone >= 1 and not written
    if found.kind == "rule":
        return not gone and written == 1 and bool(found.inputs) and found.inputs[0].path != found.outputs[0].path
    return not gone  # relink


def is_archived(path: str) -> bool:
    """Return whether a file is in the archive of its scope. A scope may itself be below a directory of that name."""
    _, found, file = path.rpartition(f"/{ARCHIVE}/")
    return bool(found) and "/." not in f"/{file}"


def _wrong(found: Proposal, problem: str) -> UsageError:
    return UsageError(f"Change {found.id}, a {found.kind}, {problem}.")


def name(path: str) -> str:
    """Name a file: a memory by its stem, an index as MEMORY.md."""
    return os.path.basename(path) if is_index(path) else os.path.basename(path).removesuffix(".md")


def title(found: Proposal) -> str:
    """Say what a proposal does: `merge pnpm-only into prefer-pnpm`, `archive old-freeze`, `fix MEMORY.md`."""
    gone, written = [name(each) for each in found.gone], [name(each.path) for each in found.written]
    if found.kind == "merge":
        return f"merge {' and '.join(gone)} into {written[0]}"
    if found.kind == "move":
        return f"move {gone[0]} to {found.written[0].path}"
    if found.kind in {"archive", "delete"}:
        return f"{'archive' if found.kind == 'archive' else 'remove'} {some(gone)}"
    if found.kind == "rule":
        return f"add {name(found.inputs[0].path)} to {instructions(found)}"
    return f"{'fix' if found.kind == 'relink' else found.kind} {some(written)}"


def instructions(found: Proposal) -> str:
    """Name the file that a proposal of instructions writes: `CLAUDE.md`, or `rules/prefer-pnpm.md`."""
    directory, _, file = found.outputs[0].path.rpartition("/")
    return f"rules/{file}" if directory.endswith("/rules") else file
