"""Changes as the journal's records have them, and the contents that those name: in `trash/`, under their hash."""

from collections.abc import Mapping, Sequence
from typing import Any

from memtui.core.base import fs, ids
from memtui.core.base.errors import MemtuiError, NotFoundError
from memtui.core.inbox import format as inbox_format
from memtui.core.journal.changes import files as ch
from memtui.core.journal.changes import patches
from memtui.core.journal.changes.files import Change, FileChange, TextEdit, TrustEdit
from memtui.core.journal.changes.step import Keep, Step


class Records:
    """Those of one memtui root."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.trash = root + "/trash"

    # contents

    def image_path(self, digest: str) -> str:
        """Where a content lies in the trash."""
        return f"{self.trash}/{digest}"

    def image(self, digest: str) -> bytes:
        """A kept content. Raises NotFoundError once it was purged, MemtuiError if it can't be read."""
        try:
            data = fs.read_bytes(self.image_path(digest))
        except FileNotFoundError as error:
            raise NotFoundError("The old content was purged from the trash.", "It can't be brought back.") from error
        except OSError as error:
            raise ch.storage_error(error, self.image_path(digest)) from error
        if ids.digest(data) != digest:
            raise MemtuiError(f"{self.image_path(digest)} is damaged", "It can't be brought back; nothing was changed.")
        return data

    def _note(self, data: bytes) -> str:
        """As `_keep`, for what a change is not taken back by: that a disk may lose, and there may be thousands."""
        return self._keep(data, durable=False)

    def _keep(self, data: bytes, durable: bool = True) -> str:
        digest = ids.digest(data)
        path = self.image_path(digest)
        try:
            # One that is there but damaged (a lying disk) is written anew.
            if ch.read(path) != data:
                fs.write_atomic(path, data, durable)
            elif durable:
                fs.sync(path)  # it may have been noted only
        except OSError as error:
            raise ch.storage_error(error, path) from error
        return digest

    # changes

    def rows(self, changes: Sequence[Change]) -> list[dict[str, Any]]:
        """The changes as an intent has them; their contents are kept. Raises ConflictError if a file is not as they
        expect it, MemtuiError."""
        contents: dict[str, bytes | None] = {}
        rows: list[dict[str, Any]] = []
        for change in changes:
            path = change.path
            try:
                if isinstance(change, TrustEdit):
                    rows.append(_trust_row(change, self._note))
                    continue
                if isinstance(change, Step):
                    change.check()
                    rows.append({"path": path, **change.row(self._keep)})
                    continue
                if path not in contents:
                    contents[path] = ch.read(path)
            except OSError as error:
                raise ch.storage_error(error, path) from error
            present = contents[path]
            if isinstance(change, FileChange):
                if present != change.before:
                    raise ch.conflict(path, taken=change.before is None)
                contents[path] = change.after
                rows.append(_file_row(change, self._keep))
                continue
            text = inbox_format.decode(present or b"")
            contents[path] = after = inbox_format.encode(change.apply(text)) or None
            rows.append(
                {
                    "path": path,
                    "removed": self._keep(inbox_format.encode(change.removed)),
                    "added": self._keep(inbox_format.encode(change.added)),
                    "anchor": None if change.anchor is None else self._keep(inbox_format.encode(change.anchor)),
                    "at": change.at,
                    **({} if change.mode is None else {"mode": change.mode}),
                    "was": ids.digest(present) if present else None,
                    "now": ids.digest(after) if after else None,
                    "count": change.count(text),
                }
            )
        return rows

    def changes_of(self, record: Mapping[str, Any]) -> list[Change]:
        """The changes of an intent. Raises NotFoundError if a content was purged."""
        return [self._change(row) for row in record["changes"]]

    def _change(self, row: Mapping[str, Any]) -> Change:
        if "trust" in row:
            given = row["trust"]
            always = (given["always"][0], given["always"][1])
            return TrustEdit(row["path"], given["directory"], given["removed"], given["added"], always)
        if "was" in row:
            removed, added = (inbox_format.decode(self.image(row[key])) for key in ("removed", "added"))
            anchor = None if row["anchor"] is None else inbox_format.decode(self.image(row["anchor"]))
            return TextEdit(row["path"], removed, added, anchor, row.get("at"), row.get("mode"))
        step = patches.step_of(row, self.image)
        if step is not None:
            return step
        before, after = (row[key] and self.image(row[key]) for key in ("before", "after"))
        times = row.get("times", (None, None))
        return FileChange(row["path"], before, after, row.get("mode"), (times[0], times[1]))


def _trust_row(change: TrustEdit, keep: Keep) -> dict[str, Any]:
    for trusted in change.texts:
        keep(trusted)
    given = {"removed": dict(change.removed), "added": dict(change.added), "always": list(change.always)}
    return {"path": change.path, "trust": {"directory": change.directory, **given}}


def _file_row(change: FileChange, keep: Keep) -> dict[str, Any]:
    before, after = (None if data is None else keep(data) for data in (change.before, change.after))
    row: dict[str, Any] = {"path": change.path, "before": before, "after": after}
    row |= {} if change.mode is None else {"mode": change.mode}
    return row | ({} if change.times == (None, None) else {"times": list(change.times)})
