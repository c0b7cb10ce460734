"""Bundles: several modules loaded from one file, as long as it is current."""

import json
import marshal
import re
import shutil
import subprocess
import sys

import pytest
from launching import PYTHON, SOURCES

from memtui.hooks import bundle, bundle_writer
from memtui.recall import places_hot
from memtui.worker import index_updates

PROBE = """
import sys
sys.path.insert(0, {sources!r})
from memtui.hooks import bundle
bundle.main([])
from memtui.hooks import user_prompt_submit_hot
before = set(sys.modules)
bundle.load({group!r})
print(*sorted(name[7:] for name in set(sys.modules) - before if name.endswith("_hot")))
from memtui.hooks import deliver_hot
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the sources, whose bundles no other test uses."""
    other = shutil.ignore_patterns("tui", "*.bundle", "*.table")
    shutil.copytree(SOURCES / "memtui", tmp_path / "memtui", ignore=other)
    return tmp_path


def loaded(package, group):
    code = PROBE.format(sources=str(package), group=group)
    done = subprocess.run([PYTHON, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def write(package):
    code = f"import sys; sys.path.insert(0, {str(package)!r}); from memtui.hooks import bundle_writer; print(*bundle_writer.write())"
    done = subprocess.run([PYTHON, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def path(package, group):
    return package / "memtui" / "hooks" / "__pycache__" / f"{group}.{sys.implementation.cache_tag}.bundle"


@pytest.mark.slow
def test_a_bundle_brings_its_modules_and_a_change_of_one_makes_it_void(package):
    assert loaded(package, "delivery") == set()
    assert (write(package), write(package)) == ([*bundle_writer.ROOTS], [])
    assert loaded(package, "delivery") == set(bundle_writer.modules_of("delivery"))
    source = package / "memtui" / "deliver" / "log_file_hot.py"
    source.write_text(source.read_text() + "# changed\n")
    assert loaded(package, "delivery") == set()
    assert set(write(package)) == {"SessionStart", "settling", "delivery", "notes"}
    assert loaded(package, "delivery") == set(bundle_writer.modules_of("delivery"))


@pytest.mark.slow
def test_a_damaged_bundle_is_no_bundle(package):
    write(package)
    place = path(package, "delivery")
    whole = place.read_bytes()
    for data in (b"", whole[:100], b"\0" * 50, whole[:8] + marshal.dumps(7), whole[:4] + b"\xff" * 90):
        place.write_bytes(data)
        assert loaded(package, "delivery") == set()


@pytest.mark.slow
def test_a_hook_that_is_not_rare_loads_all_modules_from_bundles(package, home):
    write(package)
    home.remember("release-pipeline", "Put a release of the shop live with the release pipeline")
    index_updates.update(str(home.root), places_hot.of_session(home.env, str(home.project)))

    def imported(event, words="", **more):
        payload = json.dumps(home.payload(event, **more)).encode()
        command = [PYTHON, "-I", "-S", "-X", "importtime", str(package / "memtui/hooks/launch.py"), event]
        done = subprocess.run(command, input=payload, capture_output=True, env=home.env, cwd=home.base, check=True)
        assert words in done.stdout.decode()
        return re.findall(r"\| +memtui\.([\w.]+)", done.stderr.decode())

    assert (imported("SessionStart", "release-pipeline"), imported("UserPromptSubmit", prompt="hi")) == ([], [])
    assert imported("UserPromptSubmit", prompt="why is the sky red?") == []
    assert imported("UserPromptSubmit", "<memtui-memory", prompt="how do we put a release of the shop live?") == []
    home.guide("Use uv")
    assert (imported("UserPromptSubmit", "Use uv"), imported("PreToolUse")) == ([], [])
    home.write_transcript([])
    assert imported("Stop") == []


def test_where_none_can_be_written_there_is_none(monkeypatch):
    monkeypatch.setattr(bundle, "path", lambda group: f"/proc/{group}")
    monkeypatch.setattr(bundle_writer, "ROOTS", {"tools": bundle_writer.ROOTS["tools"]})
    assert bundle_writer.write() == []
