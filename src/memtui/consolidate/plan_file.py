"""The file of a ChangeSet that a model proposed: it waits for a person, who rejects some of it or all."""

from memtui.consolidate import changeset_json, coverage
from memtui.consolidate.changeset import ChangeSet, Proposal
from memtui.consolidate.files import MemoryFiles
from memtui.core.base import fs
from memtui.core.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.core.base.storage import read_or_none, storage_error

REPAIR = "Nothing was changed. Remove the file, and ask the model again: memtui consolidate --ask-model"


def read(path: str, files: MemoryFiles) -> ChangeSet:
    """Read a ChangeSet from a file. Raises NotFoundError, MemtuiError, each with the file's name."""
    try:
        data = fs.read_bytes(path, changeset_json.MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(f"There is no {path}.") from None
    except OSError as error:
        raise MemtuiError(f"{path} can't be read: {error.strerror or error}.") from error
    try:
        return changeset_json.loads(data, files)
    except MemtuiError as error:
        error.message = f"{path} can't be used. {error.message}"
        error.hint = error.hint or REPAIR
        raise


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
