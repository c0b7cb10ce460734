"""What a person says right after stopping the agent is known as such."""

from memtui.client.transcripts.conversation import Conversation


def marked(words="[Request interrupted by user]"):
    found = Conversation()
    found.feed({"type": "user", "uuid": "u1", "message": {"content": [{"type": "text", "text": words}]}})
    return found


def says(found, *texts):
    for number, text in enumerate(texts, 2):
        found.feed({"type": "user", "uuid": f"u{number}", "message": {"content": text}})
    return [(turn.text, turn.interrupted) for turn in found.turns]


def test_only_what_is_said_next_is_said_after_the_interruption():
    turns = says(marked(), "Use the staging database.", "And then run it.")
    assert turns == [("Use the staging database.", True), ("And then run it.", False)]
    # It is remembered from one reading to the next.
    later = Conversation(marked("[Request interrupted by user for tool use]").to_state())
    assert says(later, "Use the staging database.") == [("Use the staging database.", True)]

    about = marked("It said [Request interrupted by user] there.")
    assert says(about, "Go on, please.")[-1] == ("Go on, please.", False)


def called(tool, **given):
    block = {"type": "tool_use", "id": "t", "name": tool, "input": given}
    return {"type": "assistant", "message": {"content": [block]}}


BARE = "The user doesn't want to proceed with this tool use. The tool use was rejected (x). STOP what you are doing."


def ended(found, text, error=True, **more):
    block = {"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": error}
    found.feed({"type": "user", "uuid": "r", "message": {"content": [block]}, **more})
    return found


def test_what_was_refused_is_known_where_the_agent_said_nothing():
    found = Conversation(None, lambda text: text.replace("s3cret", "***"))
    found.feed(called("Bash", command="TOKEN=s3cret npm install", description="install"))
    ended(found, BARE)
    found.feed({"type": "user", "message": {"content": [{"type": "text", "text": "[Request interrupted by user]"}]}})
    found = Conversation(found.to_state())
    found.feed({"type": "user", "uuid": "u", "message": {"content": "No"}})
    assert [(turn.text, turn.agent) for turn in found.turns] == [("No", "Bash: TOKEN=*** npm install")]
    assert found.to_state()["doing"] == ""
    reason = Conversation()
    reason.feed(called("ExitPlanMode", plan="# Plan\n\nUse npm"))
    ended(reason, BARE.replace("STOP what you are doing.", "To tell you how to proceed, the user said:\nuse pnpm"))
    assert [(turn.text, turn.agent) for turn in reason.turns] == [("use pnpm", "ExitPlanMode: # Plan Use npm")]


def test_a_call_that_failed_by_itself_was_not_refused():
    found = Conversation()
    found.feed(called("Bash", command="npm test"))
    ended(found, "Exit code 1")
    assert says(found, "Use the staging database.") == [("Use the staging database.", False)]
    assert found.turns[0].agent == ""
