"""A client that tells what its tools do: what it may print, and how it may end, without an answer or a trace going lost."""

import json
import sys

import pytest

from memtui.base.errors import MemtuiError
from memtui.models.call import ModelError, OwnTools, Request, Stop
from memtui.models.tool_client import ToolClient
from tables import rows

HEAD = f"#!{sys.executable}\nimport json, os, sys, time\n"
RESULT = 'print(json.dumps({"type": "result", "structured_output": {"note": "done"}}), flush=True)\n'


@pytest.fixture
def asked(tmp_path):
    """What a script in the place of the client answers, and what was heard of it."""

    def ask(script, *, prompt="Words.", hear=None, seconds=20.0):
        program, heard = tmp_path / "claude", []
        program.write_text(HEAD + script)
        program.chmod(0o700)
        own = OwnTools(hear or heard.append, str(tmp_path), lambda: 1.0)
        client = ToolClient({"PATH": "/usr/bin:/bin"}, str(tmp_path / "m"), str(program), "haiku", own)
        return client.call(Request("Rules.", "", prompt, {}, 100), Stop(seconds, lambda: False)).data, heard

    return ask


def test_it_waits_for_the_word_before_a_tool_and_takes_the_result(asked):
    script = """\
begin, prompt = (json.loads(sys.stdin.readline()) for _ in range(2))
assert begin["request"]["hooks"]["PreToolUse"] and prompt["message"]["content"] == "Words."
print("no JSON\\n[]")
print(json.dumps({"type": "control_request", "request_id": "r1", "request": {"input": {"tool_name": "Bash"}}}), flush=True)
assert json.loads(sys.stdin.readline())["response"]["request_id"] == "r1"
"""
    data, heard = asked(script + RESULT + "time.sleep(30)\n")
    assert (data, heard[-1]["request"]["input"]) == ({"note": "done"}, {"tool_name": "Bash"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "outcome", "words"), rows(__file__, "each way to end without an answer has its error")
)
def test_each_way_to_end_without_an_answer_has_its_error(asked, script, outcome, words):
    with pytest.raises(ModelError, check=lambda error: error.outcome == outcome) as caught:
        asked(script, seconds=2.0 if outcome == "late" else 20.0)
    assert words in caught.value.message


@pytest.mark.slow
def test_a_client_that_does_not_read_a_long_prompt_blocks_nobody(asked):
    with pytest.raises(ModelError, check=lambda error: error.outcome == "late"):
        asked("time.sleep(30)", prompt="word " * 100_000, seconds=1.0)


def test_where_nothing_can_be_noted_the_client_is_ended(asked, tmp_path):
    def hear(message):
        raise MemtuiError(f"No room for {message['type']}.")

    script = f"""\
print(json.dumps({json.dumps({"type": "control_request", "request_id": "r1", "request": {}})}), flush=True)
for line in sys.stdin:
    if "control_response" in line: open({str(tmp_path / "ran")!r}, "w")
"""
    with pytest.raises(MemtuiError, match="No room"):
        asked(script, hear=hear)
    assert not (tmp_path / "ran").exists()
