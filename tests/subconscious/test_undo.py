"""One change of a block is undone by itself, under whatever was changed later; a person's own by `memtui undo`."""

import os
import shutil
import tempfile
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2e.model import use
from memtui.core.base.errors import ConflictError, MemtuiError, NotFoundError, UsageError
from memtui.core.journal import undo as undoing
from memtui.core.journal.journal import Journal
from memtui.present.changes import refusal
from memtui.subconscious import block_versions
from memtui.subconscious import undoing as by_change
from memtui.subconscious.block_versions import PERSON, SUBCONSCIOUS, BlockVersion, VersionLog
from memtui.subconscious.blocks import Blocks, OverlapError

pytestmark = pytest.mark.slow
NAME = "project_context"
SAID = "We deploy on Tuesdays only, never on a Friday."


class Desk:
    """The block `project_context` of a project, as its person and the subconscious change it."""

    def __init__(self, root):
        self.root = root
        self.blocks = Blocks(root, "-shop")
        self.journal = Journal(root, "tui")
        self.log = VersionLog(root)

    def noted(self, new, old="", run="r1"):
        return self.blocks.edit(NAME, old, new, run=run, session="s")

    def typed(self, text):
        return self.blocks.replace(NAME, text, self.journal)

    def undo(self, version):
        return self.blocks.undo(NAME, version, self.journal)

    def back(self, op="undo"):
        return undoing.run(self.journal, op).first().summary

    @property
    def text(self):
        return self.blocks.text(NAME)

    @property
    def writers(self):
        return [each.by for each in self.blocks.versions(NAME)]


@pytest.fixture
def desk(tmp_path):
    return Desk(str(tmp_path / "memtui"))


def test_what_a_person_changed_is_undone_and_redone_under_later_changes_of_the_subconscious(desk):
    desk.noted("- Deploys on Tuesdays")
    desk.typed("- Ask Kim first\n- Deploys on Tuesdays")
    desk.noted("- Tests need a database")
    assert desk.back() == "edit the block project_context of this project"
    assert desk.text == "- Deploys on Tuesdays\n- Tests need a database"
    desk.noted("- Freeze in August")
    desk.back("redo")
    assert desk.text == "- Ask Kim first\n- Deploys on Tuesdays\n- Tests need a database\n- Freeze in August"


def test_an_undo_is_a_version_of_the_person(desk):
    desk.noted("- Deploys on Tuesdays")
    desk.typed("- Deploys on Mondays")
    desk.back()
    assert desk.writers == ["person", "person", "subconscious"]
    desk.noted("- Ask Kim first")
    assert desk.writers == ["subconscious", "person", "person", "subconscious"]


def test_what_an_editor_wrote_is_not_taken_for_the_person_of_the_journal(desk):
    desk.typed("- Deploys on Mondays")
    with open(desk.blocks.path(NAME), "w") as file:
        file.write("- Deploys on Tuesdays\n")
    assert desk.writers == ["other", "person"]


def test_what_a_person_wrote_and_a_killed_process_did_not_note_stays_theirs(desk):
    desk.typed("- Ask Kim first")
    os.unlink(desk.log.path)
    assert desk.blocks.edit(NAME, "", "- Ask Kim first", run="r1", session="s", again=True) is None
    assert desk.writers == ["person"]


def test_changes_of_the_subconscious_are_never_in_the_list_of_undo(desk):
    desk.typed("- Ask Kim first")
    desk.noted("- Deploys on Tuesdays")
    assert desk.back() == "edit the block project_context of this project"
    assert desk.text == "- Deploys on Tuesdays"
    with pytest.raises(NotFoundError, match="nothing to undo"):
        desk.back()


def test_where_the_same_lines_were_changed_since_an_undo_says_what_to_do(desk):
    desk.typed("- Deploys on Mondays")
    desk.noted("- Deploys on Tuesdays", "- Deploys on Mondays")
    done = undoing.run(desk.journal, "undo")
    ((found, error),) = done.failed
    assert "`H` in Subconscious restores a version" in refusal("undo", found, error).message
    assert desk.text == "- Deploys on Tuesdays"


def test_one_change_is_undone_under_later_ones(desk):
    first = desk.noted("- Deploys on Mondays")
    desk.noted("- Tests need a database")
    desk.typed("- Ask Kim first\n- Deploys on Mondays\n- Tests need a database")
    assert desk.undo(first)
    assert desk.text == "- Ask Kim first\n- Tests need a database"
    newest = desk.blocks.versions(NAME)[0]
    assert (newest.by, newest.undid) == ("person", first.id)
    assert not desk.undo(first), "nothing of it is left"
    desk.back()
    assert desk.text == "- Ask Kim first\n- Deploys on Mondays\n- Tests need a database"
    assert desk.undo(first)


def test_lines_that_were_removed_come_back_to_their_place(desk):
    desk.typed("one\ntwo\nthree")
    removed = desk.noted("one", "one\ntwo")
    desk.noted("THREE", "three")
    assert desk.text == "one\nTHREE"
    desk.undo(removed)
    assert desk.text == "one\ntwo\nTHREE"


def test_a_change_whose_lines_changed_again_is_left_with_what_to_do(desk):
    first = desk.noted("- Deploys on Mondays")
    desk.noted("- Deploys on Tuesdays", "- Deploys on Mondays")
    with pytest.raises(OverlapError, match="The same lines") as raised:
        desk.undo(first)
    assert "`H` in Subconscious" in raised.value.hint
    assert desk.text == "- Deploys on Tuesdays"
    assert desk.writers == ["subconscious", "subconscious"]


def test_what_was_changed_and_changed_back_since_is_no_overlap(desk):
    first = desk.noted("- Deploys on Mondays")
    desk.noted("- Deploys on Tuesdays", "- Deploys on Mondays")
    desk.noted("- Deploys on Mondays", "- Deploys on Tuesdays")
    assert desk.undo(first)
    assert desk.text == ""


def test_a_change_in_an_editor_that_nobody_noted_is_undone_too(desk):
    desk.noted("- Deploys on Tuesdays")
    with open(desk.blocks.path(NAME), "a") as file:
        file.write("- From an editor\n")
    unnoted = desk.blocks.versions(NAME)[0]
    assert unnoted.id == ""
    assert desk.undo(unnoted)
    assert desk.text == "- Deploys on Tuesdays"
    assert desk.writers == ["person", "other", "subconscious"]
    with pytest.raises(NotFoundError):
        desk.undo(unnoted)


def test_a_secret_in_a_block_stays_when_another_line_is_undone(desk):
    secret = "token: ghp_" + "wJ4kQ9z" * 5 + "x"
    with open_block(desk) as file:
        file.write(f"{secret}\n")
    added = desk.noted("- Deploys on Tuesdays")
    desk.undo(added)
    assert desk.text == secret
    assert all(secret not in each.text for each in desk.blocks.versions(NAME))


def open_block(desk):
    path = desk.blocks.path(NAME)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return open(path, "w")


def test_an_undo_that_makes_a_block_too_long_changes_nothing(desk):
    desk.typed("x" * 1500 + "\nend")
    removed = desk.noted("", "x" * 1500)
    desk.typed("y" * 1000)
    with pytest.raises((UsageError, OverlapError)):
        desk.undo(removed)
    assert desk.text == "y" * 1000


def test_what_the_oldest_version_changed_is_not_guessed(desk, monkeypatch):
    monkeypatch.setattr(block_versions, "KEPT", 2)
    monkeypatch.setattr(block_versions, "TRIM_BYTES", 400)
    for number in range(4):
        desk.noted(f"- line {number}")
    oldest = desk.blocks.versions(NAME)[-1]
    assert oldest.text.count("\n") >= 1
    with pytest.raises(OverlapError, match="what it changed is not known"):
        desk.undo(oldest)
    other = desk.blocks.edit("guidance", "", "- Ask Kim", run="r1", session="s")
    assert desk.blocks.undo("guidance", other, desk.journal), "of this block nothing was dropped"


def test_the_directives_emptied_are_the_default_again_and_an_undo_of_each_is_only_that(desk):
    name, default = "core_directives", desk.blocks.text("core_directives")
    desk.blocks.replace(name, f"{default}\nAnswer in German.", desk.journal)
    (german,) = desk.blocks.versions(name)
    desk.blocks.replace(name, f"Be brief.\n{default}\nAnswer in German.", desk.journal)
    assert desk.blocks.undo(name, german, desk.journal)
    assert desk.blocks.text(name) == f"Be brief.\n{default}"
    desk.blocks.replace(name, "", desk.journal)
    assert desk.blocks.text(name) == default
    emptied = desk.blocks.versions(name)[0]
    assert desk.blocks.undo(name, emptied, desk.journal)
    assert desk.blocks.text(name) == f"Be brief.\n{default}"
    brief = next(each for each in desk.blocks.versions(name) if each.text.startswith("Be brief") and not each.undid)
    assert desk.blocks.undo(name, brief, desk.journal)
    assert desk.blocks.text(name) == default
    assert not os.path.exists(desk.blocks.path(name)), "it follows the default of a later memtui"


def test_of_many_versions_each_is_undone_by_itself(desk):
    desk.typed("mine")
    noted = [desk.noted(f"n{number}") for number in range(block_versions.KEPT)]
    assert desk.undo(noted[0])
    assert desk.text.split("\n") == ["mine", *(each.text.split("\n")[-1] for each in noted[1:])]


def test_a_block_that_cannot_be_locked_is_said_with_what_to_do(desk):
    first, second = desk.noted("- one", run="r7"), desk.noted("- two", run="r7")
    os.unlink(desk.root + "/subconscious/blocks.lock")
    os.mkdir(desk.root + "/subconscious/blocks.lock")
    with pytest.raises(MemtuiError, match=r"blocks\.lock can.t be written"):
        desk.undo(first)
    found = by_change.each(desk.root, [second, first], desk.journal, desk.blocks.now)
    assert [(each.done, bool(each.error)) for each in found] == [(False, True)] * 2
    assert desk.text == "- one\n- two"


def test_all_changes_of_a_run_are_one_step_of_undo(read, api):
    read.says(SAID)
    run = read.run(
        use(
            "answer",
            edits=[
                {"block": NAME, "old": "", "new": "- Deploys: Tuesdays", "quote": "deploy on Tuesdays only"},
                {"block": "guidance", "old": "", "new": "- Never on a Friday", "quote": "never on a Friday"},
                {"block": NAME, "old": "", "new": "- No Friday", "quote": "never on a Friday"},
            ],
        )
    )
    read.blocks.edit(NAME, "", "- Later", run="r2", session="s")
    journal = Journal(read.root, "tui")
    found = by_change.each(read.root, by_change.of_run(read.root, run.id), journal, read.along().now)
    assert [(each.version.block, each.done, each.error) for each in found] == [
        (NAME, True, None),
        ("guidance", True, None),
        (NAME, True, None),
    ]
    assert (read.blocks.text(NAME), read.blocks.text("guidance")) == ("- Later", "")
    assert len(undoing.run(journal, "undo").done) == 3
    assert read.blocks.text(NAME) == "- Deploys: Tuesdays\n- No Friday\n- Later"
    assert read.blocks.text("guidance") == "- Never on a Friday"


def test_what_of_a_run_overlaps_does_not_keep_the_rest(desk):
    one = desk.noted("- Deploys on Mondays", run="r7")
    two = desk.blocks.edit("guidance", "", "- Ask Kim", run="r7", session="s")
    desk.noted("- Deploys on Tuesdays", "- Deploys on Mondays", run="r8")
    found = by_change.each(desk.root, by_change.of_run(desk.root, "r7"), desk.journal, desk.blocks.now)
    assert [(each.version.id, each.done) for each in found] == [(two.id, True), (one.id, False)]
    assert isinstance(found[1].error, OverlapError)


def test_the_last_change_of_the_subconscious_is_the_last_of_which_something_is_left(desk):
    for number in range(3):
        desk.noted(f"- line {number}")
    desk.typed("- line 0\n- line 1\n- mine\n- line 2")
    for left in ("- line 0\n- line 1\n- mine", "- line 0\n- mine", "- mine"):
        assert by_change.last(desk.blocks, desk.blocks.versions(NAME), desk.journal).done
        assert desk.text == left
    assert by_change.last(desk.blocks, desk.blocks.versions(NAME), desk.journal) is None


def test_a_person_undoes_while_two_sessions_write_and_no_line_is_lost(desk):
    mine = [desk.noted(f"- first {number}") for number in range(6)]
    errors = []

    def write(who):
        for number in range(6):
            Blocks(desk.root, "-shop").edit(NAME, "", f"- {who} {number}", run=who, session=who)

    def undo():
        for each in mine:
            try:
                Desk(desk.root).undo(each)
                Desk(desk.root).back()
                Desk(desk.root).back("redo")
            except ConflictError as error:
                errors.append(error)

    threads = [threading.Thread(target=write, args=(who,)) for who in "ab"] + [threading.Thread(target=undo)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert errors == []
    assert sorted(desk.text.split("\n")) == sorted(f"- {who} {number}" for who in "ab" for number in range(6))


def told_of(request):
    text = request.text()
    return text.split("<memtui-undone>\n")[1].split("\n</memtui-undone>")[0] if "<memtui-undone>" in text else ""


def test_the_subconscious_is_told_what_its_person_undid_as_long_as_that_is_so(read, api):
    read.block(NAME, "- Ask Kim\n")
    journal = Journal(read.root, "tui")
    read.says(SAID)
    quote = "deploy on Tuesdays only"
    run = read.run(
        use("answer", edits=[{"block": NAME, "old": "- Ask Kim", "new": "- Deploys: Tuesdays", "quote": quote}])
    )
    by_change.each(read.root, by_change.of_run(read.root, run.id), journal, read.blocks.now)
    read.says("Go on with the tests.")
    read.run(use("answer"))
    assert told_of(api.requests[1]) == f"- {NAME}: gone “- Deploys: Tuesdays”, back “- Ask Kim”"
    assert "Do not\nmake them again" in api.requests[1].text()
    undoing.run(journal, "undo")
    read.says("Go on with the docs.")
    read.run(use("answer"))
    assert "memtui-undone" not in api.requests[2].text()


def test_lines_of_the_oldest_version_that_is_kept_are_not_told_as_undone(desk):
    noted = BlockVersion("01A", desk.blocks.now(), NAME, "-shop", SUBCONSCIOUS, "- Mine\n- Deploys on Tuesdays")
    desk.log.append(replace(noted, oldest=True))
    desk.log.append(replace(noted, id="01B", by=PERSON, text="- Mine", undid="01A"))
    desk.typed("- Other")
    assert desk.blocks.undone(9) == []


def test_what_a_person_undid_of_their_own_or_in_another_project_is_not_told_as_undone(desk):
    desk.typed("- Mine")
    desk.undo(desk.blocks.versions(NAME)[0])
    blog = Blocks(desk.root, "-blog")
    noted = blog.edit(NAME, "", "- Alt texts", run="r", session="s")
    blog.undo(NAME, noted, desk.journal)
    assert desk.blocks.undone(9) == []
    assert blog.undone(9) == [(NAME, ["- Alt texts"], [])]


def test_what_was_undone_twice_is_told_once(desk):
    for _ in range(2):
        desk.undo(desk.noted("- Deploys on Tuesdays"))
    assert desk.blocks.undone(9) == [(NAME, ["- Deploys on Tuesdays"], [])]


# A block of distinct lines. Each line is changed by nobody, by one run, or later: edited, removed, or one added below it.
OPS = st.sampled_from(["keep", "edit", "remove", "add"])


def applied(plan, who):
    """The lines with the changes by `who`; those of all for "both"."""
    found = []
    for at, (op, by) in enumerate(plan):
        made = op if who in {by, "both"} else "keep"
        found += [] if made == "remove" else [f"line {at}{' edited' if made == 'edit' else ''}"]
        found += [f"line {at}.5"] if made == "add" else []
    return "\n".join(found)


def apart(plan):
    """The plan with a line that nobody changes between lines of the two, so that what would be there without one of them
    is no question of order."""
    found = [("keep", "run"), plan[0]]
    for each in plan[1:]:
        found += [("keep", "run"), each] if each[1] != found[-1][1] else [each]
    return [*found, ("keep", "run")]


PLANS = st.lists(st.tuples(OPS, st.sampled_from(["run", "later"])), min_size=1, max_size=8).map(apart)


@given(PLANS)
def test_an_undo_of_a_person_keeps_what_the_subconscious_changed_later(plan):
    root = tempfile.mkdtemp()
    try:
        desk = Desk(root)
        desk.typed(applied(plan, "nobody"))
        if not desk.typed(applied(plan, "run")):
            return
        desk.noted(applied(plan, "both"), applied(plan, "run"))
        desk.back()
        assert desk.text == applied(plan, "later")
        desk.back("redo")
        assert desk.text == applied(plan, "both")
    finally:
        shutil.rmtree(root)


@given(PLANS, st.data())
def test_an_undone_change_leaves_what_would_be_there_without_it(plan, data):
    root = tempfile.mkdtemp()
    try:
        desk = Desk(root)
        desk.typed(applied(plan, "nobody"))
        with_it = applied(plan, "run")
        # What the subconscious wrote in one edit: the whole text, as its model may do.
        version = desk.noted(with_it, applied(plan, "nobody"))
        if version is None:
            return
        desk.typed(applied(plan, "both"))
        assert desk.undo(version) == (applied(plan, "both") != applied(plan, "later"))
        assert desk.text == applied(plan, "later")
        if data.draw(st.booleans()):
            desk.back()
            assert desk.text == applied(plan, "both")
    finally:
        shutil.rmtree(root)
