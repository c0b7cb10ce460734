"""Where the delivery log is, and appending to it: all that a hook needs which delivers."""

from memtui.base import clock_hot, fastjson_hot, fs_hot

VERSION = 1
PREFIX, SUFFIX = "deliveries-", ".jsonl"


def log_path(root: str, seconds: float) -> str:
    """Return the log file of a time's month: `log/deliveries-2026-11.jsonl`."""
    return f"{root}/log/{PREFIX}{clock_hot.iso(seconds)[:7]}{SUFFIX}"


def append(root: str, record: "dict[str, object]", seconds: float) -> None:
    """Append one record (keys: docs/file-formats.md). Raises OSError."""
    fs_hot.append(log_path(root, seconds), fastjson_hot.dumps(record).encode() + b"\n")
