"""What memories name that is gone from their project, by real repositories; and the checks that they bring themselves."""

import os

import pytest

from memtui.base import clock_hot
from memtui.tidy.checks import lint, lint_fixes, verification
from memtui.tidy.checks.project_files import ProjectFiles
from tables import rows

from .checks.repositories import git

NOW = clock_hot.parse("2026-11-22T12:00:00Z")
FILES = {
    "package.json": '{"scripts": {"test": "tox", "build:all": "make"}}',
    "web/package.json": '{"scripts": {"dev": "vite"}}',
    "Makefile": "VERSION := 1\nbuild lint: deps\n\techo\n.PHONY: build\n",
    "src/app.py": "def open_till_drawer():\n    return 1\n\n\nclass TillDrawer:\n    pass\n",
    "src/kept.py": "x = 1\n" * 20,
    "src/old/prices.py": "".join(f"price_{n} = {n}\n" for n in range(50)),
    "src/gone.py": "foo_bar = your_api_key = snake_case = 2\n",
    "docs/notes.txt": "strict = true\n",
    "out/report.json": "{}",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A repository with a history: a file removed, one moved, a name removed from the code, a branch merged."""
    top = tmp_path_factory.mktemp("repo")
    git(top, "init", "-q", "-b", "main")
    for path, text in FILES.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)
    git(top, "add", ".")
    git(top, "commit", "-qm", "all")
    git(top, "checkout", "-qb", "feature/till")
    git(top, "rm", "-q", "src/gone.py", "out/report.json")
    (top / "src/new").mkdir()
    git(top, "mv", "src/old/prices.py", "src/new/prices.py")
    (top / "src/app.py").write_text("class TillDrawer:\n    pass\n")
    git(top, "commit", "-qam", "change")
    git(top, "checkout", "-q", "main")
    git(top, "merge", "-q", "--no-ff", "-m", "Merge branch 'feature/till'", "feature/till")
    git(top, "branch", "-d", "feature/till")
    git(top, "branch", "release-2")
    (top / ".gitignore").write_text("out/\n")
    (top / ".claude/memory").mkdir(parents=True)
    return top


def check(made, *lines, name="shop", fields=""):
    """The findings on one memory with these lines, as (code, what it names)."""
    directory = made / ".claude/memory"
    for old in directory.iterdir():
        old.unlink()
    body = "\n".join(lines)
    (directory / f"{name}.md").write_text(f"---\nname: {name}\ndescription: The {name}\n{fields}---\n\n{body}\n")
    (directory / "MEMORY.md").write_text(f"- [{name}]({name}.md) — read it first\n")
    subject = lint.at(str(made), "/", NOW)
    return subject, lint.check(subject)


def named(made, *lines):
    return [(each.code.partition(".")[2], each.data.get("words")) for each in check(made, *lines)[1]]


def test_a_path_or_command_not_known_is_found_and_a_moved_path_corrected(made):
    assert named(made, "The drawer is in `src/gone.py`.") == [("path", "src/gone.py")]
    assert named(made, "See `src/old/prices.py:12` for prices.") == [("path", "src/old/prices.py")]
    assert named(made, "Prices live in `src/old/`.") == [("path", "src/old/")]
    assert named(made, "`open_till_drawer()` öffnet die Kasse.") == [("symbol", "open_till_drawer")]
    assert named(made, "レジは `open_till_drawer` が開ける。") == [("symbol", "open_till_drawer")]
    for owner in ("till.", "Shop::Till#", "till->"):
        assert named(made, f"`{owner}open_till_drawer()` opens it.") == [("symbol", "open_till_drawer")]
    own = f"In the {made.name} repo `open_till_drawer()` is called first."
    assert named(made, own) == [("symbol", "open_till_drawer")]
    commands = [("command", "npm run tests"), ("command", "make biuld")]
    assert named(made, "Run `npm run tests` and `make biuld`.") == commands
    lines = ("Prices: `src/old/prices.py:12` and", "`src/old/prices.py`, in `src/gone.py` the rest.")
    subject, found = check(made, *lines)
    assert [each.data["proposed"] for each in found] == ["src/new/prices.py", "src/new/prices.py", ""]
    lint_fixes.make(lint_fixes.plan(subject, found))
    text = (made / ".claude/memory/shop.md").read_text()
    assert "Prices: `src/new/prices.py:12` and\n`src/new/prices.py`, in `src/gone.py` the rest.\n" in text


@pytest.mark.parametrize("line", rows(__file__, "what is there never was or is told as past is left alone"))
def test_what_is_there_never_was_or_is_told_as_past_is_left_alone(made, line):
    assert named(made, line) == []


@pytest.mark.parametrize("line", rows(__file__, "a command that is to be run now is found beside what is forbidden"))
def test_a_command_that_is_to_be_run_now_is_found_beside_what_is_forbidden(made, line):
    assert named(made, line) == [("command", "npm run gone")]


@pytest.mark.parametrize("line", rows(__file__, "what is forbidden or of the past is left alone in each sentence"))
def test_what_is_forbidden_or_of_the_past_is_left_alone_in_each_sentence(made, line):
    assert named(made, line) == []


def test_a_makefile_clone_option_or_link_tells_nothing_that_is_not_so(made, tmp_path):
    (made / "Makefile").write_text("include more.mk\nbuild:\n\techo\n")
    assert named(made, "Run `make biuld`.") == []
    (made / "Makefile").write_text(FILES["Makefile"])
    git(made, "clone", "-q", "--depth", "1", f"file://{made}", str(tmp_path / "shallow"))
    (tmp_path / "shallow/.claude/memory").mkdir(parents=True)
    assert named(tmp_path / "shallow", "In `src/gone.py`, call `open_till_drawer()` on branch `feature/till`.") == []
    lines = ["`--output=/tmp/x/y.py` `-c/core.py` branch `--all`, `-e_foo_Bar()` `$(touch x).py` `:(glob)x/y.py`"]
    before = sorted(os.listdir(made))
    assert (named(made, *lines), sorted(os.listdir(made))) == ([], before)
    (tmp_path / "secret.txt").write_text("the word")
    link = made / "docs/link.txt"
    link.symlink_to(tmp_path / "secret.txt")
    try:
        assert not verification.holds(ProjectFiles(str(made)), 'grep "the word" in docs/*.txt')
    finally:
        link.unlink()


@pytest.mark.parametrize(("text", "holds"), rows(__file__, "the checks that a memory brings"))
def test_the_checks_that_a_memory_brings(made, text, holds):
    assert verification.holds(ProjectFiles(str(made)), text) is holds
    codes = [each.code for each in check(made, "Words.", fields=f"verify: {text}\n")[1]]
    assert codes == ([] if holds else ["memories.verify"])


@pytest.mark.parametrize(
    "text",
    ["ls", "glob /etc/passwd", "glob ../x", "grep x", "git branch --all", "git push origin", "run make", "glob", "git"],
)
def test_a_check_that_is_none_of_these_is_a_problem_and_not_made(made, text):
    with pytest.raises(ValueError, match=r"\w"):
        verification.holds(ProjectFiles(str(made)), text)
    codes = [each.code for each in check(made, "Words.", fields=f"verify: [{text!r}]\n")[1]]
    assert codes == ["memories.verify_unknown"]


def test_checks_work_without_a_repository_and_say_so_where_they_need_one(tmp_path):
    (tmp_path / ".claude/memory").mkdir(parents=True)
    (tmp_path / "a.toml").write_text("strict = true\n")
    (tmp_path / ".hidden").write_text("x")
    project = ProjectFiles(str(tmp_path))
    assert verification.holds(project, "grep strict in *.toml")
    assert not verification.holds(project, "glob .hidden")
    with pytest.raises(ValueError, match="no git repository"):
        verification.holds(project, "git branch main")
