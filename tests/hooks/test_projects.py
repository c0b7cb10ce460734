"""Projects whose paths the client writes alike stay apart."""

import pytest
from launching import Home

from memtui.base import paths

PAIRS = [("my_app", "my-app"), ("my.app", "my-app"), ("my app", "my_app"), ("新聞", "暫存")]


class Neighbours(Home):
    """Two projects whose roots have one slug. `project` is the first."""

    def __init__(self, base, names):
        super().__init__(base)
        self.project, self.other = (base / name for name in names)
        for each in (self.project, self.other):
            (each / ".git").mkdir(parents=True)
        assert paths.slug(str(self.project)) == paths.slug(str(self.other))
        self.boxes["project"] = self.box(self.project)

    def box(self, project):
        return self.root / "projects" / paths.project_key(str(project))

    def told(self, project, session="s2", event="UserPromptSubmit"):
        return self.hook(event, session, cwd=str(project)).context


@pytest.mark.parametrize("names", PAIRS)
def test_what_waits_for_one_project_is_not_given_in_its_neighbour(tmp_path, names):
    two = Neighbours(tmp_path, names)
    two.guide("Freeze: do not deploy today")
    two.leave("updates", "Say it in English\n> you: in English", confidence="0.9", durable="0.9")
    two.leave("items", "the half-done thing")
    assert two.told(two.other) == ""
    said = two.told(two.project, "s1")
    assert all(words in said for words in ("Freeze", "in English", "half-done"))
