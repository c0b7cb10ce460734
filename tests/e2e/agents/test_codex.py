"""Codex, the newest on npm, against a loopback model."""

import json
import subprocess

import pytest

from .programs import program_or_skip
from .responses import Responses
from .world import AgentWorld, blocks

pytestmark = pytest.mark.client


class CodexWorld(AgentWorld):
    """A home with a `.codex`, in which a person trusts memtui's hooks."""

    name = "codex"

    @property
    def codex(self):
        return self.home / ".codex"

    def configure(self):
        self.codex.mkdir()
        provider = {
            "name": "loop",
            "base_url": f"{self.model.url}/v1",
            "wire_api": "responses",
            "env_key": "OPENAI_API_KEY",
        }
        lines = [f"{key} = {json.dumps(value)}" for key, value in provider.items()]
        head = 'model = "stand-in"\nmodel_provider = "loop"\n[model_providers.loop]'
        (self.codex / "config.toml").write_text("\n".join([head, *lines, ""]))

    def variables(self):
        return {"OPENAI_API_KEY": "loopback"}

    def command(self, prompt, resume):
        return ["exec", *(["resume", "--json", resume] if resume else ["--json"]), prompt]

    def session_of(self, run):
        started = [json.loads(line) for line in run.stdout.splitlines() if "thread.started" in line]
        return started[0]["thread_id"] if started else run.session_id

    def install(self, scope="user"):
        super().install()
        self.trust()

    def hooks(self, trusted=False):
        """The hooks as Codex lists them; `trusted`: after a person trusted all."""
        server = subprocess.Popen(
            [self.binary, "app-server"],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

        def ask(method, **params):
            server.stdin.write(json.dumps({"id": method, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            return next(answer["result"] for line in server.stdout if (answer := json.loads(line)).get("id") == method)

        ask("initialize", clientInfo={"name": "tests", "version": "1"})
        (listed,) = ask("hooks/list", cwds=[str(self.project)])["data"]
        if trusted:
            state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in listed["hooks"]}
            edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
            assert ask("config/batchWrite", edits=[edit])["status"] == "ok"
        server.communicate(timeout=60)
        return listed

    def trust(self):
        self.hooks(trusted=True)


@pytest.fixture
def model():
    server = Responses()
    yield server
    server.close()


@pytest.fixture
def world(tmp_path, model):
    return CodexWorld(tmp_path, model, program_or_skip("codex"))


@pytest.fixture
def on(world):
    """A world whose hooks are installed and trusted."""
    world.install()
    return world


def test_a_note_reaches_the_next_prompt_once_and_says_arrived(on):
    on.remember("tabs", "Never indent with tabs")
    on.leave("CI is red on master: the lockfile job fails.")
    run = on.run("hello")
    (block,) = blocks(run.main[0], "guidance")
    assert "CI is red on master" in block.text
    assert "Never indent with tabs" in blocks(run.main[0], "index")[0].text
    assert on.waiting() == ""
    again = on.run("and go on", resume=run.session_id)
    assert [again.main[-1].count(text) for text in ("CI is red on master", "Never indent with tabs")] == [1, 1]
    assert on.receipts() == ["arrived", "arrived"]
    assert {record["agent"] for record in on.deliveries()} == {"codex"}
    assert on.errors() == []
