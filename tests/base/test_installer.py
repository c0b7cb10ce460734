"""The command that adds a package beside memtui fits the way in which memtui was installed."""

import sys

import pytest

from memtui.base import installer
from tables import rows

TOOL = "[tool]\nrequirements = [{}]\n"


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    where = tmp_path / "memtui"
    where.mkdir()
    monkeypatch.setattr(sys, "prefix", str(where))
    monkeypatch.setattr(sys, "executable", f"{where}/bin/python")
    return where


@pytest.mark.parametrize(("requirements", "command"), rows(__file__, "a tool of uv keeps what it was installed with"))
def test_a_tool_of_uv_keeps_what_it_was_installed_with(prefix, requirements, command):
    (prefix / installer.UV_NOTES).write_text(TOOL.format(requirements))
    assert installer.adding("fastembed") == command


@pytest.mark.parametrize("notes", ["", "[", "[tool]", TOOL.format(""), TOOL.format("7"), TOOL.format("{}"), "tool = 1"])
def test_notes_of_uv_that_cant_be_read_leave_the_plain_command(prefix, notes):
    (prefix / installer.UV_NOTES).write_text(notes)
    assert installer.adding("fastembed") == "uv tool install --with fastembed memtui"


def test_pipx_and_environments_with_and_without_pip_have_theirs(prefix, monkeypatch):
    python = f"{prefix}/bin/python"
    assert installer.adding("fastembed") == f"{python} -m pip install fastembed"
    monkeypatch.setattr(installer, "find_spec", lambda _: None)
    assert installer.adding("fastembed") == f"uv pip install --python {python} fastembed"
    (prefix / installer.PIPX_NOTES).write_text("{}")
    assert installer.adding("fastembed") == "pipx inject memtui fastembed"


def test_a_python_that_the_system_manages_has_to_be_told(prefix, monkeypatch):
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    monkeypatch.setattr(installer.sysconfig, "get_path", lambda _: str(prefix))
    assert "--break" not in installer.adding("fastembed")
    (prefix / "EXTERNALLY-MANAGED").write_text("")
    assert installer.adding("fastembed").endswith("-m pip install --break-system-packages fastembed")
