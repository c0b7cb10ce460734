"""The command line, run in this process against a sample world of its own."""

import dataclasses
import functools
import io
import json
import os
import sys

import pytest

from memtui.base import clock_hot
from memtui.cli import parser
from memtui.cli.main import main

# A process has one command, but the tests': their parser is built once.
parser.build = functools.cache(parser.build)
NOW = clock_hot.parse("2026-11-21T09:00:00Z")


@dataclasses.dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def data(self):
        """The `data` of a JSON answer."""
        return json.loads(self.out)["data"]


class Shell:
    """A person at a terminal that is none, in a directory, with an environment."""

    def __init__(self, monkeypatch, capsysbinary, env, cwd):
        self.monkeypatch = monkeypatch
        self.capture = capsysbinary
        self.env = {"PATH": os.environ["PATH"], "COLUMNS": "80", "MEMTUI_NOW": clock_hot.iso(NOW), **env}
        self.cwd = str(cwd)

    def __call__(self, *words, stdin=b"", check=True):
        """Run a command; fails the test if it fails, unless `check` is off."""
        for name in list(os.environ):
            self.monkeypatch.delenv(name)
        for name, value in self.env.items():
            self.monkeypatch.setenv(name, value)
        self.monkeypatch.chdir(self.cwd)
        data = stdin.encode() if isinstance(stdin, str) else stdin
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        self.capture.readouterr()
        code = main(list(words))
        out, err = self.capture.readouterr()
        done = Done(code, out.decode(), err.decode())
        assert not check or code == 0, f"memtui {' '.join(words)} ended with {code}: {done.out}{done.err}"
        return done

    def json(self, *words, **more):
        """The data of a command's JSON answer."""
        return self(*words, "--json", **more).data


@pytest.fixture
def world(sample_worlds):
    """The sample world, as of NOW."""
    return sample_worlds.at(NOW)


@pytest.fixture
def memtui(world, monkeypatch, capsysbinary):
    """The command line in the sample world's shop."""
    return Shell(monkeypatch, capsysbinary, world.env, world.shop)


@pytest.fixture
def bare(tmp_path, monkeypatch, capsysbinary):
    """The command line on a fresh machine, in a repository without memories."""
    home, repo = tmp_path / "home", tmp_path / "repo"
    home.mkdir()
    (repo / ".git").mkdir(parents=True)
    return Shell(monkeypatch, capsysbinary, {"HOME": str(home)}, repo)


@pytest.fixture
def editor(tmp_path):
    """Make an editor of a few lines of Python that get `path`; gives its command line."""

    def make(source):
        script = tmp_path / "editor.py"
        script.write_text(f"import sys, pathlib\npath = pathlib.Path(sys.argv[-1])\n{source}\n")
        return f"{sys.executable} {script}"

    return make
