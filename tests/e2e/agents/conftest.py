"""A world for each agent. A test names its agent by the fixture `agent`: a name, and a version if not the newest."""

import pytest

from .codex_world import CodexWorld
from .copilot_world import CopilotWorld
from .gemini_world import GeminiWorld
from .opencode_world import OpencodeWorld
from .programs import program_or_skip
from .qwen_world import QwenWorld

WORLDS = {world.name: world for world in (CodexWorld, GeminiWorld, QwenWorld, OpencodeWorld, CopilotWorld)}


@pytest.fixture(params=WORLDS)
def agent(request):
    return request.param


@pytest.fixture
def model(agent):
    server = WORLDS[agent.split()[0]].protocol()
    yield server
    server.close()


@pytest.fixture
def world(tmp_path, model, agent):
    name, _, version = agent.partition(" ")
    return WORLDS[name](tmp_path, model, program_or_skip(name, version))


@pytest.fixture
def on(world):
    """A world whose hooks are installed."""
    world.install()
    return world
