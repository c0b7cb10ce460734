"""A home in which hooks run."""

import pytest
from launching import Home


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)
