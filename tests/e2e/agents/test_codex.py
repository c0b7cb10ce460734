"""Codex, the newest on npm, against a loopback model."""

import json

import pytest

from .programs import program_or_skip
from .responses import Responses
from .world import AgentWorld

pytestmark = pytest.mark.client


class CodexWorld(AgentWorld):
    """A home with a `.codex` whose hooks need no review by a person."""

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
        return {"OPENAI_API_KEY": "loopback", "CODEX_HOME": str(self.codex)}

    def command(self, prompt, resume):
        trusted = ["exec", "--dangerously-bypass-hook-trust"]
        return [*trusted, *(["resume", "--json", resume] if resume else ["--json"]), prompt]

    def session_of(self, run):
        started = [json.loads(line) for line in run.stdout.splitlines() if "thread.started" in line]
        return started[0]["thread_id"] if started else run.session_id


@pytest.fixture
def model():
    server = Responses()
    yield server
    server.close()


@pytest.fixture
def world(tmp_path, model):
    return CodexWorld(tmp_path, model, program_or_skip("codex"))


def test_a_prompt_and_its_resume_reach_the_model(world):
    run = world.run("hello")
    again = world.run("and go on", resume=run.session_id)
    assert again.session_id == run.session_id
    assert [request.count("hello") for request in (run.main[-1], again.main[-1])] == [1, 1]
    assert again.main[-1].text().splitlines().count("and go on") == 1
