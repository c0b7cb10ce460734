"""What `pytest` alone leaves out is run by the gate: between the two no test is lost, and no case for long."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import turns

PROJECT = Path(__file__).resolve().parents[1]
OPTIONS = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
MARKERS = [re.match(r"\w+", line)[0] for line in OPTIONS["markers"]]
LEAVES_OUT = re.compile(r"(?<!\S)(-m|-k|--ignore\S*|--deselect\S*|--lf|--last-failed|-x|--maxfail\S*)(?!\S)")
QUICK = """
import pytest

def test_quick():
    pass

@pytest.mark.every(step=3)
@pytest.mark.parametrize("case", range(6))
def test_cases(case):
    pass
"""
LONG = """
import pytest

@pytest.mark.{0}
def test_{0}():
    pass
"""


@pytest.fixture
def ran(tmp_path):
    """Runs pytest in a project with tests of each kind; gives how many it says ran of which, and all that it says."""
    tests = tmp_path / "tests"
    tests.mkdir()
    shutil.copy(PROJECT / "pyproject.toml", tmp_path)
    for name in ("conftest.py", "rootless.py", "tree.py", "turns.py", "waiting.py"):
        shutil.copy(PROJECT / "tests" / name, tests)
    (tests / "test_quick.py").write_text(QUICK)
    for name in MARKERS:
        (tests / f"test_{name}.py").write_text(LONG.format(name))

    def run(*words, turn="all"):
        command = [sys.executable, "-m", "pytest", "-n", "0", "-v", "-p", "no:cacheprovider", *words]
        env = {**os.environ, turns.NAME: str(turn)}
        said = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout
        told = re.search("^ran: (.*)$", said, re.MULTILINE)[1]
        return {kind: int(count) for count, kind in (each.split() for each in told.split(", "))}, said

    return run


@pytest.mark.slow
def test_alone_it_runs_what_is_quick_and_what_is_named_runs_whole(ran):
    counts, said = ran()
    assert counts == {"quick": 3}
    assert f"left out: tests marked {', '.join(MARKERS)}; `pytest --all` runs them, too" in said
    assert ran("-m", "kill")[0] == {"kill": 1}
    assert ran("tests/test_kill.py", "tests/test_quick.py")[0] == {"kill": 1, "quick": 3, "every": 4}


@pytest.mark.slow
def test_asked_for_all_it_counts_by_marker_and_other_cases_have_their_turn(ran):
    counts, said = ran("--all")
    assert counts == {"quick": 3, **dict.fromkeys(MARKERS, 1), "every": 5}
    assert "left out" not in said
    assert "deselected" not in said
    passed = []
    for turn in (0, 1):
        counts, said = ran("--all", turn=turn)
        assert f"{turns.NAME}={turn}" in said
        assert counts["quick"] == 3
        passed.append(re.findall(r"test_cases\[(\d)\] PASSED", said))
    assert all({"0", "3"} < {*each} < {*"012345"} for each in passed)
    assert passed[0] != passed[1]


def test_each_case_has_its_turn(monkeypatch):
    for of in (2, 3, 4, 6, 8, 12, 24):
        found = []
        for turn in range(turns.TURNS):
            monkeypatch.setattr(turns, "turn", lambda turn=turn: turn)
            found += turns.share(range(50), of)
        assert sorted(set(found)) == list(range(50))
        assert len(found) == 50 * turns.TURNS // of
    for of in (2, turns.SHARE):
        pairs = set()
        for turn in range(turns.TURNS):
            monkeypatch.setattr(turns, "turn", lambda turn=turn: turn)
            cases = [case for case in range(6) if turns.due(case, of)]
            pairs |= {
                (case, client) for case in cases for client in (0, 1) if turns.due(case + client, 2, "", turns.SHARE)
            }
        assert pairs == {(case, client) for case in range(6) for client in (0, 1)}
    monkeypatch.setattr(turns, "turn", lambda: None)
    assert turns.share("abc") == [*"abc"]


def test_the_gate_runs_the_readme_s_command_with_all_tests():
    gate = (PROJECT / ".ci" / "run").read_text()
    (command,) = re.findall(r"^    python3 -m venv .*&& (.*pytest)$", (PROJECT / "README.md").read_text(), re.MULTILINE)
    assert (command, gate.splitlines()[-1]) == (".venv/bin/pytest", 'exec bash -c "$tests --all"')
    assert not LEAVES_OUT.search(command + OPTIONS["addopts"])
    assert OPTIONS["testpaths"] == ["tests"]
    assert not {"norecursedirs", "python_files", "python_functions"} & OPTIONS.keys()


def test_every_file_of_tests_is_collected_and_none_takes_tests_out():
    for path in (PROJECT / "tests").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "collect_" + "ignore" not in text, path
        assert not re.search(r"^(async )?def test_", text, re.MULTILINE) or path.name.startswith("test_"), path
