"""Activity of all projects."""

import pytest

from memtui.tui.app import MemtuiApp
from tui.conftest import NOW


@pytest.fixture
def app(world):
    """The application, started on this screen."""
    app = MemtuiApp(dict(world.env), world.shop, screen="activity", now=NOW)
    app.all_projects = True
    return app
