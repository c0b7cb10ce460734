"""Changes of blocks are in the journal: a person's own are undone by `memtui undo`, those of the model by their name or
with all of their run. A block that was changed since stays as it is."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base.errors import ConflictError, NotFoundError
from memtui.models.subconscious.blocks import Blocks, RefusedEditError
from memtui.store.journal import undo as undoing
from memtui.store.journal.journal import Journal
from memtui.store.journal.ledger import MODEL
from memtui.store.versions.versions import OTHER, PERSON
from memtui.views.changes import COMMANDS, refusal

NAME = "project_context"
SAID = "We deploy on Tuesdays only, never on a Friday."


class Desk:
    """The block `project_context` of a project, as its person and the subconscious change it."""

    def __init__(self, root):
        self.root = root
        self.blocks = Blocks(root, "-shop")
        self.journal = Journal(root, "tui")

    def noted(self, new, old="", run="r1", name=NAME):
        return self.blocks.edit(name, old, new, run=run, session="s")

    def typed(self, text, name=NAME):
        return self.blocks.replace(name, text, self.journal)

    def back(self, op="undo", key=None):
        return undoing.run(self.journal, op, key).first().summary

    @property
    def text(self):
        return self.blocks.text(NAME)

    @property
    def versions(self):
        return [(each.writer.by, self.blocks.content(NAME, each)) for each in self.blocks.versions(NAME)]


@pytest.fixture
def desk(tmp_path):
    return Desk(str(tmp_path / "memtui"))


def test_what_a_person_changed_is_undone_unless_it_was_changed_since(desk):
    desk.typed("Mine.", "user_preferences")
    desk.noted("- Deploys on Tuesdays")
    assert (desk.back(), desk.text) == ("edit the block user_preferences", "- Deploys on Tuesdays")
    with pytest.raises(NotFoundError, match="nothing to undo"):
        desk.back()
    desk.typed("- Ask Kim first")
    assert (desk.back(), desk.text) == ("edit the block project_context of this project", "- Deploys on Tuesdays")
    desk.back("redo")
    assert desk.text == "- Ask Kim first"
    desk.typed("- Deploys on Mondays")
    desk.noted("- Tests need a database")
    ((found, error),) = undoing.run(desk.journal, "undo").failed
    assert "It was changed since" in refusal("undo", found, error, COMMANDS).message.replace("it was", "It was")
    assert desk.text == "- Deploys on Mondays\n- Tests need a database"


def test_versions_say_who_wrote_each_newest_first(desk):
    desk.noted("- Deploys on Tuesdays")
    desk.typed("- Deploys on Mondays")
    desk.back()
    with open(desk.blocks.path(NAME), "a") as file:
        file.write("- From an editor\n")
    desk.noted("- Ask Kim first")
    assert desk.versions == [
        (MODEL, "- Deploys on Tuesdays\n- From an editor\n- Ask Kim first"),
        (OTHER, "- Deploys on Tuesdays\n- From an editor"),
        (PERSON, "- Deploys on Tuesdays"),
        (PERSON, "- Deploys on Mondays"),
        (MODEL, "- Deploys on Tuesdays"),
    ]
    newest = desk.blocks.versions(NAME)
    assert newest[0].writer.session == "s"
    assert [each.op for each in newest] == ["", "", "undo", "", ""]


def test_the_model_leaves_a_block_with_a_secret_alone(desk):
    secret = "token: ghp_" + "wJ4kQ9z" * 5 + "x"
    path = desk.blocks.path(NAME)
    os.makedirs(os.path.dirname(path))
    with open(path, "w") as file:
        file.write(f"{secret}\n")
    with pytest.raises(RefusedEditError, match="its person has to remove it"):
        desk.noted("- Deploys on Tuesdays")
    assert desk.text == secret
    assert not os.path.exists(desk.root + "/journal.jsonl")


def test_all_changes_of_a_run_are_one_step_of_undo(read, api):
    read.says(SAID)
    edits = [
        {"block": NAME, "old": "", "new": "- Deploys: Tuesdays", "quote": "deploy on Tuesdays only"},
        {"block": "guidance", "old": "", "new": "- Never on a Friday", "quote": "never on a Friday"},
        {"block": NAME, "old": "", "new": "- No Friday", "quote": "never on a Friday"},
    ]
    run = read.answered(edits=edits)
    journal = Journal(read.root, "tui")
    assert len(undoing.run(journal, "undo", run.id).done) == 3
    assert (read.blocks.text(NAME), read.blocks.text("guidance")) == ("", "")
    assert len(undoing.run(journal, "redo").done) == 3
    assert read.blocks.text(NAME) == "- Deploys: Tuesdays\n- No Friday"
    assert read.blocks.text("guidance") == "- Never on a Friday"


def test_what_of_a_run_was_changed_since_does_not_keep_the_rest(desk):
    desk.noted("- Deploys on Mondays", run="r7")
    desk.noted("- Ask Kim", run="r7", name="guidance")
    desk.noted("- Deploys on Tuesdays", "- Deploys on Mondays", run="r8")
    done = undoing.run(desk.journal, "undo", "r7")
    assert (len(done.done), len(done.failed)) == (1, 1)
    assert isinstance(done.failed[0][1], ConflictError)
    assert (desk.text, desk.blocks.text("guidance")) == ("- Deploys on Tuesdays", "")


def told_of(request):
    text = request.text()
    return text.split("<memtui-undone>\n")[1].split("\n</memtui-undone>")[0] if "<memtui-undone>" in text else ""


def test_the_subconscious_is_told_what_its_person_undid_while_it_is_undone(read, api):
    read.block(NAME, "- Ask Kim\n")
    journal = Journal(read.root, "tui")
    read.says(SAID)
    quote = "deploy on Tuesdays only"
    run = read.answered(edits=[{"block": NAME, "old": "- Ask Kim", "new": "- Deploys: Tuesdays", "quote": quote}])
    undoing.run(journal, "undo", run.id)
    read.says("Go on with the tests.")
    read.answered()
    assert told_of(api.requests[1]) == f"- {NAME}: gone “- Deploys: Tuesdays”, back “- Ask Kim”"
    assert "Do not\nmake them again" in api.requests[1].text()
    undoing.run(journal, "redo")
    read.says("Go on with the docs.")
    read.answered()
    assert "memtui-undone" not in api.requests[2].text()


def test_what_a_person_undid_of_theirs_or_elsewhere_is_not_told_as_undone(desk):
    desk.typed("- Mine")
    desk.back()
    blog = Blocks(desk.root, "-blog")
    blog.edit(NAME, "", "- Alt texts", run="r", session="s")
    desk.back(key="r")
    assert (desk.blocks.undone(9), blog.undone(9)) == ([], [(NAME, ["- Alt texts"], [])])


STEPS = st.lists(st.tuples(st.sampled_from(["typed", "noted", "undo", "redo"]), st.sampled_from("abc")), max_size=8)


@given(STEPS)
def test_an_undo_gives_the_text_back_or_changes_nothing(tmp_path_factory, steps):
    desk = Desk(str(tmp_path_factory.mktemp("root")))
    for what, line in steps:
        before = desk.text
        if what == "typed":
            desk.typed(f"{line} by hand")
        elif what == "noted":
            desk.noted(f"{line} noted")
        else:
            try:
                done = undoing.run(desk.journal, what)
            except NotFoundError:
                continue
            texts = [text for _, text in desk.versions]
            assert desk.text == before if done.failed else desk.text in [*texts[1:], ""]
        assert desk.versions == [] or desk.versions[0][1] == desk.text
