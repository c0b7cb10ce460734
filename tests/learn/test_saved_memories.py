"""What a memory or CLAUDE.md got since the person spoke is no draft; a draft that says more is an edit of that memory."""

import os
from pathlib import Path

import pytest

from memtui.base import clock_hot, paths_hot
from memtui.client import locate_hot
from memtui.client.transcripts.conversation import Turn
from memtui.inbox import drafts as inbox_drafts
from memtui.inbox import file_hot, format_hot
from memtui.learn import inbox_writer, signals
from memtui.review import approvals, waiting_entries
from memtui.store.store import Store
from tables import rows

RULE = "From now on always use uv to install Python packages, never pip."
MORE = "From now on deploy only on Tuesdays, and never while support is away."
SAID = "2026-01-01T00:00:00Z"
MEMORY = "---\nname: {0}\ndescription: {1}\nmetadata:\n  type: feedback\n---\n\n{2}\n"


@pytest.fixture
def world(tmp_path):
    (tmp_path / "repo/.git").mkdir(parents=True)
    env = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "config"), "MEMTUI_HOME": str(tmp_path / "root")}
    return env, str(tmp_path / "repo")


def save(path, text, seconds=60):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_text(text)
    os.utime(path, (clock_hot.parse(SAID) + seconds,) * 2)


def said(world, text):
    draft = signals.signal_of(Turn(text, "prompt", uuid="u1", session="s1", agent="I did it.", time=SAID))
    inbox_writer.write_drafts(*world, [draft], 0.0)
    return waiting(world)


def waiting(world):
    box = paths_hot.inbox_dir(world[0]["MEMTUI_HOME"], paths_hot.project_key(world[1]))
    return format_hot.read(f"{box}/pending-updates.md")


def auto(world, file):
    return f"{locate_hot.auto_dir(*world)}/{file}"


@pytest.mark.parametrize("place", rows(__file__, "what any file of memories says since is no draft"))
def test_what_any_file_of_memories_says_since_is_no_draft(world, place):
    path = place.format(auto=locate_hot.auto_dir(*world), repo=world[1], config=world[0]["CLAUDE_CONFIG_DIR"])
    save(path, MEMORY.format("use-uv", "Use uv, never pip", "Install Python packages with uv. Never use pip."))
    assert said(world, RULE) == []


@pytest.mark.parametrize(("text", "body"), rows(__file__, "what is quoted or said in other words is no draft"))
def test_what_is_quoted_or_said_in_other_words_is_no_draft(world, text, body):
    save(auto(world, "a.md"), MEMORY.format("a", "A rule", body))
    assert said(world, text) == []


@pytest.mark.parametrize(
    ("body", "seconds"), rows(__file__, "the opposite and what is older or newer keep no draft back")
)
def test_the_opposite_and_what_is_older_or_newer_keep_no_draft_back(world, body, seconds):
    save(auto(world, "a.md"), MEMORY.format("a", "A rule", body), seconds)
    (entry,) = said(world, RULE)
    assert "replaces" not in entry.fields or "pip, never" in body


def test_a_draft_that_says_more_is_an_edit_of_the_memory(world):
    path = auto(world, "deploy-days.md")
    save(path, MEMORY.format("deploy-days", "Deploys happen on Tuesdays only", "Deploy only on Tuesdays."))
    (entry,) = said(world, MORE)
    fields = {"name": "deploy-days", "scope": "auto", "replaces": "deploy-days.md"}
    assert {key: entry.fields[key] for key in fields} == fields
    assert inbox_drafts.statement(entry) == "Deploy only on Tuesdays, and never while support is away"
    assert f"> you: {MORE}" in entry.text
    store = Store(*world, by="test")
    (item,) = waiting_entries.waiting_in(store.root, [paths_hot.project_key(world[1])], ("updates",))
    draft = approvals.propose(store, item)
    assert draft.path == path
    (outcome,) = approvals.approve_all(store.journal, [draft])
    assert outcome.error is None
    assert (
        "Deploy only on Tuesdays.\n\nDeploy only on Tuesdays, and never while support is away" in Path(path).read_text()
    )
    assert waiting(world) == []


def test_instructions_and_indexes_are_not_edited(world):
    save(f"{world[1]}/CLAUDE.md", "Deploy only on Tuesdays.\n")
    save(auto(world, "MEMORY.md"), "Deploy only on Tuesdays.\n")
    (entry,) = said(world, MORE)
    assert "replaces" not in entry.fields


def test_a_write_that_was_refused_is_one_draft(world):
    box = paths_hot.inbox_dir(world[0]["MEMTUI_HOME"], paths_hot.project_key(world[1]))
    fields = {"kind": inbox_drafts.WRITE, "time": SAID, "session": "s1", "scope": "auto", "name": "use-uv"}
    file_hot.add_entry(box, "updates", fields, "Use uv\n\nInstall Python packages with uv. Never use pip.")
    assert [entry.fields["kind"] for entry in said(world, RULE)] == [inbox_drafts.WRITE]


def test_a_draft_goes_once_the_agent_saves_it_after_the_turn(world):
    clock_hot_now = clock_hot.parse(SAID)
    (entry,) = said(world, RULE)
    made = clock_hot.parse(entry.fields["time"]) - clock_hot_now
    save(
        auto(world, "use-uv.md"),
        MEMORY.format("use-uv", "Use uv", "Install Python packages with uv, never pip."),
        made + 5,
    )
    inbox_writer.withdraw_saved(*world, "another session")
    assert waiting(world)
    inbox_writer.withdraw_saved(*world, "s1")
    assert (waiting(world), said(world, RULE)) == ([], [])


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"---\nname: [\n---\n", b"\x00" * 100])
def test_a_file_that_is_no_memory_keeps_no_draft_back(world, data):
    save(auto(world, "a.md"), "")
    Path(auto(world, "a.md")).write_bytes(data)
    os.mkdir(auto(world, "b.md"))
    assert len(said(world, RULE)) == 1
