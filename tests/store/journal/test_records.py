"""A journal of any version that wrote one can be read: rows as they lie on disk, a kind each."""

import json

import pytest

from memtui.base import ids_hot
from memtui.base.errors import NotFoundError
from memtui.store.journal import journal
from memtui.store.journal.changes import ChangedFiles, FileChange, Patch
from memtui.store.journal.ledger import readable
from memtui.store.journal.own_files import ALWAYS, BesideEdit, EntryEdit, PairsEdit, SeenEdit, TrustEdit, pair_entries
from memtui.store.journal.text_edit import TextEdit

A, B, C, ROW = b"a\n", b"b\n", b"c\n", b'{"text":"x"}'
HASH = {data: ids_hot.digest(data) for data in (A, B, C, ROW)}
CONTENTS = {digest: data for data, digest in HASH.items()}
CUT = {"at": 3, "from": HASH[A], "to": None, "mode": 384, "dirs": ["/c"]}
TEXT = {"removed": HASH[A], "added": HASH[B], "anchor": None, "at": 0, "was": HASH[A], "now": HASH[B], "count": 0}
TRUST = {"directory": "/d", "removed": {}, "added": {HASH[A]: "x"}, "always": [False, True]}
WRITTEN = [
    (
        {"path": "/d/x.md", "before": HASH[A], "after": None, "mode": 420, "times": [1, None]},
        FileChange("/d/x.md", A, None, 420, (1, None)),
    ),
    ({"path": "/d/x.md", "before": None, "after": HASH[A]}, FileChange("/d/x.md", None, A)),
    ({"path": "/d/MEMORY.md", **TEXT}, TextEdit("/d/MEMORY.md", "a\n", "b\n", None, 0)),
    ({"path": "/r/trust.json", "trust": TRUST}, TrustEdit("/r/trust.json", {}, {HASH[A]: "x", ALWAYS: True}, "/d")),
    (
        {"path": "/c/settings.json", "cut": CUT, "removed": HASH[B], "added": HASH[C]},
        Patch("/c/settings.json", 3, B, C, HASH[A], None, 384, ("/c",)),
    ),
    (
        {"path": "/r/i.json", "entry": {"table": "files", "key": "k", "before": None, "after": {"v": 1}}},
        EntryEdit("/r/i.json", {}, {"k": {"v": 1}}, "files"),
    ),
    (
        {"path": "/r/versions.jsonl", "versions": [["/d", "x.md", HASH[A]]], "seen": [False, None]},
        SeenEdit("/r/versions.jsonl", (("/d", "x.md", HASH[A]),), (False, None)),
    ),
    (
        {"path": "/r/apart.json", "pairs": [[["/a", "/b"], ["/a", "/c"]], [None, ["/d", "/e"]]]},
        PairsEdit("/r/apart.json", pair_entries([("/a", "/b")]), pair_entries([("/a", "/c"), ("/d", "/e")])),
    ),
    (
        {"path": "/r/t/x.jsonl", "beside": {"directory": "/d", "file": "x.md"}, "removed": None, "added": HASH[ROW]},
        BesideEdit("/r/t/x.jsonl", {}, {"x": {"text": "x"}}, "/d", "x.md"),
    ),
]


def intent(*rows):
    return {"v": 1, "id": "x", "state": "intent", "changes": list(rows)}


@pytest.mark.parametrize(("row", "change"), WRITTEN)
def test_a_row_is_read_as_the_change_that_wrote_it_or_refused_if_not_whole(row, change):
    assert readable(intent(row))
    assert journal.changes_of(intent(row), CONTENTS.__getitem__) == [change]
    assert change.inverse().inverse() == change
    if len(row) > 2:
        key = type(change).key
        with pytest.raises(NotFoundError):
            journal.changes_of(intent({"path": row["path"], key: row[key]}), CONTENTS.__getitem__)


@pytest.mark.parametrize("row", [{"path": "/d/x.md"}, {"path": "x.md", "before": None}, {"before": None}, 7])
def test_a_row_of_no_kind_or_without_a_place_steers_nothing(row):
    assert not readable(intent(row))


def test_rows_of_every_kind_are_written_as_they_always_were(tmp_path):
    kept = {}

    def keep(data, **_):
        return kept.setdefault(data, ids_hot.digest(data))

    for row, change in WRITTEN[1:4]:
        files = ChangedFiles({"/d/x.md": None, "/d/MEMORY.md": A})
        assert json.dumps({"path": change.path, **change.row(files, keep)}) == json.dumps(row)
    (tmp_path / "log").write_bytes(A)
    path = str(tmp_path / "log")
    cut = {"at": 0, "from": HASH[A], "to": HASH[B], "mode": 384, "dirs": []}
    row = {"path": path, "cut": cut, "removed": ids_hot.digest(b"a"), "added": ids_hot.digest(b"b")}
    assert journal.rows_of([Patch.between(path, A, B, 384)], keep) == [row]
