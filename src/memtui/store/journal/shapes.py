"""The shapes of the journal's records. Apart from the changes, which a reader of the journal does not need."""

from collections.abc import Mapping
from types import UnionType
from typing import Any

VERSION = 1
Record = Mapping[str, Any]
Row = Mapping[str, Any]


def is_digest(value: object) -> bool:
    """Return whether a value is a hash by which the journal names contents."""
    return isinstance(value, str) and len(value) == 64 and not value.strip("0123456789abcdef")


def is_digest_or_none(value: object) -> bool:
    """Return whether a value is such a hash, or None for no content."""
    return value is None or is_digest(value)


def is_pair(value: object) -> bool:
    """Return whether a value is a list of two texts."""
    return fits(value, (str, str))


def _is_pair_or_none(value: object) -> bool:
    return value is None or is_pair(value)


def _is_absolute(path: object) -> bool:
    return isinstance(path, str) and path.startswith("/")


def _is_names(table: object) -> bool:
    return isinstance(table, dict) and all(isinstance(name, str) for name in table.values())


def fits(value: object, shape: Any) -> bool:
    """Return whether JSON has a shape: a type, a function, a dict of keys, a list's item, or a tuple's items."""
    match shape:
        case dict():
            return isinstance(value, dict) and all(
                key in value and fits(value[key], part) for key, part in shape.items()
            )
        case list():
            return isinstance(value, list) and all(fits(item, shape[0]) for item in value)
        case tuple():
            return isinstance(value, list) and len(value) == len(shape) and all(map(fits, value, shape))
        case type() | UnionType():
            return isinstance(value, shape)
    return bool(shape(value))


# By the key that only rows of one kind have: what each row of that kind has.
SHAPES: Mapping[str, Row] = {
    "before": {"before": is_digest_or_none, "after": is_digest_or_none},
    "was": {
        **dict.fromkeys(("removed", "added"), is_digest),
        **dict.fromkeys(("anchor", "was", "now"), is_digest_or_none),
        "count": int,
    },
    "trust": {"trust": {"directory": str, "removed": _is_names, "added": _is_names, "always": (bool, bool)}},
    "cut": {
        "cut": {"at": int, "mode": int, "from": is_digest_or_none, "to": is_digest_or_none, "dirs": [_is_absolute]},
        "removed": is_digest,
        "added": is_digest,
    },
    "modes": {"modes": (int, int)},
    "entry": {"entry": {"table": str, "key": str, "before": dict | None, "after": dict | None}},
    "pairs": {"pairs": [(_is_pair_or_none, _is_pair_or_none)]},
    "versions": {"versions": [(str, str, str)], "seen": (bool | None, bool | None)},
    "beside": {
        "beside": {"directory": str, "file": str},
        "removed": is_digest_or_none,
        "added": is_digest_or_none,
    },
}
# What a row may have besides, by the same key.
OPTIONAL: Mapping[str, Row] = {"before": {"times": (int | None, int | None)}, "was": {"at": int | None}}


def _is_row(row: Any) -> bool:
    key = next((key for key in SHAPES if key in row), None) if isinstance(row, dict) else None
    return (
        key is not None
        and fits(row, {"path": _is_absolute, **SHAPES[key]})
        and all(fits(row[name], shape) for name, shape in OPTIONAL.get(key, {}).items() if name in row)
    )


def readable(record: Record) -> bool:
    """Return whether an intent has the shape that this version writes: recovery and undo trust no other."""
    is_current = record.get("v") == VERSION
    return is_current and fits(record.get("changes"), [_is_row]) and fits(record.get("drop", []), [is_digest])
