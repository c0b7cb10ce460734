"""The error log: what went wrong, with where it happened."""

import os

import pytest

from memtui.base import fastjson, fs
from memtui.deliver import error_log


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


def test_an_error_is_logged_with_where_it_happened(root):
    def inner():
        raise ValueError("odd \ud800 \x1b" + "x" * 1000)

    try:
        inner()
    except ValueError as error:
        error_log.add(root, "Stop", error)
    (line,) = fs.read_bytes(root + "/log/errors.jsonl").splitlines()
    found = fastjson.loads_dict(line)
    assert (found["v"], found["where"], found["error"]) == (1, "Stop", "ValueError")
    assert len(found["message"]) == 500
    assert found["trace"][-1].startswith("test_error_log.py:")
    assert found["trace"][-1].endswith(" inner")


def test_the_error_log_does_not_grow_for_ever(root):
    fs.append(root + "/log/errors.jsonl", b"x" * (error_log.LIMIT_BYTES + 1) + b"\n")
    error_log.add(root, "Stop", ValueError("new"))
    assert sorted(os.listdir(root + "/log")) == ["errors.jsonl", "errors.jsonl.1"]
    assert len(fs.read_bytes(root + "/log/errors.jsonl")) < 500


def test_an_error_that_can_not_be_logged_is_let_go(root):
    fs.append(root + "/file", b"a file\n")
    fs.append(root + "/sub/log", b"a file\n")
    os.makedirs(root + "/log/errors.jsonl")
    for place in (root + "/file", root + "/sub", root):
        error_log.add(place, "Stop", ValueError("x"))
