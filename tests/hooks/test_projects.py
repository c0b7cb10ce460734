"""Projects whose paths the client writes alike stay apart, also what older versions kept for them together."""

import json
import os

import pytest
from launching import Home

from memtui.core.base import paths
from memtui.core.inbox import file as inbox_file
from memtui.core.inbox import format as inbox_format
from memtui.core.inbox import old_inboxes

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
        self.old = self.root / "projects" / paths.slug(str(self.project))

    def box(self, project):
        return self.root / "projects" / paths.project_key(str(project))

    def told(self, project, session="s2", event="UserPromptSubmit"):
        return self.hook(event, session, cwd=str(project)).context

    def leave_old(self, kind, text, **fields):
        return inbox_file.append_entry(str(self.old), kind, fields, text)

    def met(self, project, session="s0"):
        """The client knows a project: it has a transcript of it."""
        directory = self.config / "projects" / paths.slug(str(project))
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{session}.jsonl").write_text(json.dumps({"type": "user", "cwd": str(project)}) + "\n")

    def texts(self, directory, kind):
        path = f"{directory}/{inbox_format.FILES[kind]}"
        return [each.text for each in inbox_format.read(path, items=kind == "items")]


@pytest.fixture
def two(tmp_path):
    return Neighbours(tmp_path, PAIRS[0])


@pytest.mark.parametrize("names", PAIRS)
def test_what_waits_for_one_project_is_not_given_in_its_neighbour(tmp_path, names):
    two = Neighbours(tmp_path, names)
    two.guide("Freeze: do not deploy today")
    two.leave("updates", "Say it in English\n> you: in English", confidence="0.9", durable="0.9")
    two.leave("items", "the half-done thing")
    assert two.told(two.other) == ""
    said = two.told(two.project, "s1")
    assert all(words in said for words in ("Freeze", "in English", "half-done"))


def test_an_old_note_is_given_where_its_entry_says_it_came_from(two):
    two.leave_old("guidance", "of mine", project=str(two.project))
    two.leave_old("updates", "of the other\n> you: it", project=str(two.other), confidence="0.9", durable="0.9")
    said = two.told(two.project, "s1")
    assert "of mine" in said
    assert "of the other" not in said
    assert "of the other" in two.told(two.other)
    assert two.texts(two.old, "updates") == []


def test_an_old_item_follows_the_session_that_left_it(two):
    two.start(session="5e55-other", cwd=str(two.other))
    two.leave_old("items", "unfinished", session="5e55-other")
    assert "unfinished" not in two.told(two.project, "s1")
    assert "unfinished" in two.told(two.other, "s2")


def test_an_old_inbox_of_the_only_project_that_is_known_is_moved_whole(two):
    two.leave_old("guidance", "one")
    (two.old / "pending-items.md").write_text("- [ ] by hand\n")
    (two.old / "rejected.jsonl").write_text('{"v": 1, "text": "Never X", "never": true}\n')
    blocks = two.root / "subconscious" / "projects"
    (blocks / two.old.name).mkdir(parents=True)
    (blocks / two.old.name / "guidance.md").write_text("Mind the queue.")
    said = two.told(two.project, "s1")
    assert "one" in said
    assert "by hand" in said
    assert "Never X" in (two.box(two.project) / "rejected.jsonl").read_text()
    assert (blocks / two.box(two.project).name / "guidance.md").read_text() == "Mind the queue."
    assert old_inboxes.files(str(two.root), two.old.name) == []


def test_a_script_that_writes_to_the_old_path_goes_on_to_be_heard(two):
    two.leave_old("guidance", "first")
    assert "first" in two.told(two.project, "s1")
    with (two.old / "guidance.md").open("a") as file:
        file.write("CI is red\n")
    assert "CI is red" in two.told(two.project, "s1")


def test_what_may_be_of_both_is_given_to_neither_and_stays(two):
    two.met(two.project, "s8")
    two.met(two.other, "s9")
    two.leave_old("guidance", "whose?")
    assert two.told(two.project, "s1") == ""
    assert two.told(two.other) == ""
    assert two.texts(two.old, "guidance") == ["whose?"]
    assert two.errors() == []


def test_a_neighbour_with_an_inbox_counts_as_known_even_if_nothing_names_its_root(two):
    inbox_file.append_entry(str(two.box(two.other)), "guidance", {}, "of the other")
    two.leave_old("guidance", "whose?")
    assert "whose?" not in two.told(two.project, "s1")
    assert two.texts(two.old, "guidance") == ["whose?"]


def test_what_stays_is_not_looked_at_again_until_something_changes(two, monkeypatch):
    two.met(two.project, "s8")
    two.met(two.other, "s9")
    two.leave_old("guidance", "whose?")
    env = {**two.env, "CLAUDE_CONFIG_DIR": str(two.config)}
    old_inboxes.move(env, str(two.root), two.old.name, str(two.project))
    tried = []
    monkeypatch.setattr(old_inboxes._OldInbox, "run", lambda self: tried.append(self.slug))
    old_inboxes.move(env, str(two.root), two.old.name, str(two.project))
    assert tried == []
    two.leave_old("guidance", "another")
    old_inboxes.move(env, str(two.root), two.old.name, str(two.project))
    assert tried == [two.old.name]


def test_moving_twice_is_moving_once(two):
    two.leave_old("guidance", "one")
    two.leave_old("updates", "two\n> you: x")
    env = {**two.env, "CLAUDE_CONFIG_DIR": str(two.config)}
    before = {name: (two.old / name).read_bytes() for name in ("guidance.md", "pending-updates.md")}
    old_inboxes.move(env, str(two.root), two.old.name, str(two.project))
    for name, data in before.items():  # as if the process had been killed before it emptied the old inbox
        (two.old / name).write_bytes(data)
    old_inboxes.move(env, str(two.root), two.old.name, str(two.project))
    assert two.texts(two.box(two.project), "guidance") == ["one"]
    assert two.texts(two.box(two.project), "updates") == ["two\n> you: x"]
    assert not os.path.exists(two.old / "guidance.md")


def test_a_note_that_an_older_hook_has_taken_comes_back_to_the_right_project(two):
    """Its claim lies in the old inbox, as its record in the log says."""
    claimed = two.old / "claimed"
    claimed.mkdir(parents=True)
    text = inbox_format.render({"id": "01AN4Z07BY79KA1307SR9X4MV3", "from": "cli"}, "taken, never shown")
    (claimed / "01AN4Z07BY79KA1307SR9X4MV4~s1~1.md").write_text(text)
    two.leave_old("guidance", "one")
    assert "one" in two.told(two.project, "s1")
    two.hook("SessionEnd", "s1")
    for _ in range(200):
        if not list(claimed.iterdir()):
            break
        __import__("time").sleep(0.05)
    assert "taken, never shown" in two.told(two.project, "s3")
