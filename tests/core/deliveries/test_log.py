"""The delivery log: appended by hooks, read newest first, whatever stands in it."""

import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.core.base import clock, fastjson, fs, ids
from memtui.core.deliveries import log as delivery_log

NOVEMBER, DECEMBER = 1795219200.0, 1797811200.0  # 2026


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


def record(seconds, **more):
    return {"v": 1, "id": ids.new_id(seconds), "items": [], **more}


def add(root, seconds, **more):
    made = record(seconds, **more)
    delivery_log.append(root, made, seconds)
    return made


def test_each_month_has_its_log(root):
    add(root, NOVEMBER)
    add(root, DECEMBER)
    assert sorted(os.listdir(root + "/log")) == ["deliveries-2026-11.jsonl", "deliveries-2026-12.jsonl"]
    assert delivery_log.months(root) == [root + "/log/deliveries-2026-12.jsonl", root + "/log/deliveries-2026-11.jsonl"]


def test_records_come_newest_first_over_the_months(root):
    made = [add(root, seconds) for seconds in (NOVEMBER, NOVEMBER + 1, DECEMBER, DECEMBER + 1)]
    assert list(delivery_log.newest_first(root)) == made[::-1]


def test_lines_that_are_no_records_are_skipped_and_counted(root):
    first = add(root, NOVEMBER)
    path = delivery_log.log_path(root, NOVEMBER)
    fs.append(path, b'{"v": 2, "id": "x", "items": []}\n[]\n\xff\xfe\x00\n\n  \n{"v": 1, "id": "no items"}\n')
    fs.append(path, b'{"v": 1, "id": "torn", "ite')
    last = add(root, NOVEMBER + 1)
    with open(path, "ab") as file:
        file.write(b'{"v": 1, "torn at the end')
    skipped = delivery_log.Skipped()
    assert list(delivery_log.newest_first(root, skipped)) == [last, first]
    assert skipped.count == 6
    assert delivery_log.Skipped().count == 0


def test_without_a_log_there_is_nothing(root):
    assert list(delivery_log.newest_first(root)) == []
    assert delivery_log.months(root) == []


def test_a_log_that_is_a_directory_or_a_fifo_is_passed_over(root):
    made = add(root, NOVEMBER)
    os.mkdir(root + "/log/deliveries-2026-12.jsonl")
    os.mkfifo(root + "/log/deliveries-2027-01.jsonl")
    fs.append(root + "/log/deliveries-notes.txt", b"x\n")
    assert list(delivery_log.newest_first(root)) == [made]


def test_the_newest_of_a_hundred_thousand_is_there_at_once(root):
    line = fastjson.dumps(record(NOVEMBER, text="x" * 200)).encode() + b"\n"
    fs.append(delivery_log.log_path(root, NOVEMBER), line * 100_000)
    last = add(root, NOVEMBER + 9)
    before = time.process_time()
    assert next(delivery_log.newest_first(root)) == last
    assert next(delivery_log.newest_first(root, needle=last["id"].encode())) == last
    assert time.process_time() - before < 0.05


def test_only_lines_with_the_needle_are_given(root):
    add(root, NOVEMBER, session_id="one")
    wanted = add(root, NOVEMBER, session_id="two")
    assert list(delivery_log.newest_first(root, needle=b'"two"')) == [wanted]


def test_reading_ends_at_records_from_before_but_not_at_one_that_was_written_late(root):
    add(root, NOVEMBER)
    wanted = add(root, NOVEMBER + 1000)
    late = record(NOVEMBER + 10, recovered=True)
    delivery_log.append(root, late, NOVEMBER + 10)
    newest = add(root, NOVEMBER + 1001)
    assert list(delivery_log.newest_first(root, since=NOVEMBER + 1000)) == [newest, wanted]
    # Hooks at the same time may log in another order than they began.
    early = add(root, NOVEMBER + 950)
    assert list(delivery_log.newest_first(root, since=NOVEMBER + 1000)) == [early, newest, wanted]


def test_reading_goes_on_behind_older_records_for_the_clock_may_have_been_put_back(root):
    add(root, NOVEMBER - 9000)
    wanted = add(root, NOVEMBER)
    later = [add(root, NOVEMBER - 3600 + n) for n in range(5)]
    assert list(delivery_log.newest_first(root, since=NOVEMBER)) == [*reversed(later), wanted]


def test_a_clock_put_back_over_the_end_of_a_month_writes_on_in_the_month_before(root):
    december = clock.parse("2026-12-01T00:00:30Z")
    wanted = add(root, december)
    add(root, december - 3600)
    found = delivery_log.newest_first(root, needle=wanted["id"].encode(), since=december)
    assert next(found) == wanted


@given(st.lists(st.binary(max_size=30), max_size=20), st.integers(1, 40), st.booleans())
def test_lines_backwards_are_the_lines_forwards_reversed(tmp_path_factory, lines, block, ended):
    path = str(tmp_path_factory.getbasetemp() / "lines")
    data = b"\n".join(lines) + b"\n" * ended
    with open(path, "wb") as file:
        file.write(data)
    expected = [line for line in data.split(b"\n") if line.strip()]
    assert list(delivery_log.lines_backwards(path, block)) == expected[::-1]


@settings(deadline=None)
@given(
    st.lists(st.binary(max_size=12), max_size=20),
    st.binary(min_size=1, max_size=3).filter(lambda word: b"\n" not in word),
    st.integers(1, 40),
    st.booleans(),
    st.booleans(),
)
def test_lines_with_a_word_are_those_of_all_lines_that_hold_it(tmp_path_factory, lines, word, block, ended, fold):
    path = str(tmp_path_factory.getbasetemp() / "sought")
    data = b"\n".join(lines) + b"\n" * ended
    with open(path, "wb") as file:
        file.write(data)
    word = word.lower() if fold else word
    expected = [line for line in data.split(b"\n") if word in (line.lower() if fold else line)]
    assert list(delivery_log.lines_with(path, word, fold, block)) == expected[::-1]


def test_a_line_that_nobody_wrote_as_a_record_is_not_held(tmp_path, monkeypatch):
    monkeypatch.setattr(delivery_log, "LONGEST", 100)
    path = tmp_path / "log"
    path.write_bytes(b"a word\n" + b"word" * 200 + b"\nlast word\n")
    assert list(delivery_log.lines_with(str(path), b"word", block=16)) == [b"last word", b"a word"]


def test_reading_ends_after_so_many_bytes_and_says_so(root):
    made = [add(root, NOVEMBER + number) for number in range(10)]
    size = os.stat(delivery_log.log_path(root, NOVEMBER)).st_size
    some, every = delivery_log.Skipped(), delivery_log.Skipped()
    assert list(delivery_log.newest_first(root, some, most=size // 2)) == made[:4:-1]
    assert some.older
    assert list(delivery_log.newest_first(root, every, most=size)) == made[::-1]
    assert not every.older


# --- errors


def test_an_error_is_logged_with_where_it_happened(root):
    def inner():
        raise ValueError("odd \ud800 \x1b" + "x" * 1000)

    try:
        inner()
    except ValueError as error:
        delivery_log.log_error(root, "Stop", error)
    (line,) = fs.read_bytes(root + "/log/errors.jsonl").splitlines()
    found = fastjson.loads_dict(line)
    assert (found["v"], found["where"], found["error"]) == (1, "Stop", "ValueError")
    assert len(found["message"]) == 500
    assert found["trace"][-1].startswith("test_log.py:")
    assert found["trace"][-1].endswith(" inner")


def test_the_error_log_does_not_grow_for_ever(root):
    fs.append(root + "/log/errors.jsonl", b"x" * (delivery_log.ERROR_LOG_LIMIT + 1) + b"\n")
    delivery_log.log_error(root, "Stop", ValueError("new"))
    assert sorted(os.listdir(root + "/log")) == ["errors.jsonl", "errors.jsonl.1"]
    assert len(fs.read_bytes(root + "/log/errors.jsonl")) < 500


@pytest.mark.parametrize("broken", ["root", "log", "file"])
def test_an_error_that_can_not_be_logged_is_let_go(root, broken):
    if broken == "root":
        fs.append(root, b"a file\n")
    elif broken == "log":
        fs.append(root + "/log", b"a file\n")
    else:
        os.makedirs(root + "/log/errors.jsonl")
    delivery_log.log_error(root, "Stop", ValueError("x"))
