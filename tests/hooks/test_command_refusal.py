"""A call that breaks an enforced rule of a memory: refused, or asked about, in the sessions that may get the memory."""

import itertools
import json
import subprocess

import pytest
from launching import PYTHON, SOURCES
from test_recall import RecallHome

from memtui.base import ids_hot
from memtui.store import mutes_hot, trust_grants
from memtui.store.store import Store
from waiting import eventually


@pytest.fixture
def home(tmp_path):
    home = RecallHome(tmp_path)
    home.path = home.keep("prefer-pnpm", "Install with pnpm.", forbids="npm install, npm i, git push --force")
    home.index()
    return home


@pytest.mark.slow
def test_a_forbidden_command_is_refused_with_the_memory_and_then_passes(home):
    said = home.tool(command="cd web && npm install left-pad")
    assert "`npm install left-pad` breaks a rule of the user's memory “prefer-pnpm”: About prefer-pnpm." in said.refusal
    assert "Install with pnpm." in said.context
    (item,) = home.log()[-1]["items"]
    reason = "never npm * install *: refused"
    assert (item["kind"], item["path"], item["reason"]) == ("recall", str(home.path), reason)
    assert home.tool(command="cd web && npm install left-pad").refusal
    passed = home.tool(command="cd web && npm install left-pad")
    assert (passed.refusal, passed.context) == ("", "")
    (item,) = home.log()[-1]["items"]
    assert (item["kind"], item["action"], item["path"]) == ("use", "broke", str(home.path))
    assert home.tool(command="cd web && npm install left-pad").refusal, "it passes once"
    assert home.tool(command="npm i left-pad").refusal  # another command
    assert home.tool("s2", command="cd web && npm install left-pad").refusal
    assert home.errors() == []


@pytest.mark.slow
def test_which_commands_are_forbidden(home):
    passed = ("pnpm install", "npm run build", "cat npm-install.log", "grep npm install.md", "git push origin main")
    for command in (*passed, "", "|&;`{("):
        assert home.tool(command=command).refusal == "", command
    for number, command in enumerate(
        (
            *("CI=1 sudo /usr/bin/npm i", "(cd a; npm --silent install)", "git push origin main --force"),
            *("git -C .. push --force", "x=$(npm i left-pad)", "\"npm\" 'i'\n\ud800\x00"),
        )
    ):
        assert home.tool(f"r{number}", command=command).refusal, command
    # A command may be run by another tool; only what runs a shell is asked.
    for tool in ("Monitor", "PowerShell"):
        refusals = [home.tool(tool, tool, command="cd web && npm install left-pad").refusal for _ in range(3)]
        assert list(map(bool, refusals)) == [True, True, False]
        assert home.hook("PreToolUse", tool_name=tool, tool_input={"ws": {"url": "wss://x.test"}}).raw == b""
    assert home.tool(name="Read", command="npm i").refusal == ""
    assert home.hook("PreToolUse", tool_name="Bash", tool_input=["npm i"]).raw == b""
    assert (home.tool(name="Bash", command=["npm", "i"]).raw, home.errors()) == (b"", [])


def test_the_memory_is_given_to_a_session_that_has_it_and_to_a_subagent(home):
    said = home.hook("PreToolUse", tool_name="Bash", tool_input={"command": "npm i"}, agent_id="a1")
    assert "Install with pnpm." in said.context
    assert said.refusal
    assert home.log()[-1]["agent_id"] == "a1"
    ask = "install with pnpm about the package please, and nothing else"
    assert "Install with pnpm." in home.ask(ask), "what a subagent got the session does not have"
    assert "Install with pnpm." in home.tool(command="npm install").context
    assert home.ask(ask) == ""


def test_sessions_that_get_no_memories_are_refused_nothing(home):
    for mode in ("notes", "off"):
        home.settings(f'mode = "{mode}"\n')
        assert home.tool(command="npm i").refusal == ""


RULES = """
- never: {command: "npm *"}
  instead: {command: "pnpm *"}
  enforce: ask
- never: {path: "migrations/**"}
  enforce: refuse
- never: {text: "console.log(", path: "src/**"}
  enforce: refuse
- always: {text: "reset(", with: {text: "stub("}}
  enforce: refuse
- never: {path: "docs/**"}"""


@pytest.fixture
def ruled(home):
    home.keep("shop-rules", "How the shop is built.", rules=RULES)
    home.keep("prefer-pnpm", "Install with pnpm.")
    home.index()
    return home


def test_a_rule_asks_the_person_or_refuses_an_edit(ruled):
    answer = json.loads(ruled.tool(command="npm test").raw)["hookSpecificOutput"]
    assert answer["permissionDecision"] == "ask"
    reason = "`npm test` breaks a rule of the user's memory “shop-rules”: About shop-rules. Use pnpm instead."
    assert answer["permissionDecisionReason"] == reason
    assert ruled.log()[-1]["items"][0]["reason"] == "never npm *, instead pnpm *: asked"
    edit = lambda name, **words: ruled.tool(name=name, **words).refusal
    top, app = ruled.project, ruled.project / "src" / "app.ts"
    assert "Not written: `console.log(1)` breaks" in edit("Write", file_path=str(app), content="a\nconsole.log(1)\n")
    app.parent.mkdir()
    app.write_text("a\nconsole.log(1)\n")
    assert edit("Write", file_path=str(app), content="console.log(1)\n") == "", "only added lines count"
    assert edit("Edit", file_path=str(app), old_string="a\n", new_string="console.log(2)\n")
    needs = " What has “stub(” needs “reset(”, too."
    assert needs in edit("Edit", file_path=str(app), old_string="a\n", new_string="stub(x)\n")
    assert edit("Write", file_path=str(top / "x.ts"), content="reset()\nstub(x)\nconsole.log(1)\n") == ""
    assert edit("MultiEdit", file_path=str(top / "migrations/1.sql"), edits=[{"old_string": "", "new_string": "x"}])
    assert edit("Write", file_path=str(top / "docs/a.md"), content="x") == "", "it is only counted"
    assert ruled.errors() == []


def test_the_setting_and_a_mute_switch_rules_off(ruled):
    path = f"{ruled.project}/migrations/1.sql"
    for value in ("watch", "off"):
        ruled.settings(f'rules = "{value}"\n')
        assert ruled.tool(name="Write", file_path=path, content="x").raw == b"", value
    ruled.settings(f'rules = "off"\n[projects."{ruled.project}"]\nrules = "on"\n')
    assert ruled.tool(name="Write", file_path=path, content="x").refusal
    (ruled.root / "mutes").mkdir()
    muted = ruled.root / "mutes" / f"{ids_hot.content_hash(str(ruled.path.parent))}.jsonl"
    muted.write_text(json.dumps({"file": "shop-rules.md", **mutes_hot.row("every prompt", [], "")}) + "\n")
    assert ruled.tool(name="Write", file_path=path, content="y").refusal == ""


def test_with_each_prompt_a_call_is_refused_anew(home):
    call = lambda prompt: home.hook("PreToolUse", tool_name="Bash", tool_input={"command": "npm i"}, prompt_id=prompt)
    prompts = ("p1", "p1", "p2", "p2", "p2", "p2")
    assert [bool(call(prompt).refusal) for prompt in prompts] == [True, True, True, True, False, True]


def test_an_expired_gone_or_untrusted_memory_forbids_nothing(home):
    home.keep("no-yarn", "No yarn.", forbids="yarn", expiry="2020-01-01")
    home.index()
    assert home.tool(command="yarn add x").refusal == ""
    home.path.unlink()
    assert home.tool(command="npm i").refusal == ""
    home.index()
    home.keep("no-yarn", "No yarn.")
    home.index()
    assert not (home.root / "rules" / "enforced").exists()
    path = home.keep("no-yarn", "No yarn.", "project", forbids="[yarn]")
    home.index()
    assert home.tool(command="yarn add x").refusal == ""
    trust_grants.grant(str(home.root), str(path.parent))
    assert "No yarn." in home.tool(command="yarn add x").context


def test_a_memory_that_no_longer_says_so_forbids_nothing(home):
    """What a worker listed is older than the file."""
    home.keep("prefer-pnpm", "Install with pnpm.", forbids="yarn")
    assert (home.tool(command="npm i").refusal, home.errors()) == ("", [])


def test_what_cannot_be_noted_is_not_refused(home):
    """A refusal that is forgotten would come each time."""
    (home.root / "sessions").mkdir(exist_ok=True)
    (home.root / "sessions" / "s1.refused.json").mkdir()
    assert home.tool(command="npm i").raw == b""
    assert [each["where"] for each in home.errors()] == ["PreToolUse"]
    assert home.log()[-1]["items"][0]["action"] == "broke"


def test_a_list_that_is_damaged_forbids_nothing(home):
    listed = home.root / "rules" / "enforced"
    odd = [json.dumps({"v": 1, "dirs": {str(home.path.parent): {"a.md": rows}}}).encode() for rows in (7, ["x"], [{}])]
    for damage in (b"", b"\xff\x00", b"[]", listed.read_bytes()[:-20], *odd):
        listed.write_bytes(damage)
        assert home.tool(command="npm i").raw == b""


def test_a_command_that_nothing_forbids_loads_nothing_of_recall(home):
    """The list of another project makes no shell command slower."""
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from memtui.hooks import bundle; bundle.load = lambda _: None;"
        " bundle.main(['PreToolUse']); loaded = {'memtui.recall.judge_hot', 'memtui.recall.query_hot', 'memtui.hooks.deliver_hot'};"
        " sys.stderr.write(' '.join(loaded & set(sys.modules)))"
    )
    data = json.dumps(home.payload("PreToolUse", tool_input={"command": "ls -la"})).encode()
    done = subprocess.run([PYTHON, "-I", "-S", "-c", code, str(SOURCES)], input=data, capture_output=True, env=home.env)
    assert (done.stdout, done.stderr) == (b"", b"")


@pytest.mark.slow
def test_an_edit_takes_effect_without_a_new_session(home):
    """The change is in the index soon, by a process that nobody waits for."""
    store = Store(home.env, str(home.project), by="tui")
    store.edit(store.find("coffee"), {"forbids": "yarn add"})
    assert eventually(lambda: home.tool(command="yarn add x").refusal), home.errors()
    store.edit(store.find("coffee"), {"forbids": ""})
    commands = (f"yarn add x{number}" for number in itertools.count())  # each is refused once
    assert eventually(lambda: not home.tool(command=next(commands)).refusal), home.errors()
    assert home.errors() == []
