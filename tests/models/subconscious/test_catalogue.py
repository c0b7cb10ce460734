"""Which memories the subconscious is told of: none that may not be delivered, and none with a secret."""

import pytest

from memtui.base import clock
from memtui.models.subconscious.catalogue import catalogue
from memtui.recall import places
from memtui.store import trusting
from memtui.worker import reindexing

WORDS = "please put the new version of the shop live for everybody"
SECRET = "ghp_" + "wJ4kQ9z" * 5 + "x"


class Session:
    """A session with two memories."""

    def __init__(self, base):
        self.base, self.root = base, str(base / "memtui")
        (base / "shop" / ".git").mkdir(parents=True)
        self.env = {"HOME": str(base), "CLAUDE_CONFIG_DIR": str(base / "config"), "MEMTUI_HOME": self.root}
        self.memories = base / "config" / "memory"
        self.memories.mkdir(parents=True)
        self.write("cicd", "CI/CD considerations", "Tag, then approve.", "triggers:\n  - when a release is due")
        self.write("coffee", "The machine on the second floor", "It needs descaling.")

    def write(self, name, description, body, *more):
        lines = ["---", f"name: {name}", f"description: {description}", *more, "---", body, ""]
        (self.memories / f"{name}.md").write_text("\n".join(lines))

    def index(self):
        where = places.of_session(self.env, str(self.base / "shop"))
        reindexing.update(self.root, where)
        return where


@pytest.fixture
def session(tmp_path):
    return Session(tmp_path)


def test_a_memory_is_named_with_its_triggers(session):
    entries = {entry.name: entry for entry in catalogue(session.root, session.index(), WORDS, clock.now())}
    assert entries["cicd"].description == "CI/CD considerations"
    assert entries["cicd"].triggers == ("when a release is due",)
    assert entries["coffee"].triggers == ()


def test_what_is_not_trusted_any_more_or_leads_elsewhere_is_left_out(session):
    memories = session.base / "shop" / ".claude" / "memory"
    memories.mkdir(parents=True)
    (memories / "release.md").write_text("---\ndescription: Put the shop live\n---\nTag it.\n")
    trusting.grant(session.root, str(memories))
    where = session.index()

    def descriptions():
        return [entry.description for entry in catalogue(session.root, where, WORDS, clock.now())]

    assert "Put the shop live" in descriptions()
    (memories / "release.md").write_text("---\ndescription: Put the keys online\n---\nTag it.\n")
    assert not any("keys" in description for description in descriptions())
    (session.base / "diary.md").write_text("---\ndescription: Dear diary\n---\n")
    (session.memories / "coffee.md").unlink()
    (session.memories / "coffee.md").symlink_to(session.base / "diary.md")
    assert descriptions() == ["CI/CD considerations"]


def test_a_memory_with_a_secret_is_left_out(session):
    session.write("keys", "The key of the deployment", f"It is {SECRET}.")
    names = [entry.name for entry in catalogue(session.root, session.index(), WORDS, clock.now())]
    assert sorted(names) == ["cicd", "coffee"]
