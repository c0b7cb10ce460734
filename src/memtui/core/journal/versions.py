"""The text of what a change changed, before and after it: for a person to read."""

import json
from collections.abc import Mapping
from typing import Any

from memtui.core.journal.changes.change import Change
from memtui.core.journal.changes.entry_edit import EntryEdit
from memtui.core.journal.changes.file_change import FileChange
from memtui.core.journal.changes.mode_edit import ModeEdit
from memtui.core.journal.changes.pairs_edit import PairsEdit
from memtui.core.journal.changes.patch import Patch
from memtui.core.journal.changes.renaming import Renaming
from memtui.core.journal.changes.text_edit import TextEdit
from memtui.core.journal.changes.trust_edit import TrustEdit


def versions(change: Change) -> tuple[str, str]:
    """Return what a change replaced, and by what: the whole file, or only the lines, bytes or entry that it is about.
    Empty for nothing."""
    match change:
        case FileChange(before=before, after=after):
            return _decoded(before), _decoded(after)
        case TextEdit(removed=removed, added=added):
            return removed, added
        case Patch(removed=cut, added=put):
            return _decoded(cut), _decoded(put)
        case EntryEdit(name=name, before=old, after=new):
            return _written(name, old), _written(name, new)
        case TrustEdit(removed=gone, added=trusted):
            return "\n".join(sorted(gone.values())), "\n".join(sorted(trusted.values()))
        case PairsEdit(before=before, after=after):
            return _decoded(before), _decoded(after)
        case ModeEdit(before=mode, after=other):
            return f"mode {mode:o}", f"mode {other:o}"
        case Renaming(path=path, to=to):
            return path, to
    return "", ""


def _decoded(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace").replace("\r\n", "\n")


def _written(name: str, value: Mapping[str, Any] | None) -> str:
    return "" if value is None else f"{name}\n{json.dumps(value, ensure_ascii=False, indent=2)}"
