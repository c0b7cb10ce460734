"""memtui's directory with settings that let a model be asked."""

import pytest


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
