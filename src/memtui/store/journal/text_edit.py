"""A change of a piece of text wherever it is by then: for files that others write to (MEMORY.md, the inbox)."""

import contextlib
import dataclasses
import os
import re
from collections.abc import Sequence
from typing import Any

from memtui.base import ids_hot
from memtui.base.errors import ConflictError, NotFoundError
from memtui.base.storage import read_or_none
from memtui.client import locate_hot
from memtui.inbox import file_hot, format_hot
from memtui.store.journal import changes
from memtui.store.journal.ledger import Row

# An entry of an inbox that is not there any more as it was read.
DECIDED = "The entry was decided on, delivered or changed meanwhile."
LOOK_AT_INBOX = "Nothing was written. Look at what waits now."
# What changes in a draft when a session says it again (`extract.write`).
COUNTS = ("seen", "confidence")
ANCHOR_LINES = 12
# A line with its end; unlike with `splitlines`, only line feeds end one.
LINE = re.compile(r"[^\n]*\n|[^\n]+")
TRIES = 20


@dataclasses.dataclass(frozen=True)
class TextEdit(changes.Change):
    """Replace `removed` (whole lines) by `added`; without it insert after `anchor` (empty: at the beginning, None or
    gone: at the end). Of several places the one nearest to `at` counts, else the last. Odd bytes are surrogates."""

    key = "was"
    swapped = (("removed", "added"),)
    removed: str
    added: str
    anchor: str | None = None
    at: int | None = None
    mode: int | None = None

    @property
    def texts(self) -> tuple[str, str]:
        return self.removed, self.added

    def with_metadata(self) -> "TextEdit":
        if self.mode is None and not self.added:  # the file may be removed with its last lines
            with contextlib.suppress(OSError):
                return dataclasses.replace(self, mode=os.stat(self.path).st_mode & 0o7777)
        return self

    def row(self, files: changes.ChangedFiles, keep: changes.KeepContent) -> dict[str, Any]:
        before = files[self.path]
        text = format_hot.decode(before or b"")
        files[self.path] = after = format_hot.encode(self.apply(text)) or None
        return {
            "removed": keep(format_hot.encode(self.removed)),
            "added": keep(format_hot.encode(self.added)),
            "anchor": None if self.anchor is None else keep(format_hot.encode(self.anchor)),
            "at": self.at,
            **({} if self.mode is None else {"mode": self.mode}),
            "was": ids_hot.digest(before) if before else None,
            "now": ids_hot.digest(after) if after else None,
            "count": self._count(text),
        }

    @classmethod
    def from_row(cls, row: Row, read_content: changes.ReadContent) -> "TextEdit":
        removed, added = (format_hot.decode(read_content(row[key])) for key in ("removed", "added"))
        anchor = None
        with contextlib.suppress(NotFoundError):  # the line of a memory that was purged
            anchor = None if row["anchor"] is None else format_hot.decode(read_content(row["anchor"]))
        return cls(row["path"], removed, added, anchor, row.get("at"), row.get("mode"))

    def is_made(self, row: Row, rows: Sequence[Row]) -> bool:
        edits = [row_before for row_before in rows if self.key in row_before]
        hashes = [edits[0]["was"], *(row_before["now"] for row_before in edits)]
        data = read_or_none(self.path)
        digest = ids_hot.digest(data) if data else None
        if digest in hashes:
            edits_made = len(hashes) - 1 - hashes[::-1].index(digest)  # so many of the edits
            return edits_made > next(n for n, row_before in enumerate(edits) if row_before is row)
        count = self._count(format_hot.decode(data or b""))
        return bool(count > row["count"] if self._grows else count < row["count"])

    @property
    def _grows(self) -> bool:
        return len(self.added) >= len(self.removed)

    def _count(self, text: str) -> int:
        """Count the longer of added and removed in `text`, by which `is_made` tells whether the edit was made."""
        return len(_places(text, self.added if self._grows else self.removed))

    def make(self) -> None:
        """Make the edit in the file as it is now; an emptied file goes, a memory keeps its age."""
        name = os.path.basename(self.path)
        if name in format_hot.FILES.values():
            file_hot.rewrite(self.path, self.apply)
            return
        for _ in range(TRIES):
            before = read_or_none(self.path)
            after = format_hot.encode(self.apply(format_hot.decode(before or b"")))
            try:
                if after != (before or b""):
                    keeps_age = before and name.endswith(".md") and name != locate_hot.INDEX_NAME
                    time = os.stat(self.path).st_mtime_ns if keeps_age else None
                    changes.FileChange(self.path, before, after or None, self.mode, (None, time)).make()
                return
            except ConflictError:  # written to between our read and our write: edit what is there now
                continue
        raise changes.conflict(self.path)

    def apply(self, text: str) -> str:
        """Return the new text. Raises ConflictError if the text to be replaced is not there."""
        if not self.removed:
            return self._insert(text)
        removed = self.removed
        places = _places(text, removed)
        if not places and os.path.basename(self.path) in format_hot.FILES.values():
            removed = _counted_again(text, removed)
            places = _places(text, removed)
            if not places:
                raise ConflictError(DECIDED, LOOK_AT_INBOX)
        if not places:
            raise ConflictError(f"What was to be replaced in {self.path} is gone", changes.LOOK_AGAIN)
        at = self._nearest(places)
        rest = text[at + len(removed) :]
        added = self.added
        # The line may have been the file's last, without a line end, and have others after it now; or the reverse.
        if rest and added and removed.endswith("\n") and not added.endswith("\n"):
            added += "\n"
        elif rest.startswith(("\n", "\r\n")) and not removed.endswith("\n") and added.endswith("\n"):
            added = added.removesuffix("\n").removesuffix("\r")
        return text[:at] + added + rest

    def _insert(self, text: str) -> str:
        at = len(text)
        if self.anchor is not None:
            ends = [place + len(self.anchor) for place in _places(text, self.anchor)] if self.anchor else [0]
            at = self._nearest(ends) if ends else at
        if at and text[at - 1] != "\n":
            return text[:at] + "\n" + self.added + text[at:]
        return text[:at] + self.added + text[at:]

    def _nearest(self, places: list[int]) -> int:
        return places[-1] if self.at is None else min(places, key=lambda place: abs(place - (self.at or 0)))


def _counted_again(text: str, removed: str) -> str:
    """Return the source of the entry `removed`, if it was only counted once more since it was read; "" otherwise."""

    def words(entry: format_hot.Entry) -> tuple[str, str, dict[str, str]]:
        return entry.id, entry.text, {key: value for key, value in entry.fields.items() if key not in COUNTS}

    entries = format_hot.parse(removed)
    sources = [entry.raw for entry in format_hot.parse(text) if len(entries) == 1 and words(entry) == words(entries[0])]
    return sources[0] if len(sources) == 1 else ""


def _places(text: str, piece: str) -> list[int]:
    """Return where `piece` is in `text` as whole lines. Matches of a piece that repeats itself may overlap."""
    places: list[int] = []
    at = text.find(piece) if piece else -1
    while at >= 0:
        end = at + len(piece)
        starts = at == 0 or text[at - 1] == "\n"
        if starts and (end == len(text) or piece.endswith("\n") or text[end] == "\n" or text.startswith("\r\n", end)):
            places.append(at)
        at = text.find(piece, at + 1)
    return places


def text_edits(path: str, before: bytes, after: bytes, mode: int | None = None) -> list[TextEdit]:
    """Return the edits, line by line and in order, that turn one content into the other; `mode` as for `FileChange`."""
    import difflib

    old, new = (LINE.findall(format_hot.decode(data)) for data in (before, after))
    head, tail = changes.shared_ends(old, new)
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    edits = []
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            removed, added = old[head + start : head + end], new[head + new_start : head + new_end]
            # The edits before this one are made by then, so the lines above are the new ones.
            above = new[: head + new_start]
            anchor = _anchor([*above, *old[head + start :]], len(above))
            edits.append(TextEdit(path, "".join(removed), "".join(added), anchor, sum(map(len, above)), mode))
    return edits


def _anchor(lines: list[str], at: int) -> str:
    """Return the lines before line `at`: as few as are unique in the text, at most ANCHOR_LINES."""
    whole = "".join(lines)
    for size in range(1, ANCHOR_LINES + 1):
        text = "".join(lines[max(0, at - size) : at])
        if at <= size or whole.count(text) == 1:
            return text
    return "".join(lines[max(0, at - ANCHOR_LINES) : at])
