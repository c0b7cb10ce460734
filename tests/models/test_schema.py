"""What comes back from a model can only be of the schema."""

import pytest

from memtui.models import call

ITEM = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 5}, "kind": {"enum": ["merge", "drop"]}},
    "required": ["name"],
}
SCHEMA = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": ITEM, "maxItems": 2},
        "count": {"type": "integer", "minimum": 0, "maximum": 3},
        "note": {"type": ["string", "null"]},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["items"],
}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"items": []}, ""),
        ({"items": [{"name": "a"}, {"name": "b", "kind": "drop"}], "count": 3, "note": None}, ""),
        ({"items": [], "note": "x", "share": 0.5}, ""),
        ([], "not of type object"),
        ({}, "has no “items”"),
        ({"items": [], "path": "/etc"}, "unknown key, “path”"),
        ({"items": {}}, "items is not of type array"),
        ({"items": [{"name": "a"}] * 3}, "items has too many items"),
        ({"items": [{"name": "a"}, {"name": ""}]}, "items[1].name has too few characters"),
        ({"items": [{"name": "abcdef"}]}, "items[0].name has too many characters"),
        ({"items": [{"name": 1}]}, "items[0].name is not of type string"),
        ({"items": [{"name": "a", "kind": "rm"}]}, "items[0].kind is none of merge, drop"),
        ({"items": [], "count": 4}, "count is out of range"),
        ({"items": [], "count": True}, "count is not of type integer"),
        ({"items": [], "count": 1.5}, "count is not of type integer"),
        ({"items": [], "share": float("nan")}, "share is out of range"),
        ({"items": [], "share": -0.5}, "share is out of range"),
        ({"items": [], "note": 3}, "note is not of type string or null"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(value, words):
    problem = call.problem(value, SCHEMA)
    assert words in problem
    assert bool(words) == bool(problem)


def test_what_is_no_number_is_out_of_range_and_an_unchecked_keyword_fails():
    for bound in ("minimum", "maximum"):
        assert "out of range" in call.problem(float("nan"), {"type": "number", bound: 0})
    with pytest.raises(ValueError, match="pattern"):
        call.problem("a", {"type": "string", "pattern": "^b"})
