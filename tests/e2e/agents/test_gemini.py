"""Gemini CLI, the newest on npm, against a loopback model."""

import json

import pytest

from .generate_content import GenerateContent
from .programs import program_or_skip
from .world import AgentWorld

pytestmark = pytest.mark.client


class GeminiWorld(AgentWorld):
    """A home with a `.gemini`, and a project that it trusts."""

    name = "gemini"

    @property
    def gemini(self):
        return self.home / ".gemini"

    def configure(self):
        self.gemini.mkdir()
        settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "model": {"name": "gemini-2.5-flash"}}
        (self.gemini / "settings.json").write_text(json.dumps(settings))
        (self.gemini / "trustedFolders.json").write_text(json.dumps({str(self.project): "TRUST_FOLDER"}))

    def variables(self):
        return {
            "GEMINI_API_KEY": "loopback",
            "GOOGLE_GEMINI_BASE_URL": self.model.url,
            "GEMINI_CLI_NO_RELAUNCH": "1",
            "GEMINI_TELEMETRY_ENABLED": "false",
        }

    def command(self, prompt, resume):
        return [*(["--resume", resume] if resume else []), "--approval-mode", "yolo", "-p", prompt]

    def files(self):
        """The session files, oldest first."""
        return sorted(self.gemini.glob("tmp/*/chats/session-*.jsonl"), key=lambda path: path.stat().st_mtime)

    def session_of(self, run):
        return json.loads(self.files()[-1].read_text().splitlines()[0])["sessionId"]


@pytest.fixture
def model():
    server = GenerateContent()
    yield server
    server.close()


@pytest.fixture
def world(tmp_path, model):
    return GeminiWorld(tmp_path, model, program_or_skip("gemini"))


@pytest.fixture
def on(world):
    world.install()
    return world


def seen(request, what):
    """How often the model can read something, as this program writes it."""
    return request.text().replace("&lt;", "<").replace("&gt;", ">").count(what)


def test_a_prompt_and_its_resume_reach_the_model(on):
    on.remember("tabs", "Indent with tabs.")
    on.leave("Mind the gap.")
    run = on.run("hello")
    again = on.run("and go on", resume=run.session_id)
    assert again.session_id == run.session_id
    assert [seen(request, "Mind the gap.") for request in (run.main[-1], again.main[-1])] == [1, 1]
    assert [seen(request, "<memtui-index") for request in (run.main[-1], again.main[-1])] == [1, 1]
    assert on.receipts() == ["arrived", "arrived"]
