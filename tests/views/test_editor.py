"""The person's editor on a temporary file."""

import os
import sys

import pytest

from memtui.views import editor


@pytest.mark.parametrize(
    ("name", "file"),
    [("config.toml", "config.toml"), ("use-pnpm", "use-pnpm.md"), ("frontend/use-pnpm", "frontend-use-pnpm.md")],
)
def test_the_editor_can_tell_the_syntax_by_the_name_of_the_file(tmp_path, name, file):
    script = tmp_path / "editor.py"
    script.write_text("import sys, pathlib\npath = pathlib.Path(sys.argv[1])\npath.write_text(path.name)\n")
    env = {**os.environ, "VISUAL": f"{sys.executable} {script}"}
    assert editor.edited(env, name, b"before") == file.encode()
