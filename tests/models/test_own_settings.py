"""Which model is asked, and with whose key, is the person's choice: a project that sets it is refused."""

import json

import pytest

from memtui.base.errors import MemtuiError
from memtui.models import choice


@pytest.fixture
def project(tmp_path):
    (tmp_path / "shop/.git").mkdir(parents=True)
    (tmp_path / "shop/.claude").mkdir()
    return tmp_path / "shop"


def check(project, variable, *own):
    (project / ".claude/settings.json").write_text(json.dumps({"env": {variable: "x"}}))
    env = {"HOME": str(project.parent), **dict.fromkeys((variable, *own), "x")}
    choice.must_be_own(env, str(project))


@pytest.mark.parametrize("variable", ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "PATH", "HTTPS_PROXY"])
def test_no_model_is_asked_where_a_project_says_which(project, variable):
    with pytest.raises(MemtuiError, match=f"sets {variable}, so no model is asked here"):
        check(project, variable)


def test_what_else_a_project_sets_is_its_own_matter(project):
    check(project, "DATABASE_URL")
    (project / ".claude/settings.json").write_text('{"env": {"ANTHROPIC_API_KEY": "x"}}')
    choice.must_be_own({"HOME": str(project.parent)}, str(project))  # the client did not take it over
