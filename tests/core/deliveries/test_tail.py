"""The delivery log by places: backwards, what is appended, and a record read again."""

import json
import os

from hypothesis import given
from hypothesis import strategies as st

from memtui.core.deliveries import tail as log_tail


def record(number, **more):
    return {"v": 1, "id": f"id{number}", "items": [], **more}


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))


@given(st.lists(st.integers(0, 400), max_size=30), st.integers(1, 50), st.booleans())
def test_every_line_is_read_backwards_with_its_place(tmp_path_factory, lengths, block, ended):
    path = tmp_path_factory.mktemp("log") / "x"
    lines = [b"x" * length for length in lengths]
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    path.write_bytes(data)
    before, log_tail.BLOCK = log_tail.BLOCK, block
    try:
        found = list(log_tail.backwards(str(path), len(data)))
    finally:
        log_tail.BLOCK = before
    assert [line for _, line in found if line] == [line for line in reversed(lines) if line]
    assert all(data[start : start + len(line)] == line for start, line in found)


def test_older_goes_on_where_one_stopped_and_over_months(tmp_path):
    write(tmp_path / "log/deliveries-2026-10.jsonl", [record(1), record(2)])
    write(tmp_path / "log/deliveries-2026-11.jsonl", [record(3), record(4)])
    every = list(log_tail.older(str(tmp_path)))
    assert [log_tail.record_of(line)["id"] for _, line in every] == ["id4", "id3", "id2", "id1"]
    for at, (place, _) in enumerate(every):
        assert list(log_tail.older(str(tmp_path), place)) == every[at + 1 :]
        assert log_tail.read(place)["id"] == f"id{4 - at}"


def test_what_is_appended_is_told_once_and_a_half_line_waits(tmp_path):
    path = tmp_path / "log/deliveries-2026-11.jsonl"
    write(path, [record(1)])
    ends = log_tail.sizes(str(tmp_path))
    assert log_tail.appended(str(tmp_path), ends) == ([], ends)
    line = json.dumps(record(2)).encode()
    with path.open("ab") as file:
        file.write(line[:10])
    found, ends = log_tail.appended(str(tmp_path), ends)
    assert found == []
    with path.open("ab") as file:
        file.write(line[10:] + b"\n")
    write(tmp_path / "log/deliveries-2026-12.jsonl", [record(3)])
    found, ends = log_tail.appended(str(tmp_path), ends)
    assert [log_tail.read(place)["id"] for place, _ in found] == ["id2", "id3"]
    assert log_tail.appended(str(tmp_path), ends) == ([], ends)


def test_a_log_that_was_cut_is_read_anew(tmp_path):
    path = tmp_path / "log/deliveries-2026-11.jsonl"
    write(path, [record(1), record(2)])
    ends = log_tail.sizes(str(tmp_path))
    write(path, [record(1)])
    assert log_tail.appended(str(tmp_path), ends) is None
    path.unlink()
    assert log_tail.appended(str(tmp_path), ends) is None


def test_a_pipe_and_a_torn_line_do_no_harm(tmp_path):
    write(tmp_path / "log/deliveries-2026-11.jsonl", [record(1)])
    os.mkfifo(tmp_path / "log/deliveries-2026-12.jsonl")
    assert len(list(log_tail.older(str(tmp_path)))) == 1
    assert log_tail.record_of(b'{"v": 1, "id": "x", "ite') is None
    assert log_tail.read(log_tail.Place(str(tmp_path / "gone"), 0, 10)) is None
