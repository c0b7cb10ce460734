"""What a session already got."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import fastjson_hot, fs_hot, session_state_hot

NUMBERS = st.integers()
JSON = st.none() | st.booleans() | NUMBERS | st.text() | st.lists(NUMBERS) | st.dictionaries(st.text(), NUMBERS)


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


def saved(root, **values):
    state = session_state_hot.SessionState(root, "s", values)
    state.save()
    return state


def test_a_state_is_saved_and_not_written_if_it_did_not_change(root):
    values = {"prompted": True, "updates": {"project": {"x": ["h", "é"]}}}
    saved(root, **values)
    session_state_hot.save_part(root, "s", "index", {"lines": {}})
    state = session_state_hot.load(root, "s")
    assert (state.values(), state.is_new, state.waiting) == (values, False, [])
    assert session_state_hot.load_part(root, "s", "index") == {"lines": {}, "v": 1}
    assert session_state_hot.load(root, "s-2").is_new
    saved(root, prompted=True)
    state = session_state_hot.load(root, "s")
    os.unlink(session_state_hot.path(root, "s"))
    state.save()
    assert not os.path.exists(session_state_hot.path(root, "s"))
    state.turn = [["project", "note"]]
    state.save()
    assert session_state_hot.load(root, "s").turn == [["project", "note"]]


@given(st.dictionaries(st.sampled_from([*session_state_hot.FIELDS, "other"]), JSON))
def test_fields_of_another_type_are_empty(values):
    state, empty = session_state_hot.SessionState("/m", "s", values), session_state_hot.SessionState("/m", "s")
    assert [type(getattr(state, name)) for name in session_state_hot.FIELDS] == [
        type(getattr(empty, name)) for name in session_state_hot.FIELDS
    ]


@pytest.mark.parametrize("kind", ["pending-item", "pending-update", "guidance", "block"])
def test_an_entry_that_did_not_arrive_is_new_again(root, kind):
    lists = {"stamps": {"project": 7, "global": 8}, "updates": {"project": {"a": ["h", "t"], "b": ["h", "t"]}}}
    blocks = {"stamps": {"a": 7}, "texts": {"a": "x", "b": "y"}}
    state = saved(root, prompted=True, too_long=["a", "b"], blocks=blocks, **lists)
    before = state.values()
    state.forget({"kind": kind, "id": "a", "scope": "project"})
    changes = {
        "pending-item": {"waiting": ["a"]},
        "pending-update": {"stamps": {"project": -1, "global": 8}, "updates": {"project": {"b": ["h", "t"]}}},
        "guidance": {"too_long": ["b"]},
        "block": {"blocks": {"stamps": {}, "texts": {"b": "y"}}},
    }
    assert state.values() == before | changes[kind]


def test_a_state_that_can_not_be_read_is_a_new_session(root):
    for data in (b"", b"{", b"[]", b"\xff\x00", b'{"v": 2}', b'{"v": "1"}', b"null"):
        fs_hot.write_atomic(session_state_hot.path(root, "s"), data + b"\n")
        assert session_state_hot.load(root, "s").is_new
    os.mkdir(session_state_hot.path(root, "d"))
    os.mkfifo(session_state_hot.path(root, "t"))
    assert session_state_hot.load(root, "d").is_new
    assert session_state_hot.load(root, "t").is_new


@given(st.text(st.characters(exclude_categories=())))
def test_any_id_makes_a_file_name_of_its_directory(name):
    safe = session_state_hot.safe(name)
    assert 1 <= len(safe) <= 80
    assert os.path.basename(session_state_hot.path("/m", name)) == safe + ".json"
    assert os.path.dirname(session_state_hot.path("/m", name, "index")) == "/m/sessions"
    assert session_state_hot.safe(safe) == safe


def test_ids_of_clients_are_kept_and_odd_tables_are_empty():
    name = "2581a30a-f827-46a4-a54f-1c2be567828b"
    assert session_state_hot.safe(name) == name
    assert (session_state_hot.safe("../../etc/passwd"), session_state_hot.safe("")) == ("______etc_passwd", "_")
    for value in ({"dirs": None}, {"dirs": []}, {"dirs": "x"}, {"dirs": 5}, {}):
        assert fastjson_hot.table(value, "dirs") == {}
