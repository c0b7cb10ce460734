"""A memory whose own check fails: marked wherever it is delivered, and a rule not delivered at all."""

import os

import pytest
from test_recall import RELEASE, RecallHome

from memtui.recall import bindings_hot
from memtui.store import trust_grants
from memtui.tidy.checks import verification
from tidy.checks.repositories import git

FAILS = "Its own check has failed since "


class CheckedHome(RecallHome):
    """A home with a project under git, whose memories have checks of their own."""

    def __init__(self, base):
        super().__init__(base)
        git(self.project, "init", "-q")
        (self.project / "yarn.lock").write_text("")

    def rule(self, text=RELEASE, kind="feedback", check="glob yarn.lock", **fields):
        path = self.keep("release-pipeline", text, "project", metadata=f"\n  type: {kind}", verify=check, **fields)
        trust_grants.grant(str(self.root), str(path.parent))
        return path

    def check(self):
        """Do what a worker does at the end of a turn."""
        self.index()
        listed = bindings_hot.listed(str(self.root), bindings_hot.CHECKS)
        verification.make(self.env, str(self.root), str(self.project), listed)


@pytest.fixture
def home(tmp_path):
    return CheckedHome(tmp_path)


def test_a_memory_whose_check_fails_comes_with_a_line_that_says_since_when(home):
    home.rule(kind="project", check="glob pnpm.lock")
    home.check()
    said = home.ask()
    assert RELEASE in said
    assert f"{FAILS}20" in said
    assert "(glob pnpm.lock): it may no longer be true" in said
    (home.project / "pnpm.lock").write_text("")
    home.check()
    assert FAILS not in home.ask(session="s2")
    assert home.errors() == []


@pytest.mark.every(step=1)
def test_a_rule_whose_check_fails_comes_again_once_it_holds_or_was_edited(home):
    path = home.rule()
    home.check()
    assert RELEASE in home.ask()
    (home.project / "yarn.lock").unlink()
    home.check()
    assert home.ask(session="s2") == ""
    os.utime(path)
    assert home.ask(session="s2") == "", "the same bytes with another time"
    (home.project / "yarn.lock").write_text("")
    home.check()
    assert RELEASE in home.ask(session="s2")
    (home.project / "yarn.lock").unlink()
    home.check()
    home.rule(RELEASE + " Ask first.")
    said = home.ask(session="s3")
    assert "Ask first." in said
    assert FAILS not in said, "what was edited is not checked yet"


@pytest.mark.every(step=1)
def test_a_command_is_not_refused_by_a_memory_whose_check_fails(home):
    home.rule(kind="project", check="glob pnpm.lock", forbids="npm install")
    home.check()
    assert home.tool(command="npm install").refusal == ""
    (home.project / "pnpm.lock").write_text("")
    home.check()
    assert home.tool(command="npm install").refusal


@pytest.mark.every(step=1)
def test_the_index_marks_what_fails_leaves_out_rules_and_tells_of_changes(home):
    home.rule(kind="project", check="glob pnpm.lock")
    home.keep("use-yarn", "Use yarn.", "project", type="feedback", verify="glob bun.lock")
    home.remember("plain", scope="project")
    home.check()
    said = home.start().context
    assert "About release-pipeline (Its own check has failed since 20" in said
    assert "plain" in said
    assert "use-yarn" not in said
    for name in ("pnpm.lock", "bun.lock"):
        (home.project / name).write_text("")
    home.check()
    news = home.prompt().context
    assert "\n+ - [project] release-pipeline: About release-pipeline\n" in news
    assert "\n+ - [feedback] use-yarn: About use-yarn\n" in news
    assert home.prompt().context == ""
    (home.project / "bun.lock").unlink()
    home.check()
    assert "\n- - [feedback] use-yarn: About use-yarn\n" in home.prompt().context
    assert home.errors() == []
