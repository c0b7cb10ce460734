"""What only OpenCode has: a plugin beside the person's, commands, prompts that are undone."""

import pytest

from e2e.model import call, say
from memtui.client.agents import opencode
from memtui.hooks.install import agents, checkup
from waiting import eventually

from .test_agents import CORRECTIONS, MEMORY
from .world import count

pytestmark = pytest.mark.client


@pytest.fixture
def agent():
    return "opencode"


def test_a_text_that_another_plugin_took_out_is_told_again(on):
    on.trouble()
    with on.session() as session:
        session.say("hello")
        on.fate.write_text("dropped")
        on.leave("The build is broken.")
        assert count(session.say("go on")[-1], "The build is broken.") == [0]
        on.fate.write_text("")
        assert count(session.say("and on")[-1], "The build is broken.") == [1]
    assert on.receipts() == ["failed", "arrived"]


def test_words_of_commands_are_no_corrections(on, model):
    on.memtui("config", "set", "extract_confidence", "0")
    template, shell = CORRECTIONS[:2]
    (on.settings / "command").mkdir()
    (on.settings / "command" / "check.md").write_text(template + "\n$ARGUMENTS\n")
    (on.project / "notes.txt").write_text(shell)
    with on.session() as session:
        session.command("check", "the queue")
        session.shell("cat notes.txt")
        session.say("look at it")
    assert all(any(count(request, text)[0] for request in model.main) for text in (template, shell))
    assert on.heard() == ""
    assert on.errors() == []


def test_what_an_undone_prompt_took_away_is_told_again_and_no_more(on, model):
    texts = (MEMORY, "The build is broken.")
    on.remember("tabs", MEMORY)
    with on.session() as session:
        session.say("one")
        on.leave("The build is broken.")
        assert count(session.say("two")[-1], *texts) == [1, 1]
        session.undo()
        assert [count(session.say(text)[-1], *texts) for text in ("another two", "three")] == [[1, 1]] * 2
        for _ in range(3):
            session.undo()
        assert count(session.say("another one")[-1], *texts, "another two") == [1, 1, 0]
        on.leave("It is green again.")
        model.script = lambda _: say("Late.", delay=20)
        session.begin("go on")
        assert eventually(lambda: count(model.main[-1], "It is green again.")[0])
        session.stop()
        session.undo()  # before anybody has read what became of the note
        model.script = None
        assert count(session.say("go on")[-1], *texts, "It is green again.") == [1, 1, 1]
    assert on.errors() == []


def test_a_compaction_within_a_turn_brings_its_notes_and_the_index_again(on, model):
    on.remember("tabs", MEMORY)
    with on.session() as session:
        on.leave("The build is broken.")
        model.will(call(on.shell("true"), input_tokens=199_000), on.shell("true"), "Done.")
        texts = (MEMORY, "The build is broken.")
        assert [count(request, *texts) for request in session.say("go")] == [[1, 1], [0, 0], [1, 1]]
        assert [count(session.say(text)[-1], *texts) for text in ("and on", "and on")] == [[1, 1]] * 2
    assert set(on.receipts()) == {"arrived"}
    assert on.errors() == []


CONFIGURATIONS = {
    "a plugin that throws": {"plugins/a.js": "throw new Error('mine')"},
    "a plugin behind ours": {"plugins/z.js": "export const Z = async () => ({ event: async () => {} })"},
    "a plugin in the other directory": {"plugin/mine.ts": "export default async () => ({})\r\n"},
    "plugins by name": {
        "opencode.jsonc": '{\n  // mine\n  "$schema": "https://opencode.ai/config.json",\n  "plugin": ["file:///nowhere/mine.js"],\n}\n'
    },
}


@pytest.mark.every(of=4)
@pytest.mark.parametrize("files", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_the_plugin_works_beside_a_persons_and_leaves_them_alone(world, files):
    for name, text in files.items():
        (world.settings / name).parent.mkdir(exist_ok=True)
        (world.settings / name).write_bytes(text.encode())
    world.install()
    world.leave("The build is broken.")
    assert count(world.run("hello").main[0], "The build is broken.") == [1]
    world.memtui("setup", "hooks", "--agent", "opencode", "--remove", "--yes")
    assert {name: (world.settings / name).read_bytes().decode() for name in files} == files
    assert not (world.settings / "node_modules" / opencode.PACKAGE).exists(), "a test fetched from npm"
    assert not world.hooks_file.exists()


def test_status_says_that_a_plugin_can_not_be_loaded(on):
    env = {**on.environment(), "PATH": f"{on.binary.parent}:{on.environment()['PATH']}"}
    (fetch,) = opencode.PROGRAM.notes(env)
    assert opencode.PACKAGE in fetch
    (on.settings / "node_modules" / opencode.PACKAGE).mkdir(parents=True)
    assert opencode.PROGRAM.notes(env) == []
    with on.hooks_file.open("a") as file:
        file.write("}")
    (broken,) = opencode.PROGRAM.notes(env)
    assert str(on.hooks_file) in broken
    findings = [
        finding for finding in checkup.check(env, str(on.project), 0.0) if finding.code.startswith("hooks.agent")
    ]
    assert [finding.data.get("state", finding.data.get("words")) for finding in findings] == [agents.OLD, broken]
