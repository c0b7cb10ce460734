"""The delivery log: appended by hooks, read newest first, whatever stands in it."""

import json
import os

import pytest

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot
from memtui.deliver import error_log_hot, log_hot

NOVEMBER, DECEMBER = 1795219200.0, 1797811200.0  # 2026


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


def record(seconds, **more):
    return {"v": 1, "id": ids_hot.new_id(seconds), "items": [], **more}


def add(root, seconds, **more):
    made = record(seconds, **more)
    log_hot.append(root, made, seconds)
    return made


def test_lines_that_are_no_records_are_counted_and_what_is_no_log_skipped(root):
    first = add(root, NOVEMBER)
    path = log_hot.log_path(root, NOVEMBER)
    fs_hot.append(path, b'{"v": 2, "id": "x", "items": []}\n[]\n\xff\xfe\x00\n\n  \n{"v": 1, "id": "no items"}\n')
    fs_hot.append(path, b'{"v": 1, "id": "torn", "ite')
    last = add(root, NOVEMBER + 1)
    with open(path, "ab") as file:
        file.write(b'{"v": 1, "torn at the end')
    os.mkdir(root + "/log/deliveries-2026-12.jsonl")
    os.mkfifo(root + "/log/deliveries-2027-01.jsonl")
    fs_hot.append(root + "/log/deliveries-notes.txt", b"x\n")
    assert list(log_hot.newest_first(root)) == [last, first]


def test_reading_ends_at_earlier_records_but_not_at_one_written_late(root):
    add(root, NOVEMBER)
    wanted = add(root, NOVEMBER + 1000)
    log_hot.append(root, record(NOVEMBER + 10, recovered=True), NOVEMBER + 10)
    newest = add(root, NOVEMBER + 1001)
    assert list(log_hot.newest_first(root, since=NOVEMBER + 1000)) == [newest, wanted]
    # Hooks at the same time may log in another order than they began.
    early = add(root, NOVEMBER + 950)
    assert list(log_hot.newest_first(root, since=NOVEMBER + 1000)) == [early, newest, wanted]


def test_reading_goes_on_behind_older_records_as_clocks_may_be_put_back(root):
    add(root, NOVEMBER - 9000)
    wanted = add(root, NOVEMBER)
    later = [add(root, NOVEMBER - 3600 + n) for n in range(5)]
    assert list(log_hot.newest_first(root, since=NOVEMBER)) == [*reversed(later), wanted]


def test_a_clock_put_back_over_a_months_end_writes_on_in_the_month_before(root):
    december = clock_hot.parse("2026-12-01T00:00:30Z")
    wanted = add(root, december)
    add(root, december - 3600)
    assert next(log_hot.newest_first(root, needle=wanted["id"].encode(), since=december)) == wanted


def test_reading_ends_after_so_many_bytes_and_says_so(root):
    made = [add(root, NOVEMBER + number) for number in range(10)]
    size = os.stat(log_hot.log_path(root, NOVEMBER)).st_size
    some, every = log_hot.Skipped(), log_hot.Skipped()
    assert list(log_hot.newest_first(root, some, most=size // 2)) == made[:4:-1]
    assert some.older
    assert list(log_hot.newest_first(root, every, most=size)) == made[::-1]
    assert not every.older


def numbered(number):
    return {"v": 1, "id": f"id{number}", "items": []}


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def test_older_lines_go_on_over_months_and_a_half_line_is_not_there_yet(tmp_path, monkeypatch):
    monkeypatch.setattr(log_hot, "ENDS_BLOCK", 8)
    path = tmp_path / "log/deliveries-2026-11.jsonl"
    for data, end in ((b"", 0), (b"no end", 0), (b"one\n", 4), (b"one\n" + b"half " * 9, 4)):
        write(path, [])
        path.write_bytes(data)
        assert log_hot.ends(str(tmp_path)) == {str(path): end}
    write(tmp_path / "log/deliveries-2026-10.jsonl", [numbered(1), numbered(2)])
    write(tmp_path / "log/deliveries-2026-11.jsonl", [numbered(3), numbered(4)])
    every = list(log_hot.lines(str(tmp_path)))
    assert [log_hot.parse(line)["id"] for _, line in every] == ["id4", "id3", "id2", "id1"]
    for at, (place, _) in enumerate(every):
        older = log_hot.before(log_hot.sizes(str(tmp_path)), place)
        assert list(log_hot.lines(str(tmp_path), older)) == every[at + 1 :]
        assert log_hot.read(place)["id"] == f"id{4 - at}"


def test_what_is_appended_is_told_once_until_cut_and_a_half_line_waits(tmp_path):
    path = tmp_path / "log/deliveries-2026-11.jsonl"
    write(path, [numbered(1)])
    ends = log_hot.sizes(str(tmp_path))
    assert log_hot.appended(str(tmp_path), ends) == ([], ends)
    line = json.dumps(numbered(2)).encode()
    with path.open("ab") as file:
        file.write(line[:10])
    found, ends = log_hot.appended(str(tmp_path), ends)
    assert found == []
    with path.open("ab") as file:
        file.write(line[10:] + b"\n")
    write(tmp_path / "log/deliveries-2026-12.jsonl", [numbered(3)])
    found, ends = log_hot.appended(str(tmp_path), ends)
    assert [log_hot.read(place)["id"] for place, _ in found] == ["id2", "id3"]
    assert log_hot.appended(str(tmp_path), ends) == ([], ends)
    write(path, [numbered(1)])
    assert log_hot.appended(str(tmp_path), ends) is None
    path.unlink()
    assert log_hot.appended(str(tmp_path), ends) is None


def test_outcomes_are_found_with_their_records_and_are_none_themselves(root):
    made = [add(root, NOVEMBER + number, items=[{"kind": "guidance"}], session_id="s") for number in range(3)]
    names = [each["id"] for each in made]
    log_hot.note_outcomes(root, made[:2], {names[0]: "broken off", names[1]: "arrived"})
    log_hot.note_outcomes(root, made[:1], {names[0]: "arrived"})
    log_hot.note_outcomes(root, [], {})
    ends = log_hot.ends(root)
    for search in ({}, {"needle": b'"guidance"'}, {"needle": b"s"}, {"since": NOVEMBER}, {"fold": True}):
        found = [(each["id"], each.get("outcome")) for each in log_hot.newest_first(root, **search)]
        assert found == [(names[2], None), (names[1], "arrived"), (names[0], "arrived")]
    log_hot.note_outcomes(root, made[2:], {names[2]: "failed"})
    assert log_hot.appended(root, ends)[0] == []
    assert next(log_hot.records_of(root, names[2]))["outcome"] == "failed"
    # Those of a month before hold, and those that are torn do no harm.
    log_hot.append(root, {"v": 1, "outcomes": {names[2]: "arrived"}}, DECEMBER)
    for torn in (b'{"v": 1, "outcomes": {"x', b'{"v": 1, "outcomes": {"x": 3}}', b'{"v": 1, "outcomes": {}}'):
        fs_hot.append(log_hot.log_path(root, DECEMBER), torn + b"\n")
    assert [each["outcome"] for each in log_hot.newest_first(root)] == ["arrived"] * 3


# --- the error log: what went wrong, with where it happened


def test_an_error_is_logged_with_where_it_happened_or_let_go(root):
    def inner():
        raise ValueError("odd \ud800 \x1b" + "x" * 1000)

    try:
        inner()
    except ValueError as error:
        error_log_hot.add(root, "Stop", error)
    (line,) = fs_hot.read_bytes(root + "/log/errors.jsonl").splitlines()
    found = fastjson_hot.loads_dict(line)
    assert (found["v"], found["where"], found["error"]) == (1, "Stop", "ValueError")
    assert len(found["message"]) == 500
    assert found["trace"][-1].startswith("test_log.py:")
    assert found["trace"][-1].endswith(" inner")
    fs_hot.append(root + "/log/errors.jsonl", b"x" * (error_log_hot.LIMIT_BYTES + 1) + b"\n")
    error_log_hot.add(root, "Stop", ValueError("new"))
    assert sorted(os.listdir(root + "/log")) == ["errors.jsonl", "errors.jsonl.1"]
    assert len(fs_hot.read_bytes(root + "/log/errors.jsonl")) < 500
    fs_hot.append(root + "/file", b"a file\n")
    fs_hot.append(root + "/sub/log", b"a file\n")
    os.makedirs(root + "/third/log/errors.jsonl")
    for place in (root + "/file", root + "/sub", root + "/third"):
        error_log_hot.add(place, "Stop", ValueError("x"))
