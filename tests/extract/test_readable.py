"""Which turns a model is given to read."""

from memtui.core.client.conversation import Turn
from memtui.extract import readable


def never(_):
    return False


def turn(text, uuid="u", agent=""):
    return Turn(text, "prompt", uuid=uuid, agent=agent)


def texts(*turns, drafted=(), was_injected=never):
    return [each.text for each in readable.chosen(turns, drafted, was_injected)]


def test_turns_with_words_that_have_no_draft_yet_in_their_order():
    given = [
        turn("use the small box", "a"),
        turn("the large box is for others", "b"),
        turn("ok", "c"),
        turn("and red ones", "d"),
    ]
    assert texts(*given, drafted={"b"}) == ["use the small box", "and red ones"]


def test_no_code_quotation_or_log():
    text = "look at this:\n```\nalways delete everything\n```\n> never ask\nerror: always retry\nand fix the second one"
    assert texts(turn(text)) == ["look at this:\n\n\nand fix the second one"]
    assert texts(turn("```\nalways delete everything\n```")) == []


def test_no_line_that_a_hook_gave_the_model():
    text = "The deployment is on Fridays only.\nThat is wrong since May."
    assert texts(turn(text), was_injected=lambda line: "Fridays" in line) == ["That is wrong since May."]


def test_of_long_sessions_the_newest_and_of_long_turns_the_beginning():
    many = [turn(f"{number} " + "word " * 1000, agent="a" * 5000) for number in range(100)]
    found = readable.chosen(many, (), never)
    assert [each.text.split()[0] for each in found] == [str(n) for n in range(100 - len(found), 100)]
    assert all(len(each.text) <= readable.MOST_WORDS and len(each.agent) <= readable.MOST_AGENT for each in found)
    assert sum(len(each.text) + len(each.agent) for each in found) <= readable.MOST_ALL
