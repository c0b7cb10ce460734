import pytest

from .client import World, client_or_skip
from .model import Model


@pytest.fixture
def model():
    server = Model()
    yield server
    server.close()


@pytest.fixture
def world(tmp_path, model):
    return World(tmp_path, model, client_or_skip())


@pytest.fixture
def on(world):
    """A world whose hooks are installed."""
    world.install()
    return world
