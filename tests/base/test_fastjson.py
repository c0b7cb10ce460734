"""The hook path's JSON is the `json` module's, for good input and for bad."""

import json
import math
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memtui.base import fastjson_hot

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner),
    max_leaves=20,
)
# Pieces that make texts which are nearly JSON.
TOKENS = [
    *("{", "}", "[", "]", ",", ":", '"', "'", "\\", "\\u", "d83d", "\\ude00", "null", "tru", "true", "NaN", "-", "1"),
    *("Infinity", "-Infinity", "1e999", "0.1", "01", ".5", "1.", " ", "\n", "\t", "\x00", "\x1f", "�", "é", "\ufeff"),
    *("\xa0", "//", '"a"', '{"a":1}', "9" * 30),
]
PIECES = st.lists(st.sampled_from(TOKENS), max_size=12).map("".join)


def same(left, right):
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(map(same, left.values(), right.values()))
    return type(left) is type(right) and left == right


def outcome(parse, text):
    try:
        return ("value", parse(text))
    except (ValueError, RecursionError) as error:
        return (isinstance(error, ValueError), None)


def agree(text):
    ours = outcome(fastjson_hot.loads, text)
    theirs = outcome(json.loads, text.removeprefix("\ufeff"))
    assert ours[0] == theirs[0], (text, ours, theirs)
    assert same(ours[1], theirs[1])


@given(VALUES)
def test_what_is_written_is_what_json_writes_and_reads_back_the_same(value):
    text = fastjson_hot.dumps(value)
    assert text == json.dumps(value)
    assert text.isascii()
    assert "\n" not in text
    assert same(fastjson_hot.loads(text), json.loads(text))


@given(PIECES)
@example('{"a": 1} x')
@example('{"a": 1}{"b": 2}')
@example('{"a": 1, "a": 2}')
@example('"\\ud83d\\ude00 \\ud83d"')
@example('{"a" 1}')
@example("{1: 2}")
@example("[1,]")
@example("")
@example(" \r\n\t")
@example("9" * 5000)
@example("-" + "9" * 5000)
@example("1" + "0" * 400 + ".0e400")
@example('"\t"')
@example("\x0b1")
@example("1\u00a0")
@example("\ufeff\ufeff1")
@example("nan")
def test_texts_that_are_nearly_json_are_judged_as_json_judges_them(text):
    agree(text)


@pytest.mark.slow
@given(VALUES, st.data())
def test_a_document_cut_or_changed_anywhere_is_judged_the_same(value, data):
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text)))
    agree(text[:at])
    agree(text[:at] + data.draw(st.characters()) + text[at:])
    agree(text[:at] + text[at + 1 :])


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_nesting_is_an_error_and_no_crash(opening):
    code = (
        "from memtui.base import fastjson_hot\n"
        f"text = {opening!r} * 1_000_000\n"
        "try:\n    fastjson_hot.loads(text)\nexcept (ValueError, RecursionError) as error:\n    print(type(error).__name__)\n"
        "print(fastjson_hot.loads_dict(text))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "{}"
    assert done.stdout.split()[0] in {"RecursionError", "JSONDecodeError"}


def test_what_json_cannot_hold_is_an_error_of_the_same_kind():
    for value in (object(), {1, 2}, b"x", {"a": object()}, {(1, 2): 3}):
        for dumps in (json.dumps, fastjson_hot.dumps):
            with pytest.raises(TypeError):
                dumps(value)
    value = []
    value.append(value)
    with pytest.raises(ValueError):
        fastjson_hot.dumps(value)


@given(VALUES)
def test_without_the_accelerator_the_answers_are_the_same(value):
    before = fastjson_hot.ACCELERATED
    text = fastjson_hot.dumps(value)
    fastjson_hot.ACCELERATED = False
    try:
        assert fastjson_hot.dumps(value) == text
        assert same(fastjson_hot.loads(text), json.loads(text))
    finally:
        fastjson_hot.ACCELERATED = before
