"""A journal of any version that wrote one can be read: rows as they lie on disk, a kind each."""

import json

import pytest

from memtui.base import ids
from memtui.store.journal import records
from memtui.store.journal.changes import ChangedFiles, FileChange, ModeEdit, Patch
from memtui.store.journal.own_files import BesideEdit, EntryEdit, PairsEdit, SeenEdit, TrustEdit
from memtui.store.journal.shapes import readable
from memtui.store.journal.text_edit import TextEdit

A, B, C, ROW = b"a\n", b"b\n", b"c\n", b'{"text":"x"}'
HASH = {data: ids.digest(data) for data in (A, B, C, ROW)}
CONTENTS = {digest: data for data, digest in HASH.items()}
WRITTEN = [
    (
        {"path": "/d/x.md", "before": HASH[A], "after": None, "mode": 420, "times": [1, None]},
        FileChange("/d/x.md", A, None, 420, (1, None)),
    ),
    ({"path": "/d/x.md", "before": None, "after": HASH[A]}, FileChange("/d/x.md", None, A)),
    (
        {
            "path": "/d/MEMORY.md",
            "removed": HASH[A],
            "added": HASH[B],
            "anchor": None,
            "at": 0,
            "was": HASH[A],
            "now": HASH[B],
            "count": 0,
        },
        TextEdit("/d/MEMORY.md", "a\n", "b\n", None, 0),
    ),
    (
        {
            "path": "/r/trust.json",
            "trust": {"directory": "/d", "removed": {}, "added": {HASH[A]: "x"}, "always": [False, True]},
        },
        TrustEdit("/r/trust.json", "/d", {}, {HASH[A]: "x"}, (False, True)),
    ),
    (
        {
            "path": "/c/settings.json",
            "cut": {"at": 3, "from": HASH[A], "to": None, "mode": 384, "dirs": ["/c"]},
            "removed": HASH[B],
            "added": HASH[C],
        },
        Patch("/c/settings.json", 3, B, C, HASH[A], None, 384, ("/c",)),
    ),
    ({"path": "/r/log", "modes": [511, 448]}, ModeEdit("/r/log", 511, 448)),
    (
        {"path": "/r/i.json", "entry": {"table": "files", "key": "k", "before": None, "after": {"v": 1}}},
        EntryEdit("/r/i.json", "files", "k", None, {"v": 1}),
    ),
    (
        {"path": "/r/versions.jsonl", "versions": [["/d", "x.md", HASH[A]]], "seen": [False, None]},
        SeenEdit("/r/versions.jsonl", (("/d", "x.md", HASH[A]),), (False, None)),
    ),
    (
        {
            "path": "/r/apart.json",
            "pairs": [[["/a", "/b"], ["/a", "/c"]], [None, ["/d", "/e"]]],
        },
        PairsEdit(
            "/r/apart.json",
            ((frozenset(("/a", "/b")), frozenset(("/a", "/c"))), (None, frozenset(("/d", "/e")))),
        ),
    ),
    (
        {
            "path": "/r/triggers/x.jsonl",
            "beside": {"directory": "/d", "file": "x.md"},
            "removed": None,
            "added": HASH[ROW],
        },
        BesideEdit("/r/triggers/x.jsonl", "/d", "x.md", (), (ROW.decode(),)),
    ),
]


def intent(*rows):
    return {"v": 1, "id": "x", "state": "intent", "changes": list(rows)}


@pytest.mark.parametrize(("row", "change"), WRITTEN)
def test_a_row_is_read_as_the_change_that_wrote_it(row, change):
    assert readable(intent(row))
    assert records.changes_of(intent(row), CONTENTS.__getitem__) == [change]
    assert change.inverse().inverse() == change


@pytest.mark.parametrize(("row", "change"), WRITTEN)
def test_a_row_without_one_of_its_keys_or_of_no_kind_steers_nothing(row, change):
    optional = {"mode", "times", "at"}
    for key in row.keys() - optional:
        left = {name: value for name, value in row.items() if name != key}
        assert not readable(intent(left)), key
    assert not readable(intent({**row, type(change).key: 7.5}))
    assert not readable(intent({"path": "/d/x.md"}))


def test_rows_of_every_kind_are_written_as_they_always_were(tmp_path):
    kept = {}

    def keep(data, durable=True):
        return kept.setdefault(data, ids.digest(data))

    for row, change in WRITTEN[1:4]:
        files = ChangedFiles({"/d/x.md": None, "/d/MEMORY.md": A})
        assert json.dumps({"path": change.path, **change.row(files, keep)}) == json.dumps(row)
    real = tmp_path / "log"
    real.write_bytes(A)
    path = str(real)
    change = Patch.between(path, A, B, 384)
    assert records.rows([change], keep) == [
        {
            "path": path,
            "cut": {"at": 0, "from": HASH[A], "to": HASH[B], "mode": 384, "dirs": []},
            "removed": ids.digest(b"a"),
            "added": ids.digest(b"b"),
        },
    ]
