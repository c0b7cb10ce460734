"""The file of a ChangeSet: written for review, read again with the decisions that a person made in it."""

import os
from typing import NamedTuple

from memtui.consolidate import changeset_json, coverage
from memtui.consolidate.changeset import ChangeSet, Proposal
from memtui.consolidate.files import MemoryFiles
from memtui.core.base import fs
from memtui.core.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.core.base.shell import shell_word
from memtui.core.base.short_ids import match
from memtui.core.base.storage import read_or_none, storage_error

# `--plan` reads the decisions in its file first, so it fails, too, as long as a file there is broken.
REPAIR = "Nothing was changed. Correct the file, or remove it, or give `memtui consolidate --plan` another name."


class Decisions(NamedTuple):
    """What a person decides: ids of proposals, whole or by their beginning or end, to accept and to reject."""

    accept: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()
    accept_all: bool = False


def read(path: str, files: MemoryFiles) -> ChangeSet:
    """Read a ChangeSet from a file. Raises NotFoundError, MemtuiError, each with the file's name."""
    try:
        data = fs.read_bytes(path, changeset_json.MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(
            f"There is no {path}.", f"`memtui consolidate --plan {shell_word(path)}` makes it."
        ) from None
    except OSError as error:
        raise MemtuiError(f"{path} can't be read: {error.strerror or error}.") from error
    try:
        return changeset_json.loads(data, files)
    except MemtuiError as error:
        error.message = f"{path} can't be used. {error.message}"
        error.hint = error.hint or REPAIR
        raise


def must_have_place(path: str) -> None:
    """Raise NotFoundError if the directory of a file that a person named is not there: it may be mistyped."""
    if not os.path.isdir(directory := os.path.dirname(path)):
        raise NotFoundError(f"There is no directory {directory}.", "Make it first, or give another name.")


def write(path: str, found: ChangeSet) -> None:
    """Write a ChangeSet to a file, with what is covered for its readers. Raises ConflictError for a file that is no
    ChangeSet, MemtuiError."""
    try:
        before = read_or_none(path)
        if before and not changeset_json.is_changeset(before):
            raise ConflictError(f"{path} exists, and is no ChangeSet.", "Give another name, or remove it.")
        fs.write_atomic(path, dumps(found))
    except OSError as error:
        raise storage_error(error, path) from error


def dumps(found: ChangeSet) -> bytes:
    """Return the file, with what is covered for its readers."""
    return changeset_json.dumps(found, {each.id: _note(each) for each in found.proposals})


def _note(found: Proposal) -> dict[str, object]:
    covered = coverage.of_proposal(found)
    if covered is None:
        return {}
    rows = {
        how: [{"path": each.statement.path, "text": each.statement.text} for each in covered.of(how)]
        for how in ("dropped", "reworded")
    }
    return {"coverage": {**rows, "kept": len(covered.of("kept"))}}


def with_earlier(found: ChangeSet, earlier: ChangeSet) -> ChangeSet:
    """Return a new ChangeSet with the decisions of an earlier one on the same proposals; edited ones stay as edited."""
    known = {each.id: each for each in earlier.proposals}
    same = [(each, known[each.id]) for each in found.proposals if each.id in known]
    return found.replaced({new.id: old if old.decision == "edited" else new.decided(old.decision) for new, old in same})


def decide(found: ChangeSet, decisions: Decisions) -> ChangeSet:
    """Return a ChangeSet with decisions made. `accept_all` accepts those that are open. Raises NotFoundError,
    ConflictError for an id that no proposal or several have."""
    names = [each.id for each in found.proposals]
    try:
        accepted = [match(ref, names, "change") for ref in decisions.accept]
        rejected = [match(ref, names, "change") for ref in decisions.reject]
    except NotFoundError as error:
        error.hint = error.hint or "`memtui consolidate` lists the changes there are."
        raise
    if decisions.accept_all:
        accepted += [each.id for each in found.proposals if each.decision == "open" and each.id not in rejected]
    both = set(accepted) & set(rejected)
    if both:
        raise ConflictError(f"Change {min(both)} is both accepted and rejected.", "Decide on one.")
    edited = {each.id for each in found.proposals if each.decision == "edited"}
    return found.decided("accepted", set(accepted) - edited).decided("rejected", rejected)
