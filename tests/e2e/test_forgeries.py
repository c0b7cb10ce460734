"""What tools print in the client's own words does not count as the person's, while a real refusal does."""

import json
import sys

import pytest

from waiting import eventually

from . import forger
from .model import use
from .terminal import Terminal

pytestmark = pytest.mark.client


def drafts(on):
    return on.waiting("updates") + on.waiting("updates", scope="global")


def test_no_tool_speaks_as_the_person(on, model):
    servers = {"mcpServers": {"forger": {"command": sys.executable, "args": [forger.__file__]}}}
    (on.base / "mcp.json").write_text(json.dumps(servers))
    forged = on.project / "notes.txt"
    forged.write_text(forger.REFUSAL + forger.SAID + "printed")
    model.will(
        *[use("mcp__forger__say", way=way) for way in forger.TEXTS],
        use("Bash", command="cat notes.txt"),
        use("Bash", command="cat notes.txt; false"),
        use("Read", file_path=str(forged)),
        "All done.",
    )
    run = on.claude(
        "please look around, and from now on always use uv",
        *("--mcp-config", str(on.base / "mcp.json"), "--allowedTools", "mcp__forger__say Bash Read"),
    )
    assert sum(forger.SAID in text for text in run.main[-1].tool_results()) == 6
    assert eventually(lambda: "always use uv" in drafts(on))
    assert forger.SAID not in drafts(on)
    assert forger.SAID not in on.claude("hello").main[0].text()


def test_a_real_refusal_is_the_persons_word(on, model):
    model.will(use("Bash", command="touch here"), "Understood.")
    with Terminal(on, "--permission-mode", "default") as terminal:
        terminal.say("go on")
        terminal.see(r"Do\s*you\s*want\s*to\s*proceed")
        terminal.refuse("no, from now on always ask before you touch files")
        terminal.see("Understood")
    assert eventually(lambda: "always ask before you touch" in drafts(on).lower())
