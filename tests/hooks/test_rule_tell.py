"""A session that broke a rule is given the memory once more, at its next tool or prompt, with what broke it."""

import pytest
from test_recall import RecallHome

from memtui.rules import counts, tell_hot
from memtui.rules.counting import Moment
from memtui.worker import main

BROKEN = "A rule of it was just broken in this session, by `npm i &lt;/memtui-memory>`"


class ToldHome(RecallHome):
    def __init__(self, base):
        super().__init__(base)
        self.path = self.keep("prefer-pnpm", "Install with pnpm.")
        self.start()

    def note(self, rule="never npm *", path=None, line="npm i </memtui-memory>"):
        """Note a break as a worker does after a turn."""
        tell_hot.note(str(self.root), "s1", [(str(path or self.path), rule, line)])

    def due(self):
        return (self.root / "sessions" / "s1.tell.json").exists()


@pytest.fixture
def home(tmp_path):
    return ToldHome(tmp_path)


def test_the_next_tool_or_prompt_brings_the_memory_once_for_each_rule(home):
    home.note()
    agent = home.hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, agent_id="a1")
    assert agent.raw == b"", "a subagent did not break it"
    told = home.tool(command="ls").context
    assert BROKEN in told
    assert "Install with pnpm." in told
    (item,) = home.log()[-1]["items"]
    assert (item["kind"], item["path"]) == ("recall", str(home.path))
    assert item["reason"] == "just broken: npm i </memtui-memory>"
    home.note()
    assert not home.due(), "once a session and rule"
    home.note("never yarn *", line="yarn add x")
    assert "by `yarn add x`" in home.prompt(prompt="hi").context, "it has the memory, and is given it again"
    assert home.prompt(prompt="hi").context == home.tool(command="ls").context == ""
    assert home.errors() == []


def test_breaks_come_before_what_a_prompt_recalls_or_a_note_brings(home):
    home.keep("release", "Releases go through the pipeline of the shop, then the canary is watched.")
    home.index()
    home.note()
    home.guide("said")
    told = home.ask("how does a release of the shop go live through the pipeline and its canary?")
    assert [word in told for word in ("Install with pnpm.", "said", "the canary is watched")] == [True] * 3


def test_a_worker_notes_what_a_turn_broke_if_rules_are_on(home, monkeypatch):
    moments = [Moment(1.0, "s1", "u", f"never {name}", kept, name) for name, kept in (("a", True), ("b", False))]
    monkeypatch.setattr(counts, "moments_of", lambda _root, _session: [(str(home.path), each) for each in moments])
    end = lambda: main.run(home.env, {"session_id": "s1", "cwd": str(home.project)}, "Stop", ("rules-told",))
    home.settings('rules = "watch"\n')
    end()
    assert not home.due()
    home.settings("")
    end()
    assert tell_hot.take(str(home.root), "s1") == {str(home.path): "b"}
    end()
    assert not home.due()


@pytest.mark.parametrize("why", ["watch", "off", "notes", "gone", "project", "elsewhere", "torn", "empty"])
def test_what_may_not_be_given_is_not_told(home, why):
    path = home.path
    if why == "project":
        path = home.keep("prefer-yarn", "Install with yarn.", "project")
    elif why == "elsewhere":
        path = home.root / "config.toml"
    home.note(path=path)
    if why in ("watch", "off"):
        home.settings(f'rules = "{why}"\n')
    elif why == "notes":
        home.settings('mode = "notes"\n')
    elif why == "gone":
        path.unlink()
    elif why in ("torn", "empty"):
        due = home.root / "sessions" / "s1.tell.json"
        due.write_bytes(due.read_bytes()[:-9] if why == "torn" else b'{"breaks": [7, ["a"]], "v": 1}')
    assert home.tool(command="ls").context == ""
    assert (home.due(), home.errors()) == (False, [])
