"""The shape of the journal's records: nothing else may steer what recovery and undo do."""

from collections.abc import Mapping
from typing import Any

VERSION = 1


def readable(record: Mapping[str, Any]) -> bool:
    """Whether an intent has the shape that this version writes: nothing else may steer what recovery and undo do."""
    rows, drop = record.get("changes"), record.get("drop", [])
    if record.get("v") != VERSION or not isinstance(rows, list) or not isinstance(drop, list):
        return False
    return all(_is_digest(digest) for digest in drop) and all(_is_row(row) for row in rows)


def _is_row(row: object) -> bool:
    if not isinstance(row, dict) or not str(row.get("path")).startswith("/"):
        return False
    if "trust" in row:
        return _is_trust(row["trust"])
    if "cut" in row:
        return _is_cut(row["cut"]) and all(_is_digest(row.get(key)) for key in ("removed", "added"))
    if "modes" in row:
        return _is_modes(row["modes"])
    if "file" in row:
        return isinstance(row["file"], int) and str(row.get("to")).startswith("/")
    if "entry" in row:
        return _is_entry(row["entry"])
    if "was" in row:
        texts = all(_is_digest(row.get(key)) for key in ("removed", "added"))
        numbers = isinstance(row.get("count"), int) and isinstance(row.get("at", 0), int | None)
        return texts and numbers and (row.get("anchor") is None or _is_digest(row["anchor"]))
    times = row.get("times", [None, None])
    if not isinstance(times, list) or len(times) != 2 or not all(isinstance(time, int | None) for time in times):
        return False
    return all(row.get(key) is None or _is_digest(row[key]) for key in ("before", "after"))


def _is_cut(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("at"), int) or not isinstance(value.get("mode"), int):
        return False
    dirs = value.get("dirs")
    whole = all(value.get(key) is None or _is_digest(value[key]) for key in ("from", "to"))
    return whole and isinstance(dirs, list) and all(isinstance(each, str) and each.startswith("/") for each in dirs)


def _is_modes(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(e, int) and 0 <= e < 0o10000 for e in value)


def _is_entry(value: object) -> bool:
    if not isinstance(value, dict) or not all(isinstance(value.get(key), str) for key in ("table", "key")):
        return False
    return all(isinstance(value.get(key, 0), dict | None) for key in ("before", "after"))


def _is_trust(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("directory"), str):
        return False
    tables = (value.get("removed"), value.get("added"))
    if not all(isinstance(table, dict) and all(isinstance(name, str) for name in table.values()) for table in tables):
        return False
    always = value.get("always")
    return isinstance(always, list) and len(always) == 2 and all(isinstance(each, bool) for each in always)


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and not value.strip("0123456789abcdef")
