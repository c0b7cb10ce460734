"""What the own checks of memories (their field `verify`) said last, by directory: a worker and `memtui check` note it.

A row counts while its memory has the same bytes: whoever edits a memory or its check has it checked anew. Hot path."""

from memtui.base import fastjson_hot, fs_hot, paths_hot

HOLDS, FAILS, NOT_MADE = "holds", "fails", "not made"
VERSION = 1
# The type of memories that say what to do: where its check fails, such a memory is not delivered at all.
RULE = "feedback"


def load(root: str, directory: str) -> "dict[str, object]":
    """Return the rows of a directory's memories, by file."""
    table = fs_hot.read_table(paths_hot.checks_path(root, directory))
    return fastjson_hot.table(table, "memories") if table.get("v") == VERSION else {}


def row_of(rows: "dict[str, object]", file: str, digest: str) -> "dict[str, object]":
    """Return the row of a memory with these bytes; `{}` if its checks were not made since it changed."""
    row = fastjson_hot.table(rows, file)
    return row if row.get("digest") == digest else {}


def failure(rows: "dict[str, object]", file: str, digest: str) -> str:
    """Return since when a memory's own check fails, and which: `2026-11-28 (glob yarn.lock)`; empty if none does."""
    row = row_of(rows, file, digest)
    day, check = fastjson_hot.text(row, "since")[:10], fastjson_hot.text(row, "check")
    return f"{day} ({check})" if row.get("state") == FAILS else ""
