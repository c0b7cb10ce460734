"""What a session already got."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import fastjson, fs, session_state


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


def test_a_state_is_kept(root):
    session_state.save(root, "s-1", {"prompted": True, "updates": {"project": {"x": ["h", "é"]}}})
    session_state.save(root, "s-1", {"lines": {}}, "index")
    state = session_state.load(root, "s-1")
    assert state == {"prompted": True, "updates": {"project": {"x": ["h", "é"]}}, "v": 1}
    assert session_state.load(root, "s-1", "index") == {"lines": {}, "v": 1}
    assert session_state.load(root, "s-2") == {}


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\x00", b'{"v": 2}', b'{"v": "1"}', b"null"])
def test_a_state_that_can_not_be_read_is_a_new_session(root, data):
    fs.append(session_state.path(root, "s"), data + b"\n")
    assert session_state.load(root, "s") == {}


def test_a_directory_or_fifo_in_its_place_is_a_new_session(root):
    os.makedirs(session_state.path(root, "s"))
    assert session_state.load(root, "s") == {}
    os.mkfifo(session_state.path(root, "t"))
    assert session_state.load(root, "t") == {}


@given(st.text(st.characters(exclude_categories=())))
def test_any_id_makes_a_file_name_of_its_directory(name):
    safe = session_state.safe(name)
    assert 1 <= len(safe) <= 80
    assert os.path.basename(session_state.path("/m", name)) == safe + ".json"
    assert os.path.dirname(session_state.path("/m", name, "index")) == "/m/sessions"
    assert session_state.safe(safe) == safe


def test_the_clients_ids_are_kept_as_they_are():
    name = "2581a30a-f827-46a4-a54f-1c2be567828b"
    assert session_state.safe(name) == name
    assert session_state.safe("../../etc/passwd") == "______etc_passwd"
    assert session_state.safe("") == "_"


@pytest.mark.parametrize("odd", [None, [], "x", 5])
def test_a_table_of_another_shape_is_empty(odd):
    assert fastjson.table({"dirs": odd}, "dirs") == {}
    assert fastjson.table({}, "dirs") == {}
