"""git merges memories with memtui's driver, and as always once it is removed."""

import os
import subprocess

import pytest
from test_merge import MEMORY

from memtui.base.errors import MemtuiError
from memtui.sync import driver

FILE = ".claude/memory/ship.md"


class Repository:
    """A repository with one memory, and a home of its own."""

    def __init__(self, base):
        self.path, self.root = base / "shop", str(base / "memtui")
        self.path.mkdir()
        self.env = {
            "HOME": str(base),
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "LC_ALL": "C.UTF-8",
        }
        self.env |= {
            f"GIT_{who}_{key}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")
        }
        self.git("init", "-q", "-b", "main")
        self.write(MEMORY, "first")

    def git(self, *words, code=0):
        done = subprocess.run(["git", *words], cwd=self.path, env=self.env, capture_output=True, text=True)
        assert done.returncode == code, done
        return done.stdout + done.stderr

    def write(self, data, message):
        file = self.path / FILE
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def branch(self, ours, theirs):
        """Make two branches with a version each, and stand on the first."""
        self.git("checkout", "-qb", "theirs")
        self.write(theirs, "theirs")
        self.git("checkout", "-q", "main")
        self.write(ours, "ours")


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


def test_git_merges_a_field_and_a_paragraph_of_one_memory(repository):
    ours, theirs = MEMORY.replace(b"- tag", b"- sign"), MEMORY.replace(b"- run the tests", b"- run all tests")
    repository.branch(ours, theirs)
    repository.git("merge", "theirs", code=1)  # git alone: neighbours are a conflict
    repository.git("merge", "--abort")
    driver.apply(driver.plan(str(repository.path)), repository.root)
    repository.git("merge", "-qm", "merge", "theirs")
    assert (repository.path / FILE).read_bytes() == ours.replace(b"- run the tests", b"- run all tests")


def test_what_both_changed_is_a_conflict_for_git_that_says_both(repository):
    ours, theirs = MEMORY.replace(b"Tuesdays", b"Mondays"), MEMORY.replace(b"Tuesdays", b"Sundays")
    repository.branch(ours, theirs)
    driver.apply(driver.plan(str(repository.path)), repository.root)
    words = repository.git("merge", "theirs", code=1)
    assert "“Ship on Mondays.” stands; the other side has: Ship on Sundays." in words
    assert (repository.path / FILE).read_bytes() == ours


def test_removal_gives_both_files_their_bytes_back(repository):
    config = repository.path / ".git" / "config"
    attributes = repository.path / ".gitattributes"
    attributes.write_bytes(b"*.png binary\r\n# no line feed at its end")
    before = config.read_bytes(), attributes.read_bytes()
    plan = driver.plan(str(repository.path))
    assert not plan.is_there
    driver.apply(plan, repository.root)
    assert driver.plan(str(repository.path)).changed == []
    driver.apply(driver.plan(str(repository.path), remove=True), repository.root, remove=True)
    assert config.read_bytes() == before[0]
    assert attributes.read_bytes() == before[1]


def test_outside_a_repository_it_says_where_to_run_it(tmp_path):
    with pytest.raises(MemtuiError, match="in no work tree of git"):
        driver.plan(str(tmp_path))
