"""JSON text keeps every character that an edit is not about."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recorded
from memtui.hooks.install import settings_merge
from tables import rows

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
BLANKS = st.text(" \t\n", max_size=3) | st.just("\r\n  ")


def write(draw, value):
    """JSON text for a value with any blanks that the grammar allows."""
    blank = lambda: draw(BLANKS)
    if isinstance(value, dict):
        spaced = lambda item: blank() + write(draw, item) + blank()
        inner = ",".join(f"{spaced(key)}:{spaced(item)}" for key, item in value.items())
        return "{" + (inner or blank()) + "}"
    if isinstance(value, list):
        return "[" + (",".join(blank() + write(draw, v) + blank() for v in value) or blank()) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@st.composite
def texts(draw, values=VALUES):
    """(JSON text, its value): as tools write it, or with blanks strewn in."""
    value = draw(values)
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t", "strewn"]))
    if indent == "strewn":
        return draw(BLANKS) + write(draw, value) + draw(BLANKS), value
    separators = draw(st.sampled_from([None, (",", ":"), (",", ": ")]))
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))) + draw(st.sampled_from(["", "\n"])), value


CONTAINERS = st.dictionaries(st.text(max_size=6), VALUES, max_size=4) | st.lists(VALUES, max_size=4)


@pytest.mark.slow
@given(texts(CONTAINERS), VALUES, st.text(max_size=5))
def test_what_is_appended_is_there_and_removing_it_gives_back_the_text(case, new, key):
    text, value = case
    if isinstance(value, dict):
        key += "new" if key in value else ""
        longer = settings_merge.append(text, (), new, key)
        assert settings_merge.load(longer) == {**value, key: new}
        back = settings_merge.remove(longer, (key,))
    else:
        longer = settings_merge.append(text, (), new)
        assert settings_merge.load(longer) == [*value, new]
        back = settings_merge.remove(longer, (len(value),))
    if value:
        assert back == text
    else:
        assert settings_merge.load(back) == value


@pytest.mark.slow
@given(texts(CONTAINERS), VALUES, st.data())
def test_a_value_is_removed_or_replaced_alone(case, new, data):
    text, value = case
    if not value:
        return
    step = data.draw(st.sampled_from(list(value) if isinstance(value, dict) else range(len(value))))
    shorter = value.copy()
    del shorter[step]
    assert settings_merge.load(settings_merge.remove(text, (step,))) == shorter
    start, end = settings_merge.span(text, (step,))
    changed = settings_merge.replace(text, (step,), new)
    assert changed.startswith(text[:start])
    assert changed.endswith(text[end:])
    expected = value.copy()
    expected[step] = new
    assert settings_merge.load(changed) == expected


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": 1,}', "{} {}", "// x\n{}", '{"a": NaN}', '{"a": Infinity}', "[" * 100_000]
)
def test_what_the_client_could_not_read_is_refused(text):
    with pytest.raises(ValueError):
        settings_merge.load(text, allows_comments=False)


@pytest.mark.parametrize(("text", "expected"), rows(__file__, "new text is written as the text around it"))
def test_new_text_is_written_as_the_text_around_it(text, expected):
    assert settings_merge.append(text, (), {"x": [1, 2]}, "new") == expected


def test_of_a_repeated_key_the_last_counts_as_for_the_client():
    text = '{"hooks": {"a": 1}, "hooks": {"b": 2}}'
    assert settings_merge.source(text, ("hooks",)) == '{"b": 2}'
    assert settings_merge.append(text, ("hooks",), 3, "c") == '{"hooks": {"a": 1}, "hooks": {"b": 2, "c": 3}}'


def test_settings_change_as_ever():
    made, line = settings_merge.Made(), {"type": "command", "command": "ours"}
    group = {
        "Stop": {
            "hooks": [
                {
                    "type": "command",
                    "command": "[ ! -r /m/memtui/hooks/launch.py ] || exec p /m/memtui/hooks/launch.py Stop",
                }
            ]
        }
    }

    def served(text, *_):
        record = settings_merge.Made()
        after = settings_merge.add_status_line(settings_merge.add(text, group, {}, record, "s"), line, record, "s")
        return [after, vars(record), settings_merge.strip(after, record, "s"), settings_merge.strip(after, made, "s")]

    replaced = lambda text, path, value, _: settings_merge.replace(text, path, value)
    removed = lambda text, path, *_: settings_merge.remove(text, path)
    recorded.check(__file__, "settings_texts", settings_merge.append, replaced, removed, served)
