"""What the form shows of a memory, and the file that what was typed makes."""

from collections.abc import Mapping

from memtui.core.memories import memory
from memtui.core.memories.memory import Memory
from memtui.tui.widgets.body import fits

# Shown as they are, not to be edited by hand; or edited in a line of their own.
FIXED = {"originSessionId", "node_type", "modified", "updated"}
OWN = {"name", "description", "type", "title"}


def too_large(found: Memory) -> bool:
    """Whether the form can't hold it."""
    return not fits(found.body) or len(found.raw) > memory.MAX_BYTES


def values_of(found: Memory, *, raw: bool) -> dict[str, str]:
    """What the form shows of a memory: its text fields, nested ones by their dotted path; `raw`: the whole file."""
    if raw:
        return {"raw": found.raw.decode("utf-8", "surrogateescape")}
    values = {"name": found.stem, "description": memory.text_of(found.fields, "description"), "type": found.type}
    for prefix, table in (("", found.fields), ("metadata.", found.fields.get("metadata"))):
        for key, value in table.items() if isinstance(table, dict) else ():
            if isinstance(value, str) and key not in OWN | FIXED and "\n" not in value and "." not in key:
                values[prefix + key] = value
    return {**values, "body": found.body.strip("\n")}


def bytes_of(there: Memory, changed: Mapping[str, str]) -> bytes:
    """The memory's file with what was changed; the name is not in it. Raises MemtuiError."""
    if "raw" in changed:
        return changed["raw"].encode("utf-8", "surrogateescape")
    fields = {key: value for key, value in changed.items() if key != "name"}
    if "body" in fields:  # the blank lines around it were not shown
        lead = there.body[: len(there.body) - len(there.body.lstrip("\n"))]
        fields["body"] = lead + fields["body"].strip("\n") + "\n"
    return memory.with_fields(there, fields)
