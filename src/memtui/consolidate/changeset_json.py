"""A ChangeSet as a file, in JSON (docs/file-formats.md): it waits for a person, and is read as what a stranger may have
written.

A file can only name memories and indexes of the known scopes, of limited number and size.
"""

import base64
import binascii
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from memtui.consolidate.changeset import (
    KINDS,
    MAX_EVIDENCE,
    MAX_TEXT,
    MAX_TEXTS,
    ChangeSet,
    Data,
    FileInput,
    FileOutput,
    Kind,
    Proposal,
    ProposalEvidence,
    check,
    is_archived,
    sha256,
)
from memtui.consolidate.files import MemoryFiles
from memtui.core.base import fs
from memtui.core.base.errors import UsageError
from memtui.core.base.storage import storage_error
from memtui.core.memories import memory

FORMAT, VERSION = "memtui-changeset", 1
# The most that a file may have: bytes, changes, files of a change, bytes of an output.
MAX_BYTES = 64 << 20
MAX_CHANGES = 10_000
MAX_FILES = 1000
MAX_OUTPUT = memory.MAX_BYTES
MAX_ID, MAX_PATH = 64, 4096


def read(path: str, files: MemoryFiles) -> ChangeSet:
    """Read a ChangeSet from a file. Raises MemtuiError."""
    try:
        return loads(fs.read_bytes(path, MAX_BYTES + 1), files)
    except OSError as error:
        raise storage_error(error, path) from error


def dumps(found: ChangeSet) -> bytes:
    """Return the file. Characters that can't be seen are written as escapes."""
    head = {"format": FORMAT, "version": VERSION, "time": found.time, "by": found.by}
    text = json.dumps({**head, "changes": list(map(_change, found.proposals))}, indent=2, ensure_ascii=False)
    shown = text if text.isascii() else "".join(each if _is_plain(each) else _escaped(each) for each in text)
    return shown.encode() + b"\n"


def _is_plain(char: str) -> bool:
    return char == "\n" or char.isprintable()


def _escaped(char: str) -> str:
    return json.dumps(char)[1:-1]


def _change(found: Proposal) -> dict[str, object]:
    return {
        "id": found.id,
        "kind": found.kind,
        "reason": found.reason,
        "evidence": [
            {
                "code": each.code,
                **({} if each.score is None else {"score": each.score}),
                **({"texts": list(each.texts)} if each.texts else {}),
                **({"data": dict(each.data)} if each.data else {}),
            }
            for each in found.evidence
        ],
        "inputs": [{"path": each.path, "sha256": each.sha256, **_known(each)} for each in found.inputs],
        "outputs": [
            {"path": each.path, **({"gone": True} if each.data is None else _content(each.data))}
            for each in found.outputs
        ],
    }


def _known(found: FileInput) -> dict[str, object]:
    return {} if found.data is None or len(found.data) > MAX_OUTPUT else _content(found.data)


def _content(data: bytes) -> dict[str, object]:
    """Return a content as text if it is UTF-8, else in base 64."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def loads(data: bytes, files: MemoryFiles) -> ChangeSet:
    """Read a file. Raises UsageError, which says what is wrong with it, and MemtuiError for a path that a change must
    not have."""
    if len(data) > MAX_BYTES:
        raise UsageError(f"It is larger than {MAX_BYTES >> 20} MB.")
    try:
        found = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"It is not JSON: {error}.") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise UsageError(f"It is no ChangeSet: its “format” is not “{FORMAT}”.")
    if found.get("version") != VERSION or isinstance(found.get("version"), bool):
        raise UsageError(
            f"It has version {found.get('version')!r:.20}; this memtui reads {VERSION}.",
            "Update memtui, or plan again.",
        )
    rows = _list(found, "changes", "the ChangeSet", MAX_CHANGES)
    proposals = tuple(_proposal(row, number, files) for number, row in enumerate(rows, 1))
    names = [each.id for each in proposals]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise UsageError(f"It has two changes with the id {twice}.")
    return ChangeSet(_text(found, "time", "the ChangeSet"), _text(found, "by", "the ChangeSet"), proposals)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _proposal(row: object, number: int, files: MemoryFiles) -> Proposal:
    where = f"change {number}"
    if not isinstance(row, dict):
        raise UsageError(f"{where[:1].upper()}{where[1:]} is no object.")
    name = _text(row, "id", where, MAX_ID)
    if not name or not name.isascii() or not name.replace("-", "").isalnum():
        raise UsageError(f"The id of {where} must be letters, digits and dashes.")
    where = f"change {name}"
    kind = _text(row, "kind", where, MAX_ID)
    if kind not in KINDS:
        raise UsageError(f"The kind of {where} is “{kind}”.", f"memtui knows {', '.join(KINDS)}.")
    proposal = Proposal(
        name,
        kind,
        _text(row, "reason", where),
        tuple(_evidence(each, where) for each in _list(row, "evidence", where, MAX_EVIDENCE)),
        tuple(_input(each, where, files) for each in _list(row, "inputs", where, MAX_FILES)),
        tuple(_output(each, where, files, kind) for each in _list(row, "outputs", where, MAX_FILES)),
    )
    check(proposal)
    return proposal


def _evidence(row: object, where: str) -> ProposalEvidence:
    about = f"the evidence of {where}"
    found = _object(row, about)
    score = found.get("score")
    number = isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)
    if score is not None and not number:
        raise UsageError(f"The score in {about} is no number.")
    texts = _list(found, "texts", about, MAX_TEXTS)
    if not all(isinstance(each, str) and len(each) <= MAX_TEXT for each in texts):
        raise UsageError(f"The texts in {about} must be texts of at most {MAX_TEXT:,} characters.")
    code = _text(found, "code", about, MAX_ID)
    return ProposalEvidence(
        code, None if score is None else float(score), tuple(texts), _data(found.get("data"), about)
    )


def _data(found: object, about: str) -> Data:
    if found is None:
        return {}
    plain = isinstance(found, dict) and len(found) <= MAX_TEXTS
    if not plain or not all(
        isinstance(value, bool | int | float | None) or (isinstance(value, str) and len(value) <= MAX_TEXT)
        for value in cast(dict[str, object], found).values()
    ):
        raise UsageError(f"The data in {about} must be an object of texts and numbers.")
    return cast(Data, found)


def _input(row: object, where: str, files: MemoryFiles) -> FileInput:
    about = f"the inputs of {where}"
    found = _object(row, about)
    path, digest = _path(found, about), _text(found, "sha256", about, MAX_ID)
    if digest and (len(digest) != MAX_ID or digest.strip("0123456789abcdef")):
        raise UsageError(f"The sha256 of {path} in {about} must be {MAX_ID} hex digits, or empty for no file.")
    files.readable(path)
    data = _bytes(found, path, about, required=False)
    if data is not None and sha256(data) != digest:
        raise UsageError(f"The text of {path} in {about} does not have that sha256.", "Leave it out, or plan again.")
    return FileInput(path, digest, data)


def _output(row: object, where: str, files: MemoryFiles, kind: Kind) -> FileOutput:
    about = f"the outputs of {where}"
    found = _object(row, about)
    path = _path(found, about)
    gone = found.get("gone", False)
    if not isinstance(gone, bool):
        raise UsageError(f"“gone” of {path} in {about} must be true or false.")
    if gone and ("text" in found or "base64" in found):
        raise UsageError(f"{path} in {about} is gone, and has a text.")
    files.writable(path, kind)
    if gone and is_archived(path):
        raise UsageError(f"{path} in {about} is archived: only you remove it.")
    return FileOutput(path, None if gone else _bytes(found, path, about, required=True))


def _bytes(found: Mapping[str, Any], path: str, about: str, *, required: bool) -> bytes | None:
    text, coded = found.get("text"), found.get("base64")
    if text is None and coded is None and not required:
        return None
    if not isinstance(coded if text is None else text, str) or None not in (text, coded):
        raise UsageError(f"{path} in {about} must have a “text” or a “base64”.")
    try:
        data = str(text).encode() if coded is None else base64.b64decode(str(coded), validate=True)
    except (binascii.Error, ValueError) as error:
        raise UsageError(f"The content of {path} in {about} can't be read: {error}.") from error
    if len(data) > MAX_OUTPUT:
        raise UsageError(f"{path} in {about} is larger than {MAX_OUTPUT >> 20} MB.")
    return data


def _path(found: Mapping[str, Any], about: str) -> str:
    path = _text(found, "path", about, MAX_PATH)
    if not path.startswith("/"):
        raise UsageError(f"A path in {about} is “{path}”, which is not absolute.")
    return path


def _object(row: object, about: str) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise UsageError(f"{about[:1].upper()}{about[1:]} must be a list of objects.")
    return row


def _list(found: Mapping[str, Any], key: str, about: str, most: int) -> Sequence[Any]:
    value = found.get(key, [])
    if not isinstance(value, list):
        raise UsageError(f"“{key}” of {about} must be a list.")
    if len(value) > most:
        raise UsageError(f"“{key}” of {about} has more than {most:,} entries.")
    return value


def _text(found: Mapping[str, Any], key: str, about: str, most: int = MAX_TEXT) -> str:
    value = found.get(key, "")
    if not isinstance(value, str):
        raise UsageError(f"“{key}” of {about} must be a text.")
    if len(value) > most:
        raise UsageError(f"“{key}” of {about} is longer than {most:,} characters.")
    return value
