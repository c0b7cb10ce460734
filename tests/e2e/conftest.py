"""Every test that uses the client runs with the oldest that we know and with the newest: in the gate in turn."""

import pytest

from .client import VERSIONS, World, client_or_skip
from .model import Model


@pytest.fixture
def model():
    server = Model()
    yield server
    server.close()


@pytest.fixture(params=VERSIONS)
def binary(request):
    """The client's program."""
    return client_or_skip(request.param)


@pytest.fixture
def world(tmp_path, model, binary):
    return World(tmp_path, model, binary)


@pytest.fixture
def on(world):
    """A world whose hooks are installed."""
    world.install()
    return world
