"""Standing instructions: found by what a person has to ask about for them to hold, not by how they are worded."""

import pytest

from memtui.recall import judge_hot, topics
from tables import rows

INSTRUCTIONS = rows(__file__, "instructions")
NO_INSTRUCTIONS = [
    *("", "Use pnpm, never npm.", "What happens if I ask about prices?"),
    "When you look at the log, it says that nothing was read.",
    *("The cache is cleared when the process ends.", "Always answer when I ask about it."),
    "Last week I asked about prices.",
]


@pytest.mark.parametrize(("text", "condition"), INSTRUCTIONS.items())
def test_an_instruction_says_what_it_is_about(text, condition):
    assert topics.clause(text) == condition


@pytest.mark.parametrize("text", NO_INSTRUCTIONS)
def test_what_names_no_condition_of_a_person_has_no_topic(text):
    assert topics.clause(text) == ""


def test_any_of_several_topics_is_enough_and_empty_words_are_none():
    text = "Always add versions when I ask for details on dependencies or the libraries used."
    assert (topics.split(topics.clause(text)), topics.split("")) == ([("dependency",), ("library",)], [])


@pytest.fixture
def recalled(store):
    for number, text in enumerate(INSTRUCTIONS):
        store.remember(f"rule-{number}", text, text, type="feedback")
    store.fill(40)

    def names(prompt):
        run = judge_hot.dry_run(store.root, prompt, [("global", store.directory)])
        return [verdict.hit.description for verdict in run.injected() if verdict.hit.name.startswith("rule-")]

    store.index(table=...)
    return names


@pytest.mark.parametrize(
    ("prompt", "instruction"), rows(__file__, "a prompt that names the topic brings the instruction")
)
def test_a_prompt_that_names_the_topic_brings_the_instruction(recalled, prompt, instruction):
    assert any(text.startswith(instruction) for text in recalled(prompt))


@pytest.mark.parametrize(
    "prompt", ["always answer with a table please", "use bullet points in the readme", "write it in the imperative now"]
)
def test_the_wording_of_an_instruction_brings_nothing(recalled, prompt):
    assert recalled(prompt) == []


def test_a_trigger_is_one_more_topic_of_an_instruction(store):
    text = "Always answer with a table when I ask about prices"
    store.remember("tables", text, text, type="feedback", triggers="[tariffs of a provider, some examples]")
    store.fill(40)
    store.index()
    (hit,) = [hit for hit in store.search("tariffs of our provider") if hit.name == "tables"]
    assert hit.topic == 1.0
    assert not [hit for hit in store.search("answer with a table") if hit.name == "tables"]


def test_an_instruction_that_is_gone_or_new_counts_at_once(store):
    store.fill(40)
    store.index()
    text = "Always answer with a table when I ask about prices"
    path = store.remember("tables", text, text)
    store.index()
    assert store.names("the prices of both plans")[:1] == ["tables"]
    path.unlink()
    store.index()
    assert "tables" not in store.names("the prices of both plans")


def test_when_to_apply_a_memory_further_down_makes_no_instruction(store):
    body = (
        "A delete and its insert are one transaction.\n\n**How to apply:** any time you write code that does deletes."
    )
    store.remember("transactions", "Changes in several steps are one transaction", body, type="feedback")
    store.fill(40)
    store.index()
    (hit,) = [hit for hit in store.search("transactions of an insert") if hit.name == "transactions"]
    assert hit.topic == -1.0
