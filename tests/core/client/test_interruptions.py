"""What a person says right after stopping the agent is known as such."""

from memtui.core.client.conversation import Conversation


def marked(words="[Request interrupted by user]"):
    found = Conversation()
    found.feed({"type": "user", "uuid": "u1", "message": {"content": [{"type": "text", "text": words}]}})
    return found


def says(found, *texts):
    for number, text in enumerate(texts, 2):
        found.feed({"type": "user", "uuid": f"u{number}", "message": {"content": text}})
    return [(turn.text, turn.interrupted) for turn in found.turns]


def test_only_what_is_said_next_is_said_after_the_interruption():
    assert says(marked(), "Use the staging database.", "And then run it.") == [
        ("Use the staging database.", True),
        ("And then run it.", False),
    ]


def test_it_is_remembered_from_one_reading_to_the_next():
    later = Conversation(marked("[Request interrupted by user for tool use]").to_state())
    assert says(later, "Use the staging database.") == [("Use the staging database.", True)]


def test_words_about_an_interruption_are_none():
    assert says(marked("It said [Request interrupted by user] there."), "Go on, please.")[-1] == (
        "Go on, please.",
        False,
    )
