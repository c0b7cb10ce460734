"""Triggers and muted prompts as they travel: for each place and kind a file, in it a line a row, which the memory and
the text tell from others. Pure, but for `of_place`."""

from collections.abc import Iterable

from memtui.base import fastjson_hot
from memtui.redact.redact import kinds_in
from memtui.store import sidecars

KINDS = sidecars.KINDS
LONGEST = 300  # characters of a text
Rows = dict[tuple[str, str], dict[str, object]]
Tree = dict[str, bytes]


def path(kind: str, top: str) -> str:
    return f"{kind}/{top}.jsonl"


def paths(tops: Iterable[str]) -> set[str]:
    """Return the files of all kinds for the tops of a tree."""
    return {path(kind, top) for kind in KINDS for top in tops}


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


def of_place(root: str, kind: str, directory: str, base: bytes) -> Rows:
    """Return the rows of a directory's memories that may travel: those that went with `base`, or hold no secret."""
    lines = set(base.split(b"\n"))
    rows: Rows = {
        (file, text): {"file": file, **row}
        for file, entries in sidecars.rows(root, kind, directory).items()
        for text, row in entries.items()
    }
    rows = parse(render(rows))
    return {
        key: row
        for key, row in rows.items()
        if render({key: row}).rstrip(b"\n") in lines or not kinds_in(fastjson_hot.dumps(row))
    }
