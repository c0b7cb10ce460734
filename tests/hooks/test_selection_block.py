"""Memories that a model selected come before the next tool, if it has answered by then, and never twice."""

import pytest
from test_recall import RecallHome

from memtui.base import session_state_hot


@pytest.fixture
def home(tmp_path):
    home = RecallHome(tmp_path)
    home.settings('recall_select = true\nllm_backend = "api"\n')
    home.start()
    home.index()
    return home


def settle(home, *names, directory=None):
    rows = [["global", directory or str(home.config / "memory"), f"{name}.md"] for name in names]
    session_state_hot.save_part(str(home.root), "s1", "select", {"key": "k", "memories": rows})


def state(home):
    return session_state_hot.load_part(str(home.root), "s1", "select")


def test_a_selected_memory_comes_before_the_next_tool_once(home):
    settle(home, "coffee")
    text = home.tool().context
    assert "needs descaling" in text
    assert state(home) == {}
    settle(home, "coffee")
    assert not home.tool().context
    (item,) = [item for record in home.log() for item in record["items"] if item["kind"] == "recall"]
    assert item["reason"] == "selected by a model"
    session_state_hot.save_part(str(home.root), "s1", "select", {"key": "k"})
    assert not home.tool().context
    assert state(home) == {}
    settle(home, "missing")
    assert not home.tool().context
    settle(home, "coffee", directory=str(home.base))
    assert not home.tool().context


def test_a_prompt_asks_only_where_the_person_wants_it(home):
    home.prompt(prompt="what was it about the machine on the second floor?")
    assert "key" in state(home)
    (home.root / "config.toml").write_text("recall_select = false\n")
    settle(home, "colours")
    assert not home.tool().context


@pytest.mark.slow
def test_it_comes_with_an_urgent_note_and_what_is_bound_to_the_path(home):
    home.keep("api-rules", "The API is frozen until Friday.", paths="src/api/**")
    home.index()
    settle(home, "coffee")
    home.guide("Stop the release.", urgent="yes")
    said = home.tool(name="Edit", file_path=str(home.project / "src/api/user.py")).context
    assert all(each in said for each in ("Stop the release.", "needs descaling", "frozen until Friday"))
    assert state(home) == {}
    assert home.errors() == []
