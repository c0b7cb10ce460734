"""Memories that a model selected come before the next tool, else with a prompt that goes on, and never twice."""

import json
import time

import pytest
from test_recall import RecallHome

from memtui.base import ids_hot, session_state_hot
from memtui.recall import selection_state_hot, words_hot
from memtui.store import mutes_hot
from memtui.store.journal import own_files
from tables import rows

PROMPT = "what was it about the rota for the team on the second floor?"
REASON, BEFORE = selection_state_hot.REASON, selection_state_hot.REASON_BEFORE


class Selecting(RecallHome):
    """A home whose prompts ask a model that no test has: what it selects is left as its process leaves it."""

    def __init__(self, base):
        super().__init__(base)
        self.settings('recall_select = true\nllm_backend = "api"\n')
        self.note = self.keep("lunch", "Soup is at noon.")
        self.start()
        self.index()

    def part(self, name):
        return session_state_hot.load_part(str(self.root), "s1", name)

    def select(self, path=None, prompt=PROMPT, age=0.0):
        """Have a prompt asked about, and a memory selected for it."""
        path = path or self.note
        key = selection_state_hot.begin(str(self.root), "s1", prompt, time.time() - age)
        self.answer({key: [["global", str(path.parent), path.name, ids_hot.digest(path.read_bytes())]]})

    def answer(self, answers):
        session_state_hot.save_part(str(self.root), "s1", "selected", answers)

    def reasons(self):
        return [item["reason"] for each in self.log() for item in each["items"] if item["kind"] == "recall"]


@pytest.fixture
def home(tmp_path):
    return Selecting(tmp_path)


def test_a_selected_memory_comes_before_the_next_tool_once(home):
    home.prompt(prompt=PROMPT)
    ((key, _, _),) = selection_state_hot.asked_prompts(str(home.root), "s1")
    assert not home.tool().context
    home.answer({key: [["global", str(home.note.parent), "lunch.md", ids_hot.digest(home.note.read_bytes())]]})
    assert "Soup is at noon." in home.tool().context
    assert home.reasons() == [REASON]
    home.select()
    assert not home.tool().context


@pytest.mark.every(step=3)
@pytest.mark.parametrize(
    ("prompt", "age", "arrives"), rows(__file__, "a prompt that goes on brings what came too late")
)
def test_a_prompt_that_goes_on_brings_what_came_too_late(home, prompt, age, arrives):
    home.select(age=age)
    assert ("Soup is at noon." in home.prompt(prompt=prompt).context) is arrives
    assert home.reasons() == [BEFORE] * arrives
    assert not home.tool().context


@pytest.mark.every(step=1)
def test_what_comes_after_the_next_prompt_is_of_the_prompt_before(home):
    home.select()
    answers = home.part("selected")
    (home.root / "sessions" / "s1.selected.json").unlink()
    home.prompt(prompt="yes")
    home.prompt(prompt="<task-notification>done</task-notification>")
    home.answer(answers)
    assert "Soup is at noon." in home.tool().context
    assert home.reasons() == [BEFORE]


@pytest.mark.every(step=3)
@pytest.mark.parametrize("source", ["compact", "clear", "startup"])
def test_nothing_selected_outlives_a_new_context(home, source):
    home.select()
    home.start(source=source)
    assert not home.tool().context
    assert home.part("selected") == {}


@pytest.mark.every(step=1)
def test_the_end_of_a_session_drops_what_has_no_answer_yet(home):
    home.select()
    home.hook("SessionEnd")
    home.start(source="resume")
    assert "Soup is at noon." in home.tool().context
    home.select(home.keep("tea", "Tea is at four."))
    late = home.part("selected")
    (home.root / "sessions" / "s1.selected.json").unlink()
    home.hook("SessionEnd")
    home.answer(late)
    assert not home.tool().context


@pytest.mark.every(step=1)
def test_a_memory_that_changed_went_or_is_elsewhere_is_not_given(home):
    home.select()
    home.note.write_text(home.note.read_text() + "Or at one.\n")
    assert not home.tool().context
    home.select()
    home.note.unlink()
    assert not home.tool().context
    (home.base / "diary.md").write_text("Dear diary.\n")
    home.select(home.base / "diary.md")
    assert not home.tool().context
    assert home.errors() == []


@pytest.mark.every(step=5)
@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"asked": [[1], [1, "2", 3], ["k", 1e999, [2]]], "v": 1}', '{"v": 1}']
)
def test_a_damaged_state_of_selections_is_none(home, text):
    home.select()
    (home.root / "sessions" / "s1.select.json").write_text(text)
    assert not home.tool().context
    (home.root / "sessions" / "s1.selected.json").write_text(json.dumps({"v": 1, "k": [[1], "x", [1, 2, 3, 4]]}))
    (home.root / "sessions" / "s1.select.json").write_text(text)
    assert not home.prompt(prompt="yes").context
    assert home.errors() == []


@pytest.mark.every(step=1)
def test_a_prompt_asks_only_where_the_person_wants_it(home):
    (home.root / "config.toml").write_text("recall_select = false\n")
    home.select()
    assert not home.tool().context
    home.settings('recall_select = true\nllm_backend = "off"\n')
    assert not home.prompt(prompt="yes").context
    assert home.part("select") == {}


@pytest.mark.every(step=1)
def test_it_comes_with_an_urgent_note_and_what_is_bound_to_the_path(home):
    home.keep("api-rules", "The API is frozen until Friday.", paths="src/api/**")
    home.index()
    home.select()
    home.guide("Stop the release.", urgent="yes")
    said = home.tool(name="Edit", file_path=str(home.project / "src/api/user.py")).context
    assert all(each in said for each in ("Stop the release.", "Soup is at noon.", "frozen until Friday"))
    assert (home.part("selected"), home.errors()) == ({}, [])


@pytest.mark.every(step=1)
def test_a_prompt_gets_no_more_than_it_may_and_nothing_that_is_muted(home):
    tea = home.keep("tea", "Tea is at four.")
    home.index()
    home.prompt()
    home.settings('recall_select = true\nllm_backend = "api"\nrecall_most = 1\n')
    rows = [["global", str(path.parent), path.name, ids_hot.digest(path.read_bytes())] for path in (home.note, tea)]
    home.answer({selection_state_hot.begin(str(home.root), "s1", PROMPT, time.time()): rows})
    context = home.prompt(prompt="yes").context
    assert ["Soup is at noon." in context, "Tea is at four." in context] == [True, False]
    prompt = "and who is on the rota tomorrow, then?"
    row = mutes_hot.row(prompt, words_hot.terms(prompt), "2026-01-01T00:00:00Z")
    place = (own_files.beside_path(str(home.root), "mutes", str(tea.parent)), str(tea.parent))
    own_files.write_beside(*place, {"tea.md": {prompt: row}})
    home.answer({selection_state_hot.begin(str(home.root), "s1", PROMPT, time.time()): rows})
    assert "Tea is at four." not in home.prompt(prompt=prompt).context
