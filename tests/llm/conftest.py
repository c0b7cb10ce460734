"""A loopback API, and memtui's directory with settings that let it be asked."""

import pytest

from e2e.model import Model


@pytest.fixture
def api():
    server = Model()
    yield server
    server.close()


@pytest.fixture
def settings(tmp_path):
    """Writes config.toml; at first it names the API."""

    def write(*lines):
        root = tmp_path / "memtui"
        root.mkdir(exist_ok=True)
        (root / "config.toml").write_text("\n".join(lines) + "\n")
        return str(root)

    write('llm_backend = "api"')
    return write
