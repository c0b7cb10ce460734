"""Files of the subconscious that grow by lines, a JSON row for a dataclass each, and lose their older half when large.
Several processes write them, so nothing may be appended to a file while it is cut."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

from memtui.core.base import backwards, clock, fastjson, fs
from memtui.subconscious import places

VERSION = 1
LOCK_SECONDS = 5.0
Row = TypeVar("Row")


def append(root: str, path: str, item: Any, most: int) -> None:
    """Append a row to a file, of which the older half goes if it has more than `most` bytes then. Raises OSError."""
    with fs.Lock(places.home(root) + "/lines.lock", LOCK_SECONDS):
        fs.append(path, line_of(item))
        if os.stat(path).st_size > most:
            rows = fs.read_bytes(path).splitlines(keepends=True)
            fs.write_atomic(path, b"".join(rows[len(rows) // 2 :]), durable=False)


def line_of(item: Any) -> bytes:
    """Return a dataclass as a line of a file."""
    return fastjson.dumps({"v": VERSION, **data_of(item)}).encode() + b"\n"


def data_of(item: Any) -> dict[str, Any]:
    """Return a dataclass as its file and --json have it: its `time`, in seconds since the epoch, as ISO 8601."""
    data = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(item).items()}
    return data | {"time": clock.iso(item.time)}


def newest_first(path: str, kind: type[Row], needle: bytes = b"") -> Iterator[Row]:
    """Yield the rows of a file that are of a dataclass, newest first. Lines that can't be read are skipped."""
    try:
        for _, line in backwards.lines(path, needle=needle):
            row = read(kind, fastjson.loads_dict(line))
            if row is not None:
                yield row
    except OSError:
        return


def read(kind: type[Row], row: Mapping[str, object]) -> Row | None:
    """Read a row; None if it is none, or a text that must be there is missing."""
    values: dict[str, Any] = {"time": clock.parse(row.get("time"))}
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name != "time":
            values[field.name] = _value(field, row.get(field.name))
    is_row = row.get("v") == VERSION and all(value is not MISSING for value in values.values())
    return kind(**values) if is_row and values["time"] is not None else None


def _value(field: "Field[Any]", value: object) -> Any:
    """Return the value of a field: its default for one of another type; MISSING for a text without a default."""
    if field.type is str:
        return value if isinstance(value, str) else field.default
    if field.type is bool:
        return value is True
    if field.type in {int, float, float | None}:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return value if is_number else None if field.type == float | None else 0
    return tuple(map(str, value)) if isinstance(value, list) else ()
