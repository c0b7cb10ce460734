"""Triggers, muted prompts and rejections as they travel: for each place and kind a file, in it a line a row, which the
memory and the text tell from others; of a rejected draft only id, time and hash, and whether it was for good."""

import re
from collections.abc import Iterable

from memtui.base import fastjson_hot, fs_hot
from memtui.inbox import drafts
from memtui.redact.redact import kinds_in
from memtui.store import sidecars
from memtui.store.journal.text_edit import TextEdit
from memtui.sync.repository import Tree

KINDS = sidecars.KINDS
REJECTIONS = "rejections"
HASH = re.compile("[0-9a-f]{16}")
LONGEST = 300  # characters of a text
Rows = dict[tuple[str, str], dict[str, object]]


def path(kind: str, top: str) -> str:
    return f"{kind}/{top}.jsonl"


def paths(tops: Iterable[str]) -> set[str]:
    """Return the files of all kinds for the tops of a tree."""
    return {path(kind, top) for kind in (*KINDS, REJECTIONS) for top in tops}


def parse(data: bytes) -> Rows:
    """Return the rows of a file; lines that memtui never wrote are left out."""
    rows: Rows = {}
    for line in data.split(b"\n"):
        row = fastjson_hot.loads_dict(line) if line else {}
        file, text = row.get("file"), row.get("text")
        if isinstance(file, str) and isinstance(text, str) and text.isprintable() and len(text) <= LONGEST:
            rows[file, text] = row
    return rows


def render(rows: Rows) -> bytes:
    """Return rows as a file, the same bytes for the same rows."""
    lines = (fastjson_hot.dumps(dict(sorted(rows[key].items()))) + "\n" for key in sorted(rows))
    return "".join(lines).encode()


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Merge a file as a set: what a side added is in it, what one removed is not, unless the other changed it."""
    before, first, second = parse(base), parse(ours), parse(theirs)
    merged: Rows = {}
    for key in {**first, **second}:
        old, one, other = (render({key: side[key]}) if key in side else b"" for side in (before, first, second))
        stands = other if one == old else one if other == old else max(one, other)
        merged |= parse(stands)
    return render(merged)


def move(tree: Tree, old: str, new: str) -> None:
    """Give the rows of a memory to its new path, in a tree that is changed."""
    (top, file), (new_top, new_file) = split(old), split(new)
    for kind in KINDS if top and new_top else ():
        rows = parse(tree.get(path(kind, top), b""))
        mine = {(new_file, text): {**row, "file": new_file} for (of, text), row in rows.items() if of == file}
        if mine:
            tree[path(kind, top)] = render({key: row for key, row in rows.items() if key[0] != file})
            tree[path(kind, new_top)] = render({**mine, **parse(tree.get(path(kind, new_top), b""))})


def split(name: str) -> tuple[str, str]:
    """Split a path into its top, `global` or `projects/…`, and the file there."""
    parts = name.split("/")
    size = 2 if parts[0] == "projects" else 1
    return "/".join(parts[:size]), "/".join(parts[size:])


def _rejected(inbox: str) -> dict[str, str]:
    """Return the lines of the rejected drafts of an inbox, by their hashes."""
    text = fs_hot.read_or_empty(drafts.rejected_path(inbox)).decode("utf-8", "surrogateescape")
    rows_by_line = {line: fastjson_hot.loads_dict(line) for line in text.splitlines(keepends=True)}
    return {mark: line for line, row in rows_by_line.items() if HASH.fullmatch(mark := fastjson_hot.text(row, "hash"))}


def of_inbox(inbox: str) -> Rows:
    """Return what was rejected in an inbox, without its words. Raises OSError."""
    rows: Rows = {}
    for mark, line in _rejected(inbox).items():
        row = fastjson_hot.loads_dict(line)
        rows["", mark] = {"file": "", "text": mark} | {key: row[key] for key in ("id", "time") if key in row}
        if drafts.is_never(row):
            rows["", mark]["never"] = True
    return rows


def rejection_edits(inbox: str, ours: bytes, merged: bytes) -> list[TextEdit]:
    """Return the edits that make an inbox's rejected drafts those of a merged file, from `ours`. Raises OSError."""
    here, path = _rejected(inbox), drafts.rejected_path(inbox)
    before, after = ({mark: row for (_, mark), row in parse(data).items()} for data in (ours, merged))
    edits = [TextEdit(path, here[mark], "") for mark in before if mark not in after and mark in here]
    for mark, row in after.items():
        fields = {key: value for key in ("id", "time") if (value := fastjson_hot.text(row, key)).isprintable()}
        if mark not in here and HASH.fullmatch(mark):
            line = fastjson_hot.dumps({"v": 1, "hash": mark, "never": drafts.is_never(row), **fields}) + "\n"
            edits.append(TextEdit(path, "", line))
    return edits


def of_place(root: str, kind: str, directory: str, base: bytes) -> Rows:
    """Return the rows of a directory's memories that may travel: those that went with `base`, or hold no secret."""
    lines = set(base.split(b"\n"))
    rows: Rows = {
        (file, text): {"file": file, **row}
        for file, entries in sidecars.rows(root, kind, directory).items()
        for text, row in entries.items()
    }
    rows = parse(render(rows))
    went = {key for key, row in rows.items() if render({key: row}).rstrip(b"\n") in lines}
    return {key: row for key, row in rows.items() if key in went or not kinds_in(fastjson_hot.dumps(row))}
